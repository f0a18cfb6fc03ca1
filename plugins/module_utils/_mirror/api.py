# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Both ends of a mirror: the id of the cluster, the records in its logs, the offsets that a group has committed."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from typing import Any

from .._client.session import Session
from .._cluster.snapshot import Key
from .._core.errors import RequestFailedError
from .._core.names import capped

#: Records that one poll hands over; the library's 500 costs more in calls than in records.
_POLL_RECORDS = 10_000


def cluster_id(session: Session) -> str:
    """The id of the cluster."""
    return str(session.call("describe cluster", session.python.describe_cluster)["cluster_id"])


def committed_offsets(session: Session, group: str) -> dict[Key, int]:
    """The next offsets of a consumer group by partition; empty for a group that nobody has made."""
    found = session.call(f"list offsets of group {group}", lambda: session.python.list_group_offsets({group: None}))
    return {tuple(place): one.offset for place, one in found.get(group, {}).items() if one.offset >= 0}


def write_positions(session: Session, topic: str, records: Mapping[bytes, bytes | None]) -> None:
    """Write positions, value by key, into the topic from which a mirror reads them when it starts.

    Without a value MirrorMaker forgets the position, and begins with the first record.

    Each goes to the partition that Java's producer takes for its key: Connect reads all partitions, and a key that
    stood in two of them would have no order. Raises RequestFailedError where not all of them are acknowledged.
    """
    from confluent_kafka import Producer

    limit = session.connection.request_timeout
    fixed = {"acks": "all", "partitioner": "murmur2_random", "log_level": 0, "delivery.timeout.ms": round(limit * 1000)}
    failures: list[Any] = []

    def delivered(error: Any, _message: Any) -> None:
        """Keep a failure."""
        if error is not None:
            failures.append(error)

    producer = Producer({**session.confluent_config(), **fixed})
    for key, value in records.items():
        producer.produce(topic, value, key, on_delivery=delivered)
        producer.poll(0)
    left = producer.flush(limit + 5)
    if failures or left:
        code, why = (failures[0].name(), failures[0].str()) if failures else ("TIMED_OUT", f"{left} not acknowledged")
        raise RequestFailedError("write", topic, code, why)


def visit(session: Session, starts: Mapping[Key, int], ends: Mapping[Key, int], take: Callable[[Any], Any]) -> None:
    """Give every committed record of these logs, from start to before end, to C(take), in the order of each log.

    Markers of transactions and what aborted ones wrote are left out. A record has topic, partition, offset,
    timestamp (ms), key and value. Raises RequestFailedError when nothing comes for as long as one request may take.
    C(take) may get records twice when a connection breaks.
    """
    open_ends = {key: end for key, end in ends.items() if starts[key] < end}
    if open_ends:
        names = capped(sorted({topic for topic, _number in open_ends}), 5)
        session.call(f"read {names}", lambda: _visit(session, names, starts, open_ends, take))


def _visit(
    session: Session, names: str, starts: Mapping[Key, int], ends: Mapping[Key, int], take: Callable[[Any], Any]
) -> None:
    """With kafka-python, for the reason given in _reassign/api.py."""
    from kafka import KafkaConsumer, TopicPartition

    consumer = KafkaConsumer(
        **session.python_config(),
        group_id=None,
        # Retention may take the start away meanwhile; then the first record that is left comes next.
        auto_offset_reset="earliest",
        isolation_level="read_committed",
        max_poll_records=_POLL_RECORDS,
        # A topic that is deleted meanwhile must stay so.
        allow_auto_create_topics=False,
        # Without a C library for it the sums are counted in Python, slower than everything else together.
        check_crcs=False,
    )
    try:
        left = {TopicPartition(*key): end for key, end in ends.items()}
        consumer.assign(list(left))
        for place in left:
            consumer.seek(place, starts[tuple(place)])
        _drain(session, names, consumer, left, take)
    finally:
        with contextlib.suppress(Exception):  # The connection may be gone already.
            consumer.close(timeout_ms=2000)


def _drain(session: Session, names: str, consumer: Any, left: dict[Any, int], take: Callable[[Any], Any]) -> None:
    moved_at, before = time.monotonic(), -1
    positions: dict[Any, int] = {}
    while left:
        for place, records in consumer.poll(timeout_ms=200).items():
            for record in records:
                if record.offset < left.get(place, 0):
                    take(record)
        # Markers and holes give no records: only the position tells that they were passed.
        # One that is not told in time is where it was.
        told = {place: consumer.position(place, timeout_ms=1000) for place in left}
        positions = {place: positions.get(place, 0) if at is None else at for place, at in told.items()}
        reached = [place for place, position in positions.items() if position >= left[place]]
        for place in reached:
            del left[place]
        if reached:
            consumer.pause(*reached)
        now, at = time.monotonic(), sum(positions.values())
        if at != before:
            moved_at, before = now, at
        elif now - moved_at > session.connection.request_timeout:
            shown = capped([f"{place.topic}-{place.partition}" for place in left], 5)
            raise RequestFailedError("read", names, "TIMED_OUT", f"nothing came for {now - moved_at:.0f} s: {shown}")
