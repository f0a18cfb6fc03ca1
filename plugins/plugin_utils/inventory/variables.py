# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The variables of one host, typed as the argument specs say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.values import typed
from ansible_collections.streamops.kafka.plugins.plugin_utils.specs import role_options


class HostVariables(Mapping[str, Any]):
    """The variables of one host, each templated and typed when it is first asked for.

    A value that is not what its variable holds raises UnclearValueError; one that cannot be templated raises what
    C(template) raises.
    """

    def __init__(self, raw: Mapping[str, Any], template: Callable[[Any], Any]) -> None:
        self._raw, self._template = raw, template
        self._known: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._known:
            value, unclear = typed(self._template(self._raw[name]), role_options().get(name, {}), name)
            if unclear:
                raise unclear[0]
            self._known[name] = value
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._raw)

    def __len__(self) -> int:
        return len(self._raw)

    def __contains__(self, name: object) -> bool:
        return name in self._raw
