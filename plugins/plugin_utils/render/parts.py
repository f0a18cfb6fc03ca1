# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Values by name, each made when a template first asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any, TypeVar

_T = TypeVar("_T")


class key(cached_property[_T]):  # noqa: N801  # a decorator
    """A property that is a key of the model, made once."""


def keys_of(*views: object) -> dict[str, Callable[[], Any]]:
    """Return what makes each key of these views, by its name."""
    return {
        name: partial(getattr, view, name)
        for view in views
        for name, made in vars(type(view)).items()
        if isinstance(made, key)
    }


class Parts(Mapping[str, Any]):
    """Makes each value once; one that cannot be made raises ValueError."""

    def __init__(self, parts: Mapping[str, Callable[[], Any]]) -> None:
        self._parts, self._made = dict(parts), dict[str, Any]()

    def __getitem__(self, name: str) -> Any:
        make = self._parts[name]
        try:
            return self._once(name, make)
        except (AttributeError, LookupError, TypeError) as error:
            # Jinja would take these for a key that is not there.
            raise ValueError(f"the model has no {name}: {type(error).__name__} {error}") from error

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def _once(self, name: str, make: Callable[[], Any]) -> Any:
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]
