# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Questions to the cluster: what moves, the plan as of now with measured rates, and what of a batch may begin now."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..._client.session import Session
from ..._cluster.api import (
    disk_usage,
    list_brokers,
    list_reassignments,
    list_topics,
    live_brokers,
    min_insync_of,
    replica_sizes,
    take_snapshot,
)
from ..._cluster.info import describe
from ..._cluster.log_sizes import LogDirs
from ..._cluster.snapshot import Key, ids_alive, named
from ..._core.errors import RefusedError, RequestFailedError
from ..._logs.api import LATEST, Leaders, offsets_at
from ..disk_room import without_room
from ..figures import decided
from ..forced import without_isr
from ..model import Plan
from ..record import SHOWN, Look, Record, Row, Standing
from ..schedule import Schedule


#: Seconds for a connection to a broker that may be down.
def look_at(session: Session) -> Look:
    """The cluster now. Moves before partitions: one that ends in between shows as both ended and under way, which
    costs another look; the other order could show neither."""
    flying = list_reassignments(session)
    partitions = {(p.topic, p.index): p for found in list_topics(session).values() for p in found}
    return Look(partitions, flying, frozenset(live_brokers(session)))


def copied_bytes(session: Session, standing: Standing, look: Look) -> dict[int, Mapping[Key, int]]:
    """By broker the bytes of the new replicas of what is moving; a broker that does not tell costs the figure only."""
    wanted: dict[int, dict[str, list[int]]] = {}
    for row in standing.moving:
        for broker in look.in_flight[row.key].adding & look.alive:
            wanted.setdefault(broker, {}).setdefault(row.topic, []).append(row.index)
    found: dict[int, Mapping[Key, int]] = {}
    for broker, partitions in wanted.items():
        try:
            found[broker] = replica_sizes(session, broker, partitions)
        except RequestFailedError:
            continue
    return found


# -- where the snapshot of the planner comes from: a cluster, or a file that cluster_info filled ---------------------


def snapshot_now(session: Session) -> dict[str, Any]:
    """The cluster now, with sizes; whoever calls knows that nothing is being moved."""
    snapshot = take_snapshot(session, None)  # No plan asks for the quorum.
    return describe(snapshot, log_dirs=disk_usage(session, ids_alive(snapshot.brokers)))


def with_coming(snapshot: Mapping[str, Any], coming: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """A snapshot with brokers that are yet to be started; one that it knows stays as it is."""
    known = {node["id"] for node in snapshot["nodes"]}
    new = [{"id": one["id"], "rack": one.get("rack"), "state": "alive"} for one in coming if one["id"] not in known]
    return {**snapshot, "nodes": [*snapshot["nodes"], *new]}


def plan_now(
    session: Session, params: Mapping[str, Any], coming: Iterable[Mapping[str, Any]] = ()
) -> tuple[Plan, Schedule]:
    """The plan and its schedule; raises RefusedError with every reason when it cannot be made.

    C(coming): brokers that are yet to be started and count as present.

    With a throttle, what is written to the partitions that move is measured over C(sample_seconds) first: a throttle
    that is not above it is refused, and the duration counts it.
    """
    snapshot = with_coming(snapshot_now(session), coming)
    plan, order = decided(snapshot, {**params, "throttle": None}, registered_only=True)
    if not params["throttle"]:
        return plan, order
    cluster = plan.cluster
    moving = {
        (cluster.topics[cluster.topic_of[change.partition]], cluster.numbers[change.partition]): change.partition
        for change in plan.changes
        if change.added
    }
    if moving and params["sample_seconds"]:
        leaders = {key: (cluster.leaders or ())[partition] for key, partition in moving.items()}
        first = _sample(session, leaders)
        time.sleep(params["sample_seconds"])
        snapshot = with_rates(snapshot, write_rates(first, _sample(session, leaders)))
    return decided(snapshot, params, registered_only=True)


def verified(session: Session, record: Record | None, look: Look, reserve: float | None) -> dict[str, Any]:
    """Return what the cluster shows when a reassignment has ended (see C(verdict))."""
    return verdict(snapshot_now(session), record, bool(look.in_flight), reserve)


def verdict(
    snapshot: Mapping[str, Any], record: Record | None, flying: bool, reserve: float | None = None
) -> dict[str, Any]:
    """Judge whether a record's partitions are where it puts them, and what a new plan for its spec would change.

    The second is no fault of what has ended: a new plan knows the disks, replicas in sync and topics of now. It is None
    where there is no spec, where the planner refuses it, and where somebody else moves partitions, among which no plan
    is sound. C(reserve): the free part of disks that the new plan keeps; None does not ask for room.
    """
    found = {(topic["name"], one["partition"]): one for topic in snapshot["topics"] for one in topic["partitions"]}
    rows = record.rows if record is not None else []
    missed = [row.key for row in rows if row.key in found and tuple(found[row.key]["replicas"]) != row.replicas]
    moves = partitions = None
    if record is not None and record.spec and not flying:
        params = {**dict(record.spec), "concurrency": 1, "throttle": None, "disk_reserve": reserve}
        # A spec that cannot be planned any more, since its broker is gone for example, has nothing left to count.
        with contextlib.suppress(RefusedError):
            plan = decided(snapshot, params, registered_only=True)[0]
            moves, partitions = plan.moves, len(plan.changes)
    return {
        "under_replicated": sum(len(one["isr"]) < len(one["replicas"]) for one in found.values()),
        "misplaced": named(missed)[:SHOWN],
        "misplaced_total": len(missed),
        "moves_left": moves,
        "partitions_left": partitions,
    }


def rows_of(plan: Plan, order: Schedule) -> tuple[tuple[Row, ...], ...]:
    """The batches of a schedule as the record keeps them."""
    cluster = plan.cluster
    return tuple(
        tuple(
            Row(
                cluster.topics[cluster.topic_of[change.partition]],
                cluster.numbers[change.partition],
                change.after,
                cluster.size(change.partition),
                len(change.added),
            )
            for change in batch.changes
        )
        for batch in order.batches
    )


def _sample(session: Session, leaders: Mapping[Key, int | None]) -> Sample:
    by_leader: dict[int, dict[str, list[int]]] = {}
    for (topic, index), leader in leaders.items():
        if leader is not None:
            by_leader.setdefault(leader, {}).setdefault(topic, []).append(index)
    sizes: dict[Key, int] = {}
    for leader, partitions in by_leader.items():
        sizes.update(replica_sizes(session, leader, partitions))
    ends = offsets_at(session, Leaders(leaders, frozenset()), dict.fromkeys(leaders, LATEST))
    return Sample(time.monotonic(), {key: end for key, end in ends.items() if isinstance(end, int)}, sizes)


# -- how fast partitions are written, from two looks at where their logs end and how big they are ----------------


@dataclass(frozen=True)
class Sample:
    """One look: log end offsets and bytes of the leaders' logs by partition, and when it was taken, in seconds."""

    at: float
    offsets: Mapping[Key, int]
    sizes: Mapping[Key, int]


def write_rates(first: Sample, second: Sample) -> dict[Key, float]:
    """Bytes a second that each partition grows by, of those that both looks know.

    Sizes alone would miss what retention deletes meanwhile, offsets alone do not tell bytes: a log that has got
    records and not grown is taken to have records of its mean size.
    """
    seconds = second.at - first.at
    found = {}
    for key, end in second.offsets.items():
        if key not in first.offsets or seconds <= 0:
            continue
        records = end - first.offsets[key]
        size = second.sizes.get(key, 0)
        grown = size - first.sizes.get(key, size)
        if records <= 0:
            grown = 0
        elif grown <= 0:
            grown = round(records * size / end)
        found[key] = grown / seconds
    return found


def with_rates(snapshot: Mapping[str, Any], rates: Mapping[Key, float]) -> dict[str, Any]:
    """A snapshot as cluster_info returns it, with the rates of partitions put in."""
    topics = [
        {
            **topic,
            "partitions": [
                {**one, "write_rate": rates[topic["name"], one["partition"]]}
                if (topic["name"], one["partition"]) in rates
                else one
                for one in topic["partitions"]
            ],
        }
        for topic in snapshot["topics"]
    ]
    return {**snapshot, "topics": topics}


# -- what of a batch may begin now: before each the cluster is asked once more, since plans grow old -----------------


def not_yet(session: Session, rows: Iterable[Row], look: Look, reserve: float) -> dict[Key, str]:
    """Return which of these rows must not begin now, and why, by asking the cluster.

    Those are rows for which a disk has no room beside what is on its way, and rows that would take away in-sync
    replicas that are needed. Nothing else waits for them but the batches after their own.
    """
    listed = [row for row in rows if row.key in look.partitions]
    found = without_isr(listed, look, min_insync_of(session, {row.topic for row in listed if look.shrinks(row)}))
    coming = [row for row in listed if row.key not in found and look.added(row)]
    if not coming:
        return found
    brokers = {broker for row in coming for broker in look.added(row)}
    silent: dict[int, str] = {}
    disks = _disks(session, brokers, silent)
    flying = {key for key, one in look.in_flight.items() if one.adding & brokers}
    sizes = _leader_sizes(session, {*flying, *(row.key for row in coming)}, look)
    hosts = {broker.id: broker.host for broker in list_brokers(session)}
    return {**found, **without_room(coming, look, disks, sizes, reserve, silent, hosts)}


def _disks(session: Session, brokers: Iterable[int], silent: dict[int, str]) -> dict[int, LogDirs]:
    """Return what these brokers tell of their disks; put those that do not into C(silent) with the reason."""
    found = {}
    for broker in sorted(brokers):
        try:
            found[broker] = disk_usage(session, [broker])[broker]
        except RequestFailedError as error:
            silent[broker] = error.why
            continue
        if not found[broker].disks:
            silent[broker] = "no log directory is online, or it runs Kafka before 3.3"
    return found


def _leader_sizes(session: Session, keys: Iterable[Key], look: Look) -> dict[Key, int]:
    """Bytes of the leaders' logs now; of a leader that does not tell the planned size is all that is known."""
    by_leader: dict[int, dict[str, list[int]]] = {}
    for topic, index in sorted(keys):
        partition = look.partitions.get((topic, index))
        if partition is not None and partition.leader is not None:
            by_leader.setdefault(partition.leader, {}).setdefault(topic, []).append(index)
    found: dict[Key, int] = {}
    for leader, partitions in by_leader.items():
        try:
            found.update(replica_sizes(session, leader, partitions))
        except RequestFailedError:
            continue
    return found
