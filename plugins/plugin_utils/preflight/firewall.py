# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on the firewall: that it can be made, that administration gets through, and that it means one thing.

Names are resolved by the action plugin beforehand (Inventory.addresses); the rules themselves stay pure.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import (
    LOCAL,
    PLACEHOLDER,
    UNDEFINED,
    Cluster,
    Inventory,
    Node,
    as_bool,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.violation import ERROR, Violation
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.firewall import (
    PARTIES,
    administrator_words,
    host_words,
    network,
    ssh_ports,
    written,
)


def guarded(node: Node) -> bool:
    """Whether the ports of this node are to be filtered."""
    return as_bool(node.get("kafka_firewall", False))


def names_to_resolve(inventory: Inventory) -> list[str]:
    """The names that the firewalls of this inventory need the addresses of, sorted; none without a firewall."""
    words = {word for _host, _variable, word in _words(inventory)}
    return sorted(word for word in words if network(word) is None)


def _guarded_clusters(inventory: Inventory) -> list[Cluster]:
    return [cluster for cluster in inventory.clusters() if any(guarded(node) for node in cluster.nodes)]


def _known(node: Node) -> Mapping[str, Any]:
    """The variables of a node that words are made from, without what has the wrong shape (C12 names that)."""
    names = ("kafka_firewall_addresses", "kafka_firewall_admin_addresses", "ansible_host", "ansible_connection")
    known = {name: node.get(name) for name in names}
    for name in names[:2]:
        listed = known[name] if isinstance(known[name], (list, tuple)) else []
        known[name] = [str(word) for word in listed if word is not UNDEFINED and str(word).strip()]
    return known


def _words(inventory: Inventory) -> Iterator[tuple[str, str, str]]:
    """(host, variable, word) of all that firewalls of the inventory let in by its address; placeholders are C20's."""
    clusters = _guarded_clusters(inventory)
    by_name = {node.name: _known(node) for node in (*inventory.nodes, *inventory.peers)}
    for node in (*(node for cluster in clusters for node in cluster.nodes), *(inventory.peers if clusters else ())):
        variable = "kafka_firewall_addresses" if by_name[node.name]["kafka_firewall_addresses"] else "ansible_host"
        for word in host_words(by_name[node.name], node.name):
            if PLACEHOLDER not in word:
                yield node.name, variable, word
    for node in (node for cluster in clusters for node in cluster.nodes):
        for word in administrator_words(by_name[node.name], by_name):
            if PLACEHOLDER not in word:
                yield node.name, "kafka_firewall_admin_addresses", word


def service_manager(inventory: Inventory) -> Iterator[Violation]:
    """C16: the table is loaded by a unit of systemd, and only root may load it."""
    for node in inventory.nodes:
        manager = node.text("kafka_service_manager")
        if guarded(node) and manager != "systemd":
            yield _violation(
                node, "kafka_firewall", "the firewall needs systemd", f"kafka_service_manager {manager}",
                "kafka_service_manager systemd", "set kafka_firewall to false, or run the nodes under systemd",
            )  # fmt: skip


def administration_port(inventory: Inventory) -> Iterator[Violation]:
    """C16: a run never filters the port it came in by."""
    for node in inventory.nodes:
        if not guarded(node):
            continue
        ports = {
            port for other in inventory.nodes if other.machine == node.machine for port in ssh_ports(_ports(other))
        }
        for listener in node.listeners():
            if listener.port in ports:
                yield _violation(
                    node, "kafka_listeners", f"listener {listener.name} wants the administration port of its machine",
                    f"port {listener.port}", f"any port but {', '.join(map(str, sorted(ports)))}",
                    "give the listener another port",
                )  # fmt: skip


def _ports(node: Node) -> Mapping[str, Any]:
    return {name: node.get(name) for name in ("ansible_port", "ansible_ssh_port")}


def networks(inventory: Inventory) -> Iterator[Violation]:
    """C16: what may connect is written as addresses and networks, for a purpose that has listeners."""
    for node in inventory.nodes:
        given = node.get("kafka_firewall_networks", {})
        if not isinstance(given, Mapping):
            yield _violation(
                node, "kafka_firewall_networks", "the value has the wrong type", type(given).__name__,
                "a dict, purpose to list of networks", "write it as allowed",
            )  # fmt: skip
            continue
        for purpose, listed in given.items():
            where = f"kafka_firewall_networks['{purpose}']"
            if purpose not in PARTIES:
                yield _violation(
                    node, where, "no listener has this purpose", str(purpose), f"one of {', '.join(PARTIES)}",
                    "correct the purpose",
                )  # fmt: skip
            yield from _bad_networks(node, where, listed)


def listener_networks(inventory: Inventory) -> Iterator[Violation]:
    """C16: networks of a listener are well written, and stand at listeners for clients only."""
    for node in inventory.nodes:
        listed = node.get("kafka_listeners", [])
        for entry in listed if isinstance(listed, (list, tuple)) else ():
            if not isinstance(entry, Mapping) or not entry.get("networks") or entry["networks"] is UNDEFINED:
                continue
            where = f"kafka_listeners, networks of {entry.get('name', '?')}"
            yield from _bad_networks(node, where, entry["networks"])
            if entry.get("purpose") != "clients":
                yield _violation(
                    node, where, "a listener that is not for clients lets in the nodes of its cluster only",
                    f"purpose {entry.get('purpose')}", "networks at listeners with purpose clients",
                    "take networks out, or name what must get in under kafka_firewall_networks",
                )  # fmt: skip


def _bad_networks(node: Node, where: str, listed: Any) -> Iterator[Violation]:
    if not isinstance(listed, (list, tuple)):
        yield _violation(
            node, where, "the value has the wrong type", repr(str(listed)), "a list of networks", "make it a list"
        )
        return
    for text in listed:
        problem = None if text is UNDEFINED or PLACEHOLDER in str(text) else _network_problem(str(text))
        if problem:
            yield _violation(
                node,
                where,
                "a network is badly written",
                repr(str(text)),
                "an address or a network in CIDR form",
                problem,
            )


def _network_problem(text: str) -> str | None:
    """What to do about a badly written network, None when it is fine."""
    if network(text) is None:
        return "write an address or a network such as 10.1.0.0/16; names are not resolved here"
    try:
        ipaddress.ip_network(text.strip().strip("[]"))
    except ValueError:
        return f"write {network(text)}, or the one address that is meant"
    return None


def unresolvable(inventory: Inventory) -> Iterator[Violation]:
    """C16: the control node knows the address of everybody whom a firewall lets in by name."""
    for host, variable, word in _words(inventory):
        if network(word) is None and not inventory.addresses.get(word):
            yield Violation(
                "C16", ERROR, (host,), variable, f"the control node finds no address of {word}", word,
                "an address, or a name that the control node resolves",
                "set kafka_firewall_addresses of the host, or write an address",
            )  # fmt: skip


def loopback_only(inventory: Inventory) -> Iterator[Violation]:
    """C16: a node of several machines is known to the others by an address that is not loopback."""
    for cluster in _guarded_clusters(inventory):
        if len({node.machine for node in cluster.nodes}) < 2:
            continue
        for node in cluster.nodes:
            words = host_words(_known(node), node.name)
            found = [str(one) for word in words for one in _addresses(inventory, word)]
            unresolved = any(not _addresses(inventory, word) for word in words)
            if not unresolved and all(ipaddress.ip_network(one).is_loopback for one in found):
                yield _violation(
                    node, "kafka_firewall_addresses", "the other machines would not let this node in",
                    ", ".join(found) or "a local connection and no address", "an address other than loopback",
                    "set kafka_firewall_addresses to the addresses that the node connects from",
                )  # fmt: skip


def _addresses(inventory: Inventory, word: str) -> list[str]:
    """The address or network that a word is, or those that its name was resolved to."""
    words = [word] if network(word) is not None else inventory.addresses.get(word, ())
    return [written(one) for one in map(network, words) if one is not None]


def one_machine_two_names(inventory: Inventory) -> Iterator[Violation]:
    """C16: two names of one machine would take turns in replacing the one table that it has."""
    machines: dict[str, list[Node]] = {}
    for node in (node for cluster in _guarded_clusters(inventory) for node in cluster.nodes):
        if node.get("ansible_connection") not in LOCAL:
            for address in _addresses(inventory, node.text("ansible_host") or node.name):
                machines.setdefault(address, []).append(node)
    for address, nodes in machines.items():
        names = list(dict.fromkeys(node.machine for node in nodes))
        if len(names) > 1:
            yield Violation(
                "C16", ERROR, tuple(node.name for node in nodes), "ansible_host",
                f"{' and '.join(names)} are one machine, which has one firewall", address,
                "one name or address for a machine", "give all its nodes the same ansible_host",
            )  # fmt: skip


def administrators(inventory: Inventory) -> Iterator[Violation]:
    """C17: the modules, which run on the control node, get through to the brokers."""
    for cluster in _guarded_clusters(inventory):
        known = {node.name: _known(node) for node in cluster.nodes}
        missing = [node for node in cluster.brokers if guarded(node) and not _administered(node, known[node.name])]
        for node in missing:
            yield Violation(
                "C17", ERROR, (node.name,), "kafka_firewall_admin_addresses",
                "nobody may administer the cluster from outside", "no address", "the address of the control node",
                "name the address that the control node connects from, or consent by adding C17 to preflight_accept",
                policy=True,
            )  # fmt: skip


def _administered(node: Node, known: Mapping[str, Any]) -> bool:
    return bool(known["kafka_firewall_admin_addresses"]) or known["ansible_connection"] in LOCAL


def shared_ports(inventory: Inventory) -> Iterator[Violation]:
    """C16: nodes that share a port of a machine are told apart by addresses, since names may mean several."""
    for node in inventory.nodes:
        for listener in node.listeners() if guarded(node) else ():
            sharing = [
                other
                for other in inventory.nodes
                if other.machine == node.machine and other is not node and guarded(other)
                for theirs in other.listeners()
                if theirs.port == listener.port and theirs.host
            ]
            if sharing and listener.host and network(listener.host) is None:
                yield _violation(
                    node, "kafka_listeners", f"listener {listener.name} shares its port with {sharing[0].name}",
                    f"host {listener.host}", "an address to bind to", "write the address, or give it a port of its own",
                )  # fmt: skip


def _violation(node: Node, variable: str, what: str, found: str, allowed: str, way_out: str) -> Violation:
    return Violation("C16", ERROR, (node.name,), variable, what, found, allowed, way_out)


RULES = (
    service_manager,
    administration_port,
    networks,
    listener_networks,
    unresolvable,
    loopback_only,
    one_machine_two_names,
    shared_ports,
    administrators,
)
