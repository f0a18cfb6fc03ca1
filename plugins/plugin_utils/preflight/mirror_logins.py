# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on how mirrors log in: a user of their own with a password, at a mechanism that is offered, and whose
ACLs the target has. Messages never show a password."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import LEGACY, Flow
from ansible_collections.streamops.kafka.plugins.module_utils._users.plan import MECHANISMS
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import (
    UNDEFINED,
    Cluster,
    Inventory,
    Listener,
    Node,
    as_bool,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.certificates import mapping_rules, subject_of
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.mirror_flows import (
    flows,
    kafka_clusters,
    mirrors_of,
    violation,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.mirrors import listener_of
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.principal_rules import (
    RuleError,
    UnknownRuleError,
    principal,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.violation import ERROR, WARNING, Violation
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.security import SASL_PROTOCOLS


def has_login(inventory: Inventory) -> Iterator[Violation]:
    """C25: mirrors have a name and a password where the listener that they use asks for them."""
    for cluster, listener in _asked(inventory):
        node = cluster.brokers[0]
        for variable in ("mirror_user", "mirror_password"):
            if not _unknown(node, variable) and not node.text(variable):
                yield _violation(
                    cluster, variable, f"mirrors cannot log in at listener {listener.name}", "an empty value",
                    "a user of their own, with a password from the vault",
                    f"set {variable} in the group_vars of the cluster; the user is made and gets its ACLs by itself",
                )  # fmt: skip


def own_name(inventory: Inventory) -> Iterator[Violation]:
    """C25: mirrors are nobody who may do everything."""
    for cluster in _mirrored(inventory):
        node = cluster.brokers[0]
        mighty = {node.text("kafka_admin_user"), *node.names("kafka_super_users"), *cluster.hosts}
        user = node.text("mirror_user")
        if user and user in mighty:
            yield _violation(
                cluster, "mirror_user", "mirrors would have the rights of a super user", user,
                "a name of neither a node, the administrator nor kafka_super_users",
                "name a user of their own, who gets the ACLs that mirroring takes",
            )  # fmt: skip


def one_password(inventory: Inventory) -> Iterator[Violation]:
    """C25: the user of mirrors stands in no other list with another password."""
    for cluster in _mirrored(inventory):
        node = cluster.brokers[0]
        user, password = node.text("mirror_user"), node.variables.get("mirror_password")
        for variable in ("kafka_users", "kafka_plain_users"):
            for entry in _entries(node, variable) if user and password is not UNDEFINED else ():
                if str(entry.get("name")) != user or entry.get("password") is UNDEFINED:
                    continue
                absent = entry.get("state") == "absent"
                if absent or str(entry.get("password")) != str(password):
                    yield _violation(
                        cluster, variable, "the user of mirrors is listed there to be another",
                        f"{user} with {'state absent' if absent else 'another password'}",
                        "mirror_user with mirror_password alone",
                        f"take the user out of {variable}, or give mirrors another name",
                    )  # fmt: skip


def mechanism(inventory: Inventory) -> Iterator[Violation]:
    """C25: the user of mirrors can log in by the first mechanism of the cluster, which is the one that mirrors take."""
    for cluster, listener in _asked(inventory):
        node = cluster.brokers[0]
        offered, user = node.names("kafka_sasl_mechanisms"), node.text("mirror_user")
        first = next(iter(offered), "")
        listed = [str(entry.get("name")) for entry in _entries(node, "kafka_plain_users")]
        if _unknown(node, "kafka_sasl_mechanisms") or first in MECHANISMS or not user:
            continue
        if first != "PLAIN" or user not in listed:
            yield _violation(
                cluster, "kafka_sasl_mechanisms", f"mirrors have no way to log in at listener {listener.name}",
                first or "no mechanism", " or ".join(MECHANISMS),
                "put SCRAM-SHA-512 first in kafka_sasl_mechanisms, or with PLAIN list mirror_user in kafka_plain_users",
            )  # fmt: skip


def brokers_agree(inventory: Inventory) -> Iterator[Violation]:
    """C25: all brokers of a cluster say the same of how mirrors reach it."""
    for cluster in _mirrored(inventory):
        for variable in ("mirror_user", "mirror_password", "mirror_listener"):
            values = [(node, node.text(variable)) for node in cluster.brokers if not _unknown(node, variable)]
            differing = [node.name for node, value in values if value != values[0][1]]
            if differing:
                yield _violation(
                    cluster, variable, "the brokers of the cluster disagree",
                    f"another value on {', '.join(differing)} than on {values[0][0].name}",
                    "one value for the whole cluster", f"set {variable} once, in the group_vars of the cluster",
                )  # fmt: skip


def _unknown(node: Node, variable: str) -> bool:
    return node.variables.get(variable) is UNDEFINED


def synchronized_acls(inventory: Inventory) -> Iterator[Violation]:
    """C25: the ACLs of a cluster have one owner: its inventory, or the mirror that copies those of the source."""
    known = kafka_clusters(inventory)
    for flow in flows(inventory):
        owned = flow.target in known and as_bool(known[flow.target].nodes[0].get("kafka_acls_authoritative"))
        if flow.sync_topic_acls and owned and flow.engine != LEGACY:
            yield violation(
                inventory, "C25", [flow.target], f"{flow.pair} would copy ACLs that the inventory takes away again",
                "sync_topic_acls true with kafka_acls_authoritative", "one owner of the target's ACLs",
                f"set sync_topic_acls to false, or kafka_acls_authoritative of {flow.target} to false",
            )  # fmt: skip


def certificates(inventory: Inventory) -> Iterator[Violation]:
    """C25: where a listener asks for a certificate, each mirror has one to show, and a file of its own for it."""
    for flow in flows(inventory):
        if not any(way.protocol == "SSL" for way in _ways(inventory, flow)):
            continue
        places: dict[tuple[str, str], str] = {}
        for mirror in mirrors_of(inventory, flow.target):
            if not _unknown(mirror, "kafka_tls_source") and not mirror.text("kafka_tls_source"):
                yield Violation(
                    "C25", ERROR, (mirror.name,), "kafka_tls_source",
                    f"a listener of {flow.pair} asks for a certificate, and the mirror has none", "an empty value",
                    "the development CA, or files", "set kafka_tls_source for the mirrors as for their cluster",
                )  # fmt: skip
            first = places.setdefault((mirror.machine, mirror.text("kafka_config_dir")), mirror.name)
            if first != mirror.name:
                yield Violation(
                    "C25", ERROR, (first, mirror.name), "kafka_config_dir",
                    f"mirrors of {flow.target} on one machine would show each other's certificates",
                    mirror.text("kafka_config_dir") or "the same directory", "a machine for each of them",
                    "put them on two machines: connectors find their files by one path on all mirrors of a target",
                )  # fmt: skip


def shown_names(inventory: Inventory) -> Iterator[Violation]:
    """C25: who a mirror becomes by its certificate is who the ACLs of mirrors are for (mirrors/rights.py)."""
    known = kafka_clusters(inventory)
    for flow in flows(inventory):
        for end in (known[name] for name in (flow.source, flow.target) if name in known):
            way, node = _way(end, flow), end.brokers[0]
            if way is None or way.protocol != "SSL":
                continue
            for mirror in mirrors_of(inventory, flow.target):
                subject = subject_of(mirror)
                for rules in mapping_rules(node, [way]) if subject is not None else ():
                    found = _becomes(rules, subject or "")
                    if found != f"User:{mirror.name}":
                        yield Violation(
                            "C25", WARNING, (mirror.name,), "kafka_tls_certificate_file",
                            f"{end.name} takes the mirror for another one than its ACLs are for",
                            f"subject {subject} (as Java writes it) becomes {found}", f"User:{mirror.name}",
                            "have it issued in the mirror's name, or write a rule into kafka_tls_principal_rules of"
                            f" {end.name}, or give that principal ACLs in kafka_acls",
                        )  # fmt: skip


def _becomes(rules: str, subject: str) -> str:
    try:
        return f"User:{principal(rules, subject)}"
    except RuleError:
        return "nobody, which refuses the connection"
    except UnknownRuleError:
        return "somebody who cannot be told beforehand"


def _mirrored(inventory: Inventory) -> list[Cluster]:
    """The clusters that flows read or write."""
    known = kafka_clusters(inventory)
    names = dict.fromkeys(name for flow in flows(inventory) for name in (flow.source, flow.target))
    return [known[name] for name in names if name in known]


def _asked(inventory: Inventory) -> Iterator[tuple[Cluster, Listener]]:
    """The clusters whose listener for mirrors asks for a login, with that listener."""
    listed = flows(inventory)
    for cluster in _mirrored(inventory):
        ways = [way for flow in listed for way in (_way(cluster, flow),) if way is not None]
        asking = [way for way in ways if way.protocol in SASL_PROTOCOLS]
        if asking:
            yield cluster, asking[0]


def _ways(inventory: Inventory, flow: Flow) -> list[Listener]:
    """The listeners at both ends of a flow that its mirrors use."""
    known = kafka_clusters(inventory)
    ends = [known[name] for name in (flow.source, flow.target) if name in known]
    return [way for end in ends for way in (_way(end, flow),) if way is not None]


def _way(cluster: Cluster, flow: Flow) -> Listener | None:
    """The listener of this end of a flow: of a source the named one, of a target the first for clients."""
    node = cluster.brokers[0]
    if cluster.name == flow.source:
        return listener_of(node)
    first = next((one for one in node.listeners() if one.purpose == "clients"), None)
    return first if cluster.name == flow.target else None


def _entries(node: Node, variable: str) -> list[dict[str, Any]]:
    listed = node.get(variable, [])
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, (list, tuple)) else []


def _violation(cluster: Cluster, variable: str, what: str, found: str, allowed: str, way_out: str) -> Violation:
    return Violation("C25", ERROR, cluster.hosts, variable, what, found, allowed, way_out)


RULES = (has_login, own_name, one_password, mechanism, brokers_agree, synchronized_acls, certificates, shown_names)
