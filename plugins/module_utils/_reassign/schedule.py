# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""In which order a plan is carried out: batches that no broker and no disk has too much of, and how long they take.

Within a batch the replicas of a partition are the old and the new ones together, and it ends when all new ones are in
sync; so at every moment a partition has its racks and its in-sync replicas of before or of after, never fewer than the
lesser of the two. What is scheduled is concurrency, disks and time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from .._cluster.file_systems import Dir
from .._core.errors import RefusedError
from .disk_room import Room, unclear
from .model import BrokerSpec, Change, Cluster, Plan, Spec
from .plan import plan_moves
from .record import REQUEST_PARTITIONS
from .rounds import rounds_of
from .spec import brokers_of, shown

#: The part of a throttle at which brokers copy in fact, and the seconds that each batch takes besides: it is begun,
#: gets in sync, is seen to be. Measured with 5 and 20 MB/s (docs/development/benchmarks.md, moves on a live cluster): a
#: follower above its quota fetches nothing, and looks again after replica.fetch.backoff.ms.
DELIVERED = 0.8
BATCH_SECONDS = 2.0


class NoRoomError(RefusedError):
    """Disks would run full: C(brokers) has why, by broker."""

    def __init__(self, brokers: Mapping[int, str]) -> None:
        super().__init__("Schedule", list(brokers.values()))
        self.brokers = frozenset(brokers)


@dataclass(frozen=True)
class Limits:
    """C(concurrency): replicas that a broker receives, and sends, at a time. C(throttle): bytes/s of each broker."""

    concurrency: int = 5
    throttle: int | None = None


@dataclass(frozen=True)
class Batch:
    """Changes that are asked for together. C(seconds) is None where sizes or the throttle are not known."""

    changes: tuple[Change, ...]
    bytes: int
    seconds: float | None


@dataclass(frozen=True)
class Schedule:
    """Batches in order. C(peaks): by broker the most bytes on its disks at any step. C(rounds_bound): no order has
    fewer batches that move data."""

    batches: tuple[Batch, ...]
    peaks: dict[int, int]
    seconds: float | None
    rounds_bound: int


def schedule(plan: Plan, limits: Limits) -> Schedule:
    """Order a plan; raises RefusedError when a disk would run full or a throttle would never let it end."""
    faults = _faults(plan, limits)
    if faults:
        raise RefusedError("Schedule", faults)
    moving = [change for change in plan.changes if change.added]
    dropping = [change for change in plan.changes if not change.added and change.removed]
    ordering = [change for change in plan.changes if not change.added and not change.removed]
    leaders = _leaders(plan.cluster)
    rounds, bound = rounds_of(moving, leaders, plan.cluster.size, limits.concurrency)
    if limits.throttle is not None and plan.cluster.write_rates is not None:
        rounds = [part for changes in rounds for part in _paced(plan.cluster, changes, leaders, limits.throttle)]
    disks = _Disks(plan.cluster, plan.brokers)
    groups = list(_cut(dropping))
    for group in groups:
        disks.done(group)
    fitting = disks.ordered(rounds)
    moved = [part for group in fitting for part in _cut(group)]
    groups += [*moved, *_cut(ordering)]
    batches = [_batch(plan.cluster, group, leaders, limits) for group in groups]
    times = [batch.seconds for batch in batches]
    total = None if any(time is None for time in times) else sum(time or 0.0 for time in times)
    return Schedule(tuple(batches), dict(disks.peaks), total, bound)


def plan_and_schedule(cluster: Cluster, spec: Spec, limits: Limits) -> tuple[Plan, Schedule]:
    """A plan that the disks have room for, and its schedule; raises RefusedError when there is none.

    Where a plan by numbers needs more than a disk has, room decides who gets what (C(fitting)). Where brokers shall be
    balanced, those that have no room for their share keep what they have, and others get that: the plan is made again
    without them, so it may be that brokers with a little room get nothing.
    """
    try:
        plan = plan_moves(cluster, spec)
        return plan, schedule(plan, limits)
    except NoRoomError as error:
        first = error
    if not spec.balances:
        return _by_room(cluster, spec, limits, first)
    left, left_out, full = cluster, set[int](), first.brokers
    while True:
        found = {b.id for b in left.brokers if b.id in full and b.state in ("alive", "new")}
        if not found:
            raise first
        left_out |= found
        left = replace(left, brokers=_excluded(left.brokers, found))
        try:
            plan = replace(plan_moves(left, spec), no_room=tuple(sorted(left_out)))
            return plan, schedule(plan, limits)
        except NoRoomError as error:
            full = error.brokers
        except RefusedError as error:
            # Without the full ones it cannot be done: then it is their disks that are in the way.
            raise first from error


def _by_room(cluster: Cluster, spec: Spec, limits: Limits, refusal: NoRoomError) -> tuple[Plan, Schedule]:
    """A plan for which room decides, and its schedule; raises the refusal where there is none."""
    if spec.assignment is not None:
        raise refusal
    try:
        plan = plan_moves(cluster, spec, _Disks(cluster, brokers_of(cluster, spec)).room)
        order = schedule(plan, limits)
    except RefusedError as error:
        raise refusal from error
    passed = refusal.brokers.difference(broker for change in plan.changes for broker in change.added)
    takers = tuple(broker for broker in plan.takers if broker not in passed)
    brokers = _excluded(plan.brokers, passed)
    return replace(plan, no_room=tuple(sorted(passed)), takers=takers, brokers=brokers), order


def _excluded(brokers: Iterable[BrokerSpec], some: Container[int]) -> tuple[BrokerSpec, ...]:
    """The brokers, some of which take nothing."""
    return tuple(replace(broker, state="excluded") if broker.id in some else broker for broker in brokers)


def _faults(plan: Plan, limits: Limits) -> list[str]:
    found = []
    if limits.concurrency < 1:
        found.append(f"concurrency: {limits.concurrency} must be at least 1")
    if limits.throttle is not None and limits.throttle < 1:
        found.append(f"throttle: {limits.throttle} must be above 0 bytes per second")
    cluster = plan.cluster
    if cluster.leaders is not None:
        headless = [
            change.partition for change in plan.changes if change.added and cluster.leaders[change.partition] is None
        ]
        if headless:
            found.append(
                f"{len(headless)} partitions ({shown(map(cluster.name, headless))}) have no leader, so nothing can be "
                "copied; bring their brokers back first"
            )
    return [*found, *_unknown_sizes(plan)]


def _unknown_sizes(plan: Plan) -> list[str]:
    """Return what must be known to judge whether disks have room, and is not."""
    receiving = {broker for change in plan.changes for broker in change.added}
    silent = [broker.id for broker in plan.brokers if broker.disk_unknown and broker.id in receiving]
    mixed = [one for one in unclear({b.id: b.dirs for b in plan.brokers if b.dirs}) if one in receiving]
    limited = {broker.id for broker in plan.brokers if broker.disk_limit is not None} & receiving
    moved = [(change.partition, change.added) for change in plan.changes]
    arriving = {partition for partition, added in [*moved, *plan.cluster.coming.items()] if limited.intersection(added)}
    unsized = sorted(partition for partition in arriving if not plan.cluster.sized([partition]))
    found = []
    if silent:
        found.append(
            f"broker {shown(silent)} does not report its disk size, so free space is unknown; "
            "start it and look again, or give it a disk_limit_bytes in a snapshot"
        )
    if mixed:
        found.append(
            f"broker {shown(mixed)} has several log directories with disks of one size that are as full, and their "
            "replica_bytes are not known: they may be on one disk or on several, so free space is unknown; "
            "take the snapshot again with sizes: true, or give it a disk_limit_bytes"
        )
    if unsized:
        found.append(
            f"the sizes of {len(unsized)} partitions ({shown(map(plan.cluster.name, unsized))}) are not known, and "
            f"the disks of broker {shown(sorted(limited))} have a limit; take the snapshot with sizes: true while "
            "their brokers are up"
        )
    return found


def _leaders(cluster: Cluster) -> list[int]:
    """Return who sends: followers fetch from the leader, whichever broker they take the place of."""
    if cluster.leaders is None:
        return [brokers[0] for brokers in cluster.replicas]
    known = cluster.leaders
    return [brokers[0] if known[p] is None else int(known[p] or 0) for p, brokers in enumerate(cluster.replicas)]


def _cut(changes: Sequence[Change]) -> Iterator[list[Change]]:
    """Pieces that fit one request."""
    for start in range(0, len(changes), REQUEST_PARTITIONS):
        yield list(changes[start : start + REQUEST_PARTITIONS])


def _written(cluster: Cluster, change: Change, leaders: Sequence[int]) -> Counter[tuple[str, int]]:
    """Bytes a second of writes that each broker receives and sends beside the copies of a change."""
    rate = int(cluster.write_rates[change.partition]) if cluster.write_rates is not None else 0
    found = Counter({("in", broker): rate for broker in change.added})
    found["out", leaders[change.partition]] += rate * len(change.added)
    return found


def _paced(
    cluster: Cluster, changes: Sequence[Change], leaders: Sequence[int], throttle: int
) -> Iterator[list[Change]]:
    """A round in parts, in each of which writes take at most half of the throttle of any broker.

    What is written to one partition may be more than that: then it moves without others of its brokers.
    """
    parts: list[tuple[list[Change], Counter[tuple[str, int]]]] = []
    for change in changes:
        written = _written(cluster, change, leaders)
        chosen = next((one for one in parts if _bears(one[1], written, throttle)), None)
        if chosen is None:
            chosen = ([], Counter())
            parts.append(chosen)
        chosen[0].append(change)
        chosen[1].update(written)
    return (part for part, _sums in parts)


def _bears(sums: Counter[tuple[str, int]], written: Counter[tuple[str, int]], throttle: int) -> bool:
    """Return whether these writes beside those others leave half of the throttle, or are alone where they happen."""
    return all(not rate or not sums[at] or sums[at] + rate <= throttle / 2 for at, rate in written.items())


def _batch(cluster: Cluster, changes: Sequence[Change], leaders: Sequence[int], limits: Limits) -> Batch:
    """A batch with its time: the slowest broker, at what is left of the throttle beside writes to what moves."""
    sent: Counter[int] = Counter()
    got: Counter[int] = Counter()
    writes: Counter[tuple[str, int]] = Counter()
    for change in changes:
        size = cluster.size(change.partition)
        writes.update(_written(cluster, change, leaders))
        for broker in change.added:
            got[broker] += size
            sent[leaders[change.partition]] += size
    total = sum(got.values())
    if not got:
        return Batch(tuple(changes), 0, BATCH_SECONDS)
    if limits.throttle is None or not cluster.sized(change.partition for change in changes if change.added):
        return Batch(tuple(changes), total, None)
    slow = sorted({broker for (_side, broker), rate in writes.items() if rate >= limits.throttle})
    if slow:
        raise RefusedError(
            "Schedule",
            [
                f"throttle: {limits.throttle} bytes/s is not above what is written to the partitions that move at "
                f"the same time on broker {shown(slow)}, so their replicas would never catch up, even one partition at "
                f"a time; raise it (kafka_resources_move_throttle) above {max(writes.values())}"
            ],
        )
    seconds = max(
        size / (DELIVERED * (limits.throttle - writes[side, broker]))
        for side, sizes in (("in", got), ("out", sent))
        for broker, size in sizes.items()
    )
    return Batch(tuple(changes), total, BATCH_SECONDS + seconds)


class _Disks:
    """What is on every broker's disks while batches run: a batch's new copies come before its old ones go."""

    def __init__(self, cluster: Cluster, brokers: Sequence[BrokerSpec]) -> None:
        self.cluster = cluster
        held: Counter[int] = Counter()
        for partition, replicas in enumerate(cluster.replicas if cluster.sizes is not None else ()):
            for broker in replicas:
                held[broker] += cluster.size(partition)
        # The replicas have what is coming already; the room is told of it disk by disk.
        coming = cluster.bytes_coming()
        there = {b.id: held[b.id] - coming[b.id] if b.disk_used is None else b.disk_used for b in brokers}
        self.room = Room(
            {b.id: b.dirs or [Dir(b.disk_limit, there[b.id])] for b in brokers if b.disk_limit is not None}
        )
        for partition, added in cluster.coming.items():
            self.room.expect(added, cluster.size(partition))
        self.used = {broker: size + coming[broker] for broker, size in there.items()}
        self.peaks = dict(self.used)

    def ordered(self, rounds: Sequence[Sequence[Change]]) -> list[list[Change]]:
        """The rounds in an order in which every disk has room, cut in parts where a whole one has none."""
        waiting = [list(changes) for changes in rounds]
        found = []
        while waiting:
            place = next((n for n, changes in enumerate(waiting) if len(self.fitting(changes)) == len(changes)), 0)
            part = self.fitting(waiting[place])
            if not part:
                place, part = next(((n, p) for n, p in enumerate(map(self.fitting, waiting)) if p), (0, []))
            if not part:
                raise NoRoomError(self._full([c for changes in waiting for c in changes]))
            self.done(part)
            found.append(part)
            chosen = {change.partition for change in part}
            waiting[place] = [change for change in waiting[place] if change.partition not in chosen]
            waiting = [changes for changes in waiting if changes]
        return found

    def fitting(self, changes: Sequence[Change]) -> list[Change]:
        """Those of the changes that fit the disks together, first come first served."""
        if not self.room.dirs:
            return list(changes)
        room = self.room.part({broker for change in changes for broker in change.added})
        found = []
        for change in changes:
            size = self.cluster.size(change.partition)
            if room.fits(change.added, size):
                room.add(change.added, size)
                found.append(change)
        return found

    def done(self, changes: Sequence[Change]) -> None:
        """Count a batch: all that comes, then all that goes."""
        for change in changes:
            self.room.add(change.added, self.cluster.size(change.partition))
            for broker in change.added:
                self.used[broker] += self.cluster.size(change.partition)
        for change in changes:
            for broker in change.added:
                self.peaks[broker] = max(self.peaks[broker], self.used[broker])
        for change in changes:
            self.room.remove(change.removed, self.cluster.size(change.partition))
            for broker in change.removed:
                self.used[broker] -= self.cluster.size(change.partition)

    def _full(self, left: Sequence[Change]) -> dict[int, str]:
        found = {}
        for broker in sorted({broker for change in left for broker in change.added}):
            change = min((c for c in left if broker in c.added), key=lambda c: self.cluster.size(c.partition))
            size = self.cluster.size(change.partition)
            coming = size * self.room.coming(broker, change.added)
            one = self.room.next_dir(broker)
            if one is not None and size and one.room < coming:
                several = len(self.room.dirs[broker]) > 1
                where = " in the log directory that Kafka puts it into" if several else ""
                found[broker] = (
                    f"broker {broker}: would hold {one.used + coming} bytes{where} with the next new replica "
                    f"beside the old ones, and its limit is {one.limit}; free space, raise the limit "
                    "(disk_limit_bytes of a snapshot, else its disk less disk_reserve, which playbooks take from "
                    "kafka_resources_move_disk_reserve), or plan fewer moves to it"
                )
        return found
