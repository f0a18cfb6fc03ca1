# SPDX-License-Identifier: GPL-3.0-or-later
"""Random histories of a source, of a mirror that reads it and of looks: what mirror_gaps says of them is true."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ansible_collections.streamops.kafka.plugins.module_utils._mirror import gaps
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.gap import TRUNCATED, Gap
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.gaps import Marks
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.status import Log, Seen, reached
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.trail import Range, Sync

KEY = ("orders", 0)
#: What happens, and how much of it.
Event = tuple[str, int]
#: What takes records away, after which a look follows where completeness is asked for.
DESTROYS = ("delete_records", "delete_all", "truncate", "delete_topic", "create_anew")


@dataclass
class Entry:
    """An offset of the log. C(number) is its own in the whole history; markers and aborted records are no data."""

    offset: int
    number: int
    is_data: bool
    key: int = 0
    is_copied: bool = False


@dataclass
class World:
    """A source of one partition, a MirrorMaker 2 that reads it committed, and what looks know."""

    is_compacted: bool
    entries: list[Entry] = field(default_factory=list)
    start: int = 0
    end: int = 0
    topic: int | None = 1
    topics: int = 1
    written: int = 0
    #: Where the mirror reads, what it has written down, and how often it did.
    reader: int = 0
    position: int | None = None
    flush: int = 0
    syncs: list[Sync] = field(default_factory=list)
    copies: int = 0
    follows: bool = False
    #: Whether it has more syncs to write than it can: one waits, which the next one replaces.
    is_busy: bool = False
    last_copy: Sync | None = None
    #: What was taken away, by the offset that it had: before it was mirrored, and after.
    lost: dict[int, int] = field(default_factory=dict)
    gone: dict[int, int] = field(default_factory=dict)
    #: Mirrored records that compaction replaced, which the source lacks once what replaced them is taken away.
    replaced: list[Entry] = field(default_factory=list)
    known: Marks = field(default_factory=Marks)
    #: Records that a look read and that were not mirrored then.
    witnesses: set[int] = field(default_factory=set)
    is_remade: bool = False

    def apply(self, event: Event) -> None:
        """Let one thing happen."""
        name, amount = event
        if self.topic is None and name not in ("create_anew", "look", "restart"):
            return
        getattr(self, name)(amount)

    def plain(self, amount: int) -> None:
        """Records outside of transactions."""
        for number in range(amount):
            self._write(is_data=True, key=number % 2)

    def committed(self, amount: int) -> None:
        """A transaction and its marker."""
        self.plain(amount)
        self._write(is_data=False)

    def aborted(self, amount: int) -> None:
        """A transaction that nobody is given, and its marker."""
        for _number in range(amount + 1):
            self._write(is_data=False)

    def _write(self, is_data: bool, key: int = 0) -> None:
        self.entries.append(Entry(self.end, self.written, is_data, key))
        self.end += 1
        self.written += 1

    def compact(self, _amount: int) -> None:
        """Only the last record of a key stays."""
        if not self.is_compacted:
            return
        last = {one.key: one.offset for one in self.entries if one.is_data}
        kept = [one for one in self.entries if not one.is_data or last[one.key] == one.offset]
        self.replaced += [one for one in self.entries if one.is_copied and one not in kept]
        self.entries = kept

    def delete_records(self, amount: int) -> None:
        """Expiry, or DeleteRecords: the beginning goes."""
        self.start = min(self.end, self.start + amount)
        self._take(lambda one: one.offset < self.start)

    def delete_all(self, _amount: int) -> None:
        """The whole log goes, and the topic stays."""
        self.delete_records(self.end - self.start)

    def truncate(self, amount: int) -> None:
        """An unclean election: the end goes."""
        self.end = max(self.start, self.end - amount)
        self._take(lambda one: one.offset >= self.end)

    def delete_topic(self, _amount: int) -> None:
        """The whole topic goes; at most once between two looks, as the page on gaps says."""
        if self.is_remade:
            return
        self.is_remade = True
        self._take(lambda _one: True)
        self.start = self.end = 0
        self.topic = None

    def create_anew(self, amount: int) -> None:
        """The topic is deleted, if it is still there, and created again with some records."""
        if self.topic is not None:
            self.delete_topic(0)
        if self.topic is None:
            self.topics += 1
            self.topic = self.topics
            self.plain(amount)

    def _take(self, takes: Callable[[Entry], bool]) -> None:
        for one in filter(takes, self.entries):
            if one.is_data:
                (self.gone if one.is_copied else self.lost)[one.number] = one.offset
        self.entries = [one for one in self.entries if not takes(one)]
        held = {one.key for one in self.entries if one.is_data}
        self.gone |= {one.number: one.offset for one in self.replaced if one.key not in held}

    def restart(self, _amount: int) -> None:
        """The mirror goes on from what it has written down."""
        self.reader, self.follows = self.position or 0, False

    def busy(self, _amount: int) -> None:
        """The mirror can write no syncs for a while: a restart before the next flush loses the one that waits."""
        self.is_busy = True

    def flush_syncs(self, _amount: int = 0) -> None:
        """The mirror writes where it is, in place of what waits (OffsetSyncWriter.promoteDelayedOffsetSyncs)."""
        self.is_busy, last = False, self.last_copy
        if last and last != (self.syncs or [None])[-1]:
            self.syncs.append(last)

    def read(self, amount: int) -> None:
        """The mirror copies some records, and writes down how far it is."""
        if not self.start <= self.reader <= self.end:
            self.reader, self.follows = self.start, False
        ahead = [one for one in self.entries if one.is_data and one.offset >= self.reader][:amount]
        for one in ahead:
            self.last_copy = (one.offset, self.copies)
            if not (self.follows and one.offset == self.reader) and not self.is_busy:
                self.syncs.append(self.last_copy)
            one.is_copied, self.follows = True, True
            self.reader, self.copies = one.offset + 1, self.copies + 1
        if ahead:
            self.position, self.flush = self.reader, self.flush + 1

    def look(self, _amount: int = 0) -> None:
        """What the module does, on what it can see; then what it says is compared with what happened.

        A position that a look sees was flushed, and with it the syncs.
        """
        self.flush_syncs()
        seen = self._seen()
        windows = gaps.unread(seen, self.known).items()
        seen = replace(seen, data={key: self._ranges(*window) for key, window in windows})
        syncs = dict.fromkeys([*gaps.in_doubt(seen, self.known), *gaps.vanished(seen, self.known)], self.syncs)
        policy = "compact,delete" if self.is_compacted else "delete"
        found = gaps.gaps(seen, self.known, syncs, lambda _topic: True, {KEY[0]: policy})
        self.known = gaps.marks(seen, self.known, found, "now")
        self.is_remade = False
        # What stands below the position of a mirror that goes on from there is not mirrored either.
        stuck = {
            one.number: one.offset
            for one in self.entries
            if one.is_data and not one.is_copied and one.offset < (self.position or 0) <= self.end
        }
        for gap in found:
            self.is_sound(gap, {**self.lost, **stuck})
        read = {offset for first, last in seen.data.get(KEY, ()) for offset in range(first, last + 1)}
        self.witnesses |= {
            one.number for one in self.entries if one.offset in read and not one.is_copied and one.number not in stuck
        }

    def _seen(self) -> Seen:
        positions = {} if self.position is None else {KEY: self.position}
        flushes = {} if self.position is None else {KEY: self.flush}
        if self.topic is None:
            return Seen({}, positions, flushes=flushes)
        seen = Seen({KEY: Log(self.start, self.end)}, positions, ids={KEY[0]: str(self.topic)}, flushes=flushes)
        if (self.position or 0) > self.end:
            return replace(seen, tops={KEY: self.end})
        at = reached(seen.logs[KEY], self.position)
        records = [one.offset + 1 for one in self.entries if one.is_data and one.offset >= at]
        return replace(seen, frontiers={KEY: max(records, default=at)} if at < self.end else {})

    def _ranges(self, first: int, end: int) -> list[Range]:
        return [(one.offset, one.offset) for one in self.entries if one.is_data and first <= one.offset < end]

    def is_sound(self, gap: Gap, lost: dict[int, int]) -> None:
        """Fail for a gap that is certain while no record, or fewer of them, is missing."""
        if not gap.certain or gap.first is None or gap.last is None:
            return
        taken = self.gone if gap.kind == TRUNCATED else lost
        # Of a compacted topic each version of a key counts that a look saw; the one that replaced them stands behind
        # and is lost with them.
        missing = sum(
            1 for offset in taken.values() if gap.first <= offset and (self.is_compacted or offset <= gap.last)
        )
        at_least = 1 if self.is_compacted or gap.kind == TRUNCATED else gap.records
        assert missing >= at_least, f"{gap.line}, and {missing} are"

    def is_complete(self) -> None:
        """Fail for a record that a look read, that is lost, and of which no gap tells."""
        told = [(one.first, one.last) for one in gaps.told(self.known) if one.first is not None]
        for number in self.witnesses & self.lost.keys():
            offset = self.lost[number]
            assert any(first <= offset <= (last or 0) for first, last in told if first is not None), offset


AMOUNT = st.integers(1, 8)


def some(*names: str, most: int = 1) -> st.SearchStrategy[list[Event]]:
    """Some of these things, or none."""
    return st.lists(st.tuples(st.sampled_from(names), AMOUNT), max_size=most)


#: What happens in a chapter: much is only told of losses where something was written, and some of it read, before.
CHAPTER = st.tuples(
    some("plain", "committed", "aborted", most=3),
    some("read"),
    some("look"),
    some("plain", "committed", "aborted", "compact", "restart", "read", "busy", most=2),
    some(*DESTROYS),
    some("plain", "read", "restart", "busy", "flush_syncs", most=2),
    some("look"),
).map(lambda parts: [event for part in parts for event in part])
HISTORIES = st.lists(CHAPTER, max_size=5).map(lambda chapters: [event for chapter in chapters for event in chapter])


#: A copied record is replaced by one that is not, and that one is cut off: the source has neither any more.
REPLACED_AND_CUT = [("plain", 1), ("read", 1), ("look", 1), ("plain", 1), ("compact", 1), ("truncate", 2)]


@given(HISTORIES, st.booleans())
@example(REPLACED_AND_CUT, True)
@settings(max_examples=300, deadline=None)
def test_nothing_is_certain_that_is_not_lost(history: list[Event], is_compacted: bool) -> None:
    world = World(is_compacted)
    for event in [*history, ("look", 0)]:
        world.apply(event)


#: Both logs of a name lose what they have at the same offset.
LOST_IN_TWO_LOGS = [
    *(("plain", 1), ("read", 1), ("plain", 2), ("delete_records", 1), ("delete_records", 2)),
    *(("plain", 1), ("read", 1), ("create_anew", 2), ("read", 1), ("delete_records", 2)),
]


@given(HISTORIES, st.booleans())
@example(LOST_IN_TWO_LOGS, False)
@settings(max_examples=300, deadline=None)
def test_each_loss_of_what_a_look_read_is_told(history: list[Event], is_compacted: bool) -> None:
    """A mirror that passes a gap before the next look may hide it, so a look follows each loss."""
    world = World(is_compacted)
    for event in history:
        world.apply(event)
        if event[0] in DESTROYS:
            world.apply(("look", 0))
            world.is_complete()


#: A mirror that copies all the time, and what expires between two looks.
RUNNING = st.lists(
    st.tuples(
        some("plain", most=2), some("read"), some("busy"), some("delete_records"), some("read", "flush_syncs", most=3)
    ).map(lambda parts: [event for part in parts for event in part]),
    max_size=6,
).map(lambda chapters: [event for chapter in chapters for event in chapter])


@given(RUNNING)
@example([("busy", 1), ("delete_records", 2), ("plain", 8), ("read", 8)])
@settings(max_examples=300, deadline=None)
def test_no_sync_that_is_replaced_hides_a_loss_in_a_topic_without_transactions(history: list[Event]) -> None:
    """The mirror has passed each loss before the look that comes after it."""
    world = World(is_compacted=False)
    for event in [("plain", 12), ("read", 2), ("look", 0), *history, ("plain", 1), ("read", 99)]:
        world.apply(event)
    # One look that finds all that was lost since the first one.
    world.apply(("look", 0))
    world.is_complete()


@pytest.mark.parametrize("is_compacted", [False, True])
@pytest.mark.parametrize("is_busy", [False, True])
def test_a_mirror_of_ordinary_transactions_that_keeps_up_is_never_in_doubt(is_busy: bool, is_compacted: bool) -> None:
    """What expires each day before the look was copied, and its markers have no copies."""
    world = World(is_compacted)
    hour: list[Event] = [("committed", 5), ("aborted", 2), ("plain", 3), ("read", 99), ("compact", 0)]
    for _day in range(10):
        morning: list[Event] = [("busy", 0), *hour, ("flush_syncs", 0)] if is_busy else hour
        for event in [*hour, *morning, *hour, ("delete_records", 40), ("look", 0)]:
            world.apply(event)
    assert world.start > 0
    assert gaps.told(world.known) == []


def test_a_history_in_which_records_are_lost_is_told_as_one() -> None:
    """The checks above see losses, and gaps that are certain."""
    world = World(is_compacted=False)
    for event in [("plain", 8), ("read", 4), ("look", 0), ("aborted", 5), ("delete_records", 14), ("look", 0)]:
        world.apply(event)
    (gap,) = gaps.told(world.known)
    assert (gap.first, gap.last, gap.certain, gap.records, len(world.lost)) == (4, 13, True, 4, 4)
    world.is_complete()
