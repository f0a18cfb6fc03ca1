# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Looks at what topics and brokers set in the cluster itself, beside their start files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._client.session import Session
from .api import BROKER, describe_configs, topic_configs

#: By the name of a broker, '' for all by default, whose own settings are asked for.
_SOURCES = {True: "DYNAMIC_BROKER", False: "DYNAMIC_DEFAULT_BROKER"}


def overrides(session: Session, topics: Iterable[str], brokers: Iterable[int]) -> list[dict[str, Any]]:
    """Return what these topics, these live brokers, and all brokers by default set themselves.

    Each as kind (topic or broker), name (empty for the default of all brokers), key and value, None for a secret.
    """
    own = topic_configs(session, topics).own
    found = [
        {"kind": "topic", "name": name, "key": key, "value": one.value}
        for name, settings in sorted(own.items())
        for key, one in sorted(settings.items())
    ]
    names: dict[str, None] = {"": None, **{str(one): None for one in brokers}}
    for name, values in describe_configs(session, BROKER, names).items():
        for key, value in sorted(values.items()):
            if value.source == _SOURCES[bool(name)]:
                shown = None if value.sensitive else value.value
                found.append({"kind": "broker", "name": name, "key": key, "value": shown})
    return found
