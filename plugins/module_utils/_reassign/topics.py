# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Topics spread over brokers, without any move more: two moves of different topics trade the brokers they go to."""

from __future__ import annotations

from collections.abc import Sequence

from ansible_collections.streamops.kafka.plugins.module_utils._reassign.state import Placement

#: Trades tried at most, so that the time of a big plan stays bounded; plans up to some thousand moves end before it.
MOST_TRIES = 400_000


def spread_topics(placement: Placement, topic_of: Sequence[int]) -> None:
    """Let guests trade places as long as that makes the sum of squares of what brokers hold of topics smaller.

    Loads, moves and racks stay what they are. It ends when no trade of two helps: often, but not provably, the least.
    """
    guests = [(p, b) for b, found in enumerate(placement.guests) for p in found if p not in placement.pinned]
    if len(guests) < 2 or len(set(topic_of)) < 2:
        return
    held = _held(placement, topic_of, {topic_of[partition] for partition, _broker in guests})
    tries, better = MOST_TRIES, True
    while better and tries > 0:
        better = False
        for first, (partition, broker) in enumerate(guests):
            topic = topic_of[partition]
            here = held[topic].get(broker, 0)
            if here < 2 or tries <= 0:
                continue
            room = placement.room(partition, broker)
            for second, (other, there) in enumerate(guests):
                tries -= 1
                theirs = topic_of[other]
                if there == broker or theirs == topic or not room >> there & 1:
                    continue
                gain = here - held[topic].get(there, 0) + held[theirs].get(there, 0) - held[theirs].get(broker, 0) - 2
                if gain > 0 and _may_trade(placement, partition, broker, other, there):
                    _trade(placement, held, (topic, partition, broker), (theirs, other, there))
                    guests[first], guests[second] = (partition, there), (other, broker)
                    better = True
                    break


def _held(placement: Placement, topic_of: Sequence[int], topics: set[int]) -> dict[int, dict[int, int]]:
    """By topic and broker how many replicas there are."""
    held: dict[int, dict[int, int]] = {topic: {} for topic in sorted(topics)}
    for partition, topic in enumerate(topic_of):
        if topic in topics:
            found = held[topic]
            for broker in placement.at(partition):
                found[broker] = found.get(broker, 0) + 1
    return held


def _may_trade(placement: Placement, partition: int, broker: int, other: int, there: int) -> bool:
    """Whether both ends of a trade are places that the partitions may have, and still moves."""
    if there in placement.had[partition] or broker in placement.had[other]:
        return False
    return bool(placement.room(other, there) >> broker & 1)


def _trade(
    placement: Placement,
    held: dict[int, dict[int, int]],
    one: tuple[int, int, int],
    two: tuple[int, int, int],
) -> None:
    (topic, partition, broker), (theirs, other, there) = one, two
    placement.swap(partition, broker, there)
    placement.swap(other, there, broker)
    for changed, fewer, more in ((topic, broker, there), (theirs, there, broker)):
        held[changed][fewer] -= 1
        held[changed][more] = held[changed].get(more, 0) + 1
