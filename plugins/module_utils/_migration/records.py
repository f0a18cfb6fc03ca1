# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Read of the metadata log what tells the phase: ZkMigrationState, and how brokers are registered. Pure.

No request and, without an agent in each controller, no metric of Kafka tells either. Batches have the format of KIP-98
and are never compressed in this log; records are those of the schemas in common/metadata of Kafka's jar. What a
transaction of the log (KIP-868) holds counts once it has ended: the copy from ZooKeeper is such transactions.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from .model import STATES, MetadataLog

#: The head of a batch: base offset, length, leader epoch, magic, CRC, attributes, last offset delta, two times,
#: producer id and epoch, base sequence, count of records.
_HEAD = struct.Struct(">qiibIhiqqqhii")
#: Bits of the attributes: the codec, and whether it is a control batch (elections, voters).
_CODEC, _CONTROL = 0b111, 0b100000
#: Types of records that count (apiKey in the schemas).
_REGISTER, _UNREGISTER, _STATE, _BEGIN, _END, _ABORT = 0, 1, 21, 23, 24, 25
_ID = struct.Struct(">i")
#: IsMigratingZkBroker is there from this version of RegisterBrokerRecord on.
_WITH_MIGRATING = 2


class UnclearLogError(ValueError):
    """A batch is not what a metadata log holds."""


class LogReader:
    """Follows a metadata log batch by batch, a snapshot first where there is one."""

    def __init__(self) -> None:
        self._state = ""
        self._brokers: dict[int, bool] = {}
        self._epoch = self._end = 0
        self._before: tuple[str, dict[int, bool]] | None = None

    def log(self) -> MetadataLog:
        """Return what was read; of a transaction that has not ended, what was before it."""
        state, brokers = self._before or (self._state, self._brokers)
        return MetadataLog(state, dict(brokers), self._epoch, self._end)

    def reach(self, end: int, epoch: int) -> None:
        """Note that all in front of an offset was read: from a snapshot of that end and epoch (KIP-630)."""
        self._end, self._epoch = end, epoch

    def follow(self, batch: bytes) -> None:
        """Read a batch of the log. Raises UnclearLogError for one that is broken or compressed."""
        fields = self.read(batch)
        self._end, self._epoch = fields[0] + fields[6] + 1, max(self._epoch, fields[2])

    def read(self, batch: bytes) -> tuple[int, ...]:
        """Read the records of a batch, in a snapshot too, and return the fields of its head."""
        try:
            fields = _HEAD.unpack_from(batch)
            if fields[5] & _CODEC:
                raise UnclearLogError(f"the batch at offset {fields[0]} is compressed")
            if not fields[5] & _CONTROL:
                for value in _values(batch, fields[12]):
                    self._take(value)
        except (IndexError, struct.error) as error:
            raise UnclearLogError(f"a batch of the metadata log ends too early: {error}") from error
        return fields

    def _take(self, value: memoryview) -> None:
        """Take up one record: a frame version, its type and version, then its fields (MetadataRecordSerde)."""
        _frame, at = _unsigned(value, 0)
        kind, at = _unsigned(value, at)
        version, at = _unsigned(value, at)
        if kind == _STATE:
            self._state = STATES.get(value[at], "")
        elif kind == _REGISTER:
            self._brokers[_ID.unpack_from(value, at)[0]] = version >= _WITH_MIGRATING and bool(value[at + _ID.size])
        elif kind == _UNREGISTER:
            self._brokers.pop(_ID.unpack_from(value, at)[0], None)
        elif kind == _BEGIN:
            self._before = (self._state, dict(self._brokers))
        elif kind == _END:
            self._before = None
        elif kind == _ABORT and self._before is not None:
            (self._state, self._brokers), self._before = self._before, None


def _values(batch: bytes, count: int) -> Iterator[memoryview]:
    """Return the values of the records in a batch."""
    view, at = memoryview(batch), _HEAD.size
    for _number in range(count):
        length, at = _signed(view, at)
        end = at + length
        # Attributes, one byte; then the time and the offset behind those of the batch.
        _time, at = _signed(view, at + 1)
        _offset, at = _signed(view, at)
        key, at = _signed(view, at)
        size, at = _signed(view, at + max(key, 0))
        if size < 0 or at + size > end or end > len(view):
            raise UnclearLogError("a record of the metadata log has no value, or is longer than its batch")
        yield view[at : at + size]
        at = end


def _unsigned(view: memoryview, at: int) -> tuple[int, int]:
    """Return an unsigned number of variable length, and the position behind it."""
    number = shift = 0
    while view[at] & 0x80:
        number |= (view[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
    return number | view[at] << shift, at + 1


def _signed(view: memoryview, at: int) -> tuple[int, int]:
    """Return a signed number of variable length (zigzag), and the position behind it."""
    number, at = _unsigned(view, at)
    return (number >> 1) ^ -(number & 1), at
