# Private to this collection.
# SPDX-License-Identifier: GPL-3.0-or-later
"""The JSON forms of a reassignment: the snapshot that cluster_info returns, wishes, and Kafka's own reassignment file.

Every fault of a document is told at once, each with where it is, what was found and what is allowed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._errors import RefusedError
from ansible_collections.streamops.kafka.plugins.module_utils._reassign_model import (
    STATES,
    BrokerSpec,
    Change,
    Cluster,
    Wish,
)

_WISHES = frozenset(
    "rebalance drain add replace replication_factor fix_racks assignment rack_rule leaders".split()  # noqa: SIM905
)


def compact(found: dict[str, Any]) -> Any:
    """For json.load(object_hook=...): sound partitions become rows at once, a tenth of the memory of their dicts."""
    if "replicas" in found and "partition" in found and "partitions" not in found:
        row, faults = _row(found)
        return found if faults else row
    return found


def cluster_of(data: Any) -> Cluster:
    """A snapshot as a cluster; raises RefusedError with all that is wrong with it."""
    faults: list[str] = []
    if not isinstance(data, Mapping) or not isinstance(data.get("nodes"), Sequence) or "topics" not in data:
        raise RefusedError("Snapshot", ["is not an object with nodes and topics, as cluster_info returns them"])
    brokers = [broker for entry in data["nodes"] for broker in _broker(entry, faults)]
    listed = [broker.id for broker in brokers]
    faults += [
        f"nodes: broker {b} is listed more than once" for b in sorted({b for b in listed if listed.count(b) > 1})
    ]
    columns = _Columns()
    for entry in sorted(_named(data["topics"], faults), key=lambda topic: str(topic["name"])):
        columns.add(entry, faults)
    if faults:
        raise RefusedError("Snapshot", faults[:50])
    return columns.cluster(tuple(sorted(brokers, key=lambda broker: broker.id)))


def _named(topics: Any, faults: list[str]) -> list[Mapping[str, Any]]:
    found = []
    for place, entry in enumerate(topics if isinstance(topics, Sequence) else ()):
        if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
            faults.append(f"topics[{place}]: has no name")
        elif not isinstance(entry.get("partitions"), Sequence):
            faults.append(f"topic {entry['name']}: has no partitions; take the snapshot with include_partitions")
        else:
            found.append(entry)
    names = [entry["name"] for entry in found]
    if len(set(names)) < len(names):
        faults.append("topics: a topic is listed more than once")
    return found


def _broker(entry: Any, faults: list[str]) -> Iterable[BrokerSpec]:
    if not isinstance(entry, Mapping) or not _whole(entry.get("id")):
        faults.append(f"nodes: {entry!r} has no id that is a whole number, 0 or more")
        return []
    name = f"nodes: broker {entry['id']}"
    state = entry.get("state") or ("dead" if entry.get("fenced") else "alive")
    rack = entry.get("rack") or None
    weight = entry.get("weight", 1)
    if state not in STATES:
        faults.append(f"{name}: state {state!r} is not one of {', '.join(STATES)}")
    if rack is not None and not isinstance(rack, str):
        faults.append(f"{name}: rack {rack!r} is not a string")
    if isinstance(weight, bool) or not isinstance(weight, (int, float)):
        faults.append(f"{name}: weight {weight!r} is not a number")
        weight = 1
    sizes = [entry.get("disk_limit_bytes"), entry.get("disk_used_bytes")]
    if any(size is not None and not _whole(size) for size in sizes):
        faults.append(f"{name}: disk_limit_bytes and disk_used_bytes must be whole numbers of bytes")
        sizes = [None, None]
    return [BrokerSpec(entry["id"], rack, state, weight, sizes[0], sizes[1])]


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _row(entry: Any) -> tuple[tuple[Any, ...], list[str]]:
    """A partition as a row, and what is wrong with it.

    A row: number, replicas, in-sync replicas (None = all), leader, bytes, bytes/s written.
    """
    if not isinstance(entry, Mapping) or not _whole(entry.get("partition")):
        return (), [f"{entry!r} has no partition number"]
    replicas, isr = entry.get("replicas"), entry.get("isr")
    faults = []
    if not isinstance(replicas, Sequence) or not replicas or not all(map(_whole, replicas)):
        return (), [f"partition {entry['partition']}: replicas {replicas!r} are not a list of broker ids"]
    if len(set(replicas)) < len(replicas):
        faults.append(f"partition {entry['partition']}: replicas {replicas!r} name a broker more than once")
    if isr is not None and not (isinstance(isr, Sequence) and set(isr) <= set(replicas)):
        faults.append(f"partition {entry['partition']}: isr {isr!r} is not a part of its replicas {replicas!r}")
    size, rate = entry.get("size_bytes"), entry.get("write_rate")
    if size is not None and not _whole(size):
        faults.append(f"partition {entry['partition']}: size_bytes {size!r} is not a whole number of bytes")
    if rate is not None and (isinstance(rate, bool) or not isinstance(rate, (int, float)) or rate < 0):
        faults.append(f"partition {entry['partition']}: write_rate {rate!r} is not a number of bytes per second")
    synced = None if isr is None or len(isr) == len(replicas) else tuple(isr)
    return (entry["partition"], tuple(replicas), synced, entry.get("leader", replicas[0]), size, rate), faults


class _Columns:
    """Partitions as columns, topic after topic."""

    def __init__(self) -> None:
        self.topics: list[str] = []
        self.min_insync: list[int] = []
        self.topic_of: list[int] = []
        self.rows: list[tuple[Any, ...]] = []

    def add(self, topic: Mapping[str, Any], faults: list[str]) -> None:
        """A topic with its partitions."""
        rows = []
        for entry in topic["partitions"]:
            row, found = (entry, []) if isinstance(entry, tuple) else _row(entry)
            faults += [f"topic {topic['name']}: {fault}" for fault in found]
            rows += [row] if row else []
        rows.sort(key=lambda row: int(row[0]))
        if len({row[0] for row in rows}) < len(rows):
            faults.append(f"topic {topic['name']}: a partition is listed more than once")
        least = topic.get("min_insync_replicas", 0)
        if not _whole(least):
            faults.append(f"topic {topic['name']}: min_insync_replicas {least!r} is not a whole number")
        self.topic_of += [len(self.topics)] * len(rows)
        self.topics.append(topic["name"])
        self.min_insync.append(least)
        self.rows += rows

    def cluster(self, brokers: tuple[BrokerSpec, ...]) -> Cluster:
        """The columns; those that no partition has are left out."""
        sized = any(row[4] is not None for row in self.rows)
        rated = any(row[5] is not None for row in self.rows)
        synced = all(row[2] is None for row in self.rows)
        return Cluster(
            brokers=brokers,
            topics=self.topics,
            min_insync=self.min_insync,
            topic_of=self.topic_of,
            numbers=[row[0] for row in self.rows],
            replicas=[row[1] for row in self.rows],
            leaders=[row[3] for row in self.rows],
            isr=None if synced else [row[1] if row[2] is None else row[2] for row in self.rows],
            sizes=[row[4] or 0 for row in self.rows] if sized else None,
            write_rates=[float(row[5] or 0) for row in self.rows] if rated else None,
        )


def wish_of(data: Mapping[str, Any]) -> Wish:
    """A wish from plain data; raises RefusedError with all that is wrong with its form."""
    faults = [f"{name}: is no wish; there are {', '.join(sorted(_WISHES))}" for name in sorted(set(data) - _WISHES)]
    drain = data.get("drain") or []
    faults += [f"drain: {broker!r} is not a broker id" for broker in drain if not _whole(broker)]
    replace = {}
    for old, new in (data.get("replace") or {}).items():
        if str(old).isdigit() and _whole(new):
            replace[int(old)] = new
        else:
            faults.append(f"replace: {old!r} by {new!r} are not two broker ids")
    factors = data.get("replication_factor") or {}
    faults += [
        f"replication_factor: {f!r} for topic {t} is not a whole number" for t, f in factors.items() if not _whole(f)
    ]
    add = [one for entry in data.get("add") or [] for one in _broker({"id": entry} if _whole(entry) else entry, faults)]
    assignment = None if data.get("assignment") is None else assignment_of(data["assignment"], faults)
    if faults:
        raise RefusedError("Wish", faults)
    return Wish(
        rebalance=bool(data.get("rebalance")),
        drain=tuple(drain),
        add=tuple(add),
        replace=replace,
        replication_factor=dict(factors),
        fix_racks=bool(data.get("fix_racks")),
        assignment=assignment,
        rack_rule=data.get("rack_rule") or "strict",
        leaders=data.get("leaders") or "auto",
    )


def assignment_of(data: Any, faults: list[str]) -> list[tuple[str, int, tuple[int, ...]]]:
    """Kafka's reassignment file: version 1, partitions with topic, partition, replicas."""
    if not isinstance(data, Mapping) or data.get("version", 1) != 1 or not isinstance(data.get("partitions"), Sequence):
        faults.append("assignment: is not Kafka's reassignment file (version 1, with partitions)")
        return []
    found = []
    for place, entry in enumerate(data["partitions"]):
        sound = isinstance(entry, Mapping) and isinstance(entry.get("topic"), str) and _whole(entry.get("partition"))
        if not sound or not isinstance(entry.get("replicas"), Sequence) or not all(map(_whole, entry["replicas"])):
            faults.append(f"assignment: partitions[{place}] needs topic, partition and replicas (a list of broker ids)")
        elif any(where != "any" for where in entry.get("log_dirs") or ()):
            faults.append(f"assignment: partitions[{place}] names log_dirs, which moves between disks of a broker need")
        else:
            found.append((entry["topic"], entry["partition"], tuple(entry["replicas"])))
    return found


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
