# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a release would not take of the properties that another one runs with, by Kafka's own definitions of both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ....module_utils._configs.values import without_listener
from ..definitions import BROKER_KEYS, TOPIC_KEYS
from .properties import REPLACEMENTS, refused_value


def refused_by(kind: str, key: str, value: Any, runs: Sequence[str], target: str) -> Iterator[tuple[str, str]]:
    """Say why a release does not take a property, each with its fix; kind is broker or topic, runs what runs now."""
    tables = TOPIC_KEYS if kind == "topic" else BROKER_KEYS
    keys = tables.get(target, {})
    if keys and key not in keys and any(key in tables.get(one, {}) for one in runs):
        instead = f"; {REPLACEMENTS[key]}" if key in REPLACEMENTS else ""
        yield f"Kafka {target} does not read {key}", f"remove it before{instead}"
    for shown, allowed in refused_value(key, value, keys.get(without_listener(key))):
        yield f"Kafka {target} refuses {shown} as {key}", f"set it to {allowed}"
