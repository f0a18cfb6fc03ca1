# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on the firewall: whether it can be made, lets the administration in, and is unambiguous.

Names are resolved by the action plugin beforehand (Inventory.addresses); the rules themselves stay pure.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from typing import Any

from ...inventory.model import LOCAL, PLACEHOLDER, Cluster, Inventory, Node
from ...inventory.variables import UNDEFINED, as_bool
from ...render.firewall import PARTIES, administrator_words, host_words, network, ssh_ports, written
from ..by_value import dicts
from ..rule import Problem, rule


def guarded(node: Node) -> bool:
    """Return whether the ports of this node are to be filtered."""
    return as_bool(node.get("kafka_firewall", False))


def names_to_resolve(inventory: Inventory) -> list[str]:
    """The names that the firewalls of this inventory need the addresses of, sorted; none without a firewall."""
    words = {word for _host, _variable, word in _words(inventory)}
    return sorted(word for word in words if network(word) is None)


def _guarded_clusters(inventory: Inventory) -> list[Cluster]:
    return [cluster for cluster in inventory.clusters() if any(guarded(node) for node in cluster.nodes)]


def _known(node: Node) -> Mapping[str, Any]:
    """The variables of a node that words are made from, without what has the wrong shape."""
    names = ("kafka_firewall_addresses", "kafka_firewall_admin_addresses", "ansible_host", "ansible_connection")
    known = {name: node.get(name) for name in names}
    for name in names[:2]:
        listed = known[name] if isinstance(known[name], (list, tuple)) else []
        known[name] = [str(word) for word in listed if word is not UNDEFINED and str(word).strip()]
    return known


def _words(inventory: Inventory) -> Iterator[tuple[str, str, str]]:
    """(host, variable, word) of all that firewalls of the inventory let in by its address, without placeholders."""
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


@rule(variable="kafka_firewall", fix="set kafka_firewall to false, or run the nodes under systemd")
def firewall_without_systemd(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_firewall` is on, but the nodes do not run under systemd, whose unit loads the rules as root."""
    for node in inventory.nodes:
        manager = node.text("kafka_service_manager")
        if guarded(node) and manager != "systemd":
            yield Problem(node, "the firewall needs systemd", f"kafka_service_manager {manager}")


@rule(variable="kafka_listeners", fix="give the listener another port")
def listener_on_ssh_port(inventory: Inventory) -> Iterator[Problem]:
    """A listener has the port by which Ansible reaches the machine (22, `ansible_port`), which must stay open."""
    for node in inventory.nodes:
        if not guarded(node):
            continue
        ports = {
            port for other in inventory.nodes if other.machine == node.machine for port in ssh_ports(_ports(other))
        }
        for listener in node.ports():
            if listener.port in ports:
                what = f"listener {listener.name} has the administration port of its machine"
                allowed = f"any port but {', '.join(map(str, sorted(ports)))}"
                yield Problem(node, what, f"port {listener.port}", allowed)


def _ports(node: Node) -> Mapping[str, Any]:
    return {name: node.get(name) for name in ("ansible_port", "ansible_ssh_port")}


@rule(
    allowed="an address or a network in CIDR form",
    fix="write an address or a network such as 10.1.0.0/16",
)
def bad_network(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_firewall_networks`, `kafka_firewall_accept_cuts` or a listener's networks hold what is no network."""
    for node, where, listed in _networks(inventory):
        if not isinstance(listed, (list, tuple)):
            what, found = "the value has the wrong type", repr(str(listed))
            yield Problem(node, what, found, "a list of networks", "make it a list", where)
            continue
        for text in (str(one) for one in listed if one is not UNDEFINED and PLACEHOLDER not in str(one)):
            fix = _network_problem(text)
            if fix:
                yield Problem(node, "a network is badly written", repr(text), fix=fix, variable=where)


def _networks(inventory: Inventory) -> Iterator[tuple[Node, str, Any]]:
    """The networks that firewalls let in or may cut, with the variable that has them."""
    for node in inventory.nodes:
        if isinstance(node.get("kafka_firewall_accept_cuts"), (list, tuple)):
            yield node, "kafka_firewall_accept_cuts", node.get("kafka_firewall_accept_cuts")
        given = node.get("kafka_firewall_networks", {})
        for purpose, listed in given.items() if isinstance(given, Mapping) else ():
            yield node, f"kafka_firewall_networks['{purpose}']", listed
        for entry in _with_networks(node):
            yield node, f"kafka_listeners, networks of {entry.get('name', '?')}", entry["networks"]


def _with_networks(node: Node) -> list[Mapping[str, Any]]:
    """The entries of kafka_listeners that name networks."""
    entries = dicts(node, "kafka_listeners")
    return [one for one in entries if one.get("networks") and one["networks"] is not UNDEFINED]


def _network_problem(text: str) -> str | None:
    """Say what to do about a badly written network, None when it is fine."""
    if network(text) is None:
        return "write an address or a network such as 10.1.0.0/16; names are not resolved here"
    try:
        ipaddress.ip_network(text.strip().strip("[]"))
    except ValueError:
        return f"write {network(text)}, or the one address that is meant"
    return None


@rule(allowed=f"one of {', '.join(PARTIES)}", fix="correct the purpose")
def unknown_network_purpose(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_firewall_networks` names a purpose that no listener has."""
    for node in inventory.nodes:
        given = node.get("kafka_firewall_networks", {})
        for purpose in given if isinstance(given, Mapping) else ():
            if purpose not in PARTIES:
                where = f"kafka_firewall_networks['{purpose}']"
                yield Problem(node, "no listener has this purpose", purpose, variable=where)


@rule(fix="remove networks, or name what must get in under kafka_firewall_networks")
def networks_at_inner_listener(inventory: Inventory) -> Iterator[Problem]:
    """Networks are set at a listener that is not for clients; such a listener lets in the nodes of its cluster only."""
    for node in inventory.nodes:
        for entry in _with_networks(node):
            if entry.get("purpose") != "clients":
                yield Problem(
                    node,
                    "a listener that is not for clients lets in the nodes of its cluster only",
                    found=f"purpose {entry.get('purpose')}",
                    variable=f"kafka_listeners, networks of {entry.get('name', '?')}",
                )


@rule(fix="set kafka_firewall_addresses of the host, or write an address")
def unresolvable_address(inventory: Inventory) -> Iterator[Problem]:
    """The control node finds no address of a name that a firewall lets in."""
    for host, variable, word in _words(inventory):
        if network(word) is None and not inventory.addresses.get(word):
            yield Problem(host, f"the control node finds no address of {word}", word, variable=variable)


@rule(
    variable="kafka_firewall_addresses",
    fix="set kafka_firewall_addresses to the addresses that the node connects from",
)
def only_loopback_address(inventory: Inventory) -> Iterator[Problem]:
    """A node of a cluster on several machines is known by a loopback address only, which the others do not let in."""
    for cluster in _guarded_clusters(inventory):
        if len({node.machine for node in cluster.nodes}) < 2:
            continue
        for node in cluster.nodes:
            words = host_words(_known(node), node.name)
            found = [str(one) for word in words for one in _addresses(inventory, word)]
            unresolved = any(not _addresses(inventory, word) for word in words)
            if not unresolved and all(ipaddress.ip_network(one).is_loopback for one in found):
                shown = ", ".join(found) or "a local connection and no address"
                yield Problem(node, "the other machines would not let this node in", shown)


def _addresses(inventory: Inventory, word: str) -> list[str]:
    """The address or network that a word is, or those that its name was resolved to."""
    words = [word] if network(word) is not None else inventory.addresses.get(word, ())
    return [written(one) for one in map(network, words) if one is not None]


@rule(variable="ansible_host", fix="give all its nodes the same ansible_host")
def machine_with_two_names(inventory: Inventory) -> Iterator[Problem]:
    """Two names lead to one machine, so its nodes would replace each other's firewall rules in turn."""
    machines: dict[str, list[Node]] = {}
    for node in (node for cluster in _guarded_clusters(inventory) for node in cluster.nodes):
        if node.get("ansible_connection") not in LOCAL:
            for address in _addresses(inventory, node.text("ansible_host") or node.name):
                machines.setdefault(address, []).append(node)
    for address, nodes in machines.items():
        names = list(dict.fromkeys(node.machine for node in nodes))
        if len(names) > 1:
            yield Problem(nodes, f"{' and '.join(names)} are one machine, which has one firewall", address)


@rule(
    variable="kafka_firewall_admin_addresses",
    fix="add the address that the control node connects from",
    acceptable=True,
)
def no_administrator_address(inventory: Inventory) -> Iterator[Problem]:
    """The firewall lets no administrator in (`kafka_firewall_admin_addresses`): modules run on the control node."""
    for cluster in _guarded_clusters(inventory):
        for node in cluster.brokers:
            if guarded(node) and not _administered(node, _known(node)):
                yield Problem(node, "no address may administer the cluster from outside", "no address")


def _administered(node: Node, known: Mapping[str, Any]) -> bool:
    return bool(known["kafka_firewall_admin_addresses"]) or known["ansible_connection"] in LOCAL


@rule(variable="kafka_listeners", fix="write the address, or give it a port of its own")
def shared_port_by_name(inventory: Inventory) -> Iterator[Problem]:
    """Nodes that share a port of a machine bind to names; the firewall tells them apart by addresses only."""
    for node in inventory.nodes:
        for listener in node.ports() if guarded(node) else ():
            sharing = [
                other
                for other in inventory.nodes
                if other.machine == node.machine and other is not node and guarded(other)
                for theirs in other.ports()
                if theirs.port == listener.port and theirs.host
            ]
            if sharing and listener.host and network(listener.host) is None:
                what = f"listener {listener.name} shares its port with {sharing[0].name}"
                yield Problem(node, what, f"host {listener.host}")
