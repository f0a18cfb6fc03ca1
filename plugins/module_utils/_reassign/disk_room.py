# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Which new replicas the disks of brokers have room for.

Kafka puts a new replica into the log directory that holds the fewest partitions, however full it is
(LogManager.nextLogDirs), so that is where it must fit. Where several hold as few, the fullest one is taken to be it.
The room for a batch is counted again before it begins: plans grow old.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.log_sizes import LogDirs
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Key
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.record import Look, Row

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
        """Whether another directory may be on it too: as big, as full, and all replicas are part of what is used."""
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


def unclear(dirs: Mapping[int, Sequence[Dir]]) -> list[int]:
    """Return the brokers with directories that are on one file system or on several alike: nothing tells which.

    Their room cannot be judged: taken for one disk, what leaves one would be room on the other; taken for several, each
    would be given all of it.
    """
    groups = [{id(one) for one in group} for group in by_file_system(dirs)]
    return sorted(
        broker
        for broker, held in dirs.items()
        for group in groups
        if len(mine := [one for one in held if id(one) in group]) > 1 and not all(one.counted for one in mine)
    )


class Room:
    """The log directories of brokers, filled up by new replicas. A broker that is not there takes anything."""

    def __init__(self, brokers: Mapping[int, Iterable[Dir]]) -> None:
        self.dirs = {broker: [replace(one) for one in dirs] for broker, dirs in brokers.items()}
        #: By directory all those on the same file system, itself too: what one of them gets, all have less room for.
        self.beside = {id(one): group for group in by_file_system(self.dirs) for one in group}

    def part(self, brokers: Iterable[int]) -> Room:
        """A copy for these brokers, to try something on."""
        found = Room({})
        twins: dict[int, Dir] = {}
        for broker in brokers:
            if broker in self.dirs:
                found.dirs[broker] = [twins.setdefault(id(one), replace(one)) for one in self.dirs[broker]]
        for place, twin in twins.items():
            found.beside[id(twin)] = [twins[id(one)] for one in self.beside[place] if id(one) in twins]
        return found

    def take(self, one: Dir, size: int) -> None:
        """Count bytes that come to the file system of a directory, or go from there."""
        for shared in self.beside[id(one)]:
            shared.used += size

    def next_dir(self, broker: int) -> Dir | None:
        """The directory that a new replica goes to, None where nothing is known of them."""
        dirs = self.dirs.get(broker)
        if not dirs or len(dirs) == 1:
            return dirs[0] if dirs else None
        return min(dirs, key=lambda one: (one.replicas, one.room))

    def fits(self, brokers: Sequence[int], size: int) -> bool:
        """Whether these brokers together have room for a replica of this size each. An empty one fits any disk."""
        return not size or all(self._has_room(broker, size * self.coming(broker, brokers)) for broker in brokers)

    def _has_room(self, broker: int, size: int) -> bool:
        one = self.next_dir(broker)
        return one is None or one.room >= size

    def coming(self, broker: int, brokers: Sequence[int]) -> int:
        """How many new replicas come to the file system that one of these brokers puts its own on."""
        one = self.next_dir(broker)
        beside = [] if one is None else self.beside[id(one)]
        return sum(any(other is self.next_dir(b) for other in beside) for b in brokers)

    def add(self, brokers: Iterable[int], size: int) -> None:
        """Put a replica of this size on each of these brokers."""
        for broker in brokers:
            one = self.next_dir(broker)
            if one is not None:
                self.take(one, size)
                one.replicas += 1

    def expect(self, brokers: Iterable[int], size: int) -> None:
        """Count a replica that a move under way is copying to each of these brokers.

        How much of it is there, and on which disk, is not known: so it takes its whole size from each of them.
        """
        for broker in brokers:
            counted: set[int] = set()
            for one in self.dirs.get(broker, ()):
                if id(one) not in counted:
                    counted.update(id(other) for other in self.beside[id(one)])
                    self.take(one, size)

    def remove(self, brokers: Iterable[int], size: int) -> None:
        """Take one away from each. Of several disks nobody knows which one it frees: then none is."""
        for broker in brokers:
            dirs = self.dirs.get(broker, [])
            if dirs and all(any(one is other for other in self.beside[id(dirs[0])]) for one in dirs):
                self.take(dirs[0], -size)
            if len(dirs) == 1:
                dirs[0].replicas -= 1


def _room_of(disks: Mapping[int, LogDirs], reserve: float, hosts: Mapping[int, str]) -> Room:
    """The room of brokers as they reported their log directories."""
    return Room(
        {
            broker: [
                dir_of(
                    disk.total_bytes,
                    disk.total_bytes - disk.usable_bytes,
                    disk.replicas,
                    reserve,
                    hosts.get(broker, ""),
                    sum(disk.held.values()),
                )
                for disk in found.disks
            ]
            for broker, found in disks.items()
        }
    )


def without_room(
    rows: Iterable[Row],
    look: Look,
    disks: Mapping[int, LogDirs],
    sizes: Mapping[Key, int],
    reserve: float,
    silent: Mapping[int, str],
    hosts: Mapping[int, str] = MappingProxyType({}),
) -> dict[Key, str]:
    """The rows that some disk has no room for now, the first ones first.

    What is still to come of moves under way counts as there. C(sizes) are those of the leaders' logs now; C(silent) are
    brokers that could not be asked, and why. C(hosts): where brokers are, since those of one host may share a disk.
    """
    room = _room_of(disks, reserve, hosts)
    for key, flying in sorted(look.in_flight.items()):
        for broker in sorted(flying.adding):
            _claim(room, broker, disks, key, sizes.get(key, 0))
    waiting = {}
    for row in rows:
        added = look.added(row)
        size = max(row.bytes, sizes.get(row.key, 0))
        unknown = [broker for broker in added if broker in silent]
        if unknown:
            waiting[row.key] = f"broker {unknown[0]} does not tell how full its disks are ({silent[unknown[0]]})"
        elif room.fits(added, size):
            room.add(added, size)
        else:
            full = next(broker for broker in added if not room.fits([broker], size))
            one = room.next_dir(full)
            left = 0 if one is None else max(0, one.limit - one.used)
            waiting[row.key] = (
                f"broker {full} has room for {left} more bytes, with disk_reserve {reserve:g} left free "
                f"(kafka_resources_move_disk_reserve) and what is on its way there, and the new replica has {size}"
            )
    return waiting


def _claim(room: Room, broker: int, disks: Mapping[int, LogDirs], key: Key, size: int) -> None:
    """Count what is still to come of a replica, in the directory that has it already or will get it."""
    for place, disk in enumerate(disks[broker].disks if broker in disks else ()):
        if key in disk.held:
            room.take(room.dirs[broker][place], max(0, size - disk.held[key]))
            return
    room.add([broker], size)
