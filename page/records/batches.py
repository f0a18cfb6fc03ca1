"""Take the records out of what a broker sends of a log: batches of the format 2 (KIP-98). Pure.

A broker sends whole batches, so the first may begin before the offset that was asked for and the last may be cut.
Markers of transactions are batches of their own, and offsets that compaction removed are just not there. Which
transactions were aborted the broker tells beside the batches; a marker ends each of them.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from page.records.codecs import UnreadableError, unpacked

#: BaseOffset, Length, PartitionLeaderEpoch, Magic, CRC, Attributes, LastOffsetDelta, BaseTimestamp, MaxTimestamp,
#: ProducerId, ProducerEpoch, BaseSequence, count of records.
_HEAD = struct.Struct(">qiibIhiqqqhii")
#: What comes before what Length counts.
_BEFORE = 12
_CODEC, _APPEND_TIME, _TRANSACTIONAL, _CONTROL = 0x07, 0x08, 0x10, 0x20
_NO_TIME = -1
#: The type of a marker in its key, behind its version (ControlRecordType).
_ABORT = 0
CREATED, APPENDED = "CreateTime", "LogAppendTime"


@dataclass(frozen=True)
class Record:
    """A record as it is in its log. C(timestamp) is in ms since 1970, None where it has none."""

    partition: int
    offset: int
    timestamp: int | None
    timestamp_type: str
    key: bytes | None = field(repr=False)
    value: bytes | None = field(repr=False)
    headers: Sequence[tuple[bytes, bytes | None]] = field(repr=False, default=())


@dataclass(frozen=True)
class Skipped:
    """A batch that cannot be read: its first and last offset, and why."""

    partition: int
    first: int
    last: int
    why: str


@dataclass
class Part:
    """What one answer has of a partition. C(next): the offset behind its last whole batch, None without one."""

    records: list[Record] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    next: int | None = None
    unpacked: int = 0


@dataclass(frozen=True)
class _Batch:
    base: int
    magic: int
    attributes: int
    last: int
    first_time: int
    max_time: int
    producer: int
    count: int
    body: bytes

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & _CONTROL)


def part_of(partition: int, data: bytes, aborted: Sequence[tuple[int, int]], start: int, end: int, most: int) -> Part:
    """Return the records of a partition from offset C(start) to C(end), which is not among them.

    C(aborted) are producer and first offset of transactions that were aborted, whose records are left out. C(most) is
    how many bytes all batches may have when they are decompressed.
    """
    found = Part()
    waiting = sorted(aborted, key=lambda one: one[1])
    dead: set[int] = set()
    for batch in _batches(data):
        found.next = batch.last + 1
        while waiting and waiting[0][1] <= batch.last:
            dead.add(waiting.pop(0)[0])
        if batch.magic == 2 and batch.is_control:
            if _is_abort(batch.body):
                dead.discard(batch.producer)
        elif batch.last < start or batch.base >= end or (batch.attributes & _TRANSACTIONAL and batch.producer in dead):
            continue
        else:
            _take(partition, batch, start, end, most - found.unpacked, found)
    return found


def _take(partition: int, batch: _Batch, start: int, end: int, most: int, found: Part) -> None:
    """Add the records of a batch, or why there are none of it."""
    try:
        if batch.magic != 2:
            raise UnreadableError(f"it has the format {batch.magic} of brokers before Kafka 0.11")
        body = unpacked(batch.attributes & _CODEC, batch.body, most)
        found.unpacked += len(body)
        found.records += [one for one in _records(partition, batch, body) if start <= one.offset < end]
    except UnreadableError as error:
        found.skipped.append(Skipped(partition, max(batch.base, start), min(batch.last, end - 1), str(error)))
    except (IndexError, ValueError):
        why = "its records are not written as the protocol says"
        found.skipped.append(Skipped(partition, max(batch.base, start), min(batch.last, end - 1), why))


def _batches(data: bytes) -> Iterator[_Batch]:
    at = 0
    while at + _BEFORE + 5 <= len(data):
        base, length = struct.unpack_from(">qi", data, at)
        end = at + _BEFORE + length
        if length < 5 or end > len(data):
            return
        magic = data[at + _BEFORE + 4]
        if magic != 2:
            # Of older formats each has its own head; the offset is that of its last record.
            yield _Batch(base, magic, 0, base, 0, 0, -1, 0, b"")
        elif end - at < _HEAD.size:
            return
        else:
            head = _HEAD.unpack_from(data, at)
            attributes, delta, first_time, max_time, producer = head[5:10]
            yield _Batch(
                base, magic, attributes, base + max(delta, 0), first_time, max_time, producer, head[12],
                data[at + _HEAD.size : end],
            )  # fmt: skip
        at = end


def _is_abort(body: bytes) -> bool:
    """Return whether the marker in a control batch, which has one record without compression, ends an aborted one."""
    try:
        reader = _Reader(body)
        reader.number(), reader.byte(), reader.number(), reader.number()
        key = reader.bytes() or b""
        return bool(struct.unpack_from(">hh", key)[1] == _ABORT)
    except (IndexError, ValueError, struct.error):
        return False


def _records(partition: int, batch: _Batch, body: bytes) -> Iterator[Record]:
    reader = _Reader(body)
    is_appended = bool(batch.attributes & _APPEND_TIME)
    for _one in range(batch.count):
        reader.number()
        reader.byte()
        time = batch.first_time + reader.number()
        time = batch.max_time if is_appended else time
        offset = batch.base + reader.number()
        key, value = reader.bytes(), reader.bytes()
        headers = tuple((reader.bytes() or b"", reader.bytes()) for _header in range(reader.count()))
        kind = APPENDED if is_appended else CREATED
        yield Record(partition, offset, None if time <= _NO_TIME else time, kind, key, value, headers)


class _Reader:
    """Reads varints (zigzag, as in protocol buffers) and what they measure; ValueError or IndexError at the end."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def byte(self) -> int:
        """Return the next byte."""
        found = self._data[self._at]
        self._at += 1
        return found

    def number(self) -> int:
        """Return the next varint or varlong."""
        found = shift = 0
        while True:
            one = self.byte()
            found |= (one & 127) << shift
            if one < 128:
                return (found >> 1) ^ -(found & 1)
            shift += 7
            if shift > 63:
                raise ValueError("a number without an end")

    def count(self) -> int:
        """Return a number of things to come, of which each has a byte at least."""
        found = self.number()
        if not 0 <= found <= len(self._data) - self._at:
            raise ValueError("more than there is")
        return found

    def bytes(self) -> bytes | None:
        """Return bytes behind their length, None for one below 0."""
        length = self.number()
        if length < 0:
            return None
        if length > len(self._data) - self._at:
            raise ValueError("more than there is")
        found = self._data[self._at : self._at + length]
        self._at += length
        return found
