# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Reads the offset syncs of MirrorMaker 2, which show each place where a mirror did not copy the next offset. Pure.

MirrorMaker 2 writes down which offset of the source became which of the target: for the first record after each start,
for each record that does not follow its predecessor, and from time to time (OffsetSyncWriter). So between two of these
the offsets of the source that are more than those of the target stand right before the later one.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

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


def skipped(syncs: Sequence[Sync]) -> list[Range]:
    """The ranges of the source that were not copied, of one partition's syncs in the order of their log.

    A mirror that begins again goes back at one end or at both: between such two nothing can be told.
    """
    found = []
    for place, (next_here, next_there) in enumerate(syncs[1:]):
        here, there = syncs[place]
        missing = (next_here - here) - (next_there - there)
        if next_there > there and missing > 0:
            found.append((next_here - missing, next_here - 1))
    return found
