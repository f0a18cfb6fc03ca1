# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The nodes that others installed, by what their machines tell: who each one is."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...module_utils._configs.values import items_of
from ...module_utils._core.addresses import is_loopback, plain_host
from ...module_utils._node.installed import CONTAINER, KAFKA, MIRROR, ZOOKEEPER
from ..inventory.nodes import BOOTSTRAP, VOTERS

if TYPE_CHECKING:
    from typing import TypeAlias

#: What adoption_info says of a process, and what it returns of a machine.
Process: TypeAlias = Mapping[str, Any]
Machine: TypeAlias = Mapping[str, Any]

#: How a server of ZooKeeper names a member, and the part of that with its ports: host:quorum:election, and what
#: ZooKeeper 3.5 and later may add: what kind of member it is, and behind a semicolon where its clients connect.
SERVER = re.compile(r"server\.[0-9]+")
_MEMBER = re.compile(
    r"(?P<host>\[[^\]]*\]|[^:]+):(?P<ports>[0-9]+:[0-9]+)(?::participant)?(?P<kind>[^;]*)"
    r"(?:;(?:.*:)?(?P<client>[0-9]+))?",
    re.IGNORECASE,
)
CLIENT_PORTS = ("clientPort", "secureClientPort")
#: The port of a server that zookeeper.connect names without one (ConnectStringParser).
_CLIENT_PORT = "2181"
#: A flow of MirrorMaker 2: behind it an option of its own begins with a dot.
_FLOW = re.compile(r"[^.\s]+->[^.\s]+")


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
        named = next((listed for key in keys if (listed := items_of(properties.get(key)))), [])
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


def member_ports(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the members of an ensemble by their properties (server.N), each with quorum:election, its two ports.

    One that has no vote has its kind behind them (:observer).
    """
    return {name: f"{match['ports']}{match['kind']}" for name, match in _members(properties)}


def member_hosts(properties: Mapping[str, str]) -> set[str]:
    """Return what a server calls the members of its ensemble, itself among them, without brackets."""
    return {plain_host(match["host"]) for _name, match in _members(properties)}


def client_ports(properties: Mapping[str, str]) -> set[str]:
    """Return the ports at which clients reach the servers of an ensemble, as one of them tells them."""
    own = {properties.get(name, "").strip() for name in CLIENT_PORTS}
    return {*own, *(match["client"] or "" for _name, match in _members(properties))} - {""}


def _members(properties: Mapping[str, str]) -> Iterator[tuple[str, re.Match[str]]]:
    for name, value in properties.items():
        if SERVER.fullmatch(name) and (match := _MEMBER.match(value.strip())):
            yield name, match


def mirrored(properties: Mapping[str, str]) -> tuple[str, ...]:
    """Return the flows that a process of MirrorMaker 2 carries, source->target, sorted (MirrorMakerConfig)."""
    flags = ((name.removesuffix(".enabled"), value) for name, value in properties.items() if name.endswith(".enabled"))
    flows = (flow for flow, value in flags if value.strip().lower() == "true" and _FLOW.fullmatch(flow))
    return tuple(sorted(flows))


def chroot(properties: Mapping[str, str]) -> str:
    """Return the path behind the last server of zookeeper.connect; empty for the root."""
    _servers, slash, path = properties.get("zookeeper.connect", "").partition("/")
    return f"{slash}{path}".strip().rstrip("/")


def connected(properties: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the servers of zookeeper.connect, each as its host without brackets and its port."""
    servers = items_of(properties.get("zookeeper.connect", "").partition("/")[0])
    parted = (server.rpartition(":") for server in servers)
    return [
        (plain_host(host), port) if colon and port.isdecimal() else (plain_host(f"{host}{colon}{port}"), _CLIENT_PORT)
        for host, colon, port in parted
    ]


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
        node_id=node_number(told),
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


def node_number(told: Process) -> int | None:
    """Return the id of a process by its properties, else by its directories, where Kafka keeps one that it chose."""
    properties, marks = told["properties"], [place["meta_properties"] or {} for place in told["dirs"]]
    words = [properties.get("node.id"), properties.get("broker.id")]
    words += [mark.get("node.id", mark.get("broker.id")) for mark in marks]
    words += [place.get("myid") for place in told["dirs"]]
    numbers = (int(word) for word in words if word and str(word).strip().isdecimal())
    return next(numbers, None)
