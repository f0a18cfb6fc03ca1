# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on the disks of the hosts.

What disks may hold is decided by the format guard alone; here its refusals only come earlier and together with
everything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.guards.format import format_plan
from ansible_collections.streamops.kafka.plugins.plugin_utils.guards.format_refusals import of_disks
from ansible_collections.streamops.kafka.plugins.plugin_utils.guards.zookeeper import Server, zookeeper_refusals
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.nodes import ZOOKEEPER_MODE
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.zookeeper_nodes import ROLE
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.host import Host, by_cluster
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.violation import ERROR, WARNING, Violation

# Row of the table -> kinds of the format guard's refusals. Left out: what B1 and B21 say already, and whether an empty
# broker is a new one, which only the running cluster knows.
REFUSALS = {
    "node_id": "B2",
    "cluster_id": "B3",
    "zookeeper_data": "B3",
    "kraft_data": "B3",
    "copied_disk": "B3",
    "empty_voter": "B4",
    "new_disk": "B4",
    "unknown_cluster": "B4",
    "running": "B4",
    "vanished": "B4",
    "unreadable": "B27",
    "foreign_data": "B27",
    "cut_format": "B27",
}
_MIB = 1024 * 1024
# Stands for the cluster id of a first installation, which is drawn later.
_TO_BE_DRAWN = "to be drawn"


def held(hosts: Sequence[Host]) -> Iterator[Violation]:
    """B2, B3, B4, B27: the disks of a cluster belong to it, to these nodes and together."""
    for cluster in by_cluster(host for host in hosts if ROLE not in host.roles and not host.only_mirrors).values():
        for refusal in _refusals(cluster):
            rule = REFUSALS.get(refusal["kind"])
            if rule is not None:
                yield Violation(
                    rule, ERROR, (refusal["host"],), refusal["where"], "what is on the disk does not fit",
                    refusal["found"], refusal["allowed"], refusal["way_out"].rstrip("."),
                )  # fmt: skip


def _refusals(cluster: Sequence[Host]) -> list[dict[str, Any]]:
    """What the format guard refuses; with a host that did not answer, what each disk tells by itself."""
    wanted = cluster[0].cluster_id
    nodes = [
        {
            "host": host.name,
            "node_id": host.node_id,
            "roles": host.roles,
            "disks": host.disks,
            "running": host.info["process"]["running"],
            "mode": host.mode,
            "traces": host.info.get("traces") or [],
        }
        for host in cluster
        if host.info is not None
    ]
    if len(nodes) < len(cluster):
        return [refusal for node in nodes for refusal in of_disks(node, wanted, "inventory")]
    replaced = next((host.name for host in cluster if host.emptied), "")
    plan = format_plan(nodes, cluster_id=wanted, drawn=_TO_BE_DRAWN, replacing=replaced)
    return list(plan["refusals"])


def ensembles(hosts: Sequence[Host]) -> Iterator[Violation]:
    """B6: what is on the disks of an ensemble belongs to these servers, and together it is not less than it was."""
    for cluster in by_cluster(hosts).values():
        servers = [
            Server(
                one.name,
                one.node_id,
                one.disks if one.info else None,
                one.emptied,
                (one.info or {}).get("traces") or (),
            )
            for one in cluster
            if ROLE in one.roles and one.member
        ]
        for found in zookeeper_refusals(servers, _data_of_brokers(cluster)):
            yield Violation(
                "B6", ERROR, found.hosts, found.where, found.what, found.found, found.allowed, found.way_out
            )  # fmt: skip


def _data_of_brokers(cluster: Sequence[Host]) -> list[str]:
    """Where brokers of mode zookeeper have data."""
    return [
        f"data of {host.name} in {disk['path']}"
        for host in cluster
        if host.mode == ZOOKEEPER_MODE and ROLE not in host.roles
        for disk in host.disks
        if "broker.id" in (disk["meta_properties"] or {})
    ]


def space(hosts: Sequence[Host]) -> Iterator[Violation]:
    """B27: each data directory has room, for bytes and for files (a partition of Kafka is many files)."""
    for host in hosts:
        for disk in host.disks:
            free, inodes = disk.get("free_bytes"), disk.get("free_inodes")
            for found, allowed, low in (
                (f"{(free or 0) // _MIB} MiB free", f"{host.min_free_mib} MiB or more (preflight_min_free_mib)",
                 free is not None and free < host.min_free_mib * _MIB),
                (f"{inodes} inodes free", f"{host.min_free_inodes} or more (preflight_min_free_inodes)",
                 inodes is not None and inodes < host.min_free_inodes),
            ):  # fmt: skip
                if low:
                    yield Violation(
                        "B27", ERROR, (host.name,), disk["path"], "the file system is nearly full", found, allowed,
                        "make room, lower retention, or consent by adding B27 to preflight_accept", policy=True,
                    )  # fmt: skip


def writable(hosts: Sequence[Host]) -> Iterator[Violation]:
    """B27: no data directory is on a file system that is mounted read-only."""
    for host in hosts:
        for disk in host.disks:
            if disk.get("read_only"):
                yield Violation(
                    "B27", ERROR, (host.name,), disk["path"], "the data directory cannot be written",
                    f"{disk['mount']} is mounted read-only", "a mount that can be written",
                    "see the kernel's log for errors of the disk, then mount it again",
                )  # fmt: skip


def mounts(hosts: Sequence[Host]) -> Iterator[Violation]:
    """B27: with kafka_require_mount no data directory is on the root file system (an unmounted disk is)."""
    for host in hosts:
        for disk in host.disks if host.require_mount else ():
            if disk.get("mount", "/") == "/":
                yield Violation(
                    "B27", ERROR, (host.name,), disk["path"], "the data directory is on the root file system",
                    "no mount above the directory", "a mount of its own (kafka_require_mount)",
                    "mount the disk, or set kafka_require_mount to false",
                )  # fmt: skip


def shared(hosts: Sequence[Host]) -> Iterator[Violation]:
    """B27: data directories of a node are on disks of their own; two on one share its room, speed and failure."""
    for host in hosts:
        places: dict[Any, list[str]] = {}
        for disk in host.disks:
            # What is on the root file system is refused by the rule above already.
            if disk.get("device") is not None and not (host.require_mount and disk["mount"] == "/"):
                places.setdefault(disk["device"], []).append(disk["path"])
        for device, paths in places.items():
            if len(paths) > 1 and (host.require_mount or (host.production and "B27" not in host.accepted)):
                yield Violation(
                    "B27", ERROR if host.require_mount else WARNING, (host.name,), ", ".join(paths),
                    "several data directories of the node are on one file system", f"device {device}",
                    "a disk for each (Kafka spreads partitions over them as if they were)",
                    "mount another disk, or list one directory for each disk",
                )  # fmt: skip


RULES = (held, ensembles, space, writable, mounts, shared)
