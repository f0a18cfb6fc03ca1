# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on the address that a listener advertises against the one that it is bound to.

Only addresses are judged: a name may lead anywhere, and what is bound to all addresses is found at each. The names by
which the inventory itself reaches a node are known, so a node that advertises those of another one is too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ....module_utils._core.addresses import is_address, is_loopback
from ...inventory.model import Inventory, Listener, Node
from ..rule import WARNING, Problem, rule
from .listeners import META_ADDRESSES

_ONE_PORT = "leave advertised_port out; accept it where ports are translated (NAT, containers)"


def _elsewhere(inventory: Inventory) -> Iterator[tuple[Node, Listener, bool]]:
    """Yield listeners that advertise an address they are not bound to, and whether one of the two is loopback."""
    for cluster in inventory.clusters():
        several = len({node.machine for node in cluster.nodes}) > 1
        for node in cluster.nodes:
            for listener in node.listeners() if not node.zookeeper else ():
                bound, told = listener.host, listener.advertised_host
                judged = all(is_address(one) or is_loopback(one) for one in (bound, told))
                # What advertised_wildcard and advertised_loopback name, and two names of which one may be the other.
                other = {bound, told}.intersection(META_ADDRESSES) or (several and is_loopback(told))
                alike = bound == told or ("localhost" in (bound, told) and is_loopback(bound) and is_loopback(told))
                if judged and not other and not alike:
                    yield node, listener, is_loopback(bound) or is_loopback(told)


@rule(
    variable="kafka_listeners",
    fix="set advertised_host to the address in host, or leave host empty to bind to all addresses; accept it where a "
    "proxy listens",
    acceptable=True,
)
def advertised_unbound(inventory: Inventory) -> Iterator[Problem]:
    """A listener advertises an address on which it does not listen, and one of the two is loopback, such as
    `127.0.0.1` and `127.0.0.9`: no node answers where clients and nodes are sent, unless a proxy does. A warning for
    other listeners for clients than the first, which this collection does not use."""
    for node, listener, loopback in _elsewhere(inventory):
        if loopback:
            first = next((one for one in node.listeners() if one.purpose == "clients"), None)
            extra = listener.purpose == "clients" and listener != first
            problem = _problem(node, listener, "does not listen on the address that it advertises")
            yield replace(problem, level=WARNING) if extra else problem


@rule(
    variable="kafka_listeners",
    fix="set advertised_host to the address in host; accept it where addresses are translated (NAT)",
    level=WARNING,
    acceptable=True,
)
def advertised_translated(inventory: Inventory) -> Iterator[Problem]:
    """A listener is bound to one address or port and advertises another one, which works where a router or a container
    translates it."""
    for node, listener, loopback in _elsewhere(inventory):
        if not loopback:
            yield _problem(node, listener, "is bound to another address than it advertises")
    for node in inventory.kafka:
        for listener in node.listeners():
            if listener.reached_port != listener.port:
                what = f"listener {listener.name} advertises another port than it opens"
                ports = f"port {listener.port}, advertised_port {listener.reached_port}"
                yield Problem(node, what, ports, str(listener.port), fix=_ONE_PORT)


@rule(
    variable="kafka_listeners",
    allowed="an address that leads to this node",
    fix="set advertised_host to an address of the node itself; two nodes may have each other's",
    acceptable=True,
)
def advertised_of_other(inventory: Inventory) -> Iterator[Problem]:
    """A listener advertises an address at which another node listens, as where two nodes have each other's: clients of
    one reach the other, which refuses them. Judged are the hosts that listeners are bound to, `ansible_host` and
    inventory names, of the nodes of one cluster or of one machine."""
    for node in inventory.kafka:
        for listener in node.listeners():
            others = [other for other in inventory.kafka if _answers_for(other, node, listener)]
            if others:
                what = f"listener {listener.name} advertises the address of {', '.join(other.name for other in others)}"
                yield Problem(node, what, listener.socket)


def _answers_for(other: Node, node: Node, listener: Listener) -> bool:
    """Tell whether another node listens at what a listener advertises, and the node itself does not.

    Where both advertise it, advertised_twice says so, and where both open it, port_twice_on_machine.
    """
    beside = other.machine == node.machine
    if other is node or not (beside or other.cluster == node.cluster):
        return False
    told = listener.advertised_host.lower()
    # What is loopback, or the machine that both share, leads to nobody in particular.
    names = () if beside else tuple(name for name in _names(other) if name not in _names(node))
    if told == listener.host.lower() or (is_loopback(told) and not beside):
        return False
    return any(
        theirs.port == listener.reached_port
        and theirs.opens
        and theirs.advertised_host.lower() != told
        and (theirs.host.lower() == told or (told in names and theirs.host in ("", *META_ADDRESSES)))
        for theirs in other.listeners()
    )


def _names(node: Node) -> tuple[str, ...]:
    """Return the names and addresses by which the inventory reaches the machine of a node."""
    return tuple(name.lower() for name in (node.name, node.variables.get("ansible_host")) if isinstance(name, str))


@rule(
    variable="kafka_listeners",
    allowed="an address that the other machines reach, or nothing for all addresses",
    fix="leave host empty, or set it to the address of the machine",
)
def bound_to_loopback(inventory: Inventory) -> Iterator[Problem]:
    """A listener for brokers or controllers is bound to loopback in a cluster on several machines, whose other nodes
    cannot reach it by any name."""
    for cluster in inventory.clusters():
        several = len({node.machine for node in cluster.nodes}) > 1
        for node in cluster.nodes if several else ():
            for listener in node.listeners() if not node.zookeeper else ():
                # An address that it advertises has its own rule.
                named = not (is_address(listener.advertised_host) or is_loopback(listener.advertised_host))
                if listener.purpose != "clients" and is_loopback(listener.host) and named:
                    what = f"listener {listener.name} is closed to the other machines"
                    yield Problem(node, what, f"host {listener.host}")


def _problem(node: Node, listener: Listener, what: str) -> Problem:
    found = f"host {listener.host}, advertised_host {listener.advertised_host}"
    return Problem(node, f"listener {listener.name} {what}", found, listener.host)
