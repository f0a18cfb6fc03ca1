# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The knee of a curve: the smallest setting that is as good as the best one. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: How much less than the best still counts as equally good.
NEAR = 0.05


@dataclass(frozen=True)
class Point:
    """One setting of a curve with the rates of its repeats (bytes a second), in the order of the rounds."""

    value: Any
    rates: tuple[float, ...]

    @property
    def median(self) -> float:
        """The rate in the middle."""
        return float(statistics.median(self.rates))

    @property
    def spread(self) -> float:
        """Return how far repeats lie from the middle at most, as a share of it (0.05 is 5 %)."""
        return max(abs(rate - self.median) for rate in self.rates) / self.median


@dataclass(frozen=True)
class Knee:
    """The smallest setting within 5 % of the best.

    certain -- no repeat of any smaller setting comes within 5 % of the best, and each setting ran more than once.
    """

    point: Point
    best: Point
    certain: bool


def curve(rows: Iterable[Mapping[str, Any]], key: str) -> list[Point]:
    """The points of a curve, in the order in which their values first appear.

    rows -- {C(key), bytes_per_second}; those without a rate are left out.
    """
    found: dict[Any, list[float]] = {}
    for row in rows:
        if row["bytes_per_second"]:
            found.setdefault(row[key], []).append(float(row["bytes_per_second"]))
    return [Point(value, tuple(rates)) for value, rates in found.items()]


def knee_of(points: Sequence[Point]) -> Knee | None:
    """The knee of points that stand from the smallest setting to the largest; None without points."""
    if not points:
        return None
    best = max(points, key=lambda point: point.median)
    enough = best.median * (1 - NEAR)
    at = next(number for number, point in enumerate(points) if point.median >= enough)
    below = all(rate < enough for point in points[:at] for rate in point.rates)
    repeated = all(len(point.rates) > 1 for point in points)
    # The knee itself may be among the best by chance alone.
    return Knee(points[at], best, below and repeated and min(points[at].rates) >= enough * (1 - NEAR))


def better(points: Sequence[Point], default: Any) -> Any:
    """The value that is more than 5 % and more than both spreads above the default; the default where none is."""
    known = {point.value: point for point in points}
    if default not in known:
        return default
    best = max(points, key=lambda point: point.median)
    gain = best.median / known[default].median - 1
    return best.value if gain > max(NEAR, best.spread + known[default].spread) else default
