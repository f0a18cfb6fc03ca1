# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""How many replicas each broker shall hold: as even as racks allow, in closed form.

The loads that brokers can have together are the bases of a polymatroid, since a partition gives a rack between low
and high of its replicas. Its most even bases (smallest maximum, then fewest at it, and so on; equally the smallest sum
of squares) fall into classes: each class has a fixed total, and each broker of it one of two neighbouring loads
(A. Frank, K. Murota: Decreasing minimization on M-convex sets, 2019). All brokers of a rack, and all racks alike,
belong to the same class, so trying unions of groups of like racks finds the classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from ansible_collections.streamops.kafka.plugins.module_utils._reassign.racks import Racks, bits

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
        low, high = racks.bounds(replicas)
        total += partitions * max(low * len(inside), replicas - sum(min(high, size) for size in others))
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
