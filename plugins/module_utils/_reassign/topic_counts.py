# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""How many replicas of a topic brokers hold, counted when it is asked for: most pairs of topic and broker never are."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from .state import Placement


class TopicCounts(dict[tuple[int, int], int]):
    """Count by topic and broker. A count begins with what is at home on the broker; what changes, callers add to it.

    Partitions of a topic stand together in C(topic_of), so that those at home on a broker are a slice of its homes.
    """

    def __init__(self, placement: Placement, topic_of: Sequence[int]) -> None:
        super().__init__()
        self._homes = placement.homes
        self._topic_of = topic_of

    def __missing__(self, pair: tuple[int, int]) -> int:
        """Count the partitions of a topic that are at home on a broker."""
        topic, broker = pair
        homes = self._homes[broker]
        first, end = bisect_left(self._topic_of, topic), bisect_left(self._topic_of, topic + 1)
        found = self[pair] = bisect_left(homes, end) - bisect_left(homes, first)
        return found
