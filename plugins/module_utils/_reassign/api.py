# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Changes of where replicas are, and what a run keeps with the cluster so that any later run finds it.

That is one JSON value by key in a compacted topic, not a file on the control node, which may be thrown away after each
run. The topic has one partition, which keeps the order of all writes.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._brokers.api import elect
from ansible_collections.streamops.kafka.plugins.module_utils._brokers.election import listed, plan, unled
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._client.settle import wait_until_none, wait_until_seen
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import list_topics, live_brokers, topics_at
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import (
    STATE_TOPIC,
    Failures,
    Key,
    Partition,
)
from ansible_collections.streamops.kafka.plugins.module_utils._core.bulk import parts
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RequestFailedError, StreamopsError
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.record import (
    KEY,
    REQUEST_PARTITIONS,
    Record,
    record_of,
)
from ansible_collections.streamops.kafka.plugins.module_utils._topics.api import TopicSpec, create_topics

#: The biggest record. A plan of a million partitions is one of about 50 MB before compression.
RECORD_BYTES = 64 << 20
#: Settings of the state topic.
STATE_CONFIG = {"cleanup.policy": "compact", "max.message.bytes": str(RECORD_BYTES), "compression.type": "producer"}
#: Seconds that the state topic may take to be there, and an election of leaders.
_STATE_TIMEOUT, _ELECTION = 30.0, 30.0


def alter_reassignments(session: Session, targets: Mapping[Key, Sequence[int] | None]) -> Failures:
    """Begin moves to these replicas (None cancels); return why not, for the partitions that were refused.

    A refusal of one partition keeps no other one from moving. Raises RequestFailedError when a request as a whole
    is refused; what requests before it began goes on.
    """
    failed: Failures = {}
    for part in parts(targets, REQUEST_PARTITIONS):
        failed.update(_alter(session, {key: targets[key] for key in part}))
    return failed


def _alter(session: Session, targets: Mapping[Key, Sequence[int] | None]) -> Failures:
    """One request, with the words that the broker has for each partition (the library's own call drops them)."""
    from kafka.errors import for_code
    from kafka.protocol.admin import AlterPartitionReassignmentsRequest as Request

    by_topic: dict[str, list[Any]] = {}
    for (topic, index), replicas in targets.items():
        wanted = Request.ReassignableTopic.ReassignablePartition(partition_index=index, replicas=replicas)
        by_topic.setdefault(topic, []).append(wanted)
    topics = [Request.ReassignableTopic(name=name, partitions=found) for name, found in by_topic.items()]
    request = Request(timeout_ms=session.connection.request_timeout * 1000, topics=topics)

    def refused(answer: Any) -> Any:
        """The error of the whole request."""
        yield for_code(answer.error_code)

    manager = session.python._manager
    answer = session.call(
        "alter reassignments",
        lambda: manager.run(session.python._send_request_to_controller, request, refused),
    )
    return {
        (topic.name, found.partition_index): session.explain("alter reassignments", found, topic.name)
        for topic in answer.responses
        for found in topic.partitions
        if found.error_code
    }


def elect_leaders(session: Session, partitions: Sequence[Key]) -> list[dict[str, Any]]:
    """Have the preferred leaders of these partitions elected; return those that got theirs back, for the result.

    Kafka itself would do it some minutes later, and only above 10 % imbalance; so no reassignment fails for it.
    """

    def listed_now() -> list[Partition]:
        """All partitions."""
        return [one for found in list_topics(session).values() for one in found]

    def leaders() -> dict[Key, int | None]:
        """Who leads now."""
        return {(one.topic, one.index): one.leader for one in listed_now()}

    if not partitions:
        return []
    try:
        planned = plan(listed_now(), wanted=partitions)
        failed = elect(session, [(one.topic, one.index) for one in planned.elect])
        wait_until_none("elect leaders", lambda: unled(planned, failed, leaders()), _ELECTION)
    except StreamopsError:
        return []
    return listed(one for one in planned.elect if (one.topic, one.index) not in failed)


# -- the record of a reassignment, by its key in the state topic --------------------------------------------------


def read_record(session: Session, topics: Collection[str] | None = None) -> Record | None:
    """The record of the reassignment that is not ended, if there is one.

    C(topics) are the names of all topics, where they have been listed already.
    """
    return record_of(read_state(session, KEY, topics)[0])


def write_record(session: Session, record: Record | None) -> None:
    """Keep the record with the cluster; None takes it away."""
    write_state(session, KEY, None if record is None else record.as_data())


def made_state_topic(session: Session) -> bool:
    """Make the state topic, seen by every live broker; return whether it was not there."""
    if STATE_TOPIC in list_topics(session):
        return False
    factor = min(3, len(live_brokers(session)))
    config = {**STATE_CONFIG, "min.insync.replicas": str(min(2, factor))}
    failure = create_topics(session, [TopicSpec(STATE_TOPIC, 1, factor, config)]).get(STATE_TOPIC)
    if failure is not None and failure[0] != "TOPIC_ALREADY_EXISTS":
        raise RequestFailedError("create topic", STATE_TOPIC, *failure)

    def missing_at(broker: int) -> list[str]:
        """Whether a broker does not see a leader of it."""
        found = topics_at(session, broker, [STATE_TOPIC]).get(STATE_TOPIC, ())
        return [] if found and found[0].leader is not None else ["no leader is seen"]

    wait_until_seen(STATE_TOPIC, partial(live_brokers, session), missing_at, _STATE_TIMEOUT)
    return True


def read_state(session: Session, key: str, topics: Collection[str] | None = None) -> tuple[Any, int]:
    """The last value of a key (None: there is none), and where the log ends; (None, 0) without the topic.

    C(topics) are the names of all topics, where they have been listed already.
    """
    found, end = _records(session, key, 0, topics)
    return (found[-1][1] if found else None), end


def write_state(session: Session, key: str, value: Any) -> int:
    """Write a value (None takes the key away), acknowledged by all replicas in sync; return its offset."""
    from confluent_kafka import Producer

    config = dict(session.confluent_config())
    config.update({"acks": "all", "compression.type": "gzip", "message.max.bytes": RECORD_BYTES, "log_level": 0})
    config["message.timeout.ms"] = session.connection.request_timeout * 1000
    reports: list[Any] = []
    producer = Producer(config)
    text = None if value is None else json.dumps(value, separators=(",", ":")).encode()
    producer.produce(
        STATE_TOPIC, key=key.encode(), value=text, partition=0, on_delivery=lambda *report: reports.append(report)
    )
    producer.flush(session.connection.request_timeout + 5)
    error, message = reports[0] if reports else (None, None)
    if error is not None or message is None:
        code, why = (str(error.name()), str(error.str())) if error is not None else ("NO_ANSWER", "no answer")
        why = session.why("write", code, why, STATE_TOPIC)
        raise RequestFailedError("write", f"{STATE_TOPIC} key {key}", code, why)
    return int(message.offset())


def claim_state(session: Session, key: str, value: Any, since: int) -> Any:
    """Write a value for a key that had none when the log ended at C(since); return the value that holds.

    Kafka cannot write on condition. So what was written in between holds, and is put back.
    """
    mine = write_state(session, key, value)
    written, _end = _records(session, key, since)
    between = [found for at, found in written if at < mine]
    if not between or between[-1] is None:
        return value
    write_state(session, key, between[-1])
    return between[-1]


def _records(
    session: Session, key: str, since: int, topics: Collection[str] | None = None
) -> tuple[list[tuple[int, Any]], int]:
    """The records of a key from an offset on as (offset, value), and where the log ends."""
    if STATE_TOPIC not in (session.metadata().topics if topics is None else topics):
        return [], 0
    found: tuple[list[tuple[int, Any]], int] = session.call(
        f"read {STATE_TOPIC}", lambda: _consumed(session, key, since)
    )
    return found


def _consumed(session: Session, key: str, since: int) -> tuple[list[tuple[int, Any]], int]:
    """Read with kafka-python: a consumer of librdkafka always asks for the coordinator of a group, and a cluster
    that is asked for the first time makes __consumer_offsets for that."""
    from kafka import KafkaConsumer, TopicPartition

    place = TopicPartition(STATE_TOPIC, 0)
    consumer = KafkaConsumer(
        **session.python_config(),
        group_id=None,
        auto_offset_reset="none",
        max_partition_fetch_bytes=RECORD_BYTES,
        receive_message_max_bytes=2 * RECORD_BYTES,
    )
    try:
        consumer.assign([place])
        end = consumer.end_offsets([place])[place]
        consumer.seek(place, max(consumer.beginning_offsets([place])[place], since))
        return _read(consumer, place, key, end, session.connection.request_timeout), end
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
