# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The cluster of which the inventory is written, and what belongs to it of all that machines told."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Union

from ...module_utils._core.addresses import host_port, is_address, is_loopback
from ...module_utils._core.names import capped
from ...module_utils._node.installed import KAFKA, MIRROR, ZOOKEEPER
from ..findings import NOTE, REFUSE, Finding
from ..guards.foreign import ForeignNode, client_ports, connected, member_hosts
from .asked import Answer
from .clusters import ForeignCluster
from .listeners import words
from .screen import Looked

#: What a kafka_cluster_name may not have (rule bad_name of preflight).
_UNNAMED = re.compile(r"[^A-Za-z0-9._-]+")
#: The host of a listener that is bound to all addresses, in listeners.
_EVERYWHERE = re.compile(r"://(0\.0\.0\.0|\[::\])?:")


def chosen(look: Looked, cluster_id: str) -> Union[ForeignCluster, Finding]:
    """Return the cluster of Kafka that is meant, or why none is.

    cluster_id -- that somebody named; empty where there is only one
    """
    clusters = {cluster.cluster_id or cluster.title: cluster for cluster in look.clusters if cluster.product == KAFKA}
    named = ", ".join(clusters) or "none"
    if cluster_id:
        fix = f"name one of these: {named}"
        return clusters.get(cluster_id, Finding(REFUSE, f"no cluster {cluster_id} runs on these hosts", fix))
    if len(clusters) == 1:
        return next(iter(clusters.values()))
    if not clusters:
        fix = "name the hosts of the cluster in this inventory, and run this again as root"
        return Finding(REFUSE, "no cluster of Kafka that others installed runs on these hosts", fix)
    fix = f"name one of them with -e kafka_adopt_cluster=ID: {named}"
    return Finding(REFUSE, f"{len(clusters)} clusters run on these hosts, and one inventory holds one of them", fix)


def part_of(look: Looked, cluster: ForeignCluster, addresses: Mapping[str, object]) -> Looked:
    """Return what belongs to a cluster: its nodes, and with ZooKeeper the ensemble that it names.

    addresses -- by host its ansible_host, where it has one
    """
    ensembles = [
        other for other in look.clusters if other.product == ZOOKEEPER and _uses(cluster, other, look, addresses)
    ]
    clusters = [cluster, *ensembles]
    nodes = [node for member in clusters for node in member.nodes]
    hosts = {node.host for node in nodes}
    machines = {host: machine for host, machine in look.machines.items() if host in hosts}
    return replace(look, machines=machines, nodes=nodes, clusters=clusters)


def _uses(cluster: ForeignCluster, ensemble: ForeignCluster, look: Looked, addresses: Mapping[str, object]) -> bool:
    """Tell whether an ensemble is that of a cluster: a broker names one of its servers, by any of its names.

    That no other ensemble was looked at is no reason: that of the cluster may run where nobody looked.
    """
    servers = [node.told["properties"] for node in ensemble.nodes]
    hosts = {node.host for node in ensemble.nodes}
    names = {*hosts, *(str(addresses[host]) for host in hosts if host in addresses)}.union(*map(member_hosts, servers))
    ports = set[str]().union(*map(client_ports, servers))
    machines = {_machine(look, host) for host in hosts}
    named = (
        any(_is_called(host, name) for name in names)
        if not is_loopback(host)
        else _machine(look, node.host) in machines
        for node in cluster.nodes
        for host, port in connected(node.told["properties"])
        if port in ports
    )
    return cluster.mode.startswith("zookeeper") and any(named)


def _machine(look: Looked, host: str) -> str:
    return str(look.machines[host].get("machine") or host)


def _is_called(host: str, name: str) -> bool:
    """Tell whether two names may be those of one host: a short one is the first part of a long one."""
    (label, _dot, domain), (other, _dot, other_domain) = (text.lower().partition(".") for text in (host, name))
    is_short = not (domain and other_domain) and not (is_address(host) or is_address(name))
    return host.lower() == name.lower() or (is_short and label == other)


def gaps(part: Looked) -> list[Finding]:
    """Return why an inventory of these nodes would not be true: what it has to say is not known, or not of others."""
    findings = []
    for cluster in part.clusters:
        fix = "run as root, or as the user that runs the process"
        if cluster.product == KAFKA and not cluster.cluster_id:
            findings.append(Finding(REFUSE, f"nothing tells the id of {cluster.title}", fix))
        if cluster.mode.startswith("zookeeper") and all(other.product != ZOOKEEPER for other in part.clusters):
            findings.append(_no_ensemble(cluster))
        for node in cluster.nodes:
            if not node.told["properties"]:
                findings.append(Finding(REFUSE, f"the properties of {node.title} are not known", fix))
        if cluster.ours:
            hosts = ", ".join(node.host for node in cluster.ours)
            what = f"{cluster.title} is taken over in part ({hosts}), by an inventory that exists"
            findings.append(Finding(REFUSE, what, "go on with that one"))
    return findings


def _no_ensemble(cluster: ForeignCluster) -> Finding:
    servers = sorted({host_port(*server) for node in cluster.nodes for server in connected(node.told["properties"])})
    what = f"{cluster.title}: none of these hosts is known to run its ensemble ({capped(servers) or 'not known'})"
    fix = "add the hosts of these servers, each by the name that zookeeper.connect has, or with that as ansible_host"
    return Finding(REFUSE, what, f"{fix}; run this as root")


def left_out(look: Looked, cluster: ForeignCluster) -> list[Finding]:
    """Tell which mirrors run beside a cluster: what they mirror, people write."""
    fix = "write mirror_flows and the group mirror_makers by hand (docs/mirroring.md)"
    return [
        Finding(NOTE, f"{node.title} is not in the inventory of {cluster.title}, and goes on as it is", fix)
        for node in look.nodes
        if node.product == MIRROR and not node.is_contained
    ]


def cluster_name(directory: str) -> str:
    """Return the kafka_cluster_name of an inventory: the name of its directory."""
    return _UNNAMED.sub("-", PurePath(directory).name).strip("-_.") or "kafka"


def canonical_name(node: ForeignNode, told: Answer) -> str:
    """Return what the machine of a broker calls itself, where that is what its cluster was told; else nothing.

    Where it is bound to all addresses and advertises nothing, Kafka advertises that name.
    """
    properties = node.told["properties"]
    bound: Sequence[str] = words(properties, "listeners")
    if properties.get("advertised.listeners") or not all(_EVERYWHERE.search(listener) for listener in bound):
        return ""
    servers = (broker.server for broker in told.brokers if broker.node_id == node.node_id and "broker" in node.roles)
    return next(servers, "").rpartition(":")[0].strip("[]")
