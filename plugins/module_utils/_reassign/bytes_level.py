# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Bytes levelled over brokers: who holds more than (1 + tolerance) of its share gives until it does not.

To move the fewest bytes is NP-hard (bin packing). What is above the limits is a lower bound, and this stays within one
partition of it for each broker above: whoever is above gives the biggest replicas that it can give and still not be
below its limit, to whoever has most room, and ends with the smallest one that brings it below. Where none fits, one
replica may first make way for it, if that one is not greater than what is still above. No broker that is within its
limit is ever brought above it. Whether a step is taken depends on the placement alone and never on what was moved
before; so when no step is left, a new plan on what came out of it finds none either.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable

from ansible_collections.streamops.kafka.plugins.module_utils._reassign.bytes import Ledger


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
        """What a broker may give: size and partition, ascending."""
        if broker not in self._sorted:
            sizes = self.ledger.sizes
            self._sorted[broker] = sorted((sizes[partition], partition) for partition in self.ledger.held(broker))
        return self._sorted[broker]

    def _taker(self, partition: int, broker: int) -> int | None:
        """Who has most room of those that may have a replica in place of a broker; None where it fits nowhere."""
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
