"""How long events were on their way, as quantiles of the last hour. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

#: Seconds that a latency counts, and how many count at most.
WINDOW, MOST = 3600.0, 10_000
QUANTILES = (0.5, 0.95, 0.99, 1.0)


class Latencies:
    """The latencies of one way, all partitions together."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, float]] = deque(maxlen=MOST)

    def add(self, now: float, seconds: float) -> None:
        """Take a latency; one below 0, from clocks that differ, counts as 0."""
        self._seen.append((now, max(0.0, seconds)))

    def quantiles(self, now: float) -> Mapping[float, float]:
        """Return latencies by quantile, each one that occurred (nearest rank); empty where none is known."""
        while self._seen and now - self._seen[0][0] > WINDOW:
            self._seen.popleft()
        found = sorted(seconds for _at, seconds in self._seen)
        return {one: found[max(0, -int(-one * len(found) // 1) - 1)] for one in QUANTILES} if found else {}
