# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Copy the batches that are asked for out of a log, for the tool to read: its files are only read, and never whole.

The tool reads a file from its first byte to its last, and a segment has up to a gigabyte. Of what a broker writes to
or deletes meanwhile, a copy of whole batches is all that can be read in peace.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from . import segments_look as segments
from .asked import Asked
from .segments_look import Batch

#: Bytes that are copied at once.
_CHUNK = 2**20
#: Behind every offset.
_END = 2**63 - 1


@dataclass
class Room:
    """What may still be copied, of all partitions together; C(reached) says which bound ended it.

    C(deadline) -- the moment (of the monotonic clock) at which the reading of logs ends too.
    """

    bytes: int
    records: int
    reached: str = ""
    deadline: float = math.inf

    def within_time(self, found: Iterator[Batch]) -> Iterator[Batch]:
        """Pass on batches until the time is over: the heads of a large log alone may take longer."""
        for batch in found:
            if time.monotonic() >= self.deadline:
                self.reached = "seconds"
                return
            yield batch

    def takes(self, batch: Batch) -> bool:
        """Return whether a batch has room; it is counted then."""
        if self.records <= 0:
            self.reached = "records"
        elif batch.size > self.bytes:
            self.reached = "bytes"
        if self.reached:
            return False
        self.bytes -= batch.size
        return True


@dataclass
class Copied:
    """What was copied of a partition: into which file, and from which segments.

    C(start) is where the log begins, C(first) the least offset that is asked for.
    """

    path: str
    start: int
    first: int = 0
    segments: list[str] = field(default_factory=list)
    bytes: int = 0


def copy_log(asked: Asked, directory: str, target: str, room: Room) -> Copied:
    """Copy the batches of the log in a directory that may hold what is asked for, as far as there is room.

    room -- what all partitions together may take. Raises OSError.
    """
    found = segments.bases(os.listdir(directory))
    first = _first(asked, directory, found, room)
    copied = Copied(target, found[0] if found else 0, first)
    with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        for base in segments.holding(found, first, asked.offset_to):
            stem = os.path.join(directory, segments.SEGMENT.format(base))
            if base != found[-1] and _is_older(stem, asked.time_from):
                continue
            if room.reached or not _copy_segment(asked, stem, first, out.fileno(), copied, room):
                break
    return copied


def copy_file(path: str, target: str) -> int:
    """Copy the whole batches of a snapshot; the bytes that they take. Raises OSError."""
    room, copied = Room(_END, _END), Copied(target, 0)
    every = Asked("", "", 0)
    with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        _copy_batches(every, path, 0, 0, out.fileno(), copied, room)
    return copied.bytes


def _first(asked: Asked, directory: str, found: list[int], room: Room) -> int:
    if asked.offset_from is None or asked.offset_from >= 0:
        return asked.offset_from or 0
    return max(0, end_of(directory, found, room) + asked.offset_from)


def end_of(directory: str, found: list[int], room: Room) -> int:
    """Return the offset behind the last whole batch of a log, of those that there is time to read."""
    for base in reversed(found):
        stem = os.path.join(directory, segments.SEGMENT.format(base))
        last = None
        with open(f"{stem}.log", "rb", buffering=0) as file:
            for batch in room.within_time(segments.batches(file.fileno(), segments.start(stem, _END, None))):
                last = batch.last
        if last is not None:
            return last + 1
    return found[0] if found else 0


def _is_older(stem: str, time_from: int | None) -> bool:
    newest = None if time_from is None else segments.newest(stem)
    return newest is not None and time_from is not None and newest < time_from


def _copy_segment(asked: Asked, stem: str, first: int, out: int, copied: Copied, room: Room) -> bool:
    """Copy what is asked for of one segment; whether a later one may hold more."""
    position = segments.start(stem, first, asked.time_from)
    try:
        return _copy_batches(asked, f"{stem}.log", position, first, out, copied, room)
    except FileNotFoundError:
        # A broker has deleted it since its name was read: the log begins later now.
        return True


def _copy_batches(asked: Asked, path: str, position: int, first: int, out: int, copied: Copied, room: Room) -> bool:
    with open(path, "rb", buffering=0) as file:
        before = copied.bytes
        goes_on = True
        for batch in _within(asked, room.within_time(segments.batches(file.fileno(), position)), first):
            if _is_behind(asked, batch) or not room.takes(batch):
                goes_on = False
                break
            _copy(file.fileno(), batch.position, batch.size, out)
            copied.bytes += batch.size
            if not asked.key:
                room.records -= _whole_within(asked, batch, first)
        if copied.bytes > before:
            copied.segments.append(path)
    return goes_on


def _within(asked: Asked, found: Iterator[Batch], first: int) -> Iterator[Batch]:
    """Leave out the batches that end before the range, and those whose first record is younger than it.

    Records are by time about in order, so what is younger may stand before what is not; it is passed by, not the end.
    """
    for batch in found:
        if batch.last < first or _is_before(asked, batch) or _is_younger(asked, batch):
            continue
        yield batch


def _is_before(asked: Asked, batch: Batch) -> bool:
    return asked.time_from is not None and batch.last_time is not None and batch.last_time < asked.time_from


def _is_younger(asked: Asked, batch: Batch) -> bool:
    return asked.time_to is not None and batch.first_time is not None and batch.first_time > asked.time_to


def _is_behind(asked: Asked, batch: Batch) -> bool:
    return asked.offset_to is not None and batch.base > asked.offset_to


def _whole_within(asked: Asked, batch: Batch, first: int) -> int:
    """Return how many records of a batch are surely shown: all of one that lies in the range, none of another."""
    is_whole = batch.base >= first and (asked.offset_to is None or batch.last <= asked.offset_to)
    return batch.count if is_whole and asked.time_from is None and asked.time_to is None else 0


def _copy(source: int, position: int, size: int, out: int) -> None:
    while size > 0:
        sent = os.sendfile(out, source, position, min(size, _CHUNK))
        if sent <= 0:
            return
        position, size = position + sent, size - sent
