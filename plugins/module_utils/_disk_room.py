# Private to this collection.
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which new replicas the disks of brokers have room for.

Kafka puts a new replica into the log directory that holds the fewest partitions, however full it is
(LogManager.nextLogDirs), so that is where it must fit. Where several hold as few, the fullest one is taken to be it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

#: The part of every disk that moves leave free, and the most bytes of a disk that this part or a lesser one means.
RESERVE, RESERVE_BYTES = 0.15, 75_000_000_000
#: The part of its limit that a fuller disk still takes: almost nothing.
SLIGHT = 0.001


@dataclass
class Dir:
    """A log directory: the bytes that may be on its file system, those that are, and how many replicas it holds.

    C(most): what slight additions may bring a disk to that is above its limit already.
    """

    limit: int
    used: int
    replicas: int = 0
    most: int = 0

    @property
    def room(self) -> int:
        """The bytes that may be added; below 0 on a disk that is too full."""
        return max(self.limit, self.most) - self.used


def limit_of(total: int, reserve: float) -> int:
    """The bytes that may be on a file system of a size when a part of it stays free.

    On a big disk a part of it is more than anybody needs free: RESERVE or less means RESERVE_BYTES at most.
    """
    kept = math.ceil(total * reserve)
    return total - (min(kept, RESERVE_BYTES) if reserve <= RESERVE else kept)


def dir_of(total: int, used: int, replicas: int, reserve: float) -> Dir:
    """A log directory on a file system of a size, a part of which stays free but for what is next to nothing."""
    limit = limit_of(total, reserve)
    return Dir(limit, used, replicas, min(total, used + int(limit * SLIGHT)))


class Room:
    """The log directories of brokers, filled up by new replicas. A broker that is not there takes anything."""

    def __init__(self, brokers: Mapping[int, Iterable[Dir]]) -> None:
        self.dirs = {broker: [replace(one) for one in dirs] for broker, dirs in brokers.items()}

    def part(self, brokers: Iterable[int]) -> Room:
        """A copy for these brokers, to try something on."""
        return Room({broker: self.dirs[broker] for broker in brokers if broker in self.dirs})

    def next_dir(self, broker: int) -> Dir | None:
        """The directory that a new replica goes to, None where nothing is known of them."""
        dirs = self.dirs.get(broker)
        return min(dirs, key=lambda one: (one.replicas, one.room)) if dirs else None

    def fits(self, brokers: Sequence[int], size: int) -> bool:
        """Whether each of these brokers has room for a replica of this size. An empty one fits any disk."""
        found = (self.next_dir(broker) for broker in brokers)
        return not size or all(one is None or one.room >= size for one in found)

    def add(self, brokers: Iterable[int], size: int) -> None:
        """Put a replica of this size on each of these brokers."""
        for broker in brokers:
            one = self.next_dir(broker)
            if one is not None:
                one.used += size
                one.replicas += 1

    def remove(self, brokers: Iterable[int], size: int) -> None:
        """Take one away from each. Of several directories nobody knows which one it frees: then none is."""
        for broker in brokers:
            dirs = self.dirs.get(broker, [])
            if len(dirs) == 1:
                dirs[0].used -= size
                dirs[0].replicas -= 1
