# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Reads the offset syncs of MirrorMaker 2, which show each place where a mirror did not copy the next offset. Pure.

MirrorMaker 2 writes down which offset of the source became which of the target: for the first record after each start,
for each record that does not follow its predecessor, and from time to time (OffsetSyncWriter). So between two of these
the offsets of the source that are more than those of the target stand right before the later one, as a rule. It keeps
at most ten syncs under way and one more for each partition, which a later one replaces while it waits: then they stand
further below. So only between two syncs is it certain that offsets were left out.
"""

from __future__ import annotations

import bisect
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace

from .._cluster.snapshot import Key
from .flows import Flow

#: An offset of the source, and that of its copy.
Sync = tuple[int, int]
#: The first and the last offset of a range.
Range = tuple[int, int]


def syncs_topic(flow: Flow) -> str:
    """The topic of a flow's offset syncs, in its source; of one with an untouched source in its target.

    Either cluster may hold a topic of the other name too: that is the one of the flow back.
    """
    return f"mm2-offset-syncs.{flow.source if flow.untouched_source else flow.target}.internal"


def sync_of(key: bytes | None, value: bytes | None) -> tuple[Key, Sync] | None:
    """The partition of the source and the two offsets of one record; None for a record that is none.

    As org.apache.kafka.connect.mirror.OffsetSync writes it: the topic with its length in two bytes and the partition in
    four; two offsets in eight bytes each.
    """
    try:
        (size,) = struct.unpack_from(">h", key or b"")
        name, partition = struct.unpack(f">{max(0, size)}si", (key or b"")[2:])
        here, there = struct.unpack(">qq", value or b"")
        return (name.decode(), int(partition)), (int(here), int(there))
    except (struct.error, UnicodeDecodeError):
        return None


def read_before(syncs: Sequence[Sync]) -> int:
    """Return the offset below which a mirror had read a partition before it went back in it; 0 where it never did.

    The syncs are those of one partition in the order of their log: between two of them as many records of the source
    were copied as the target has more.
    """
    reached = 0
    for before, (here, there) in enumerate(syncs[1:]):
        end = syncs[before][0] + there - syncs[before][1]
        if there > syncs[before][1] and here < end:
            reached = max(reached, end)
    return reached


@dataclass(frozen=True)
class Hole:
    """Offsets of the source that were not copied: C(missing) of those from C(first) to C(last), both included."""

    first: int
    last: int
    missing: int

    @property
    def span(self) -> int:
        """Return how many offsets there are from the first to the last."""
        return self.last - self.first + 1

    def is_likely_in(self, lost: Range) -> bool:
        """Tell whether all of it is in a range if no sync between the two was left out: right before the later one."""
        return lost[0] <= self.last - self.missing + 1 and self.last <= lost[1]


def holes_of(syncs: Sequence[Sync]) -> list[Hole]:
    """Return what was not copied, of one partition's syncs in the order of their log.

    A mirror that begins again goes back at one end or at both: between such two nothing can be told.
    """
    holes = []
    for number, (next_here, next_there) in enumerate(syncs[1:]):
        here, there = syncs[number]
        missing = (next_here - here) - (next_there - there)
        if next_there > there and missing > 0:
            holes.append(Hole(here + 1, next_here - 1, missing))
    return holes


def parts_of(holes: Sequence[Hole], lost: Range, unknown: Sequence[Hole]) -> list[tuple[Hole, int]]:
    """Return what of each hole may be in a range, each with how many of these offsets may have been copied.

    unknown -- the holes of which no gap is known. If any of them is elsewhere for certain, the answer is empty.
    """
    inside = {hole: replace(hole, first=max(hole.first, lost[0]), last=min(hole.last, lost[1])) for hole in holes}
    if not all(inside[hole].span > 0 for hole in unknown):
        return []
    are_likely = all(hole.is_likely_in(lost) for hole in unknown)
    # Else any copy that was made between both syncs may be one of an offset in the range.
    return [
        (part, (part.span if are_likely and hole.is_likely_in(lost) else hole.span) - hole.missing)
        for hole, part in inside.items()
        if part.span > 0
    ]


@dataclass(frozen=True)
class Place:
    """The offsets of the target between which the copy of a record is, both included; equal where it is known."""

    low: int
    high: int


def place_of(syncs: Sequence[Sync], offset: int, start: int, end: int, has_markers: bool) -> Place:
    """Return where the target has the first record that the source has at this offset or above it.

    Offsets are not copied one to one: what transactions and compaction emptied in the source has no copy. Between two
    syncs a hole may stand anywhere, since MirrorMaker 2 leaves syncs out while it has many to write (OffsetSyncWriter).
    From C(low) on no such record is missed. Where a mirror copied records again, the last copy counts.

    syncs -- of one partition, in the order of their log. start, end -- the log of the copy; the record is at its end
        where it was not copied yet. has_markers -- whether the copy has offsets of its own without records, as a
        mirror with exactly_once writes them.
    """
    runs = _runs(syncs)
    low, high = start, runs[0][0][1] if runs else end
    for number, run in enumerate(runs):
        if run[0][0] <= offset:
            later = [other[0] for other in runs[number + 1 :]]
            low, high = _within_run(run, offset, later[0][1] if later else end, has_markers)
            again = min((here for here, _there in later), default=offset)
            if later and not any(offset <= here < again for here, _there in run):
                # The next record may be the first that was copied again.
                high = max(there for here, there in later if here == again)
    low = min(max(low, start), end)
    return Place(low, min(max(high, low), end))


def _runs(syncs: Sequence[Sync]) -> list[list[Sync]]:
    """Part the syncs where the mirror went back in the source, without those of a log of the target that is gone."""
    runs: list[list[Sync]] = []
    for sync in syncs:
        if runs and sync == runs[-1][-1]:
            continue  # Read twice.
        if runs and sync[1] <= runs[-1][-1][1]:
            runs = []
        if not runs or sync[0] <= runs[-1][-1][0]:
            runs.append([])
        runs[-1].append(sync)
    return runs


def _within_run(run: Sequence[Sync], offset: int, after: int, has_markers: bool) -> tuple[int, int]:
    """Return both bounds within a run that has begun at or below the offset; C(after) is where its last copy ends."""
    number = bisect.bisect_left(run, (offset + 1, -1)) - 1
    here, there = run[number]
    if here == offset:
        return there, there
    next_here, next_there = run[number + 1] if number + 1 < len(run) else (offset, after)
    # As low as MirrorMaker 2 itself translates (OffsetSyncStore): only at a sync it is certain what was copied before.
    is_one_to_one = not has_markers and (number + 1 == len(run) or next_there - there <= next_here - here)
    return there + 1, min(there + offset - here, next_there) if is_one_to_one else next_there
