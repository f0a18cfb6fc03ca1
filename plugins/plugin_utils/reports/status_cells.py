# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Cells and tables of the page of a status, as words; the template adds markup and escapes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.group_lines import shown

#: Rows that a table shows: a cluster of a hundred thousand partitions must still open on a phone.
LISTED = 200
#: What stands where a figure is not known.
NOT_KNOWN = "not known"


@dataclass(frozen=True)
class Cell:
    """One cell of a table.

    ``form`` is text, name or short (what clients and operators chose: cut nowhere, broken anywhere), num (to the right)
    or state (a word in a pill, coloured by ``tone``). ``share`` draws a bar from 0 to 1; ``more`` is a second line;
    ``link`` is the address of a page about it, where there is one.
    """

    text: str
    form: str = "text"
    tone: str = ""
    more: str = ""
    share: float | None = None
    link: str = ""


@dataclass(frozen=True)
class Table:
    """A titled table; ``empty`` stands where it has no row. ``columns`` are titles with the form of their cells."""

    title: str
    note: str
    columns: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[Cell]]
    empty: str = "None."


def cut_table(
    title: str,
    note: str,
    columns: Sequence[tuple[str, str]],
    rows: Sequence[Sequence[Cell]],
    empty: str = "None.",
) -> Table:
    """Return a table that is cut at LISTED rows and says so."""
    if len(rows) > LISTED:
        note = f"{note} {LISTED:,} of {len(rows):,}; the JSON file has all.".strip()
    return Table(title, note, columns, rows[:LISTED], empty)


def count(value: int | None, unit: str = "") -> Cell:
    """Return a number with its unit, or that it is not known."""
    return Cell(NOT_KNOWN if value is None else f"{value:,} {unit}".strip(), "num")


def ids(brokers: Iterable[int]) -> str:
    """Return ids of brokers for people."""
    return ", ".join(map(str, brokers)) or "none"


def visible(text: Any) -> str:
    """Return text with what a screen does not show, or shows elsewhere (marks of direction), as escapes."""
    return shown(str(text))
