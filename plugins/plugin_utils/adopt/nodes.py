# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What does not fit together of the nodes that others installed, or keeps one of them from being taken over."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from ...module_utils._node.installed import APACHE, CONNECT, KAFKA, MIRROR
from ..findings import NOTE, REFUSE, Finding
from ..guards.foreign import ForeignNode, Machine


def disagreements(machines: Mapping[str, Machine], nodes: Sequence[ForeignNode]) -> list[Finding]:
    """Return what does not fit together, or keeps a node from being taken over; refusals first."""
    listed = [*_silent(machines), *_each(nodes), *_together(nodes)]
    return sorted(listed, key=lambda finding: finding.level != REFUSE)


def _silent(machines: Mapping[str, Machine]) -> Iterator[Finding]:
    """Tell of machines where nothing runs, of nodes that are ours, and of what could not be read."""
    for host, machine in machines.items():
        if not machine["processes"] and machine.get("is_shared"):
            fix = "start its node by its own service, let its variables say the id, or take it out of this inventory"
            yield Finding(NOTE, f"{host}: no process of its machine belongs to it", fix)
        elif not machine["processes"]:
            fix = "start it by its own service, or take the host out of this inventory"
            yield Finding(NOTE, f"{host}: no process of Kafka, ZooKeeper or MirrorMaker runs", fix)
        for told in machine["processes"]:
            if told["ours"] is not None:
                yield Finding(
                    NOTE, f"{host}: process {told['pid']} ({told['product']}) is one of this collection already"
                )
            elif told["product"] == CONNECT:
                yield Finding(NOTE, f"{host}: process {told['pid']} is a worker of Kafka Connect, which is left alone")
        yield from _unread(host, machine)


def _unread(host: str, machine: Machine) -> Iterator[Finding]:
    """Tell what could not be read, all that has one reason in one sentence."""
    by_reason: dict[str, list[str]] = defaultdict(list)
    for place in machine["unread"]:
        by_reason[place["why"]].append(place["path"])
    for why, paths in by_reason.items():
        fix = "run as root, or as the user that runs the process"
        yield Finding(NOTE, f"{host}: {', '.join(paths)} {'is' if len(paths) == 1 else 'are'} not known: {why}", fix)


def _each(nodes: Sequence[ForeignNode]) -> Iterator[Finding]:
    for node in nodes:
        service, release = node.told["service"], node.told["release"]
        if node.is_contained:
            fix = "take its host out of this inventory"
            yield Finding(REFUSE, f"{node.title} runs in container {service['name']}, which is left alone", fix)
            continue
        if node.product != MIRROR and node.node_id is None:
            fix = "let the run read its properties and its directories"
            yield Finding(REFUSE, f"nothing tells the id of {node.title}", fix)
        if node.vendor != APACHE:
            fix = f"bring it to Apache's release of {node.version or 'the same version'} first"
            yield Finding(REFUSE, f"{node.title} runs {release['summary']}", fix)
        elif release["differing"] or release["missing"]:
            yield Finding(
                NOTE, f"{node.title} runs {release['summary']}", "a take-over starts the jars that Apache published"
            )
        for place in node.told["dirs"]:
            if why := _other_mark(node, place["meta_properties"] or {}):
                fix = "look which of them it runs with, and correct the other"
                yield Finding(REFUSE, f"{node.title}: {place['path']} is {why}", fix)


def _other_mark(node: ForeignNode, mark: Mapping[str, str]) -> str:
    """Say whose a directory is where it is not of the node; empty where it is, or does not tell."""
    number = mark.get("node.id", mark.get("broker.id"))
    if number and str(node.node_id) != number:
        return f"that of node {number}"
    cluster = mark.get("cluster.id", "")
    return f"of cluster {cluster}, others are of {node.cluster_id}" if cluster and cluster != node.cluster_id else ""


def _together(nodes: Sequence[ForeignNode]) -> Iterator[Finding]:
    """Tell what is wrong between nodes: one id for two, several releases in a cluster."""
    nodes = [node for node in nodes if not node.is_contained]
    numbers = Counter((node.product, node.belongs_to, node.node_id) for node in nodes if node.product != MIRROR)
    by_cluster: dict[str, list[ForeignNode]] = defaultdict(list)
    for node in nodes:
        if node.product == KAFKA:
            by_cluster[node.belongs_to].append(node)
        if node.node_id is not None and numbers[node.product, node.belongs_to, node.node_id] > 1:
            fix = "stop the one that is not meant"
            yield Finding(REFUSE, f"{node.title} has the id of another node of its cluster", fix)
    for members in by_cluster.values():
        versions = {node.version for node in members}
        if len(versions) > 1:
            known = ", ".join(sorted(version or "an unknown one" for version in versions))
            name = members[0].cluster_id or f"of {', '.join(node.host for node in members)}"
            fix = "end the upgrade that has begun, by the means with which it was begun"
            yield Finding(REFUSE, f"cluster {name} runs several releases: {known}", fix)
