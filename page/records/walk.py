"""Walk through the log of a partition, forward from an offset or back from its end. Pure.

Back means windows: from some offsets before the end, and when compaction, markers of transactions or aborted records
leave too few there, from more offsets before that.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ansible_collections.streamops.kafka.plugins.module_utils._logs.model import Log
from page.records import bounds
from page.records.asked import NEWEST, Asked
from page.records.batches import Part, Record, Wanted

#: By how much a window is larger than the one after it, and which part of the records wanted the last one has: a few
#: records may be all that fits, and then it shall be the newest ones.
_WIDER, _FIRST = 8, 10
#: Answers without anything, one after the other, that are taken as the end.
_PATIENCE = 3


@dataclass
class Walk:
    """Where a read is in a partition: it goes on at offset C(at), and ends before C(end).

    C(start) is the first offset of the log; C(is_back) goes from window to window towards it, of which the one under
    way began at C(window).
    """

    partition: int
    start: int
    at: int
    end: int
    most: int
    is_back: bool = False
    is_done: bool = False
    window: int = 0
    records: list[Record] = field(default_factory=list)
    _windowed: list[Record] = field(default_factory=list)
    _width: int = 0
    _idle: int = 0

    def wanted(self, limit: int, room: int) -> Wanted:
        """Return what is wanted next; C(room) is how many bytes batches may have when they are decompressed."""
        return Wanted(self.partition, self.at, limit, self.most, room, self.is_back)

    def take(self, part: Part, limit: int) -> None:
        """Take what was sent from C(at) on; nothing that is behind C(limit) may be shown yet."""
        self.end = min(self.end, limit)
        if part.next is None or not _moves(self, part):
            self._idle += 1
            if self.at < self.end and self._idle < _PATIENCE:
                return
            self.at = self.end
        else:
            self._idle = 0
            self.at = part.next
        if self.is_back:
            # Of a window the last ones count.
            self._windowed = [*self._windowed, *part.records][-self.most :]
        else:
            self.records = [*self.records, *part.records][: self.most]
            self.is_done = len(self.records) >= self.most
        if self.at >= self.end and self.is_back:
            self._end_window()
        elif self.at >= self.end:
            self.is_done = True

    def give_up(self) -> None:
        """End with what was found: of a window that was not read to its end nothing, as newer ones are missing."""
        self.records = self.records or self._windowed
        self.is_done = True

    def _end_window(self) -> None:
        self.records = [*self._windowed, *self.records][-self.most :]
        is_dense = 2 * len(self._windowed) >= self.end - self.window
        self._windowed = []
        if len(self.records) >= self.most or self.window <= self.start:
            self.is_done = True
            return
        # All of the log from here on was seen.
        self.end = min(self.end, self.window)
        wider = self._width * _WIDER
        # Where offsets have records, what is missing is as many offsets before.
        wider = min(wider, self.most - len(self.records)) if is_dense else wider
        self._width = max(wider, min(self.most, bounds.RECORDS))
        self.at = self.window = max(self.start, self.end - self._width)


def take_all(answer: Sequence[tuple[Walk, Part, int]]) -> None:
    """Take what one answer has for several partitions, each with its limit.

    The bound on an answer is for all partitions in it, so where others were sent something, one without anything only
    had no room, however often: it comes first in another request.
    """
    others = any(_moves(walk, part) for walk, part, _limit in answer)
    for walk, part, limit in answer:
        if _moves(walk, part) or not others or walk.at >= min(walk.end, limit):
            walk.take(part, limit)


def _moves(walk: Walk, part: Part) -> bool:
    return part.next is not None and part.next > walk.at


def walk_of(partition: int, log: Log, at: int | None, is_back: bool, most: int) -> Walk:
    """Return the walk of a partition from offset C(at) on (None: its start), or back from its end."""
    start = log.start if at is None else max(log.start, at)
    if is_back:
        # Also of a search, which wants many: of a window that has no room its oldest records would be read.
        start = max(log.start, log.end - max(1, min(most, bounds.RECORDS) // _FIRST))
    return Walk(partition, log.start, start, log.end, most, is_back, start >= log.end, start)


def share(partitions: int, most: int = bounds.RECORDS) -> int:
    """Return how many records each partition may have of the C(most) that are read for one answer."""
    return -(-most // max(1, partitions))


def order(records: Iterable[Record], asked: Asked) -> list[Record]:
    """Return records as they are shown: by offset within a partition, by time among several, the newest first."""
    found = [*records]
    by_time = len({one.partition for one in found}) > 1
    found.sort(
        key=lambda one: ((one.timestamp or 0) if by_time else 0, one.partition, one.offset),
        reverse=asked.start == NEWEST,
    )
    return found[: asked.most]
