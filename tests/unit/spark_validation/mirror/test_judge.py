"""The rules by which a mirror passes, fails, or cannot be judged; positions and lag."""

from __future__ import annotations

from typing import Any

import pytest

from spark_validation.core.cluster import Place, TopicSeen
from spark_validation.core.result import verdict_of
from spark_validation.mirror import judge
from spark_validation.mirror.config import Arguments, Pair, parse
from spark_validation.mirror.freeze import SourceFrozen, TargetFrozen, begins, scopes
from spark_validation.mirror.position import taken
from spark_validation.mirror.records import preview, size
from spark_validation.mirror.seen import Compared, Found, Scope, Span, merged
from spark_validation.mirror.wait import Waited, beyond, left
from tests.unit.spark_validation.mirror.test_config import GOOD

SCOPES = [Scope(0, "orders", "dc_a.orders", ()), Scope(1, "audit", "dc_a.audit", ())]


def arguments(**given: Any) -> Arguments:
    return parse({**GOOD, **given})


def statuses(seen: Compared, disturbed: dict[str, str] | None = None, **given: Any) -> dict[str, str]:
    checks = judge.judge_records(seen, SCOPES, arguments(**given), disturbed or {})
    return {check.name: check.status for check in checks if check.status != "pass"}


def seen(**totals: int) -> Compared:
    return Compared(kinds={kind: Found(total, {0: total}) for kind, total in totals.items()})


def test_nothing_found_is_a_pass() -> None:
    checks = judge.judge_records(Compared(), SCOPES, arguments(), {})
    assert verdict_of(checks) == "pass"


@pytest.mark.parametrize("kind", ["lost", "phantom", "changed", "out_of_order"])
def test_a_fault_fails_but_for_a_topic_that_changed_under_the_comparison(kind: str) -> None:
    assert statuses(seen(**{kind: 1})) == {kind: "fail"} | ({"duplicated": "info"})
    assert statuses(seen(**{kind: 1}), {"dc_a.orders": "made anew"})[kind] == "inconclusive"
    assert statuses(seen(**{kind: 1}), {"audit": "made anew"})[kind] == "fail"


def test_repeats_fail_only_where_there_may_be_none_or_fewer() -> None:
    assert statuses(seen(duplicated=5)) == {"duplicated": "info"}
    assert statuses(seen(duplicated=5), max_duplicates=5) == {}
    assert statuses(seen(duplicated=5), max_duplicates=4) == {"duplicated": "fail"}
    assert statuses(seen(duplicated=1), flow={"exactly_once": "enabled"}) == {"duplicated": "fail"}


def test_what_retention_removed_is_inconclusive_and_what_expired_informs() -> None:
    found = statuses(seen(unjudged=3, expired=4, in_flux=1))
    assert found == {"duplicated": "info", "retention": "inconclusive", "expired": "info", "in_flux": "inconclusive"}


def topic(name: str, partitions: int) -> TopicSeen:
    return TopicSeen(name, "id", partitions, False, True, False, -1, -1)


def test_missing_topics_and_partitions_fail_and_more_partitions_inform() -> None:
    pairs = [Pair(name, f"m.{name}") for name in ("gone", "empty", "fewer", "more")]
    source = {pair.source: topic(pair.source, 3) for pair in pairs}
    target = {"m.fewer": topic("m.fewer", 2), "m.more": topic("m.more", 4)}
    lasts: dict[Place, int | None] = {(name, index): 5 for name in ("gone", "fewer", "more") for index in range(3)}
    checks = judge.judge_topics(pairs, source, target, lasts, arguments())
    assert {check.name: (check.status, check.actual) for check in checks} == {
        "topics": ("fail", 1),
        "partitions": ("fail", 1),
        "extra_partitions": ("info", 1),
    }
    assert checks[0].examples == [{"topic": "gone", "missing": "m.gone"}]
    grown = {**lasts, ("fewer", 2): None}
    assert judge.judge_topics(pairs, source, target, grown, arguments())[1].status == "pass"


def test_lag_is_counted_from_the_position_or_from_the_start() -> None:
    lasts: dict[Place, int | None] = {("a", 0): 99, ("a", 1): None, ("b", 0): 9, ("c", 0): 5}
    starts = {("a", 0): 0, ("a", 1): 7, ("b", 0): 3, ("c", 0): 0}
    assert left(lasts, starts, {("a", 0): 89, ("c", 0): 5}) == {("a", 0): 10, ("b", 0): 7}


def test_a_position_beyond_the_end_is_that_of_a_topic_before() -> None:
    positions = {("anew", 0): 99, ("anew", 1): 3, ("same", 0): 99}
    found = beyond(positions, {("anew", 0): 50, ("anew", 1): 50, ("same", 0): 100, ("unknown", 0): 7})
    assert list(found) == ["anew"]
    assert "position in partition 0 is 99, and the topic ends at 50" in found["anew"]


def test_a_mirror_that_is_behind_is_inconclusive_and_an_unknown_topic_is_named() -> None:
    lasts: dict[Place, int | None] = {("a", 0): 99, ("b", 0): 9, ("idle", 0): None}
    waited = Waited({("a", 0): 10, ("b", 0): 10}, {("a", 0): 89})
    checks = judge.judge_caught_up(waited, lasts, 300, 20)
    assert [(check.name, check.status, check.actual) for check in checks] == [
        ("position", "inconclusive", 1),
        ("caught_up", "inconclusive", 20),
    ]
    assert checks[0].examples == [{"topic": "b"}]


def test_positions_are_taken_and_taken_back_and_those_of_others_are_skipped() -> None:
    known: dict[Place, int] = {("orders", 0): 5, ("orders", 1): 6}
    records = [
        (b'["MirrorSourceConnector",{"cluster":"dc_a","partition":0,"topic":"orders"}]', b'{"offset":17}'),
        (b'["MirrorSourceConnector",{"cluster":"dc_a","partition":1,"topic":"orders"}]', None),
        (b'["MirrorSourceConnector",{"cluster":"dc_c","partition":2,"topic":"orders"}]', b'{"offset":3}'),
        (b'["MirrorCheckpointConnector",{"cluster":"dc_a","partition":2,"topic":"orders"}]', b'{"offset":3}'),
        (b"not json", b"{}"),
        (None, None),
    ]
    assert taken(known, records, "dc_a") == {("orders", 0): 17}


def test_keys_and_values_are_shown_as_text_that_can_be_read() -> None:
    assert (preview(None), preview(b""), preview(b"order-7"), preview(b"\x00\xff")) == ("none", "", "order-7", "0x00ff")
    assert (size(None), size(0), size(1234)) == ("tombstone", "0 bytes", "1,234 bytes")


def test_findings_of_several_reads_are_one() -> None:
    both = merged([Found(2, {0: 2}, [{"a": 1}]), Found(3, {0: 1, 1: 2}, [{"b": 2}, {"c": 3}])], 2)
    assert both == Found(5, {0: 3, 1: 2}, [{"a": 1}, {"b": 2}])


def frozen(starts: dict[Place, int], log_starts: dict[Place, int]) -> tuple[SourceFrozen, TargetFrozen]:
    source = SourceFrozen({"orders": topic("orders", 1)}, log_starts, starts, {("orders", 0): 41})
    there = ("dc_a.orders", 0)
    target = TargetFrozen({"dc_a.orders": topic("dc_a.orders", 2)}, {there: 7, (there[0], 1): 0},
                          {there: 7, (there[0], 1): 0}, {there: 49, (there[0], 1): 0})  # fmt: skip
    return source, target


def test_the_source_is_read_to_its_second_end_and_cuts_are_known() -> None:
    place: Place = ("orders", 0)
    source, target = frozen({place: 3}, {place: 3})
    (scope,) = scopes([Pair("orders", "dc_a.orders"), Pair("x", "y")], source, target, {place: 60}, None, 0)
    assert scope.spans == (
        Span(0, 41, (3, 60), (7, 49), cut_source=True, cut_target=True),
        Span(1, None, None, (0, 0)),
    )


def test_a_start_by_time_is_no_cut() -> None:
    place: Place = ("orders", 0)
    source, target = frozen({place: 20}, {place: 3})
    (scope,) = scopes([Pair("orders", "dc_a.orders")], source, target, {place: 60}, 5, 0)
    assert not scope.spans[0].cut_source


def test_where_to_begin_is_the_later_of_log_and_time_and_never_behind_the_end() -> None:
    starts: dict[Place, int] = {("a", 0): 5, ("a", 1): 5, ("a", 2): 5}
    ends: dict[Place, int] = {("a", 0): 9, ("a", 1): 9, ("a", 2): 4}
    assert begins(starts, ends, None) == {("a", 0): 5, ("a", 1): 5, ("a", 2): 4}
    assert begins(starts, ends, {("a", 0): 7, ("a", 1): -1, ("a", 2): 2}) == {("a", 0): 7, ("a", 1): 9, ("a", 2): 4}


def test_a_known_gap_fails_whatever_the_comparison_finds() -> None:
    gap = {"topic": "orders", "partition": 0, "first": 60, "last": 79, "records": 20, "kind": "purged"}
    (check,) = judge.judge_gaps(arguments(gaps=[gap]))
    assert (check.name, check.status, check.actual) == ("gaps", "fail", 20)
    assert check.examples == [gap]
    assert judge.judge_gaps(arguments())[0].status == "pass"


def test_a_gap_of_a_topic_that_is_gone_fails_and_is_named() -> None:
    gap = {"topic": "gone", "partition": 0, "first": 50, "last": 74, "records": 25, "kind": "deleted", "certain": True}
    (check,) = judge.judge_gaps(arguments(gaps=[gap]))
    assert (check.status, check.actual, check.examples) == ("fail", 25, [gap])
    assert check.suggests.startswith("topic gone: these records are on neither side")
    many = [{**gap, "topic": f"gone{index}"} for index in range(7)]
    assert judge.judge_gaps(arguments(gaps=many))[0].suggests.startswith(
        "topics gone0, gone1, gone2, gone3, gone4 and 2 more: "
    )


def test_records_that_the_mirror_alone_has_are_not_called_lost_on_both_sides() -> None:
    gap = {"topic": "orders", "partition": 0, "first": 60, "last": 79, "records": 20, "kind": "truncated"}
    gaps, cut = judge.judge_gaps(arguments(gaps=[gap]))
    assert (gaps.name, gaps.status, gaps.actual) == ("gaps", "pass", 0)
    assert (cut.name, cut.status, cut.actual, cut.examples) == ("truncated", "fail", 20, [gap])
    assert cut.suggests.startswith("topic orders: the mirror alone has these records")


def test_a_gap_that_no_look_is_certain_of_is_shown_and_fails_nothing() -> None:
    gap = {"topic": "gone", "partition": 0, "first": 0, "last": 9, "records": 10, "kind": "purged", "certain": False}
    gaps, possible = judge.judge_gaps(arguments(gaps=[gap]))
    assert (gaps.status, gaps.actual) == ("pass", 0)
    assert (possible.status, possible.actual, possible.examples) == ("info", 10, [gap])


@pytest.mark.parametrize("kind", ["deleted", "recreated", "truncated_unmirrored"])
def test_what_may_be_lost_with_a_log_that_is_gone_leaves_the_verdict_open(kind: str) -> None:
    gap = {"topic": "gone", "partition": 0, "first": 0, "last": 9, "records": 10, "kind": kind, "certain": False}
    checks = judge.judge_gaps(arguments(gaps=[gap]))
    assert [(check.name, check.status, check.actual) for check in checks] == [
        ("gaps", "pass", 0), ("unsettled_gaps", "inconclusive", 10),
    ]  # fmt: skip
    assert checks[1].suggests.startswith("topic gone: the source no longer has what stood there")
    assert verdict_of(checks) == "inconclusive"
    lost = {**gap, "partition": 1, "certain": True}
    assert verdict_of(judge.judge_gaps(arguments(gaps=[gap, lost]))) == "fail"


@pytest.mark.parametrize(("doubt", "status"), [("unplaced", "inconclusive"), ("unseen", "info")])
def test_records_that_the_mirror_may_have_left_out_before_they_were_deleted_leave_the_verdict_open(
    doubt: str, status: str
) -> None:
    gap = {"topic": "orders", "partition": 0, "first": 40, "last": 59, "records": 5, "kind": "purged", "certain": False}
    checks = judge.judge_gaps(arguments(gaps=[{**gap, "doubt": doubt}]))
    assert (checks[-1].status, checks[-1].actual) == (status, 5)


@pytest.mark.parametrize(("topic", "status"), [("orders", "info"), ("gone", "inconclusive")])
def test_what_the_source_still_has_is_settled_by_the_comparison_of_its_topic(topic: str, status: str) -> None:
    gap = {"topic": topic, "partition": 0, "first": 0, "last": 9, "records": 10, "kind": "recreated", "certain": False}
    checks = judge.judge_gaps(arguments(gaps=[{**gap, "doubt": "still_there"}]))
    assert checks[-1].status == status
