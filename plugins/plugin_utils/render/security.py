# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The security properties of a node, how its cluster is reached as administrator, and what its certificate must name.

Nodes talk to each other and to the controllers over mutual TLS: a node is who its certificate says. Clients have a
listener of their own, where they show a password (SASL) or a certificate.
"""

from __future__ import annotations

import base64
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...module_utils._client.login import SaslLogin, chosen, quoted
from ...module_utils._core.addresses import is_address
from ...module_utils._core.properties import SCRAM_MODULE, TICKET_MODULE, TOKEN_MODULE
from ...module_utils._core.scram import HASHES, salted_password
from ...module_utils._release.releases import release
from ...module_utils._users.plan import MIN_ITERATIONS
from ..inventory.kerberos import MECHANISM as KERBEROS
from ..inventory.kerberos import Kerberos
from ..inventory.nodes import listener_for
from ..inventory.oauth import MECHANISM, TokenIssuer

TLS_PROTOCOLS = ("SSL", "SASL_SSL")
SASL_PROTOCOLS = ("SASL_PLAINTEXT", "SASL_SSL")
AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
# It keeps its ACLs in ZooKeeper.
ZOOKEEPER_AUTHORIZER = "kafka.security.authorizer.AclAuthorizer"
#: The argument of a JVM that names the file of its logins.
JAAS_FILE = "-Djava.security.auth.login.config="
PLAIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule required"
_TOKENS = "org.apache.kafka.common.security.oauthbearer"
#: Milliseconds after which a client must log in again, or when its token ends if that is sooner (KIP-368): without it a
#: connection outlives its token for as long as it stays open.
TOKEN_SESSION_MS = 3_600_000
#: The most bytes of a request before its client has logged in. Headers of HTTP, in which tokens mostly travel, are
#: smaller; Kafka's own limit is 512 KiB for everybody who can connect.
LOGIN_BYTES = 65_536


def uses(node: Mapping[str, Any], protocols: Iterable[str]) -> bool:
    """Return whether the node opens, or connects to, a listener with one of these protocols."""
    return any(listener["protocol"] in protocols for listener in node["listeners"])


def security_properties(node: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The native security properties of one node; empty when nothing is secured.

    settings -- tls_dir (on the node), tls_source (kafka_tls_source), tls_protocols, principal_rules, mechanisms,
    plain_users (each with name and password), authorizer (bool), super_users (names of principals), zookeeper (bool,
    the cluster's mode), oauth (kafka_oauth), version (of Kafka), kerberos (kafka_kerberos), keytab (on the node).
    """
    properties: dict[str, Any] = {}
    if uses(node, TLS_PROTOCOLS):
        properties.update(_tls(node, settings))
    if uses(node, SASL_PROTOCOLS):
        properties.update(_sasl(node, settings))
    if settings["authorizer"]:
        properties.update(
            {
                "authorizer.class.name": ZOOKEEPER_AUTHORIZER if settings.get("zookeeper") else AUTHORIZER,
                "allow.everyone.if.no.acl.found": False,
                "super.users": ";".join(f"User:{name}" for name in settings["super_users"]),
            }
        )
    return properties


def _tls(node: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    # PEM stores (KIP-651) need neither keytool nor a store password.
    properties: dict[str, Any] = {
        "ssl.keystore.type": "PEM",
        "ssl.truststore.type": "PEM",
        "ssl.enabled.protocols": list(settings["tls_protocols"]),
        "ssl.protocol": settings["tls_protocols"][0],
        "ssl.endpoint.identification.algorithm": "https",
        "ssl.principal.mapping.rules": settings["principal_rules"],
    }
    if settings["tls_source"]:
        # Without a source there are no such files, and Kafka takes a location besides keys in properties (KIP-651) for
        # a mistake.
        properties["ssl.keystore.location"] = f"{settings['tls_dir']}/keystore.pem"
        properties["ssl.truststore.location"] = f"{settings['tls_dir']}/truststore.pem"
    for listener in node["listeners"]:
        if listener["opens"] and listener["protocol"] in TLS_PROTOCOLS:
            # Who shows a password needs no certificate.
            wanted = "none" if listener["protocol"] == "SASL_SSL" else "required"
            properties[f"listener.name.{listener['name'].lower()}.ssl.client.auth"] = wanted
    return properties


def _sasl(node: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for listener in node["listeners"]:
        if listener["opens"] and listener["protocol"] in SASL_PROTOCOLS:
            prefix = f"listener.name.{listener['name'].lower()}"
            properties[f"{prefix}.sasl.enabled.mechanisms"] = list(settings["mechanisms"])
            for mechanism in settings["mechanisms"]:
                if mechanism == MECHANISM:
                    properties.update(token_properties(prefix, TokenIssuer.of(settings["oauth"]), settings["version"]))
                    continue
                if mechanism == KERBEROS:
                    properties.update(
                        kerberos_properties(listener, Kerberos.of(settings["kerberos"]), settings["keytab"])
                    )
                    continue
                module = SCRAM_MODULE if mechanism in HASHES else _plain(settings["plain_users"])
                properties[f"{prefix}.{mechanism.lower()}.sasl.jaas.config"] = module
    return properties


def token_properties(prefix: str, issuer: TokenIssuer, version: str) -> dict[str, Any]:
    """Return by what a listener judges tokens: signature, issuer, audience and time.

    prefix -- listener.name.NAME; version -- of Kafka. From 4.1 on the class is named that checks signatures: by itself
    4.1.0 and 4.1.1 choose one that takes every token (CVE-2026-33557). Of the keys Kafka looks for jwt.validator.class
    without the name of the mechanism alone (ConfigurationUtils.getConfiguredInstance), so all stand without it.
    """
    if fault := issuer.fault():
        raise ValueError(f"{fault}; fix: correct kafka_oauth")
    own = f"{prefix}.{MECHANISM.lower()}"
    properties: dict[str, Any] = {
        f"{own}.connections.max.reauth.ms": TOKEN_SESSION_MS,
        f"{own}.sasl.jaas.config": _token_module(issuer.authorities()),
        f"{own}.sasl.server.callback.handler.class": f"{_TOKENS}.OAuthBearerValidatorCallbackHandler",
        f"{prefix}.sasl.oauthbearer.clock.skew.seconds": issuer.clock_skew,
        # A set for Kafka, which takes none twice from 4.2 on: another order is no reason to restart.
        f"{prefix}.sasl.oauthbearer.expected.audience": sorted(set(issuer.audience)),
        f"{prefix}.sasl.oauthbearer.expected.issuer": issuer.issuer,
        f"{prefix}.sasl.oauthbearer.jwks.endpoint.url": issuer.jwks_url,
        f"{prefix}.sasl.oauthbearer.sub.claim.name": issuer.principal_claim,
        f"{prefix}.sasl.server.max.receive.size": LOGIN_BYTES,
    }
    if release(version).numbers >= (4, 1):
        properties[f"{prefix}.sasl.oauthbearer.jwt.validator.class"] = f"{_TOKENS}.BrokerJwtValidator"
    return properties


def _token_module(authorities: str) -> str:
    """Return the login module of a listener that takes tokens and never shows one.

    A server logs in too, and without options Kafka's default login gets no token. With the CAs of the issuer among its
    options it insists on one (OAuthBearerUnsecuredLoginCallbackHandler), and the broker would end; a name for a token
    that it makes itself is enough. No connection is made with it, since no node is a client of this listener.
    """
    if not authorities:
        return f"{TOKEN_MODULE};"
    # With blanks instead of ends of lines Kafka reads the last certificate alone.
    lines = f"{authorities}\n"
    return (
        f'{TOKEN_MODULE} unsecuredLoginStringClaim_sub="unused" ssl.truststore.type="PEM" '
        f"ssl.truststore.certificates={quoted(lines)};"
    )


def kerberos_properties(listener: Mapping[str, Any], said: Kerberos, keytab: str) -> dict[str, Any]:
    """Return by what a listener lets in clients with tickets.

    listener -- its name and the advertised_host, which clients ask the KDC for. keytab -- its path on the node.
    A broker asks the KDC for nothing, since nodes show certificates to each other: it starts while no KDC answers, and
    Java reads the keytab again for each login, so a new one needs no restart.
    """
    if fault := said.fault():
        raise ValueError(f"{fault}; fix: correct kafka_kerberos")
    prefix = f"listener.name.{listener['name'].lower()}"
    principal = quoted(said.principal_at(listener["advertised_host"]))
    module = TICKET_MODULE.format(initiates="false", keytab=quoted(keytab), principal=principal)
    return {
        f"{prefix}.{KERBEROS.lower()}.sasl.jaas.config": module,
        f"{prefix}.sasl.kerberos.principal.to.local.rules": list(said.principal_rules),
        f"{prefix}.sasl.kerberos.service.name": said.service_name,
    }


def takes_tokens(listeners: Iterable[Mapping[str, object]], mechanisms: Collection[str]) -> bool:
    """Return whether a node opens one of these listeners, at which clients log in with tokens."""
    return MECHANISM in mechanisms and bool(hosts_with_login(listeners))


def offers_several(listeners: Iterable[Mapping[str, object]], mechanisms: Collection[str]) -> bool:
    """Return whether clients of a node choose between mechanisms, as while they move from one to another."""
    return len(mechanisms) > 1 and bool(hosts_with_login(listeners))


def takes_tickets(listeners: Iterable[Mapping[str, object]], mechanisms: Collection[str]) -> bool:
    """Return whether a node opens one of these listeners, at which clients log in by Kerberos."""
    return KERBEROS in mechanisms and bool(hosts_with_login(listeners))


def hosts_with_login(listeners: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return as what a node advertises those of its listeners at which clients log in."""
    return [
        listener["advertised_host"]
        for listener in listeners
        if listener["opens"] and listener["protocol"] in SASL_PROTOCOLS
    ]


def _plain(users: Iterable[Mapping[str, Any]]) -> str:
    # Kafka's own server side of PLAIN knows the users that its configuration lists (PlainServerCallbackHandler).
    ordered = sorted(users, key=lambda user: str(user["name"]))
    listed = "".join(f" user_{user['name']}={quoted(user['password'])}" for user in ordered)
    return f"{PLAIN_MODULE}{listed};"


def connection(nodes: Sequence[Mapping[str, Any]], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The connection options of this collection's modules for the administrator of a cluster.

    settings -- bootstrap_servers, mechanisms, admin_user, admin_password, oauth (kafka_oauth), kerberos
    (kafka_kerberos), ca_file, admin_certificate_file, admin_key_file; paths on the control node.
    """
    brokers = [node for node in nodes if "broker" in node["roles"]]
    options: dict[str, Any] = {"bootstrap_servers": list(settings["bootstrap_servers"])}
    protocol = listener_for(brokers[0], "clients")["protocol"] if brokers else "PLAINTEXT"
    if protocol != "PLAINTEXT":
        options["security_protocol"] = protocol
    return {**options, **access([protocol], settings)}


def access(protocols: Collection[str], settings: Mapping[str, Any]) -> dict[str, Any]:
    """By what the administrator is let in at listeners for clients with these protocols; settings as C(connection)."""
    options: dict[str, Any] = {}
    if any(protocol in TLS_PROTOCOLS for protocol in protocols):
        options["ssl_ca_location"] = settings["ca_file"]
    if any(protocol in SASL_PROTOCOLS for protocol in protocols):
        mechanism, user = chosen(settings["mechanisms"]), settings["admin_user"]
        if mechanism == KERBEROS:
            login = Kerberos.of(settings.get("kerberos")).login(user)
        else:
            login = TokenIssuer.of(settings.get("oauth")).login(mechanism, user, settings["admin_password"])
        options.update(login.options())
    if "SSL" in protocols:
        options["ssl_certificate_location"] = settings["admin_certificate_file"]
        options["ssl_key_location"] = settings["admin_key_file"]
    return options


def client_properties(options: Mapping[str, Any], ca_file: str = "", keytab: str = "") -> dict[str, str]:
    """Return the same connection in the native properties of Java clients.

    ca_file, keytab -- where the CA's certificate and the keytab lie on the host of the client, when they are not where
    the options say.
    """
    properties = {}
    protocol = options.get("security_protocol", "PLAINTEXT")
    if protocol != "PLAINTEXT":
        properties["security.protocol"] = protocol
    if protocol in TLS_PROTOCOLS:
        properties["ssl.truststore.type"] = "PEM"
        properties["ssl.truststore.location"] = ca_file or options["ssl_ca_location"]
    if protocol in SASL_PROTOCOLS:
        login = SaslLogin.of(options)
        login = replace(login, keytab=keytab or login.keytab)
        # With what is in it: the host of the client needs no file of the issuer.
        properties.update(login.java(TokenIssuer(ca_file=login.ca_file).authorities()))
    return properties


def certificate_names(node: Mapping[str, Any]) -> list[str]:
    """The subject alternative names of a node: every address that it advertises, and its name in the inventory."""
    hosts = dict.fromkeys([one["advertised_host"] for one in node["listeners"] if one["opens"]] + [node["host"]])
    return [f"{'IP' if is_address(host) else 'DNS'}:{host}" for host in hosts]


def client_certificates(names: Iterable[str], settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what the development CA issues to the administrator and these clients: name, files, alternatives, usage.

    settings -- admin_user, admin_certificate_file, admin_key_file, and the directory for those of the clients.
    """
    admin = (settings["admin_user"], settings["admin_certificate_file"], settings["admin_key_file"])
    directory = settings["directory"]
    others = [(name, f"{directory}/{name}.pem", f"{directory}/{name}.key") for name in names]
    return [
        {"name": name, "certificate": certificate, "key": key, "alternatives": [], "usage": ["clientAuth"]}
        for name, certificate, key in (admin, *others)
    ]


def scram_credential(mechanism: str, user: str, password: str, salt: bytes) -> str:
    """A credential in the words of `kafka-storage format --add-scram` (KIP-900), salted here (RFC 5802).

    Salted, since the words know no way to write a password that holds a comma, a bracket or a quote.
    """
    salted = salted_password(mechanism, password, salt, MIN_ITERATIONS)
    words = {
        "name": user,
        "salt": base64.b64encode(salt).decode(),
        "saltedpassword": base64.b64encode(salted).decode(),
        "iterations": MIN_ITERATIONS,
    }
    return f"{mechanism}=[{','.join(f'{name}={_word(value)}' for name, value in words.items())}]"


def _word(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)
