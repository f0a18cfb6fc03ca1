# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Reads what MirrorMaker 2 writes down about itself: how far it has come, and its signs of life. Pure."""

from __future__ import annotations

import json
import re
import struct
from typing import Any

from .._cluster.snapshot import Key

#: The connector that carries records, by the name that dedicated mode gives it (MirrorMakerConfig).
_CONNECTOR = "MirrorSourceConnector"
#: How Connect names the state of a task in its topic (KafkaStatusBackingStore).
_TASK = re.compile(r"status-task-(.+)-(\d+)")
#: Characters of a cause that are shown.
_SHOWN = 300


def position_of(key: bytes | None, value: bytes | None, source: str) -> tuple[Key, int | None] | None:
    """The partition of cluster C(source) that a record of the offsets topic is about, and the next offset to mirror.

    None for the record: it is about something else (heartbeats and checkpoints keep offsets there too). None for the
    offset: MirrorMaker has forgotten it (Connect writes no value then). Connect keeps both as JSON (KIP-66); the value
    is the offset of the last record that was mirrored.
    """
    try:
        connector, partition = json.loads(key or b"")
        if connector != _CONNECTOR or partition["cluster"] != source:
            return None
        where = (str(partition["topic"]), int(partition["partition"]))
        last = None if value is None else json.loads(value)
        return where, None if last is None else int(last["offset"]) + 1
    except (ValueError, TypeError, KeyError):
        return None


def position_record(source: str, where: Key, position: int) -> tuple[bytes, bytes]:
    """Return key and value by which a mirror of cluster C(source) begins at this offset; C(position_of) reads them.

    Connect looks a position up by the bytes of its key (OffsetStorageReaderImpl), so these are as its JsonConverter
    writes what MirrorUtils.wrapPartition makes: no blanks, and the order of a HashMap of these three keys. A task seeks
    to the offset after the one that it finds (MirrorSourceTask).

    position -- the next offset to mirror, 1 or more: MirrorMaker takes the offset before 0 for none.
    """
    topic, number = where
    key = [_CONNECTOR, {"cluster": source, "partition": number, "topic": topic}]
    return _json(key), _json({"offset": position - 1})


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def heartbeat_of(key: bytes | None, value: bytes | None) -> tuple[str, str, int] | None:
    """Source alias, target alias and time (ms since 1970) of a heartbeat; None for a record that is none.

    As org.apache.kafka.connect.mirror.Heartbeat writes it: two strings with their lengths in two bytes; a version,
    which is 0, and the time in eight bytes.
    """
    try:
        source, rest = _string(key or b"")
        target, _rest = _string(rest)
        version, at = struct.unpack(">hq", value or b"")
    except (struct.error, UnicodeDecodeError):
        return None
    return (source, target, int(at)) if version == 0 else None


def checkpoint_of(key: bytes | None, value: bytes | None) -> tuple[str, Key, int, int] | None:
    """Return the group, the partition of the target, the offset of the source and that of the target of a checkpoint.

    None for a record that is none. As org.apache.kafka.connect.mirror.Checkpoint writes it: group and topic with their
    lengths in two bytes, the partition in four; a version, which is 0, two offsets in eight bytes each, and metadata.
    """
    try:
        group, rest = _string(key or b"")
        topic, rest = _string(rest)
        (partition,) = struct.unpack(">i", rest)
        version, here, there = struct.unpack_from(">hqq", value or b"")
    except (struct.error, UnicodeDecodeError):
        return None
    return (group, (topic, int(partition)), int(here), int(there)) if version == 0 else None


def task_of(key: bytes | None, value: bytes | None) -> tuple[str, str | None] | None:
    """Return a task of a connector, and why it failed: None for one that has not failed, or is gone.

    None for a record of the status topic that is about no task. Connect keeps states as JSON, and the stack trace of
    what ended a task with them; the cause is its last one.
    """
    found = _TASK.fullmatch((key or b"").decode(errors="replace"))
    if found is None:
        return None
    task = f"{found[1]} task {found[2]}"
    try:
        state = json.loads(value or b"{}") or {}
        return task, _cause(str(state.get("trace") or "")) if state.get("state") == "FAILED" else None
    except (ValueError, AttributeError):
        return None


def _cause(trace: str) -> str:
    """Return the last cause of a stack trace of Java, without the package of its class."""
    lines = [line.strip() for line in trace.splitlines()]
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    text = (causes or lines or [""])[-1 if causes else 0] or "no cause is known"
    kind, separator, rest = text.partition(": ")
    return f"{kind.rpartition('.')[2]}{separator}{rest}"[:_SHOWN].rstrip(".")


def _string(data: bytes) -> tuple[str, bytes]:
    """The string that stands first, and what comes after it."""
    (size,) = struct.unpack_from(">h", data)
    if not 0 <= size <= len(data) - 2:
        raise struct.error("no string")
    return data[2 : 2 + size].decode(), data[2 + size :]


def heartbeats_topic(source: str) -> str:
    """The topic of the target into which the source's heartbeats are mirrored.

    Also where topics keep their names: IdentityReplicationPolicy makes an exception for heartbeats.
    """
    return f"{source}.heartbeats"


def checkpoints_topic(source: str) -> str:
    """The topic of the target with the translated offsets of consumer groups (DefaultReplicationPolicy, KIP-382)."""
    return f"{source}.checkpoints.internal"


def status_topic(source: str) -> str:
    """The topic of the target in which Connect keeps the states of the flow's connectors (MirrorMakerConfig)."""
    return f"mm2-status.{source}.internal"


class Notes:
    """Takes MirrorMaker's own records, in any order of topics and in the order of each log, and keeps the latest."""

    def __init__(self, source: str, offsets: str) -> None:
        self._source = source
        self._offsets = offsets
        #: Why tasks failed that have not started again since, by task.
        self.failed: dict[str, str] = {}
        self.positions: dict[Key, int] = {}
        #: At which offset of its topic each position stands.
        self.flushes: dict[Key, int] = {}
        #: When the latest heartbeat was written into the source, in ms since 1970.
        self.heartbeat_at: int | None = None
        #: When the latest checkpoint was written, in ms since 1970.
        self.checkpoint_at: int | None = None

    def take(self, topic: str, key: bytes | None, value: bytes | None, timestamp: int, offset: int) -> None:
        """Take one record with its timestamp in ms since 1970 and its offset in its topic."""
        if topic == self._offsets:
            self._position(key, value, offset)
        elif topic == heartbeats_topic(self._source):
            beat = heartbeat_of(key, value)
            # Whoever wrote it into the source: that it stands here was done by this flow.
            if beat and beat[1] == self._source:
                self.heartbeat_at = max(self.heartbeat_at or 0, beat[2])
        elif topic == status_topic(self._source):
            self._task(key, value)
        elif topic == checkpoints_topic(self._source):
            self.checkpoint_at = max(self.checkpoint_at or 0, timestamp)

    def _task(self, key: bytes | None, value: bytes | None) -> None:
        found = task_of(key, value)
        if found is None:
            return
        task, why = found
        if why is None:
            self.failed.pop(task, None)
        else:
            self.failed[task] = why

    def _position(self, key: bytes | None, value: bytes | None, offset: int) -> None:
        found = position_of(key, value, self._source)
        if found is None:
            return
        where, position = found
        if position is None:
            self.positions.pop(where, None)
            self.flushes.pop(where, None)
        else:
            self.positions[where] = position
            self.flushes[where] = offset
