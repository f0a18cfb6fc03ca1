# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""A snapshot as a module returns it: nodes, quorum, topics, what is not as it should be, and who leads what."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from .log_sizes import LogDirs, partition_sizes
from .snapshot import without_adding

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from .snapshot import InFlight, Key, Partition, Quorum, Snapshot


def describe(
    snapshot: Snapshot,
    topics: Collection[str] | None = None,
    partitions: bool = True,
    log_dirs: Mapping[int, LogDirs] | None = None,
    configs: Mapping[str, Mapping[str, str | None]] | None = None,
    moving: Mapping[Key, InFlight] | None = None,
) -> dict[str, Any]:
    """Return the cluster as plain data. C(topics) limits topics and findings to these names; None means all.

    C(partitions) says whether topics carry their partitions. Nodes and leader counts are always those of the cluster.
    C(log_dirs), by broker, adds the sizes of partitions and how full disks are. C(configs), by topic, are values that
    topics carry. C(moving) are the moves under way, of which partitions carry what they get and lose.
    """
    wanted = [p for p in snapshot.partitions if topics is None or p.topic in topics]
    findings = {name: [_partition(p) for p in found] for name, found in _findings(wanted).items()}
    findings["offline"] = [_offline(p) for p in wanted if p.leader is None]
    described = _topics(wanted, partitions, moving or {})
    nodes = _nodes(snapshot)
    if log_dirs is not None:
        _add_sizes(nodes, described, wanted, log_dirs)
    if moving:
        _add_moves(described, moving)
    if configs:
        for topic in described:
            topic["config"] = dict(configs.get(topic["name"], {}))
    return {
        "cluster_id": snapshot.cluster_id,
        "controller_id": snapshot.controller_id,
        "nodes": nodes,
        "quorum": _quorum(snapshot.quorum),
        "topics": described,
        **findings,
        "counts": {
            "nodes": len(snapshot.brokers),
            "fenced_nodes": sum(broker.fenced for broker in snapshot.brokers),
            "topics": len(described),
            "partitions": len(wanted),
            **{name: len(found) for name, found in findings.items()},
        },
    }


def _add_sizes(
    nodes: list[dict[str, Any]],
    topics: list[dict[str, Any]],
    partitions: list[Partition],
    log_dirs: Mapping[int, LogDirs],
) -> None:
    sizes = partition_sizes(partitions, log_dirs)
    largest: dict[str, dict[str, int]] = {}
    for (name, number), size in sizes.items():
        if name not in largest or size > largest[name]["size_bytes"]:
            largest[name] = {"partition": number, "size_bytes": size}
    for topic in topics:
        topic["largest_partition"] = largest.get(topic["name"])
        for partition in topic.get("partitions", ()):
            partition["size_bytes"] = sizes.get((topic["name"], partition["partition"]))
    for node in nodes:
        held = log_dirs.get(node["id"])
        node["disk_total_bytes"] = held.total_bytes if held else None
        node["disk_used_bytes"] = held.used_bytes if held else None
        node["cordoned"] = held.cordoned if held else None
        node["log_dirs"] = [
            {
                "path": disk.path,
                "total_bytes": disk.total_bytes,
                "usable_bytes": disk.usable_bytes,
                "replica_count": disk.replicas,
                "replica_bytes": sum(disk.held.values()),
                "cordoned": disk.cordoned,
            }
            for disk in (held.disks if held else ())
        ]


def _add_moves(topics: list[dict[str, Any]], moving: Mapping[Key, InFlight]) -> None:
    """Put into partitions that move what their replicas do not tell: which come, and which go."""
    for topic in topics:
        for partition in topic.get("partitions", ()):
            move = moving.get((topic["name"], partition["partition"]))
            if move is not None:
                partition["adding_replicas"] = sorted(move.adding)
                partition["removing_replicas"] = sorted(move.removing)


def _findings(partitions: list[Partition]) -> dict[str, list[Partition]]:
    """Kafka's own terms: its metrics UnderReplicatedPartitions, UnderMinIsr, AtMinIsr, OfflinePartitionsCount.

    They count no more than the replicas that there are (C(Partition.needed)). Where min.insync.replicas is not known, a
    partition is neither under nor at it.
    """
    return {
        "under_replicated": [p for p in partitions if len(p.isr) < len(p.replicas)],
        "under_min_isr": [p for p in partitions if len(p.isr) < p.needed],
        "at_min_isr": [p for p in partitions if p.min_insync and len(p.isr) == p.needed],
        "offline": [p for p in partitions if p.leader is None],
        "not_preferred_leader": [p for p in partitions if p.replicas and p.leader != p.replicas[0]],
    }


def _partition(partition: Partition) -> dict[str, Any]:
    return {
        "topic": partition.topic,
        "partition": partition.index,
        "leader": partition.leader,
        "replicas": list(partition.replicas),
        "isr": list(partition.isr),
    }


def _offline(partition: Partition) -> dict[str, Any]:
    return {
        **_partition(partition),
        "eligible_leaders": None if partition.eligible is None else list(partition.eligible),
        "last_known_leaders": None if partition.last_known is None else list(partition.last_known),
    }


def _topics(partitions: Iterable[Partition], detail: bool, moving: Mapping[Key, InFlight]) -> list[dict[str, Any]]:
    by_name: dict[str, list[Partition]] = {}
    for partition in partitions:
        by_name.setdefault(partition.topic, []).append(partition)
    described = []
    for name in sorted(by_name):
        found = by_name[name]
        factors = sorted({len(p.replicas) for p in without_adding(found, moving.values())})
        topic: dict[str, Any] = {
            "name": name,
            "partition_count": len(found),
            # The smallest is what can be relied on.
            "replication_factor": factors[0],
            "replication_factors": factors,
            "min_insync_replicas": found[0].min_insync,
            "internal": found[0].internal,
        }
        if detail:
            topic["partitions"] = [_partition(p) for p in found]
        described.append(topic)
    return described


def _nodes(snapshot: Snapshot) -> list[dict[str, Any]]:
    nodes = []
    for broker in snapshot.brokers:
        preferred = [p for p in snapshot.partitions if p.replicas and p.replicas[0] == broker.id]
        away = sum(p.leader != broker.id for p in preferred)
        nodes.append(
            dict(
                asdict(broker),
                replicas=sum(broker.id in p.replicas for p in snapshot.partitions),
                leaders=sum(p.leader == broker.id for p in snapshot.partitions),
                preferred_leaders=len(preferred),
                # As in leader.imbalance.per.broker.percentage: of those that prefer this broker, led by others.
                imbalance_percent=round(100.0 * away / len(preferred), 1) if preferred else 0.0,
            )
        )
    return nodes


def _quorum(quorum: Quorum | None) -> dict[str, Any] | None:
    if quorum is None:
        return None
    found = asdict(quorum)
    # Kafka lists them in no order; the same cluster must read the same way twice.
    members = {part: sorted(found[part], key=lambda member: int(member["id"])) for part in ("voters", "observers")}
    return {**found, **members}
