"""Marks: made, read back, void or not, and what becomes of them after an audit."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from spark_validation.core.cluster import TopicSeen
from spark_validation.mirror import mark
from spark_validation.mirror.config import Pair
from spark_validation.mirror.mark import Earlier, Mark
from spark_validation.mirror.seen import End, Scope, Span

MARK = Mark("orders", 0, "s1", "t1", 99, 103, -7, 100, 1_795_000_000_000)
SPAN = Span(0, 149, (0, 151), (0, 156))
SCOPE = Scope(0, "orders", "dc_a.orders", (SPAN,))
SOURCE = TopicSeen("orders", "s1", 1, False, True, False, -1, -1)
TARGET = TopicSeen("dc_a.orders", "t1", 1, False, True, False, -1, -1)
PAIRS = [Pair("orders", "dc_a.orders"), Pair("late", "dc_a.late")]
PART = (0, 0)


def test_marks_come_back_as_they_were_written() -> None:
    other = replace(MARK, partition=1, fingerprint=-(2**63))
    raw = json.loads(json.dumps(mark.written([other, MARK])))
    assert [item["partition"] for item in raw] == [0, 1]
    assert mark.read(raw) == ({MARK.place: MARK, other.place: other}, set())


def test_two_thousand_marks_are_less_than_a_megabyte() -> None:
    marks = [
        replace(MARK, topic="t" * 100, partition=index, offset=2**40, fingerprint=-(2**63)) for index in range(2000)
    ]
    assert len(json.dumps(mark.written(marks))) < 1_000_000


@pytest.mark.parametrize(
    "change", [{"offset": -1}, {"offset": "99"}, {"copy": None}, {"fingerprint": True}, {"source_id": 1}, {"more": 1}]
)
def test_a_bad_mark_is_left_out_and_its_partition_is_named(change: dict[str, Any]) -> None:
    good = replace(MARK, partition=1)
    marks, bad = mark.read([{**mark.written([MARK])[0], **change}, *mark.written([good])])
    assert (marks, bad) == ({good.place: good}, {MARK.place})


def test_what_names_no_partition_is_passed_over_and_of_two_marks_of_one_none_holds() -> None:
    assert mark.read([{}, {"topic": "orders"}, {"topic": "orders", "partition": "x"}]) == ({}, set())
    assert mark.read(mark.written([MARK, replace(MARK, offset=5)])) == ({}, {MARK.place})


@pytest.mark.parametrize(
    ("changed", "scope", "span", "why"),
    [
        (MARK, SCOPE, SPAN, None),
        (replace(MARK, source_id="s0"), SCOPE, SPAN, mark.MADE_ANEW),
        (replace(MARK, target_id="t0"), SCOPE, SPAN, mark.TARGET_MADE_ANEW),
        (MARK, replace(SCOPE, compacted=True), SPAN, mark.COMPACTED),
        (MARK, replace(SCOPE, timeless=True), SPAN, mark.STAMPED),
        (MARK, SCOPE, replace(SPAN, frontier=98), mark.CUT),
        (MARK, SCOPE, replace(SPAN, frontier=None), mark.CUT),
        (MARK, SCOPE, replace(SPAN, target=None), mark.CUT),
        (MARK, SCOPE, replace(SPAN, target=(0, 103)), mark.CUT),
        (MARK, SCOPE, replace(SPAN, source=(100, 151)), mark.REMOVED),
        (MARK, SCOPE, replace(SPAN, target=(104, 156)), mark.REMOVED),
        (MARK, SCOPE, replace(SPAN, source=(99, 151), target=(103, 156)), None),
    ],
)
def test_a_mark_is_void_for_what_is_known_before_anything_is_read(
    changed: Mark, scope: Scope, span: Span, why: str | None
) -> None:
    assert mark.void(changed, scope, span, SOURCE, TARGET) == why


def fallen(source: int | None = -7, target: int | None = -7, **given: Any) -> dict[tuple[int, int], str]:
    none = both(None, None)
    return mark.fallen(
        {PART: MARK}, both(source, target), given.get("cut", set()), given.get("heads", none), given.get("firsts", none)
    )


def both(source: int | None, target: int | None) -> dict[str, dict[tuple[int, int], int]]:
    sides = (("source", source), ("target", target))
    return {side: {} if value is None else {PART: value} for side, value in sides}


def test_a_mark_falls_where_another_record_stands_or_none() -> None:
    assert fallen() == {}
    for source, target in ((8, -7), (-7, 8), (None, -7), (-7, None)):
        assert fallen(source, target) == {PART: mark.REWRITTEN}


@pytest.mark.parametrize(
    ("heads", "firsts", "why"),
    [
        # Neither side has anything that is still promised.
        (both(None, None), both(None, None), {}),
        (both(5, 6), both(1, 1), {}),
        (both(5, 6), both(1, 2), {PART: mark.UNEVEN}),
        (both(5, None), both(1, None), {PART: mark.UNEVEN}),
        (both(None, 6), both(None, 1), {PART: mark.UNEVEN}),
        # Nothing but markers was seen there.
        (both(5, 6), both(None, None), {PART: mark.UNEVEN}),
    ],
)
def test_a_partition_that_lost_its_start_must_begin_alike_on_both_sides(
    heads: dict[str, Any], firsts: dict[str, Any], why: dict[tuple[int, int], str]
) -> None:
    assert fallen(cut={PART}, heads=heads, firsts=firsts) == why


def test_a_comparison_begins_at_the_mark_with_nothing_missing_before_it() -> None:
    scope = replace(SCOPE, spans=(replace(SPAN, cut_source=True), replace(SPAN, partition=1)))
    first, second = mark.begun([scope], {PART: MARK})[0].spans
    assert (first.since, second.since) == ((99, 103), None)
    behind = first.behind_mark
    assert (behind.source, behind.target, behind.cut_source) == ((99, 151), (103, 156), False)
    # Compared whole, it is what it was.
    assert (first.source, first.cut_source) == ((0, 151), True)


def kept(ends: dict[tuple[int, int], End], renewed: set[tuple[int, int]], judged: list[Scope]) -> list[Mark]:
    before = {MARK.place: MARK, ("late", 0): replace(MARK, topic="late"), ("gone", 0): replace(MARK, topic="gone")}
    ids = {"orders": SOURCE}, {"dc_a.orders": TARGET}
    return mark.kept(before, PAIRS, judged, ends, renewed, ids, 5)


def test_marks_go_on_fall_and_stay_of_topics_that_were_not_judged() -> None:
    late = replace(MARK, topic="late")
    end = End(149, 153, 8, 51)
    # Of 51 records one was that of the mark.
    grown = replace(MARK, offset=149, copy=153, fingerprint=8, records=150)
    assert kept({PART: end}, {PART}, [SCOPE]) == [late, grown]
    assert kept({PART: end}, set(), [SCOPE]) == [late, replace(grown, records=51, whole_ms=5)]
    assert kept({}, set(), [SCOPE]) == [late]
    assert kept({}, {PART}, [SCOPE]) == [late, MARK]
    assert kept({}, set(), []) == [MARK, late]


def test_what_was_not_read_again_is_summed_up_with_its_oldest_date_and_the_rest_by_reason() -> None:
    older = replace(MARK, partition=1, records=7, whole_ms=3)
    used = {(0, 0): MARK, (0, 1): older, (0, 2): replace(MARK, partition=2), (1, 0): replace(MARK, topic="late")}
    whole = {(0, 3): mark.NEW, (0, 4): mark.NEW, (1, 1): mark.CUT}
    assert mark.earlier(used, whole, {(0, 0), (0, 1), (1, 0)}, {0}) == Earlier(
        2, 107, 3, {mark.NEW: 2, mark.NOT_CLEAN: 1}
    )
    assert mark.earlier({}, {}, set(), {0}) == Earlier()
