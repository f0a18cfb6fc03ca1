# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on what works, and is known to end badly when it grows: warnings, each with the figure advised."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...inventory.model import Inventory
from ...inventory.variables import as_int
from ...reports.advice import LARGE_PARTITIONS, MANY_BROKERS, MANY_PARTITIONS, MOST_BROKERS, MOST_BYTES, MOST_PARTITIONS
from ..rule import WARNING, Problem, rule
from .replication import topic_names

# What says how long records stay, for a topic and for all of a cluster.
TOPIC_RETENTION = ("retention.ms", "retention.bytes", "cleanup.policy")
BROKER_RETENTION = (
    *("log.retention.ms", "log.retention.minutes", "log.retention.hours", "log.retention.bytes"),
    "log.cleanup.policy",
)

#: Rules of advice: warnings that a cluster may accept.
advice = partial(rule, level=WARNING, acceptable=True)


@advice(
    variable="kafka_brokers",
    allowed=f"at most {MOST_BROKERS}",
    fix="split the cluster, or move it to KRaft, which has no such limit",
)
def many_brokers(inventory: Inventory) -> Iterator[Problem]:
    """More than 7 brokers use one ensemble of ZooKeeper, where one controller tells every broker of every change."""
    for cluster in inventory.clusters():
        count = len(cluster.brokers)
        if cluster.zookeepers and count > MOST_BROKERS:
            yield Problem(cluster.brokers, f"many brokers on one ensemble: {MANY_BROKERS}", f"{count} brokers")


@advice(
    variable="kafka_topics",
    allowed=f"at most {MOST_PARTITIONS}",
    fix="add brokers, or give topics fewer partitions",
)
def many_partitions(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_topics` give each broker more than 2,000 replicas: open files, memory, and much to move when it dies."""
    for cluster in inventory.clusters():
        brokers = len(cluster.brokers)
        replicas = sum((topic.partitions or 1) * (topic.replication_factor or 1) for topic in cluster.topics())
        each = -(-replicas // brokers) if brokers else 0
        if each > MOST_PARTITIONS:
            found = f"{replicas} replicas on {brokers} brokers, {each} on each"
            yield Problem(cluster.brokers, f"many partitions on a broker: {MANY_PARTITIONS}", found)


@advice(
    variable="kafka_topics",
    allowed=f"at most {MOST_BYTES} (25 GB) for a partition",
    fix="give the topic more partitions and a smaller retention.bytes",
)
def large_partitions(inventory: Inventory) -> Iterator[Problem]:
    """`retention.bytes` of a topic, which is for one partition, is above 25 GB: a replaced broker copies it whole."""
    for cluster in inventory.clusters():
        sizes = {topic.name: as_int(topic.config.get("retention.bytes")) or 0 for topic in cluster.topics()}
        large = {name: size for name, size in sizes.items() if size > MOST_BYTES}
        if large and cluster.brokers:
            most = max(large.values())
            what = f"large partitions of {topic_names(list(large))}: {LARGE_PARTITIONS}"
            yield Problem(cluster.brokers, what, f"retention.bytes {most} ({most / 1000**3:.0f} GB)")


@advice(
    variable="kafka_topics",
    allowed="retention.ms, retention.bytes or cleanup.policy compact",
    fix="set one of them in config of the topic, or log.retention.* in kafka_config",
)
def no_retention(inventory: Inventory) -> Iterator[Problem]:
    """Nothing sets how long records of a topic stay (time, size or compaction), so they fill the disk."""
    for cluster in inventory.clusters():
        if any(key in node.properties() for node in cluster.brokers for key in BROKER_RETENTION):
            continue
        silent = [topic.name for topic in cluster.topics() if not any(key in topic.config for key in TOPIC_RETENTION)]
        if silent and cluster.brokers:
            yield Problem(
                cluster.brokers,
                f"nothing sets how long records of {topic_names(silent)} stay",
                found="Kafka's default of 7 days, whatever their size",
            )
