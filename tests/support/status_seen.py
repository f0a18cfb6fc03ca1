# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tasks of status.yml may see, made up: a cluster that is hurt, one that does not answer, a mirror behind."""

from __future__ import annotations

from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._mirror_drill.model import Counts, Outcome
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_data import (
    cluster_part,
    mirror_part,
    status_data,
)

MADE = "2026-11-24T12:00:00Z"


def finding(kind: str, severity: str, what: str, **more: str) -> dict[str, str]:
    """A finding with its figures and its next step."""
    return {
        "kind": kind,
        "severity": severity,
        "what": what,
        "found": "2",
        "allowed": "0",
        "next_step": "look at the log of this broker, then: ansible-playbook streamops.kafka.site -i INVENTORY",
        **more,
    }


def nodes(count: int, name: str = "kafka{}.example.com") -> list[dict[str, Any]]:
    """Nodes of an inventory, brokers and controllers in one."""
    return [
        {"host": name.format(one), "node_id": one, "roles": ["broker", "controller"], "version": "4.3.1"}
        for one in range(1, count + 1)
    ]


def broker(number: int, **more: Any) -> dict[str, Any]:
    """A registered broker as cluster_info tells of it."""
    return {
        "id": number, "host": f"kafka{number}.example.com", "port": 9092, "rack": "abc"[number % 3], "fenced": False,
        "replicas": 120, "leaders": 40, "preferred_leaders": 40, "imbalance_percent": 0.0,
        "disk_total_bytes": 2_000_000_000_000, "disk_used_bytes": 640_000_000_000,
        "log_dirs": [{"path": f"/var/lib/kafka/{name}", "total_bytes": 10**12, "usable_bytes": free * 10**9,
                      "replica_count": 60, "replica_bytes": 5} for name, free in (("a", 700), ("b", 660))], **more,
    }  # fmt: skip


def partition(topic: str, number: int, isr: list[int], leader: int | None = 1) -> dict[str, Any]:
    """A partition on the brokers 1, 2 and 3."""
    return {"topic": topic, "partition": number, "leader": leader, "replicas": [1, 2, 3], "isr": isr}


def topic(name: str, **more: Any) -> dict[str, Any]:
    """A topic of three partitions."""
    return {
        "name": name, "partition_count": 3, "replication_factor": 3, "replication_factors": [3],
        "min_insync_replicas": 2, "internal": False,
        "largest_partition": {"partition": 0, "size_bytes": 4_200_000_000}, **more,
    }  # fmt: skip


def info(**more: Any) -> dict[str, Any]:
    """What cluster_health returns as cluster."""
    voters = [{"id": one, "directory_id": None, "log_end_offset": 900, "lag": 0, "last_caught_up_ms_ago": 120}
              for one in (1, 2)]  # fmt: skip
    late = {"id": 3, "directory_id": None, "log_end_offset": 411, "lag": 489, "last_caught_up_ms_ago": 184_000}
    found = {
        "cluster_id": "vPeOCWypqUOSepEvx0cbog",
        "controller_id": 1,
        "nodes": [broker(1), broker(2), broker(3, fenced=True, disk_total_bytes=None, leaders=0, log_dirs=[])],
        "quorum": {"leader_id": 1, "leader_epoch": 7, "voters": [*voters, late], "observers": [], "error": None},
        "topics": [topic("orders"), topic("__consumer_offsets", internal=True), topic("payments.card")],
        "offline": [partition("orders", 2, [3], None)],
        "under_min_isr": [partition("orders", 1, [1])],
        "under_replicated": [partition("orders", number, [1, 2][: 3 - number]) for number in (0, 1)],
        "at_min_isr": [],
        "not_preferred_leader": [],
        **more,
    }
    lists = ("offline", "under_min_isr", "under_replicated", "at_min_isr", "not_preferred_leader")
    counts = {name: len(found[name]) for name in lists}
    return {**found, "counts": {"nodes": 3, "fenced_nodes": 1, "topics": 3, "partitions": 9, **counts}}


def group(name: str, lag: int | None, **more: Any) -> dict[str, Any]:
    """A group of one topic."""
    lags = (("known", lag), ("known", 0), ("no_answer", None))
    rows = [{"partition": index, "state": state, "lag": known} for index, (state, known) in enumerate(lags)]
    return {
        "name": name, "type": "consumer", "state": "Stable", "member_count": 3, "error": None, "lag": lag,
        "lag_unknown": 1, "topics": [{"name": "orders", "partitions": rows}], **more,
    }  # fmt: skip


GROUPS = {
    "groups": [
        group("billing", 0, lag_unknown=0),
        group("search-index", 1_204_311),
        group("audit", None, error="the coordinator 3 did not answer", topics=[]),
    ],
    "silent_brokers": [{"id": 3, "why": "timed out"}],
    "lag": 1_204_311,
    "lag_unknown": 1,
}
FINDINGS = [
    finding("under_replicated", "degraded", "2 of 9 partitions under-replicated"),
    finding("partitions_offline", "down", "1 of 9 partitions without a leader"),
    finding("known_vulnerability", "note", "4.3.1 on 3 nodes has 1 known vulnerability"),
]
DRILL = Outcome("2026-01-31T02:10:00Z", "alice", counts=Counts(2000, 0, 12, 98, 0, 0), rto_read=31.4, rto_written=31.2)
LOOK = {
    "flow": "dc_a->dc_b", "lag": 240_000, "partitions_done": 5, "partitions_total": 9, "heartbeat_age_ms": 1200,
    "checkpoint_age_ms": None,
    "topics": [{"source": "orders", "target": "dc_a.orders", "target_partitions": 3, "lag": 240_000, "partitions": []},
               {"source": "new", "target": "dc_a.new", "target_partitions": None, "lag": 0, "partitions": []}],
}  # fmt: skip


def hurt(name: str = "orders", **more: Any) -> dict[str, Any]:
    """The part of a cluster that is DOWN and answers."""
    health = {"status": "DOWN", "findings": FINDINGS, "cluster": info(**more)}
    rows = [{**topic("orders"), "partitions": [partition("orders", one, [1, 2, 3]) for one in range(3)]}]
    servers = ["kafka1.example.com:9092", "kafka2.example.com:9092"]
    return cluster_part(name, servers, nodes(3), health, {"topics": rows}, GROUPS)


def silent(name: str = "billing") -> dict[str, Any]:
    """The part of a cluster that does not answer."""
    what = "the cluster does not answer: no bootstrap server answered (kafka1:9092: Connection refused)"
    health = {"status": "DOWN", "findings": [finding("cluster_unreachable", "down", what)], "cluster": None}
    unknown = [{**one, "version": None} for one in nodes(3)]
    return cluster_part(name, ["kafka1:9092"], unknown, health)


def refused(name: str = "audit") -> dict[str, Any]:
    """The part of a cluster that refused the login."""
    return cluster_part(name, ["kafka1:9093"], nodes(1), {"failed": True, "msg": "the login of admin was refused"})


def behind() -> dict[str, Any]:
    """The part of a mirror that is behind."""
    found = [finding("mirror_behind", "degraded", "it is 240000 records behind")]
    drilled = {"drill": DRILL.as_data(), "days": 12}
    return {"flow": "dc_a->dc_b", **mirror_part({"status": "DEGRADED", "findings": found}, LOOK, drilled)}


def well(name: str = "quiet") -> dict[str, Any]:
    """The part of a cluster that is OK, without a topic and without a group."""
    lists: dict[str, Any] = {key: [] for key in ("offline", "under_min_isr", "under_replicated", "topics")}
    health = {"status": "OK", "findings": [], "cluster": info(**lists, nodes=[broker(one) for one in (1, 2, 3)])}
    return cluster_part(name, ["kafka1:9092"], nodes(3), health, {}, {**GROUPS, "groups": [], "silent_brokers": []})


def everything() -> dict[str, Any]:
    """A report of four clusters and a mirror."""
    return status_data([hurt(), silent(), refused(), well()], [behind()], MADE)
