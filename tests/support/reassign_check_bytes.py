"""An independent judge of plans that balance by bytes: it shares no code with the planner.

What is above the limits is added up here anew, from the placements before and after, and every reason why a broker
stays above its limit is looked into.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from ansible_collections.streamops.kafka.plugins.module_utils._reassign.model import Above, Cluster, Plan, Spec
from tests.support.reassign_check import Network, network_of, placement_after, rack_breach
from tests.support.reassign_check_shares import classes_of

Placed = list[tuple[int, ...]]


@dataclass
class Bytes:
    """What brokers hold after a plan and may hold: C(mean) by the spec, C(limit) also by what racks must hold."""

    network: Network
    sizes: list[int]
    after: Placed
    used: Counter[int]
    mean: dict[int, Fraction]
    limit: dict[int, Fraction]


def bytes_of(cluster: Cluster, spec: Spec, plan: Plan) -> Bytes:
    """A plan in bytes."""
    network, sizes, after = network_of(cluster, spec), list(cluster.sizes or ()), placement_after(plan)
    weights = {b.id: Fraction(str(b.weight)) for b in (*spec.add, *cluster.brokers) if b.id in network.may_take}
    used = held(after, sizes)
    total = sum(used[b] for b in weights)
    most = 1 + Fraction(str(spec.bytes_tolerance))
    mean = {b: most * weight * total / sum(weights.values()) for b, weight in weights.items()}
    limit = dict(mean)
    if all(network.open) and all(network.may_take.issuperset(brokers) for brokers in after):
        for found in classes_of(network, sizes, weights):
            limit.update({b: most * part for b, part in found.parts.items() if part > mean[b]})
    return Bytes(network, sizes, after, used, mean, limit)


def held(placed: Placed, sizes: list[int]) -> Counter[int]:
    """Bytes by broker."""
    found: Counter[int] = Counter()
    for p, brokers in enumerate(placed):
        for b in brokers:
            found[b] += sizes[p]
    return found


def needed(network: Network, p: int) -> int:
    """How many new replicas a partition needs at the least, whatever others do."""
    high, least = network.bounds[p][1], network.least(p)
    kept = [b for b in network.had[p] if b in network.may_take or b not in network.may_give]
    counts = Counter(network.rack[b] for b in kept)
    stay = Counter(network.rack[b] for b in kept if b not in network.may_give)
    fitting = sum(min(count, max(high, stay[rack])) for rack, count in counts.items())
    missing = sum(max(0, low - counts[rack]) for rack, low in least.items())
    return max(missing, network.wanted[p] - fitting)


def moved(plan: Plan) -> int:
    """Bytes that a plan copies."""
    return sum(plan.cluster.size(change.partition) * len(change.added) for change in plan.changes)


def most_to_move(found: Bytes, plan: Plan) -> Fraction:
    """The most bytes that a plan may move.

    That is what partitions need by themselves, and 1.05 times what is above the limits then, or that and for each
    broker above the biggest partition that it gives. Where a replica that is needed has come to, it counts.
    """
    network, sizes = found.network, found.sizes
    alone, kept = 0, held(network.had, sizes)
    for p in range(len(sizes)):
        count = needed(network, p) if network.open[p] else 0
        if count:
            alone += sizes[p] * count
            for b in set(found.after[p]) - set(network.had[p]):
                kept[b] += sizes[p]
    above = {b: kept[b] - limit for b, limit in found.limit.items() if kept[b] > limit}
    given = Counter(dict.fromkeys(above, 0))
    for change in plan.changes:
        for b in change.removed:
            if b in above:
                given[b] = max(given[b], sizes[change.partition])
    total = sum(above.values())
    return alone + max(Fraction(105, 100) * total, total + sum(given.values()))


def unlevel(found: Bytes, plan: Plan) -> Iterator[str]:
    """Brokers that could still give, that are above their limit unsaid, or of which it is said wrongly."""
    said = {one.broker: one for one in (plan.bytes.above if plan.bytes else ())}
    for b, mean in sorted(found.mean.items()):
        if (found.used[b] > mean) != (b in said):
            yield f"{b} holds {found.used[b]} of {mean}, and {said.get(b)} is said"
        elif b in said and not _right(found, said[b]):
            yield f"{said[b]} is not so"
        if found.used[b] > found.limit[b]:
            yield from (f"{b} could give {p} to {t}" for p, t in _takers(found, b) if _allowed(found, p, b, t))


def _takers(found: Bytes, b: int) -> Iterator[tuple[int, int]]:
    """Partitions of a broker, each with the brokers that do not have it and have room for it."""
    for p, brokers in enumerate(found.after):
        if b in brokers and found.network.open[p] and found.sizes[p]:
            for t, limit in found.limit.items():
                if t not in brokers and found.used[t] + found.sizes[p] <= limit:
                    yield p, t


def _allowed(found: Bytes, p: int, b: int, t: int) -> bool:
    return not rack_breach(found.network, p, tuple(t if one == b else one for one in found.after[p]))


def _right(found: Bytes, one: Above) -> bool:
    b, p = one.broker, one.partition
    if one.bytes != found.used[b] or one.limit != int(found.mean[b]):
        return False
    if one.why == "stays":
        stuck = (found.sizes[q] for q, now in enumerate(found.after) if b in now and not found.network.open[q])
        return sum(stuck) > found.mean[b]
    if one.why == "partition":
        return p is not None and b in found.after[p] and found.sizes[p] > found.mean[b]
    if one.why == "racks" and p is None:
        return found.limit[b] > found.mean[b]
    if one.why == "racks":
        return any(q == p for q, _t in _takers(found, b))
    return one.why == "room" and not any(_takers(found, b))
