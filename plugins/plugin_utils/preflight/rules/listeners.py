# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on listeners: what a node opens, what it advertises, and which ports meet on one machine."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ....module_utils._core.addresses import host_port, is_loopback
from ...inventory.model import BROKER_PURPOSES, CONTROLLER_PURPOSE, Cluster, Inventory, Listener, Node
from ...inventory.variables import UNDEFINED
from ..rule import Problem, host_names, rule

# Addresses to bind to, never to connect to: Kafka refuses to start when it shall advertise one.
META_ADDRESSES = ("0.0.0.0", "::")

Opened = tuple[Node, Listener]


@rule(variable="kafka_listeners", fix="correct the listener")
def bad_listener(inventory: Inventory) -> Iterator[Problem]:
    """A listener has an unusable name."""
    for node, listener in ((one, listener) for one in inventory.kafka for listener in one.listeners()):
        if not re.fullmatch(r"[A-Za-z0-9_-]+", listener.name):
            what, allowed = f"listener {listener.name} has an unusable name", "letters, digits, '_' and '-'"
            yield Problem(node, what, f"name {listener.name!r}", allowed)


@rule(variable="kafka_listeners", fix="rename one of them")
def duplicate_listener_name(inventory: Inventory) -> Iterator[Problem]:
    """Two listeners of a node have the same name; Kafka does not tell capitals from small letters there."""
    for node in inventory.nodes:
        names = [listener.name.upper() for listener in node.listeners()]
        for name in dict.fromkeys(names):
            if names.count(name) > 1:
                yield Problem(node, "two listeners have the same name", f"{name} {names.count(name)} times")


@rule(variable="kafka_listeners", fix="add a listener with this purpose")
def missing_listener(inventory: Inventory) -> Iterator[Problem]:
    """A controller has no listener for controllers, or a broker none for clients or brokers."""
    for node in inventory.nodes:
        if node.variables.get("kafka_listeners") is UNDEFINED:
            continue
        found = {listener.purpose for listener in node.listeners()}
        shown = ", ".join(sorted(found)) or "no listener"
        if node.controller and CONTROLLER_PURPOSE not in found:
            allowed = f"one with purpose {CONTROLLER_PURPOSE}"
            yield Problem(node, "a controller needs a listener for controllers", shown, allowed)
        if node.broker and not found.intersection(BROKER_PURPOSES):
            allowed = "one with purpose clients or brokers"
            yield Problem(node, "a broker needs a listener for clients or brokers", shown, allowed)


@rule(
    variable="kafka_listeners",
    allowed="a name or address that clients reach",
    fix="set advertised_host; to bind to all addresses leave host empty",
)
def advertised_wildcard(inventory: Inventory) -> Iterator[Problem]:
    """A listener advertises 0.0.0.0 or ::, to which no client can connect."""
    for node in inventory.nodes:
        for listener in node.listeners():
            if listener.advertised_host in META_ADDRESSES:
                what = f"listener {listener.name} advertises an address that no client can connect to"
                yield Problem(node, what, f"advertised_host {listener.advertised_host}")


@rule(
    variable="kafka_listeners",
    allowed="a name or address that all machines reach",
    fix="set advertised_host (or ansible_host)",
)
def advertised_loopback(inventory: Inventory) -> Iterator[Problem]:
    """A node of a cluster on several machines advertises a loopback address, which leads each client to itself."""
    for cluster in inventory.clusters():
        machines = {node.machine for node in cluster.nodes}
        for node in cluster.nodes if len(machines) > 1 else ():
            for listener in node.listeners():
                if is_loopback(listener.advertised_host):
                    what = f"listener {listener.name} advertises a loopback address to other machines"
                    yield Problem(node, what, f"advertised_host {listener.advertised_host} on {len(machines)} machines")


@rule(variable="kafka_listeners", fix="give each node its own advertised_host, port or advertised_port")
def advertised_twice(inventory: Inventory) -> Iterator[Problem]:
    """Two nodes advertise the same address, so clients of one reach the other. Kafka does not notice."""
    seen: dict[tuple[str, str, int], list[Opened]] = {}
    for node in inventory.nodes:
        for listener in node.listeners():
            # Across clusters only on one machine: private addresses may repeat in networks that never meet.
            for scope in (f"cluster {node.cluster}", f"machine {node.machine}"):
                place = (scope, listener.advertised_host.lower(), listener.reached_port or 0)
                seen.setdefault(place, []).append((node, listener))
    twice: dict[tuple[str, ...], list[str]] = {}
    for (_scope, host, port), opened in seen.items():
        if port and len(_hosts(opened)) > 1 and not _port_meets(opened) and not _unusable(host, opened):
            addresses = twice.setdefault(_hosts(opened), [])
            addresses.extend({host_port(host, port)}.difference(addresses))
    for hosts, addresses in twice.items():
        yield Problem(hosts, "several nodes advertise the same address", ", ".join(addresses))


def _unusable(host: str, opened: list[Opened]) -> bool:
    """Return whether the address cannot be advertised at all, which other rules name."""
    return host in META_ADDRESSES or (is_loopback(host) and len({node.machine for node, _listener in opened}) > 1)


def _port_meets(opened: list[Opened]) -> bool:
    """Return whether two nodes open one port of one machine, which port_twice_on_machine names."""
    alike = len({(node.machine, listener.port) for node, listener in opened}) == 1
    return alike and binds_meet([listener.host for _node, listener in opened])


def _hosts(opened: list[Opened]) -> tuple[str, ...]:
    return host_names(node for node, _listener in opened)


@rule(variable="kafka_listeners", fix="give each its own port (metrics: kafka_metrics_port)")
def port_twice_on_node(inventory: Inventory) -> Iterator[Problem]:
    """Two listeners of a node have the same port, or its metrics have that of a listener."""
    for node in inventory.processes:
        names: dict[int, list[str]] = {}
        for listener in node.ports():
            names.setdefault(listener.port or 0, []).append(listener.name)
        for port, sharing in names.items():
            if port and len(sharing) > 1:
                yield Problem(node, f"listeners {' and '.join(sharing)} have the same port", port)


@rule(
    variable="kafka_listeners",
    fix="give the nodes different ports (metrics: kafka_metrics_port), or bind them to different addresses",
)
def port_twice_on_machine(inventory: Inventory) -> Iterator[Problem]:
    """Two nodes on one machine, of any cluster, have the same port and do not bind to different addresses."""
    wanted: dict[tuple[str, int], list[Opened]] = {}
    for node in inventory.nodes:
        for listener in node.ports():
            wanted.setdefault((node.machine, listener.port or 0), []).append((node, listener))
    shared: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (machine, port), opened in wanted.items():
        if port and len(_hosts(opened)) > 1 and _port_meets(opened):
            shared.setdefault((machine, _hosts(opened)), []).append(str(port))
    for (machine, hosts), ports in shared.items():
        yield Problem(hosts, f"nodes on machine {machine} have the same port", ", ".join(ports))


def binds_meet(hosts: list[str]) -> bool:
    """True when two listeners with these bind addresses cannot have the same port."""
    everywhere = any(host in ("", *META_ADDRESSES) for host in hosts)
    return everywhere or len(set(hosts)) < len(hosts)


@rule(variable="kafka_listeners", fix="give all nodes of the cluster the same list")
def no_controller_listener(inventory: Inventory) -> Iterator[Problem]:
    """A broker's list lacks the listener of the controllers, so it does not know how to reach them."""
    for cluster in inventory.clusters():
        wanted = _controller_listeners(cluster)
        for node in cluster.brokers:
            if not node.controller and wanted and _names(node).isdisjoint(wanted):
                what = "the broker does not know the listener of the controllers"
                yield Problem(node, what, "no entry for it", f"the entry {' or '.join(sorted(wanted))}")


def _controller_listeners(cluster: Cluster) -> set[str]:
    listeners = (listener for node in cluster.controllers for listener in node.listeners())
    return {listener.name.upper() for listener in listeners if listener.purpose == CONTROLLER_PURPOSE}


def _names(node: Node) -> set[str]:
    """The names of all entries of the node's list, also of those it does not open."""
    entries = node.get("kafka_listeners", [])
    return {str(entry.get("name", "")).upper() for entry in entries if isinstance(entry, dict)}
