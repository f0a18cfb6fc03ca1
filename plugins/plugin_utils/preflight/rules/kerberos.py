# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on logins by Kerberos (GSSAPI): whether each broker has the keys of its own name.

A broker whose keytab does not fit starts all the same, and refuses every client; Kafka says so in no log of a start.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os.path import expanduser
from typing import Any

from ....module_utils._client.login import chosen
from ....module_utils._node.keytab import OTHERS, fault
from ...inventory.kerberos import DEFAULT_RULE, MECHANISM, Kerberos, read_keytab, short_name
from ...inventory.model import PLACEHOLDER, Cluster, Inventory, Node
from ...inventory.variables import UNDEFINED
from ...render.security import SASL_PROTOCOLS
from ...specs import role_options
from ..by_value import by_value
from ..host import Host
from ..rule import BY_PROFILE, WARNING, Problem, host_rule, rule
from ..service_logins import SERVICES, SPARK, ServiceLogin
from .oauth import fields_said, not_offered
from .shape import faults

VARIABLE = "kafka_kerberos"
_KEYTAB_FIX = (
    "export the keytab of this broker again (kadmin: ktadd -k FILE PRINCIPAL), with the name that its listener "
    "advertises and keys of AES"
)
#: By what a listener lets in principals (render/security.kerberos_properties).
_JUDGES = re.compile(
    r"listener\.name\.[^.]+\.(gssapi\.sasl\.jaas\.config|sasl\.kerberos\.(principal\.to\.local\.rules|service\.name))"
)
#: A realm that nobody has (RFC 2606), and the second part of a name.
_OTHER_REALM, _SECOND = "OTHER.INVALID", "another"


def _logins(node: Node) -> list[str]:
    """Return as what a broker advertises its listeners at which clients log in by Kerberos."""
    if MECHANISM not in node.names("kafka_sasl_mechanisms"):
        return []
    listeners = (listener for listener in node.listeners() if listener.opens and listener.protocol in SASL_PROTOCOLS)
    return [listener.advertised_host for listener in listeners]


def complete(cluster: Cluster) -> Iterator[tuple[Kerberos, list[Node]]]:
    """Yield what brokers say of Kerberos that let clients in by it, where no field is made at run time."""
    for value, nodes in by_value(cluster.brokers, VARIABLE):
        if (
            isinstance(value, Mapping)
            and not any(map(_is_unknown, value.values()))
            and (takers := [node for node in nodes if _logins(node)])
        ):
            yield Kerberos.of(value), takers


def realms(clusters: Iterable[Cluster]) -> dict[str, str]:
    """Return by name of the cluster the realm of those that our services enter by Kerberos."""
    return {
        cluster.name: kerberos.realm
        for cluster in clusters
        for kerberos, nodes in complete(cluster)
        if chosen(nodes[0].names("kafka_sasl_mechanisms")) == MECHANISM and kerberos.realm
    }


def _is_unknown(field: object) -> bool:
    listed = field if isinstance(field, (list, tuple)) else [field]
    return any(value is UNDEFINED or PLACEHOLDER in str(value) for value in listed)


@rule(variable=VARIABLE, fix="correct kafka_kerberos as docs/tls-sasl.md has it")
def bad_kerberos(inventory: Inventory) -> Iterator[Problem]:
    """Clients may log in by GSSAPI, and `kafka_kerberos` lacks the realm or the keytab, has two keytabs or two sources
    of krb5.conf, a rule that Kafka does not take, or a value with a blank or a quote; or it has a field that does not
    exist, or one with another type."""
    options = role_options()[VARIABLE]["options"]
    for cluster in inventory.clusters():
        is_sound = True
        for said, nodes in fields_said(cluster, VARIABLE):
            for what, given, allowed, fix in faults(said, options):
                is_sound = False
                yield Problem(nodes, what.replace("entry", "description of Kerberos"), given, allowed, fix)
        unsaid = [
            (Kerberos(), [node]) for node in cluster.brokers if _logins(node) and not node.variables.get(VARIABLE, {})
        ]
        for kerberos, nodes in (*complete(cluster), *unsaid) if is_sound else ():
            if flaw := kerberos.fault():
                yield Problem(nodes, "clients could not log in by Kerberos", flaw)


@rule(variable=VARIABLE, fix="add GSSAPI to kafka_sasl_mechanisms, or remove kafka_kerberos")
def kerberos_not_offered(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_kerberos` is set, and no listener of the cluster offers GSSAPI."""
    yield from not_offered(inventory, VARIABLE, MECHANISM, _logins)


@rule(
    variable=f"{VARIABLE}.client_keytab_file",
    fix="set it to a keytab with the keys of kafka_admin_user@realm, or put SCRAM-SHA-512 before GSSAPI in "
    "kafka_sasl_mechanisms",
)
def kerberos_first(inventory: Inventory) -> Iterator[Problem]:
    """GSSAPI is the first of `kafka_sasl_mechanisms`, by which the administrator logs in, and
    `kafka_kerberos.client_keytab_file` is empty, cannot be read, or has no key of `kafka_admin_user@realm`; or
    `kafka_kerberos.principal_rules` make another user of this principal."""
    for cluster in inventory.clusters():
        for kerberos, nodes in complete(cluster):
            first = [node for node in nodes if node.names("kafka_sasl_mechanisms")[0] == MECHANISM]
            if first and not kerberos.fault() and (flaw := _admin_flaw(kerberos, first[0].text("kafka_admin_user"))):
                yield Problem(first, "the administrator cannot log in by Kerberos", flaw)


def _admin_flaw(kerberos: Kerberos, user: str) -> str:
    """Say why the administrator would not get in as this user, "" where it would."""
    if not kerberos.client_keytab_file:
        return "no client_keytab_file"
    return kerberos.login_flaw(user, kerberos.client_keytab_file)


@rule(
    fix="export the keys of this user (kadmin: ktadd -k FILE USER@REALM), or put SCRAM-SHA-512 first in "
    "kafka_sasl_mechanisms",
)
def bad_service_keytab(inventory: Inventory) -> Iterator[Problem]:
    """GSSAPI is the first of `kafka_sasl_mechanisms`, and `mirror_keytab_file`, `mirror_canary_keytab_file`,
    `kafka_page_keytab_file` or `spark_validation_keytab_file` cannot be read on the control node or has no key of
    `USER@realm` with the user of this service; or `kafka_kerberos.principal_rules` make another user of this
    principal."""
    for cluster in inventory.clusters():
        for kerberos, nodes in complete(cluster):
            node = nodes[0]
            if kerberos.fault() or chosen(node.names("kafka_sasl_mechanisms")) != MECHANISM:
                continue
            for service in SERVICES:
                user, file = node.text(service.user), _service_keytab(node, service)
                if service is SPARK:
                    file = file or kerberos.client_keytab_file
                if user and file and (flaw := kerberos.login_flaw(user, file)):
                    what = f"{service.who} cannot log in by Kerberos"
                    yield Problem(cluster, what, flaw, variable=service.keytab_file)


def _service_keytab(node: Node, service: ServiceLogin) -> str:
    """Return the keytab of a service on the control node; empty where none is set, or it is made at run time."""
    file = node.variables.get(service.keytab_file)
    return "" if _is_unknown(file) else expanduser(node.text(service.keytab_file))


@rule(variable=f"{VARIABLE}.keytab_file", fix=_KEYTAB_FIX)
def bad_keytab(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_kerberos.keytab_file` cannot be read on the control node, is no keytab, has no key of
    `service_name/HOST@realm` with the HOST that the broker advertises (it is that of another host, or of another
    realm), or its newest keys are DES or RC4 alone, which Java refuses."""
    for cluster in inventory.clusters():
        for kerberos, nodes in complete(cluster):
            if not kerberos.keytab_file or kerberos.fault():
                continue
            try:
                keys = read_keytab(kerberos.keytab_file)
            except ValueError as error:
                yield Problem(nodes, "the brokers would have no keytab", str(error))
                continue
            for node in nodes:
                flaws = (fault(keys, kerberos.principal_at(host)) for host in _logins(node))
                if flaw := next(filter(None, flaws), ""):
                    yield Problem(node, f"the broker lets nobody in with {kerberos.keytab_file}", flaw)


@rule(
    variable=VARIABLE,
    allowed="mode 0600, or 0640 for a group of administrators",
    fix="chmod 0600 FILE, and export new keys if others may have read these",
    level=BY_PROFILE,
    acceptable=True,
)
def open_keytab(inventory: Inventory) -> Iterator[Problem]:
    """Others than owner and group may read `kafka_kerberos.keytab_file`, `kafka_kerberos.client_keytab_file` or the
    keytab of a service (`bad_service_keytab`) on the control node: whoever has the key of a broker can pose as that
    broker, and as every user to it; whoever has that of a client is it."""
    for cluster in inventory.clusters():
        for kerberos, nodes in complete(cluster):
            services = (_service_keytab(nodes[0], service) for service in SERVICES)
            for file in filter(None, (kerberos.keytab_file, kerberos.client_keytab_file, *services)):
                try:
                    mode = os.stat(file).st_mode & 0o777
                except OSError:
                    continue
                if mode & OTHERS:
                    yield Problem(nodes, f"everybody on the control node may read {file}", f"mode {mode:04o}")


@rule(
    variable=f"{VARIABLE}.realm",
    allowed="the realm as the KDC has it, mostly in capitals",
    fix="write the realm as klist shows it behind the @",
    acceptable=True,
)
def realm_in_small_letters(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_kerberos.realm` has small letters. Realms are compared letter by letter and are in capitals by
    convention; mostly the name of the DNS domain was written."""
    for cluster in inventory.clusters():
        for kerberos, nodes in complete(cluster):
            if kerberos.realm != kerberos.realm.upper():
                yield Problem(nodes, "the realm has small letters", kerberos.realm)


@rule(
    variable=f"{VARIABLE}.principal_rules",
    fix="name the realm in the rule: RULE:[1:$1@$0]s/@REALM$//",
    level=WARNING,
    acceptable=True,
)
def principals_merge(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_kerberos.principal_rules` make one user of two principals: of the same name in any other realm that the
    KDC trusts, or of `name` and `name/other`. The second one has the rights of the first, also those of the
    administrator. What DEFAULT does within the own realm is not named."""
    for cluster in inventory.clusters():
        for kerberos, nodes in complete(cluster):
            names = sorted(cluster.super_users(nodes[0]) - set(cluster.hosts)) or ["alice"]
            for name in names:
                if others := _merged(kerberos, name):
                    yield Problem(nodes, "the rules make one user of two principals", f"{name}: {' and '.join(others)}")
                    break


def _merged(kerberos: Kerberos, name: str) -> list[str]:
    """Return two principals that become this user; empty where no second one does."""
    rules, realm = kerberos.principal_rules, kerberos.realm
    explicit = [rule for rule in rules if rule != DEFAULT_RULE]
    own, foreign, longer = f"{name}@{realm}", f"{name}@{_OTHER_REALM}", f"{name}/{_SECOND}@{realm}"
    if short_name(rules, realm, own) != name:
        return []
    if short_name(explicit, realm, foreign) == name:
        return [own, f"{name} of any other realm"]
    return [own, longer] if short_name(explicit, realm, longer) == name else []


@rule(fix="remove the property, and say it by kafka_kerberos", acceptable=True)
def native_kerberos_property(inventory: Inventory) -> Iterator[Problem]:
    """A native property of a listener (`listener.name.X.gssapi.sasl.jaas.config`, `listener.name.X.sasl.kerberos...`)
    wins over `kafka_kerberos`: the broker uses another keytab, principal or rules than those that are checked."""
    for cluster in inventory.clusters():
        for node in filter(_logins, cluster.brokers):
            for native in node.properties().values():
                if _JUDGES.fullmatch(native.key):
                    what = "clients are let in by this property, and not by kafka_kerberos"
                    yield Problem(node, what, native.key, variable=native.variable)


@host_rule(variable=f"{VARIABLE}.keytab_path", fix=_KEYTAB_FIX)
def bad_keytab_on_node(hosts: Sequence[Host]) -> Iterator[Problem]:
    """`kafka_kerberos.keytab_path` is missing on the node, the user of the service may not read it, others may, it has
    no key of the name that the broker advertises, or its newest keys are DES or RC4 alone."""
    for host, keytab in _keytabs(hosts):
        if keytab["copied"] is None:
            if keytab["problem"]:
                yield Problem(host, f"the broker lets nobody in with {keytab['path']}", keytab["problem"])
            elif keytab["is_open"]:
                remedy = f"chmod 0440 {keytab['path']}, and export new keys if others may have read these"
                yield Problem(host, f"everybody on the node may read {keytab['path']}", fix=remedy)


@host_rule(
    variable=f"{VARIABLE}.keytab_file",
    fix="copy the newest keytab of the broker to the control node; this run would bring back keys that no ticket has",
)
def older_keytab(hosts: Sequence[Host]) -> Iterator[Problem]:
    """The keytab on the node has newer keys (kvno) than `kafka_kerberos.keytab_file`, which would replace it: the KDC
    gives tickets for the newest keys alone, so every new client would be refused."""
    for host, keytab in _keytabs(hosts):
        if keytab["copied"] is not None and keytab["version"] > keytab["copied"]:
            versions = f"kvno {keytab['version']} on the node, {keytab['copied']} on the control node"
            yield Problem(host, "an older keytab would replace that of the broker", versions)


def _keytabs(hosts: Sequence[Host]) -> Iterator[tuple[Host, Mapping[str, Any]]]:
    for host in hosts:
        if keytab := (host.info or {}).get("keytab"):
            yield host, keytab
