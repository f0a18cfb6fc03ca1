"""A local cluster whose clients log in over TLS, whose nodes show certificates, and where only ACLs allow anything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.cluster import ROOT, Cluster, free_port_base

LISTENERS = (("CLIENT", "clients", "SASL_SSL"), ("BROKER", "brokers", "SSL"), ("CONTROLLER", "controllers", "SSL"))


def secured_cluster(directory: Path, password: str, **more: Any) -> Cluster:
    """Three combined nodes with a CA of their own in `directory`/ca; not installed yet."""
    base = free_port_base()
    listeners = [
        {
            "name": name,
            "host": "127.0.0.1",
            "port": f"{{{{ {base + index} + 10 * kafka_node_id }}}}",
            "purpose": purpose,
            "protocol": protocol,
        }
        for index, (name, purpose, protocol) in enumerate(LISTENERS)
    ]
    variables = {
        "kafka_listeners": listeners,
        "kafka_tls_source": "development_ca",
        "kafka_tls_ca_dir": str(directory / "ca"),
        "kafka_admin_password": password,
        "kafka_authorizer": True,
        **more,
    }
    return Cluster(ROOT / "inventories" / "local", directory, base, variables=variables)


def admin_connection(cluster: Cluster, password: str) -> dict[str, Any]:
    """The connection options of the administrator, as the modules take them."""
    return {
        "bootstrap_servers": cluster.bootstrap_servers,
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_username": "admin",
        "sasl_password": password,
        "ssl_ca_location": str(cluster.directory / "ca" / "ca.pem"),
    }
