"""Take the records out of what a broker sends of a log: batches of the format 2 (KIP-98); hold what a read found. Pure.

A broker sends whole batches, so the first may begin before the offset that was asked for and the last may be cut.
Markers of transactions are batches of their own, and offsets that compaction removed are just not there. Which
transactions were aborted the broker tells beside the batches; a marker ends each of them.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice

from ansible_collections.streamops.kafka.plugins.module_utils._logs.model import Log
from page.records import bounds
from page.records.codecs import TooLargeError, UnreadableError, unpacked

#: BaseOffset, Length, PartitionLeaderEpoch, Magic, CRC, Attributes, LastOffsetDelta, BaseTimestamp, MaxTimestamp,
#: ProducerId, ProducerEpoch, BaseSequence, count of records.
_HEAD = struct.Struct(">qiibIhiqqqhii")
#: What comes before what Length counts.
_BEFORE = 12
_CODEC, _APPEND_TIME, _TRANSACTIONAL, _CONTROL = 0x07, 0x08, 0x10, 0x20
_NO_TIME = -1
#: Which part of the room for all batches one counts that is too large for all of it.
_SHARE_OF_LARGE = 4
#: The type of a marker in its key, behind its version (ControlRecordType).
_ABORT = 0
CREATED, APPENDED = "CreateTime", "LogAppendTime"


@dataclass(frozen=True)
class Record:
    """A record as it is in its log. C(timestamp) is in ms since 1970, None where it has none.

    C(headers) are its first ones, of C(header_count), and C(size) the bytes that it takes when it is decompressed.
    """

    partition: int
    offset: int
    timestamp: int | None
    timestamp_type: str
    key: bytes | None = field(repr=False)
    value: bytes | None = field(repr=False)
    headers: Sequence[tuple[bytes, bytes | None]] = field(repr=False, default=())
    header_count: int = 0
    size: int = 0


@dataclass(frozen=True)
class Skipped:
    """A batch that cannot be read: its first and last offset, and why."""

    partition: int
    first: int
    last: int
    why: str


@dataclass
class Part:
    """What one answer has of a partition. C(next): the offset behind its last whole batch, None without one.

    C(is_full): a batch was met that has no room beside those before it, and nothing from it on was read.
    """

    records: list[Record] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    next: int | None = None
    unpacked: int = 0
    is_full: bool = False


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


@dataclass(frozen=True)
class Wanted:
    """Which records are wanted of a partition: from offset C(start) to C(end), which is not among them.

    The first C(count) of them, or with C(is_last) the last ones. C(unpacked) is how many bytes all batches may have
    when they are decompressed.
    """

    partition: int
    start: int
    end: int
    count: int
    unpacked: int
    is_last: bool = False


def part_of(data: bytes, aborted: Sequence[tuple[int, int]], wanted: Wanted) -> Part:
    """Return the records in what was sent of a partition.

    C(aborted) are producer and first offset of transactions that were aborted, whose records are left out.
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
        elif batch.last < wanted.start or (batch.attributes & _TRANSACTIONAL and batch.producer in dead):
            continue
        elif batch.base < wanted.end:
            _take(batch, wanted, found)
            if found.is_full:
                # To go on with smaller ones behind it would leave a gap that nobody sees.
                found.next = batch.base
                break
            if not wanted.is_last and len(found.records) == wanted.count:
                found.next = found.records[-1].offset + 1
                break
    return found


def _take(batch: _Batch, wanted: Wanted, found: Part) -> None:
    """Add the records of a batch, or why there are none of it."""
    try:
        if batch.magic != 2:
            raise UnreadableError(f"it has the format {batch.magic} of brokers before Kafka 0.11")
        body = unpacked(batch.attributes & _CODEC, batch.body, wanted.unpacked - found.unpacked)
        found.unpacked += len(body)
        some = _records(batch, body, wanted)
        if wanted.is_last:
            found.records = [*deque(chain(found.records, some), wanted.count)]
        else:
            found.records += [*islice(some, wanted.count - len(found.records))]
        return
    except TooLargeError as error:
        # One that would not fit into a read of its own is passed over, and named.
        if wanted.unpacked - found.unpacked < bounds.UNPACKED:
            found.is_full = True
            return
        # It took its time all the same: many small ones that would be large would take minutes.
        found.unpacked += bounds.UNPACKED // _SHARE_OF_LARGE
        why = str(error)
    except UnreadableError as error:
        why = str(error)
    except (IndexError, ValueError):
        why = "its records are not written as the protocol says"
    last = min(batch.last, wanted.end - 1)
    found.skipped.append(Skipped(wanted.partition, max(batch.base, wanted.start), last, why))


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


def _records(batch: _Batch, body: bytes, wanted: Wanted) -> Iterator[Record]:
    reader = _Reader(body)
    is_appended = bool(batch.attributes & _APPEND_TIME)
    kind = APPENDED if is_appended else CREATED
    for _one in range(batch.count):
        size = reader.count()
        end = reader.at + size
        reader.byte()
        time = batch.first_time + reader.number()
        offset = batch.base + reader.number()
        if offset >= wanted.end:
            return
        # What is not wanted is passed over: a batch may have a million records.
        if offset >= wanted.start:
            time = batch.max_time if is_appended else time
            key, value, count = reader.bytes(), reader.bytes(), reader.count()
            headers = tuple((reader.bytes() or b"", reader.bytes()) for _header in range(min(count, bounds.HEADERS)))
            if reader.at > end or (reader.at < end and count <= bounds.HEADERS):
                raise ValueError("another length than it says")
            when = None if time <= _NO_TIME else time
            yield Record(wanted.partition, offset, when, kind, key, value, headers, count, size)
        reader.at = end


class _Reader:
    """Reads varints (zigzag, as in protocol buffers) and what they measure; ValueError or IndexError at the end."""

    def __init__(self, data: bytes) -> None:
        self._data, self.at = data, 0

    def byte(self) -> int:
        """Return the next byte."""
        found = self._data[self.at]
        self.at += 1
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
        if not 0 <= found <= len(self._data) - self.at:
            raise ValueError("more than there is")
        return found

    def bytes(self) -> bytes | None:
        """Return bytes behind their length, None for one below 0."""
        length = self.number()
        if length < 0:
            return None
        if length > len(self._data) - self.at:
            raise ValueError("more than there is")
        found = self._data[self.at : self.at + length]
        self.at += length
        return found


@dataclass
class Found:
    """Records in the order in which they are shown, and what must be known beside them.

    C(logs) are the partitions that were asked for, C(partitions) is how many the topic has, C(fetched) is in bytes.
    """

    partitions: int = 0
    logs: Mapping[int, Log] = field(default_factory=dict)
    records: Sequence[Record] = ()
    skipped: list[Skipped] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    fetched: int = 0
