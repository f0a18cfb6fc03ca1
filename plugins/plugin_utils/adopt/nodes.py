# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The nodes that others installed, by what their machines tell: who each one is, and what does not fit together."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...module_utils._adopt.commands import CONNECT, KAFKA, MIRROR, ZOOKEEPER
from ...module_utils._adopt.release import APACHE
from ...module_utils._adopt.units import CONTAINER
from ...module_utils._configs.values import items_of
from ...module_utils._core.addresses import is_loopback
from ..findings import NOTE, REFUSE, Finding
from ..render.static_quorum import BOOTSTRAP, VOTERS
from .listeners import words

if TYPE_CHECKING:
    from typing import TypeAlias

#: What adoption_info says of a process, and what it returns of a machine.
Process: TypeAlias = Mapping[str, Any]
Machine: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class ForeignNode:
    """A process of Kafka, ZooKeeper or MirrorMaker that something else started.

    host -- of the inventory; product -- KAFKA, ZOOKEEPER or MIRROR; roles -- broker, controller, zookeeper or mirror;
    node_id -- None where nothing tells it; cluster_id -- as its directories have it, or those of the other nodes of its
    cluster, empty where none does; version, vendor -- of its release; told -- what adoption_info says of the process.
    """

    host: str
    product: str
    roles: tuple[str, ...]
    node_id: int | None
    cluster_id: str
    version: str
    vendor: str
    told: Process

    @property
    def title(self) -> str:
        """Return how a sentence names it."""
        number = "without an id" if self.node_id is None else f"id {self.node_id}"
        words = self.product if self.is_contained else f"{', '.join(self.roles)}, {number}"
        return f"{self.host} ({words}, process {self.told['pid']})"

    @property
    def belongs_to(self) -> str:
        """Return what nodes of one cluster have in common: its id, where that is not known what they all name."""
        return self.cluster_id or self.link

    @property
    def link(self) -> str:
        """Return what nodes of one cluster name alike: controllers, an ensemble, its servers; empty where nothing is.

        Loopback means another machine on each.
        """
        properties = self.told["properties"]
        if self.product == ZOOKEEPER:
            servers = sorted(f"{key}={value}" for key, value in properties.items() if key.startswith("server."))
            return ",".join(servers) or self.host
        keys = (VOTERS, BOOTSTRAP, "zookeeper.connect") if self.product == KAFKA else ()
        named = next((listed for key in keys if (listed := words(properties, key))), [])
        is_local = any(is_loopback(word.rpartition("@")[2].rpartition(":")[0].strip("[]")) for word in named)
        return ",".join([*sorted(named), *([self.host] if is_local else [])])

    @property
    def is_contained(self) -> bool:
        """Return whether it runs in a container, of which nothing else is known."""
        return bool(self.told["service"]["manager"] == CONTAINER)

    @property
    def service(self) -> str:
        """Return what manages it, in words."""
        service = self.told["service"]
        return f"{service['manager']} {service['name']}".strip() if service["manager"] != "none" else "no manager"


def foreign_nodes(machines: Mapping[str, Machine]) -> list[ForeignNode]:
    """Return the nodes of all machines, by product, cluster, id and host; those that are ours already are none.

    machines -- by host what adoption_info returned
    """
    nodes = [_node(host, told) for host, told in _processes(machines) if told["ours"] is None]
    return sorted(
        _with_clusters(nodes),
        key=lambda node: (node.product, node.cluster_id, node.node_id is None, node.node_id or 0, node.host),
    )


def our_nodes(machines: Mapping[str, Machine]) -> list[ForeignNode]:
    """Return the nodes that this collection runs already, such as those that a take-over has behind it."""
    return [_node(host, told) for host, told in _processes(machines) if told["ours"] is not None]


def _processes(machines: Mapping[str, Machine]) -> Iterator[tuple[str, Process]]:
    """Yield the processes that are nodes, each with its host."""
    for host, machine in machines.items():
        yield from ((host, told) for told in machine["processes"] if told["product"] in (KAFKA, ZOOKEEPER, MIRROR))


def _with_clusters(nodes: Sequence[ForeignNode]) -> Iterator[ForeignNode]:
    """Give a node whose directories could not be read the cluster of those with the same link, where that is one."""
    ids_by_link: dict[tuple[str, str], set[str]] = defaultdict(set)
    for node in nodes:
        if node.cluster_id and node.link:
            ids_by_link[node.product, node.link].add(node.cluster_id)
    for node in nodes:
        linked = ids_by_link.get((node.product, node.link), set())
        yield replace(node, cluster_id=min(linked)) if not node.cluster_id and len(linked) == 1 else node


def _node(host: str, told: Process) -> ForeignNode:
    properties, marks = told["properties"], [place["meta_properties"] or {} for place in told["dirs"]]
    release = told["release"]
    return ForeignNode(
        host=host,
        product=told["product"],
        roles=_roles(told["product"], properties),
        node_id=_number(told, properties),
        cluster_id=next((mark["cluster.id"] for mark in marks if mark.get("cluster.id")), ""),
        # Of a container nothing is read.
        version=release.get("version") or "",
        vendor=release.get("vendor") or "",
        told=told,
    )


def _roles(product: str, properties: Mapping[str, str]) -> tuple[str, ...]:
    """Return what a process does; without process.roles it is a broker of ZooKeeper."""
    if product != KAFKA:
        return (product,)
    return tuple(sorted(items_of(properties.get("process.roles", "broker"))))


def _number(told: Process, properties: Mapping[str, str]) -> int | None:
    """Return the id by the properties, else by the directories, where Kafka keeps one that it chose itself."""
    marks = [place["meta_properties"] or {} for place in told["dirs"]]
    words = [properties.get("node.id"), properties.get("broker.id")]
    words += [mark.get("node.id", mark.get("broker.id")) for mark in marks]
    words += [place.get("myid") for place in told["dirs"]]
    numbers = (int(word) for word in words if word and str(word).strip().isdecimal())
    return next(numbers, None)


def disagreements(machines: Mapping[str, Machine], nodes: Sequence[ForeignNode]) -> list[Finding]:
    """Return what does not fit together, or keeps a node from being taken over; refusals first."""
    found = [*_silent(machines), *_each(nodes), *_together(nodes)]
    return sorted(found, key=lambda finding: finding.level != REFUSE)


def _silent(machines: Mapping[str, Machine]) -> Iterator[Finding]:
    """Tell of machines where nothing runs, of nodes that are ours, and of what could not be read."""
    for host, machine in machines.items():
        if not machine["processes"]:
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
