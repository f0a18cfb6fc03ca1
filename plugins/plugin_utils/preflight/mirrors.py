# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on mirrors: the shape of mirror_flows, the clusters and hosts it is about, their listeners, ports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import (
    MIRROR_MAKER_2,
    flow_problems,
    is_enabled,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import (
    MIRROR_GROUP,
    REST_PORT,
    UNDEFINED,
    Cluster,
    Inventory,
    Listener,
    Node,
    as_int,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.listeners import MAX_PORT, binds_meet
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.mirror_flows import (
    VARIABLE,
    complete,
    entries,
    flows,
    kafka_clusters,
    mirrors_of,
    said,
    violation,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.properties import nearest
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.violation import ERROR, Violation


def shape(inventory: Inventory) -> Iterator[Violation]:
    """C24: mirror_flows is a list of flows with the keys and words that flows have."""
    for value, hosts in said(inventory):
        for path, complaint in _complaints(value):
            yield Violation(
                "C24", ERROR, hosts, path, "the flow cannot be used", complaint, "",
                "correct it; without it nothing would be mirrored, or the wrong thing",
            )  # fmt: skip


def _complaints(value: Any) -> Iterator[tuple[str, str]]:
    """What is wrong with a list of flows, without what rows B37 and B34 name."""
    if not isinstance(value, (list, tuple)):
        yield from flow_problems(value)
        return
    known = dict(entries([(value, ())]))
    for number, item in enumerate(value):
        if number in known or not isinstance(item, Mapping):
            for path, complaint in _own(known.get(number, item)) if item is not UNDEFINED else ():
                yield path.replace("[0]", f"[{number}]", 1), complaint
    good = {_ends(item): item for item in known.values() if not flow_problems([item])}
    yield from flow_problems(list(good.values()))


def _own(item: Any) -> Iterator[tuple[str, str]]:
    """What is wrong with one entry by itself; that it mirrors into itself is row B37."""
    for path, complaint in flow_problems([item]):
        if path != f"{VARIABLE}[0]" or not isinstance(item, Mapping):
            yield path, complaint


def _ends(item: Mapping[str, Any]) -> tuple[Any, ...]:
    return item["source"], item["target"], item.get("engine") or MIRROR_MAKER_2


def hosts_agree(inventory: Inventory) -> Iterator[Violation]:
    """C24: all hosts have the same flows: both clusters and the mirrors between them act on the list."""
    found = said(inventory)
    if len(found) > 1:
        yield Violation(
            "C24", ERROR, tuple(host for _value, hosts in found for host in hosts), VARIABLE,
            "hosts of the inventory disagree about the flows",
            "; ".join(f"{_pairs(value)} on {', '.join(hosts)}" for value, hosts in found),
            "one list for the whole inventory", f"set {VARIABLE} once, in group_vars/all",
        )  # fmt: skip


def _pairs(value: Any) -> str:
    """A list of flows in few words."""
    items = [item for item in value if isinstance(item, Mapping)] if isinstance(value, (list, tuple)) else []
    return ", ".join(f"{item.get('source')}->{item.get('target')}" for item in items) or "no flow"


def clusters_exist(inventory: Inventory) -> Iterator[Violation]:
    """C24: source and target are clusters of this inventory, with brokers that can be connected to."""
    known = kafka_clusters(inventory)
    for number, item in entries(said(inventory)):
        for key in ("source", "target"):
            name = item.get(key)
            if is_enabled(item) and isinstance(name, str) and name and name not in known:
                yield violation(
                    inventory, "C24", [str(item.get("source")), str(item.get("target"))],
                    f"no broker of the inventory has kafka_cluster_name {name}", name, ", ".join(known) or "no cluster",
                    f"{nearest(name, known)}; both ends of a mirror live in one inventory, or set enabled: false",
                    variable=f"{VARIABLE}[{number}].{key}",
                )  # fmt: skip


def targets_have_mirrors(inventory: Inventory) -> Iterator[Violation]:
    """C24: a cluster that is mirrored into has hosts that do it."""
    known = kafka_clusters(inventory)
    listed = [item for _number, item in entries(said(inventory)) if is_enabled(item)]
    for target in dict.fromkeys(str(item.get("target")) for item in listed):
        mistaken = any(node.mirror and node.cluster == target for node in inventory.nodes)
        if target in known and not mirrors_of(inventory, target) and not mistaken:
            yield violation(
                inventory, "C24", [target], f"nobody mirrors into {target}", f"no host of {target} in {MIRROR_GROUP}",
                f"at least one host in {MIRROR_GROUP} with kafka_cluster_name {target}",
                "add a host next to the target, or set enabled: false",
            )  # fmt: skip


def mirrors_have_flows(inventory: Inventory) -> Iterator[Violation]:
    """C24: a mirror has something to mirror: its kafka_cluster_name is the target of a flow, be it disabled."""
    targets = dict.fromkeys(str(item.get("target")) for _number, item in entries(said(inventory)))
    for mirror in inventory.mirrors if complete(inventory) else ():
        if mirror.cluster and mirror.cluster not in targets:
            yield Violation(
                "C24", ERROR, (mirror.name,), "kafka_cluster_name", "no flow has the cluster of this mirror as target",
                mirror.cluster, ", ".join(targets) or f"the target of a flow, of which {VARIABLE} has none",
                f"add a flow, correct kafka_cluster_name, or stop it (stop.yml --limit {mirror.name}) and take it out "
                f"of {MIRROR_GROUP}",
            )  # fmt: skip


def one_process(inventory: Inventory) -> Iterator[Violation]:
    """C24: a host is one process: a mirror, or a node of Kafka or ZooKeeper."""
    for node in inventory.nodes:
        if node.mirror:
            yield Violation(
                "C24", ERROR, (node.name,), MIRROR_GROUP, "the host is a mirror and a node of Kafka or ZooKeeper",
                "in both groups", "one inventory host for each process",
                "name a second host with the same ansible_host for MirrorMaker",
            )  # fmt: skip


def listeners(inventory: Inventory) -> Iterator[Violation]:
    """C24: mirrors find a listener for clients on every broker, the one of mirror_listener where that is set."""
    for cluster in kafka_clusters(inventory).values():
        for node in cluster.brokers:
            named, offered = node.text("mirror_listener"), _for_clients(node)
            if node.variables.get("kafka_listeners") is UNDEFINED or named in offered:
                continue
            if named:
                yield Violation(
                    "C24", ERROR, (node.name,), "mirror_listener",
                    "the broker has no listener for clients of this name", named,
                    ", ".join(offered) or "a listener with purpose clients",
                    "correct the name, or leave mirror_listener empty for the first one",
                )  # fmt: skip
            elif not offered and _is_mirrored(inventory, cluster):
                yield Violation(
                    "C24", ERROR, (node.name,), "kafka_listeners", "mirrors have no listener to connect to",
                    "no listener with purpose clients", "at least one", "add a listener with purpose clients",
                )  # fmt: skip


def _for_clients(node: Node) -> list[str]:
    return [listener.name for listener in node.listeners() if listener.purpose == "clients"]


def one_protocol(inventory: Inventory) -> Iterator[Violation]:
    """C24: a mirror has one way to log in at a cluster, so its brokers speak alike on the listener that mirrors use."""
    for cluster in kafka_clusters(inventory).values():
        speaks: dict[str, list[str]] = {}
        for node in cluster.brokers:
            used = listener_of(node)
            if used is not None:
                speaks.setdefault(used.protocol, []).append(node.name)
        if len(speaks) > 1 and _is_mirrored(inventory, cluster):
            yield Violation(
                "C24", ERROR, cluster.hosts, "kafka_listeners", "brokers differ in how mirrors are to connect",
                "; ".join(f"{protocol} on {', '.join(hosts)}" for protocol, hosts in speaks.items()),
                "one protocol on the listener for mirrors", "give all brokers of the cluster the same list",
            )  # fmt: skip


def listener_of(node: Node) -> Listener | None:
    """The listener by which mirrors next to another cluster reach a broker; None when it has none for clients."""
    offered = [one for one in node.listeners() if one.purpose == "clients"]
    named = [one for one in offered if one.name == node.text("mirror_listener")]
    return next(iter(named or offered), None)


def _is_mirrored(inventory: Inventory, cluster: Cluster) -> bool:
    return any(cluster.name in (flow.source, flow.target) for flow in flows(inventory))


def rest_port(inventory: Inventory) -> Iterator[Violation]:
    """C24: the port by which the mirrors of a target talk to each other is a port."""
    for mirror in inventory.mirrors:
        value, number = mirror.get(REST_PORT), as_int(mirror.get(REST_PORT))
        if value is not None and (number is None or not 1 <= number <= MAX_PORT):
            yield Violation(
                "C24", ERROR, (mirror.name,), REST_PORT, "the port is unusable", repr(str(value)), f"1 to {MAX_PORT}",
                "correct it, or leave it out",
            )  # fmt: skip


def rest_port_twice(inventory: Inventory) -> Iterator[Violation]:
    """B19: on one machine no other mirror and no listener has the address and port of a mirror that listens at all."""
    opened = [(node, listener) for node in inventory.processes for listener in node.listeners()]
    for place, (mirror, port) in enumerate(opened):
        if not mirror.only_mirrors or not port.port:
            continue
        for other, listener in opened[:place]:
            alike = other.machine == mirror.machine and listener.port == port.port
            if alike and other is not mirror and binds_meet([port.host, listener.host]):
                yield Violation(
                    "B19", ERROR, (other.name, mirror.name), REST_PORT,
                    f"processes on machine {mirror.machine} want the same port", str(port.port),
                    "a port of its own for each process of a machine",
                    f"give each mirror of the machine a {REST_PORT} that nobody else has",
                )  # fmt: skip


RULES = (
    shape,
    hosts_agree,
    clusters_exist,
    targets_have_mirrors,
    mirrors_have_flows,
    one_process,
    listeners,
    one_protocol,
    rest_port,
    rest_port_twice,
)
