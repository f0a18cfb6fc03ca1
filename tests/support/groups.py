# SPDX-License-Identifier: GPL-3.0-or-later
"""Real groups for tests: topics, records, consumers of both protocols, and one of Kafka's own share consumers."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.support.cluster import until

#: A coordinator that is not known, not the one, or still reads what it has.
_SETTLING = (
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError._WAIT_COORD,  # The client itself still looks for it.
)


def make_topic(servers: list[str], name: str, partitions: int, records: int = 0) -> None:
    """Makes a topic and writes this many records into each of its partitions."""
    admin = AdminClient({"bootstrap.servers": ",".join(servers)})  # Its futures end with it.
    admin.create_topics([NewTopic(name, partitions, 1)])[name].result(30)
    until(lambda: name in admin.list_topics(timeout=10).topics, f"topic {name}")
    produce(servers, name, partitions, records)


def produce(servers: list[str], name: str, partitions: int, records: int) -> None:
    """Writes this many records into each of the partitions of a topic."""
    producer = Producer({"bootstrap.servers": ",".join(servers)})
    for number in range(records):
        for partition in range(partitions):
            producer.produce(name, f"{number}".encode(), partition=partition)
    assert producer.flush(30) == 0


def _consumer(servers: list[str], group: str, protocol: str = "classic") -> Consumer:
    return Consumer(
        {
            "bootstrap.servers": ",".join(servers),
            "group.id": group,
            "group.protocol": protocol,
            "client.id": f"client-of-{group}",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )


def commit(servers: list[str], group: str, offsets: dict[tuple[str, int], int]) -> None:
    """Commits offsets as a client does that assigns partitions by itself; the group is empty afterwards."""
    consumer = _consumer(servers, group)
    try:
        places = [TopicPartition(topic, index, offset) for (topic, index), offset in offsets.items()]
        answered: list[TopicPartition] = []

        def committed() -> bool:
            """Whether the coordinator took them: of several brokers it is not known at once which one it is."""
            try:
                answered[:] = consumer.commit(offsets=places, asynchronous=False) or ()
            except KafkaException as error:
                if error.args[0].code() not in _SETTLING:
                    raise
                return False
            return True

        until(committed, "the coordinator to take offsets", 120)
        assert all(one.error is None for one in answered), answered
    finally:
        consumer.close()


@contextlib.contextmanager
def member(servers: list[str], group: str, topic: str, protocol: str = "classic") -> Iterator[Consumer]:
    """A member of a group that has got its partitions; it commits nothing by itself."""
    consumer = _consumer(servers, group, protocol)
    try:
        consumer.subscribe([topic])
        until(lambda: consumer.poll(0.2) is not None or bool(consumer.assignment()), f"{group} to be assigned")
        yield consumer
    finally:
        consumer.close()


@contextlib.contextmanager
def share_member(release: Path, servers: list[str], group: str, topic: str) -> Iterator[None]:
    """A member of a share group: Kafka's own console share consumer."""
    tool = str(release / "bin" / "kafka-console-share-consumer.sh")
    command = [tool, "--bootstrap-server", ",".join(servers), "--topic", topic, "--group", group]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)
