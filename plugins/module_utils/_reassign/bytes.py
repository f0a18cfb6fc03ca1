# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Bytes levelled over brokers: limits, who takes what must be placed, who gives, and who stays above.

Who holds more than (1 + tolerance) of its share gives until it does not. To move the fewest bytes is NP-hard (bin
packing). What is above the limits is a lower bound, and this stays within one partition of it for each broker above:
whoever is above gives the biggest replicas that it can give and still not be below its limit, to whoever has most room,
and ends with the smallest one that brings it below. Where none fits, one replica may first make way for it, if that one
is not greater than what is still above. No broker that is within its limit is ever brought above it. Whether a step is
taken depends on the placement alone and never on what was moved before; so when no step is left, a new plan on what
came out of it finds none either.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from .forced import Givers
from .model import Above
from .racks import Share, bits, shares_of
from .state import Placement


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
    """Say whether a broker without a replica of a partition has room for one; then only racks can be in the way."""
    size, members = ledger.sizes[partition], ledger.placement.at(partition)
    if not size:
        return False
    return any(ledger.above(broker) + size <= 0 for broker in ledger.takers if broker not in members)


def level(ledger: Ledger) -> None:
    """Move replicas until every broker is within its limit, or none that is above it can give any."""
    levelling = _Levelling(ledger)
    ledger.was_above = set(levelling.over())
    while levelling.give() or levelling.finish() or levelling.make_way():
        pass


class _Levelling:
    """The steps. C(order) holds the brokers that may take, ascending by room."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.order = sorted((-ledger.above(broker), broker) for broker in ledger.takers)
        self._sorted: dict[int, list[tuple[int, int]]] = {}

    def over(self) -> list[int]:
        """The brokers above their limit, the farthest first."""
        found = [broker for broker in self.ledger.takers if self.ledger.above(broker) > 0]
        return sorted(found, key=lambda broker: (-self.ledger.above(broker), broker))

    def give(self) -> bool:
        """Give away, the biggest first, what leaves its broker at its limit or above; whether there was any."""
        ledger, any_given = self.ledger, False
        chances = [(-size, partition, broker) for broker in self.over() for size, partition in self._by_size(broker)]
        for size, partition, broker in sorted(chances):
            if 0 < -size <= ledger.above(broker):
                taker = self._taker(partition, broker)
                if taker is None:
                    taker = self._empty(partition, broker)
                if taker is not None:
                    self._move(partition, broker, taker)
                    any_given = True
        return any_given

    def finish(self) -> bool:
        """Give away the smallest replica that brings a broker to its limit or below; whether there was any."""
        return sum(self._finished(broker) for broker in self.over()) > 0

    def make_way(self) -> bool:
        """The same where room must be made for that replica first; whether there was any."""
        return sum(self._finished(broker) or self._made_way(broker) for broker in self.over()) > 0

    def _finished(self, broker: int) -> bool:
        for _size, partition in self._enough(broker):
            taker = self._taker(partition, broker)
            if taker is not None:
                self._move(partition, broker, taker)
                return True
        return False

    def _made_way(self, broker: int) -> bool:
        above = self.ledger.above(broker)
        for size, partition in self._enough(broker):
            if size - above > self.order[-1][0]:
                # A replica that makes way is not greater than what is above: no room for this one, nor for greater.
                return False
            allowed = self.ledger.placement.room(partition, broker)
            for room, taker in reversed(self.order):
                if room < size - above or room < 0:
                    break
                if allowed >> taker & 1:
                    found = self._out_of_the_way(taker, size - room, above, (broker, size - above))
                    if found is not None:
                        self._move(found[0], taker, found[1])
                        self._move(partition, broker, taker)
                        return True
        return False

    def _out_of_the_way(self, taker: int, least: int, most: int, giver: tuple[int, int]) -> tuple[int, int] | None:
        """A replica of a size from C(least) to C(most) that can leave C(taker), and to where.

        C(giver) is the broker that C(taker) is to take from, and the room that it has afterwards.
        """
        found = self._by_size(taker)
        for size, partition in found[bisect_left(found, (least, -1)) :]:
            if size > most:
                break
            if giver[1] >= size and self.ledger.placement.room(partition, taker) >> giver[0] & 1:
                return partition, giver[0]
            other = self._taker(partition, taker)
            if other is not None:
                return partition, other
        return None

    def _enough(self, broker: int) -> Iterable[tuple[int, int]]:
        """The replicas of which one alone brings a broker to its limit, ascending by size."""
        found = self._by_size(broker)
        return found[bisect_left(found, (self.ledger.above(broker), -1)) :]

    def _by_size(self, broker: int) -> list[tuple[int, int]]:
        """Return what a broker may give: size and partition, ascending."""
        if broker not in self._sorted:
            sizes = self.ledger.sizes
            self._sorted[broker] = sorted((sizes[partition], partition) for partition in self.ledger.held(broker))
        return self._sorted[broker]

    def _taker(self, partition: int, broker: int) -> int | None:
        """Return who has most room of those that may replace a broker for a partition; None where it fits nowhere."""
        size = self.ledger.sizes[partition]
        if self.order[-1][0] < size:
            return None
        allowed = self.ledger.placement.room(partition, broker)
        for room, taker in reversed(self.order):
            if room < size:
                return None
            if allowed >> taker & 1:
                return taker
        return None

    def _empty(self, partition: int, broker: int) -> int | None:
        """A broker without any bytes for a partition greater than its limit, which then is alone there."""
        ledger, size = self.ledger, self.ledger.sizes[partition]
        allowed = ledger.placement.room(partition, broker)
        for room, taker in reversed(self.order):
            if room < 0:
                return None
            if ledger.used[taker] or not allowed >> taker & 1:
                continue
            # It must be less of the share of who takes it, or it could go back and forth where brokers differ.
            if size * ledger.weights[broker] < ledger.used[broker] * ledger.weights[taker]:
                return taker
        return None

    def _move(self, partition: int, leaving: int, coming: int) -> None:
        for broker in (leaving, coming):
            del self.order[bisect_left(self.order, (-self.ledger.above(broker), broker))]
            self._sorted.pop(broker, None)
        self.ledger.move(partition, leaving, coming)
        for broker in (leaving, coming):
            insort(self.order, (-self.ledger.above(broker), broker))
