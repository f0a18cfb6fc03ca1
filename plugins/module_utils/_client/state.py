# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a run keeps with the cluster, so that any later run finds it: one JSON value by key in a compacted topic.

Not on the control node, which may be thrown away after each run. The topic has one partition, which keeps the order of
all writes.
"""

from __future__ import annotations

import json
import time
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Libraries
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import STATE_TOPIC
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RequestFailedError

#: The biggest record. A plan of a million partitions is one of about 50 MB before compression.
RECORD_BYTES = 64 << 20
STATE_CONFIG = {"cleanup.policy": "compact", "max.message.bytes": str(RECORD_BYTES), "compression.type": "producer"}


class StateCalls(Libraries):
    """The calls about state."""

    def read_state(self, key: str) -> tuple[Any, int]:
        """The last value of a key (None: there is none), and where the log ends; (None, 0) without the topic."""
        found, end = self._state_records(key, 0)
        return (found[-1][1] if found else None), end

    def write_state(self, key: str, value: Any) -> int:
        """Write a value (None takes the key away), acknowledged by all replicas in sync; return its offset."""
        from confluent_kafka import Producer

        config = dict(self._reached.confluent_config())
        config.update({"acks": "all", "compression.type": "gzip", "message.max.bytes": RECORD_BYTES, "log_level": 0})
        config["message.timeout.ms"] = self.connection.request_timeout * 1000
        told: list[Any] = []
        producer = Producer(config)
        text = None if value is None else json.dumps(value, separators=(",", ":")).encode()
        producer.produce(
            STATE_TOPIC, key=key.encode(), value=text, partition=0, on_delivery=lambda *report: told.append(report)
        )
        producer.flush(self.connection.request_timeout + 5)
        error, message = told[0] if told else ("no answer", None)
        if error is not None or message is None:
            raise RequestFailedError("write", f"{STATE_TOPIC} key {key}", *_named(error))
        return int(message.offset())

    def claim_state(self, key: str, value: Any, since: int) -> Any:
        """Write a value for a key that had none when the log ended at C(since); return the value that holds.

        Kafka cannot write on condition. So what was written in between holds, and is put back.
        """
        mine = self.write_state(key, value)
        written, _end = self._state_records(key, since)
        between = [found for at, found in written if at < mine]
        if not between or between[-1] is None:
            return value
        self.write_state(key, between[-1])
        return between[-1]

    def _state_records(self, key: str, since: int) -> tuple[list[tuple[int, Any]], int]:
        """The records of a key from an offset on as (offset, value), and where the log ends."""
        if STATE_TOPIC not in self._confluent.list_topics(timeout=self.connection.request_timeout).topics:
            return [], 0
        found: tuple[list[tuple[int, Any]], int] = self._call(f"read {STATE_TOPIC}", lambda: self._consumed(key, since))
        return found

    def _consumed(self, key: str, since: int) -> tuple[list[tuple[int, Any]], int]:
        """Read with kafka-python: a consumer of librdkafka always asks for the coordinator of a group, and a cluster
        that is asked for the first time makes __consumer_offsets for that."""
        from kafka import KafkaConsumer, TopicPartition

        place = TopicPartition(STATE_TOPIC, 0)
        consumer = KafkaConsumer(
            **self._python_config(),
            group_id=None,
            auto_offset_reset="none",
            max_partition_fetch_bytes=RECORD_BYTES,
            receive_message_max_bytes=2 * RECORD_BYTES,
        )
        try:
            consumer.assign([place])
            end = consumer.end_offsets([place])[place]
            consumer.seek(place, max(consumer.beginning_offsets([place])[place], since))
            return _read(consumer, place, key, end, self.connection.request_timeout), end
        finally:
            consumer.close()


def _read(consumer: Any, place: Any, key: str, end: int, timeout: float) -> list[tuple[int, Any]]:
    found: list[tuple[int, Any]] = []
    deadline = time.monotonic() + timeout
    # Compaction leaves holes, at the end too: the position knows of them, the records do not.
    while (at := consumer.position(place)) < end:
        if time.monotonic() > deadline:
            raise RequestFailedError("read", STATE_TOPIC, "TIMED_OUT", f"only offset {at} of {end} in {timeout:g} s")
        for record in consumer.poll(timeout_ms=100).get(place, ()):
            if record.key == key.encode():
                found.append((record.offset, None if record.value is None else json.loads(record.value)))
    return found


def _named(error: Any) -> tuple[str, str]:
    return (error.name(), error.str()) if hasattr(error, "name") else ("NO_ANSWER", str(error))
