"""The parts of a list that links choose by, as the state of groups, and how many rows are in each. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Kind:
    """One part of a list: its key in the address, its title, and whether a row is in it. Parts may overlap."""

    key: str
    title: str
    fits: Callable[[Row], bool]


@dataclass(frozen=True)
class Kinds:
    """The parts of a list: C(name) is that of the part of the query that chooses one, C(every) the title of all."""

    name: str
    some: Sequence[Kind]
    title: str
    every: str = "All"

    @property
    def keys(self) -> list[str]:
        """What may be chosen."""
        return [one.key for one in self.some]

    def chosen(self, key: str) -> Kind | None:
        """Return the part of a key; None for all rows."""
        return next((one for one in self.some if one.key == key), None)

    def counts(self, rows: Sequence[Row]) -> dict[str, int]:
        """Return how many rows are in each part."""
        return {one.key: sum(map(one.fits, rows)) for one in self.some}
