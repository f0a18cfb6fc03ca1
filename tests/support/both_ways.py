# SPDX-License-Identifier: GPL-3.0-or-later
"""Two clusters with a flow there and a flow back of one topic whose name is kept, and the numbers that they hold."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Producer, TopicPartition

from tests.support.cluster import until
from tests.support.line import laid
from tests.support.mirrored import MIRROR, Mirrored, small_mirror
from tests.support.two_mirrors import SWITCHES

TOPIC, PARTITIONS = "orders", 6
THERE = {"source": "dc_a", "target": "dc_b", "topics": [TOPIC], "policy": "identity"}
BACK = {**THERE, "source": "dc_b", "target": "dc_a"}
#: Records that are written in each turn.
RECORDS = 600
#: Milliseconds that each way of a long line takes.
WAY_MS = 20


def enable(cluster: Mirrored, there: bool, back: bool) -> None:
    """Enable one of both flows, or none."""
    for flow, is_enabled in zip(cluster.variables["mirror_flows"], (there, back), strict=True):
        flow["enabled"] = is_enabled


@contextlib.contextmanager
def both_ways(directory: Path, far: bool = False) -> Iterator[Mirrored]:
    """One node and a mirror in each cluster, and the flow from dc_a to dc_b.

    far -- whether each mirror reaches the other cluster by a line of 20 ms each way, and copies exactly once.
    """
    exactly_once = {"exactly_once": "enabled" if far else "disabled"}
    cluster = small_mirror(directory, both_ways=True, far=far, spark_validation_enabled=False)
    cluster.variables["mirror_flows"] = [{**flow, **exactly_once} for flow in (THERE, BACK)]
    enable(cluster, True, False)
    with contextlib.ExitStack() as ends:
        ends.callback(cluster.destroy)
        if far:
            # The preflight of new nodes asks for ports that are free at every address: the lines come after it.
            cluster.playbook("site.yml", "--limit", "kafka_brokers").ok()
            for number, node in enumerate(("a1", "b1"), SWITCHES):
                port, own = cluster.port(node, MIRROR), directory / f"line-{node}"
                own.mkdir()
                near, beyond = f"127.0.0.1:{port}", f"127.0.0.2:{port}"
                ends.enter_context(laid(own, near, beyond, cluster.port_base + number)).delay(WAY_MS)
        cluster.playbook().ok()
        yield cluster


def write(cluster: Mirrored, place: str, first: int) -> None:
    """Write the numbers of a turn, one partition after the other."""
    producer = Producer({"bootstrap.servers": ",".join(cluster.servers(place)), "acks": "all"})
    for number in range(first, first + RECORDS):
        producer.produce(TOPIC, str(number).encode(), partition=number % PARTITIONS)
    assert producer.flush(60) == 0


def logs(cluster: Mirrored, place: str, topic: str) -> dict[int, list[Any]]:
    """The records of each partition in their order, up to the end that it has now."""
    settings = {"bootstrap.servers": ",".join(cluster.servers(place)), "group.id": "test", "enable.auto.commit": False}
    # The marker of a transaction at the end of a log moves no position, so the client has to tell the end.
    consumer = Consumer({**settings, "enable.partition.eof": True})
    try:
        numbers = consumer.list_topics(topic, timeout=30).topics[topic].partitions
        consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in numbers])
        read: dict[int, list[Any]] = {number: [] for number in numbers}
        unread = set(numbers)

        def is_read() -> bool:
            """Whether all of it was read."""
            for record in consumer.consume(1000, 0.5):
                partition, error = record.partition() or 0, record.error()
                if error is None:
                    read[partition].append(record)
                else:
                    assert error.code() == KafkaError._PARTITION_EOF, error
                    unread.discard(partition)
            return not unread

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
