# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The release that a mirror runs: Maven does not have MirrorMaker of every release of Kafka.

For a host that is a mirror and nothing else kafka_version is that of its mirror, whoever asks: rules, render, reports.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...module_utils._release.releases import MIRROR, releases
from .variables import UNDEFINED

VARIABLE = "mirror_maker_kafka_version"
_VERSION = "kafka_version"


class MirrorVariables(Mapping[str, Any]):
    """The variables of a mirror, each read when it is asked for."""

    def __init__(self, variables: Mapping[str, Any]) -> None:
        self._variables = variables

    def __getitem__(self, name: str) -> Any:
        return mirror_release(self._variables) if name == _VERSION else self._variables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)

    def __contains__(self, name: object) -> bool:
        return name in self._variables


def mirror_release(variables: Mapping[str, Any]) -> Any:
    """The version that mirror_maker_kafka_version names, else the newest with MirrorMaker up to kafka_version.

    A version that we do not know, or that has no older one with MirrorMaker, stays what it is: a rule names it.
    Apache's archive has MirrorMaker of every release, so with it kafka_version itself holds.
    """
    own, version = variables.get(VARIABLE), variables[_VERSION]
    if own is not UNDEFINED and str(own or "").strip():
        return str(own).strip()
    known = next((one for one in releases() if one.version == str(version).strip()), None)
    if known is None or variables.get("kafka_install_source", "maven") == "archive":
        return version
    fitting = (one.version for one in releases() if one.numbers <= known.numbers and MIRROR in one.runs)
    return next(fitting, version)
