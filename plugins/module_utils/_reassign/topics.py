# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Topics as even as they can be, as a constraint: every broker its share of each topic, and of all of them together.

Topics share no partition, so that each can be as even as its own partitions and the racks allow, whatever the others
do: what a broker may hold of a topic lies between the least and the most of that. The loads of brokers that remain
possible are sums of such loads of topics (M-convex sets, closed under sums), so that even ones are found as ever.

Without that constraint topics are spread without any move more: two moves of different topics trade their brokers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from .balance import count_bound, even_out
from .flow import Flow
from .racks import Share, bits, shares_of
from .state import Placement
from .topic_counts import TopicCounts


@dataclass
class _Topic:
    """A topic: its partitions, a placement of them alone, and its box: what each broker may hold of it."""

    partitions: list[int]
    placement: Placement
    box: Share


class Topics:
    """The topics of a placement in which every partition has as many replicas as it shall have.

    C(weights) is by broker; with any but 1 each broker gets its own bounds.
    """

    def __init__(self, placement: Placement, topic_of: Sequence[int], weights: Sequence[Fraction]) -> None:
        self.placement = placement
        members: dict[int, list[int]] = {}
        for partition, topic in enumerate(topic_of):
            members.setdefault(topic, []).append(partition)
        box_of = _box if all(weight == 1 for weight in weights) else _merged
        self.topics = []
        for partitions in members.values():
            part = placement.part(partitions)
            self.topics.append(_Topic(partitions, part, box_of(_classes(part, weights))))

    def spread(self) -> int:
        """The most that two brokers may differ in what they hold of one topic."""
        return max((max(topic.box.high) - min(topic.box.low) for topic in self.topics), default=0)

    def count_bound(self) -> int:
        """The fewest moves that the counts of brokers, topic by topic, ask for."""
        return sum(count_bound(topic.placement, [topic.box]) for topic in self.topics)

    def balance(self, shares: Sequence[Share]) -> Sequence[Share] | None:
        """Move until every topic keeps its box and every broker has its share, by the fewest moves.

        Where not both can be, the shares become as even as topics allow. Returned are the shares, or None when no
        placement keeps the boxes (with weights, that may be).
        """
        if not self.topics:
            return shares
        parts = self._tried(shares) if shares else None
        if parts is None:
            shares = self._shares()
            parts = self._tried(shares) if shares else None
        if parts is None:
            return None
        for number, topic in enumerate(self.topics):
            for place, members in parts[number].now.items():
                self.placement.become(topic.partitions[place], members)
        return shares

    def _tried(self, shares: Sequence[Share]) -> list[Placement] | None:
        flow = self._flow(shares)
        return list(flow.parts) if flow.run() else None

    def _shares(self) -> list[Share]:
        """The classes of brokers within the boxes of topics; none when no placement keeps those."""
        brokers = list(bits(self.placement.racks.receive))
        total = sum(topic.box.total for topic in self.topics)
        anything = Share(brokers, [0] * len(brokers), [total] * len(brokers), total)
        flow = self._flow([anything], counted=False)
        if not flow.run():
            return []
        return even_out(Flow(flow.parts, boxes=flow.boxes, counted=False), self.placement.racks.receive)

    def _flow(self, shares: Sequence[Share] = (), counted: bool = True) -> Flow:
        """Paths in copies of the topics' placements."""
        topics = self.topics
        return Flow([topic.placement.copy() for topic in topics], shares, [topic.box for topic in topics], counted)


def _classes(part: Placement, weights: Sequence[Fraction]) -> list[Share]:
    """The classes of brokers for a topic by itself: in closed form where every replica may be on any broker."""
    receive = part.racks.receive
    if not part.fixed and not any(load for broker, load in enumerate(part.loads) if not receive >> broker & 1):
        kinds = Counter(len(part.at(partition)) for partition in range(len(part.had)))
        found = shares_of(dict(sorted(kinds.items())), part.racks, weights)
        if found is not None:
            return found
    return even_out(Flow([part.copy()], counted=False), receive)


def _merged(classes: Sequence[Share]) -> Share:
    """Classes of brokers as one."""
    each = sorted(found for share in classes for found in share.each())
    brokers, low, high = ([found[column] for found in each] for column in range(3))
    return Share(brokers, low, high, sum(share.total for share in classes))


def _box(classes: Sequence[Share]) -> Share:
    """The same bounds for all brokers: the smallest and the largest load of the most even placement."""
    brokers = sorted(broker for share in classes for broker in share.brokers)
    least = min(share.total // len(share.brokers) for share in classes)
    most = max(-(-share.total // len(share.brokers)) for share in classes)
    return Share(brokers, [least] * len(brokers), [most] * len(brokers), sum(share.total for share in classes))


#: Trades tried at most, so that the time of a big plan stays bounded; plans up to some thousand moves end before it.
MOST_TRIES = 400_000


def spread_topics(placement: Placement, topic_of: Sequence[int]) -> None:
    """Let guests trade places as long as that makes the sum of squares of what brokers hold of topics smaller.

    Loads, moves and racks stay what they are. It ends when no trade of two helps: often, but not provably, the least.
    """
    guests = [(p, b) for b, found in enumerate(placement.guests) for p in found if p not in placement.pinned]
    if len(guests) < 2 or topic_of[0] == topic_of[-1]:
        return
    held = _held(placement, topic_of, {topic_of[partition] for partition, _broker in guests})
    tries, better = MOST_TRIES, True
    while better and tries > 0:
        better = False
        for first, (partition, broker) in enumerate(guests):
            topic = topic_of[partition]
            here = held[topic, broker]
            if here < 2 or tries <= 0:
                continue
            room = placement.room(partition, broker)
            for second, (other, there) in enumerate(guests):
                tries -= 1
                theirs = topic_of[other]
                if there == broker or theirs == topic or not room >> there & 1:
                    continue
                gain = here - held[topic, there] + held[theirs, there] - held[theirs, broker] - 2
                if gain > 0 and _may_trade(placement, partition, broker, other, there):
                    _trade(placement, held, (topic, partition, broker), (theirs, other, there))
                    guests[first], guests[second] = (partition, there), (other, broker)
                    better = True
                    break


def _held(placement: Placement, topic_of: Sequence[int], topics: set[int]) -> TopicCounts:
    """Count what brokers hold of these topics now, fixed partitions too."""
    held = TopicCounts(placement, topic_of)
    for partition, members in placement.now.items():
        for broker in members:
            held[topic_of[partition], broker] += broker not in placement.had[partition]
        for broker in placement.had[partition]:
            held[topic_of[partition], broker] -= broker not in members
    for partition in placement.fixed:
        if topic_of[partition] in topics:
            for broker in placement.had[partition]:
                held[topic_of[partition], broker] += 1
    return held


def _may_trade(placement: Placement, partition: int, broker: int, other: int, there: int) -> bool:
    """Return whether both ends of a trade are places that the partitions may have, and still moves."""
    if there in placement.had[partition] or broker in placement.had[other]:
        return False
    return bool(placement.room(other, there) >> broker & 1)


def _trade(
    placement: Placement,
    held: TopicCounts,
    one: tuple[int, int, int],
    two: tuple[int, int, int],
) -> None:
    (topic, partition, broker), (theirs, other, there) = one, two
    placement.swap(partition, broker, there)
    placement.swap(other, there, broker)
    for changed, fewer, more in ((topic, broker, there), (theirs, there, broker)):
        held[changed, fewer] -= 1
        held[changed, more] += 1
