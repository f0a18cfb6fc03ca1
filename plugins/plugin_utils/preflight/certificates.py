# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on the certificates that a user brings; what they hold was read on the control node before."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import LEGACY
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import (
    CONTROLLER_PURPOSE,
    Cluster,
    Inventory,
    Listener,
    Node,
    as_bool,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.mirror_flows import flows
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.principal_rules import (
    RuleError,
    UnknownRuleError,
    principal,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.violation import ERROR, WARNING, Violation
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.security import TLS_PROTOCOLS

# A certificate that ends within this many days needs a new one now (control S8).
DAYS_LEFT = 30


def certificates(inventory: Inventory) -> Iterator[Violation]:
    """B32: certificate, key and CA can be read, belong together, hold, and name every address."""
    for node in inventory.processes:
        if node.certificate is not None:
            yield from _files(node, node.certificate, "kafka_tls_certificate_file", "kafka_tls_key_file")
            yield from _names(node, node.certificate)


def usages(inventory: Inventory) -> Iterator[Violation]:
    """B32: a certificate may be used for what its node does: Java refuses it in the handshake otherwise."""
    legacy = {flow.target for flow in flows(inventory) if flow.engine == LEGACY}
    for node in inventory.processes:
        if node.certificate is None or (node.only_mirrors and node.cluster in legacy):
            continue
        shows = [one for one in node.listeners() if one.protocol in TLS_PROTOCOLS]
        needed = (["serverAuth"] if shows else []) + (
            ["clientAuth"] if _connects_by_certificate(inventory, node) else []
        )
        yield from _usable(node, node.certificate, needed, "kafka_tls_certificate_file")
    for cluster in inventory.clusters():
        admin = cluster.nodes[0].admin_certificate
        shown = (_asks(one, at) for one in cluster.brokers for at in one.listeners() if at.purpose == "clients")
        if admin is not None and any(shown):
            yield from _usable(cluster.nodes[0], admin, ["clientAuth"], "kafka_admin_certificate_file")


def principals(inventory: Inventory) -> Iterator[Violation]:
    """B32: what the mapping rules make of a node's whole subject is a super user, or no quorum ever forms."""
    for cluster in inventory.clusters():
        for node in cluster.nodes:
            subject, listeners = subject_of(node), _met(cluster, node)
            if subject is None or node.zookeeper or "principal.builder.class" in node.config():
                continue
            for rules in mapping_rules(node, listeners):
                yield from _principal(
                    cluster, node, subject, rules, [node.name], "the node", "kafka_tls_certificate_file"
                )
        yield from _administrator(cluster)


def _administrator(cluster: Cluster) -> Iterator[Violation]:
    node = next(iter(cluster.brokers), None)
    if node is None or "principal.builder.class" in node.config():
        return
    admin, variable = node.text("kafka_admin_user"), "kafka_admin_certificate_file"
    subject = node.admin_certificate["subject"] if node.admin_certificate is not None else None
    if node.text("kafka_tls_source") == "development_ca":
        subject = f"CN={admin}"
    if subject is not None:
        clients = [one for one in node.listeners() if one.purpose == "clients" and _asks(node, one)]
        for rules in mapping_rules(node, clients):
            yield from _principal(cluster, node, subject, rules, [admin], "the administrator", variable)


def _principal(
    cluster: Cluster, node: Node, subject: str, rules: str, own: list[str], who: str, variable: str
) -> Iterator[Violation]:
    """What is wrong with the principal that these rules make of a subject; own are the names of whose it is."""
    mighty = _super_users(cluster, node)
    way_out = (
        "have it issued with CN as the last part of the subject (openssl: -subj /O=x/CN=name), or write a rule for it"
        " into kafka_tls_principal_rules, or name the principal in kafka_super_users"
    )
    try:
        name = principal(rules, subject)
    except UnknownRuleError as problem:
        yield _violation(
            node, f"who {who} becomes by kafka_tls_principal_rules cannot be told beforehand", str(problem),
            "a pattern that this check can follow", f"make sure that {subject} becomes a super user", WARNING,
            variable,
        )  # fmt: skip
        return
    except RuleError as problem:
        yield _violation(
            node, f"kafka_tls_principal_rules make no principal of the certificate of {who}, so it is refused",
            f"subject {subject}, rules {rules or 'none'}: {problem}", "a rule that matches the whole subject", way_out,
            variable=variable,
        )  # fmt: skip
        return
    decides = as_bool(node.get("kafka_authorizer"))
    found = f"subject {subject} (as Java writes it) becomes User:{name}"
    if name not in mighty:
        consequence = ", and the authorizer refuses it everything" if decides else ""
        yield _violation(
            node, f"the certificate of {who} is in the name of no super user{consequence}", found,
            " or ".join(f"User:{one}" for one in own), way_out, ERROR if decides else WARNING, variable,
        )  # fmt: skip
    elif name in cluster.hosts and name not in own:
        yield _violation(
            node, f"the certificate of {who} is in the name of another node", found,
            " or ".join(f"User:{one}" for one in own), "have it issued in its own name", WARNING, variable,
        )  # fmt: skip


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
    """Whether a listener asks who connects for a certificate.

    The roles set ssl.client.auth of each listener, so the general setting decides nothing.
    """
    asked = node.config().get(f"listener.name.{listener.name.lower()}.ssl.client.auth", "required")
    return listener.protocol == "SSL" and str(asked).lower() != "none"


def mapping_rules(node: Node, listeners: list[Listener]) -> list[str]:
    """The rules that hold at these listeners, each once; those of all nodes of a cluster are the same (C11)."""
    config, key = node.config(), "ssl.principal.mapping.rules"
    general = config.get(key, node.get("kafka_tls_principal_rules"))
    found = [config.get(f"listener.name.{one.name.lower()}.{key}", general) for one in listeners]
    # What could not be templated is named by another rule.
    return [str(one) for one in dict.fromkeys(found) if one is not None]


def _super_users(cluster: Cluster, node: Node) -> set[str]:
    native = node.config().get("super.users")
    if native is not None:
        return {str(one).strip().removeprefix("User:") for one in str(native).split(";")}
    return {*cluster.hosts, node.text("kafka_admin_user"), *node.names("kafka_super_users")}


def _connects_by_certificate(inventory: Inventory, node: Node) -> bool:
    """Whether a node shows its certificate to others that it connects to."""
    if node.zookeeper or node.only_mirrors:
        return any(one.protocol == "SSL" for one in node.listeners())
    cluster = next((one for one in inventory.clusters() if node in one.nodes), None)
    if cluster is None:
        return False
    ensemble = any(
        as_bool(one.get("zookeeper_tls")) and not one.get("zookeeper_password") for one in cluster.zookeepers
    )
    return bool(_met(cluster, node)) or (ensemble and node.broker)


def _usable(node: Node, found: Mapping[str, Any], needed: list[str], variable: str) -> Iterator[Violation]:
    missing = [one for one in needed if found["usages"] is not None and one not in found["usages"]]
    if missing:
        yield _violation(
            node, "the certificate may not be used for what it is shown for",
            f"extended key usage {', '.join(found['usages']) or 'empty'}", " and ".join(needed),
            f"have it issued with extendedKeyUsage = {','.join(needed)}, or without an extended key usage",
            variable=variable,
        )  # fmt: skip
    if needed and found["signs"] is False:
        yield _violation(
            node, "the key of the certificate may not sign a handshake", "key usage without digitalSignature",
            "digitalSignature", "have it issued with keyUsage = digitalSignature", variable=variable,
        )  # fmt: skip


def administrator(inventory: Inventory) -> Iterator[Violation]:
    """B32: the files of the administrator's certificate, where clients show certificates."""
    for cluster in inventory.clusters():
        node, found = cluster.nodes[0], cluster.nodes[0].admin_certificate
        if found is not None:
            yield from _files(node, found, "kafka_admin_certificate_file", "kafka_admin_key_file")


def _files(node: Node, found: Mapping[str, Any], variable: str, key_variable: str) -> Iterator[Violation]:
    for problem in found["errors"]:
        yield _violation(
            node,
            "a file of the certificate cannot be used",
            problem,
            "PEM files",
            "correct the file",
            variable=variable,
        )
    if found["fits_key"] is False:
        yield _violation(
            node, "the key does not belong to the certificate", node.text(key_variable),
            f"the key of {node.text(variable)}", f"correct {key_variable}", variable=variable,
        )  # fmt: skip
    if found["trusted"] is False:
        yield _violation(
            node, "the certificate does not lead to a trusted CA", "an incomplete chain or another CA",
            f"a chain that ends at a certificate in {node.text('kafka_tls_ca_file')}",
            "append the intermediate certificates behind its own, or correct kafka_tls_ca_file", variable=variable,
        )  # fmt: skip
    if found["days_until"]:
        yield _violation(
            node, "the certificate is not valid yet", f"{found['days_until']} days until it is", "one that holds now",
            "correct the clock of the control node, or wait, or have it issued anew", variable=variable,
        )  # fmt: skip
    days = found["days_left"]
    if days is not None and days < DAYS_LEFT:
        yield _violation(
            node, "the certificate has ended" if days < 0 else "the certificate ends soon",
            f"{days} days left", f"at least {DAYS_LEFT}", "renew the certificate",
            level=ERROR if days < 0 else WARNING, variable=variable,
        )  # fmt: skip


def _names(node: Node, found: Mapping[str, Any]) -> Iterator[Violation]:
    if found["names"] is None:
        return
    advertised = [one.advertised_host for one in node.listeners() if one.protocol in TLS_PROTOCOLS]
    missing = [host for host in dict.fromkeys(advertised) if not _covered(host, found["names"])]
    if missing:
        yield _violation(
            node, "the certificate does not name what the node advertises", ", ".join(found["names"]) or "no name",
            f"also {', '.join(missing)}", "have it issued with these subject alternative names",
        )  # fmt: skip
    if (node.zookeeper or node.only_mirrors) and found["common_name"] != node.name:
        yield _violation(
            node, "the certificate is not in the name of the node", f"CN={found['common_name']}", f"CN={node.name}",
            "have it issued so", level=WARNING,
        )  # fmt: skip


def _covered(host: str, names: list[str]) -> bool:
    """Whether one of the names is this host's; a wildcard stands for one label (RFC 6125)."""
    labels = host.lower().count(".")
    return any(fnmatch.fnmatch(host.lower(), name.lower()) and name.count(".") == labels for name in names)


def _violation(
    node: Node, what: str, found: str, allowed: str, way_out: str,
    level: str = ERROR, variable: str = "kafka_tls_certificate_file",
) -> Violation:  # fmt: skip
    return Violation("B32", level, (node.name,), variable, what, found, allowed, way_out)


RULES = (certificates, administrator, usages, principals)
