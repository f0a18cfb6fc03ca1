# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Who may connect to which port of a machine, derived from the inventory.

Places are the nodes with what their firewall needs to know; from places come the rules of a machine. A rule is
{port, address, purpose, sources, comment}: only these sources may open a connection to this port (of this address;
empty for all). What no rule names is not filtered at all. _firewall/text.py writes rules down.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Union

from ..inventory.mirror_nodes import PURPOSE as MIRROR_REST
from ..inventory.model import LOCAL, METRICS_PURPOSE, Node
from ..inventory.variables import as_bool

Network = Union[ipaddress.IPv4Network, ipaddress.IPv6Network]
#: What places() says of a node, or one of its listeners.
Place = Mapping[str, Any]

#: Purpose of a listener -> the parties that connect to it. Brokers without a listener of their own use the clients'
#: one; modules and Spark jobs connect as clients. Nobody but the nodes of a cluster reaches its other ports.
PARTIES = {
    "clients": ("brokers", "clients", "administrators"),
    "brokers": ("brokers",),
    "controllers": ("brokers", "controllers"),
    "zookeeper_clients": ("brokers", "administrators"),
    "zookeeper_quorum": ("zookeepers",),
    "zookeeper_election": ("zookeepers",),
    # The workers of one target hand each other what their leader has to do (KIP-710); nobody else asks them anything.
    MIRROR_REST: ("mirrors",),
    METRICS_PURPOSE: ("monitors",),
}
# The parties that are nodes of the same cluster.
NODES = ("brokers", "controllers", "zookeepers", "mirrors")
# Where sshd listens unless ansible_port says something else.
SSH_PORT = 22


class FirewallError(ValueError):
    """The inventory gives no firewall that keeps its promises; the message says what, where and the way out."""


def network(word: str) -> Network | None:
    """The network that an address or CIDR names (host bits are dropped); None when it is neither."""
    try:
        return ipaddress.ip_network(str(word).strip().strip("[]"), strict=False)
    except ValueError:
        return None


def host_words(variables: Mapping[str, Any], host: str) -> list[str]:
    """Return what names the addresses that a host connects from: addresses, networks or names, not resolved yet.

    A host that is the control node itself and says nothing has none: it connects through loopback or as administrator.
    """
    given = variables.get("kafka_firewall_addresses") or []
    if given:
        return [str(word) for word in given]
    if variables.get("ansible_connection") in LOCAL and not variables.get("ansible_host"):
        return []
    return [str(variables.get("ansible_host") or host)]


def administrator_words(variables: Mapping[str, Any], hostvars: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The same for those who administer a cluster; an entry that is a host of the inventory means its addresses."""
    words: list[str] = []
    for word in variables.get("kafka_firewall_admin_addresses") or []:
        words += host_words(hostvars[word], word) if word in hostvars else [str(word)]
    return words


def ssh_ports(variables: Mapping[str, Any]) -> list[int]:
    """The ports that administration may need on a host: never filtered."""
    given = [variables.get("ansible_port"), variables.get("ansible_ssh_port")]
    return sorted({SSH_PORT, *(int(str(port)) for port in given if str(port or "").isdigit())})


def places(hosts: Sequence[Node], groups: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    """All that the firewalls of all machines need to know of the inventory, as plain data.

    hosts -- the nodes and mirrors of all clusters, and the other hosts that are let in by their names.
    A place is Node.with_metrics with cluster, firewall, ssh_ports, networks (purpose -> CIDR list) and the words of
    four parties: its own, clients, administrators, monitors (who read its metrics).
    """
    variables = {node.name: node.variables for node in hosts}
    return [
        {
            **node.with_metrics(),
            "cluster": node.cluster,
            "firewall": as_bool(node.get("kafka_firewall", False)),
            "ssh_ports": ssh_ports(node.variables),
            "networks": dict(node.get("kafka_firewall_networks", {})),
            "words": host_words(node.variables, node.name),
            "clients": [word for host in node.client_hosts(groups) for word in host_words(variables[host], host)],
            "administrators": administrator_words(node.variables, variables),
            "monitors": [word for host in node.metrics_hosts(groups) for word in host_words(variables[host], host)],
        }
        for node in hosts
        if node.roles
    ]


def unresolved(inventory: Iterable[Place]) -> list[str]:
    """The names that the control node must resolve before there are rules, sorted."""
    parties = ("words", "clients", "administrators", "monitors")
    words = {word for place in inventory for party in parties for word in place[party]}
    return sorted(word for word in words if network(word) is None)


def rules(inventory: Sequence[Place], host: str, resolved: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    """The rules of the machine of `host`: those of all its nodes that want a firewall, of all clusters, by port.

    resolved -- name to addresses for every name that `unresolved` gave. Raises FirewallError for a name without
    addresses, a port that administration needs, and nodes whose bind addresses do not tell a shared port apart.
    """
    machine = next(node["machine"] for node in inventory if node["host"] == host)
    here = [node for node in inventory if node["machine"] == machine]
    found = [
        {
            "port": listener["port"],
            "address": listener["host"],
            "purpose": listener["purpose"],
            "sources": _sources(inventory, node, listener, resolved),
            "comment": f"{node['host']} {listener['name']}, {listener['purpose']}",
        }
        for node in here
        if node["firewall"]
        for listener in (*node["listeners"], *([node["metrics"]] if node["metrics"] else []))
        if listener["opens"]
    ]
    _refuse_administration(found, {port for node in here for port in node["ssh_ports"]}, machine)
    return sorted(_told_apart(found, machine), key=lambda rule: (rule["port"], rule["address"]))


def parties_of(node: Place, listener: Place, cluster: Iterable[Place]) -> tuple[str, ...]:
    """Return the parties that connect to a listener of a node; cluster -- the places of its cluster.

    Controllers that migrate write to ZooKeeper, and tell brokers that have not moved yet what to do (KIP-866).
    """
    migrates = {"controller", "zookeeper"} <= {role for place in cluster for role in place["roles"]}
    inner = "brokers" if any(other["purpose"] == "brokers" for other in node["listeners"]) else "clients"
    more = ("controllers",) if migrates and listener["purpose"] in ("zookeeper_clients", inner) else ()
    return (*PARTIES[listener["purpose"]], *more)


def _sources(
    inventory: Iterable[Place], node: Place, listener: Place, resolved: Mapping[str, Sequence[str]]
) -> list[str]:
    purpose = listener["purpose"]
    cluster = [other for other in inventory if other["cluster"] == node["cluster"]]
    words = [*listener.get("networks", []), *node["networks"].get(purpose, [])]
    for party in parties_of(node, listener, cluster):
        if party in NODES:
            words += [word for other in cluster if party[:-1] in other["roles"] for word in other["words"]]
        else:
            words += node[party]
    return outermost(_networks(words, resolved))


def _networks(words: Iterable[str], resolved: Mapping[str, Sequence[str]]) -> list[Network]:
    found: list[Network] = []
    for word in dict.fromkeys(words):
        literal = network(word)
        addresses = [literal] if literal is not None else [network(address) for address in resolved.get(word, [])]
        if not addresses:
            raise FirewallError(
                f"{word} has no address that the control node can resolve; set kafka_firewall_addresses of that host, "
                "or write an address. Nothing was changed."
            )
        found += [address for address in addresses if address is not None]
    return found


def outermost(networks: Iterable[Network]) -> list[str]:
    """The networks as sorted text, IPv4 first, none inside another; loopback is left out, being always allowed."""
    kept: list[Any] = []
    for one in sorted({one for one in networks if not one.is_loopback}, key=_order):
        if not (kept and kept[-1].version == one.version and one[0] in kept[-1]):
            kept.append(one)
    return [written(one) for one in kept]


def written(one: Network) -> str:
    """A network as people write it: an address without a length."""
    return str(one.network_address) if one.num_addresses == 1 else str(one)


def _order(one: Network) -> tuple[int, int, int]:
    return one.version, int(one.network_address), one.prefixlen


def _refuse_administration(found: Iterable[Mapping[str, Any]], ports: Iterable[int], machine: str) -> None:
    for rule in found:
        if rule["port"] in ports:
            raise FirewallError(
                f"port {rule['port']} ({rule['comment']}) is the administration port of machine {machine}, which is "
                "never filtered; give the listener another port. Nothing was changed."
            )


def _told_apart(found: list[dict[str, Any]], machine: str) -> list[dict[str, Any]]:
    """The rules with their bind address only where several share a port: all addresses of a machine are meant else."""
    ports = [rule["port"] for rule in found]
    apart = []
    for rule in found:
        shared = ports.count(rule["port"]) > 1
        if shared and network(rule["address"]) is None:
            raise FirewallError(
                f"{rule['comment']}: port {rule['port']} of machine {machine} is shared, so host of the listener must "
                f"be an address (found: {rule['address'] or 'nothing'}). Nothing was changed."
            )
        apart.append({**rule, "address": rule["address"] if shared else ""})
    return apart
