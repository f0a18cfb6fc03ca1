# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""A placement that is being changed: what each partition had, has now, and may do next. Brokers are numbers from 0."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from .racks import Racks

#: What is not among the guests of a broker is at home there.
_HOME = object()
_Placement = TypeVar("_Placement", bound="Placement")


class Placement:
    """C(had) is the placement at the beginning and never changes; C(now) holds only partitions that differ from it.

    A replica is at home on a broker that had it at the beginning, a guest elsewhere; each guest is one move.
    C(homes) lists, by broker, the partitions that may move and are at home there, in order.
    """

    def __init__(self, had: Sequence[tuple[int, ...]], brokers: int, racks: Racks, fixed: Iterable[int] = ()) -> None:
        self.had = had
        self.racks = racks
        self.now: dict[int, list[int]] = {}
        # Arrays, since there is an entry for each replica of the cluster.
        self.homes = [array("i") for _broker in range(brokers)]
        self.guests: list[dict[int, None]] = [{} for _broker in range(brokers)]
        #: Partitions that stay as they are.
        self.fixed = frozenset(fixed)
        #: Guests that were put where they are by name and stay there.
        self.pinned: set[int] = set()
        #: By partition the brokers that do not get it back: it shall have fewer replicas, and theirs is not in sync.
        self.barred: dict[int, int] = {}
        #: Partitions that gave away a home which may take them back, in that order; some may have come back since.
        self._away: dict[int, None] = {}
        settle = [found.append for found in self.homes]
        for partition, brokers_had in enumerate(had):
            for broker in brokers_had:
                settle[broker](partition)
        self.loads = [len(found) for found in self.homes]
        if self.fixed:
            self.homes = [array("i", [p for p in found if p not in self.fixed]) for found in self.homes]

    def at(self, partition: int) -> Sequence[int]:
        """The brokers of a partition now, in no particular order."""
        found = self.now.get(partition)
        return self.had[partition] if found is None else found

    def drop(self, partition: int, broker: int) -> None:
        """Take a replica away."""
        members = self._opened(partition)
        members.remove(broker)
        self._left(partition, broker)

    def add(self, partition: int, broker: int) -> None:
        """Give a partition one more replica."""
        members = self._opened(partition)
        members.append(broker)
        self.loads[broker] += 1
        if broker not in self.had[partition]:
            self.guests[broker][partition] = None

    def swap(self, partition: int, leaving: int, coming: int) -> None:
        """Give the replica of one broker to another."""
        members = self._opened(partition)
        members[members.index(leaving)] = coming
        self._left(partition, leaving)
        self.loads[coming] += 1
        had = self.had[partition]
        if coming not in had:
            self.guests[coming][partition] = None
        elif len(members) == len(had) and all(broker in had for broker in members):
            del self.now[partition]
            self._away.pop(partition, None)

    def _left(self, partition: int, broker: int) -> None:
        self.loads[broker] -= 1
        if self.guests[broker].pop(partition, _HOME) is _HOME and self.racks.receive >> broker & 1:
            self._away[partition] = None

    def become(self, partition: int, members: Sequence[int]) -> None:
        """Put the replicas of a partition where the caller says."""
        for broker in [b for b in self.at(partition) if b not in members]:
            self.drop(partition, broker)
        for broker in [b for b in members if b not in self.at(partition)]:
            self.add(partition, broker)

    def part(self, partitions: Sequence[int]) -> Placement:
        """A placement of these partitions alone, by their places in the list, that can be changed by itself."""
        fixed = [place for place, partition in enumerate(partitions) if partition in self.fixed]
        found = Placement([self.had[partition] for partition in partitions], len(self.loads), self.racks, fixed)
        for place, partition in enumerate(partitions):
            if partition in self.now:
                found.become(place, self.now[partition])
            if partition in self.barred:
                found.barred[place] = self.barred[partition]
        return found

    def _opened(self, partition: int) -> list[int]:
        members = self.now.get(partition)
        if members is None:
            members = self.now[partition] = list(self.had[partition])
        return members

    def room(self, partition: int, leaving: int) -> int:
        """The brokers that may take the replica that C(leaving) has now."""
        members = self.at(partition)
        return self.racks.room(members, leaving, len(members)) & ~self.barred.get(partition, 0)

    def openings(self, partition: int, wanted: int) -> int:
        """The brokers that may take one more replica of a partition that shall have so many.

        Those in racks that hold less than they must, as long as there are any.
        """
        racks, members = self.racks, self.at(partition)
        room = racks.room(members, -1, wanted) & ~self.barred.get(partition, 0)
        if racks.bounds(wanted)[0]:
            missing = 0
            for rack in racks.lacking(racks.counts(members), wanted):
                missing |= racks.members[rack]
            room = room & missing or room
        return room

    def leaving_home(self, broker: int) -> Iterator[tuple[int, int]]:
        """The partitions that are at home on a broker, each with the brokers it may go to that it has not left."""
        now, had, room_of = self.now, self.had, self.racks.room
        for partition in self.homes[broker]:
            members = now.get(partition)
            if members is None:
                yield partition, room_of(had[partition], broker, len(had[partition]))
            elif broker in members:
                yield partition, room_of(members, broker, len(members)) & ~self.left(partition)

    def reach(self, broker: int) -> int:
        """A set that holds all brokers that the partitions at home on a broker may ever go to: here simply all."""
        return -1

    def torn(self) -> dict[int, list[int]]:
        """By broker the partitions that are at home there and have another home to come back to."""
        found: dict[int, list[int]] = {}
        receive = self.racks.receive
        for partition in self._away:
            if partition not in self.fixed and self.left(partition) & receive:
                for broker in self.now[partition]:
                    if broker in self.had[partition]:
                        found.setdefault(broker, []).append(partition)
        return found

    def left(self, partition: int) -> int:
        """The brokers that had a partition and do not have it now: to come back costs nothing."""
        members = self.now.get(partition)
        mask = 0
        if members is not None:
            for broker in self.had[partition]:
                if broker not in members:
                    mask |= 1 << broker
        return mask

    def moves(self) -> int:
        """Return how many replicas are not at home."""
        return sum(map(len, self.guests))

    def copy(self: _Placement) -> _Placement:
        """The same placement, to try something on; what never changes is shared."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.now = {partition: list(members) for partition, members in self.now.items()}
        other.loads = list(self.loads)
        other._away = dict(self._away)
        other.guests = [dict(found) for found in self.guests]
        return other

    def ordered(self, partition: int) -> list[int]:
        """The brokers of a partition in order: who stays keeps its place, guests take the places of who left."""
        members = self.at(partition)
        had = self.had[partition]
        guests = sorted(broker for broker in members if broker not in had)
        order = [broker if broker in members else -1 for broker in had]
        for place, broker in enumerate(order):
            if broker < 0 and guests:
                order[place] = guests.pop(0)
        return [broker for broker in order if broker >= 0] + guests
