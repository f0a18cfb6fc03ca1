# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on the certificates that a user brings; what they hold was read on the control node before."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from ....module_utils._health.model import Limits
from ....module_utils._mirror.flows import LEGACY
from ...inventory import chain
from ...inventory.certificates import ANY
from ...inventory.host_names import covers, typed, why_no_name, why_not
from ...inventory.model import CONTROLLER_PURPOSE, Cluster, Inventory, Listener, Node
from ...inventory.variables import as_bool
from ...render.security import TLS_PROTOCOLS
from ..mirror_flows import flows
from ..principal_rules import RuleError, UnknownRuleError, principal
from ..rule import ERROR, WARNING, Problem, rule

# A certificate that ends within this many days needs a new one now.
DAYS_LEFT = Limits.min_certificate_days
NODE, ADMIN = "kafka_tls_certificate_file", "kafka_admin_certificate_file"
_KEYS = {NODE: "kafka_tls_key_file", ADMIN: "kafka_admin_key_file"}
#: By what is wrong with a chain: the sentence, what is allowed, the fix, and whether it is in the file of the CAs.
_FAULTS = {
    chain.UNTRUSTED: (
        "the certificate does not lead to a trusted CA",
        "a chain that ends at a certificate in {ca_file}",
        "append the intermediate certificates behind its own, or correct kafka_tls_ca_file",
        False,
    ),
    chain.NO_CA: (
        "Java does not accept the CA of the certificate",
        "a CA certificate with basicConstraints CA:TRUE and, where it has a keyUsage, keyCertSign",
        "have the CA certificate issued anew; with its name and key, what it has issued stays valid",
        True,
    ),
    chain.NO_ROOT: (
        "the trusted CA is no root, and clients that use OpenSSL (librdkafka, Python) trust only chains to a root",
        "each trusted CA together with its own issuers, up to a root",
        "add the missing certificate to kafka_tls_ca_file",
        True,
    ),
    chain.AMBIGUOUS: (
        "two trusted CAs have one name, and OpenSSL (librdkafka, Python) may take the wrong one and refuse the chain",
        "CAs of different names, or subjectKeyIdentifier in CAs and authorityKeyIdentifier in what they issue",
        "have the new CA issued with a name of its own",
        True,
    ),
    chain.TOO_LONG: (
        "a CA of the certificate allows fewer CAs below it, and Java or OpenSSL (librdkafka, Python) refuses the chain",
        "no more CAs below a CA certificate than its pathLenConstraint",
        "have the certificate issued by a CA higher up, or that CA issued anew with a longer path",
        False,
    ),
    chain.ENDED: (
        "a CA of the certificate is not valid now, and Java or OpenSSL (librdkafka, Python) refuses the chain",
        "CAs that are valid now",
        "have the CA certificate issued anew; with its name and key, what it has issued stays valid",
        False,
    ),
    chain.PURPOSE: (
        "a CA of the certificate is not for servers, and OpenSSL (librdkafka, Python) refuses the chain",
        "a CA certificate without an extended key usage, or one with serverAuth",
        "have the CA certificate issued anew without an extended key usage",
        False,
    ),
    chain.WEAK: (
        "Kafka, or OpenSSL at its security level 2 (librdkafka, Python), takes no such key or signature",
        "signatures with SHA-256 or better; RSA keys of 2048 bits or more, or EC keys on P-256, P-384 or P-521",
        "have it issued anew so",
        False,
    ),
}


def _certificates(inventory: Inventory) -> Iterator[tuple[Node, Mapping[str, Any], str]]:
    """The certificates of nodes, and of the administrator where clients show certificates, with their variable."""
    for node in inventory.processes:
        if node.certificate is not None:
            yield node, node.certificate, NODE
    for cluster in inventory.clusters():
        first = cluster.nodes[0]
        if first.admin_certificate is not None:
            yield first, first.admin_certificate, ADMIN


@rule(fix="correct the file")
def bad_certificate(inventory: Inventory) -> Iterator[Problem]:
    """A certificate, key or CA file cannot be read, the key is encrypted or another certificate's, or the chain leads
    to no trusted CA, to one that Java does not accept as a CA, or through one that Java or OpenSSL refuses: more CAs
    below it than its `pathLenConstraint` allows, expired, not for servers, no root at the end, SHA-1. Also the
    administrator's, where clients show certificates, as Java judges it."""
    for node, found, variable in _certificates(inventory):
        for problem in found["errors"]:
            yield Problem(node, "a file of the certificate cannot be used", problem, "PEM files", variable=variable)
        if found["fits_key"] is False:
            yield Problem(
                node,
                "the key does not belong to the certificate",
                found=node.text(_KEYS[variable]),
                allowed=f"the key of {node.text(variable)}",
                fix=f"correct {_KEYS[variable]}",
                variable=variable,
            )
        elif variable == ADMIN and found["in_order"] is False:
            yield Problem(
                node,
                "the files do not begin with a certificate and its key, and clients take the first of each",
                found=f"{node.text(ADMIN)}, {node.text(_KEYS[ADMIN])}",
                allowed="the administrator's own certificate, and its key, first in their files",
                fix="put them first",
                variable=variable,
            )
        yield from itertools.islice(_chain_problems(node, found["faults"], variable), 1)


def _chain_problems(node: Node, faults: list[dict[str, str]], variable: str) -> Iterator[Problem]:
    """Say what Java or OpenSSL has against a chain; what is wrong with the CAs stands in another file."""
    for one in faults:
        what, allowed, fix, of_ca = _FAULTS[one["kind"]]
        ca_file = node.text("kafka_tls_ca_file")
        yield Problem(
            node, what, one["found"], allowed.format(ca_file=ca_file), fix, "kafka_tls_ca_file" if of_ca else variable
        )


@rule(fix="renew the certificate")
def expired_certificate(inventory: Inventory) -> Iterator[Problem]:
    """A certificate has expired, or is not valid yet."""
    for node, found, variable in _certificates(inventory):
        if found["days_until"]:
            yield Problem(
                node,
                "the certificate is not valid yet",
                found=f"{found['days_until']} days until it is",
                allowed="one that is valid now",
                fix="correct the clock of the control node, or wait, or have it issued anew",
                variable=variable,
            )
        days = found["days_left"]
        if days is not None and days < 0:
            what = "the certificate has expired"
            yield Problem(node, what, f"{days} days left", f"at least {DAYS_LEFT}", variable=variable)


@rule(allowed=f"at least {DAYS_LEFT}", fix="renew the certificate", level=WARNING)
def certificate_expires_soon(inventory: Inventory) -> Iterator[Problem]:
    """A certificate expires within 30 days."""
    for node, found, variable in _certificates(inventory):
        if found["days_left"] is not None and 0 <= found["days_left"] < DAYS_LEFT:
            yield Problem(node, "the certificate expires soon", f"{found['days_left']} days left", variable=variable)


@rule(variable=NODE, fix="have it issued with these subject alternative names")
def certificate_names(inventory: Inventory) -> Iterator[Problem]:
    """A node's certificate does not name an address that the node advertises. A warning: a server of ZooKeeper or a
    mirror whose certificate has another common name than the host."""
    for node in inventory.processes:
        found = node.certificate
        if found is None or found["names"] is None:
            continue
        advertised = [one.advertised_host for one in node.listeners() if one.protocol in TLS_PROTOCOLS]
        for host in dict.fromkeys(advertised):
            if not covers(found["names"], host):
                yield _unnamed(node, found["names"], host)
        if (node.zookeeper or node.only_mirrors) and found["common_name"] != node.name:
            what, fix = "the certificate is not in the name of the node", "have it issued with this common name"
            yield Problem(node, what, f"CN={found['common_name']}", f"CN={node.name}", fix, level=WARNING)


def _unnamed(node: Node, names: list[str], host: str) -> Problem:
    """Say that a certificate does not name a host, and why not where it seems to."""
    what, has = "the certificate does not name the address that the node advertises", ", ".join(names) or "no name"
    if impossible := why_no_name(host):
        allowed = "a name that Java and OpenSSL compare with those of a certificate"
        fix = f"advertise {_written(host)}, and have the certificate issued with {typed(_written(host))}"
        return Problem(node, what, f"{impossible}; the certificate has {has}", allowed, fix)
    close = why_not(names, host)
    return Problem(
        node,
        what,
        found=f"{has} ({close})" if close else has,
        allowed=f"also {typed(host)}",
        fix=f"have it issued with the subject alternative name {typed(host)}",
    )


def _written(host: str) -> str:
    """The name as certificates write it: A-labels, no dot at the end."""
    with contextlib.suppress(UnicodeError):
        host = host.encode("idna").decode()
    return host.rstrip(".")


@rule(fix="have it issued for this usage, or without an extended key usage")
def certificate_usage(inventory: Inventory) -> Iterator[Problem]:
    """A certificate may not be used as the node or the administrator uses it: an extended key usage without
    `serverAuth` or `clientAuth`, or a key usage without `digitalSignature`. Java refuses it in the handshake."""
    for node, found, needed, variable in _uses(inventory):
        missing = [one for one in needed if found["usages"] is not None and not _allows(found["usages"], one)]
        if missing:
            yield Problem(
                node,
                "the certificate may not be used for this connection",
                found=f"extended key usage {', '.join(found['usages']) or 'empty'}",
                allowed=" and ".join(needed),
                fix=f"have it issued with extendedKeyUsage = {','.join(needed)}, or without an extended key usage",
                variable=variable,
            )
        if needed and found["signs"] is False:
            yield Problem(
                node,
                "the key of the certificate may not sign a handshake",
                found="key usage without digitalSignature",
                allowed="digitalSignature",
                fix="have it issued with keyUsage = digitalSignature",
                variable=variable,
            )


def _allows(usages: list[str], needed: str) -> bool:
    """Return whether both engines take it: OpenSSL, which judges servers, does not know "any"."""
    return needed in usages or (ANY in usages and needed != "serverAuth")


def _uses(inventory: Inventory) -> Iterator[tuple[Node, Mapping[str, Any], list[str], str]]:
    """Each certificate with the extended key usages that it needs."""
    legacy = {flow.target for flow in flows(inventory) if flow.engine == LEGACY}
    for node in inventory.processes:
        if node.certificate is not None and not (node.only_mirrors and node.cluster in legacy):
            shows = any(one.protocol in TLS_PROTOCOLS for one in node.listeners())
            connects = _connects_by_certificate(inventory, node)
            yield node, node.certificate, ["serverAuth"] * shows + ["clientAuth"] * connects, NODE
    for cluster in inventory.clusters():
        admin = cluster.nodes[0].admin_certificate
        shown = (_asks(one, at) for one in cluster.brokers for at in one.listeners() if at.purpose == "clients")
        if admin is not None and any(shown):
            yield cluster.nodes[0], admin, ["clientAuth"], ADMIN


@rule(
    fix="have it issued with CN as the last part of the subject (openssl: -subj /O=x/CN=name), or write a rule for it"
    " into kafka_tls_principal_rules, or name the principal in kafka_super_users",
)
def certificate_principal(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_tls_principal_rules`, applied to the subject of a node or of the administrator as Java writes it, give no
    principal, or one that is no super user: no quorum ever forms. Without an authorizer a warning."""
    for cluster in inventory.clusters():
        for node in cluster.nodes:
            subject, listeners = subject_of(node), _met(cluster, node)
            if subject is not None and not node.zookeeper and node.value("principal.builder.class") is None:
                for rules in mapping_rules(node, listeners):
                    yield from _principal(cluster, node, subject, rules, NODE)
        yield from _administrator(cluster)


def _administrator(cluster: Cluster) -> Iterator[Problem]:
    node = next(iter(cluster.brokers), None)
    if node is None or node.value("principal.builder.class") is not None:
        return
    subject = node.admin_certificate["subject"] if node.admin_certificate is not None else None
    if node.text("kafka_tls_source") == "development_ca":
        subject = f"CN={node.text('kafka_admin_user')}"
    if subject is not None:
        clients = [one for one in node.listeners() if one.purpose == "clients" and _asks(node, one)]
        for rules in mapping_rules(node, clients):
            yield from _principal(cluster, node, subject, rules, ADMIN)


def _principal(cluster: Cluster, node: Node, subject: str, rules: str, variable: str) -> Iterator[Problem]:
    """Yield what is wrong with the principal that these rules make of a subject."""
    of_node = variable == NODE
    own, who = (node.name, "the node") if of_node else (node.text("kafka_admin_user"), "the administrator")
    try:
        name = principal(rules, subject)
    except UnknownRuleError as problem:
        yield Problem(
            node,
            f"this check cannot tell which principal {who} gets by kafka_tls_principal_rules",
            found=str(problem),
            allowed="a pattern that this check can follow",
            fix=f"make sure that {subject} becomes a super user",
            variable=variable,
            level=WARNING,
        )
        return
    except RuleError as problem:
        yield Problem(
            node,
            f"kafka_tls_principal_rules make no principal of the certificate of {who}, so it is refused",
            found=f"subject {subject}, rules {rules or 'none'}: {problem}",
            allowed="a rule that matches the whole subject",
            variable=variable,
        )
        return
    decides = as_bool(node.get("kafka_authorizer"))
    found = f"subject {subject} (as Java writes it) becomes User:{name}"
    if name not in _super_users(cluster, node):
        denied = ", so the authorizer denies it everything" if decides else ""
        yield Problem(
            node,
            f"the principal of the certificate of {who} is no super user{denied}",
            found=found,
            allowed=f"User:{own}",
            variable=variable,
            level=ERROR if decides else WARNING,
        )
    elif name in cluster.hosts and name != own:
        what, fix = f"the certificate of {who} is in the name of another node", "have it issued in its own name"
        yield Problem(node, what, found, f"User:{own}", fix, variable, WARNING)


def subject_of(node: Node) -> str | None:
    """The subject that a node shows; of the development CA it is known before it is issued."""
    if node.text("kafka_tls_source") == "development_ca":
        return f"CN={node.name}"
    return None if node.certificate is None else node.certificate["subject"]


def _met(cluster: Cluster, node: Node) -> list[Listener]:
    """The listeners of its cluster at which a node of Kafka is who its certificate says."""
    found: list[Listener] = []
    for other in cluster.nodes:
        own = {one.purpose for one in other.listeners()}
        for one in other.listeners():
            between = one.purpose == "brokers" or (one.purpose == "clients" and "brokers" not in own)
            if _asks(other, one) and (one.purpose == CONTROLLER_PURPOSE or (between and node.broker)):
                found.append(one)
    return found


def _asks(node: Node, listener: Listener) -> bool:
    """Return whether a listener asks who connects for a certificate.

    The roles set ssl.client.auth of each listener, so the general setting decides nothing.
    """
    asked = node.value(f"listener.name.{listener.name.lower()}.ssl.client.auth") or "required"
    return listener.protocol == "SSL" and str(asked).lower() != "none"


def mapping_rules(node: Node, listeners: list[Listener]) -> list[str]:
    """The rules that hold at these listeners, each once; those of all nodes of a cluster are the same."""
    key, own = "ssl.principal.mapping.rules", node.properties()
    config = {name: one.value for name, one in own.items()}
    general = config.get(key, node.get("kafka_tls_principal_rules"))
    found = [config.get(f"listener.name.{one.name.lower()}.{key}", general) for one in listeners]
    # What could not be templated is named by another rule.
    return [str(one) for one in dict.fromkeys(found) if one is not None]


def _super_users(cluster: Cluster, node: Node) -> set[str]:
    native = node.value("super.users")
    if native is not None:
        return {str(one).strip().removeprefix("User:") for one in str(native).split(";")}
    return cluster.super_users(node)


def _connects_by_certificate(inventory: Inventory, node: Node) -> bool:
    """Return whether a node shows its certificate to others that it connects to."""
    if node.zookeeper or node.only_mirrors:
        return any(one.protocol == "SSL" for one in node.listeners())
    cluster = next((one for one in inventory.clusters() if node in one.nodes), None)
    if cluster is None:
        return False
    ensemble = any(
        as_bool(one.get("zookeeper_tls")) and not one.get("zookeeper_password") for one in cluster.zookeepers
    )
    return bool(_met(cluster, node)) or (ensemble and node.broker)
