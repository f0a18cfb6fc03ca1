# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""How far a host's clock is from the control node's, as far as a question over a connection can tell.

A host that said S between the control node's times T0 and T1 is off by S - T1 at least and S - T0 at most: the middle
of the two is the offset, half of the time between them the uncertainty. This is NTP's own reasoning (RFC 5905, 8).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_TIME = re.compile(r"\d+\.\d{9}\Z")


@dataclass(frozen=True)
class Reading:
    """A clock against the control node's, in seconds: offset (positive when ahead), and how far that may be wrong."""

    offset: float
    uncertainty: float = 0.0

    def apart(self, other: Reading) -> float:
        """Seconds that two clocks differ by at least; 0 when the uncertainties allow them to be equal."""
        return max(0.0, abs(self.offset - other.offset) - (self.uncertainty + other.uncertainty))


def seconds(said: str) -> float | None:
    """The seconds since 1970 that C(date +%s.%N) printed, None when it printed something else."""
    return float(said.strip()) if _TIME.match(said.strip()) else None


def narrowest(questions: Iterable[tuple[float, float, float]]) -> Reading:
    """The most certain of several readings; a question is (asked at, what the host said, answered at)."""
    return min(
        (Reading(said - (asked + answered) / 2, (answered - asked) / 2) for asked, said, answered in questions),
        key=lambda reading: reading.uncertainty,
    )
