"""An independent judge of plans of moves: it shares no code with the planner, and proves bounds by network flow.

The network is built in full here: partition -> (partition, rack) -> broker -> sink. A broker's cost grows with the
square of its load, and much more than a move costs; so the cheapest flow has the most even loads that are possible,
and by the fewest moves among those. Where brokers have weights, what costs is a load above its part, rounded down, and
much more above that rounded up. C(cheaper_cycle) proves that a placement is such a flow: exactly when its residual
network has no cycle of negative cost. C(fewest_moves) computes one from nothing, for small clusters.
"""

from __future__ import annotations

import heapq
import itertools
from collections import Counter
from dataclasses import dataclass, field, replace
from fractions import Fraction

from ansible_collections.streamops.kafka.plugins.module_utils._reassign.model import Cluster, Plan, Spec
from tests.support.reassign_check_shares import classes_of

#: What one unit of the square of a load costs; a move costs 1.
SQUARE = 10_000_000
#: What a replica earns that a rack must have: more than any loads cost.
MUST = SQUARE * 10**12


@dataclass
class Network:
    """What a placement may become: per partition its replicas, where they may be, and what racks may hold."""

    had: list[tuple[int, ...]]
    wanted: list[int]
    open: list[bool]
    may_take: set[int]
    may_give: set[int]
    rack: dict[int, str]
    bounds: list[tuple[int, int]]
    #: With weights: by broker its part rounded down and up, and the number of its class, the fullest last.
    parts: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    #: By partition the brokers that must not get it.
    closed: dict[int, set[int]] = field(default_factory=dict)
    _least: dict[int, dict[str, int]] = field(default_factory=dict)

    def price(self, b: int, load: int) -> int:
        """What one replica more costs a broker with so many."""
        if not self.parts:
            return SQUARE * (2 * load + 1)
        low, high, number = self.parts[b]
        # A fuller class pays more, so that it has no more than it must; but first everybody gets the part rounded down.
        return 0 if load < low else SQUARE * (10_000 + number) if load < high else SQUARE * 100_000_000

    def least(self, p: int) -> dict[str, int]:
        """At least how many replicas of a partition each rack holds, where that is not 0."""
        low = self.bounds[p][0]
        if low and low not in self._least:
            sizes = Counter(self.rack[b] for b in self.may_take)
            self._least[low] = {rack: min(low, size) for rack, size in sizes.items()}
        return self._least.get(low, {})


def network_of(cluster: Cluster, spec: Spec) -> Network:
    """The network of a cluster under a spec that balances."""
    states = {broker.id: broker.state for broker in cluster.brokers}
    racks = {broker.id: broker.rack or "" for broker in cluster.brokers}
    for added in spec.add:
        states[added.id] = "alive" if states.get(added.id, "excluded") in ("excluded", "draining") else "new"
        racks.setdefault(added.id, added.rack or "")
    may_take = {b for b, state in states.items() if state in ("alive", "new") and b not in spec.drain}
    leaves = {b for b, state in states.items() if state == "draining"} | set(spec.drain)
    stuck = {b for brokers in cluster.replicas for b in brokers if states.get(b, "dead") == "dead"} - set(spec.drain)
    if spec.rack_rule == "none" or not any(racks.values()):
        racks = dict.fromkeys(states, "")
    for b in stuck:
        racks.setdefault(b, "")
    wanted = [
        spec.replication_factor.get(cluster.topics[t], len(cluster.replicas[p])) for p, t in enumerate(cluster.topic_of)
    ]
    sizes = Counter(racks[b] for b in may_take)
    found = Network(
        had=list(cluster.replicas),
        wanted=wanted,
        open=[not stuck.intersection(brokers) for brokers in cluster.replicas],
        may_take=may_take,
        may_give=may_take | leaves,
        rack=racks,
        bounds=[rack_bounds(spec.rack_rule, r, sizes) for r in wanted],
    )
    weights = {b.id: Fraction(str(b.weight)) for b in (*spec.add, *cluster.brokers) if b.id in may_take}
    if set(weights.values()) != {1}:
        for number, one in enumerate(reversed(classes_of(found, [1] * len(wanted), weights))):
            found.parts.update({b: (int(part), -int(-part // 1), number) for b, part in one.parts.items()})
    return found


def rack_bounds(rule: str, replicas: int, sizes: Counter[str]) -> tuple[int, int]:
    """At least and at most how many of so many replicas a rack holds; one that is smaller than the least is full."""
    if rule == "none" or len(sizes) <= 1:
        return 0, replicas
    for high in range(-(-replicas // len(sizes)), replicas):
        if sum(min(high, size) for size in sizes.values()) >= replicas:
            return high - 1, high
    return replicas - 1, replicas


def without_late(network: Network, cluster: Cluster, after: list[tuple[int, ...]]) -> Network:
    """The same network, closed to what a lower replication factor took away because it was not in sync."""
    assert cluster.isr is not None
    closed = {
        p: set(then) - set(cluster.isr[p]) - set(after[p])
        for p, then in enumerate(network.had)
        if network.wanted[p] < len(then)
    }
    return replace(network, closed=closed)


def placement_after(plan: Plan) -> list[tuple[int, ...]]:
    """Every partition's brokers when a plan is done."""
    after = list(plan.cluster.replicas)
    for change in plan.changes:
        assert change.before == after[change.partition], "a plan must begin with what is"
        after[change.partition] = change.after
    return after


def moves_between(before: list[tuple[int, ...]], after: list[tuple[int, ...]]) -> int:
    """How many replicas are where there was none."""
    return sum(len(set(now) - set(then)) for then, now in zip(before, after, strict=True))


def invalid(network: Network, after: list[tuple[int, ...]]) -> list[str]:
    """What is wrong with a placement: doubles, wrong numbers, brokers that may not take, racks."""
    found = []
    for p, (then, now) in enumerate(zip(network.had, after, strict=True)):
        if not network.open[p]:
            if then != now:
                found.append(f"{p} must stay")
            continue
        if len(set(now)) != len(now) or len(now) != network.wanted[p]:
            found.append(f"{p}: {now} for {network.wanted[p]}")
        if set(now) - set(then) - network.may_take:
            found.append(f"{p}: {now} on brokers that take none")
        if set(now) & (network.may_give - network.may_take):
            found.append(f"{p}: {now} still on a drained broker")
        kept = set(then) - network.may_give
        if network.wanted[p] >= len(then) and not kept <= set(now):
            found.append(f"{p}: {now} took from an excluded broker")
        found += [f"{p}: {now} against the rack rule"] if rack_breach(network, p, now) else []
    return found


def rack_breach(network: Network, p: int, brokers: tuple[int, ...]) -> bool:
    """Whether a partition has more in a rack than it may, or less than it must."""
    high, least = network.bounds[p][1], network.least(p)
    counts = Counter(network.rack[b] for b in brokers)
    # What excluded brokers hold stays, whatever the rule says of it.
    held = Counter(network.rack[b] for b in network.had[p] if b not in network.may_give)
    if any(count > max(high, held[rack]) for rack, count in counts.items()):
        return True
    can_spare = any(count > max(least.get(rack, 0), held[rack]) for rack, count in counts.items())
    return can_spare and any(counts[rack] < low for rack, low in least.items())


def cheaper_cycle(network: Network, after: list[tuple[int, ...]]) -> bool:
    """Whether the placement can be made more even, or as even by fewer moves: a negative cycle (Bellman and Ford).

    Distances begin at 0 everywhere, so that any negative cycle keeps lowering them; without one they settle.
    """
    loads = Counter(b for brokers in after for b in brokers)
    takers = sorted(network.may_take)
    by_rack: dict[str, list[int]] = {}
    for b in takers:
        by_rack.setdefault(network.rack[b], []).append(b)
    distance = dict.fromkeys(takers, 0)
    sink = 0
    # Every pass takes paths one broker further; a path without a cycle has no more brokers than there are.
    for _pass in range(len(takers) + 3):
        before = (dict(distance), sink)
        for b in takers:
            sink = min(sink, distance[b] + network.price(b, loads[b]))
        for b in takers:
            if loads[b]:
                distance[b] = min(distance[b], sink - network.price(b, loads[b] - 1))
        for p, now in enumerate(after):
            if network.open[p]:
                _relax(network, p, now, by_rack, distance)
        if (distance, sink) == before:
            return False
    return True


def _relax(
    network: Network, p: int, now: tuple[int, ...], by_rack: dict[str, list[int]], distance: dict[int, int]
) -> None:
    """Lower the distances of brokers through one partition: out of its racks, across where a rack has room."""
    high, least = network.bounds[p][1], network.least(p)
    had, mine = network.had[p], set(now) | network.closed.get(p, set())
    counts = Counter(network.rack[b] for b in now)
    out: dict[str, int] = {}
    for b in now:
        if b in distance:  # replicas on excluded brokers stay
            cost = distance[b] - (b not in had)
            rack = network.rack[b]
            out[rack] = min(out.get(rack, cost), cost)
    across = min((cost for rack, cost in out.items() if counts[rack] > least.get(rack, 0)), default=None)
    for rack, brokers in by_rack.items():
        inner = out.get(rack)
        if across is not None and counts[rack] < high:
            inner = across if inner is None else min(inner, across)
        if inner is not None:
            for b in brokers:
                if b not in mine:
                    distance[b] = min(distance[b], inner + (b not in had))


def unevenness(network: Network, loads: Counter[int]) -> int:
    """What loads cost: the sum of their squares, or with weights what is above the parts."""
    return sum(network.price(b, load) for b in network.may_take for load in range(loads[b])) // SQUARE


def fewest_moves(network: Network) -> tuple[int, int]:
    """The smallest unevenness of loads and the fewest moves that reach it, by successive shortest paths.

    Every open partition is sent from nothing; for small clusters, since each replica costs a search.
    """
    flow = _filled(network)
    moves = sum(len(flow.at[p] - set(network.had[p])) for p in range(len(network.had)) if network.open[p])
    return unevenness(network, flow.loads), moves


def best_of_all(network: Network) -> tuple[int, int]:
    """The same by trying every placement; for the smallest clusters."""
    choices = []
    for p, then in enumerate(network.had):
        stay = set(then) - network.may_give
        brokers = (network.may_take | set(then)) - (network.may_give - network.may_take) - network.closed.get(p, set())
        some = [now for now in itertools.combinations(sorted(brokers), network.wanted[p]) if stay <= set(now)]
        some = [now for now in some if not rack_breach(network, p, now)] if network.open[p] else [then]
        choices.append([(now, len(set(now) - set(then))) for now in some])
    takers = sorted(network.may_take)
    states = {tuple(0 for _ in takers): 0}
    for options in choices:
        following: dict[tuple[int, ...], int] = {}
        for loads, moves in states.items():
            for now, more in options:
                reached = tuple(load + (b in now) for b, load in zip(takers, loads, strict=True))
                following[reached] = min(following.get(reached, moves + more), moves + more)
        states = following
    return min((unevenness(network, Counter(dict(zip(takers, loads, strict=True)))), m) for loads, m in states.items())


def parts_possible(network: Network) -> bool:
    """Whether any placement gives every broker its part, rounded down or up; for small clusters too."""
    loads = _filled(network).loads
    return all(low <= loads[b] <= high for b, (low, high, _number) in network.parts.items())


def _filled(network: Network) -> _Flow:
    """The cheapest flow."""
    flow = _Flow(network)
    for p, count in enumerate(network.wanted):
        if network.open[p]:
            for _ in range(count - sum(b not in network.may_give for b in network.had[p])):
                assert flow.augment(p), "no placement is possible"
    return flow


class _Flow:
    """A flow that grows by one replica at a time, each along the cheapest path (no potentials: Bellman and Ford)."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.at: list[set[int]] = [set() for _ in network.had]
        self.stay: list[set[int]] = []
        self.loads: Counter[int] = Counter()
        for p, brokers in enumerate(network.had):
            kept = set(brokers) - network.may_give if network.open[p] else set(brokers)
            self.stay.append(kept)
            self.loads.update(kept)

    def _count(self, p: int, rack: str) -> int:
        return sum(self.network.rack[b] == rack for b in self.at[p] | self.stay[p])

    def augment(self, start: int) -> bool:
        """Send one more replica of a partition to a broker."""
        net = self.network
        queue: list[tuple[int, int, tuple[str, int, str]]] = [(0, 0, ("p", start, ""))]
        best: dict[tuple[str, int, str], int] = {("p", start, ""): 0}
        parent: dict[tuple[str, int, str], tuple[str, int, str]] = {}
        count = 0
        while queue:
            cost, _n, node = heapq.heappop(queue)
            if cost > best[node]:
                continue
            for step, more in self._steps(node):
                if cost + more < best.get(step, 1 << 60):
                    best[step] = cost + more
                    parent[step] = node
                    count += 1
                    heapq.heappush(queue, (cost + more, count, step))
        ends = [(best[("b", b, "")] + net.price(b, self.loads[b]), b) for b in net.may_take if ("b", b, "") in best]
        if not ends:
            return False
        node = ("b", min(ends)[1], "")
        self.loads[node[1]] += 1
        while node in parent:
            before = parent[node]
            if before[0] == "k" and node[0] == "b":
                self.at[before[1]].add(node[1])
            elif before[0] == "b" and node[0] == "k":
                self.at[node[1]].discard(before[1])
            node = before
        return True

    def _steps(self, node: tuple[str, int, str]) -> list[tuple[tuple[str, int, str], int]]:
        net = self.network
        kind, number, rack = node
        if kind == "p":
            high, least = net.bounds[number][1], net.least(number)
            counts = {k: self._count(number, k) for k in sorted({net.rack[b] for b in net.may_take})}
            return [(("k", number, k), -MUST if n < least.get(k, 0) else 0) for k, n in counts.items() if n < high]
        if kind == "k":
            free = [b for b in net.may_take if net.rack[b] == rack and b not in self.at[number] | self.stay[number]]
            steps = [(("b", b, ""), int(b not in net.had[number])) for b in sorted(free)]
            back = MUST if self._count(number, rack) <= net.least(number).get(rack, 0) else 0
            return steps + ([(("p", number, ""), back)] if any(net.rack[b] == rack for b in self.at[number]) else [])
        holds = [p for p in range(len(net.had)) if net.open[p] and number in self.at[p]]
        return [(("k", p, net.rack[number]), -int(number not in net.had[p])) for p in holds]


def unfair_leaders(after: list[tuple[int, ...]], eligible: set[int], plan: Plan) -> str | None:
    """What is wrong with who leads: neither within one of each other, nor a witness that holds."""
    leads = Counter(brokers[0] for brokers in after)
    loads = [leads[broker] for broker in eligible]
    if max(loads) - min(loads) <= 1:
        return "a witness although it was possible" if plan.witness else None
    witness = plan.witness
    if witness is None:
        return f"{sorted(loads)} and no witness"
    some = set(witness.brokers)
    low, high = len(after) // len(eligible), -(-len(after) // len(eligible))
    if witness.kind == "too_many":
        inside = sum(set(brokers) <= some for brokers in after)
        return None if inside == witness.partitions > len(some) * high == witness.room else f"wrong witness {witness}"
    touching = sum(not some.isdisjoint(brokers) for brokers in after)
    return None if touching == witness.partitions < len(some) * low == witness.room else f"wrong witness {witness}"


def cheaper_leaders(had: list[int], after: list[tuple[int, ...]], may_lead: set[int], open_: list[bool]) -> bool:
    """Whether leaders can be more even, or as even by fewer changes, with every replica where it is.

    C(had) led before, the first of C(after) leads now. As for moves: a negative cycle, where leading passes from
    broker to broker by a partition that both hold, at what that changes, and a load costs its square.
    """
    loads = Counter(brokers[0] for brokers in after)
    passing = [
        (brokers[0], other, (other != had[p]) - (brokers[0] != had[p]))
        for p, brokers in enumerate(after)
        if open_[p] and brokers[0] in may_lead
        for other in brokers[1:]
        if other in may_lead
    ]
    distance, sink = dict.fromkeys(may_lead, 0), 0
    for _pass in range(len(may_lead) + 3):
        before = (dict(distance), sink)
        for b in may_lead:
            sink = min(sink, distance[b] + SQUARE * (2 * loads[b] + 1))
        for b in may_lead:
            if loads[b]:
                distance[b] = min(distance[b], sink - SQUARE * (2 * loads[b] - 1))
        for giver, taker, cost in passing:
            distance[taker] = min(distance[taker], distance[giver] + cost)
        if (distance, sink) == before:
            return False
    return True


def fewest_changes(had: list[int], after: list[tuple[int, ...]]) -> tuple[int, int]:
    """The smallest sum of squares of leaders and the fewest changes that reach it, by trying all that can lead."""
    return min(
        (sum(count**2 for count in Counter(leaders).values()), sum(map(int.__ne__, leaders, had)))
        for leaders in itertools.product(*after)
    )
