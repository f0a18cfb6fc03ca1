# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on mirrors: the shape of mirror_flows, the clusters and hosts it is about, their listeners, ports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ....module_utils._mirror.flows import MIRROR_MAKER_2
from ....module_utils._mirror.reading import flow_problems, is_enabled, is_unclear
from ...inventory.model import MIRROR_GROUP, REST_PORT, Cluster, Inventory, Listener, Node
from ...inventory.variables import UNDEFINED
from ...mirrors.external import VARIABLE as EXTERNAL
from ...specs import advice
from ..mirror_flows import VARIABLE, complete, entries, externals, flows, kafka_clusters, mirrors_of, said, where
from ..rule import Problem, rule
from .listeners import binds_meet

#: What else an unknown name of a source or a target may be.
_OR = {
    "source": f"describe a cluster outside of the inventory in {EXTERNAL} of the mirrors",
    "target": "the target must be a cluster of the inventory",
}


@rule(fix="correct the flow, or it mirrors nothing or the wrong thing")
def bad_flow(inventory: Inventory) -> Iterator[Problem]:
    """An entry of `mirror_flows` has an unknown key, word or pattern, or lacks a key."""
    for value, hosts in said(inventory):
        for path, complaint in _complaints(value) if isinstance(value, (list, tuple)) else ():
            yield Problem(hosts, "the flow cannot be used", complaint, variable=path)


def _complaints(value: Any) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a list of flows by itself, without what other rules name."""
    known = dict(entries([(value, ())]))
    for number, item in enumerate(value):
        if number in known or not isinstance(item, Mapping):
            for path, complaint in _own(known.get(number, item)) if item is not UNDEFINED else ():
                yield path.replace("[0]", f"[{number}]", 1), complaint
    good = {_ends(item): item for item in known.values() if not flow_problems([item])}
    yield from flow_problems(list(good.values()))


def _own(item: Any) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with one entry, without what has a rule of its own: that it mirrors into itself, and a
    value that is not clear (`unclear_value`)."""
    for path, complaint in flow_problems([item]):
        key = path.rpartition(".")[2]
        if not isinstance(item, Mapping) or (path != f"{VARIABLE}[0]" and not is_unclear(key, item.get(key))):
            yield path, complaint


def _ends(item: Mapping[str, Any]) -> tuple[Any, ...]:
    return item["source"], item["target"], item.get("engine") or MIRROR_MAKER_2


@rule(variable=VARIABLE, fix=f"set {VARIABLE} once, in group_vars/all")
def flows_disagree(inventory: Inventory) -> Iterator[Problem]:
    """Hosts have different `mirror_flows`, on which both clusters and the mirrors between them act."""
    found = said(inventory)
    if len(found) > 1:
        shown = "; ".join(f"{_pairs(value)} on {', '.join(hosts)}" for value, hosts in found)
        yield Problem([hosts for _value, hosts in found], "hosts of the inventory disagree about the flows", shown)


def _pairs(value: Any) -> str:
    """A list of flows in few words."""
    items = [item for item in value if isinstance(item, Mapping)] if isinstance(value, (list, tuple)) else []
    return ", ".join(f"{item.get('source')}->{item.get('target')}" for item in items) or "no flow"


@rule(
    fix="correct the name, describe a source outside of the inventory in mirror_external_clusters, or set enabled:"
    " false"
)
def unknown_cluster(inventory: Inventory) -> Iterator[Problem]:
    """The source or target of a flow is no cluster with brokers in this inventory, and its mirrors know it neither by
    `mirror_external_clusters`."""
    known = kafka_clusters(inventory)
    for number, item in entries(said(inventory)):
        target = str(item.get("target"))
        external = externals(inventory, target)
        unread = any(mirror.variables.get(EXTERNAL) is UNDEFINED for mirror in mirrors_of(inventory, target))
        for key in ("source", "target") if is_enabled(item) and not unread else ():
            name = item.get(key)
            if isinstance(name, str) and name and name not in known and name not in external:
                names = [*known, *external] if key == "source" else list(known)
                yield Problem(
                    where(inventory, str(item.get("source")), target),
                    f"no broker of the inventory has kafka_cluster_name {name}, and {EXTERNAL} of the mirrors next to "
                    f"{target} has no such alias",
                    found=name,
                    allowed=", ".join(names) or "no cluster",
                    fix=f"{advice(name, names)}; {_OR[key]}, or set enabled: false",
                    variable=f"{VARIABLE}[{number}].{key}",
                )


@rule(variable=VARIABLE, fix="add a host next to the target, or set enabled: false")
def target_without_mirror(inventory: Inventory) -> Iterator[Problem]:
    """The target of a flow has no mirror, that is no host in `mirror_makers` with its `kafka_cluster_name`."""
    known = kafka_clusters(inventory)
    listed = [item for _number, item in entries(said(inventory)) if is_enabled(item)]
    for target in dict.fromkeys(str(item.get("target")) for item in listed):
        mistaken = any(node.mirror and node.cluster == target for node in inventory.nodes)
        if target in known and not mirrors_of(inventory, target) and not mistaken:
            yield Problem(
                where(inventory, target),
                f"no mirror copies into {target}",
                found=f"no host of {target} in {MIRROR_GROUP}",
                allowed=f"at least one host in {MIRROR_GROUP} with kafka_cluster_name {target}",
            )


@rule(variable="kafka_cluster_name", fix="add a flow, correct kafka_cluster_name, or remove the mirror")
def mirror_without_flow(inventory: Inventory) -> Iterator[Problem]:
    """The `kafka_cluster_name` of a mirror is the target of no flow, not even of a disabled one."""
    targets = dict.fromkeys(str(item.get("target")) for _number, item in entries(said(inventory)))
    for mirror in inventory.mirrors if complete(inventory) else ():
        if mirror.cluster and mirror.cluster not in targets:
            yield Problem(
                mirror,
                "no flow has the cluster of this mirror as target",
                found=mirror.cluster,
                allowed=", ".join(targets) or f"the target of a flow, of which {VARIABLE} has none",
                fix=f"add a flow, correct kafka_cluster_name, or stop it (stop.yml --limit {mirror.name}) and remove it"
                f" from {MIRROR_GROUP}",
            )


@rule(variable=MIRROR_GROUP, fix="name a second host with the same ansible_host for MirrorMaker")
def mirror_and_node_on_one_host(inventory: Inventory) -> Iterator[Problem]:
    """A host is a mirror and a node of Kafka or ZooKeeper."""
    for node in inventory.nodes:
        if node.mirror:
            yield Problem(node, "the host is a mirror and a node of Kafka or ZooKeeper", "in both groups")


@rule(fix="add a listener with purpose clients, or correct mirror_listener")
def no_mirror_listener(inventory: Inventory) -> Iterator[Problem]:
    """A broker of a mirrored cluster has no listener for clients, or none with the name in `mirror_listener`."""
    for cluster in kafka_clusters(inventory).values():
        for node in cluster.brokers:
            named, offered = node.text("mirror_listener"), _for_clients(node)
            if node.variables.get("kafka_listeners") is UNDEFINED or named in offered:
                continue
            if named:
                yield Problem(
                    node,
                    "the broker has no listener for clients of this name",
                    found=named,
                    allowed=", ".join(offered) or "a listener with purpose clients",
                    fix="correct the name, or leave mirror_listener empty for the first one",
                    variable="mirror_listener",
                )
            elif not offered and _is_mirrored(inventory, cluster):
                what, fix = "mirrors have no listener to connect to", "add a listener with purpose clients"
                yield Problem(node, what, "no listener with purpose clients", "at least one", fix, "kafka_listeners")


def _for_clients(node: Node) -> list[str]:
    return [listener.name for listener in node.listeners() if listener.purpose == "clients"]


@rule(variable="kafka_listeners", fix="give all brokers of the cluster the same list")
def mirror_protocols_differ(inventory: Inventory) -> Iterator[Problem]:
    """The brokers of a cluster differ in the protocol of the listener for mirrors, which log in in one way."""
    for cluster in kafka_clusters(inventory).values():
        speaks: dict[str, list[str]] = {}
        for node in cluster.brokers:
            used = listener_of(node)
            if used is not None:
                speaks.setdefault(used.protocol, []).append(node.name)
        if len(speaks) > 1 and _is_mirrored(inventory, cluster):
            found = "; ".join(f"{protocol} on {', '.join(hosts)}" for protocol, hosts in speaks.items())
            yield Problem(cluster, "brokers differ in how mirrors connect to them", found)


def listener_of(node: Node) -> Listener | None:
    """The listener by which mirrors next to another cluster reach a broker; None when it has none for clients."""
    offered = [one for one in node.listeners() if one.purpose == "clients"]
    named = [one for one in offered if one.name == node.text("mirror_listener")]
    return next(iter(named or offered), None)


def _is_mirrored(inventory: Inventory, cluster: Cluster) -> bool:
    return any(cluster.name in (flow.source, flow.target) for flow in flows(inventory))


@rule(variable=REST_PORT, fix=f"give each mirror of the machine a {REST_PORT} that no other process has")
def rest_port_taken(inventory: Inventory) -> Iterator[Problem]:
    """A mirror has the address and port of another mirror or of a listener on its machine."""
    opened = [(node, listener) for node in inventory.processes for listener in node.ports()]
    for place, (mirror, port) in enumerate(opened):
        if not mirror.only_mirrors or not port.port:
            continue
        for other, listener in opened[:place]:
            alike = other.machine == mirror.machine and listener.port == port.port
            if alike and other is not mirror and binds_meet([port.host, listener.host]):
                what = f"processes on machine {mirror.machine} have the same port"
                yield Problem([other, mirror], what, port.port)
