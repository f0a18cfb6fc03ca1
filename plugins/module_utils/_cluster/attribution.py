# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Who is at fault when live replicas are not in sync: the follower, the leader, the pair of them, or nobody.

A broker may be alive, with every replica of its own in sync, and serve none of the others (it advertises an address
where nothing listens); or it may be served by all and copy from none (replica.fetch.backoff.ms is minutes). One broker
never shows which it is. What all of them report of each other does: a follower that misses several leaders, from which
others copy, is at fault; so is a leader that several followers miss and from which none is seen to copy. What one
serves to a third it could serve to all, so several that miss it then are at fault themselves: as with a long
replica.fetch.backoff.ms, which shows only behind the restart of a leader. What two of them miss of each other alone has
its cause in either of them or between them. And a follower that has more bytes than a moment ago copies: nothing is
wrong with it that time does not mend.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from .._core.progress import duration
from .snapshot import Key, Partition, out_of_sync

#: Kinds of attributions: nobody is at fault (the first three), or a follower, a leader, or either of two.
CATCHING_UP, STARTING, UNKNOWN = "catching_up", "starting", "unknown"
FOLLOWER, LEADER, PAIR = "follower", "leader", "pair"
#: The kinds in which somebody does not copy, and time alone does not mend it.
FAULTS = (FOLLOWER, LEADER, PAIR)
_ORDER = (LEADER, FOLLOWER, PAIR, UNKNOWN, STARTING, CATCHING_UP)

#: Settings of brokers by which they throttle replicas, and of topics that list which (KIP-73).
LEADER_RATE = "leader.replication.throttled.rate"
FOLLOWER_RATE = "follower.replication.throttled.rate"
LEADER_REPLICAS = "leader.replication.throttled.replicas"
FOLLOWER_REPLICAS = "follower.replication.throttled.replicas"
#: Kafka's default of replica.fetch.response.max.bytes: so much one fetch may bring, and then a throttled follower waits
#: until its rate is kept again.
BURST = 10 << 20

#: A replica: its partition and its broker. An edge: a follower and the leader that it copies from.
Replica = tuple[Key, int]
Edge = tuple[int, int]


@dataclass(frozen=True)
class Throttle:
    """A setting that slows what a broker sends or copies, with its rate in bytes a second."""

    broker: int
    key: str
    rate: int

    def __str__(self) -> str:
        return f"the throttle {self.key}={self.rate} of broker {self.broker}"


@dataclass(frozen=True)
class Look:
    """The partitions and the live brokers at a moment, C(at) in seconds of any clock.

    C(held) are the bytes of replicas that are not in sync and of their leaders, as far as these told.
    C(throttled) are the replicas that a throttle slows, where they send or where they copy.
    """

    partitions: tuple[Partition, ...]
    alive: frozenset[int]
    held: Mapping[Replica, int] = field(default_factory=dict)
    throttled: Mapping[Replica, Throttle] = field(default_factory=dict)
    at: float = 0.0

    def behind(self, partition: Partition, follower: int) -> int | None:
        """Return the bytes that a follower lacks of a partition, None where that is not known."""
        key = partition.topic, partition.index
        if partition.leader is None or (key, follower) not in self.held or (key, partition.leader) not in self.held:
            return None
        return max(0, self.held[key, partition.leader] - self.held[key, follower])


@dataclass(frozen=True)
class Attribution:
    """Who is at fault for replicas that are not in sync, or what they do instead.

    C(followers) are missing in the ISR of partitions that C(leaders) lead, C(missing) names them by partition.
    C(bytes_behind) and C(rate), in bytes and bytes a second by which that falls, are None where they are not known.
    C(throttles) are the settings that slow them. C(served) are the others that copy from these leaders.
    """

    kind: str
    followers: tuple[int, ...]
    leaders: tuple[int, ...]
    missing: Mapping[Key, tuple[int, ...]]
    bytes_behind: int | None = None
    rate: float | None = None
    throttles: tuple[Throttle, ...] = ()
    served: tuple[int, ...] = ()

    @property
    def at_fault(self) -> tuple[int, ...]:
        """Return the brokers of which one or all are at fault, the follower of a pair first; empty where nobody is."""
        if self.kind == PAIR:
            return (*self.followers, *self.leaders)
        return {FOLLOWER: self.followers, LEADER: self.leaders}.get(self.kind, ())

    @property
    def phrase(self) -> str:
        """Say the attribution as a sentence without its end."""
        who, leads = _listed(self.followers), _listed(self.leaders)
        out = f"out of the ISR of {len(self.missing)} partition(s)"
        if self.kind == LEADER:
            return f"broker {who} cannot copy from broker {leads}: {out} that it leads"
        if self.kind == FOLLOWER:
            return f"broker {who} does not copy from broker {leads}, from which others copy: {out}"
        if self.kind == PAIR:
            return f"broker {who} does not copy from broker {leads}: {out}; the cause is in one of the two or between"
        if self.kind == STARTING:
            return f"broker {who} has just started: {out}"
        if self.kind == UNKNOWN:
            return f"broker {who} is behind with broker {leads}: {out}"
        return f"broker {who} is {self.pace}"

    @property
    def pace(self) -> str:
        """Say how a follower catches up: how far it is behind, how fast, until when, and what slows it."""
        parts = ["catching up"]
        if self.bytes_behind is not None:
            parts.append(f"{self.bytes_behind / 1e6:.1f} MB behind")
        if self.rate and self.bytes_behind is not None:
            parts.append(f"{self.rate / 1e6:.2g} MB/s")
            parts.append(f"ETA {duration(self.bytes_behind / self.rate)}")
        if self.throttles:
            parts.append(f"slowed by {' and '.join(map(str, self.throttles))}")
        return ", ".join(parts)

    def as_dict(self) -> dict[str, object]:
        """Return the attribution as a module returns it."""
        return {
            "kind": self.kind,
            "at_fault": list(self.at_fault),
            "followers": list(self.followers),
            "leaders": list(self.leaders),
            "served": list(self.served),
            "partitions": len(self.missing),
            "bytes_behind": self.bytes_behind,
            "throttles": [str(throttle) for throttle in self.throttles],
            "phrase": self.phrase,
        }


def _listed(brokers: Iterable[int]) -> str:
    return ", ".join(str(broker) for broker in sorted(brokers))


def lacking(partitions: Iterable[Partition], alive: Collection[int]) -> list[tuple[Partition, int]]:
    """Return the live followers that are not in sync with a live leader, each with its partition."""
    return [
        (partition, follower)
        for partition in partitions
        if partition.leader in alive
        for follower in out_of_sync(partition, alive)
    ]


def attributions(before: Look | None, now: Look) -> tuple[Attribution, ...]:
    """Return who is at fault for each live follower that is not in sync now, most serious first.

    Without an earlier look nobody can tell who copies, so nobody is called at fault. Each missing replica is in one
    attribution.
    """
    missing: dict[Edge, list[Partition]] = {}
    for partition, follower in lacking(now.partitions, now.alive):
        if partition.leader is not None:
            missing.setdefault((follower, partition.leader), []).append(partition)
    kinds = {edge: _progress(edge, partitions, before, now) for edge, partitions in missing.items()}
    copies = _in_sync(now) | {edge for edge, kind in kinds.items() if kind == CATCHING_UP}
    copied = copies | {edge for edge, kind in kinds.items() if kind == STARTING}
    stalled = frozenset(edge for edge, kind in kinds.items() if kind == "")
    by_cause: dict[tuple[str, int | Edge], list[Edge]] = {}
    for edge, kind in kinds.items():
        if kind:
            by_cause.setdefault((kind, edge[0]), []).append(edge)
    catching_up = {edge for edge, kind in kinds.items() if kind == CATCHING_UP}
    serving = {leader for _follower, leader in catching_up | _ahead(stalled, missing, _in_sync(now))}
    for culprit, edges in _culprits(stalled, copied, serving):
        by_cause.setdefault(culprit, []).extend(edges)
    told = [
        replace(_attribution(kind, edges, missing, before, now), served=_served(edges, copies))
        for (kind, _broker), edges in by_cause.items()
    ]
    return tuple(sorted(told, key=_gravity))


def _served(edges: Collection[Edge], copies: Iterable[Edge]) -> tuple[int, ...]:
    """Return who copies from the leaders of these pairs, besides their followers."""
    followers, leaders = {follower for follower, _leader in edges}, {leader for _follower, leader in edges}
    return tuple(sorted({follower for follower, leader in copies if leader in leaders} - followers))


def _gravity(told: Attribution) -> tuple[int, tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Return what puts one attribution before another, the gravest first."""
    return _ORDER.index(told.kind), told.at_fault, told.followers, told.leaders


def _in_sync(now: Look) -> frozenset[Edge]:
    """Return the pairs of which the follower is in the ISR of all that the leader has of it."""
    known: dict[Edge, bool] = {}
    for partition in now.partitions:
        leader = partition.leader
        if leader is None or leader not in now.alive:
            continue
        for follower in partition.replicas:
            if follower != leader and follower in now.alive:
                known[follower, leader] = known.get((follower, leader), True) and follower in partition.isr
    return frozenset(edge for edge, whole in known.items() if whole)


def _ahead(
    stalled: Collection[Edge], missing: Mapping[Edge, Sequence[Partition]], in_sync: Collection[Edge]
) -> frozenset[Edge]:
    """Return the pairs that are in sync in a partition of which another follower stands still, so that they copy it.

    Of a partition to which nobody writes, who copies nothing stays in the ISR too
    (kafka.cluster.Replica.isCaughtUp: its log ends where that of the leader does).
    """
    return frozenset(
        (other, leader)
        for follower, leader in stalled
        for partition in missing[follower, leader]
        for other in partition.isr
        if (other, leader) in in_sync
    )


def _progress(edge: Edge, partitions: Sequence[Partition], before: Look | None, now: Look) -> str:
    """Return what a follower does with the partitions of a leader; empty where it stands still.

    A throttled follower copies in bursts, and may stand still for longer than two looks are apart.
    """
    follower, _leader = edge
    if before is None:
        throttled = any(_throttles(partition, follower, now) for partition in partitions)
        return CATCHING_UP if throttled else UNKNOWN
    if follower not in before.alive:
        return STARTING
    was = {(partition.topic, partition.index): partition for partition in before.partitions}
    fresh = 0
    for partition in partitions:
        key = partition.topic, partition.index
        slow = min((throttle.rate for throttle in _throttles(partition, follower, now)), default=None)
        if slow is not None and slow * (now.at - before.at) < BURST and now.behind(partition, follower) != 0:
            return CATCHING_UP
        size, then = now.held.get((key, follower)), before.held.get((key, follower))
        if size is not None and then is not None and size > then:
            return CATCHING_UP
        old = was.get(key)
        fresh += old is None or follower in old.isr or _hides_progress(then, size)
    # It came into the ISR of others of them meanwhile.
    joined = sum(
        follower not in old.isr and follower in partition.isr
        for partition in now.partitions
        if partition.leader == edge[1] and (old := was.get((partition.topic, partition.index))) is not None
    )
    if joined:
        return CATCHING_UP
    # Nor is there anything to compare with of what it has only just lost.
    return UNKNOWN if fresh == len(partitions) else ""


def _hides_progress(then: int | None, size: int | None) -> bool:
    """Tell whether two sizes of a replica, in bytes, show nothing of what was copied in between.

    One that fell lost more than it got: by retention, or where its log was cut to that of its leader. One that is known
    in a single look is that of a broker that was too busy to answer in time, as one that catches up is.
    """
    if size is None or then is None:
        return size is not then
    return size < then


def _throttles(partition: Partition, follower: int, look: Look) -> list[Throttle]:
    key = partition.topic, partition.index
    sides = (follower, partition.leader)
    return [look.throttled[key, side] for side in sides if side is not None and (key, side) in look.throttled]


def _culprits(
    stalled: Collection[Edge], copied: Collection[Edge], serving: Collection[int]
) -> Iterator[tuple[tuple[str, int | Edge], list[Edge]]]:
    """Return who explains the pairs that stand still with the fewest brokers at fault, each with its pairs.

    One broker that explains several is taken before another that explains fewer of them; of two that explain as many,
    the one whose pairs nothing else explains. A leader that is C(serving) another follower explains none: each of
    several that are left beside it is at fault. A pair that is left goes to the one of the two that is at fault with
    others and copies with nobody; where neither is, it stands alone.
    """
    left = set(stalled)
    sides = {(FOLLOWER, follower) for follower, _leader in stalled} | {
        (LEADER, leader) for _follower, leader in stalled if leader not in serving
    }

    def of(side: tuple[str, int], edges: Collection[Edge]) -> list[Edge]:
        """Return the pairs in which a broker has this part."""
        return sorted(edge for edge in edges if edge[0 if side[0] == FOLLOWER else 1] == side[1])

    def rank(side: tuple[str, int]) -> tuple[int, int, int, int, str]:
        """Return what puts one explanation before another: the greatest is taken."""
        mine = of(side, left)
        others = [(LEADER, leader) if side[0] == FOLLOWER else (FOLLOWER, follower) for follower, leader in mine]
        return len(mine), -sum(len(of(other, left)) for other in others), -len(of(side, copied)), -side[1], side[0]

    while left:
        best = max(sides, key=rank)
        mine = of(best, left)
        if len(mine) < 2:
            break
        left -= set(mine)
        yield best, mine
    for edge in sorted(left):
        follower, leader = (FOLLOWER, edge[0]), (LEADER, edge[1])
        if edge[1] in serving and len(of(leader, left)) > 1:
            yield follower, [edge]
            continue
        alone = {side: not of(side, copied) and len(of(side, stalled)) > 1 for side in (follower, leader)}
        if alone[follower] != alone[leader]:
            yield (follower if alone[follower] else leader), [edge]
        else:
            yield (PAIR, edge), [edge]


def _attribution(
    kind: str, edges: Iterable[Edge], missing: Mapping[Edge, list[Partition]], before: Look | None, now: Look
) -> Attribution:
    listed = sorted(edges)
    replicas = [(partition, edge[0]) for edge in listed for partition in missing[edge]]
    by_key: dict[Key, tuple[int, ...]] = {}
    throttles: dict[Throttle, None] = {}
    for partition, follower in replicas:
        key = partition.topic, partition.index
        by_key[key] = (*by_key.get(key, ()), follower)
        throttles.update(dict.fromkeys(_throttles(partition, follower, now)))
    bytes_behind, rate = _pace(replicas, before, now)
    return Attribution(
        kind,
        tuple(sorted({follower for follower, _leader in listed})),
        tuple(sorted({leader for _follower, leader in listed})),
        by_key,
        bytes_behind,
        rate,
        tuple(throttles),
    )


def _pace(replicas: Iterable[tuple[Partition, int]], before: Look | None, now: Look) -> tuple[int | None, float | None]:
    """Return how many bytes these replicas lack, and by how many a second that has fallen since the look before.

    A replica that was in sync in the look before, or of which that look knew nothing, has no part in the rate.
    """
    known = [(now.behind(*replica), before.behind(*replica) if before else None) for replica in replicas]
    lacks = [lack for lack, _then in known if lack is not None]
    if not lacks:
        return None, None
    total = sum(lacks)
    if before is None or now.at <= before.at:
        return total, None
    fallen = sum(then - lack for lack, then in known if lack is not None and then is not None)
    return total, fallen / (now.at - before.at) if fallen > 0 else None


def stalled_at(attributed: Iterable[Attribution], leader: int) -> list[Attribution]:
    """Return why somebody does not copy what this broker leads, or may not: who catches up or starts does."""
    return [fault for fault in attributed if fault.kind in (*FAULTS, UNKNOWN) and leader in fault.leaders]
