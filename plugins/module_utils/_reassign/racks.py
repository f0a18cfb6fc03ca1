# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What racks allow: which broker may take a replica, and how many each broker shall hold.

Sets of brokers are bits of an int, so that 1,000 brokers cost what one costs. Brokers are numbers from 0 here (their
place in the cluster's list), racks too.

Shares are as even as racks allow, in closed form. The loads that brokers can have together are the bases of a
polymatroid, since a partition gives a rack between low and high of its replicas. Its most even bases (smallest maximum,
then fewest at it, and so on; equally the smallest sum of squares) fall into classes: each class has a fixed total, and
each broker of it one of two neighbouring loads (A. Frank, K. Murota: Decreasing minimization on M-convex sets, 2019).
All brokers of a rack, and all racks alike, belong to the same class, so trying unions of groups of like racks finds the
classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations


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

    Racks hold as equal parts of a partition's r replicas as they can: the floor or the ceil of r / racks. Those too
    small for that are full, and the others hold equal parts of the rest.
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
        self._least: dict[int, list[int]] = {}

    def bounds(self, replicas: int) -> tuple[int, int]:
        """At least and at most how many of so many replicas one rack holds; a rack with fewer brokers may hold less."""
        found = self._bounds.get(replicas)
        if found is None:
            found = self._bounds[replicas] = self._bounds_of(replicas)
        return found

    def _bounds_of(self, replicas: int) -> tuple[int, int]:
        if self.rule == "none" or self.used <= 1:
            return 0, replicas
        high = max(1, -(-replicas // self.used))
        while high < replicas and sum(min(high, size) for size in self.sizes) < replicas:
            high += 1
        return high - 1, high

    def least(self, replicas: int) -> list[int]:
        """At least how many of so many replicas each rack holds, by rack."""
        found = self._least.get(replicas)
        if found is None:
            low = self.bounds(replicas)[0]
            found = self._least[replicas] = [min(low, size) for size in self.sizes]
        return found

    def lacking(self, counts: Mapping[int, int], replicas: int) -> dict[int, int]:
        """Return how many replicas racks lack that hold less than they must, by rack; C(counts) is what they hold."""
        if not self.bounds(replicas)[0]:
            return {}
        wanted = enumerate(self.least(replicas))
        return {rack: least - counts.get(rack, 0) for rack, least in wanted if least > counts.get(rack, 0)}

    def counts(self, brokers: Iterable[int]) -> dict[int, int]:
        """Count how many of these brokers are in each rack."""
        found: dict[int, int] = {}
        for broker in brokers:
            rack = self.rack_of[broker]
            found[rack] = found.get(rack, 0) + 1
        return found

    def surplus(self, brokers: Iterable[int], replicas: int) -> int:
        """Count how many of these brokers must leave their rack; the rack rule calls a number above 0 a violation."""
        counts, high = self.counts(brokers), self.bounds(replicas)[1]
        crowded = sum(max(0, count - high) for count in counts.values())
        return max(crowded, sum(self.lacking(counts, replicas).values()))

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
        if low and leaving >= 0:
            rack = self.rack_of[leaving]
            if counts.get(rack, 0) < self.least(replicas)[rack]:
                mask &= self.members[rack]
        return mask


#: More groups of like racks than this are left to the general method: two to the power of them are tried.
MOST_GROUPS = 12


@dataclass
class Share:
    """A class of brokers: together they hold C(total), each of them between C(low) and C(high)."""

    brokers: list[int]
    low: list[int]
    high: list[int]
    total: int

    def each(self) -> Iterator[tuple[int, int, int]]:
        """Every broker with its bounds."""
        for place, broker in enumerate(self.brokers):
            yield broker, self.low[place], self.high[place]


@dataclass(frozen=True)
class _Group:
    """Racks alike in size and weights."""

    racks: tuple[int, ...]
    weight: Fraction


def shares_of(kinds: Mapping[int, int], racks: Racks, weights: Sequence[Fraction]) -> list[Share] | None:
    """The classes of the brokers that receive; None when there are too many groups of racks for this method.

    C(kinds): number of partitions by replicas. All of them may be anywhere. C(weights) is by broker.
    """
    groups = _groups(racks, weights)
    if len(groups) > MOST_GROUPS:
        return None
    even = all(weight == 1 for weight in weights)
    left = list(groups)
    settled: list[_Group] = []
    classes = []
    while left:
        chosen, total = _densest(left, settled, lambda some: _forced(kinds, racks, some), even)
        brokers = [b for group in chosen for rack in group.racks for b in bits(racks.members[rack] & racks.receive)]
        classes.append(_share(sorted(brokers), total, weights, even))
        settled += chosen
        left = [group for group in left if group not in chosen]
    return classes


def _groups(racks: Racks, weights: Sequence[Fraction]) -> list[_Group]:
    alike: dict[tuple[Fraction, ...], list[int]] = {}
    for rack in range(racks.count):
        members = sorted(weights[broker] for broker in bits(racks.members[rack] & racks.receive))
        if members:
            alike.setdefault(tuple(members), []).append(rack)
    return [_Group(tuple(found), sum(key, Fraction(0)) * len(found)) for key, found in sorted(alike.items())]


def _forced(kinds: Mapping[int, int], racks: Racks, groups: list[_Group]) -> int:
    """The fewest replicas that the racks of these groups can hold together."""
    inside = {rack for group in groups for rack in group.racks}
    others = [racks.sizes[rack] for rack in range(racks.count) if rack not in inside]
    total = 0
    for replicas, partitions in kinds.items():
        least, high = racks.least(replicas), racks.bounds(replicas)[1]
        elsewhere = sum(min(high, size) for size in others)
        total += partitions * max(sum(least[rack] for rack in inside), replicas - elsewhere)
    return total


def _densest(
    left: list[_Group], settled: list[_Group], forced: Callable[[list[_Group]], int], even: bool
) -> tuple[list[_Group], int]:
    """The groups that must carry most by broker, and how much: the class at the top."""
    tried = []
    base = forced(settled)
    for count in range(1, len(left) + 1):
        for some in map(list, combinations(left, count)):
            tried.append((some, forced(settled + some) - base, sum((group.weight for group in some), Fraction(0))))
    if even:
        # The smallest of the sets that force one broker to the top load.
        top = max(-(-total // weight) for _some, total, weight in tried)
        chosen = max(tried, key=lambda one: (one[1] - (top - 1) * one[2], -one[2]))
    else:
        level = max(total / weight for _some, total, weight in tried)
        chosen = max((one for one in tried if one[1] / one[2] == level), key=lambda one: one[2])
    return chosen[0], chosen[1]


def _share(brokers: list[int], total: int, weights: Sequence[Fraction], even: bool) -> Share:
    whole = sum((weights[broker] for broker in brokers), Fraction(0))
    if even:
        top = -(-total // len(brokers))
        return Share(brokers, [max(0, top - 1)] * len(brokers), [top] * len(brokers), total)
    parts = [weights[broker] * total / whole for broker in brokers]
    return Share(brokers, [int(part) for part in parts], [-int(-part // 1) for part in parts], total)


def targets_of(classes: Sequence[Share], loads: Sequence[int]) -> dict[int, int]:
    """One load for each broker within its class: those that hold most now keep the bigger share."""
    targets: dict[int, int] = {}
    for share in classes:
        targets.update({broker: low for broker, low, _high in share.each()})
        spare = share.total - sum(share.low)
        wide = [i for i in range(len(share.brokers)) if share.high[i] > share.low[i]]
        wide.sort(key=lambda i: (share.low[i] - loads[share.brokers[i]], share.brokers[i]))
        for i in wide[:spare]:
            targets[share.brokers[i]] += 1
    return targets
