# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on how mirrors log in: a user of their own with a password, at a mechanism that is offered, and whose
ACLs the target has. Messages never show a password."""

from __future__ import annotations

from collections.abc import Iterator

from ....module_utils._mirror.flows import LEGACY, Flow
from ...inventory.kerberos import Kerberos
from ...inventory.model import Cluster, Inventory, Listener, Node
from ...inventory.variables import UNDEFINED, as_bool
from ...render.security import SASL_PROTOCOLS
from ..mirror_flows import VARIABLE, flows, kafka_clusters, mirrors_of, where
from ..principal_rules import RuleError, UnknownRuleError, principal
from ..rule import WARNING, Problem, rule
from ..service_logins import KNOWN_MECHANISMS, MIRRORS, NO_SUPER_USER
from .certificates import mapping_rules, subject_of
from .kerberos import realms
from .mirrors import listener_of


@rule(
    fix="set the variable in the group_vars of the cluster, a password from the vault",
)
def no_mirror_login(inventory: Inventory) -> Iterator[Problem]:
    """The listener for mirrors needs a login, and `mirror_user` or `mirror_password` is empty; with GSSAPI first in
    `kafka_sasl_mechanisms`, `mirror_user` or `mirror_keytab_file`."""
    return MIRRORS.find_empty(_asked(inventory))


@rule(
    variable="mirror_user",
    allowed=NO_SUPER_USER,
    fix="name a user of their own, who gets the ACLs that mirroring takes",
)
def mirror_is_super_user(inventory: Inventory) -> Iterator[Problem]:
    """`mirror_user` is the name of a super user."""
    return MIRRORS.find_super_user(_mirrored(inventory))


@rule(fix="remove the user from the list, or give mirrors another name")
def mirror_user_listed_differently(inventory: Inventory) -> Iterator[Problem]:
    """`mirror_user` is also in `kafka_users` or `kafka_plain_users`, with another password or `state: absent`."""
    return MIRRORS.find_other_entries(_mirrored(inventory))


@rule(
    variable="kafka_sasl_mechanisms",
    allowed=KNOWN_MECHANISMS,
    fix="put SCRAM-SHA-512 first in kafka_sasl_mechanisms, or with PLAIN list mirror_user in kafka_plain_users",
)
def mirror_mechanism(inventory: Inventory) -> Iterator[Problem]:
    """`mirror_user` cannot log in by the first of `kafka_sasl_mechanisms`, which mirrors use."""
    return MIRRORS.find_no_mechanism(_asked(inventory))


@rule(
    variable="kafka_kerberos",
    allowed="one realm, or krb5_file",
    fix="set kafka_kerberos.krb5_file of the mirror to a krb5.conf on its machine that has all these realms, and the"
    " hosts of their brokers in [domain_realm]",
)
def mirror_realms(inventory: Inventory) -> Iterator[Problem]:
    """The clusters of the flows into a target are in several realms of Kerberos, and a mirror has no
    `kafka_kerberos.krb5_file`: its Java reads one krb5.conf, and asks its default realm for the brokers of both."""
    known = realms(cluster for cluster, _listener in _asked(inventory))
    by_target: dict[str, dict[str, None]] = {}
    for flow in flows(inventory):
        ends = (name for name in (flow.source, flow.target) if name in known)
        by_target.setdefault(flow.target, {}).update({known[name]: None for name in ends})
    for target, names in by_target.items():
        for mirror in mirrors_of(inventory, target) if len(names) > 1 else ():
            if not Kerberos.of(mirror.variables.get("kafka_kerberos")).krb5_file:
                yield Problem(mirror, "the mirror gets no ticket for brokers of several realms", " and ".join(names))


@rule(fix="set the variable once, in the group_vars of the cluster")
def mirror_logins_disagree(inventory: Inventory) -> Iterator[Problem]:
    """The brokers of a cluster have different `mirror_user`, `mirror_password`, `mirror_keytab_file` or
    `mirror_listener`."""
    for cluster in _mirrored(inventory):
        for variable in ("mirror_user", "mirror_password", "mirror_keytab_file", "mirror_listener"):
            values = [(node, node.text(variable)) for node in cluster.brokers if not _unknown(node, variable)]
            differing = [node.name for node, value in values if value != values[0][1]]
            if differing:
                found = f"another value on {', '.join(differing)} than on {values[0][0].name}"
                yield Problem(cluster, "the brokers of the cluster disagree", found, variable=variable)


def _unknown(node: Node, variable: str) -> bool:
    return node.variables.get(variable) is UNDEFINED


@rule(
    variable=VARIABLE,
    fix="set sync_topic_acls of the flow, or kafka_acls_authoritative of the target, to false",
)
def acls_with_two_owners(inventory: Inventory) -> Iterator[Problem]:
    """`sync_topic_acls` of a flow copies ACLs into a cluster whose `kafka_acls_authoritative` removes them again."""
    known = kafka_clusters(inventory)
    for flow in flows(inventory):
        owned = flow.target in known and as_bool(known[flow.target].nodes[0].get("kafka_acls_authoritative"))
        if flow.sync_topic_acls and owned and flow.engine != LEGACY:
            what = f"{flow.pair} would copy ACLs that the inventory removes again"
            found = "sync_topic_acls true with kafka_acls_authoritative"
            yield Problem(where(inventory, flow.target), what, found)


def _certified(inventory: Inventory) -> Iterator[tuple[Flow, tuple[Node, ...]]]:
    """The flows with a listener that asks for certificates, with their mirrors."""
    for flow in flows(inventory):
        if any(way.protocol == "SSL" for way in _ways(inventory, flow)):
            yield flow, mirrors_of(inventory, flow.target)


@rule(
    variable="kafka_tls_source",
    allowed="the development CA, or files",
    fix="set kafka_tls_source for the mirrors as for their cluster",
)
def mirror_without_certificate(inventory: Inventory) -> Iterator[Problem]:
    """A listener asks for a certificate, and the mirror has none."""
    for flow, mirrors in _certified(inventory):
        for mirror in mirrors:
            if not _unknown(mirror, "kafka_tls_source") and not mirror.text("kafka_tls_source"):
                what = f"a listener of {flow.pair} asks for a certificate, and the mirror has none"
                yield Problem(mirror, what, "an empty value")


@rule(
    variable="kafka_config_dir",
    fix="put them on two machines: connectors find their files by one path on all mirrors of a target",
)
def mirrors_share_certificate(inventory: Inventory) -> Iterator[Problem]:
    """A listener asks for certificates, and two mirrors of a target on one machine have the same files."""
    for flow, mirrors in _certified(inventory):
        places: dict[tuple[str, str], str] = {}
        for mirror in mirrors:
            first = places.setdefault((mirror.machine, mirror.text("kafka_config_dir")), mirror.name)
            if first != mirror.name:
                what = f"mirrors of {flow.target} on one machine would show each other's certificates"
                yield Problem([first, mirror], what, mirror.text("kafka_config_dir") or "the same directory")


@rule(
    variable="kafka_tls_certificate_file",
    fix="have it issued in the mirror's name, write a rule into kafka_tls_principal_rules of the cluster, or give that"
    " principal ACLs in kafka_acls",
    level=WARNING,
)
def mirror_principal(inventory: Inventory) -> Iterator[Problem]:
    """A cluster makes another principal of a mirror's certificate than the one that the ACLs of mirrors are for."""
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
                        yield Problem(
                            mirror,
                            f"{end.name} makes another principal of the mirror than its ACLs are for",
                            found=f"subject {subject} (as Java writes it) becomes {found}",
                            allowed=f"User:{mirror.name}",
                        )


def _becomes(rules: str, subject: str) -> str:
    try:
        return f"User:{principal(rules, subject)}"
    except RuleError:
        return "no principal, so the connection is refused"
    except UnknownRuleError:
        return "a principal that this check cannot tell"


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
