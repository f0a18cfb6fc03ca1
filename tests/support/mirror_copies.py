"""Fills topics of a real cluster as a mirror would: records, copies of them, and the offsets of MirrorMaker 2."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition

from tests.support.cluster import until

Headers = list[tuple[str, bytes | None]]


@dataclass(frozen=True)
class Message:
    """One record; `offset` where it was read."""

    partition: int
    key: bytes | None
    value: bytes | None
    ts: int
    headers: Headers
    offset: int = -1


def write(servers: str, topic: str, messages: Iterable[Message], transaction: str = "", commit: bool = True) -> None:
    """Append records; in one transaction, committed or aborted, when it has a name."""
    producer = Producer({"bootstrap.servers": servers, **({"transactional.id": transaction} if transaction else {})})
    if transaction:
        producer.init_transactions(20)
        producer.begin_transaction()
    for message in messages:
        producer.produce(
            topic, message.value, message.key, message.partition, timestamp=message.ts, headers=[*message.headers]
        )
    assert producer.flush(20) == 0
    if transaction and commit:
        producer.commit_transaction(20)
    elif transaction:
        producer.abort_transaction(20)


def read(servers: str, topic: str, partitions: int) -> list[Message]:
    """All committed records of a topic."""
    client = Consumer(
        {
            "bootstrap.servers": servers, "group.id": "mirrored-reader", "isolation.level": "read_committed",
            "enable.partition.eof": True, "enable.auto.commit": False,
            # Where the log begins above 0.
            "auto.offset.reset": "earliest",
        }
    )  # fmt: skip
    found: list[Message] = []
    ended: set[int] = set()
    client.assign([TopicPartition(topic, index, 0) for index in range(partitions)])

    def all_read() -> bool:
        """Take what is there; true at the end of every partition."""
        for message in client.consume(500, 0.5):
            error = message.error()
            if error is None:
                found.append(_message(message))
            elif error.code() == KafkaError._PARTITION_EOF and (index := message.partition()) is not None:
                ended.add(index)
        return len(ended) == partitions

    until(all_read, f"the end of topic {topic}")
    client.close()
    return found


def _message(message: Any) -> Message:
    headers = message.headers() or []
    return Message(
        message.partition(), message.key(), message.value(), message.timestamp()[1], headers, message.offset()
    )


def mirror(
    servers: str,
    source: str,
    target: str,
    partitions: int,
    damage: Callable[[list[Message]], list[Message]] = list,
) -> dict[int, int]:
    """Copy a topic as a mirror does, after `damage`; returns the last offset of the source by partition."""
    messages = read(servers, source, partitions)
    write(servers, target, damage(messages))
    return {message.partition: message.offset for message in sorted(messages, key=lambda message: message.offset)}


def positions(servers: str, offsets_topic: str, alias: str, topic: str, last: dict[int, int]) -> None:
    """Write what MirrorMaker 2 writes when it has mirrored up to these offsets."""
    producer = Producer({"bootstrap.servers": servers})
    for partition, offset in last.items():
        key = ["MirrorSourceConnector", {"cluster": alias, "partition": partition, "topic": topic}]
        producer.produce(offsets_topic, json.dumps({"offset": offset}), json.dumps(key, separators=(",", ":")))
    assert producer.flush(20) == 0
