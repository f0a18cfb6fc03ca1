# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The variables of one host, typed as the argument specs say, and values that rules pass over when they are unclear."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ...module_utils._core.values import UnclearValueError, to_boolean, to_integer, typed
from ..specs import role_options


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


class Undefined:
    """Stands for a value that could not be templated; the rule on undefined variables names it, others pass over."""

    def __repr__(self) -> str:
        return "<undefined>"


UNDEFINED = Undefined()


def as_int(value: Any) -> int | None:
    """The whole number a user meant by 3 or "3"; None for anything else (true is no number)."""
    try:
        return to_integer(value, "")
    except UnclearValueError:
        return None


def as_bool(value: Any) -> bool:
    """True for true, "true" and the other words for it; False also for what is unclear, which other rules name."""
    try:
        return to_boolean(value, "")
    except UnclearValueError:
        return False


def names(value: Any) -> list[str]:
    """The names in a list, or in text as a survey or -e key=value gives it: JSON, or names with commas between them."""
    if isinstance(value, str) and value.strip().startswith("["):
        with contextlib.suppress(ValueError):
            value = json.loads(value)
    if isinstance(value, str):
        return [one.strip() for one in value.split(",") if one.strip()]
    return [str(one) for one in value] if isinstance(value, (list, tuple)) else []


def entries(value: Any) -> list[str]:
    """The entries of a list, or of text with commas between them, in [] or not."""
    return names(value.strip().removeprefix("[").removesuffix("]") if isinstance(value, str) else value)


def dicts(value: Any) -> list[dict[str, Any]]:
    """The dicts of a list, each without what could not be templated; empty for anything that is no list."""
    if not isinstance(value, (list, tuple)):
        return []
    return [known(entry) for entry in value if isinstance(entry, Mapping)]


def known(value: Any) -> dict[str, Any]:
    """A dict without what could not be templated; empty for anything that is no dict."""
    if not isinstance(value, Mapping):
        return {}
    return {str(key): part for key, part in value.items() if part is not UNDEFINED}
