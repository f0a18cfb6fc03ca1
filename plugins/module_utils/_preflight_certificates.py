# Private to this collection.
# SPDX-License-Identifier: GPL-3.0-or-later
"""Preflight rules on the certificates that a user brings; what they hold was read on the control node before."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._preflight_inventory import Inventory, Node
from ansible_collections.streamops.kafka.plugins.module_utils._preflight_violation import ERROR, WARNING, Violation
from ansible_collections.streamops.kafka.plugins.module_utils._security import TLS_PROTOCOLS

# A certificate that ends within this many days needs a new one now (control S8).
DAYS_LEFT = 30


def certificates(inventory: Inventory) -> Iterator[Violation]:
    """B32: certificate, key and CA can be read, belong together, hold long enough and name every address."""
    for node in inventory.processes:
        if node.certificate is not None:
            yield from _files(node, node.certificate, "kafka_tls_certificate_file", "kafka_tls_key_file")
            yield from _names(node, node.certificate)


def administrator(inventory: Inventory) -> Iterator[Violation]:
    """B32: the same of the administrator's, where clients show certificates; and it is the administrator's."""
    for cluster in inventory.clusters():
        node, found = cluster.nodes[0], cluster.nodes[0].admin_certificate
        if found is None:
            continue
        variable = "kafka_admin_certificate_file"
        yield from _files(node, found, variable, "kafka_admin_key_file")
        name, mighty = found["common_name"], {node.text("kafka_admin_user"), *_super_users(node)}
        if name is not None and name not in mighty:
            yield _violation(
                node, "the administrator's certificate is in nobody's name who may administer", f"CN={name}",
                f"CN={node.text('kafka_admin_user')}",
                "have it issued so, or write kafka_tls_principal_rules and name who it becomes in kafka_super_users",
                level=WARNING, variable=variable,
            )  # fmt: skip


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
    if found["common_name"] != node.name and node.name not in _super_users(node):
        yield _violation(
            node, "the node's certificate is not in the node's name", f"CN={found['common_name']}", f"CN={node.name}",
            "have it issued so, or write kafka_tls_principal_rules and name the nodes in kafka_super_users",
            level=WARNING,
        )  # fmt: skip


def _super_users(node: Node) -> list[str]:
    return [str(name) for name in node.get("kafka_super_users", [])]


def _covered(host: str, names: list[str]) -> bool:
    """Whether one of the names is this host's; a wildcard stands for one label (RFC 6125)."""
    labels = host.lower().count(".")
    return any(fnmatch.fnmatch(host.lower(), name.lower()) and name.count(".") == labels for name in names)


def _violation(
    node: Node, what: str, found: str, allowed: str, way_out: str,
    level: str = ERROR, variable: str = "kafka_tls_certificate_file",
) -> Violation:  # fmt: skip
    return Violation("B32", level, (node.name,), variable, what, found, allowed, way_out)


RULES = (certificates, administrator)
