# SPDX-License-Identifier: GPL-3.0-or-later
"""From two looks to the records that a mirror can no longer copy."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._configs.values import ConfigValue
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RequestFailedError, StreamopsError
from ansible_collections.streamops.kafka.plugins.module_utils._mirror import gaps, gaps_look
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.gap import (
    COMPACTED,
    CUT,
    DELETED,
    DOUBTS,
    NO_POLICY,
    PURGED,
    RECREATED,
    TRUNCATED,
    UNPLACED,
    UNSEEN,
    Gap,
    certain,
    in_words,
    merged,
)
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.gaps import Marks
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.status import Log, NothingToMirrorError, Seen
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.trail import Range, Sync

if TYPE_CHECKING:
    from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session

ONE = ("orders", 0)
PLAIN = {"orders": "delete"}
#: A range as a test names it: kind, first and last offset, number of records, whether it is certain.
Named = tuple[str, int | None, int | None, int, bool]


def look(start: int, end: int, position: int | None, frontier: int | None = None, **more: Any) -> Seen:
    """A look at one partition. C(frontier): the offset after its last committed record.

    A mirror that stands at the same offset as at another look has not moved, unless C(flush) tells something else.
    """
    positions = {} if position is None else {ONE: position}
    frontiers = {} if frontier is None else {ONE: frontier}
    ids = {"orders": more.pop("id", "id-1")}
    flush = more.pop("flush", position)
    flushes = {} if flush is None else {ONE: flush}
    return Seen({ONE: Log(start, end)}, positions, frontiers, ids=ids, flushes=flushes, **more)


def reading(seen: Seen, before: Marks) -> Seen:
    """The look with what it reads in a log where each offset up to the frontier is a record."""
    windows = gaps.unread(seen, before).items()
    data = {key: [(first, min(end, seen.frontiers.get(key, end)) - 1)] for key, (first, end) in windows}
    return replace(seen, data=data)


def after(*looks: Seen) -> Marks:
    """What these looks leave, the first of which is the first one ever."""
    left = Marks()
    for number, bare in enumerate(looks):
        one = reading(bare, left)
        left = gaps.marks(one, left, gaps.gaps(one, left, {}, policies=PLAIN), f"look {number}")
    # Marks are kept as JSON.
    return Marks.of_data(json.loads(json.dumps(left.as_data())))


def named(
    seen: Seen, before: Marks, syncs: Sequence[Sync] = (), policies: Mapping[str, str] | None = None
) -> list[Named]:
    """The gaps that a look finds in a topic that is not compacted, or in one of these policies."""
    known = PLAIN if policies is None else policies
    found = gaps.gaps(reading(seen, before), before, {ONE: syncs} if syncs else {}, policies=known)
    return [(one.kind, one.first, one.last, one.records, one.certain) for one in found]


def test_what_was_deleted_before_it_was_mirrored_is_named() -> None:
    before = after(look(0, 100, 60))
    assert named(look(80, 100, 60), before) == [(PURGED, 60, 79, 20, True)]
    # All that the mirror had not read is gone.
    assert named(look(100, 100, 60), before) == [(PURGED, 60, 99, 40, True)]


@pytest.mark.parametrize(
    "now",
    [
        look(0, 200, 60),  # only behind
        look(60, 200, 60),  # deleted what was mirrored
        look(100, 100, 100),  # deleted all, everything mirrored
        look(40, 200, 200),
        look(80, 200, 150),  # passed what was deleted, and nothing shows that it skipped it
    ],
)
def test_a_mirror_that_read_in_time_has_no_gap(now: Seen) -> None:
    assert named(now, after(look(0, 100, 60))) == []


def test_a_partition_that_was_never_mirrored_has_no_gap() -> None:
    assert named(look(50, 100, None), after(look(0, 100, None))) == []
    assert named(look(50, 100, None), Marks()) == []
    assert named(look(50, 100, 80), after(look(0, 100, None))) == []


def test_an_empty_topic_has_no_gap() -> None:
    assert named(look(0, 0, None), after(look(0, 0, None))) == []
    assert named(look(100, 100, 100), after(look(100, 100, 100))) == []


def test_markers_at_the_end_that_retention_took_are_no_gap() -> None:
    """The last records of an idle topic were mirrored, and a marker stood above them."""
    before = after(look(0, 100, 95, frontier=95))
    assert named(look(100, 100, 95), before) == []
    # What was written above them later may be one, and is one where a look saw records.
    assert named(look(130, 130, 95), before) == [(PURGED, 100, 129, 30, False)]
    before = gaps.marks(reading(look(0, 130, 95), before), before, [], "later")
    assert named(look(130, 130, 95), before) == [(PURGED, 95, 129, 35, True)]


def test_without_an_earlier_look_it_is_only_possible() -> None:
    seen = look(100, 100, 95)
    assert named(seen, Marks()) == [(PURGED, 95, 99, 5, False)]
    assert "may be missing" in gaps.gaps(seen, Marks(), {})[0].line
    # And stays so.
    assert named(seen, after(seen)) == [(PURGED, 95, 99, 5, False)]


def test_a_mirror_that_has_passed_a_gap_is_judged_by_its_syncs() -> None:
    before = after(look(0, 100, 60))
    now = look(80, 300, 200)
    assert named(now, before, [(0, 0), (59, 59), (80, 60), (199, 179)]) == [(PURGED, 60, 79, 20, True)]
    # It had read up to 70 when the rest was deleted.
    assert named(now, before, [(0, 0), (69, 69), (80, 70), (199, 189)]) == [(PURGED, 70, 79, 10, True)]
    # Without the sync of 69 nothing tells which ten it is.
    assert named(now, before, [(0, 0), (80, 70), (199, 189)]) == [(PURGED, 60, 79, 10, True)]
    assert gaps.gaps(now, before, {ONE: [(0, 0), (80, 70), (199, 189)]}, policies=PLAIN)[0].line == (
        "orders-0: 10 of the offsets 60 to 79 (10 records) are missing: the source deleted them before they were "
        "mirrored"
    )
    assert named(now, before, [(0, 0), (59, 59), (199, 199)]) == []


def test_a_gap_whose_sync_a_later_one_replaced_is_possible_and_not_silent() -> None:
    """Records 40 to 59 were deleted; of the 40 that were copied next the last has the only sync."""
    before = after(look(0, 100, 40))
    syncs = [(0, 0), (39, 39), (100, 80)]
    assert named(look(60, 300, 200), before, syncs) == [(PURGED, 40, 59, 20, False)]
    (gap,) = gaps.gaps(look(60, 300, 200), before, {ONE: syncs}, policies=PLAIN)
    assert gap.doubt == UNPLACED
    assert gap.line.startswith(
        "orders-0: offsets 40 to 59 (at most 20 records) may be missing: the source deleted them, and offset syncs do "
        "not tell whether the mirror left out these offsets or others near them"
    )
    # Where more is lost than was left out, the range says where it can be.
    syncs = [(0, 0), (39, 39), (100, 95)]
    (gap,) = gaps.gaps(look(60, 300, 200), before, {ONE: syncs}, policies=PLAIN)
    assert (gap.first, gap.last, gap.records, gap.doubt) == (40, 59, 5, UNPLACED)
    assert gap.line.startswith("orders-0: 5 of the offsets 40 to 59 (at most 5 records) may be missing: ")


def test_a_known_gap_makes_none_certain_that_may_stand_elsewhere() -> None:
    """The hole of a gap that was told before reaches beyond what is lost now."""
    before = replace(after(look(0, 100, 40)), gaps=[Gap(PURGED, "orders", 0, 30, 45, certain=False, doubt=UNSEEN)])
    syncs = [(0, 0), (39, 39), (100, 80)]
    assert named(look(60, 300, 200), before, syncs) == [(PURGED, 40, 59, 20, False)]


def test_what_was_certain_stays_so_with_no_more_records_than_were_left_out() -> None:
    known = [Gap(PURGED, "orders", 0, 40, 59, counted=20)]
    now = Gap(PURGED, "orders", 0, 40, 79, certain=False, doubt=UNPLACED, missing=5)
    (gap,) = merged(known, [now], "later")
    assert (gap.certain, gap.records, gap.doubt) == (True, 5, "")
    assert gap.line.startswith("orders-0: 5 of the offsets 40 to 79 (5 records) are missing")


def test_a_gap_between_two_syncs_is_kept_with_how_many_are_missing() -> None:
    gap = Gap(PURGED, "orders", 0, 40, 59, certain=False, doubt=UNPLACED, missing=5)
    assert Marks.of_data(json.loads(json.dumps(Marks(gaps=[gap]).as_data()))).gaps == [gap]


def test_its_position_may_be_older_than_its_syncs() -> None:
    before = after(look(0, 100, 60))
    assert named(look(80, 300, 60), before, [(0, 0), (100, 100)]) == []
    assert named(look(80, 300, 60), before, [(0, 0), (69, 69), (80, 70)]) == [(PURGED, 70, 79, 10, True)]
    assert named(look(80, 300, 60), before, [(0, 0), (50, 50)]) == [(PURGED, 60, 79, 20, True)]


def test_holes_are_judged_only_where_syncs_tell_of_what_came_before() -> None:
    """Without a sync from below the doubt, nothing tells whether the topic has holes by compaction there."""
    before = after(look(0, 100, 60))
    assert named(look(80, 300, 200), before, [(65, 65), (80, 70), (199, 189)]) == []
    assert named(look(80, 300, 200), before, [(60, 60), (80, 70), (199, 189)]) == [(PURGED, 61, 79, 10, True)]


def test_holes_by_compaction_or_transactions_are_no_gaps() -> None:
    """They stand in what was never deleted too, so nothing is told of what was."""
    before = after(look(0, 100, 60))
    now = look(80, 300, 200)
    assert named(now, before, [(0, 0), (70, 69), (150, 149), (199, 190)]) == []
    assert named(look(0, 300, 200), before, [(0, 0), (70, 60), (199, 180)]) == []
    # Each of these may stand in what was deleted, and none has to.
    assert named(now, before, [(0, 0), (70, 69), (199, 190)]) == [
        (PURGED, 60, 69, 1, False),
        (PURGED, 71, 79, 8, False),
    ]


def test_a_second_gap_is_seen_beside_a_known_one() -> None:
    before = after(look(0, 100, 60), look(80, 100, 60))
    before = gaps.marks(reading(look(80, 300, 200), before), before, [], "later")
    syncs = [(0, 0), (80, 60), (300, 230)]
    assert named(look(300, 400, 350), before, syncs) == [(PURGED, 200, 299, 50, True)]


def test_a_log_that_ends_below_the_position_was_cut() -> None:
    before = after(look(0, 100, 100))
    assert named(look(0, 90, 100, tops={ONE: 90}), before) == [(TRUNCATED, 90, 99, 10, True)]
    # Mirrored since the end was seen.
    assert named(look(0, 90, 100, tops={ONE: 100}), before) == []


def test_a_position_beyond_the_end_tells_nothing_at_the_first_look() -> None:
    """The topic may have been made anew long ago, and nothing of it is missing."""
    seen = look(0, 10, 1000, tops={ONE: 10})
    assert named(seen, Marks()) == []
    assert named(seen, after(seen)) == []
    # Of a partition that an earlier look found without a position neither.
    assert named(seen, after(look(0, 10, None))) == []


def test_a_topic_that_was_made_anew_is_named_with_what_was_not_mirrored() -> None:
    before = after(look(0, 100, 60))
    anew = look(0, 10, 60, tops={ONE: 10}, id="id-2")
    assert named(anew, before) == [(RECREATED, 60, 99, 40, True)]
    # The mirror goes on from its position in the new log, and never reads what stands below.
    longer = look(0, 500, 60, id="id-2")
    assert named(longer, before) == [(RECREATED, 60, 99, 40, True), (RECREATED, 0, 59, 60, True)]


def test_what_ran_on_before_its_topic_was_made_anew_is_only_possible() -> None:
    """The position of the last look is as old as its flush: more was mirrored, and nothing tells how much."""
    before = after(look(0, 100, 60))
    anew = look(0, 10, 10, id="id-2")
    assert named(anew, before) == [(RECREATED, 60, 99, 40, False)]
    assert gaps.gaps(anew, before, {})[0].line == (
        "orders-0: offsets 60 to 99 (at most 40 records) may be missing: the topic was deleted and created again, and "
        "the mirror has gone on since the look before and may have copied them. The source no longer has them, so no "
        "audit can tell: compare the mirrored topic with what wrote them, load what is missing, then forget the gap "
        "(mirror_gaps.yml)"
    )
    assert named(look(0, 10, None, id="id-2"), before) == [(RECREATED, 60, 99, 40, False)]
    # A position that both logs have may be one of the new log.
    assert named(look(0, 500, 90, id="id-2"), before) == [(RECREATED, 90, 99, 10, False)]
    # One that was flushed since then, and one that stands still.
    assert named(look(0, 10, 90, tops={ONE: 10}, id="id-2"), before) == [(RECREATED, 90, 99, 10, True)]
    assert named(look(0, 10, 60, tops={ONE: 10}, id="id-2"), before) == [(RECREATED, 60, 99, 40, True)]


@pytest.mark.parametrize("data", [[(0, 499)], []])
def test_what_still_stands_in_the_source_is_left_to_the_audit_and_what_is_gone_is_not(data: list[Range]) -> None:
    """Only what a new log holds below the position of the old one can be compared with the target."""
    before = after(look(0, 100, 60))
    moved = replace(look(0, 500, 60, id="id-2", flush=2), data={ONE: data})
    of_the_old, of_the_new = gaps.gaps(moved, before, {})
    assert (of_the_old.first, of_the_old.last, of_the_old.doubt) == (60, 99, "moved_on")
    assert (of_the_new.first, of_the_new.last, of_the_new.doubt) == (0, 59, "still_there")
    assert "no audit can tell" in of_the_old.line
    assert of_the_new.line.endswith("The source still has them, so the audit of mirrors compares both ends")
    assert [gap.as_dict()["doubt"] for gap in (of_the_old, of_the_new)] == ["moved_on", "still_there"]


def test_only_the_doubt_about_what_still_stands_in_the_source_refers_to_the_audit() -> None:
    says = {doubt: replace(Gap("purged", "t", 0, 0, 1, certain=False), doubt=doubt).line for doubt in DOUBTS}
    assert [doubt for doubt, line in says.items() if "compares both ends" in line] == ["still_there"]


def test_a_topic_that_was_loaded_again_with_as_many_records_lost_none_that_is_known() -> None:
    """A mirror that read all of the new log stands where the one of the old log stood."""
    before = after(look(0, 100, 100))
    assert named(look(0, 100, 100, id="id-2"), before) == [(RECREATED, None, None, 0, True)]
    shorter = look(0, 10, 100, tops={ONE: 10}, id="id-2")
    known = after(look(0, 100, 100), shorter)
    assert named(look(0, 100, 100, id="id-2"), known) == []


def test_a_topic_that_was_made_anew_is_named_without_a_loss() -> None:
    before = after(look(0, 100, 100))
    anew = look(0, 10, 100, tops={ONE: 10}, id="id-2")
    assert named(anew, before) == [(RECREATED, None, None, 0, True)]
    assert gaps.gaps(anew, before, {})[0].line == (
        "orders was deleted and created again: no record is known to be missing"
    )
    # Once: that the position lies beyond the new log follows from it.
    known = after(look(0, 100, 100), anew)
    assert named(anew, known) == []
    # Once it grows past the position, what stands below is never read.
    assert named(look(0, 150, 100, id="id-2"), known) == [(RECREATED, 0, 99, 100, True)]
    assert named(look(0, 30, 30, id="id-2"), known) == []


def test_a_topic_that_was_away_for_some_looks_is_still_known() -> None:
    away = Seen({("other", 0): Log(0, 0)}, ids={"other": "x"})
    before = after(look(0, 100, 60), away)
    assert named(look(0, 0, 60, tops={ONE: 0}, id="id-2"), before) == [(RECREATED, 60, 99, 40, True)]


def test_brokers_without_ids_and_logs_of_which_nobody_tells_make_no_gap() -> None:
    before = after(look(0, 100, 60))
    assert named(look(0, 100, 60, id=""), before) == []
    silent = Seen({ONE: Log(None, None)}, {ONE: 60}, ids={"orders": "id-1"})
    assert named(silent, before) == []
    assert named(look(80, 100, 60), gaps.marks(silent, before, [], "x")) == [(PURGED, 60, 79, 20, True)]


def test_gaps_are_kept_grow_and_are_forgotten() -> None:
    left = after(look(0, 100, 60), look(80, 100, 60), look(90, 100, 60), look(90, 200, 150))
    (gap,) = gaps.told(left)
    assert (gap.first, gap.last, gap.seen_at) == (60, 89, "look 1")
    assert gap.line == (
        "orders-0: offsets 60 to 89 (30 records) are missing: the source deleted them before they were mirrored"
    )
    assert gap.as_dict() == {
        "kind": "purged", "topic": "orders", "partition": 0, "first": 60, "last": 89, "records": 30, "certain": True,
        "doubt": "", "seen_at": "look 1",
    }  # fmt: skip
    gone = gaps.forgotten(left)
    assert gaps.told(gone) == []
    assert gaps.told(gaps.marks(look(90, 200, 150), gone, [], "x")) == []


def test_a_forgotten_gap_that_grows_is_told_again() -> None:
    gone = gaps.forgotten(after(look(0, 100, 60), look(80, 100, 60)))
    same, more = look(80, 100, 60), look(90, 100, 60)
    assert gaps.told(gaps.marks(same, gone, gaps.gaps(same, gone, {}, policies=PLAIN), "x")) == []
    assert [one.last for one in gaps.told(gaps.marks(more, gone, gaps.gaps(more, gone, {}, policies=PLAIN), "x"))] == [
        89
    ]


def test_only_a_gap_that_is_new_is_looked_at_twice() -> None:
    before = after(look(0, 100, 60))
    now = look(80, 100, 60)
    found = gaps.gaps(now, before, {})
    assert gaps.pending(found, before)
    assert not gaps.pending(found, after(look(0, 100, 60), now))
    assert not gaps.pending([], before)


def test_a_loss_by_a_topic_that_was_made_anew_is_looked_at_twice_too() -> None:
    before = after(look(0, 100, 60))
    anew = look(0, 10, 60, tops={ONE: 10}, id="id-2")
    assert gaps.pending(gaps.gaps(anew, before, {}), before)
    # One without a known loss has nothing that a later position could take away.
    before = after(look(0, 100, 100))
    assert not gaps.pending(gaps.gaps(look(0, 10, 10, id="id-2"), before, {}), before)


def test_of_a_look_that_finds_all_as_it_was_only_the_time_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each write makes the topic longer, in a cluster that may be looked at once a minute."""
    seen = look(80, 100, 60)
    before = after(look(0, 100, 60), seen)
    same = gaps.marks(seen, before, gaps.gaps(seen, before, {}), "now", "mirror1")
    held: dict[str, Any] = {"mirror_gaps a->b mirror_maker_2": before.as_data()}
    monkeypatch.setattr(gaps_look, "made_state_topic", lambda _session: False)
    monkeypatch.setattr(gaps_look, "read_state", lambda _session, key: (held.get(key), 1))
    written: list[str] = []
    monkeypatch.setattr(
        gaps_look, "write_state", lambda _session, key, value: written.append(key) or held.update({key: value})
    )
    nobody: Any = None
    flow = Flow("a", "b", ("orders",))
    assert gaps_look.kept_with_time(flow, nobody).looked is None
    assert gaps_look.keep(flow, nobody, same, before)
    assert written == ["mirror_looked a->b mirror_maker_2"]
    assert gaps_look.kept_with_time(flow, nobody).looked == gaps.Moment("now", "mirror1")


def test_marks_of_a_newer_release_are_read_as_far_as_they_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    before = after(look(0, 100, 60), look(80, 100, 60))
    data = before.as_data()
    newer = {**data, "later": 1, "gaps": [{**gap, "later": 1} for gap in data["gaps"]]}
    mark = data["topics"]["orders"]["partitions"]["0"]
    flow, nobody = Flow("a", "b", ("orders",)), None
    held: dict[str, Any] = {"mirror_looked a->b mirror_maker_2": {"at": "now", "clock": "mirror1", "later": 1}}
    monkeypatch.setattr(gaps_look, "read_state", lambda _session, key: (held.get(key), 1))
    padded = [*mark, False, "later", "latest"] if len(mark) == 5 else [*mark, "later"]
    newer["topics"] = {"orders": {**data["topics"]["orders"], "later": 1, "partitions": {"0": padded}}}
    held["mirror_gaps a->b mirror_maker_2"] = newer
    assert before.gaps
    read = gaps_look.kept_with_time(flow, nobody)  # type: ignore[arg-type]
    assert (read.as_data(), read.looked) == (data, gaps.Moment("now", "mirror1"))
    for key, value in (("mirror_gaps", "{"), ("mirror_gaps", {"gaps": [{}]}), ("mirror_looked", {"at": "now"})):
        kept = dict(held)
        held[f"{key} a->b mirror_maker_2"] = value
        with pytest.raises(StreamopsError, match=f"target b: read _streamops_state: its record '{key} a->b"):
            gaps_look.kept_with_time(flow, nobody)  # type: ignore[arg-type]
        held.update(kept)


def test_what_somebody_wrote_since_the_look_began_is_not_written_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may say that a gap has been dealt with."""
    before = after(look(0, 100, 60), look(80, 100, 60))
    there, written = [gaps.forgotten(before)], []
    monkeypatch.setattr(gaps_look, "made_state_topic", lambda _session: False)
    monkeypatch.setattr(gaps_look, "read_state", lambda _session, _key: (there[0].as_data(), 1))
    monkeypatch.setattr(gaps_look, "write_state", lambda _session, _key, value: written.append(value))
    seen, nobody = look(85, 100, 60), None
    known = gaps.marks(seen, before, gaps.gaps(seen, before, {}), "now")
    assert not gaps_look.keep(Flow("a", "b", ("orders",)), nobody, known, before)  # type: ignore[arg-type]
    assert written == []
    there[0] = before
    assert gaps_look.keep(Flow("a", "b", ("orders",)), nobody, known, before)  # type: ignore[arg-type]
    assert written == [known.as_data(), {"at": "now", "clock": ""}]


def test_what_is_lost_is_told_in_words_by_the_sort_of_its_gap() -> None:
    known = [
        Gap(PURGED, "orders", 0, 60, 79),
        Gap(DELETED, "gone", 1, 0, 9),
        Gap(TRUNCATED, "audit", 2, 5, 6),
        Gap(PURGED, "doubt", 0, 0, 9, certain=False),
        Gap(RECREATED, "anew"),
    ]
    assert in_words(one.as_dict() for one in known) == [
        (30, "30 records of the source will never be mirrored: orders-0 60 to 79, gone-1 0 to 9"),
        (2, "2 records are gone from the source, whose log was cut: audit-2 5 to 6"),
    ]
    assert in_words([]) == []
    assert [one["topic"] for one in certain(one.as_dict() for one in known)] == ["orders", "gone", "audit"]


def test_only_partitions_in_doubt_have_their_syncs_read() -> None:
    before = after(look(0, 100, 60))
    assert gaps.in_doubt(look(60, 100, 60), before) == []
    assert gaps.in_doubt(look(80, 100, 60), before) == [ONE]
    assert gaps.in_doubt(look(80, 100, 90), before) == [ONE]
    assert gaps.in_doubt(look(80, 100, 90, id="id-2"), before) == []
    assert gaps.vanished(look(80, 100, 90, id="id-2"), before) == [ONE]
    assert gaps.in_doubt(look(0, 80, 60), before) == [ONE], "its end is gone"


def gone(position: int | None) -> Seen:
    """A look at a source that has the topic no more, while the target still has its position."""
    return Seen({}, {} if position is None else {ONE: position})


def of_deleted(seen: Seen, before: Marks, covered: bool = True) -> list[tuple[str, int | None, int | None]]:
    """The gaps that a look finds for a flow that covers every topic, or none."""
    return [(one.kind, one.first, one.last) for one in gaps.gaps(seen, before, {}, lambda _topic: covered)]


def test_what_a_deleted_topic_held_and_was_not_mirrored_is_named() -> None:
    before = after(look(0, 100, 60))
    assert of_deleted(gone(60), before) == [(DELETED, 60, 99)]
    # It was mirrored further before it was deleted.
    assert of_deleted(gone(90), before) == [(DELETED, 90, 99)]
    assert of_deleted(gone(100), before) == []
    assert "because the topic was deleted before" in gaps.gaps(gone(60), before, {}, lambda _topic: True)[0].line


def test_a_topic_that_a_flow_no_longer_covers_is_not_deleted() -> None:
    assert of_deleted(gone(60), after(look(0, 100, 60)), covered=False) == []


def test_a_deleted_topic_that_was_mirrored_or_never_begun_lost_nothing_that_is_known() -> None:
    assert of_deleted(gone(100), after(look(0, 100, 100))) == []
    assert of_deleted(gone(None), after(look(0, 100, None))) == []


def test_a_look_keeps_which_topics_of_the_flow_are_gone() -> None:
    before = after(look(0, 100, 60))
    left = gaps.marks(gone(60), before, [], "now", covers=lambda _topic: True)
    kept = json.loads(json.dumps(left.as_data()))
    assert Marks.of_data(kept) == left
    assert left.gone == {"orders"}
    assert gaps.marks(gone(60), left, [], "later", covers=lambda _topic: True).gone == {"orders"}
    # A look of an older release keeps all but that.
    del kept["topics"]["orders"]["gone"]
    assert Marks.of_data(kept) == replace(left, gone=frozenset())
    # The topic was created again, or the flow no longer covers it.
    assert not gaps.marks(look(0, 5, 0, id="id-2"), left, [], "later", covers=lambda _topic: True).gone
    assert not gaps.marks(gone(60), left, [], "later", covers=lambda _topic: False).gone


def test_a_loss_is_told_once_when_the_topic_is_deleted_and_later_created_again() -> None:
    before = after(look(0, 100, 60))
    found = gaps.gaps(gone(60), before, {}, lambda _topic: True)
    assert gaps.pending(found, before)
    known = gaps.marks(gone(60), before, found, "then")
    again = gaps.gaps(gone(60), known, {}, lambda _topic: True)
    assert not gaps.pending(again, known)
    known = gaps.marks(gone(60), known, again, "later")
    assert [(one.kind, one.seen_at) for one in gaps.told(known)] == [(DELETED, "then")]
    anew = look(0, 10, 60, tops={ONE: 10}, id="id-2")
    assert of_deleted(anew, known) == []
    assert not gaps.told(gaps.forgotten(known))


def test_a_topic_that_is_deleted_a_second_time_lost_other_records() -> None:
    """Somebody said of the first loss that it was dealt with; both begin at the same offset."""
    first = Gap(DELETED, "orders", 0, 0, 99, seen_at="then", forgotten=True)
    before = Marks(partitions={ONE: gaps.Mark(0, 0, 50)}, gaps=[first])
    lost = gaps.gaps(gone(0), before, {}, lambda _topic: True)
    assert [(gap.first, gap.last) for gap in lost] == [(0, 49)]
    known = gaps.marks(gone(0), before, lost, "now")
    assert [(gap.last, gap.seen_at) for gap in gaps.told(known)] == [(49, "now")]
    assert first in known.gaps


@pytest.mark.parametrize(("denied", "policies", "requests"), [("", ["orders", "users"], 1), ("users", ["orders"], 3)])
def test_policies_are_asked_for_together_and_a_topic_without_a_right_hides_no_other(
    monkeypatch: pytest.MonkeyPatch, denied: str, policies: list[str], requests: int
) -> None:
    asked = []

    def describe(_session: object, _kind: int, wanted: Mapping[str, list[str]]) -> dict[str, dict[str, ConfigValue]]:
        asked.append(list(wanted))
        if denied in wanted:
            raise RequestFailedError("configs of", denied, "TOPIC_AUTHORIZATION_FAILED", "")
        return {name: {key: ConfigValue("compact") for key in keys} for name, keys in wanted.items()}

    monkeypatch.setattr(gaps_look, "describe_configs", describe)
    nobody = cast("Session", None)
    assert gaps_look._policies(nobody, ["orders", "users"]) == dict.fromkeys(policies, "compact")
    assert gaps_look._policies(nobody, []) == {}
    assert len(asked) == requests


def nothing_matches(named: bool) -> NothingToMirrorError:
    return NothingToMirrorError("mirror a->b: no topic of a matches orders.*", topics=[], named=named)


def test_the_records_of_the_last_topic_of_a_flow_are_named_when_it_is_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    def look_within(*_args: object) -> Seen:
        raise nothing_matches(named=False)

    monkeypatch.setattr(gaps_look, "look_within", look_within)
    monkeypatch.setattr(gaps_look, "of_target", lambda _flow, _copy, _seen: gone(60))
    monkeypatch.setattr(gaps_look, "hidden_topics", lambda _session, _topics: [])
    monkeypatch.setattr(gaps_look, "syncs_of", lambda *_asked: {})
    flow, nobody = Flow("a", "b", ("ord.*",)), cast("Session", None)
    known = gaps_look.looked(flow, nobody, nobody, after(look(0, 100, 60)), 0, lambda _seconds: None)
    assert [(one.kind, one.first, one.last) for one in gaps.told(known)] == [(DELETED, 60, 99)]
    # Without an earlier look there is nothing that could be gone.
    with pytest.raises(NothingToMirrorError):
        gaps_look.looked(flow, nobody, nobody, Marks(), 0, lambda _seconds: None)


def test_a_topic_that_a_flow_lists_by_its_name_must_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    def look_within(*_args: object) -> Seen:
        raise nothing_matches(named=True)

    monkeypatch.setattr(gaps_look, "look_within", look_within)
    nobody = cast("Session", None)
    with pytest.raises(NothingToMirrorError):
        gaps_look.looked(Flow("a", "b", ("orders",)), nobody, nobody, after(look(0, 100, 60)), 0, lambda _seconds: None)


def test_aborted_transactions_that_no_look_saw_are_no_certain_loss() -> None:
    """10 plain records; then 20 committed ones, which were copied, and 30 aborted ones, each with a marker behind."""
    before = after(look(0, 10, 10))
    found = gaps.gaps(look(62, 62, 30), before, {}, policies=PLAIN)
    assert [(one.first, one.last, one.certain, one.doubt) for one in found] == [(30, 61, False, UNSEEN)]
    assert "no look saw records there" in found[0].line
    assert "Only a look while they stand makes it sure" in found[0].line
    # The look before stood at the same end, and read that nothing above the position is a record.
    assert named(look(62, 62, 30), after(look(0, 62, 30, frontier=30))) == []


def test_only_what_a_look_read_as_records_is_counted() -> None:
    """Ten records, ten offsets of an aborted transaction, and what was written after the look."""
    seen = replace(look(0, 80, 60), data={ONE: [(60, 69)]})
    before = gaps.marks(seen, Marks(), [], "then")
    (gap,) = gaps.gaps(look(100, 100, 60), before, {}, policies=PLAIN)
    assert (gap.first, gap.last, gap.certain, gap.records) == (60, 99, True, 10)
    assert gap.line == (
        "orders-0: offsets 60 to 99 (10 records that a look saw, and perhaps others) are missing: the source deleted "
        "them before they were mirrored"
    )


def test_the_last_record_proves_a_loss_too() -> None:
    """The first thousand offsets above the position were aborted, and the last record stands far behind them."""
    before = gaps.marks(look(0, 5000, 60, frontier=4990), Marks(), [], "then")
    assert named(look(5000, 5000, 60), before) == [(PURGED, 60, 4999, 1, True)]
    assert named(look(4000, 5000, 60), before) == [(PURGED, 60, 3999, 3940, False)]


@pytest.mark.parametrize(("policies", "doubt"), [({"orders": "compact,delete"}, COMPACTED), ({}, NO_POLICY)])
def test_a_record_that_compaction_may_have_replaced_is_no_proof(policies: dict[str, str], doubt: str) -> None:
    before = after(look(0, 100, 60))
    assert named(look(80, 100, 60), before, policies=policies) == [(PURGED, 60, 79, 20, False)]
    (gap,) = gaps.gaps(look(80, 100, 60), before, {}, policies=policies)
    assert gap.doubt == doubt
    # What was certain stays so.
    known = after(look(0, 100, 60), look(80, 100, 60))
    again = gaps.gaps(look(80, 100, 60), known, {}, policies=policies)
    assert [one.certain for one in gaps.told(gaps.marks(look(80, 100, 60), known, again, "later"))] == [True]


def test_a_log_that_was_cut_below_what_was_not_mirrored_lost_it() -> None:
    before = after(look(0, 100, 60))
    assert named(look(0, 90, 60), before) == [(CUT, 90, 99, 10, True)]
    assert named(look(0, 50, 60, tops={ONE: 50}), before) == [
        (TRUNCATED, 50, 59, 10, True),
        (CUT, 60, 99, 40, True),
    ]
    # Once.
    assert named(look(0, 95, 60), after(look(0, 100, 60), look(0, 90, 60))) == []
    assert in_words(one.as_dict() for one in gaps.gaps(look(0, 90, 60), before, {})) == [
        (10, "10 records of the source will never be mirrored: orders-0 90 to 99")
    ]


def test_a_mirror_that_stands_at_its_old_offset_in_a_new_log_may_have_read_it() -> None:
    """It began the new log anew and stands there by chance: it wrote its position down once more."""
    before = after(look(0, 100, 60))
    anew = look(0, 500, 60, id="id-2", flush=61)
    assert named(anew, before) == [(RECREATED, 60, 99, 40, False), (RECREATED, 0, 59, 60, False)]
    # The group of the legacy engine does not tell.
    assert named(replace(anew, flushes={}), before) == [(RECREATED, 60, 99, 40, False), (RECREATED, 0, 59, 60, False)]


def test_what_a_look_read_is_not_read_again_while_the_mirror_stands() -> None:
    first = look(0, 5000, 60)
    assert gaps.unread(first, Marks()) == {ONE: (60, 60 + gaps.HEAD)}
    assert gaps.unread(look(0, 6000, 60), after(first)) == {}
    assert gaps.unread(look(0, 6000, 90), after(first)) == {ONE: (90, 90 + gaps.HEAD)}
    assert gaps.unread(look(0, 100, 100), Marks()) == {}
    assert gaps.unread(look(0, 100, 90), Marks()) == {ONE: (90, 100)}


def test_a_look_at_very_many_partitions_that_are_behind_reads_less_of_each() -> None:
    keys = [("orders", number) for number in range(4 * gaps.MOST // gaps.HEAD)]
    seen = Seen(dict.fromkeys(keys, Log(0, 5000)), dict.fromkeys(keys, 60))
    windows = gaps.unread(seen, Marks())
    assert windows.keys() == set(keys)
    assert sum(last - first for first, last in windows.values()) == gaps.MOST


def test_few_ranges_are_kept_of_a_log_with_many_transactions() -> None:
    seen = replace(look(0, 300, 60), data={ONE: [(at, at) for at in range(60, 300, 2)]})
    kept = gaps.marks(seen, Marks(), [], "then").partitions[ONE].data
    assert kept == (*((at, at) for at in range(60, 74, 2)), (298, 298))


def test_marks_that_were_kept_before_records_were_counted_are_read() -> None:
    gap = {"kind": PURGED, "topic": "orders", "partition": 0, "first": 60, "last": 79, "certain": True, "seen_at": "x"}
    old = Marks.of_data({"topics": {"orders": {"id": "id-1", "partitions": {"0": [60, 60, 100]}}}, "gaps": [gap]})
    assert gaps.told(old)[0].records == 20
    assert named(look(90, 100, 60), old) == [(PURGED, 60, 89, 30, False)]
