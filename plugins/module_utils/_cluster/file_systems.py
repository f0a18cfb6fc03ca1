# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Log directories, the room on them, and which of them are on one file system, as far as brokers tell it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

#: The part of every disk that moves leave free, and the most bytes of a disk that this part or a lesser one means.
RESERVE, RESERVE_BYTES = 0.15, 75_000_000_000
#: The part of its limit that a fuller disk still takes: almost nothing.
SLIGHT = 0.001
#: Directories with as big file systems may be on one if their use differs by no more than this part of them. A broker
#: tells of all its directories in one answer: nobody writes more bytes than DRIFT meanwhile.
SAME, DRIFT = 0.001, 100_000_000


@dataclass
class Dir:
    """A log directory: the bytes that may be on its file system, those that are, and how many replicas it holds.

    C(most): what slight additions may bring a disk to that is above its limit already. C(total): its size, 0 where it
    is not known. C(host): the host that it is on, empty where it is not known. C(held): the bytes of its replicas, 0
    where C(counted) says that they are not known.
    """

    limit: int
    used: int
    replicas: int = 0
    most: int = 0
    total: int = 0
    host: str = ""
    held: int = 0
    counted: bool = True

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


def dir_of(total: int, used: int, replicas: int, reserve: float, host: str = "", held: int | None = 0) -> Dir:
    """A log directory on a file system of a size, a part of which stays free but for what is next to nothing.

    C(held) is None where the bytes of its replicas are not known.
    """
    limit = limit_of(total, reserve)
    return Dir(limit, used, replicas, min(total, used + int(limit * SLIGHT)), total, host, held or 0, held is not None)


@dataclass
class _Disk:
    """Directories that are on one file system, as far as anybody can tell, the fullest first."""

    host: object
    brokers: set[int]
    dirs: list[Dir]

    def has(self, host: object, broker: int, one: Dir) -> bool:
        """Return whether another directory may be on it too: as big, as full, all replicas within what is used."""
        first = self.dirs[0]
        if host != self.host or not first.total == one.total > 0:
            return False
        drift = first.total * SAME
        if self.brokers == {broker}:
            drift = min(drift, DRIFT)
        return first.used - one.used <= drift and one.held + sum(other.held for other in self.dirs) <= first.used


def by_file_system(dirs: Mapping[int, Sequence[Dir]]) -> list[list[Dir]]:
    """Return directories of brokers, by id, together with those on the same file system, the fullest of each first."""
    found: list[_Disk] = []
    listed = [(one.host or broker, broker, one) for broker, held in sorted(dirs.items()) for one in held]
    for host, broker, one in sorted(listed, key=lambda entry: -entry[2].used):
        disk = next((disk for disk in found if disk.has(host, broker, one)), None)
        if disk is None:
            found.append(_Disk(host, {broker}, [one]))
        else:
            disk.brokers.add(broker)
            disk.dirs.append(one)
    return [disk.dirs for disk in found]
