# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""C23, the advice of the field: what works, and is known to end badly when it grows. Warnings, each with the figure."""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import (
    Cluster,
    Inventory,
    Topic,
    as_int,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.replication import topic_names
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.violation import WARNING, Violation
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.advice import (
    LARGE_PARTITIONS,
    MANY_BROKERS,
    MANY_PARTITIONS,
    MOST_BROKERS,
    MOST_BYTES,
    MOST_PARTITIONS,
)

# What says how long records stay, for a topic and for all of a cluster.
TOPIC_RETENTION = ("retention.ms", "retention.bytes", "cleanup.policy")
BROKER_RETENTION = (
    *("log.retention.ms", "log.retention.minutes", "log.retention.hours", "log.retention.bytes"),
    "log.cleanup.policy",
)


def advice(inventory: Inventory) -> Iterator[Violation]:
    """C23: brokers per ensemble, partitions per broker, size of a partition, retention."""
    for cluster in inventory.clusters():
        if "C23" in cluster.accepted() or not cluster.brokers:
            continue
        yield from _brokers(cluster)
        yield from _partitions(cluster)
        yield from _sizes(cluster)
        yield from _retention(cluster)


def _brokers(cluster: Cluster) -> Iterator[Violation]:
    count = len(cluster.brokers)
    if cluster.zookeepers and count > MOST_BROKERS:
        yield _warning(
            cluster, "kafka_brokers",
            f"many brokers on one ensemble: {MANY_BROKERS}", f"{count} brokers", f"at most {MOST_BROKERS}",
            "split the cluster, or move it to KRaft, which has no such limit",
        )  # fmt: skip


def _partitions(cluster: Cluster) -> Iterator[Violation]:
    replicas = sum((topic.partitions or 1) * (topic.replication_factor or 1) for topic in cluster.topics())
    each = -(-replicas // len(cluster.brokers))
    if each > MOST_PARTITIONS:
        yield _warning(
            cluster, "kafka_topics",
            f"many partitions on a broker: {MANY_PARTITIONS}",
            f"{replicas} replicas on {len(cluster.brokers)} brokers, {each} on each", f"at most {MOST_PARTITIONS}",
            "add brokers, or give topics fewer partitions",
        )  # fmt: skip


def _sizes(cluster: Cluster) -> Iterator[Violation]:
    large = [topic for topic in cluster.topics() if (_bytes(topic) or 0) > MOST_BYTES]
    if large:
        most = max(_bytes(topic) or 0 for topic in large)
        yield _warning(
            cluster, "kafka_topics",
            f"large partitions of {topic_names([topic.name for topic in large])}: {LARGE_PARTITIONS}",
            f"retention.bytes {most} ({most / 1000**3:.0f} GB)", f"at most {MOST_BYTES} (25 GB) for a partition",
            "give the topic more partitions and a smaller retention.bytes",
        )  # fmt: skip


def _bytes(topic: Topic) -> int | None:
    return as_int(topic.config.get("retention.bytes"))


def _retention(cluster: Cluster) -> Iterator[Violation]:
    if any(key in node.config() for node in cluster.brokers for key in BROKER_RETENTION):
        return
    silent = [topic.name for topic in cluster.topics() if not any(key in topic.config for key in TOPIC_RETENTION)]
    if silent:
        yield _warning(
            cluster, "kafka_topics",
            f"nothing says how long records of {topic_names(silent)} stay: the disk decides when it is full",
            "Kafka's default of 7 days, whatever their size", "retention.ms, retention.bytes or cleanup.policy compact",
            "set one of them in config of the topic, or log.retention.* in kafka_config",
        )  # fmt: skip


def _warning(cluster: Cluster, variable: str, what: str, found: str, allowed: str, way_out: str) -> Violation:
    hosts = tuple(node.name for node in cluster.brokers)
    accepted = f"{way_out}; name C23 in preflight_accept once this is known"
    return Violation("C23", WARNING, hosts, variable, what, found, allowed, accepted, policy=True)


RULES = (advice,)
