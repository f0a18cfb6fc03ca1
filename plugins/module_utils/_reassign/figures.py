# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""A plan and its schedule as the module returns them: by broker, by rack, by topic, before and after."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .._core.errors import RefusedError
from .digest import plan_digest
from .json_form import number_of, spec_kept, spec_of
from .model import Change, Cluster, Plan
from .schedule import Limits, Schedule, plan_and_schedule
from .snapshot import cluster_of


def placed_after(plan: Plan) -> list[tuple[int, ...]]:
    """The brokers of every partition when the plan is done."""
    after = list(plan.cluster.replicas)
    for change in plan.changes:
        after[change.partition] = change.after
    return after


def plan_figures(plan: Plan) -> dict[str, Any]:
    """A plan as plain data: its figures, its changes with their reasons, and Kafka's file for both directions."""
    cluster, after = plan.cluster, placed_after(plan)
    witness = plan.witness
    return {
        "moves": plan.moves,
        "no_room": list(plan.no_room),
        "in_flight": [cluster.name(partition) for partition in sorted(cluster.coming)],
        "bound": plan.bound,
        "proof": plan.proof,
        "deletions": plan.deletions,
        "bytes": _copied(cluster, plan.changes),
        **_levelled(plan, after),
        "leader_changes": plan.leader_changes,
        "leader_bound": plan.leader_bound,
        "leader_witness": None
        if witness is None
        else {
            "kind": witness.kind,
            "brokers": list(witness.brokers),
            "partitions": witness.partitions,
            "room": witness.room,
        },
        "spread": _spreads(plan, cluster.replicas, after),
        "topic_bound": plan.topic_bound,
        "racks_per_partition": {
            "from": _rack_counts(plan, cluster.replicas),
            "to": _rack_counts(plan, after),
        },
        "brokers": _brokers(plan, after),
        "changes": [_change(cluster, change) for change in plan.changes],
        "reassignment": kafka_file(cluster, plan.changes),
        "rollback": kafka_file(cluster, plan.changes, back=True),
    }


def _levelled(plan: Plan, after: Sequence[tuple[int, ...]]) -> dict[str, Any]:
    """Return how level bytes are, and what levelling them came to where that was asked for.

    The spread is the bytes of the broker that has most of its share, over that share: 1 is level.
    """
    cluster, found = plan.cluster, plan.bytes
    takers = set(plan.takers)
    weights = {broker.id: broker.weight for broker in plan.brokers if broker.id in takers}
    spread = {}
    for name, placed in (("from", cluster.replicas), ("to", after)):
        held = _held(cluster, placed)["bytes"]
        level = sum(held[broker] for broker in weights) / sum(weights.values())
        most = max(held[broker] / weight for broker, weight in weights.items())
        spread[name] = round(most / level, 4) if level else 1.0
    return {
        "bytes_spread": None if cluster.sizes is None else spread,
        "bytes_bound": None if found is None else found.bound,
        "bytes_above": [
            {
                "broker": one.broker,
                "bytes": one.bytes,
                "limit_bytes": one.limit,
                "why": one.why,
                "partition": None if one.partition is None else cluster.name(one.partition),
            }
            for one in (found.above if found is not None else ())
        ],
    }


def _change(cluster: Cluster, change: Change) -> dict[str, Any]:
    return {
        "topic": cluster.topics[cluster.topic_of[change.partition]],
        "partition": cluster.numbers[change.partition],
        "from": list(change.before),
        "to": list(change.after),
        "bytes": _copied(cluster, [change]),
        "reasons": list(change.reasons),
    }


def _copied(cluster: Cluster, changes: Sequence[Change]) -> int | None:
    """Bytes that these changes copy, None where one of them has an unknown size."""
    copying = [change for change in changes if change.added]
    if not cluster.sized(change.partition for change in copying):
        return None
    return sum(cluster.size(change.partition) * len(change.added) for change in copying)


def _spreads(plan: Plan, before: Sequence[tuple[int, ...]], after: Sequence[tuple[int, ...]]) -> dict[str, Any]:
    """The gap between the most and the least loaded broker, of those that may get replicas."""
    ids = plan.takers
    found: dict[str, Any] = {}
    for name, placed in (("from", before), ("to", after)):
        replicas = Counter(broker for brokers in placed for broker in brokers)
        leaders = Counter(brokers[0] for brokers in placed)
        found[name] = {
            "replicas": _range(replicas, ids),
            "leaders": _range(leaders, ids),
            "topic": _widest_topic(plan.cluster, placed, ids),
        }
    return found


def _widest_topic(cluster: Cluster, placed: Sequence[tuple[int, ...]], ids: Sequence[int]) -> int:
    """The largest difference, over all topics, between the most and the least that one broker holds of it."""
    widest, start, count = 0, 0, len(cluster.topic_of)
    while start < count:
        # Partitions of a topic stand together.
        end = start
        while end < count and cluster.topic_of[end] == cluster.topic_of[start]:
            end += 1
        held = Counter(broker for brokers in placed[start:end] for broker in brokers)
        widest = max(widest, _range(held, ids))
        start = end
    return widest


def _range(counts: Counter[int], ids: Sequence[int]) -> int:
    return max((counts[broker] for broker in ids), default=0) - min((counts[broker] for broker in ids), default=0)


def _rack_counts(plan: Plan, placed: Sequence[tuple[int, ...]]) -> dict[str, int]:
    """Return how many partitions are in how many racks."""
    racks = {broker.id: broker.rack for broker in plan.brokers}
    found = Counter(len({racks[broker] for broker in brokers}) for brokers in placed)
    return {str(count): found[count] for count in sorted(found)}


def _brokers(plan: Plan, after: Sequence[tuple[int, ...]]) -> list[dict[str, Any]]:
    """By broker: replicas, leaders and bytes from and to, what comes and goes, and the most that its disk holds.

    The peak counts what comes, by moves under way too, beside all that is there, as if nothing were deleted before the
    last byte arrived; a schedule can stay below it.
    """
    sides = [_held(plan.cluster, plan.cluster.replicas), _held(plan.cluster, after)]
    comes: Counter[int] = Counter()
    goes: Counter[int] = Counter()
    incoming: Counter[int] = Counter()
    coming = plan.cluster.bytes_coming()
    unknown: set[int] = set()
    vague: set[int] = set()
    for partition, added in plan.cluster.coming.items():
        if not plan.cluster.sized([partition]):
            vague.update(added)
    for change in plan.changes:
        comes.update(change.added)
        goes.update(change.removed)
        for broker in change.added:
            incoming[broker] += plan.cluster.size(change.partition)
        if change.added and not plan.cluster.sized([change.partition]):
            unknown.update(change.added)
    found = []
    for spec in plan.brokers:
        figures: dict[str, Any] = {
            name: {"from": sides[0][name][spec.id], "to": sides[1][name][spec.id]} for name in sides[0]
        }
        used = figures["bytes"]["from"] if spec.disk_used is None else spec.disk_used + coming[spec.id]
        if plan.cluster.sizes is None:
            figures["bytes"] = {"from": None, "to": None}
        known = spec.id not in unknown | vague and (plan.cluster.sizes is not None or spec.disk_used is not None)
        found.append(
            {
                "id": spec.id,
                "rack": spec.rack,
                "state": spec.state,
                **figures,
                "moves_in": comes[spec.id],
                "moves_out": goes[spec.id],
                "bytes_in": None if spec.id in unknown else incoming[spec.id],
                "peak_bytes": used + incoming[spec.id] if known else None,
                "disk_limit_bytes": spec.disk_limit,
            }
        )
    return found


def _held(cluster: Cluster, placed: Sequence[tuple[int, ...]]) -> dict[str, Counter[int]]:
    """Return what brokers hold: replicas, leaders, bytes."""
    held: Counter[int] = Counter()
    for partition, brokers in enumerate(placed if cluster.sizes is not None else ()):
        for broker in brokers:
            held[broker] += cluster.size(partition)
    return {
        "replicas": Counter(broker for brokers in placed for broker in brokers),
        "leaders": Counter(brokers[0] for brokers in placed),
        "bytes": held,
    }


def schedule_figures(cluster: Cluster, found: Schedule) -> dict[str, Any]:
    """A schedule as plain data: what each batch moves and how long it takes."""
    return {
        "seconds": None if found.seconds is None else round(found.seconds, 1),
        "rounds_bound": found.rounds_bound,
        "peak_bytes": {
            str(broker): most if cluster.sizes is not None else None for broker, most in sorted(found.peaks.items())
        },
        "batches": [
            {
                "partitions": [cluster.name(change.partition) for change in batch.changes],
                "moves": sum(len(change.added) for change in batch.changes),
                "bytes": _copied(cluster, batch.changes),
                "seconds": None if batch.seconds is None else round(batch.seconds, 1),
            }
            for batch in found.batches
        ],
    }


def planned(snapshot: Any, params: Mapping[str, Any], registered_only: bool) -> dict[str, Any]:
    """The figures of a plan and its schedule; raises RefusedError with every reason when it cannot be made."""
    return figures_of(*decided(snapshot, params, registered_only))


def decided(snapshot: Any, params: Mapping[str, Any], registered_only: bool) -> tuple[Plan, Schedule]:
    """The plan and its schedule; raises RefusedError with every reason when it cannot be made.

    C(registered_only): brokers that the snapshot does not know cannot be added.
    """
    cluster = cluster_of(snapshot, sound_reserve(params.get("disk_reserve")))
    spec = spec_of({name: _plain(name, value) for name, value in spec_kept(params).items()})
    if registered_only:
        known = {broker.id for broker in cluster.brokers}
        unknown = [broker.id for broker in spec.add if broker.id not in known]
        if unknown:
            said = [f"add: broker {broker} is not registered; start it first" for broker in unknown]
            raise RefusedError("Reassignment", said)
    # A throttle of 0 is none.
    return plan_and_schedule(cluster, spec, Limits(params["concurrency"], params["throttle"] or None))


def sound_reserve(reserve: float | None) -> float | None:
    """The reserve of disks; raises RefusedError where it is no fraction."""
    if reserve is not None and not 0 <= reserve < 1:
        raise RefusedError(
            "Reassignment",
            [f"disk_reserve: {reserve} is not a fraction of 0 or more and below 1; 0.15 keeps 15 % of a disk free"],
        )
    return reserve


def figures_of(plan: Plan, order: Schedule) -> dict[str, Any]:
    """A plan and its schedule as the module returns them."""
    figures = plan_figures(plan)
    figures["plan_digest"] = plan_digest(plan.cluster.id, figures["changes"])
    figures["schedule"] = schedule_figures(plan.cluster, order)
    figures["diff"] = diff_of_changes(figures["changes"])
    return figures


def diff_of_changes(changes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The diff of changes as they are returned: by partition the replicas from and to."""
    names = {f"{change['topic']}-{change['partition']}": change for change in changes}
    return {
        "before": {name: change["from"] for name, change in names.items()},
        "after": {name: change["to"] for name, change in names.items()},
    }


def _plain(name: str, value: Any) -> Any:
    """A value as a spec has it: Ansible may give the numbers of a dictionary as text."""
    if name in ("replace", "replication_factor"):
        return {key: number_of(one) if isinstance(one, str) else one for key, one in value.items()}
    if name == "add":
        return [{key: one for key, one in broker.items() if one is not None} for broker in value]
    return value


def kafka_file(cluster: Cluster, changes: Iterable[Change], back: bool = False) -> dict[str, Any]:
    """Changes as Kafka's reassignment file; C(back) gives the file that undoes them."""
    return {
        "version": 1,
        "partitions": [
            {
                "topic": cluster.topics[cluster.topic_of[change.partition]],
                "partition": cluster.numbers[change.partition],
                "replicas": list(change.before if back else change.after),
            }
            for change in changes
        ],
    }
