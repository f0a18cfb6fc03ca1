"""Lag over time as a line and as the words that say the same. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_cells import NOT_KNOWN
from page.known.freshness import clock

#: The picture in its own units; the style stretches it to the width of the page.
WIDTH, HEIGHT = 600, 96
_MARGIN = 4
#: A line is broken where polls are further apart than so many of their usual distances: they failed there.
_GAP = 3
_KEPT = "The lag at the last polls, which the page keeps in memory: a restart forgets them."

Point = tuple[float, int | None]


@dataclass(frozen=True)
class Curve:
    """C(lines): points of a polyline each, in WIDTH x HEIGHT; C(said) is the same for those who do not see it."""

    note: str
    lines: Sequence[str]
    said: str
    facts: Sequence[tuple[str, str]]
    width: int = WIDTH
    height: int = HEIGHT


def curve_of(points: Sequence[Point]) -> Curve:
    """Return the lag of a group at its polls (seconds since 1970, records or None where unknown), the oldest first."""
    known = [(taken, lag) for taken, lag in points if lag is not None]
    if len(known) < 2:
        return Curve(f"{_KEPT} The line begins with the second poll that knows the lag.", (), "", ())
    peak_at, peak = max(known, key=lambda point: point[1])
    low_at, low = min(known, key=lambda point: point[1])
    last = points[-1][1]
    facts = [
        ("Now", NOT_KNOWN if last is None else f"{last:,} records"),
        ("Highest", f"{peak:,} records at {clock(peak_at)}"),
        ("Lowest", f"{low:,} records at {clock(low_at)}"),
        ("Since", clock(points[0][0])),
    ]
    said = "; ".join(f"{name.lower()} {value}" for name, value in facts)
    return Curve(
        f"{_KEPT} The foot of the line is 0; it is broken where the lag was unknown.",
        _lines(points, peak),
        f"{len(points):,} polls: {said}.",
        facts,
    )


def _lines(points: Sequence[Point], peak: int) -> list[str]:
    times = [taken for taken, _lag in points]
    begin, length = times[0], max(times[-1] - times[0], 1e-9)
    usual = median(after - before for before, after in pairwise(times))
    found: list[list[str]] = [[]]
    before = begin
    for taken, lag in points:
        if (lag is None or taken - before > _GAP * usual) and found[-1]:
            found.append([])
        before = taken
        if lag is not None:
            across = WIDTH * (taken - begin) / length
            down = HEIGHT - _MARGIN - (HEIGHT - 2 * _MARGIN) * lag / max(peak, 1)
            found[-1].append(f"{across:.1f},{down:.1f}")
    # A point alone is drawn as a line to itself: a dot.
    return [" ".join(line if len(line) > 1 else line * 2) for line in found if line]
