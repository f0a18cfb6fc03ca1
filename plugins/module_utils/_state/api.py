# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a run keeps with the cluster, so that any later run finds it.

That is one JSON value by key in a compacted topic, not a file on the control node, which may be thrown away after each
run. The topic has one partition, which keeps the order of all writes.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import closing
from typing import Any, NamedTuple

from .._client.connection import denied
from .._client.session import Session
from .._cluster.api import hidden_topics, topics_at
from .._cluster.snapshot import RECORD_BYTES, STATE_TOPIC
from .._core.errors import RequestFailedError

#: Kafka's name of the error for a topic that one may not describe.
_HIDDEN = "TOPIC_AUTHORIZATION_FAILED"


class Written(NamedTuple):
    """A record of a key, with the bytes of its value: None took the key away."""

    offset: int
    key: str
    data: bytes | None

    @property
    def value(self) -> Any:
        """Return the value, None for a key that was taken away.

        What is no JSON is returned as its text: as no record has that form, its reader names the key (form.parsed).
        """
        if self.data is None:
            return None
        try:
            return json.loads(self.data)
        except ValueError:
            return self.data.decode(errors="replace")


def read_state(session: Session, key: str, topics: Collection[str] | None = None) -> tuple[Any, int]:
    """Return the last value of a key (None: there is none), and where the log ends; (None, 0) without the topic.

    C(topics) are the names of all topics, where they have been listed already. Raises RequestFailedError where the
    caller may not know of the topic, as all readers do.
    """
    records, end = _records(session, {key}.__contains__, 0, topics)
    return (records[-1].value if records else None), end


def read_states(session: Session, keys: Collection[str], topics: Collection[str] | None = None) -> dict[str, Any]:
    """Return the last value of each of these keys that has one, from one reading of the log; empty without the topic.

    C(topics) as of read_state.
    """
    return _last_values(_records(session, set(keys).__contains__, 0, topics)[0])


def read_prefixed(session: Session, prefix: str) -> dict[str, Any]:
    """Return the last value of each key that begins so and has one; empty without the topic."""
    return _last_values(_records(session, lambda key: key.startswith(prefix), 0)[0])


def _last_values(records: Iterable[Written]) -> dict[str, Any]:
    last = {record.key: record for record in records}
    return {key: record.value for key, record in last.items() if record.data is not None}


def write_state(session: Session, key: str, value: Any) -> int:
    """Write a value (None takes the key away), acknowledged by all replicas in sync; return its offset."""
    text = None if value is None else json.dumps(value, separators=(",", ":")).encode()
    return int(session.call(f"write {STATE_TOPIC} key {key}", lambda: _produced(session, key.encode(), text)))


def _produced(session: Session, key: bytes, value: bytes | None) -> int:
    from kafka import KafkaProducer

    limit = session.connection.request_timeout
    producer = KafkaProducer(
        **session.python_config(),
        acks="all",
        # A record that is written twice does no harm: the last one of a key holds.
        enable_idempotence=False,
        compression_type="gzip",
        max_request_size=RECORD_BYTES,
        allow_auto_create_topics=False,
        max_block_ms=limit * 1000,
        delivery_timeout_ms=(limit + 1) * 1000,
    )
    try:
        sent = producer.send(STATE_TOPIC, value, key, partition=0)
        return int(sent.get(timeout=limit + 5).offset)
    finally:
        producer.close(timeout=1)


def claim_state(session: Session, key: str, value: Any, since: int) -> Any:
    """Write a value for a key that had none when the log ended at C(since); return the value that holds.

    Kafka cannot write on condition. So what was written in between holds, and is put back.
    """
    mine = write_state(session, key, value)
    written, _end = _records(session, {key}.__contains__, since)
    between = [record for record in written if record.offset < mine]
    if not between or between[-1].data is None:
        return value
    write_state(session, key, between[-1].value)
    return between[-1].value


def _records(
    session: Session, is_wanted: Callable[[str], bool], since: int, topics: Collection[str] | None = None
) -> tuple[list[Written], int]:
    """Return the records of the keys that are wanted, from an offset on, and where the log ends.

    Kafka does not list a topic that one may not describe, so it looks as if there were none: only then is it asked for
    by its name (RequestFailedError says what to grant).
    """
    if STATE_TOPIC in (topics_at(session, None, [STATE_TOPIC]) if topics is None else topics):
        values, end = session.call(f"read {STATE_TOPIC}", lambda: _consumed(session, is_wanted, since))
        return values, end
    if hidden_topics(session, [STATE_TOPIC]):
        why = denied(session.connection, "read", _HIDDEN, STATE_TOPIC)
        raise RequestFailedError("read", STATE_TOPIC, _HIDDEN, why)
    return [], 0


def _consumed(session: Session, is_wanted: Callable[[str], bool], since: int) -> tuple[list[Written], int]:
    """Read with kafka-python: a consumer of librdkafka always asks for the coordinator of a group, and a cluster
    that is asked for the first time makes __consumer_offsets for that."""
    from kafka import KafkaConsumer, TopicPartition

    place = TopicPartition(STATE_TOPIC, 0)
    values: list[Written] = []
    options = {"max_partition_fetch_bytes": RECORD_BYTES, "receive_message_max_bytes": 2 * RECORD_BYTES}
    config = {**session.python_config(), "group_id": None, "auto_offset_reset": "none", **options}
    with closing(KafkaConsumer(**config)) as consumer:
        consumer.assign([place])
        end = consumer.end_offsets([place])[place]
        consumer.seek(place, max(consumer.beginning_offsets([place])[place], since))
        timeout = session.connection.request_timeout
        deadline = time.monotonic() + timeout
        # Compaction leaves holes, at the end too: the position knows of them, the records do not.
        while (at := consumer.position(place)) < end:
            if time.monotonic() > deadline:
                why = f"only offset {at} of {end} in {timeout:g} s"
                raise RequestFailedError("read", STATE_TOPIC, "TIMED_OUT", why)
            for record in consumer.poll(timeout_ms=100).get(place, ()):
                key = (record.key or b"").decode(errors="replace")
                if is_wanted(key):
                    values.append(Written(record.offset, key, record.value))
    return values, end
