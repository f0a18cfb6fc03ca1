# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Which broker may take a replica: sets of brokers as bits of an int, so that 1,000 brokers cost what one costs.

Brokers are numbers from 0 here (their place in the cluster's list), racks too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence


def bits(mask: int) -> Iterator[int]:
    """The numbers in a set, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def mask_of(numbers: Iterable[int]) -> int:
    """A set of numbers."""
    mask = 0
    for number in numbers:
        mask |= 1 << number
    return mask


class Racks:
    """The rack rule over the brokers that may receive.

    For a partition with r replicas a rack holds at most C(high(r)) and at least C(low(r)) of them. The even rule's
    ceil(r / racks) is raised where racks are too small to hold that many.
    """

    def __init__(self, rack_of: Sequence[int], receive: int, rule: str) -> None:
        self.rule = rule
        self.receive = receive
        self.rack_of = list(rack_of) if rule != "none" else [0] * len(rack_of)
        self.count = max(self.rack_of, default=0) + 1
        self.members = [0] * self.count
        for broker, rack in enumerate(self.rack_of):
            self.members[rack] |= 1 << broker
        self.sizes = [bin(members & receive).count("1") for members in self.members]
        self.used = sum(size > 0 for size in self.sizes)
        self.outside = [~self.members[rack] for rack in self.rack_of]
        self._bounds: dict[int, tuple[int, int]] = {}

    def bounds(self, replicas: int) -> tuple[int, int]:
        """At least and at most how many of so many replicas one rack holds."""
        found = self._bounds.get(replicas)
        if found is None:
            found = self._bounds[replicas] = self._bounds_of(replicas)
        return found

    def _bounds_of(self, replicas: int) -> tuple[int, int]:
        if self.rule == "none" or not self.used:
            return 0, replicas
        if self.rule == "strict" and replicas > self.used:
            return 1, replicas
        high = max(1, -(-replicas // self.used))
        while high < replicas and sum(min(high, size) for size in self.sizes) < replicas:
            high += 1
        return 0, high

    def counts(self, brokers: Iterable[int]) -> dict[int, int]:
        """How many of these brokers are in each rack."""
        found: dict[int, int] = {}
        for broker in brokers:
            rack = self.rack_of[broker]
            found[rack] = found.get(rack, 0) + 1
        return found

    def surplus(self, brokers: Iterable[int], replicas: int) -> int:
        """How many of these brokers must leave their rack; what the rack rule calls a violation when it is not 0."""
        low, high = self.bounds(replicas)
        counts = self.counts(brokers)
        if low:
            return sum(counts.get(rack, 0) == 0 for rack in range(self.count) if self.sizes[rack])
        return sum(max(0, count - high) for count in counts.values())

    def room(self, brokers: Sequence[int], leaving: int, replicas: int) -> int:
        """The brokers that may take the replica of C(leaving) (-1 = one more replica) of a partition on C(brokers)."""
        low, high = self.bounds(replicas)
        mask = self.receive
        if high == 1:
            for broker in brokers:
                if broker != leaving:
                    mask &= self.outside[broker]
            return mask & ~(1 << leaving) if leaving >= 0 else mask
        for broker in brokers:
            mask &= ~(1 << broker)
        if self.rule == "none":
            return mask
        counts = self.counts(broker for broker in brokers if broker != leaving)
        for rack, count in counts.items():
            if count >= high:
                mask &= ~self.members[rack]
        if low and leaving >= 0 and not counts.get(self.rack_of[leaving], 0):
            mask &= self.members[self.rack_of[leaving]]
        return mask
