# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Which new replicas the disks of brokers have room for.

Kafka puts a new replica into the log directory that holds the fewest partitions, however full it is
(LogManager.nextLogDirs), so that is where it must fit. Where several hold as few, the fullest one is taken to be it.
The room for a batch is counted again before it begins: plans grow old.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from .._cluster.file_systems import Dir, by_file_system, dir_of
from .._cluster.log_sizes import LogDirs
from .._cluster.snapshot import Key
from .record import Look, Row


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
        """Say whether these brokers together have room for a replica of this size each. An empty one fits any disk."""
        return not size or all(self._has_room(broker, size * self.coming(broker, brokers)) for broker in brokers)

    def _has_room(self, broker: int, size: int) -> bool:
        one = self.next_dir(broker)
        return one is None or one.room >= size

    def coming(self, broker: int, brokers: Sequence[int]) -> int:
        """Return how many new replicas come to the file system that one of these brokers puts its own on."""
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
