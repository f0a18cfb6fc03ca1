"""The judge of plans that bound topics: what each topic by itself can be, and whether a cheaper placement keeps it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from tests.support.reassign_check import SQUARE, Network, _Flow, _relax

#: Of a topic the least and the most that one broker must hold.
Bounds = dict[int, tuple[int, int]]


def bounds_of_topics(network: Network, topic_of: list[int]) -> Bounds:
    """The least and the most by broker in the most even placement of each topic alone, sent from nothing."""
    found = {}
    for topic in sorted(set(topic_of)):
        mine = [p for p, t in enumerate(topic_of) if t == topic]
        alone = replace(
            network,
            had=[network.had[p] for p in mine],
            wanted=[network.wanted[p] for p in mine],
            open=[network.open[p] for p in mine],
            bounds=[network.bounds[p] for p in mine],
        )
        flow = _Flow(alone)
        for p, count in enumerate(alone.wanted):
            if alone.open[p]:
                for _ in range(count - sum(b not in alone.may_give for b in alone.had[p])):
                    assert flow.augment(p), "no placement is possible"
        loads = [flow.loads[b] for b in network.may_take]
        found[topic] = (min(loads), max(loads))
    return found


def out_of_bounds(network: Network, topic_of: list[int], after: list[tuple[int, ...]], bounds: Bounds) -> list[str]:
    """The brokers that hold less or more of a topic than they may."""
    held = Counter((topic, b) for topic, brokers in zip(topic_of, after, strict=True) for b in brokers)
    return [
        f"broker {b} holds {held[topic, b]} of topic {topic}, may hold {low} to {high}"
        for topic, (low, high) in bounds.items()
        for b in sorted(network.may_take)
        if not low <= held[topic, b] <= high
    ]


def cheaper_cycle_within(network: Network, topic_of: list[int], after: list[tuple[int, ...]], bounds: Bounds) -> bool:
    """Whether loads can be more even, or as even by fewer moves, with every topic within its bounds.

    As cheaper_cycle of reassign_check, with a node for every topic on every broker: partition -> (topic, broker), at
    what a move costs; (topic, broker) -> broker, within the bounds; broker -> sink, at the square of its load.
    """
    takers = sorted(network.may_take)
    loads = Counter(b for brokers in after for b in brokers)
    held = Counter((topic, b) for topic, brokers in zip(topic_of, after, strict=True) for b in brokers)
    by_rack: dict[str, list[int]] = {}
    for b in takers:
        by_rack.setdefault(network.rack[b], []).append(b)
    whole = dict.fromkeys(takers, 0)
    parts = {topic: dict.fromkeys(takers, 0) for topic in bounds}
    sink = 0
    for _pass in range(len(takers) * (len(bounds) + 1) + 3):
        before = (dict(whole), {topic: dict(part) for topic, part in parts.items()}, sink)
        for b in takers:
            sink = min(sink, whole[b] + SQUARE * (2 * loads[b] + 1))
            if loads[b]:
                whole[b] = min(whole[b], sink - SQUARE * (2 * loads[b] - 1))
            for topic, (low, high) in bounds.items():
                if held[topic, b] < high:
                    whole[b] = min(whole[b], parts[topic][b])
                if held[topic, b] > low:
                    parts[topic][b] = min(parts[topic][b], whole[b])
        for p, now in enumerate(after):
            if network.open[p]:
                _relax(network, p, now, by_rack, parts[topic_of[p]])
        if (whole, parts, sink) == before:
            return False
    return True
