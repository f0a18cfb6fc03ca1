# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""How a client logs in (SASL), said once, and in the words of each kind of client. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import urlsplit

from .._core.properties import TICKET_MODULE
from .._core.scram import HASHES

PLAIN, TOKENS, TICKETS = "PLAIN", "OAUTHBEARER", "GSSAPI"
#: The mechanisms that a client may log in by, those with a user and its password first.
WITH_PASSWORD = (PLAIN, *HASHES)
MECHANISMS = (*WITH_PASSWORD, TOKENS, TICKETS)
#: The first part of the principals of brokers: librdkafka, kafka-python and the examples of Kafka have it.
SERVICE = "kafka"
#: What gets tokens by client credentials (KIP-768); it has this name from Kafka 3.4 on.
_TOKEN_HANDLER = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler"
#: Milliseconds for a connection to the issuer, and for each wait for its answer: Kafka itself sets no bound.
_ISSUER_MS = "10000"
#: The property of Java clients that names where tokens are.
TOKEN_URL = "sasl.oauthbearer.token.endpoint.url"
#: No address of tokens or keys is asked that this argument of a JVM does not name (CVE-2025-27817): Kafka 3.9 would ask
#: any, 4.0 and newer none. They stand whole, with commas between.
TOKEN_ADDRESSES = "-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls="
#: The argument of a JVM that names its krb5.conf; without it Java reads /etc/krb5.conf.
KRB5_OPTION = "-Djava.security.krb5.conf="
#: What an address is written with: no blank and no quote, which the arguments of Java have another meaning for; no
#: comma, which stands between two allowed addresses; no fragment, which is never sent.
_URL = re.compile(r"[A-Za-z0-9._~!$&*+=:@%/?\[\]-]+")
#: Kafka's login modules, of which each mechanism has one.
_MODULE = "org.apache.kafka.common.security.{}LoginModule required"


def chosen(mechanisms: Sequence[str]) -> str:
    """Return the mechanism that our own clients log in by, of those that a cluster offers (kafka_sasl_mechanisms).

    It is the first: the order is how an operator says it. Empty where none is offered.
    """
    return next(iter(mechanisms), "")


@dataclass(frozen=True)
class SaslLogin:
    """Who logs in, by which mechanism. The password never shows in C(repr); None leaves out what others add.

    With tokens the user is the id of a client at the issuer, the password its secret (client credentials, RFC 6749,
    section 4.4). endpoint_url -- where it gets tokens. scope -- what it asks for them, may be empty. ca_file -- the CAs
    of that address in PEM, where the client runs; empty for those of the machine.

    With tickets of Kerberos there is neither user nor password. keytab -- where the client runs, with the keys of
    principal (NAME@REALM). service_name -- the first part of the principals of brokers.
    """

    mechanism: str
    username: str
    password: str | None = field(default=None, repr=False)
    endpoint_url: str = ""
    scope: str = ""
    ca_file: str = ""
    keytab: str = ""
    principal: str = ""
    service_name: str = SERVICE

    @classmethod
    def of(cls, options: Mapping[str, str]) -> SaslLogin:
        """Read it from the options of a connection, as modules take them."""
        if options["sasl_mechanism"] == TICKETS:
            return cls.by_ticket(
                options["sasl_kerberos_keytab"],
                options["sasl_kerberos_principal"],
                options.get("sasl_kerberos_service_name", SERVICE),
            )
        return cls(
            options["sasl_mechanism"],
            options["sasl_username"],
            options["sasl_password"],
            options.get("sasl_oauthbearer_endpoint_url", ""),
            options.get("sasl_oauthbearer_scope", ""),
            options.get("sasl_oauthbearer_ca_location", ""),
        )

    @classmethod
    def by_ticket(cls, keytab: str, principal: str, service_name: str = SERVICE) -> SaslLogin:
        """Return the login of a principal by Kerberos."""
        return cls(TICKETS, "", keytab=keytab, principal=principal, service_name=service_name)

    def options(self) -> dict[str, str]:
        """Return the options of a connection, as modules take them."""
        if self.mechanism == TICKETS:
            return {
                "sasl_mechanism": TICKETS,
                "sasl_kerberos_keytab": self.keytab,
                "sasl_kerberos_principal": self.principal,
                "sasl_kerberos_service_name": self.service_name,
            }
        known = {"sasl_mechanism": self.mechanism, "sasl_username": self.username, "sasl_password": self.password}
        return {**_given(known), **self.token_options()}

    def token_options(self) -> dict[str, str]:
        """Return those of them that say where tokens are; empty with another mechanism."""
        if self.mechanism != TOKENS:
            return {}
        given = {
            "sasl_oauthbearer_endpoint_url": self.endpoint_url or None,
            "sasl_oauthbearer_scope": self.scope or None,
            "sasl_oauthbearer_ca_location": self.ca_file or None,
        }
        return _given(given)

    def java(self, authorities: str = "") -> dict[str, str]:
        """Return the native properties of a Java client.

        authorities -- what is in the CA file, which then need not be on the host of the client.
        """
        if self.mechanism == TOKENS:
            return self._java_with_tokens(authorities)
        if self.mechanism == TICKETS:
            keytab, principal = quoted(self.keytab), quoted(self.principal)
            return {
                "sasl.mechanism": TICKETS,
                "sasl.jaas.config": TICKET_MODULE.format(initiates="true", keytab=keytab, principal=principal),
                "sasl.kerberos.service.name": self.service_name,
            }
        module = "plain.Plain" if self.mechanism == PLAIN else "scram.Scram"
        options = _given({"username": self.username, "password": self.password})
        return {"sasl.mechanism": self.mechanism, "sasl.jaas.config": _jaas(module, options)}

    def librdkafka(self) -> dict[str, str]:
        """Return the settings of a client on librdkafka, as confluent-kafka takes them."""
        if self.mechanism == TOKENS:
            known = {
                "sasl.oauthbearer.scope": self.scope,
                "sasl.oauthbearer.client.secret": self.password,
                "https.ca.location": self.ca_file,
            }
            return {
                "sasl.mechanism": TOKENS,
                "sasl.oauthbearer.method": "oidc",
                "sasl.oauthbearer.token.endpoint.url": self.endpoint_url,
                "sasl.oauthbearer.client.id": self.username,
                **_given({name: value or None for name, value in known.items()}),
            }
        return _given(
            {"sasl.mechanism": self.mechanism, "sasl.username": self.username, "sasl.password": self.password}
        )

    def kafka_python(self) -> dict[str, str]:
        """Return the keyword arguments of a client of kafka-python; Session adds what gives it tokens or tickets."""
        if self.mechanism in (TOKENS, TICKETS):
            return {"sasl_mechanism": self.mechanism}
        return _given(
            {
                "sasl_mechanism": self.mechanism,
                "sasl_plain_username": self.username,
                "sasl_plain_password": self.password,
            }
        )

    def _java_with_tokens(self, authorities: str) -> dict[str, str]:
        """All releases take client and secret from the login module; from 4.1 on they log that other keys exist."""
        trust = {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": f"{authorities}\n"} if authorities else {}
        known = {"clientId": self.username, "clientSecret": self.password, "scope": self.scope or None}
        return {
            "sasl.mechanism": TOKENS,
            "sasl.jaas.config": _jaas("oauthbearer.OAuthBearer", {**_given(known), **trust}),
            "sasl.login.callback.handler.class": _TOKEN_HANDLER,
            "sasl.login.connect.timeout.ms": _ISSUER_MS,
            "sasl.login.read.timeout.ms": _ISSUER_MS,
            TOKEN_URL: self.endpoint_url,
        }


def url_fault(url: str, harm: str = "replace the keys") -> str:
    """Say why nobody can ask an issuer at an address, or must not; empty where one can. Never shows the address.

    What is fetched without TLS can be replaced on its way, and with other keys anybody signs tokens. harm -- what
    anybody could do who is on the way.
    """
    if not _URL.fullmatch(url):
        return "it holds a blank, a quote, a comma, a fragment or another character that no such address has"
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname or "", parts.port
    except ValueError:
        return "its host or its port cannot be read"
    if parts.scheme not in ("https", "http") or not host:
        return "it is no address of the form https://host/path"
    if "@" in parts.netloc:
        return "it holds a user or a password, which Kafka does not send and its logs show"
    if parts.scheme == "http" and not _is_loopback(host):
        return f"it begins with http://, so anybody on the way can {harm}"
    return ""


def _is_loopback(host: str) -> bool:
    """Return whether a host is the machine itself, whose connections nobody else sees."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def quoted(text: str) -> str:
    """Return a value of a JAAS text, whose strings know the backslash as Java's do, and end with their line."""
    escaped = str(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'


def _jaas(module: str, options: Mapping[str, str]) -> str:
    words = "".join(f" {name}={quoted(value)}" for name, value in options.items())
    return f"{_MODULE.format(module)}{words};"


def _given(values: Mapping[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in values.items() if value is not None}
