# SPDX-License-Identifier: GPL-3.0-or-later
"""Two clusters with a flow there and a flow back of one topic whose name is kept, and the numbers that they hold."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition

from tests.support.cluster import until
from tests.support.mirrored import Mirrored, small_mirror

TOPIC, PARTITIONS = "orders", 6
THERE = {"source": "dc_a", "target": "dc_b", "topics": [TOPIC], "policy": "identity"}
BACK = {**THERE, "source": "dc_b", "target": "dc_a"}
#: Records that are written in each turn.
RECORDS = 600


def flows(there: bool, back: bool) -> list[dict[str, Any]]:
    """Both flows, of which at most one is enabled."""
    return [{**THERE, "enabled": there}, {**BACK, "enabled": back}]


@contextlib.contextmanager
def both_ways(directory: Path) -> Iterator[Mirrored]:
    """One node and a mirror in each cluster, and the flow from dc_a to dc_b."""
    cluster = small_mirror(directory, both_ways=True, spark_validation_enabled=False)
    cluster.variables["mirror_flows"] = flows(True, False)
    try:
        cluster.playbook().ok()
        yield cluster
    finally:
        cluster.destroy()


def write(cluster: Mirrored, place: str, first: int) -> None:
    """Write the numbers of a turn, one partition after the other."""
    producer = Producer({"bootstrap.servers": ",".join(cluster.servers(place)), "acks": "all"})
    for number in range(first, first + RECORDS):
        producer.produce(TOPIC, str(number).encode(), partition=number % PARTITIONS)
    assert producer.flush(60) == 0


def logs(cluster: Mirrored, place: str, topic: str) -> dict[int, list[Any]]:
    """The records of each partition in their order, up to the end that it has now."""
    settings = {"bootstrap.servers": ",".join(cluster.servers(place)), "group.id": "test", "enable.auto.commit": False}
    consumer = Consumer(settings)
    try:
        numbers = consumer.list_topics(topic, timeout=30).topics[topic].partitions
        edges = {number: consumer.get_watermark_offsets(TopicPartition(topic, number), 30) for number in numbers}
        consumer.assign([TopicPartition(topic, number, low) for number, (low, _high) in edges.items()])
        read: dict[int, list[Any]] = {number: [] for number in numbers}

        def is_read() -> bool:
            """Whether all of it was read."""
            for record in consumer.consume(1000, 0.5):
                assert record.error() is None, record.error()
                read[record.partition() or 0].append(record)
            places = consumer.position([TopicPartition(topic, number) for number in numbers])
            return all(
                low == high or place.offset >= high for place, (low, high) in zip(places, edges.values(), strict=True)
            )

        until(is_read, f"records of {topic} in {place}", 120)
        return read
    finally:
        consumer.close()


def held(cluster: Mirrored, place: str) -> dict[int, list[int]]:
    """The numbers that a cluster has, by partition and in their order."""
    return {number: [int(record.value()) for record in log] for number, log in logs(cluster, place, TOPIC).items()}


def arrives_once(cluster: Mirrored, place: str, total: int) -> None:
    """Wait until a cluster has so many numbers; then it has each of them once and in order, and gets no more."""
    wanted = {part: [number for number in range(total) if number % PARTITIONS == part] for part in range(PARTITIONS)}
    until(lambda: sum(map(len, held(cluster, place).values())) >= total, f"{total} numbers in {place}", 180)
    assert held(cluster, place) == wanted
    cluster.playbook("playbooks/status.yml")
    assert held(cluster, place) == wanted
