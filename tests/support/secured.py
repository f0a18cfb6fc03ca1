"""A local cluster whose clients log in over TLS, whose nodes show certificates, and where only ACLs allow anything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from tests.support.cluster import ROOT, Cluster, free_port_base

# What a password may hold that properties, JAAS texts, shells or templates could stumble over.
PASSWORD = 'Gr3at, [secret] "of" tests'
#: Who reads the metrics of the nodes.
METRICS_LOGIN = ("prometheus", "a password of Prometheus alone")
LISTENERS = (("CLIENT", "clients", "SASL_SSL"), ("BROKER", "brokers", "SSL"), ("CONTROLLER", "controllers", "SSL"))


def secured_cluster(
    directory: Path, password: str, clients: str = "SASL_SSL", inventory: str = "local", **more: Any
) -> Cluster:
    """The nodes of an inventory, three combined ones, with a CA of their own in `directory`/ca; not installed yet.

    clients -- the protocol of their listener: SASL_SSL, or SSL for certificates instead of passwords.
    """
    base = free_port_base()
    listeners = [
        {
            "name": name,
            "host": "127.0.0.1",
            "port": f"{{{{ {base + index} + 10 * kafka_node_id }}}}",
            "purpose": purpose,
            "protocol": clients if purpose == "clients" else protocol,
        }
        for index, (name, purpose, protocol) in enumerate(LISTENERS)
    ]
    variables = {
        "kafka_listeners": listeners,
        "kafka_tls_source": "development_ca",
        "kafka_tls_ca_dir": str(directory / "ca"),
        "kafka_admin_password": password,
        "kafka_authorizer": True,
        # A broker of Kafka 4.3.1 that starts without a snapshot of the metadata with users in it may know no user of a
        # mechanism, once one of them was removed (ScramDelta.apply of Kafka drops the map that a removal leaves empty
        # on the way, and puts later users into the map that it dropped). Tests restart nodes minutes after the first
        # start; Kafka makes its first snapshot after an hour.
        "kafka_config": {"metadata.log.max.snapshot.interval.ms": 5000},
        **more,
    }
    return Cluster(ROOT / "inventories" / inventory, directory, base, variables=variables)


def admin_connection(cluster: Cluster, password: str) -> dict[str, Any]:
    """The connection options of the administrator, as the modules take them."""
    return {
        "bootstrap_servers": cluster.bootstrap_servers,
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_username": "admin",
        "sasl_password": password,
        "ssl_ca_location": str(ca_file(cluster)),
    }


def ca_file(cluster: Cluster) -> Path:
    """The certificate of the cluster's development CA."""
    return cluster.directory / "ca" / "ca.pem"


def client(cluster: Cluster, **other: Any) -> dict[str, Any]:
    """librdkafka's settings of the administrator with PASSWORD, some of them changed."""
    connection = Connection.from_params({**admin_connection(cluster, PASSWORD), "request_timeout": 5})
    changed = {name.replace("_", "."): value for name, value in other.items()}
    return {**connection.confluent_config(), "log_level": 0, **changed}
