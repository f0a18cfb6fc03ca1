# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What brokers hold, and may hold at most, in bytes: limits, who takes what must be placed, and who stays above."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from ansible_collections.streamops.kafka.plugins.module_utils._reassign.forced import Givers
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.model import Above
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.racks import bits
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.shares import Share, shares_of
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.state import Placement


class Ledger:
    """What brokers hold and may hold at most, in bytes, beside a placement. Brokers are numbers.

    C(sizes) is by partition, C(weights) by broker. Limits are there after C(limit_all): C(mean_limit) is what was asked
    for, C(limit) is above it where the rack rule makes a rack hold more than that.
    """

    def __init__(self, placement: Placement, sizes: Sequence[int], weights: Sequence[Fraction]) -> None:
        self.placement = placement
        self.sizes = sizes
        self.weights = weights
        self.takers = list(bits(placement.racks.receive))
        self.used = [0] * len(placement.loads)
        self.limit = [0] * len(placement.loads)
        self.mean_limit = self.limit
        #: Bytes that partitions must move by themselves, and what is above the limits when they have given that up.
        self.bound = 0
        #: Partitions that had the choice which replica to give up: another choice may have been cheaper.
        self._chose: set[int] = set()
        #: The brokers that were above their limit when every partition had what it must have.
        self.was_above: set[int] = set()
        for partition, brokers in enumerate(placement.had):
            for broker in brokers:
                self.used[broker] += sizes[partition]

    def released(self, partition: int, leaving: int) -> None:
        """Count what a partition gave up; brokers in C(leaving) had to lose theirs."""
        members = self.placement.at(partition)
        for broker in self.placement.had[partition]:
            if broker not in members:
                self.used[broker] -= self.sizes[partition]
                if not leaving >> broker & 1:
                    self._chose.add(partition)

    def limit_all(self, tolerance: Fraction, missing: Mapping[int, int]) -> None:
        """Set the limits. C(missing): by partition how many replicas are yet to be placed."""
        asked = sum(self.sizes[partition] * count for partition, count in missing.items())
        total = asked + sum(self.used[broker] for broker in self.takers)
        most = 1 + tolerance
        whole = Share(self.takers, [], [], total)
        self.limit = self._shared([whole], most)
        self.mean_limit = list(self.limit)
        for broker, limit in enumerate(self._shared(self._shares_in_racks(missing, total), most)):
            # A rack that must hold more than its limit holds as little above it as can be; no other holds more for it.
            if limit > most * self.mean_limit[broker]:
                self.limit[broker] = limit
        chosen: Counter[int] = Counter()
        for partition in self._chose:
            chosen.update(dict.fromkeys(self.placement.at(partition), self.sizes[partition]))
        self.bound = asked + sum(max(0, self.above(broker) - chosen[broker]) for broker in self.takers)

    def _shares_in_racks(self, missing: Mapping[int, int], total: int) -> list[Share]:
        """The bytes of brokers as even as racks allow; none where replicas that stay make that another question."""
        placement = self.placement
        kinds: Counter[int] = Counter()
        for partition, size in enumerate(self.sizes):
            kinds[len(placement.at(partition)) + missing.get(partition, 0)] += size
        if placement.fixed or sum(count * size for count, size in kinds.items()) != total:
            return []
        return shares_of(dict(sorted(kinds.items())), placement.racks, self.weights) or []

    def _shared(self, shares: Iterable[Share], most: Fraction) -> list[int]:
        """By broker so many times its part of its class."""
        found = [0] * len(self.used)
        for share in shares:
            whole = sum((self.weights[broker] for broker in share.brokers), Fraction(0))
            for broker in share.brokers:
                found[broker] = int(most * self.weights[broker] * share.total / whole)
        return found

    def above(self, broker: int) -> int:
        """Bytes of a broker above its limit; negative is the room that it has."""
        return self.used[broker] - self.limit[broker]

    def move(self, partition: int, leaving: int, coming: int) -> None:
        """Give a replica of one broker to another."""
        self.placement.swap(partition, leaving, coming)
        self.used[leaving] -= self.sizes[partition]
        self.used[coming] += self.sizes[partition]

    def held(self, broker: int) -> Iterator[int]:
        """The partitions that a broker holds and may give."""
        for partition in self.placement.homes[broker]:
            if broker in self.placement.at(partition):
                yield partition
        yield from self.placement.guests[broker]


class Fillers(Givers):
    """Who gets one more replica: the broker with most room in bytes of those that the rack rule allows."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        super().__init__(ledger.placement, None)

    def _load(self, broker: int) -> int:
        return self.ledger.above(broker)

    def fill(self, partition: int, count: int) -> bool:
        """Give a partition so many replicas more; whether there are brokers for them."""
        before = set(self.placement.at(partition))
        filled = super().fill(partition, count)
        for broker in set(self.placement.at(partition)) - before:
            self.ledger.used[broker] += self.ledger.sizes[partition]
        return filled


def left_above(ledger: Ledger, ids: Sequence[int]) -> tuple[Above, ...]:
    """The brokers above their limit after levelling, in order; C(ids) are the ids of the brokers by number."""
    return tuple(
        _why(ledger, broker, ids[broker]) for broker in ledger.takers if ledger.used[broker] > ledger.mean_limit[broker]
    )


def _why(ledger: Ledger, broker: int, name: int) -> Above:
    used, limit, sizes = ledger.used[broker], ledger.mean_limit[broker], ledger.sizes
    held = list(ledger.held(broker))
    if used - sum(sizes[partition] for partition in held) > limit:
        return Above(name, used, limit, "stays")
    biggest = max(held, key=lambda partition: (sizes[partition], -partition))
    if sizes[biggest] > limit:
        return Above(name, used, limit, "partition", biggest)
    if ledger.limit[broker] > limit:
        return Above(name, used, limit, "racks")
    fitting = next((partition for partition in sorted(held) if _would_fit(ledger, partition)), None)
    return Above(name, used, limit, "room" if fitting is None else "racks", fitting)


def _would_fit(ledger: Ledger, partition: int) -> bool:
    """Whether a broker without a replica of a partition has room for one; only its rack can stand in the way then."""
    size, members = ledger.sizes[partition], ledger.placement.at(partition)
    if not size:
        return False
    return any(ledger.above(broker) + size <= 0 for broker in ledger.takers if broker not in members)
