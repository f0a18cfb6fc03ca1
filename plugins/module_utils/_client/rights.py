# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Which right a refused request needs, in words: who must get which operation on which resource (KIP-11, KafkaApis)."""

from __future__ import annotations

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection

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
    """Who Kafka sees on this connection."""
    if connection.security_protocol.startswith("SASL_"):
        return f"User:{connection.sasl_username}"
    if connection.security_protocol == "SSL" and connection.ssl_certificate_location:
        return f"the owner of the certificate {connection.ssl_certificate_location}"
    return "User:ANONYMOUS"


def denied(connection: Connection, what: str, code: str, name: str = "") -> str:
    """Why a request was refused with one of Kafka's ..._AUTHORIZATION_FAILED, and what must be granted to whom.

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
