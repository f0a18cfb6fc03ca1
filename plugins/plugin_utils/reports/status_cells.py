# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Cells and tables of the page of a status, as words; the template adds markup and escapes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from .group_lines import shown
from .move_lines import megabytes

#: Rows that a table shows: a cluster of a hundred thousand partitions must still open on a phone.
LISTED = 200
#: What stands where a figure is not known.
NOT_KNOWN = "not known"
#: Where all rows of a table are that was cut: beside a report, and of a page that is served.
IN_THE_FILE, ON_THE_PAGE = "the JSON file has all", "the JSON of this page has all"


@dataclass(frozen=True)
class Cell:
    """One cell of a table.

    ``form`` is text, name or short (what clients and operators chose: cut nowhere, broken anywhere), num (to the right)
    or state (a word in a pill, coloured by ``tone``). ``share`` draws a bar from 0 to 1; ``more`` is a second line;
    ``link`` is the address of a page about it, where there is one. ``links`` are the parts of a text that is a list,
    each with its address, empty where there is none.
    """

    text: str
    form: str = "text"
    tone: str = ""
    more: str = ""
    share: float | None = None
    link: str = ""
    links: Sequence[tuple[str, str]] = ()


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
    whole: str = IN_THE_FILE,
) -> Table:
    """Return a table that is cut at LISTED rows and says so; ``whole`` is where all of them are."""
    if len(rows) > LISTED:
        note = f"{note} {LISTED:,} of {len(rows):,}; {whole}.".strip()
    return Table(title, note, columns, rows[:LISTED], empty)


def count(value: int | None, unit: str = "") -> Cell:
    """Return a number with its unit, or that it is not known."""
    return Cell(NOT_KNOWN if value is None else f"{value:,} {unit}".strip(), "num")


def size(bytes_: int | None, more: str = "") -> Cell:
    """Return a number of bytes for people, or that it is not known."""
    return Cell(NOT_KNOWN if bytes_ is None else megabytes(bytes_), "num", more=more)


def ids(brokers: Iterable[int]) -> str:
    """Return ids of brokers for people."""
    return ", ".join(map(str, brokers)) or "none"


def visible(text: Any) -> str:
    """Return text with what a screen does not show, or shows elsewhere (marks of direction), as escapes."""
    return shown(str(text))
