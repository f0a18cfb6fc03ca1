# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The files of a log: which segments hold a range, where in one it begins, and the heads of its batches.

Only heads of batches and entries of indexes are read, so a log of many gigabytes costs little. Formats: FileRecords,
OffsetIndex and TimeIndex of Kafka.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

#: BaseOffset, Length, PartitionLeaderEpoch, Magic, CRC, Attributes, LastOffsetDelta, BaseTimestamp, MaxTimestamp,
#: ProducerId, ProducerEpoch, BaseSequence, count of records (KIP-98).
_HEAD = struct.Struct(">qiibIhiqqqhii")
#: What comes before what Length counts, and the least that it counts.
_BEFORE, _LEAST = 12, 14
_MAGIC = 2
#: An entry of .index (offset behind the first of the segment, position) and of .timeindex (time, such an offset).
_PLACE, _TIME = struct.Struct(">ii"), struct.Struct(">qi")
#: What a segment of a log is called, by its first offset.
SEGMENT = "{:020d}"


@dataclass(frozen=True)
class Batch:
    """The head of a batch. C(first_time), C(last_time) are None in formats before Kafka 0.11."""

    base: int
    last: int
    first_time: int | None
    last_time: int | None
    count: int
    position: int
    size: int


def bases(names: Iterable[str]) -> list[int]:
    """Return the first offsets of the segments in the names of a directory, lowest first."""
    return sorted(int(stem) for stem, end in map(os.path.splitext, names) if end == ".log" and stem.isdigit())


def holding(found: list[int], first: int, last: int | None) -> list[int]:
    """Return those segments, by their first offsets, that may hold an offset from C(first) to C(last)."""
    ends = [*found[1:], None]
    return [
        base
        for base, end in zip(found, ends)  # noqa: B905 (nodes may have Python 3.9)
        if (end is None or end > first) and (last is None or base <= last)
    ]


def batches(file: int, position: int = 0) -> Iterator[Batch]:
    """Read the heads of the whole batches in an open segment from a position on.

    A last batch that is cut, or that a broker just writes, ends them; so does room that holds nothing yet.
    """
    end = os.fstat(file).st_size
    while position + _HEAD.size <= end:
        head = os.pread(file, _HEAD.size, position)
        if len(head) < _HEAD.size:
            return
        fields = _HEAD.unpack(head)
        size = _BEFORE + fields[1]
        if fields[1] < _LEAST or position + size > end:
            return
        yield _batch(fields, position, size)
        position += size


def _batch(fields: tuple[int, ...], position: int, size: int) -> Batch:
    base = fields[0]
    if fields[3] < _MAGIC:
        # Its offset is that of the last record within.
        return Batch(base, base, None, None, 1, position, size)
    return Batch(base, base + fields[6], fields[7], fields[8], fields[12], position, size)


def start(stem: str, first: int, time_from: int | None) -> int:
    """Return a position in a segment before which nothing has this offset or this time; 0 where indexes tell nothing.

    stem -- the path of the segment without its ending.
    """
    base = int(os.path.basename(stem))
    if time_from is not None:
        before = _entry(f"{stem}.timeindex", _TIME, lambda entry: entry[0] < time_from)
        # All up to this offset is older; entries of a new index are zeros.
        first = max(first, base + before[1] + 1) if before and before[0] > 0 else first
    place = _entry(f"{stem}.index", _PLACE, lambda entry: base + entry[0] <= first)
    return place[1] if place else 0


def newest(stem: str) -> int | None:
    """Return the largest time in a segment that is written no more, by its index; None where that is unknown."""
    last = _entry(f"{stem}.timeindex", _TIME, lambda _entry: True)
    return last[0] if last and last[0] > 0 else None


def _entry(path: str, form: struct.Struct, before: Callable[[tuple[int, ...]], bool]) -> tuple[int, ...] | None:
    """Return the last entry of an index for which C(before) holds, as it does for all in front of it; None for none.

    The index of the segment that is written to has room in front for more: zeros, which are behind all entries.
    """
    try:
        with open(path, "rb", buffering=0) as file:
            return _last(file.fileno(), os.fstat(file.fileno()).st_size // form.size, form, before)
    except OSError:
        return None


def _last(
    file: int, count: int, form: struct.Struct, before: Callable[[tuple[int, ...]], bool]
) -> tuple[int, ...] | None:
    found, low, high = None, 0, count
    while low < high:
        middle = (low + high) // 2
        entry = form.unpack(os.pread(file, form.size, middle * form.size))
        # Room that holds no entry yet.
        is_there = any(entry) or middle == 0
        if is_there and before(entry):
            found, low = entry, middle + 1
        else:
            high = middle
    return found
