"""A producer that remembers what was acknowledged, and the audit of it: nothing acknowledged may be missing."""

from __future__ import annotations

import contextlib
import itertools
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

#: Seconds between two batches of a writer. Brokers pay for requests, not for records: with 500 records a second in
#: steps of 0.02 s each of three nodes took a fifth of a processor.
_STEP = 0.2
#: The numbers of a topic go on from writer to writer: one that was written before would hide that it is lost later.
_NUMBERS: defaultdict[str, Iterator[int]] = defaultdict(itertools.count)


@dataclass
class Ledger:
    """What a writer was told: numbers that were acknowledged, with their places, and numbers that failed."""

    acknowledged: dict[int, tuple[int, int]] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)

    def lost(self, found: Counter[int]) -> list[int]:
        """Acknowledged numbers that nobody can read."""
        return sorted(set(self.acknowledged) - set(found))

    def reaches(self, count: int, timeout: float = 300) -> None:
        """Waits until so many numbers are acknowledged, however fast the machine was with what went on meanwhile."""
        deadline = time.monotonic() + timeout
        while len(self.acknowledged) < count:
            assert time.monotonic() < deadline, f"{len(self.acknowledged)} of {count} acknowledged within {timeout} s"
            time.sleep(0.2)


@contextlib.contextmanager
def producing(
    bootstrap_servers: list[str], topic: str, rate: int = 2000, settings: dict[str, Any] | None = None, keys: int = 0
) -> Iterator[Ledger]:
    """Writes numbers with acks=all, idempotently, about `rate` a second, until the block ends; then flushes.

    keys -- how many different keys the records have; 0 gives them none.
    """
    ledger = Ledger()
    stop = threading.Event()
    producer = Producer(
        {
            "bootstrap.servers": ",".join(bootstrap_servers),
            "acks": "all",
            "enable.idempotence": True,
            "delivery.timeout.ms": 120000,
            "linger.ms": 5,
            **(settings or {}),
        }
    )

    def noted(number: int) -> Any:
        def report(error: Any, message: Any) -> None:
            if error is None:
                ledger.acknowledged[number] = (message.partition(), message.offset())
            else:
                ledger.failed[number] = str(error)

        return report

    def write() -> None:
        number = next(_NUMBERS[topic])
        while not stop.is_set():
            for _ in range(max(1, round(rate * _STEP))):
                # What is refused here was never sent, and is tried again: a full buffer, or a broker that has just
                # started and does not know the topic yet.
                with contextlib.suppress(BufferError, KafkaException):
                    key = f"key-{number % keys}".encode() if keys else None
                    producer.produce(topic, value=str(number).encode(), key=key, on_delivery=noted(number))
                    number = next(_NUMBERS[topic])
            producer.poll(0)
            time.sleep(_STEP)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    try:
        yield ledger
    finally:
        stop.set()
        writer.join(30)
        producer.flush(150)
        # pytest shows it with -rP: how much of a long form was proven is the sum of these lines.
        print(f"{topic}: {len(ledger.acknowledged)} records acknowledged, {len(ledger.failed)} failed")


# What a client is told while a partition gets another leader and it still knows the former one.
MOVING = {
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.REPLICA_NOT_AVAILABLE,
    KafkaError._TIMED_OUT,
    KafkaError._TRANSPORT,
}


def ends_of(consumer: Consumer, place: TopicPartition, timeout: float = 60) -> tuple[int, int]:
    """First and next offset of a partition, asked again while it gets another leader."""
    deadline = time.monotonic() + timeout
    while True:
        try:
            found: tuple[int, int] = consumer.get_watermark_offsets(place, timeout=30)
            return found
        except KafkaException as error:
            if error.args[0].code() not in MOVING or time.monotonic() > deadline:
                raise
            # The answer tells the client the leaders of today.
            consumer.list_topics(place.topic, timeout=30)
            time.sleep(0.5)


def read_all(
    bootstrap_servers: list[str], topic: str, timeout: float = 60, settings: dict[str, Any] | None = None
) -> Counter[int]:
    """How often each number stands in the topic, from the first offset to the end as it is now.

    timeout -- seconds without a record after which it gives up
    """
    consumer = Consumer(
        {
            "bootstrap.servers": ",".join(bootstrap_servers),
            "group.id": "audit",
            "enable.auto.commit": False,
            **(settings or {}),
        }
    )
    try:
        partitions = consumer.list_topics(topic, timeout=30).topics[topic].partitions
        ends = {p: ends_of(consumer, TopicPartition(topic, p)) for p in partitions}
        consumer.assign([TopicPartition(topic, p, low) for p, (low, _) in ends.items()])
        open_ends = {p: high for p, (low, high) in ends.items() if high > low}
        found: Counter[int] = Counter()
        deadline = time.monotonic() + timeout
        while open_ends:
            assert time.monotonic() < deadline, f"{timeout} s without a record of {topic} after {sum(found.values())}"
            for message in consumer.consume(1000, timeout=1):
                deadline = time.monotonic() + timeout
                assert message.error() is None, message.error()
                value, offset, partition = message.value(), message.offset(), message.partition()
                assert value is not None
                assert offset is not None
                assert partition is not None
                found[int(value)] += 1
                if offset + 1 >= open_ends.get(partition, float("inf")):
                    del open_ends[partition]
        return found
    finally:
        consumer.close()


@contextlib.contextmanager
def consuming(bootstrap_servers: list[str], topic: str) -> Iterator[Counter[int]]:
    """Reads the numbers of a topic as they come, in a group, until the block ends; then to the end that is there."""
    found: Counter[int] = Counter()
    stop = threading.Event()
    settings = {"group.id": "story", "auto.offset.reset": "earliest", "enable.auto.commit": False}
    consumer = Consumer({"bootstrap.servers": ",".join(bootstrap_servers), **settings})
    consumer.subscribe([topic])

    def read() -> None:
        quiet = 0
        while not (stop.is_set() and quiet >= 5):
            messages = consumer.consume(1000, timeout=1)
            values = [message.value() for message in messages if message.error() is None]
            found.update(int(value) for value in values if value is not None)
            quiet = 0 if values else quiet + 1
        consumer.close()

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        yield found
    finally:
        stop.set()
        reader.join(90)
