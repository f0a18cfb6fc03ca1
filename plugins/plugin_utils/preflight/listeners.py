# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on listeners: what a node opens, what it advertises, and which ports meet on one machine."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import (
    BROKER_PURPOSES,
    CONTROLLER_PURPOSE,
    UNDEFINED,
    Cluster,
    Inventory,
    Listener,
    Node,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.violation import ERROR, Violation

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
PURPOSES = (*BROKER_PURPOSES, CONTROLLER_PURPOSE)
# Addresses to bind to, never to connect to: Kafka refuses to start when it shall advertise one.
META_ADDRESSES = ("0.0.0.0", "::", "[::]")
MAX_PORT = 65535

if TYPE_CHECKING:
    Opened = tuple[Node, Listener]


def words(inventory: Inventory) -> Iterator[Violation]:
    """B18: name, port, protocol and purpose of each listener are usable."""
    for node in inventory.kafka:
        for listener in node.listeners():
            for field, value, good, allowed in _checks(listener):
                if not good:
                    yield _violation(
                        node, f"listener {listener.name} has an unusable {field}", f"{field} {value!r}", allowed,
                        f"correct {field} of the listener",
                    )  # fmt: skip


def _checks(listener: Listener) -> list[tuple[str, object, bool, str]]:
    # What is no number at all is named as a wrong shape.
    port_good = listener.port is None or 1 <= listener.port <= MAX_PORT
    return [
        ("name", listener.name, bool(re.fullmatch(r"[A-Za-z0-9_-]+", listener.name)), "letters, digits, '_' and '-'"),
        ("port", listener.port, port_good, f"1 to {MAX_PORT}"),
        ("protocol", listener.protocol, listener.protocol in PROTOCOLS, f"one of {', '.join(PROTOCOLS)}"),
        ("purpose", listener.purpose, listener.purpose in PURPOSES, f"one of {', '.join(PURPOSES)}"),
    ]


def names_twice(inventory: Inventory) -> Iterator[Violation]:
    """B18: Kafka keys everything by the listener's name, in capital letters."""
    for node in inventory.nodes:
        names = [listener.name.upper() for listener in node.listeners()]
        for name in dict.fromkeys(names):
            if names.count(name) > 1:
                yield _violation(
                    node, "two listeners have the same name", f"{name} {names.count(name)} times", "each name once",
                    "rename one of them",
                )  # fmt: skip


def purposes(inventory: Inventory) -> Iterator[Violation]:
    """B18: a controller has a listener for controllers, a broker one for clients or brokers."""
    for node in inventory.nodes:
        if node.variables.get("kafka_listeners") is UNDEFINED:
            continue
        found = {listener.purpose for listener in node.listeners()}
        shown = ", ".join(sorted(found)) or "no listener"
        if node.controller and CONTROLLER_PURPOSE not in found:
            yield _violation(
                node, "a controller needs a listener for controllers", shown, f"one with purpose {CONTROLLER_PURPOSE}",
                f"add a listener with purpose {CONTROLLER_PURPOSE}",
            )  # fmt: skip
        if node.broker and not found.intersection(BROKER_PURPOSES):
            yield _violation(
                node, "a broker needs a listener for clients or brokers", shown, "one with purpose clients or brokers",
                "add a listener with purpose clients",
            )  # fmt: skip


def meta_address(inventory: Inventory) -> Iterator[Violation]:
    """B18: 0.0.0.0 is an address to bind to, not one to advertise."""
    for node in inventory.nodes:
        for listener in node.listeners():
            if listener.advertised_host in META_ADDRESSES:
                yield _violation(
                    node, f"listener {listener.name} advertises an address that nobody can connect to",
                    f"advertised_host {listener.advertised_host}", "a name or address that clients reach",
                    "set advertised_host; to bind to all addresses leave host empty",
                )  # fmt: skip


def loopback(inventory: Inventory) -> Iterator[Violation]:
    """B18: on several machines a loopback address leads each client to itself."""
    for cluster in inventory.clusters():
        machines = {node.machine for node in cluster.nodes}
        if len(machines) < 2:
            continue
        for node in cluster.nodes:
            for listener in node.listeners():
                if is_loopback(listener.advertised_host):
                    yield _violation(
                        node, f"listener {listener.name} advertises a loopback address to other machines",
                        f"advertised_host {listener.advertised_host} on {len(machines)} machines",
                        "a name or address that all machines reach", "set advertised_host (or ansible_host)",
                    )  # fmt: skip


def is_loopback(host: str) -> bool:
    """True for localhost and the loopback addresses of IPv4 and IPv6; names are not resolved."""
    if host.lower() in ("localhost", "localhost.localdomain"):
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def advertised_twice(inventory: Inventory) -> Iterator[Violation]:
    """B18: two nodes that advertise one address: clients of one reach the other. Kafka itself does not notice."""
    seen: dict[tuple[str, str, int], list[Opened]] = {}
    for node in inventory.nodes:
        for listener in node.listeners():
            # Across clusters only on one machine: private addresses may repeat in networks that never meet.
            for scope in (f"cluster {node.cluster}", f"machine {node.machine}"):
                seen.setdefault((scope, listener.advertised_host.lower(), listener.port or 0), []).append(
                    (node, listener)
                )
    twice: dict[tuple[str, ...], list[str]] = {}
    for (_scope, host, port), opened in seen.items():
        if port and len(_hosts(opened)) > 1 and not _port_meets(opened) and not _unusable(host, opened):
            addresses = twice.setdefault(_hosts(opened), [])
            addresses.extend({f"{host}:{port}"}.difference(addresses))
    for hosts, addresses in twice.items():
        yield Violation(
            "B18", ERROR, hosts, "kafka_listeners", "several nodes advertise the same address", ", ".join(addresses),
            "an address of its own for each node", "give each node its own advertised_host or port",
        )  # fmt: skip


def _unusable(host: str, opened: list[Opened]) -> bool:
    """Whether the address cannot be advertised at all, which other rules name."""
    return host in META_ADDRESSES or (is_loopback(host) and len({node.machine for node, _listener in opened}) > 1)


def _port_meets(opened: list[Opened]) -> bool:
    """Whether this is one port of one machine wanted twice, which B19 names."""
    one_machine = len({node.machine for node, _listener in opened}) == 1
    return one_machine and binds_meet([listener.host for _node, listener in opened])


def _hosts(opened: list[Opened]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(node.name for node, _listener in opened))


def port_twice_on_node(inventory: Inventory) -> Iterator[Violation]:
    """B19: one listener for one port of a node."""
    for node in inventory.nodes:
        names: dict[int, list[str]] = {}
        for listener in node.listeners():
            names.setdefault(listener.port or 0, []).append(listener.name)
        for port, sharing in names.items():
            if port and len(sharing) > 1:
                yield Violation(
                    "B19", ERROR, (node.name,), "kafka_listeners", f"listeners {' and '.join(sharing)} want one port",
                    str(port), "a port for each listener", "give each listener its own port",
                )  # fmt: skip


def port_twice_on_machine(inventory: Inventory) -> Iterator[Violation]:
    """B19: nodes on one machine, of any cluster, have ports of their own unless they bind to different addresses."""
    wanted: dict[tuple[str, int], list[Opened]] = {}
    for node in inventory.nodes:
        for listener in node.listeners():
            wanted.setdefault((node.machine, listener.port or 0), []).append((node, listener))
    shared: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (machine, port), opened in wanted.items():
        if port and len(_hosts(opened)) > 1 and _port_meets(opened):
            shared.setdefault((machine, _hosts(opened)), []).append(str(port))
    for (machine, hosts), ports in shared.items():
        yield Violation(
            "B19", ERROR, hosts, "kafka_listeners", f"nodes on machine {machine} want the same port", ", ".join(ports),
            "a port of its own for each node of a machine",
            "give the nodes different ports, or bind them to different addresses",
        )  # fmt: skip


def binds_meet(hosts: list[str]) -> bool:
    """True when two listeners with these bind addresses cannot have the same port."""
    everywhere = any(host in ("", *META_ADDRESSES) for host in hosts)
    return everywhere or len(set(hosts)) < len(hosts)


def controllers_reachable(inventory: Inventory) -> Iterator[Violation]:
    """B18: brokers that are no controllers read from kafka_listeners how controllers are reached."""
    for cluster in inventory.clusters():
        wanted = _controller_listeners(cluster)
        for node in cluster.brokers:
            if not node.controller and wanted and _names(node).isdisjoint(wanted):
                yield _violation(
                    node, "the broker does not know the listener of the controllers", "no entry for it",
                    f"the entry {' or '.join(sorted(wanted))}", "give all nodes of the cluster the same list",
                )  # fmt: skip


def _controller_listeners(cluster: Cluster) -> list[str]:
    names = [
        listener.name.upper()
        for node in cluster.controllers
        for listener in node.listeners()
        if listener.purpose == CONTROLLER_PURPOSE
    ]
    return list(dict.fromkeys(names))


def _names(node: Node) -> set[str]:
    """The names of all entries of the node's list, also of those it does not open."""
    entries = node.get("kafka_listeners", [])
    return {str(entry.get("name", "")).upper() for entry in entries if isinstance(entry, dict)}


def _violation(node: Node, what: str, found: str, allowed: str, way_out: str) -> Violation:
    return Violation("B18", ERROR, (node.name,), "kafka_listeners", what, found, allowed, way_out)


RULES = (
    words,
    names_twice,
    purposes,
    meta_address,
    loopback,
    advertised_twice,
    port_twice_on_node,
    port_twice_on_machine,
    controllers_reachable,
)
