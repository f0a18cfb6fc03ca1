# SPDX-License-Identifier: GPL-3.0-or-later
"""The offset syncs of MirrorMaker 2 and the holes that they show."""

from __future__ import annotations

import random
import struct

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.trail import (
    Hole,
    Place,
    Sync,
    holes_of,
    parts_of,
    place_of,
    sync_of,
    syncs_topic,
)

KEY = struct.pack(">h6si", 6, b"orders", 3)


def test_the_syncs_of_a_flow_are_never_taken_from_the_flow_back() -> None:
    """Cluster a holds those of a->b, or, with its source untouched, those of b->a, and each has another name."""
    assert syncs_topic(Flow("a", "b", ("t",))) == "mm2-offset-syncs.b.internal"
    # It is in the target.
    assert syncs_topic(Flow("a", "b", ("t",), untouched_source=True)) == "mm2-offset-syncs.a.internal"


def test_a_sync_is_read() -> None:
    assert sync_of(KEY, struct.pack(">qq", 150, 100)) == (("orders", 3), (150, 100))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (None, None),
        (KEY, None),
        (KEY, b"short"),
        (b"\x00\x09orders", struct.pack(">qq", 1, 1)),
        (struct.pack(">h2si", 2, b"\xff\xfe", 0), struct.pack(">qq", 1, 1)),
    ],
)
def test_what_is_no_sync_is_passed_over(key: bytes | None, value: bytes | None) -> None:
    assert sync_of(key, value) is None


@pytest.mark.parametrize(
    ("syncs", "holes"),
    [
        ([], []),
        ([(0, 0)], []),
        ([(40, 0)], []),  # A mirror begins where the log begins.
        ([(0, 0), (100, 100)], []),
        ([(0, 0), (150, 100)], [Hole(1, 149, 50)]),
        ([(0, 0), (150, 100), (151, 101), (303, 201)], [Hole(1, 149, 50), Hole(152, 302, 52)]),
        ([(0, 0), (51, 1)], [Hole(1, 50, 50)]),
        ([(0, 0), (90, 90), (80, 100), (120, 140)], []),  # Begun again, with repeats.
        ([(0, 0), (90, 90), (100, 0)], []),  # The topic of the target was made anew.
        ([(0, 0), (99, 99), (0, 100)], []),  # The topic of the source was.
    ],
)
def test_holes(syncs: list[Sync], holes: list[Hole]) -> None:
    assert holes_of(syncs) == holes


def test_a_hole_is_likely_right_before_the_later_sync() -> None:
    (hole,) = holes_of([(0, 0), (150, 100)])
    assert hole.is_likely_in((100, 149))
    assert not hole.is_likely_in((101, 149))
    assert not hole.is_likely_in((100, 148))


def test_the_part_of_a_hole_in_a_range_is_told_with_what_may_be_copied_of_it() -> None:
    low, high = holes = holes_of([(0, 0), (50, 40), (150, 130)])
    assert (low, high) == (Hole(1, 49, 10), Hole(51, 149, 10))
    # Right before its sync; or somewhere between the two.
    assert parts_of([low], (30, 49), [low]) == [(Hole(30, 49, 10), 10)]
    assert parts_of([low], (30, 45), [low]) == [(Hole(30, 45, 10), 39)]
    # A topic that has holes elsewhere has them by compaction or transactions, but for those of known gaps.
    assert parts_of(holes, (30, 49), holes) == []
    assert parts_of(holes, (30, 49), [low]) == [(Hole(30, 49, 10), 10)]


@pytest.mark.parametrize(
    ("syncs", "offset", "place"),
    [
        # Nothing is known but the log of the copy, from 5 to 1000.
        ([], 50, Place(5, 1000)),
        # Before all that is known, and at a sync.
        ([(100, 80)], 50, Place(5, 80)),
        ([(100, 80)], 100, Place(80, 80)),
        # Behind the last sync the next offsets may have no copy, or be not copied yet.
        ([(100, 80)], 110, Place(81, 90)),
        ([(100, 80)], 5000, Place(81, 1000)),
        # Between two syncs, without and with a hole.
        ([(100, 80), (200, 180)], 150, Place(81, 130)),
        ([(100, 80), (200, 100)], 150, Place(81, 100)),
        ([(100, 80), (200, 160)], 101, Place(81, 81)),
        # Offsets of the copy without a record.
        ([(100, 80), (200, 190)], 150, Place(81, 190)),
        # The mirror began again and copied 150 to 199 twice: the last copy counts.
        ([(100, 80), (199, 179), (150, 180), (250, 280)], 160, Place(181, 190)),
        ([(100, 80), (199, 179), (150, 180), (250, 280)], 120, Place(81, 180)),
        # Above its last sync, before it began again.
        ([(100, 80), (160, 170)], 140, Place(81, 170)),
        ([(100, 80), (90, 85)], 95, Place(86, 90)),
        # The copy was made anew: what was known of the old one is of no use.
        ([(100, 800), (200, 900), (300, 10)], 150, Place(5, 10)),
        ([(100, 800), (200, 900), (300, 10)], 310, Place(11, 20)),
        # A connection broke, and a sync was read twice.
        ([(100, 80), (100, 80), (200, 180)], 150, Place(81, 130)),
        # Retention of the copy took more than the source's.
        ([(1, 1), (99, 99)], 2, Place(5, 5)),
    ],
)
def test_where_the_first_unread_record_is(syncs: list[Sync], offset: int, place: Place) -> None:
    assert place_of(syncs, offset, 5, 1000, has_markers=False) == place


def test_with_markers_in_the_copy_only_syncs_are_bounds() -> None:
    syncs = [(100, 80), (200, 180)]
    assert place_of(syncs, 150, 0, 1000, has_markers=True) == Place(81, 180)
    assert place_of(syncs, 210, 0, 1000, has_markers=True) == Place(181, 1000)
    assert place_of(syncs, 200, 0, 1000, has_markers=True) == Place(180, 180)


def mirrored(chance: random.Random, kept: float) -> tuple[list[Sync], dict[int, int], int]:
    """Mirror a log with holes, with starts in between: its syncs, the last copy of each record, the end of the copy.

    As OffsetSyncWriter does: a sync for the first record of a start, for one behind a hole and for each tenth, of which
    only a part is kept, since it leaves some out while many are under way.
    """
    records = [offset for offset in range(200) if chance.random() < 0.8]
    syncs: list[Sync] = []
    copies: dict[int, int] = {}
    begin = end = 0
    starts = chance.randint(1, 3)
    for start in range(starts):
        until = chance.randint(begin, len(records)) if start + 1 < starts else len(records)
        for number in range(begin, until):
            is_first = number == begin
            is_due = records[number] - records[number - 1] != 1 or end - syncs[-1][1] > 10 if not is_first else True
            if is_first or (is_due and chance.random() < kept):
                syncs.append((records[number], end))
            copies[records[number]] = end
            end += 1
        begin = chance.randint(max(0, until - 30), until)
    return syncs, copies, end


@pytest.mark.parametrize("kept", [1, 0.7])
@pytest.mark.parametrize("seed", range(200))
def test_no_history_of_a_mirror_leads_past_a_record_that_was_not_read(seed: int, kept: float) -> None:
    syncs, copies, end = mirrored(random.Random(seed), kept)
    for offset in range(200):
        # Of a record that was copied again the earlier copies are no loss, as long as the last one is read.
        first = min((copy for source, copy in copies.items() if source >= offset), default=end)
        place = place_of(syncs, offset, 0, end, has_markers=False)
        assert place.low <= first, (offset, syncs)
        # Where a sync is missing, a mirror that went back may pass for one that went on behind a hole.
        assert first <= place.high or kept < 1, (offset, syncs)
