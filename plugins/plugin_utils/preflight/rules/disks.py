# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on the disks of the hosts.

What disks may hold is decided by the format guard alone; here its refusals only come earlier and together with
everything else. Left out: what `bad_node_id` and `no_answer` say already, and whether an empty broker is a new one,
which only the running cluster knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...guards.format import format_plan
from ...guards.format_refusals import of_disks
from ...guards.renamed import DATA, SERVICE, Named, Renamed, places, renamed
from ...inventory.nodes import formats_itself
from ...inventory.zookeeper_nodes import ROLE
from ..ensemble_disks import Server, zookeeper_refusals
from ..host import Host, by_cluster
from ..rule import WARNING, Problem, host_rule

_MIB = 1024 * 1024
# Stands for the cluster id of a first installation, which is drawn later.
_TO_BE_DRAWN = "to be drawn"
_SHARED = "several data directories of the node are on one file system"
_SEPARATE = "mount another disk, or list one directory for each disk"
_RENAME = '"To rename a host" in docs/format-guard.md'
_FIX = "see the message: what belongs on the disk decides"


@host_rule(fix=_FIX)
def disk_of_other_node(hosts: Sequence[Host]) -> Iterator[Problem]:
    """A disk has another node id than `kafka_node_id`; both are named."""
    yield from _refused(hosts, "node_id")


@host_rule(fix=_FIX)
def disk_of_other_cluster(hosts: Sequence[Host]) -> Iterator[Problem]:
    """A disk is of another cluster (both ids are named), of the other mode (ZooKeeper or KRaft), or a copied disk."""
    yield from _refused(hosts, "cluster_id", "zookeeper_data", "kraft_data", "copied_disk")


@host_rule(fix=_FIX)
def disk_lost_data(hosts: Sequence[Host]) -> Iterator[Problem]:
    """A controller's disk is empty in a cluster that has started, one data directory is empty beside used ones, or
    all are empty although a node has had data (all disks unmounted)."""
    yield from _refused(hosts, "empty_voter", "new_disk", "unknown_cluster", "running", "vanished")


@host_rule(fix=_FIX)
def unusable_disk(hosts: Sequence[Host]) -> Iterator[Problem]:
    """A data directory cannot be read, or holds foreign files."""
    yield from _refused(hosts, "unreadable", "foreign_data", "cut_format")


def _refused(hosts: Sequence[Host], *kinds: str) -> Iterator[Problem]:
    """The format guard's refusals of these kinds."""
    for cluster in by_cluster(host for host in hosts if ROLE not in host.roles and not host.only_mirrors).values():
        for refusal in _refusals(cluster):
            if refusal["kind"] in kinds:
                yield Problem(
                    refusal["host"],
                    "the content of the disk does not fit",
                    found=refusal["found"],
                    allowed=refusal["allowed"],
                    fix=refusal["fix"].rstrip("."),
                    variable=refusal["where"],
                )


def _refusals(cluster: Sequence[Host]) -> list[dict[str, Any]]:
    """Return what the format guard refuses; with a host that did not answer, what each disk tells by itself."""
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
    joining = [host.name for host in cluster if host.joins]
    plan = format_plan(nodes, cluster_id=wanted, drawn=_TO_BE_DRAWN, replacing=replaced, joining=joining)
    return list(plan["refusals"])


@host_rule(fix=_FIX)
def disks_of_ensemble(hosts: Sequence[Host]) -> Iterator[Problem]:
    """`myid` is another server's, no number, on two servers, or missing beside data; a server has no data in an
    ensemble that has run, or no server has; a transaction log is missing."""
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
        yield from zookeeper_refusals(servers, _data_of_brokers(cluster))


@host_rule(
    variable="inventory_hostname",
    allowed="the name that the node was installed with",
    fix="give the host its old name again, or move its files to the new one first",
)
def renamed_host(hosts: Sequence[Host]) -> Iterator[Problem]:
    """A node of this cluster is on the machine under another name, by its data, its note or its service: under the new
    name it would be installed anew beside them."""
    for name, cluster in by_cluster(host for host in hosts if not host.only_mirrors).items():
        wanted = cluster[0].cluster_id
        found = {disk["meta_properties"]["cluster.id"] for _host, disk in _disks(cluster) if disk["meta_properties"]}
        for one in renamed([_named(host) for host in cluster], name, [wanted] if wanted else sorted(found)):
            where = "; ".join(places(one.traces))
            yield Problem(one.host, _what(one, name), f"{where}", fix=_renaming(one))


@host_rule(
    variable="kafka_cluster_name",
    allowed="the name that the nodes were installed with",
    fix="give the cluster its old name again",
)
def renamed_cluster(hosts: Sequence[Host]) -> Iterator[Problem]:
    """Nodes with data were installed with another `kafka_cluster_name`: under the new name the cluster would have
    another lock, so that two runs could change it at once, and other files."""
    for name, cluster in by_cluster(host for host in hosts if not host.only_mirrors).items():
        by_old: dict[str, list[Host]] = {}
        for host in cluster:
            old = ((host.info or {}).get("installed_as") or {}).get("cluster")
            if old and old not in (name, host.former_cluster) and _named(host).has_data:
                by_old.setdefault(old, []).append(host)
        for old, nodes in by_old.items():
            where = nodes[0].info["installed_as"]["path"] if nodes[0].info else ""
            what = f"the nodes of cluster {name} were installed as nodes of cluster {old}"
            fix = (
                f"set kafka_cluster_name to {old} again; if the new name is wanted, let no run use the old one any "
                f"more, and give this run kafka_accept_former_cluster_name={old}"
            )
            yield Problem(nodes, what, f"{old} in {where}", fix=fix)


def _named(host: Host) -> Named:
    used = any(disk["meta_properties"] or disk.get("myid") is not None or disk["started"] for disk in host.disks)
    return Named(
        host.name,
        host.machine,
        ROLE if ROLE in host.roles else "kafka",
        host.node_id,
        host.info is None or used,
        host.emptied,
        host.beside,
    )


def _what(one: Renamed, cluster: str) -> str:
    if one.kinds == {SERVICE}:
        return f"the service of this node under its old name {one.old} is still on the machine"
    if one.is_same:
        which = f"of cluster {cluster}" if one.is_sure else "of this cluster or another one"
        if one.kinds == {DATA}:
            return f"data of a node with the same id {which} is beside the empty data directory, as {one.old}"
        return f"a node with the same id {which} was installed on the machine as {one.old}"
    return f"cluster {cluster} would be installed anew, and the machine has data of its node {one.old}"


def _renaming(one: Renamed) -> str:
    if one.kinds == {SERVICE}:
        return f"remove it ({_RENAME})"
    fix = f"name the host {one.old} again (ansible_host says where it is), or move its files to the new name, {_RENAME}"
    if one.kinds == {DATA}:
        fix = f"if it is the data of this host, move it back, or {fix}"
    if one.is_sure:
        return f"{fix}. If the cluster is to begin anew, or {one.old} was removed for good, move its files away"
    return f"{fix}. If they are another cluster's, set kafka_cluster_id of this one (kafka-storage random-uuid)"


def _data_of_brokers(cluster: Sequence[Host]) -> list[str]:
    """Return where brokers of mode zookeeper have data."""
    return [
        f"data of {host.name} in {disk['path']}"
        for host in cluster
        if formats_itself(host.roles, host.mode) and ROLE not in host.roles
        for disk in host.disks
        if "broker.id" in (disk["meta_properties"] or {})
    ]


def _disks(hosts: Sequence[Host]) -> Iterator[tuple[Host, Mapping[str, Any]]]:
    return ((host, disk) for host in hosts for disk in host.disks)


@host_rule(fix="free some space, or lower retention", acceptable=True)
def full_disk(hosts: Sequence[Host]) -> Iterator[Problem]:
    """A data directory has less free space than `preflight_min_free_mib` (1024), or room for fewer files than
    `preflight_min_free_inodes` (10,000; a partition is many files)."""
    for host, disk in _disks(hosts):
        for free, least, shown, name in (
            (disk.get("free_bytes"), host.min_free_mib * _MIB, f"{(disk.get('free_bytes') or 0) // _MIB} MiB", "mib"),
            (disk.get("free_inodes"), host.min_free_inodes, f"{disk.get('free_inodes')} inodes", "inodes"),
        ):
            if free is not None and free < least:
                limit = f"{host.min_free_mib} MiB" if name == "mib" else str(host.min_free_inodes)
                allowed = f"{limit} or more (preflight_min_free_{name})"
                yield Problem(host, "the file system is nearly full", f"{shown} free", allowed, variable=disk["path"])


@host_rule(fix="see the kernel's log for errors of the disk, then mount it again")
def read_only_disk(hosts: Sequence[Host]) -> Iterator[Problem]:
    """A data directory is on a file system that is mounted read-only."""
    for host, disk in _disks(hosts):
        if disk.get("read_only"):
            found = f"{disk['mount']} is mounted read-only"
            yield Problem(host, "the data directory cannot be written", found, variable=disk["path"])


@host_rule(
    allowed="a mount of its own (kafka_require_mount)",
    fix="mount the disk, or set kafka_require_mount to false",
)
def unmounted_disk(hosts: Sequence[Host]) -> Iterator[Problem]:
    """With `kafka_require_mount` a data directory is on the root file system, or two of a node on one file system."""
    for host, disk in _disks([host for host in hosts if host.require_mount]):
        if disk.get("mount", "/") == "/":
            what = "the data directory is on the root file system"
            yield Problem(host, what, "no mount above the directory", variable=disk["path"])
    # What is on the root file system is refused already.
    for host, device, paths in _shared(hosts, lambda host, disk: host.require_mount and disk["mount"] != "/"):
        yield Problem(host, _SHARED, f"device {device}", fix=_SEPARATE, variable=", ".join(paths))


@host_rule(
    allowed="a disk for each (Kafka spreads partitions over them as if they were)",
    fix=_SEPARATE,
    level=WARNING,
    acceptable=True,
)
def shared_disk(hosts: Sequence[Host]) -> Iterator[Problem]:
    """In production two data directories of a node are on one file system: they share its room, speed and failure."""
    for host, device, paths in _shared(hosts, lambda host, _disk: host.production and not host.require_mount):
        yield Problem(host, _SHARED, f"device {device}", variable=", ".join(paths))


def _shared(hosts: Sequence[Host], judged: Any) -> Iterator[tuple[Host, Any, list[str]]]:
    """The devices that hold several data directories of a node, of those disks that are judged."""
    for host in hosts:
        places: dict[Any, list[str]] = {}
        for disk in host.disks:
            if disk.get("device") is not None and judged(host, disk):
                places.setdefault(disk["device"], []).append(disk["path"])
        for device, paths in places.items():
            if len(paths) > 1:
                yield host, device, paths
