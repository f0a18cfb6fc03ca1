# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on who may connect and what they may do: protocols, certificates, passwords, authorizer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ansible_collections.streamops.kafka.plugins.plugin_utils.cves import of_version
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import (
    UNDEFINED,
    Inventory,
    Node,
    as_bool,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.violation import ERROR, WARNING, Violation
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.security import SASL_PROTOCOLS, TLS_PROTOCOLS

# It names files of the development CA and a folder of the bundle.
CLIENT_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")


def nodes_show_certificates(inventory: Inventory) -> Iterator[Violation]:
    """B33: nodes are who their certificates say; over anything else an authorizer cannot tell them from clients."""
    for node in inventory.kafka:
        allowed = ("SSL",) if as_bool(node.get("kafka_authorizer")) else ("SSL", "PLAINTEXT")
        for listener in node.listeners():
            if listener.purpose != "clients" and listener.protocol not in allowed:
                yield _violation(
                    "B33", node, "kafka_listeners", f"listener {listener.name} does not show which node connects",
                    f"protocol {listener.protocol} for {listener.purpose}", " or ".join(allowed),
                    "set protocol SSL for the listeners of brokers and controllers",
                )  # fmt: skip


def brokers_need_their_own_listener(inventory: Inventory) -> Iterator[Violation]:
    """B33: brokers without a listener of their own would log in at the clients' one, and nodes have no password."""
    for node in inventory.nodes:
        purposes = {listener.purpose for listener in node.listeners()}
        sasl = [one.name for one in node.listeners() if one.purpose == "clients" and one.protocol in SASL_PROTOCOLS]
        if node.broker and sasl and "brokers" not in purposes:
            yield _violation(
                "B33", node, "kafka_listeners", "brokers would have to log in at the listener for clients",
                f"only {sasl[0]}", "a listener with purpose brokers", "add one with purpose brokers, protocol SSL",
            )  # fmt: skip


def clients_are_known(inventory: Inventory) -> Iterator[Violation]:
    """B33: with an authorizer, somebody must be known at the listener for clients, the administrator first."""
    for node in inventory.nodes:
        for listener in node.listeners():
            unknown = listener.purpose == "clients" and listener.protocol == "PLAINTEXT"
            if unknown and as_bool(node.get("kafka_authorizer")):
                yield _violation(
                    "B33", node, "kafka_listeners", f"listener {listener.name} knows nobody who may do anything",
                    "PLAINTEXT with kafka_authorizer", "SASL_SSL or SSL", "set the protocol of the listener",
                )  # fmt: skip


def open_to_everyone(inventory: Inventory) -> Iterator[Violation]:
    """B33: what has no ACL is open to everybody."""
    for node in inventory.nodes:
        if as_bool(node.config().get("allow.everyone.if.no.acl.found")):
            yield _violation(
                "B33", node, "kafka_config['allow.everyone.if.no.acl.found']", "what has no ACL is open to everybody",
                "true", "false", "remove the key and write ACLs",
            )  # fmt: skip


def password_in_clear(inventory: Inventory) -> Iterator[Violation]:
    """C14: SASL without TLS; SCRAM can then be replayed (CVE-2024-56128)."""
    for cluster in inventory.clusters():
        for node in cluster.nodes:
            for listener in node.listeners():
                if listener.protocol == "SASL_PLAINTEXT":
                    yield _violation(
                        "C14", node, "kafka_listeners", f"listener {listener.name} takes logins without encryption",
                        "SASL_PLAINTEXT", "SASL_SSL", "set protocol SASL_SSL and kafka_tls_source",
                        level=ERROR if cluster.production else WARNING, policy=True,
                    )  # fmt: skip


def administrator_can_log_in(inventory: Inventory) -> Iterator[Violation]:
    """B34: the administrator has what the listener for clients asks for."""
    for node in inventory.nodes:
        asked = {listener.protocol for listener in node.listeners() if listener.purpose == "clients"}
        password = node.variables.get("kafka_admin_password")
        if asked.intersection(SASL_PROTOCOLS) and password is not UNDEFINED and not node.text("kafka_admin_password"):
            yield _violation(
                "B34", node, "kafka_admin_password", "the administrator has no password", "an empty value",
                "a value of your own from the vault", "put a long random value into the vault and refer to it",
            )  # fmt: skip
        if asked == {"SSL"} and not (node.text("kafka_admin_certificate_file") and node.text("kafka_admin_key_file")):
            yield _violation(
                "B33", node, "kafka_admin_certificate_file", "the administrator has no certificate", "an empty value",
                "certificate and key on the control node", "set kafka_admin_certificate_file and kafka_admin_key_file",
            )  # fmt: skip


def certificates_come_from_somewhere(inventory: Inventory) -> Iterator[Violation]:
    """B32: listeners with TLS need certificates."""
    for node in inventory.nodes:
        tls = [listener.name for listener in node.listeners() if listener.protocol in TLS_PROTOCOLS]
        own = any(str(key).endswith("ssl.keystore.location") for key in node.config())
        if tls and not own and not node.text("kafka_tls_source"):
            yield _violation(
                "B32", node, "kafka_tls_source", f"listener {tls[0]} has no certificate", "an empty value",
                "development_ca or files", "say where the certificates come from",
            )  # fmt: skip


def development_certificates(inventory: Inventory) -> Iterator[Violation]:
    """C15: a CA whose key lies on a control node is not for production."""
    for cluster in inventory.clusters():
        for node in cluster.nodes:
            if cluster.production and node.text("kafka_tls_source") == "development_ca":
                yield _violation(
                    "C15", node, "kafka_tls_source", "certificates of the development CA in production",
                    "development_ca", "files", "bring certificates of your own CA", policy=True,
                )  # fmt: skip


def users_are_no_nodes(inventory: Inventory) -> Iterator[Violation]:
    """B33: a user with the name of a node or of the administrator would have all their rights."""
    for cluster in inventory.clusters():
        first = cluster.nodes[0]
        mighty = {*cluster.hosts, first.text("kafka_admin_user")}
        users = first.get("kafka_users", [])
        named = [str(user.get("name")) for user in users if isinstance(user, dict)] if isinstance(users, list) else []
        for name in sorted(mighty.intersection(named)):
            yield _violation(
                "B33", first, "kafka_users", "a user has the name of a super user", name,
                "names of neither nodes nor the administrator", "rename the user",
            )  # fmt: skip


def client_names(inventory: Inventory) -> Iterator[Violation]:
    """B33: names of clients that show certificates are those of files, and of nobody who may do everything."""
    for cluster in inventory.clusters():
        first = cluster.nodes[0]
        mighty = {*cluster.hosts, first.text("kafka_admin_user")}
        listed = first.get("kafka_tls_client_names", [])
        for name in map(str, listed if isinstance(listed, (list, tuple)) else []):
            if name in mighty:
                yield _violation(
                    "B33", first, "kafka_tls_client_names", "a client has the name of a super user", name,
                    "names of neither nodes nor the administrator", "rename the client",
                )  # fmt: skip
            if not CLIENT_NAME.fullmatch(name):
                yield _violation(
                    "B33", first, "kafka_tls_client_names", "this name of a client cannot be that of a file",
                    repr(name), "letters, digits, dot, hyphen and underscore", "rename the client",
                )  # fmt: skip


def plain_users(inventory: Inventory) -> Iterator[Violation]:
    """B33: users of PLAIN are such that brokers can list them, nobody mighty, and not there in vain."""
    for cluster in inventory.clusters():
        first = cluster.nodes[0]
        listed = first.get("kafka_plain_users", [])
        users = [user for user in listed if isinstance(user, dict)] if isinstance(listed, (list, tuple)) else []
        names = [str(user.get("name")) for user in users]
        mighty = {*cluster.hosts, first.text("kafka_admin_user")}
        for name in dict.fromkeys(names):
            if name in mighty or names.count(name) > 1 or not CLIENT_NAME.fullmatch(name):
                yield _violation(
                    "B33", first, "kafka_plain_users", "a user of PLAIN cannot have this name", repr(name),
                    "letters, digits, dot, hyphen and underscore, once, of neither a node nor the administrator",
                    "rename the user",
                )  # fmt: skip
        if users and "PLAIN" not in _sasl_mechanisms(first):
            yield _violation(
                "B33", first, "kafka_plain_users", "users of PLAIN, which no listener offers",
                ", ".join(_sasl_mechanisms(first)) or "no mechanism", "PLAIN among kafka_sasl_mechanisms",
                "add PLAIN to kafka_sasl_mechanisms, or give them SCRAM as kafka_users",
            )  # fmt: skip


def known_vulnerabilities(inventory: Inventory) -> Iterator[Violation]:
    """C21: what is publicly known about the chosen version, and what helps until there is a better one."""
    for cluster in inventory.clusters():
        # Said in every run of production until somebody states that it is known.
        if not cluster.production or "C21" in cluster.accepted():
            continue
        first = cluster.nodes[0]
        enabled = str(first.config().get("sasl.enabled.mechanisms", ""))
        found = of_version(cluster.version, tuple(_sasl_mechanisms(first)) + tuple(enabled.replace(",", " ").split()))
        for helps in dict.fromkeys(one.helps for one in found):
            named = [f"{one.cve} ({one.what})" for one in found if one.helps == helps]
            yield Violation(
                "C21", WARNING, cluster.hosts, "kafka_version", f"Kafka {cluster.version} has known vulnerabilities",
                ", ".join(named), "", f"{helps}; name C21 in preflight_accept once this is known", policy=True,
            )  # fmt: skip


def _sasl_mechanisms(node: Node) -> list[str]:
    uses_sasl = any(listener.protocol in SASL_PROTOCOLS for listener in node.listeners())
    listed = node.get("kafka_sasl_mechanisms", []) if uses_sasl else []
    return [str(one) for one in listed] if isinstance(listed, (list, tuple)) else []


def _violation(
    rule: str, node: Node, variable: str, what: str, found: str, allowed: str, way_out: str,
    level: str = ERROR, policy: bool = False,
) -> Violation:  # fmt: skip
    return Violation(rule, level, (node.name,), variable, what, found, allowed, way_out, policy)


RULES = (
    nodes_show_certificates,
    brokers_need_their_own_listener,
    clients_are_known,
    open_to_everyone,
    password_in_clear,
    administrator_can_log_in,
    certificates_come_from_somewhere,
    development_certificates,
    users_are_no_nodes,
    client_names,
    plain_users,
    known_vulnerabilities,
)
