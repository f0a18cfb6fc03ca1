# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on native properties that lock out the nodes of the cluster, or its administrator.

`kafka_authorizer` renders all of these; a native property of the same name wins over what it renders. What a principal
builder or native rules make of a name is not known here, and not judged.
"""

from __future__ import annotations

from collections.abc import Iterator

from ....module_utils._core.properties import value_text
from ...inventory.model import Cluster, Inventory, Listener, Node
from ...inventory.properties import Property
from ...inventory.variables import as_bool
from ...render.security import AUTHORIZER, SASL_PROTOCOLS, ZOOKEEPER_AUTHORIZER
from ..in_force import brings_key, in_zookeeper_mode
from ..rule import Problem, rule

CLASS = "authorizer.class.name"
SUPER_USERS = "super.users"
#: Keys that make other names of principals, also with the prefix of a listener.
NAMING = ("principal.builder.class", "ssl.principal.mapping.rules")


def authorizer(node: Node) -> str:
    """Return the authorizer of a node, empty for none."""
    own = node.properties().get(CLASS)
    if own is not None:
        return str("" if own.value is None else own.value).strip()
    ours = ZOOKEEPER_AUTHORIZER if in_zookeeper_mode(node) else AUTHORIZER
    return ours if as_bool(node.get("kafka_authorizer")) else ""


def _kafka(cluster: Cluster) -> list[Node]:
    return [node for node in cluster.nodes if not node.zookeeper]


@rule(fix="write it in kafka_config, which brokers and controllers read, or use kafka_authorizer alone")
def authorizers_differ(inventory: Inventory) -> Iterator[Problem]:
    """The nodes of a cluster have different authorizers (`authorizer.class.name`), or some have none: what brokers deny
    controllers do, and no user can write ACLs where the controllers have none."""
    for cluster in inventory.clusters():
        found: dict[str, list[Node]] = {}
        for node in _kafka(cluster):
            found.setdefault(authorizer(node), []).append(node)
        native = next((one for node in _kafka(cluster) if (one := node.properties().get(CLASS)) is not None), None)
        if len(found) > 1 and native is not None:
            said = "; ".join(f"{name or 'none'} on {', '.join(n.name for n in nodes)}" for name, nodes in found.items())
            what = "the nodes of the cluster have different authorizers"
            yield Problem(_kafka(cluster), what, said, "the same on all nodes", variable=native.variable)


@rule(fix=f"remove {CLASS} and set kafka_authorizer")
def authorizer_overridden(inventory: Inventory) -> Iterator[Problem]:
    """A native `authorizer.class.name` is empty while `kafka_authorizer` is set, which leaves the cluster open, or
    it is the authorizer of the other mode (`AclAuthorizer` for ZooKeeper, `StandardAuthorizer` for KRaft), with which
    no node starts."""
    for node in inventory.kafka:
        own = node.properties().get(CLASS)
        other = AUTHORIZER if in_zookeeper_mode(node) else ZOOKEEPER_AUTHORIZER
        if own is None:
            continue
        if not authorizer(node) and as_bool(node.get("kafka_authorizer")):
            yield Problem(node, "the native property switches the authorizer off", "''", variable=own.variable)
        elif authorizer(node) == other:
            yield Problem(node, "this authorizer is of the other mode", other, variable=own.variable)


@rule(fix=f"remove {SUPER_USERS} and use kafka_authorizer with kafka_super_users, or add these principals")
def nodes_no_super_users(inventory: Inventory) -> Iterator[Problem]:
    """With an authorizer of Kafka a native `super.users`, or none beside a native `authorizer.class.name`, lacks nodes
    of the cluster or the administrator: brokers cannot register or fetch, or no user can write ACLs."""
    for cluster in inventory.clusters():
        for node in _kafka(cluster):
            own = node.properties()
            native = own.get(SUPER_USERS) or (own.get(CLASS) if not as_bool(node.get("kafka_authorizer")) else None)
            if native is None or authorizer(node) not in (AUTHORIZER, ZOOKEEPER_AUTHORIZER) or _is_unclear(node):
                continue
            listed = _listed(own.get(SUPER_USERS))
            missing = [name for name in _principals(cluster, node) if name not in listed]
            if missing:
                what = "the authorizer denies nodes of the cluster, or the administrator, what they need"
                yield Problem(node, what, f"without {', '.join(missing)}", "all of them", variable=native.variable)


def _is_unclear(node: Node) -> bool:
    """Return whether names may be others than they are here, or everything is open, which has its own rule."""
    own = node.properties()
    named = any(key == one or key.endswith(f".{one}") for key in own for one in NAMING)
    return named or as_bool(
        own["allow.everyone.if.no.acl.found"].value if "allow.everyone.if.no.acl.found" in own else 0
    )


def _listed(one: Property | None) -> set[str]:
    """Return the principals of a native super.users."""
    if one is None or not isinstance(one.value, (str, int)):
        return set()
    return {part.strip() for part in value_text(SUPER_USERS, one.value).split(";")}


def _principals(cluster: Cluster, node: Node) -> list[str]:
    """Return the principals of the nodes, and of the administrator, as a node sees them."""
    inner = _inner(node)
    protocols = {listener.protocol for listener in inner}
    if "SSL" in protocols:
        # What a certificate names that others made is not known.
        principals = [] if brings_key(node) else [f"User:{peer.name}" for peer in _kafka(cluster)]
    else:
        # As whom nodes log in stands in the secret of a login.
        principals = ["User:ANONYMOUS"] if "PLAINTEXT" in protocols else []
    clients = next((one for one in node.listeners() if one.purpose == "clients"), None)
    if node.broker and clients is not None and clients.protocol != "PLAINTEXT":
        principals.append(f"User:{node.text('kafka_admin_user') or 'admin'}")
    return list(dict.fromkeys(principals))


def _inner(node: Node) -> list[Listener]:
    """Return the listeners at which other nodes connect; brokers without one of their own use the clients' one."""
    own = node.listeners()
    inner = [one for one in own if one.purpose != "clients"]
    shared = node.broker and not any(one.purpose == "brokers" for one in own)
    return inner + ([one for one in own if one.purpose == "clients"][:1] if shared else [])


@rule(fix="remove it, or set it to required")
def nodes_anonymous(inventory: Inventory) -> Iterator[Problem]:
    """With an authorizer a native `listener.name.X.ssl.client.auth` is `none` at a listener of nodes, which are then
    anonymous and denied everything."""
    for node in inventory.kafka:
        own = node.properties()
        for listener in _inner(node) if authorizer(node) else ():
            one = own.get(f"listener.name.{listener.name.lower()}.ssl.client.auth")
            if one is not None and listener.protocol == "SSL" and str(one.value).strip().lower() == "none":
                what = f"nodes are anonymous at listener {listener.name}, and the authorizer denies them everything"
                yield Problem(node, what, "none", "required", variable=one.variable)


@rule(fix="add the mechanism, or remove the property and use kafka_sasl_mechanisms")
def administrator_mechanism(inventory: Inventory) -> Iterator[Problem]:
    """A native `listener.name.X.sasl.enabled.mechanisms` of the listener for clients lacks the first of
    `kafka_sasl_mechanisms`, with which the administrator logs in."""
    for node in inventory.nodes:
        clients = next((one for one in node.listeners() if one.purpose == "clients"), None)
        wanted = node.names("kafka_sasl_mechanisms")
        if clients is None or clients.protocol not in SASL_PROTOCOLS or not wanted or not node.broker:
            continue
        one = node.properties().get(f"listener.name.{clients.name.lower()}.sasl.enabled.mechanisms")
        if one is not None and isinstance(one.value, str) and wanted[0] not in map(str.strip, one.value.split(",")):
            what = f"the administrator cannot log in at listener {clients.name}"
            yield Problem(node, what, one.value, f"{wanted[0]} among them", variable=one.variable)
