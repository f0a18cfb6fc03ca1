# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""How a cluster is reached and as whom: one argument spec, and its form for each of the two client libraries.

And which right a refused request needs: who must get which operation on which resource (KIP-11, KafkaApis).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .._core.addresses import host_port, split_host_port
from .._core.errors import RefusedError
from .login import MECHANISMS, SERVICE, TICKETS, TOKENS, WITH_PASSWORD, SaslLogin

#: The options of the doc fragment streamops.kafka._connection. A test keeps the two equal.
CONNECTION_SPEC: dict[str, dict[str, Any]] = {
    "bootstrap_servers": {"type": "list", "elements": "str", "required": True},
    "security_protocol": {
        "type": "str",
        "default": "PLAINTEXT",
        "choices": ["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"],
    },
    "sasl_mechanism": {"type": "str", "choices": list(MECHANISMS)},
    "sasl_username": {"type": "str"},
    "sasl_password": {"type": "str", "no_log": True},
    # Sanity looks for secrets in names with "token": an address is none.
    "sasl_oauthbearer_endpoint_url": {"type": "str", "no_log": False},
    "sasl_oauthbearer_scope": {"type": "str"},
    "sasl_oauthbearer_ca_location": {"type": "path"},
    # Sanity looks for secrets in names with "key": a path is none.
    "sasl_kerberos_keytab": {"type": "path", "no_log": False},
    "sasl_kerberos_principal": {"type": "str"},
    "sasl_kerberos_service_name": {"type": "str", "default": SERVICE},
    "ssl_ca_location": {"type": "path"},
    "ssl_certificate_location": {"type": "path"},
    "ssl_key_location": {"type": "path"},
    "ssl_key_password": {"type": "str", "no_log": True},
    "request_timeout": {"type": "int", "default": 30},
}

_USER = ["sasl_username", "sasl_password"]
#: What each mechanism needs.
LOGIN_REQUIRED_IF: list[tuple[str, str, list[str]]] = [
    *(("sasl_mechanism", mechanism, _USER) for mechanism in WITH_PASSWORD),
    ("sasl_mechanism", TOKENS, [*_USER, "sasl_oauthbearer_endpoint_url"]),
    ("sasl_mechanism", TICKETS, ["sasl_kerberos_keytab", "sasl_kerberos_principal"]),
]
#: Argument rules that go with CONNECTION_SPEC.
CONNECTION_REQUIRED_IF: list[tuple[str, str, list[str]]] = [
    ("security_protocol", "SASL_PLAINTEXT", ["sasl_mechanism"]),
    ("security_protocol", "SASL_SSL", ["sasl_mechanism"]),
    *LOGIN_REQUIRED_IF,
]
CONNECTION_REQUIRED_TOGETHER: list[tuple[str, str]] = [("ssl_certificate_location", "ssl_key_location")]

_DEFAULT_TIMEOUT = 30
#: Longest time in seconds until a library has a connection ready: connected, TLS done, logged in.
SETUP_SECONDS = 8.0


def within(seconds: float, request_timeout: float) -> float:
    """A limit of the client's own under this request_timeout: never more than it, and longer as it is raised."""
    return min(request_timeout, seconds * max(1.0, request_timeout / _DEFAULT_TIMEOUT))


def server_list(listed: Iterable[str], option: str) -> tuple[str, ...]:
    """Return the servers of an option as client libraries take them; RefusedError for what is not host:port."""
    given = [server for server in listed if server.strip()]
    if found := _bad_servers(given, option):
        raise RefusedError("connection", found)
    return tuple(host_port(*split_host_port(server)) for server in given)


def _bad_servers(given: Sequence[str], option: str) -> list[str]:
    """Say what is wrong with the servers of an option; nothing when each is host:port and there is one."""
    found = [] if given else [f"{option} names no server. Add at least one, as in kafka1:9092."]
    for server in given:
        try:
            split_host_port(server)
        except ValueError as error:
            found.append(f"{option}: {error}.")
    return found


@dataclass(frozen=True)
class Connection:
    """Where the cluster is and who we are there. Secrets never show in C(repr).

    C(request_timeout) is in seconds and bounds each request.
    """

    bootstrap_servers: tuple[str, ...]
    security_protocol: str = "PLAINTEXT"
    sasl_mechanism: str | None = None
    sasl_username: str | None = None
    sasl_password: str | None = field(default=None, repr=False)
    sasl_oauthbearer_endpoint_url: str = ""
    sasl_oauthbearer_scope: str = ""
    sasl_oauthbearer_ca_location: str = ""
    sasl_kerberos_keytab: str = ""
    sasl_kerberos_principal: str = ""
    sasl_kerberos_service_name: str = SERVICE
    ssl_ca_location: str | None = None
    ssl_certificate_location: str | None = None
    ssl_key_location: str | None = None
    ssl_key_password: str | None = field(default=None, repr=False)
    request_timeout: int = _DEFAULT_TIMEOUT

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Connection:
        """The connection in the parameters of a module, whose other parameters are not looked at.

        Raises RefusedError for parameters with which nothing could connect, or nothing would log in.
        """
        values = {name: params[name] for name in CONNECTION_SPEC if params.get(name) is not None}
        given = [server for server in values.pop("bootstrap_servers") if server.strip()]
        found = [*_bad_servers(given, "bootstrap_servers"), *_unused(cls((), **values))]
        if found:
            raise RefusedError("connection", found)
        return cls(server_list(given, "bootstrap_servers"), **values)

    @property
    def login(self) -> SaslLogin | None:
        """Return how we log in; None without a mechanism."""
        if not self.sasl_mechanism:
            return None
        return SaslLogin(
            self.sasl_mechanism,
            self.sasl_username or "",
            self.sasl_password,
            self.sasl_oauthbearer_endpoint_url,
            self.sasl_oauthbearer_scope,
            self.sasl_oauthbearer_ca_location,
            self.sasl_kerberos_keytab,
            self.sasl_kerberos_principal,
            self.sasl_kerberos_service_name,
        )

    def confluent_config(self) -> dict[str, Any]:
        """The configuration for confluent-kafka (librdkafka's property names). RefusedError where it cannot log in."""
        refuse_tickets(self)
        wanted = {
            "bootstrap.servers": ",".join(self.bootstrap_servers),
            "security.protocol": self.security_protocol,
            **(self.login.librdkafka() if self.login else {}),
            "ssl.ca.location": self.ssl_ca_location,
            "ssl.certificate.location": self.ssl_certificate_location,
            "ssl.key.location": self.ssl_key_location,
            "ssl.key.password": self.ssl_key_password,
            "socket.timeout.ms": self.request_timeout * 1000,
            "socket.connection.setup.timeout.ms": max(1000, round(within(SETUP_SECONDS, self.request_timeout) * 1000)),
        }
        return {name: value for name, value in wanted.items() if value is not None}

    def kafka_python_config(self) -> dict[str, Any]:
        """The configuration for kafka-python's admin client (its keyword arguments)."""
        wanted = {
            "bootstrap_servers": list(self.bootstrap_servers),
            "security_protocol": self.security_protocol,
            **(self.login.kafka_python() if self.login else {}),
            "ssl_cafile": self.ssl_ca_location,
            "ssl_certfile": self.ssl_certificate_location,
            "ssl_keyfile": self.ssl_key_location,
            "ssl_password": self.ssl_key_password,
            "request_timeout_ms": self.request_timeout * 1000,
            "bootstrap_timeout_ms": self.request_timeout * 1000,
        }
        return {name: value for name, value in wanted.items() if value is not None}


def _unused(connection: Connection) -> list[str]:
    """Say which part of an identity, or of what servers are verified by, the protocol would not use."""
    found = []
    protocol = connection.security_protocol
    logins = ("sasl_username", "sasl_password", "sasl_kerberos_keytab", "sasl_kerberos_principal")
    user = [name for name in logins if getattr(connection, name)]
    if user and not protocol.startswith("SASL_"):
        found.append(
            f"security_protocol is {protocol}, so {' and '.join(user)} would not be used. Set "
            f"security_protocol to {'SASL_SSL' if protocol == 'SSL' else 'SASL_PLAINTEXT or SASL_SSL'}, or remove them."
        )
    if connection.ssl_certificate_location and not protocol.endswith("SSL"):
        found.append(
            f"security_protocol is {protocol}, so the certificate in ssl_certificate_location would not be shown. Set "
            "security_protocol to SSL or SASL_SSL, or remove it."
        )
    if connection.ssl_ca_location and not protocol.endswith("SSL"):
        found.append(
            f"security_protocol is {protocol}, so the CA in ssl_ca_location would not be used and no server would be "
            "verified. Set security_protocol to SSL or SASL_SSL, or remove it."
        )
    return found


def refuse_tickets(connection: Connection) -> None:
    """Raise RefusedError for a connection by which no records can be written: call it before anything is changed.

    The wheels of confluent-kafka hold a librdkafka without Kerberos.
    """
    if connection.security_protocol.startswith("SASL_") and connection.sasl_mechanism == TICKETS:
        why = (
            f"sasl_mechanism is {TICKETS}, by which confluent-kafka, the library that writes records here, cannot log "
            "in. Set sasl_mechanism to another one that the listener offers, such as SCRAM-SHA-512."
        )
        raise RefusedError("connection", [why])


def quick(connection: Connection) -> Connection:
    """The connection for calls that are repeated: a broker that hangs must not use up the whole wait."""
    return replace(connection, request_timeout=round(within(10, connection.request_timeout)))


#: How a request is called here, by its first words, and the operation that Kafka's authorizer asks for.
_OPERATIONS = {
    "alter SCRAM credentials": "alter",
    "alter configs": "alter_configs",
    "alter quotas": "alter_configs",
    "alter reassignments": "alter",
    "configs of": "describe_configs",
    "create ACLs": "alter",
    "create_partitions": "alter",
    "create_topics": "create",
    "delete ACLs": "alter",
    "delete_topics": "delete",
    "describe configs": "describe_configs",
    "describe quotas": "describe_configs",
    "elect leaders": "alter",
    "read": "read",
    "unregister broker": "alter",
    "add voter": "alter",
    "remove voter": "alter",
    "write": "write",
}
_RESOURCES = {"CLUSTER": "cluster", "TOPIC": "topic", "GROUP": "group", "TRANSACTIONAL_ID": "transactional_id"}


def principal(connection: Connection) -> str:
    """Return the principal that Kafka sees on this connection, or whose principal brokers make by rules of theirs."""
    if connection.sasl_mechanism == TOKENS:
        return f"the client {connection.sasl_username} (its principal is a claim of its token)"
    if connection.sasl_mechanism == TICKETS:
        return f"{connection.sasl_kerberos_principal} (principal_rules of the brokers make its name)"
    return own_principal(connection) or f"the owner of the certificate {connection.ssl_certificate_location}"


def own_principal(connection: Connection) -> str | None:
    """The principal that Kafka sees on this connection; None with a client certificate, whose name the rules of the
    brokers make (ssl.principal.mapping.rules), with a token, of which they choose the claim, and with Kerberos, whose
    name they make by rules too (sasl.kerberos.principal.to.local.rules)."""
    if connection.sasl_mechanism in (TOKENS, TICKETS):
        return None
    if connection.security_protocol.startswith("SASL_"):
        return f"User:{connection.sasl_username}"
    if connection.security_protocol == "SSL" and connection.ssl_certificate_location:
        return None
    return "User:ANONYMOUS"


def denied(connection: Connection, what: str, code: str, name: str = "") -> str:
    """Say why a request was refused with one of Kafka's ..._AUTHORIZATION_FAILED, and what must be granted to whom.

    C(what) is the request, C(name) the topic or group, where it is about one.
    """
    operation = next((needs for start, needs in _OPERATIONS.items() if what.startswith(start)), "describe")
    resource = _RESOURCES.get(code.removesuffix("_AUTHORIZATION_FAILED"), "cluster")
    where = resource if resource == "cluster" or not name else f"{resource} {name}"
    who = principal(connection)
    return (
        f"{who} has no right to do this: it needs the operation {operation} on the {where}. Fix: grant it by "
        f"streamops.kafka.acls (kafka_acls), or connect as an administrator"
    )
