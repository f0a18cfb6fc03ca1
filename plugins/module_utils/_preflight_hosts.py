# Private to this collection.
# SPDX-License-Identifier: GPL-3.0-or-later
"""Preflight rules on what only the hosts can tell, applied to the node_info of all of them at once.

What disks may hold is decided by the format guard alone; here its refusals only come earlier and together with
everything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._format_guard import format_plan
from ansible_collections.streamops.kafka.plugins.module_utils._format_refusals import of_disks
from ansible_collections.streamops.kafka.plugins.module_utils._preflight_violation import ERROR, WARNING, Violation

# Row of the table -> kinds of the format guard's refusals. Left out: what B1 and B21 say already, and whether an empty
# broker is a new one, which only the running cluster knows.
REFUSALS = {
    "node_id": "B2",
    "cluster_id": "B3",
    "zookeeper_data": "B3",
    "copied_disk": "B3",
    "empty_voter": "B4",
    "new_disk": "B4",
    "unknown_cluster": "B4",
    "running": "B4",
    "unreadable": "B27",
    "foreign_data": "B27",
    "cut_format": "B27",
}
# Oldest Java that a broker of a line starts with (KIP-1013 for 4.x; 3.9 still runs on 8, which KIP-750 deprecated).
MIN_JAVA = {"4": 17, "3": 11}
_MIB = 1024 * 1024
# Stands for the cluster id of a first installation, which is drawn later.
_TO_BE_DRAWN = "to be drawn"


@dataclass(frozen=True)
class Host:
    """One node of the play and what it answered; info is the result of node_info or None when there is none.

    min_free_mib -- free space each data directory needs; require_mount -- whether each must be on a mount of its own;
    installs_java -- whether the play brings Java where there is none.
    """

    name: str
    cluster: str
    machine: str
    node_id: int | None
    roles: tuple[str, ...]
    cluster_id: str
    version: str
    min_free_mib: int
    require_mount: bool
    installs_java: bool
    accepted: tuple[str, ...]
    info: Mapping[str, Any] | None

    @property
    def disks(self) -> Sequence[Mapping[str, Any]]:
        """What it said about its data directories; nothing when it did not answer."""
        return self.info["disks"] if self.info else ()


def unanswered(hosts: Sequence[Host]) -> Iterator[Violation]:
    """B21: every host of the play answered."""
    for host in hosts:
        if host.info is None:
            yield Violation(
                "B21", ERROR, (host.name,), "", "the host did not answer what is on it", "no answer",
                "an answer from every host of the play", "make the host reachable, or take it out of the inventory",
            )  # fmt: skip


def disks(hosts: Sequence[Host]) -> Iterator[Violation]:
    """B2, B3, B4, B27: the disks of a cluster belong to it, to these nodes and together."""
    for name in dict.fromkeys(host.cluster for host in hosts):
        for refusal in _refusals([host for host in hosts if host.cluster == name]):
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
        }
        for host in cluster
        if host.info is not None
    ]
    if len(nodes) < len(cluster):
        return [refusal for node in nodes for refusal in of_disks(node, wanted, "inventory")]
    refusals: list[dict[str, Any]] = format_plan(nodes, cluster_id=wanted, drawn=_TO_BE_DRAWN)["refusals"]
    return refusals


def space(hosts: Sequence[Host]) -> Iterator[Violation]:
    """B27: each data directory has room."""
    for host in hosts:
        for disk in host.disks:
            free = disk.get("free_bytes")
            if free is not None and free < host.min_free_mib * _MIB:
                yield Violation(
                    "B27", ERROR, (host.name,), disk["path"], "the file system is nearly full",
                    f"{free // _MIB} MiB free", f"{host.min_free_mib} MiB or more (preflight_min_free_mib)",
                    "make room, lower retention, or consent by adding B27 to preflight_accept", policy=True,
                )  # fmt: skip


def mounts(hosts: Sequence[Host]) -> Iterator[Violation]:
    """B27: with kafka_require_mount no data directory lies on the root file system (an unmounted disk looks so)."""
    for host in hosts:
        for disk in host.disks if host.require_mount else ():
            if disk.get("mount", "/") == "/":
                yield Violation(
                    "B27", ERROR, (host.name,), disk["path"], "the data directory is on the root file system",
                    "no mount above the directory", "a mount of its own (kafka_require_mount)",
                    "mount the disk, or set kafka_require_mount to false",
                )  # fmt: skip


def ports(hosts: Sequence[Host]) -> Iterator[Violation]:
    """B20: each port is free or held by the node itself."""
    owners = {
        (host.machine, host.info["process"]["pid"]): host.name
        for host in hosts
        if host.info is not None and host.info["process"]["running"]
    }
    for host in hosts:
        for port, holder in (host.info["ports"] if host.info is not None else {}).items():
            if holder is None or holder["ours"]:
                continue
            # A running node's port whose owner cannot be seen is most likely its own: no reason to stop everything.
            unseen = holder["pid"] is None and host.info is not None and host.info["process"]["running"]
            yield Violation(
                "B20", WARNING if unseen else ERROR, (host.name,), f"port {port}", "another process has the port",
                _holder(holder, owners.get((host.machine, holder["pid"]))), "a free port, or the node itself",
                "stop that process, or give the listener another port",
            )  # fmt: skip


def _holder(holder: Mapping[str, Any], node: str | None) -> str:
    if holder["pid"] is None:
        return str(holder.get("note") or "a process of another user")
    command = str(holder["command"])
    shown = command if len(command) <= 80 else f"{command[:77]}..."
    return f"pid {holder['pid']} ({f'node {node}' if node else shown})"


def java(hosts: Sequence[Host]) -> Iterator[Violation]:
    """B29: Java is there and new enough for the Kafka version."""
    for host in hosts:
        if host.info is None:
            continue
        found, least = host.info["java"], MIN_JAVA.get(host.version.split(".")[0], max(MIN_JAVA.values()))
        allowed = f"Java {least} or newer for Kafka {host.version}"
        way_out = "install it, or set kafka_java_home to one that is there"
        if found["error"] and not host.installs_java:
            yield Violation(
                "B29", ERROR, (host.name,), "kafka_java_home", "no usable Java", found["error"], allowed, way_out
            )
        elif found["version"] is not None and found["version"] < least:
            shown = f"Java {found['version']} ({found['path']})"
            yield Violation(
                "B29", ERROR, (host.name,), "kafka_java_home", "Java is too old", shown, allowed, way_out
            )  # fmt: skip


def java_mixed(hosts: Sequence[Host]) -> Iterator[Violation]:
    """B29: nodes of a cluster on different Java lines behave differently under load."""
    for cluster in dict.fromkeys(host.cluster for host in hosts):
        by_major: dict[int, list[str]] = {}
        for host in hosts:
            if host.cluster == cluster and host.info is not None and host.info["java"]["version"]:
                by_major.setdefault(host.info["java"]["version"], []).append(host.name)
        if len(by_major) > 1:
            found = "; ".join(f"{major} on {', '.join(names)}" for major, names in sorted(by_major.items()))
            yield Violation(
                "B29", WARNING, tuple(name for names in by_major.values() for name in names), "kafka_java_home",
                f"the nodes of cluster {cluster} run on different Java versions", found, "one for all nodes",
                "install the same Java on all nodes",
            )  # fmt: skip


RULES = (unanswered, disks, space, mounts, ports, java, java_mixed)
