# SPDX-License-Identifier: GPL-3.0-or-later
"""What MirrorMaker 2 writes down about itself, as bytes, and what is kept of it."""

from __future__ import annotations

import json
import struct

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.records import (
    Notes,
    checkpoint_of,
    heartbeat_of,
    position_of,
    position_record,
    task_of,
)

OFFSETS = "mm2-offsets.a.internal"


def key_of(topic: str = "orders", cluster: str = "a", connector: str = "MirrorSourceConnector") -> bytes:
    """The key of a record in the offsets topic."""
    return json.dumps([connector, {"cluster": cluster, "partition": 3, "topic": topic}]).encode()


def beat(source: str, target: str, at: int) -> tuple[bytes, bytes]:
    """Key and value of a heartbeat."""
    names = [name.encode() for name in (source, target)]
    return b"".join(struct.pack(">h", len(name)) + name for name in names), struct.pack(">hq", 0, at)


def test_a_position_is_the_offset_after_the_last_mirrored_record() -> None:
    assert position_of(key_of(), b'{"offset":123}', "a") == (("orders", 3), 124)


def test_a_position_is_written_byte_for_byte_as_connect_looks_it_up() -> None:
    key, value = position_record("a", ("orders", 3), 124)
    assert key == b'["MirrorSourceConnector",{"cluster":"a","partition":3,"topic":"orders"}]'
    assert value == b'{"offset":123}'
    assert position_of(key, value, "a") == (("orders", 3), 124)


@pytest.mark.parametrize("value", [None, b"null"])
def test_a_forgotten_position_is_none(value: bytes | None) -> None:
    assert position_of(key_of(), value, "a") == (("orders", 3), None)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (key_of(cluster="c"), b'{"offset":1}'),
        (key_of(connector="MirrorCheckpointConnector"), b'{"offset":1}'),
        (b'["MirrorHeartbeatConnector",{"sourceClusterAlias":"a","targetClusterAlias":"b"}]', b'{"offset":0}'),
        (b'["MirrorSourceConnector",{"cluster":"a"}]', b'{"offset":0}'),
        (key_of(), b"{}"),
        (key_of(), b"\xff"),
        (b"no json", b'{"offset":1}'),
        (b"7", b'{"offset":1}'),
        (None, b'{"offset":1}'),
    ],
)
def test_other_records_say_nothing(key: bytes | None, value: bytes) -> None:
    assert position_of(key, value, "a") is None


def test_a_heartbeat_is_read_as_kafka_writes_it() -> None:
    key = b"\x00\x04dc_b\x00\x04dc_a"
    value = b"\x00\x00" + (1_700_000_000_000).to_bytes(8, "big")
    assert heartbeat_of(key, value) == ("dc_b", "dc_a", 1_700_000_000_000)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (None, None),
        (b"", b""),
        (b"\x00\x09dc_b", b"\x00\x00" + bytes(8)),
        (b"\xff\xff", b"\x00\x00" + bytes(8)),
        (b"\x00\x01\xff\x00\x01a", b"\x00\x00" + bytes(8)),
        (b"\x00\x01b\x00\x01a", b"\x00\x01" + bytes(8)),
        (b"\x00\x01b\x00\x01a", b"\x00\x00"),
    ],
)
def test_what_is_no_heartbeat_is_none(key: bytes | None, value: bytes | None) -> None:
    assert heartbeat_of(key, value) is None


def test_the_latest_position_holds_until_it_is_forgotten() -> None:
    notes = Notes("a", OFFSETS)
    notes.take(OFFSETS, key_of(), b'{"offset":1}', 0, 5)
    notes.take(OFFSETS, key_of(), b'{"offset":2}', 0, 6)
    notes.take(OFFSETS, key_of("gone"), b'{"offset":2}', 0, 6)
    notes.take(OFFSETS, key_of("gone"), None, 0, 7)
    assert notes.positions == {("orders", 3): 3}


def test_only_heartbeats_written_into_the_source_tell_of_this_flow() -> None:
    notes = Notes("a", OFFSETS)
    for source, target, at in (("b", "a", 10), ("c", "a", 20), ("a", "b", 30)):
        notes.take("a.heartbeats", *beat(source, target, at), 99, 0)
    notes.take("heartbeats", *beat("b", "a", 40), 99, 0)
    assert notes.heartbeat_at == 20


def test_the_latest_checkpoint_is_kept_by_its_timestamp() -> None:
    notes = Notes("a", OFFSETS)
    for at in (5, 9, 7):
        notes.take("a.checkpoints.internal", b"", b"", at, 0)
    assert (notes.checkpoint_at, notes.heartbeat_at) == (9, None)


TRACE = """org.apache.kafka.connect.errors.ConnectException: Unrecoverable exception from producer send callback
\tat org.apache.kafka.connect.runtime.AbstractWorkerSourceTask.maybeThrowProducerSendException(A.java:1)
Caused by: java.lang.RuntimeException: something between
Caused by: org.apache.kafka.common.errors.RecordTooLargeException: The request included a message too large.
"""


def state(name: str, trace: str = "") -> bytes:
    """The value of a record in the status topic."""
    return json.dumps({"state": name, "trace": trace, "worker_id": "10.0.0.1:8083", "generation": 3}).encode()


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (state("FAILED", TRACE), "RecordTooLargeException: The request included a message too large"),
        (state("FAILED", "org.apache.kafka.common.KafkaException: gone\n\tat a.b(C.java:1)"), "KafkaException: gone"),
        (state("FAILED"), "no cause is known"),
        (state("RUNNING"), None),
        # A task that is gone, since the connector has fewer now.
        (None, None),
        (b"null", None),
    ],
)
def test_the_last_cause_of_a_failed_task_is_kept(value: bytes | None, why: str | None) -> None:
    assert task_of(b"status-task-MirrorSourceConnector-12", value) == ("MirrorSourceConnector task 12", why)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (b"status-connector-MirrorSourceConnector", state("FAILED", TRACE)),
        (b"status-topic-a.orders:connector-MirrorSourceConnector", b"{}"),
        (None, state("FAILED")),
        (b"status-task-MirrorSourceConnector-1", b"\xff"),
        (b"status-task-MirrorSourceConnector-1", b"[1]"),
    ],
)
def test_other_states_are_of_no_task(key: bytes | None, value: bytes) -> None:
    assert task_of(key, value) is None


def test_a_task_that_runs_again_has_not_failed() -> None:
    notes, topic = Notes("a", OFFSETS), "mm2-status.a.internal"
    for number, name in ((0, "FAILED"), (1, "FAILED"), (0, "RUNNING")):
        notes.take(topic, f"status-task-MirrorSourceConnector-{number}".encode(), state(name, TRACE), 0, 0)
    assert list(notes.failed) == ["MirrorSourceConnector task 1"]


def checkpoint(version: int = 0) -> tuple[bytes, bytes]:
    """Key and value of a checkpoint, with metadata of the group."""
    key = b"\x00\x03app\x00\x08a.orders" + struct.pack(">i", 3)
    return key, struct.pack(">hqq", version, 120, 100) + b"\x00\x04note"


def test_a_checkpoint_is_read_as_kafka_writes_it() -> None:
    assert checkpoint_of(*checkpoint()) == ("app", ("a.orders", 3), 120, 100)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (None, None),
        (checkpoint()[0], None),
        (checkpoint()[0], b"\x00\x00short"),
        (checkpoint()[0][:-1], checkpoint()[1]),
        (b"\x00\x09app", checkpoint()[1]),
        (b"\x00\x01\xff\x00\x01t\x00\x00\x00\x00", checkpoint()[1]),
        checkpoint(version=1),
    ],
)
def test_what_is_no_checkpoint_is_passed_over(key: bytes | None, value: bytes | None) -> None:
    assert checkpoint_of(key, value) is None
