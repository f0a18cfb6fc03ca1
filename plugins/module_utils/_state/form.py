# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What the state of a cluster keeps, as objects: fields that only a newer release knows are passed over. Pure.

A cluster outlives the release that wrote there, so a record may have more than its reader knows, or another form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, TypeVar

from .._cluster.snapshot import STATE_TOPIC
from .._core.errors import StreamopsError

T = TypeVar("T")


class UnknownFormError(StreamopsError):
    """A record of the state that this release cannot read; C(writer) is what the release did that can."""

    def __init__(self, key: str, writer: str, why: str) -> None:
        super().__init__(
            f"read {STATE_TOPIC}: its record {key!r} has another form than this release writes ({why}). Take the "
            f"release that {writer}, or a newer one. If none can read it, write a record with this key and no value "
            f"into {STATE_TOPIC}: what it kept is then forgotten. The record was left as it is.",
            key=key,
        )


def parsed(key: str, value: Any, of_data: Callable[[Any], T], writer: str) -> T:
    """Return what a function makes of the value that is kept at a key.

    C(writer) ends the sentence "Take the release that". Raises UnknownFormError where the value lacks what the function
    needs, or is no JSON.
    """
    try:
        return of_data(value)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise UnknownFormError(key, writer, f"{type(error).__name__}: {error}") from error


def of_known(kind: type[T], data: Mapping[str, Any]) -> T:
    """Return a dataclass of its fields in kept data, without those that it does not know."""
    known = {part.name for part in fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: data[name] for name in data.keys() & known})
