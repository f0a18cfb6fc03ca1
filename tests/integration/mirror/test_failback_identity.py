# SPDX-License-Identifier: GPL-3.0-or-later
"""A failover with names that are kept, the flow back, and the failover back: each record is once in both clusters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from tests.support.cluster import until
from tests.support.mirrored import Mirrored, small_mirror

pytestmark = pytest.mark.full

TOPIC, PARTITIONS = "orders", 6
THERE = {"source": "dc_a", "target": "dc_b", "topics": [TOPIC], "policy": "identity"}
BACK = {**THERE, "source": "dc_b", "target": "dc_a"}
#: Records that are written in each turn.
RECORDS = 600


def flows(there: bool, back: bool) -> list[dict[str, Any]]:
    """Both flows, of which at most one is enabled."""
    return [{**THERE, "enabled": there}, {**BACK, "enabled": back}]


@pytest.fixture(scope="module")
def mirrored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mirrored]:
    """One node and a mirror in each cluster, and the flow from dc_a to dc_b."""
    cluster = small_mirror(tmp_path_factory.mktemp("failback"), both_ways=True, spark_validation_enabled=False)
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


def step(cluster: Mirrored, pair: str, stage: str) -> str:
    """Take a step of a failover, which leads to this stage; what it says."""
    given = (f"kafka_failover={pair}", "kafka_failover_step=next", "kafka_failover_operator=alice")
    words = [word for text in (*given, "kafka_failover_writers_stopped=true") for word in ("-e", text)]
    output = " ".join(cluster.playbook("playbooks/mirror_failover.yml", *words).ok().output.split())
    assert f"Failover {pair}, {stage}" in output
    return output


def turn(cluster: Mirrored, pair: str, back: str) -> None:
    """Take all steps until the target is open."""
    for stage in ("fenced", "drained", "moved"):
        step(cluster, pair, stage)
    assert f"Flow back {back} begins at the ends of now: {PARTITIONS} partitions" in step(cluster, pair, "turned")


def exchange(cluster: Mirrored, pair: str, there: bool) -> None:
    """Disable the flow, end its failover, and enable the flow back."""
    cluster.variables["mirror_flows"] = flows(False, False)
    cluster.playbook().ok()
    step(cluster, pair, "done")
    cluster.variables["mirror_flows"] = flows(there, not there)
    cluster.playbook().ok()


def partitions_of_keys(cluster: Mirrored, place: str, source: str) -> dict[bytes, set[int]]:
    """In which partitions of the topic of positions each key of the connector that copies records stands."""
    places: dict[bytes, set[int]] = {}
    for number, log in logs(cluster, place, f"mm2-offsets.{source}.internal").items():
        for record in log:
            if record.key().startswith(b'["MirrorSourceConnector"') and b'"topic":"orders"' in record.key():
                places.setdefault(record.key(), set()).add(number)
    return places


def test_each_record_is_once_in_both_clusters_after_a_failover_and_the_way_back(mirrored: Mirrored) -> None:
    write(mirrored, "dc_a", 0)
    arrives_once(mirrored, "dc_b", RECORDS)

    turn(mirrored, "dc_a->dc_b", "dc_b->dc_a")
    write(mirrored, "dc_b", RECORDS)
    exchange(mirrored, "dc_a->dc_b", there=False)
    arrives_once(mirrored, "dc_a", 2 * RECORDS)
    # What MirrorMaker writes itself has the bytes and the place of what the step has written.
    keys = partitions_of_keys(mirrored, "dc_a", "dc_b")
    assert len(keys) == PARTITIONS
    assert all(len(places) == 1 for places in keys.values()), keys

    # The first flow has run before: its positions are moved forward.
    turn(mirrored, "dc_b->dc_a", "dc_a->dc_b")
    write(mirrored, "dc_a", 2 * RECORDS)
    exchange(mirrored, "dc_b->dc_a", there=True)
    arrives_once(mirrored, "dc_b", 3 * RECORDS)
    arrives_once(mirrored, "dc_a", 3 * RECORDS)
