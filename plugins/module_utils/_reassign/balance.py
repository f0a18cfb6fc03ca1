# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Give every broker its share of replicas, and of leaders, by the fewest moves.

Direct moves go in bulk; shortest augmenting paths find what they cannot reach.

Leading is a placement of one replica for each partition, which may only be where the partition is; so what gives every
broker its share of replicas by the fewest moves gives it its share of leaders by the fewest changes. Where no leaders
within one of each other are possible they become as even as can be, and a witness says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .flow import Flow
from .model import Witness
from .racks import Share, bits, mask_of, targets_of
from .state import Placement
from .topic_counts import TopicCounts

#: How many of the brokers that could take a replica are compared by what they hold of its topic.
_COMPARED = 8


def balance(placement: Placement, shares: Sequence[Share], topic_of: Sequence[int]) -> bool:
    """Change a placement until every broker has its share, by the fewest moves; whether that can be.

    Every partition must have the moves that it needs by itself, and no others. Paths that cost nothing go first and
    direct moves, which cost one, second: both are shortest paths then, so that what is left starts from a minimum.
    """
    flow = Flow([placement], shares)
    if placement.now and flow.run(most=0):
        return True
    direct(placement, targets_of(shares, placement.loads), topic_of)
    flow.refresh()
    return flow.settled() or flow.run()


def direct(placement: Placement, targets: dict[int, int], topic_of: Sequence[int]) -> None:
    """Move replicas straight from brokers above their target to brokers below theirs."""
    loads = placement.loads
    need = {broker: target - loads[broker] for broker, target in targets.items() if loads[broker] < target}
    takers = _Takers(placement, need, topic_of)
    for broker in sorted(targets):
        surplus = loads[broker] - targets[broker]
        if surplus <= 0:
            continue
        for partition in _by_topic(placement.homes[broker], topic_of):
            if surplus == 0 or not takers.mask:
                break
            if broker not in placement.at(partition):
                continue
            room = placement.room(partition, broker) & takers.mask
            # Who left the partition before may come back for nothing: that is for the search of paths.
            room &= ~placement.left(partition)
            if room:
                placement.swap(partition, broker, takers.choose(room, topic_of[partition]))
                surplus -= 1


def _by_topic(partitions: Sequence[int], topic_of: Sequence[int]) -> list[int]:
    """The same partitions, those first whose topic has most here, so that giving the first ones away evens topics."""
    rank, last, count = [], -1, 0
    for partition in partitions:
        # Partitions of a topic stand together.
        topic = topic_of[partition]
        count = count + 1 if topic == last else 1
        last = topic
        rank.append(count)
    return [partitions[place] for place in sorted(range(len(rank)), key=rank.__getitem__, reverse=True)]


class _Takers:
    """The brokers below their target; who of them takes a replica is who holds least of its topic, of some in turn."""

    def __init__(self, placement: Placement, need: dict[int, int], topic_of: Sequence[int]) -> None:
        self.need = need
        self.mask = mask_of(need)
        self.turn = 0
        self.held = TopicCounts(placement, topic_of)
        for broker in need:
            for partition in placement.guests[broker]:
                self.held[topic_of[partition], broker] += 1

    def choose(self, room: int, topic: int) -> int:
        """One of the brokers in C(room) to take a replica of a topic."""
        best, least = -1, -1
        # Begin after the broker that was chosen last.
        ahead = room >> self.turn << self.turn
        for place, broker in enumerate(bits(ahead if ahead else room)):
            held = self.held[topic, broker]
            if best < 0 or held < least:
                best, least = broker, held
            if held == 0 or place >= _COMPARED:
                break
        self.turn = best + 1
        self.held[topic, best] = least + 1
        self.need[best] -= 1
        if not self.need[best]:
            self.mask &= ~(1 << best)
        return best


def even_out(flow: Flow, brokers: int) -> list[Share]:
    """Make the loads of a set of brokers as even as can be, by what the flow allows; the classes that this shows.

    From the top: the brokers at the highest load give to brokers at least two below, until no path is left. Then what
    they can reach is a class: its total cannot be less, so none of its brokers can be better off but by another.
    """
    classes = []
    active = brokers
    if active:
        members = list(bits(active))
        middle = sum(map(flow.broker_load, members)) // len(members)
        flow.between(active, middle, middle)
        flow.run()
    while active:
        members = list(bits(active))
        top = max(map(flow.broker_load, members))
        flow.between(active, top - 1, top - 1)
        flow.run()
        starts = [broker for broker in members if flow.broker_load(broker) == top]
        if starts:
            inside = flow.reached(starts) & active
            share = list(bits(inside))
            size = len(share)
            total = sum(map(flow.broker_load, share))
            classes.append(Share(share, [max(0, top - 1)] * size, [top] * size, total))
            active &= ~inside
    return classes


def count_bound(placement: Placement, shares: Sequence[Share]) -> int:
    """The fewest moves that the counts of brokers alone ask for: what each class lacks, or what its brokers lack.

    A broker keeps at most what it had of partitions that may move, and at most its share.
    """
    kept = [len(found) for found in placement.homes]
    for partition in placement.fixed:
        for broker in placement.had[partition]:
            kept[broker] += 1
    bound = 0
    for share in shares:
        most = sum(min(kept[broker], high) for broker, _low, high in share.each())
        lack = sum(max(0, low - kept[broker]) for broker, low, _high in share.each())
        bound += max(0, share.total - most, lack)
    return bound


class Leadership(Placement):
    """The leaders of a placement: at home where they were before, guests where they are new. Brokers are numbers.

    C(eligible) is the set of brokers that may lead what they did not lead. Partitions that lost their leader are given
    one at once: who took its place by name, else the eligible broker of the partition that leads least.
    """

    def __init__(self, replicas: Placement, eligible: int) -> None:
        alone = [(broker,) for broker in range(len(replicas.loads))]
        led = [alone[brokers[0]] for brokers in replicas.had]
        super().__init__(led, len(alone), replicas.racks, replicas.fixed)
        self.replicas = replicas
        self.eligible = eligible
        self._bit = [eligible & 1 << broker for broker in range(len(alone))]
        self._reach: dict[int, int] = {}
        for partition in sorted(replicas.now):
            self._inherit(partition)

    def _inherit(self, partition: int) -> None:
        leader = self.had[partition][0]
        if leader in self.replicas.now[partition]:
            return
        heirs = self.replicas.ordered(partition)
        if partition not in self.replicas.pinned:
            heirs.sort(key=lambda broker: (not self._bit[broker], self.loads[broker], broker))
        self.swap(partition, leader, heirs[0])

    def leader(self, partition: int) -> int:
        """Return the broker that leads a partition."""
        return self.at(partition)[0]

    def torn(self) -> dict[int, list[int]]:
        """None: a leader that is at home left no other home."""
        return {}

    def leaving_home(self, broker: int) -> Iterator[tuple[int, int]]:
        """The partitions that a broker led before and leads now, each with the brokers that may lead instead."""
        for partition in self.homes[broker]:
            if partition not in self.now:
                yield partition, self.room(partition, broker)

    def reach(self, broker: int) -> int:
        """The brokers that hold any of the partitions that a broker led: few of many, so looking can end early."""
        if broker not in self._reach:
            held = {member for partition in self.homes[broker] for member in self.replicas.at(partition)}
            self._reach[broker] = mask_of(held) & self.eligible
        return self._reach[broker]

    def room(self, partition: int, leaving: int) -> int:
        """The brokers that may lead instead of C(leaving)."""
        mask = 0
        for broker in self.replicas.at(partition):
            mask |= self._bit[broker]
        return mask & ~self._bit[leaving]


def even_leaders(leading: Leadership, topic_of: Sequence[int]) -> tuple[Leadership, Witness | None]:
    """Leaders spread by at most one; where that cannot be, as evenly as can be, and why it cannot."""
    eligible = list(bits(leading.eligible))
    total = sum(leading.loads[broker] for broker in eligible)
    low, high = total // len(eligible), -(-total // len(eligible))
    level = Share(eligible, [low] * len(eligible), [high] * len(eligible), total)
    spread = leading.copy()
    if balance(spread, [level], topic_of):
        return spread, None
    classes = even_out(Flow([spread], counted=False), leading.eligible)
    spread = leading.copy()
    balance(spread, classes, topic_of)
    return spread, _witness(classes, low, high)


def _witness(classes: Sequence[Share], low: int, high: int) -> Witness | None:
    """The classes that lead too much, or those that lead too little.

    Leading passes from no class to a lower one. So what the classes above the share lead has no replica below them, and
    what has a replica in the classes below the share is led there.
    """
    above = [share for share in classes if share.total > high * len(share.brokers)]
    below = [share for share in classes if share.total < low * len(share.brokers)]
    for kind, found, room in (("too_many", above, high), ("too_few", below, low)):
        if found:
            brokers = sorted(broker for share in found for broker in share.brokers)
            return Witness(kind, tuple(brokers), sum(share.total for share in found), len(brokers) * room)
    return None
