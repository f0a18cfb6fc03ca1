# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Who gets the replicas that partitions need, where disks are nearly full: room decides, numbers come second.

Whether what must be placed fits is bin packing, so this is a search: big partitions first, and back where one fits
nowhere. It ends with the first placement that fits, when none does, or after a number of steps.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from .._cluster.file_systems import Dir
from .disk_room import Room
from .racks import bits
from .state import Placement

#: Replicas placed at most in one search, beside one for each that must be placed.
MOST_STEPS = 50_000


@dataclass
class _Try:
    """One replica that must be placed: where it may still go, and where it is now (-1 = nowhere)."""

    partition: int
    takers: Iterator[int]
    broker: int = -1
    dir: Dir | None = None


class Fitting:
    """The search. C(placement) has brokers by number, C(room) by id; C(ids) are the ids of the numbers."""

    def __init__(self, placement: Placement, room: Room, ids: Sequence[int], size: Callable[[int], int]) -> None:
        self.placement = placement
        self.room = room
        self.ids = ids
        self.size = size
        self.order = sorted((load, broker) for broker, load in enumerate(placement.loads))

    def place(self, need: Mapping[int, int]) -> bool:
        """Place so many replicas of each partition; whether a placement was found that fits. If not, none is placed."""
        wanted = {p: len(self.placement.at(p)) + count for p, count in need.items()}
        slots = [p for p in sorted(need, key=lambda p: (-self.size(p), p)) for _copy in range(need[p])]
        return any(self._search(slots, wanted, takers) for takers in (self._fewest, self._emptiest))

    def _search(
        self, slots: Sequence[int], wanted: Mapping[int, int], takers: Callable[[int, int], Iterable[int]]
    ) -> bool:
        """Place a replica for each of these partitions; C(takers): the brokers that may have it, the best first."""
        tries: list[_Try] = []
        steps = len(slots) + MOST_STEPS
        while len(tries) < len(slots) or (tries and tries[-1].broker < 0):
            if not tries or tries[-1].broker >= 0:
                partition = slots[len(tries)]
                tries.append(_Try(partition, iter(takers(partition, wanted[partition]))))
            one = tries[-1]
            broker = next(one.takers, -1) if steps else -1
            if broker >= 0:
                steps -= 1
                self._put(one, broker)
                continue
            tries.pop()
            if not tries:
                return False
            self._take_back(tries[-1])
        return True

    def _fewest(self, partition: int, wanted: int) -> Iterator[int]:
        """Yield who has room for a replica more, those with the fewest first."""
        openings, place = self.placement.openings(partition, wanted), 0
        # Whatever was placed since this was last asked for has been taken back: the order is the same again.
        while place < len(self.order):
            broker = self.order[place][1]
            if openings >> broker & 1 and self._fits(partition, broker):
                yield broker
            place += 1

    def _emptiest(self, partition: int, wanted: int) -> list[int]:
        """Return who has room for a replica more, those with most room first."""
        openings = bits(self.placement.openings(partition, wanted))
        return sorted((broker for broker in openings if self._fits(partition, broker)), key=self._filled)

    def _fits(self, partition: int, broker: int) -> bool:
        return self.room.fits([self.ids[broker]], self.size(partition))

    def _filled(self, broker: int) -> tuple[float, int]:
        one = self.room.next_dir(self.ids[broker])
        return -math.inf if one is None else -one.room, broker

    def _count(self, broker: int, change: Callable[[int, int], None], partition: int) -> None:
        """Change what a broker has, and its place in the order."""
        loads = self.placement.loads
        del self.order[bisect_left(self.order, (loads[broker], broker))]
        change(partition, broker)
        insort(self.order, (loads[broker], broker))

    def _put(self, one: _Try, broker: int) -> None:
        one.broker, one.dir = broker, self.room.next_dir(self.ids[broker])
        self._count(broker, self.placement.add, one.partition)
        self.room.add([self.ids[broker]], self.size(one.partition))

    def _take_back(self, one: _Try) -> None:
        self._count(one.broker, self.placement.drop, one.partition)
        if one.dir is not None:
            self.room.take(one.dir, -self.size(one.partition))
            one.dir.replicas -= 1
        one.broker, one.dir = -1, None
