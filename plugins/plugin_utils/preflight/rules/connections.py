# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on limits of connections below what the nodes of the cluster need to each other.

A node over its limit accepts no more connections, or closes those of an address at once, whoever connects: the quorum
elects again and again, and brokers are fenced (seen with `max.connections` 2). Kafka spares the listener between
brokers from the limit of the whole broker, not from that of the listener, and never the listener of the controllers
(SocketServer, ConnectionQuotas.protectedListener).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ....module_utils._core.addresses import is_address, is_loopback, plain_host
from ....module_utils._core.properties import value_text
from ...inventory.model import CONTROLLER_PURPOSE, Cluster, Inventory, Node
from ...inventory.variables import as_int
from ...render.bounds import ADDRESS_CONNECTIONS
from ..in_force import number, uses_zookeeper, written
from ..mirror_flows import mirrors_of
from ..rule import Problem, rule
from .lockouts import authorizer

LIMIT = "max.connections"
ADDRESS_LIMIT = "max.connections.per.ip"
OVERRIDES = f"{ADDRESS_LIMIT}.overrides"
CLIENTS, BROKERS = "clients", "brokers"
#: A broker to the active controller: the fetches of the quorum (a combined node to itself: its registration), and the
#: channels heartbeat, forwarding, alter-partition and directory-assignments (BrokerServer). Each is one connection that
#: is opened when it is first used, and stays.
BROKER_TO_CONTROLLER = 5
#: A controller to the active one: the fetches of the quorum, and its registration (ControllerServer).
CONTROLLER_TO_CONTROLLER = 2
#: A broker to another one beside its fetchers: markers of transactions (TransactionMarkerChannelManager), and the
#: question whether one is open (AddPartitionsToTxnManager).
BROKER_TO_BROKER = 2
#: In ZooKeeper mode the controller to each broker, and each broker to the controller (alter-partition).
ZOOKEEPER_CONTROLLER = 2


def opened(peer: Node, node: Node) -> Counter[str]:
    """Return by purpose of the listener how many connections a peer opens to a node; both may be the same."""
    found: Counter[str] = Counter()
    if node.controller and peer.broker:
        found[CONTROLLER_PURPOSE] += BROKER_TO_CONTROLLER
    if node.controller and peer.controller and peer is not node:
        found[CONTROLLER_PURPOSE] += CONTROLLER_TO_CONTROLLER
    if node.broker and peer.broker and peer is not node:
        fetchers = number(peer, "num.replica.fetchers")
        found[BROKERS] += BROKER_TO_BROKER + (max(fetchers.value, 1) if fetchers is not None else 1)
        found[BROKERS] += ZOOKEEPER_CONTROLLER if uses_zookeeper(node) else 0
    return found


def needed(cluster: Cluster, node: Node, mirrors: int) -> Counter[str]:
    """Return by purpose what all nodes of its cluster need of a node, and one for each mirror and the administrator."""
    found: Counter[str] = Counter()
    for peer in cluster.nodes:
        found += opened(peer, node)
    if node.broker:
        found[CLIENTS] += 1 + mirrors
    return found


def _listeners(node: Node) -> dict[str, tuple[str, ...]]:
    """Return by listener that a node opens, in small letters, the purposes that it serves."""
    own = node.listeners()
    # Brokers without a listener of their own take the first for clients (inventory/nodes.py).
    shared = BROKERS not in {one.purpose for one in own}
    first = next((one.name for one in own if one.purpose == CLIENTS), "")
    return {one.name.lower(): (CLIENTS, BROKERS) if shared and one.name == first else (one.purpose,) for one in own}


@rule(fix="raise the limit, or remove it and limit the listener for clients (listener.name.X.max.connections)")
def connections_below_nodes(inventory: Inventory) -> Iterator[Problem]:
    """`max.connections` of a node, or of one of its listeners (`listener.name.X.max.connections`), is below what the
    nodes of its cluster hold open to it, and one for the administrator and each mirror: others cannot connect, the
    quorum elects again and again."""
    for cluster in inventory.clusters():
        mirrors = len(mirrors_of(inventory, cluster.name))
        for node in (one for one in cluster.nodes if not one.zookeeper):
            need = needed(cluster, node, mirrors)
            least = {LIMIT: need.total()}
            for name, purposes in _listeners(node).items():
                least[f"listener.name.{name}.{LIMIT}"] = sum(need[purpose] for purpose in purposes)
            for key, count in least.items():
                one = written(node, key)
                if one is not None and one.value < count:
                    what = "the nodes of the cluster need more connections to this one"
                    yield Problem(node, what, str(one), f"at least {count}", variable=one.variable)


@rule(fix=f"raise {ADDRESS_LIMIT}, or exempt the address in {OVERRIDES}; without both the nodes are exempt")
def address_limit_below_nodes(inventory: Inventory) -> Iterator[Problem]:
    """`max.connections.per.ip` with `max.connections.per.ip.overrides` leaves the nodes on a machine fewer connections
    than they hold open to a node: it closes the others at once. Without overrides of the inventory brokers exempt the
    nodes of their cluster; controllers do not."""
    for cluster in inventory.clusters():
        mirrors = mirrors_of(inventory, cluster.name)
        for node in (one for one in cluster.nodes if not one.zookeeper):
            limits = AddressLimits.of(node)
            machines = dict.fromkeys(peer.machine for peer in cluster.nodes) if limits is not None else {}
            for machine in machines:
                peers = [peer for peer in cluster.nodes if peer.machine == machine]
                need = sum(opened(peer, node).total() for peer in peers)
                need += sum(mirror.machine == machine for mirror in mirrors) if node.broker else 0
                limit = limits.most(_words(peers, machine == node.machine)) if limits is not None else None
                if limits is not None and limit is not None and limit < need:
                    names = ", ".join(peer.name for peer in peers)
                    what = f"the nodes on one machine ({names}) need more connections to this one"
                    found = f"{limit} for the address of {machine}"
                    yield Problem(node, what, found, f"at least {need}", variable=limits.variable)


@rule(fix="raise the limit, or remove it to get the default")
def ensemble_below_brokers(inventory: Inventory) -> Iterator[Problem]:
    """`maxClientCnxns` (of one address) or `maxCnxns` (of all) of a server of ZooKeeper is below the sessions that
    brokers hold, one each and one more with an authorizer: when its peers are down, brokers that come to it find no
    place."""
    for cluster in inventory.clusters():
        sessions: Counter[str] = Counter()
        for broker in cluster.brokers:
            sessions[broker.machine] += 2 if authorizer(broker) else 1
        least = {"maxClientCnxns": max(sessions.values(), default=0), "maxCnxns": sessions.total()}
        for server in cluster.zookeepers:
            for key, count in least.items():
                one = server.properties().get(key)
                limit = as_int(one.value) if one is not None else None
                if one is not None and limit is not None and 0 < limit < count:
                    what = "the brokers need more sessions than a server takes"
                    yield Problem(server, what, f"{key} {limit}", f"0, or at least {count}", variable=one.variable)


class AddressLimits:
    """What a node grants to one address."""

    def __init__(self, limit: int, overrides: Mapping[str, int], variable: str) -> None:
        self.limit, self.overrides, self.variable = limit, overrides, variable

    @classmethod
    def of(cls, node: Node) -> AddressLimits | None:
        """Return the limits of a node; None when none hold for the nodes of its cluster, or they are unclear."""
        own, listed = written(node, ADDRESS_LIMIT), node.properties().get(OVERRIDES)
        if listed is None and (own is None or node.broker):
            return None
        overrides = _overrides(listed.value) if listed is not None else {}
        if overrides is None or (own is None and ADDRESS_LIMIT in node.properties()):
            return None
        limit = ADDRESS_CONNECTIONS if own is None else own.value
        return cls(limit, overrides, own.variable if own is not None else listed.variable if listed is not None else "")

    def most(self, words: set[str]) -> int | None:
        """Return what an address that is known by these words is granted; None when names make it unclear."""
        exact = [count for host, count in self.overrides.items() if host in words]
        if exact:
            return max(exact)
        # A name here may be an address there.
        unclear = any(not is_address(word) for word in {*words, *self.overrides})
        return None if self.overrides and unclear else self.limit


def _words(peers: list[Node], same: bool) -> set[str]:
    """Return the addresses and names of the nodes on one machine; on the node's own one loopback is among them."""
    advertised = (one.advertised_host for peer in peers for one in peer.listeners())
    words = {plain_host(word) for word in (*(peer.address for peer in peers), *advertised)}
    return {*words, "127.0.0.1", "::1"} if same or any(map(is_loopback, words)) else words


def _overrides(value: Any) -> dict[str, int] | None:
    """Return the entries host:count; None when one is something else, which Kafka refuses."""
    if value is None or isinstance(value, Mapping):
        return None
    found = {}
    for entry in filter(None, (part.strip() for part in value_text(OVERRIDES, value).split(","))):
        host, _colon, count = entry.rpartition(":")
        most = as_int(count)
        if not host or most is None:
            return None
        found[plain_host(host)] = most
    return found
