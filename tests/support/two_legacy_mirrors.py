"""Two clusters of Kafka 3.9 with one node each, and two mirrors of the legacy engine next to the second.

Clients log in by SCRAM over TLS, each cluster has a CA of its own, and only ACLs allow the mirrors anything.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, TopicPartition

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import (
    legacy_group,
)
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.reading import (
    read_flows,
)
from tests.support.cluster import free_port_base, hosts_file, local_variables
from tests.support.mirrored import Mirrored
from tests.support.modules import run_module
from tests.support.secured import LISTENERS

ADMIN, MIRROR = "of-the-administrator", 'of "mirrors", [secret]'
#: Seconds between two commits of the mirrors' offsets.
COMMITS = 2
FLOW = {"source": "dc_a", "target": "dc_b", "topics": ["orders.*", "audit"], "topics_exclude": ["orders[.]private"]}

#: Topics of the source; what they are is to be found in the target, but for the last one.
TOPICS: list[dict[str, Any]] = [
    {"name": "orders", "partitions": 6, "replication_factor": 1, "config": {"retention.ms": 7200000}},
    {
        "name": "audit",
        "partitions": 2,
        "replication_factor": 1,
        "config": {"cleanup.policy": "compact", "max.message.bytes": 3000000},
    },
    {"name": "orders.private", "partitions": 1, "replication_factor": 1},
]


class LegacyMirrors(Mirrored):
    """The clusters and their mirrors."""

    def connection(self, cluster: str) -> dict[str, Any]:
        """How the administrator of dc_a or dc_b connects, in the words of the modules."""
        return {
            "bootstrap_servers": self.servers(cluster),
            "security_protocol": "SASL_SSL",
            "sasl_mechanism": "SCRAM-SHA-512",
            "sasl_username": "admin",
            "sasl_password": ADMIN,
            "ssl_ca_location": str(self._ca_file(cluster)),
        }

    def settings(self, cluster: str) -> dict[str, Any]:
        """The same in the words of librdkafka, without the addresses."""
        return {
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.username": "admin",
            "sasl.password": ADMIN,
            "ssl.ca.location": str(self._ca_file(cluster)),
        }

    def _ca_file(self, cluster: str) -> Path:
        return self.directory / "ca" / cluster / "ca.pem"

    def create(self, topic: str, partitions: int = 6, **config: Any) -> None:
        """A topic in the source."""
        wish = {"name": topic, "partitions": partitions, "replication_factor": 1, "config": config}
        made = run_module("streamops.kafka.topics", {**self.connection("dc_a"), "topics": [wish]})
        assert not made["failed"], made

    def topics(self, cluster: str, *keys: str) -> dict[str, tuple[int, dict[str, Any]]]:
        """The topics of dc_a or dc_b: how many partitions, and these values of their configuration."""
        options = {**self.connection(cluster), "include_partitions": False, "topic_configs": list(keys)}
        found = run_module("streamops.kafka.cluster_info", options)
        return {one["name"]: (one["partition_count"], one.get("config", {})) for one in found["topics"]}

    def written(self, node: str, name: str) -> str:
        """A file of the configuration of a mirror."""
        return (self.directory / "config" / node / name).read_text()

    def committed(self, topic: str, partitions: int) -> dict[int, int]:
        """The offsets in the source before which everything is in the target, as the mirrors have noted them."""
        group = legacy_group(read_flows([{**FLOW, "engine": "legacy"}])[0])
        about = {"bootstrap.servers": ",".join(self.servers("dc_a")), "group.id": group, **self.settings("dc_a")}
        client = Consumer(about)
        try:
            found = client.committed([TopicPartition(topic, number) for number in range(partitions)], timeout=30)
        finally:
            client.close()
        return {place.partition: max(0, place.offset) for place in found}

    def terminate(self, node: str) -> None:
        """SIGTERM; supervisord starts the node again by itself."""
        os.kill(self.pid(node), signal.SIGTERM)


@contextlib.contextmanager
def legacy_mirrors(directory: Path) -> Iterator[LegacyMirrors]:
    """Not installed yet; ended when the block ends."""
    cluster = LegacyMirrors(_inventory(directory / "inventory"), directory / "cluster", free_port_base())
    try:
        yield cluster
    finally:
        cluster.destroy()


def _inventory(directory: Path) -> Path:
    own = {"a1": {"kafka_topics": TOPICS}}
    brokers = {
        f"{name}1": {"kafka_node_id": n, "kafka_cluster_name": f"dc_{name}", **own.get(f"{name}1", {})}
        for n, name in enumerate("ab", 1)
    }
    mirrors = {f"mirror{n}": {"kafka_cluster_name": "dc_b"} for n in (1, 2)}
    groups = {"kraft_controllers": brokers, "kafka_brokers": brokers, "mirror_makers": mirrors}
    listeners = [
        {
            "name": name,
            "host": "127.0.0.1",
            "port": f"{{{{ kafka_port_base | int + 10 * (kafka_node_id | default(0)) + {offset} }}}}",
            "purpose": purpose,
            "protocol": protocol,
        }
        for offset, (name, purpose, protocol) in enumerate(LISTENERS)
    ]
    return hosts_file(
        directory, groups, {**local_variables("local_mirror"), **_variables(), "kafka_listeners": listeners}
    )


def _variables() -> dict[str, Any]:
    return {
        "kafka_version": "3.9.2",
        "kafka_topics": [],
        "kafka_admin_password": ADMIN,
        "kafka_authorizer": True,
        "kafka_tls_source": "development_ca",
        "kafka_tls_ca_dir": "{{ kafka_local_dir }}/ca/{{ kafka_cluster_name }}",
        "mirror_user": "mirror",
        "mirror_password": MIRROR,
        "mirror_flows": [{**FLOW, "engine": "legacy", "streams": 2}],
        "mirror_maker_offset_flush_seconds": COMMITS,
    }
