# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on who may connect and what they may do: protocols, certificates, passwords, authorizer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ....module_utils._client.login import TICKETS
from ....module_utils._core.cves import of_version
from ...inventory.model import Cluster, Inventory, Listener, Node
from ...inventory.oauth import MECHANISM
from ...inventory.variables import UNDEFINED, as_bool
from ...render.security import SASL_PROTOCOLS, TLS_PROTOCOLS
from ..by_value import dicts, kind_of
from ..in_force import brings_key, nodes_log_in
from ..rule import BY_PROFILE, WARNING, Problem, rule
from ..service_logins import offers_scram

# It names files of the development CA and a folder of the bundle.
CLIENT_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")


@rule(
    variable="kafka_listeners",
    fix="set protocol SSL for the listeners of brokers and controllers, or say natively by what nodes log in",
)
def nodes_not_authenticated(inventory: Inventory) -> Iterator[Problem]:
    """A listener for brokers or controllers shows no certificates, so an authorizer cannot tell nodes from clients; nor
    do native properties say by what nodes log in there (`sasl.mechanism.inter.broker.protocol` or
    `sasl.mechanism.controller.protocol`, with `listener.name.X.MECHANISM.sasl.jaas.config` or a JAAS file)."""
    for node in inventory.kafka:
        allowed = ("SSL",) if as_bool(node.get("kafka_authorizer")) else ("SSL", "PLAINTEXT")
        for listener in node.listeners():
            known = listener.protocol in allowed or nodes_log_in(node, listener)
            if listener.purpose != "clients" and not known:
                what = f"listener {listener.name} does not show which node connects"
                found = f"protocol {listener.protocol} for {listener.purpose}"
                yield Problem(node, what, found, " or ".join(allowed))


@rule(variable="kafka_listeners", fix="add a listener with purpose brokers, protocol SSL")
def no_broker_listener(inventory: Inventory) -> Iterator[Problem]:
    """Clients log in with passwords at the only listener, where brokers could not: native properties give them no login
    either (`sasl.mechanism.inter.broker.protocol` with `listener.name.X.MECHANISM.sasl.jaas.config` or a JAAS file)."""
    for node in inventory.nodes:
        purposes = {listener.purpose for listener in node.listeners()}
        sasl = [one.name for one in _for_clients(node) if one.protocol in SASL_PROTOCOLS]
        shared = next(iter(_for_clients(node)), None)
        if shared is not None and nodes_log_in(node, shared):
            continue
        if node.broker and sasl and "brokers" not in purposes:
            yield Problem(node, "brokers would have to log in at the listener for clients", f"only {sasl[0]}")


def _for_clients(node: Node) -> list[Listener]:
    return [one for one in node.listeners() if one.purpose == "clients"]


@rule(variable="kafka_listeners", fix="set the protocol of the listener to SASL_SSL or SSL")
def anonymous_clients(inventory: Inventory) -> Iterator[Problem]:
    """With an authorizer the listener for clients is PLAINTEXT: clients are anonymous, also the administrator."""
    for node in inventory.nodes:
        for listener in _for_clients(node) if as_bool(node.get("kafka_authorizer")) else ():
            if listener.protocol == "PLAINTEXT":
                what = f"clients on listener {listener.name} are anonymous, so the authorizer denies them everything"
                yield Problem(node, what, "PLAINTEXT with kafka_authorizer")


@rule(fix="remove the key and write ACLs", acceptable=True)
def open_without_acl(inventory: Inventory) -> Iterator[Problem]:
    """`allow.everyone.if.no.acl.found` opens every resource without an ACL to everybody."""
    for node in inventory.nodes:
        one = node.properties().get("allow.everyone.if.no.acl.found")
        if one is not None and as_bool(one.value):
            yield Problem(node, "resources without an ACL are open to everybody", "true", variable=one.variable)


@rule(
    variable="kafka_listeners",
    fix="set protocol SASL_SSL and kafka_tls_source",
    level=BY_PROFILE,
    acceptable=True,
)
def unencrypted_login(inventory: Inventory) -> Iterator[Problem]:
    """A listener is SASL_PLAINTEXT: logins without encryption, which for SCRAM can be replayed (CVE-2024-56128)."""
    for cluster in inventory.clusters():
        for node in cluster.nodes:
            for listener in node.listeners():
                if listener.protocol == "SASL_PLAINTEXT":
                    yield Problem(node, f"listener {listener.name} takes logins without encryption", "SASL_PLAINTEXT")


@rule(variable="kafka_admin_password", fix="put a long random value into the vault and refer to it")
def no_admin_password(inventory: Inventory) -> Iterator[Problem]:
    """Clients log in with passwords, and `kafka_admin_password` is empty. With GSSAPI alone nobody has one."""
    for node in inventory.nodes:
        asked = {listener.protocol for listener in _for_clients(node)}
        password = node.variables.get("kafka_admin_password")
        if node.names("kafka_sasl_mechanisms") == [TICKETS] or password is UNDEFINED:
            continue
        if asked.intersection(SASL_PROTOCOLS) and not node.text("kafka_admin_password"):
            yield Problem(node, "the administrator has no password", "an empty value")


@rule(
    variable="kafka_admin_certificate_file",
    fix="set kafka_admin_certificate_file and kafka_admin_key_file",
)
def no_admin_certificate(inventory: Inventory) -> Iterator[Problem]:
    """Clients show certificates, and the administrator has none."""
    for node in inventory.nodes:
        asked = {listener.protocol for listener in _for_clients(node)}
        if asked == {"SSL"} and not (node.text("kafka_admin_certificate_file") and node.text("kafka_admin_key_file")):
            yield Problem(node, "the administrator has no certificate", "an empty value")


@rule(
    variable="kafka_tls_source",
    allowed="development_ca or files",
    fix="set kafka_tls_source: where the certificates come from",
)
def no_tls_source(inventory: Inventory) -> Iterator[Problem]:
    """A listener uses TLS, and neither `kafka_tls_source` nor a native property says where certificates come from."""
    for node in inventory.nodes:
        tls = [listener.name for listener in node.listeners() if listener.protocol in TLS_PROTOCOLS]
        if tls and not brings_key(node) and not node.text("kafka_tls_source"):
            yield Problem(node, f"listener {tls[0]} has no certificate", "an empty value")


@rule(variable="kafka_tls_source", fix="use certificates of your own CA", acceptable=True)
def development_certificates(inventory: Inventory) -> Iterator[Problem]:
    """In production certificates are of the development CA, whose key lies on the control node."""
    for cluster in inventory.clusters():
        for node in cluster.nodes:
            if cluster.production and node.text("kafka_tls_source") == "development_ca":
                yield Problem(node, "certificates of the development CA in production", "development_ca")


@rule(allowed="names of neither nodes nor the administrator", fix="rename the user or client")
def name_of_super_user(inventory: Inventory) -> Iterator[Problem]:
    """A user (`kafka_users`), or a client of `kafka_tls_client_names`, has the name of a node or the administrator.
    Credentials of SCRAM that nobody logs in by any more may be removed."""
    for cluster in inventory.clusters():
        first = cluster.nodes[0]
        super_users = _super_users(cluster)
        named = (
            str(user.get("name"))
            for user in dicts(first, "kafka_users")
            if offers_scram(first) or user.get("state") != "absent"
        )
        for name in sorted(super_users.intersection(named)):
            yield Problem(first, "a user has the name of a super user", name, variable="kafka_users")
        for name in first.names("kafka_tls_client_names"):
            if name in super_users:
                what = "a client has the name of a super user"
                yield Problem(first, what, name, variable="kafka_tls_client_names")


def _super_users(cluster: Cluster) -> set[str]:
    return {*cluster.hosts, cluster.nodes[0].text("kafka_admin_user")}


def _users(node: Node, variable: str) -> list[str]:
    return [str(user.get("name")) for user in dicts(node, variable)]


@rule(
    allowed="a name without User: before it, without ';' and '*', and with no space around it",
    fix="correct the name",
)
def bad_super_user(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_admin_user`, or a name in `kafka_super_users`, begins with `User:`, which the roles add, or has `;` or `*`
    in it, or is empty: in `super.users` it would be another user, or several. Distinguished names (`CN=...`) may be
    listed. An administrator who logs in by SCRAM has a name in ASCII."""
    for cluster in inventory.clusters():
        first = cluster.nodes[0]
        listed = first.get("kafka_super_users", [])
        named = {f"kafka_super_users[{place}]": one for place, one in enumerate(listed if _is_list(listed) else ())}
        for variable, name in {"kafka_admin_user": first.variables.get("kafka_admin_user", "admin"), **named}.items():
            if name is UNDEFINED:
                continue
            if variable == "kafka_admin_user" and not str(name).isascii() and _offers_scram(first):
                what = "Kafka refuses each login by SCRAM with such a name"
                yield Problem(cluster, what, repr(name), "ASCII characters", variable=variable)
                continue
            if _is_principal_name(name):
                continue
            fix = "leave out User:, which the roles add" if _begins_with_user(name) else None
            found = repr(str(name)) if isinstance(name, str) else kind_of(name)
            yield Problem(cluster, "a super user cannot have this name", found, fix=fix, variable=variable)


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _begins_with_user(name: Any) -> bool:
    return str(name).strip().lower().startswith("user:")


def _is_principal_name(name: Any) -> bool:
    """Return whether a name is one principal in super.users, where ';' stands between them."""
    text = str(name)
    is_plain = isinstance(name, (str, int)) and not isinstance(name, bool) and text.isprintable()
    return is_plain and text == text.strip() != "" and not re.search(r"[;*]", text) and not _begins_with_user(text)


@rule(allowed="letters, digits, dot, hyphen and underscore", fix="choose another name")
def bad_client_name(inventory: Inventory) -> Iterator[Problem]:
    """A name that becomes the name of a file or a folder cannot be one: in `kafka_tls_client_names`; of
    `kafka_admin_user` with the development CA; of `kafka_users` with `kafka_resources_client_bundle_dir`."""
    for cluster in inventory.clusters():
        for variable, name in _file_names(cluster.nodes[0]):
            if not CLIENT_NAME.fullmatch(name):
                what = "this name cannot be the name of a file"
                yield Problem(cluster.nodes[0], what, repr(name), variable=variable)


def _file_names(node: Node) -> Iterator[tuple[str, str]]:
    """The names of files and folders that follow from names, each with its variable."""
    yield from (("kafka_tls_client_names", name) for name in node.names("kafka_tls_client_names"))
    if node.text("kafka_tls_source") == "development_ca" and node.text("kafka_admin_user"):
        yield "kafka_admin_user", node.text("kafka_admin_user")
    if node.text("kafka_resources_client_bundle_dir"):
        present = (user for user in dicts(node, "kafka_users") if user.get("state") != "absent")
        yield from (("kafka_users", str(user.get("name"))) for user in present)


@rule(
    variable="kafka_plain_users",
    allowed="letters, digits, dot, hyphen and underscore, once, of neither a node nor the administrator",
    fix="rename the user",
)
def bad_plain_user(inventory: Inventory) -> Iterator[Problem]:
    """A user of PLAIN has a name that brokers cannot list, that is listed twice, or that is a super user's."""
    for cluster in inventory.clusters():
        names = _users(cluster.nodes[0], "kafka_plain_users")
        for name in dict.fromkeys(names):
            if name in _super_users(cluster) or names.count(name) > 1 or not CLIENT_NAME.fullmatch(name):
                yield Problem(cluster.nodes[0], "a user of PLAIN cannot have this name", repr(name))


@rule(
    variable="kafka_plain_users",
    fix="add PLAIN to kafka_sasl_mechanisms, or give them SCRAM as kafka_users",
)
def plain_not_offered(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_plain_users` are set, but no listener offers PLAIN."""
    for cluster in inventory.clusters():
        first = cluster.nodes[0]
        if _users(first, "kafka_plain_users") and "PLAIN" not in _sasl_mechanisms(first):
            found = ", ".join(_sasl_mechanisms(first)) or "no mechanism"
            yield Problem(first, "users of PLAIN, which no listener offers", found)


@rule(variable="kafka_version", fix="upgrade once a fixed version is out", level=WARNING, acceptable=True)
def known_vulnerabilities(inventory: Inventory) -> Iterator[Problem]:
    """In production: CVEs of the chosen version, and what helps until there is a better one."""
    for cluster in inventory.clusters():
        if not cluster.production:
            continue
        first = cluster.nodes[0]
        native = [str(node.value("sasl.enabled.mechanisms") or "") for node in cluster.nodes]
        enabled = " ".join(native).replace(",", " ").split()
        # What is known of tokens does not hold for those that kafka_oauth judges: it always has the address of keys,
        # and the class that checks signatures (render/security.token_properties).
        ours = [mechanism for mechanism in _sasl_mechanisms(first) if mechanism != MECHANISM]
        found = of_version(cluster.version, tuple(dict.fromkeys([*ours, *enabled])))
        for helps in dict.fromkeys(one.helps for one in found):
            named = [f"{one.cve} ({one.what})" for one in found if one.helps == helps]
            what = f"Kafka {cluster.version} has known vulnerabilities"
            yield Problem(cluster, what, ", ".join(named), fix=helps)


def _offers_scram(node: Node) -> bool:
    return any(mechanism.startswith("SCRAM") for mechanism in _sasl_mechanisms(node))


def _sasl_mechanisms(node: Node) -> list[str]:
    uses_sasl = any(listener.protocol in SASL_PROTOCOLS for listener in node.listeners())
    return node.names("kafka_sasl_mechanisms") if uses_sasl else []
