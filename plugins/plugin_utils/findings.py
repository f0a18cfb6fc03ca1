# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What checks find before something is changed: each reason against it with its fix, and what is only told."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Level = Literal["refuse", "note"]

REFUSE: Level = "refuse"
NOTE: Level = "note"


@dataclass(frozen=True)
class Finding:
    """One thing that a check found: what, its fix, and whether the change is refused for it."""

    level: Level
    what: str
    fix: str = ""

    def __str__(self) -> str:
        return f"{self.what}. fix: {self.fix}" if self.fix else self.what


def refused(findings: Iterable[Finding]) -> list[Finding]:
    """Return those for which the change is refused."""
    return [one for one in findings if one.level == REFUSE]


def refusal_lines(findings: Iterable[Finding]) -> list[str]:
    """Return why the change is refused, a line for each reason."""
    return [f"- {one}" for one in refused(findings)]


def finding_lines(findings: Iterable[Finding]) -> list[str]:
    """Return a line of a plan for each finding: notes, then what is refused."""
    found = list(findings)
    notes = [f"Note         {one}" for one in found if one.level == NOTE]
    return [*notes, *(f"Refused      {one}" for one in refused(found))]
