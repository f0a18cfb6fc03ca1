"""An audit says what it compared and what it left out, and one of nothing is no pass."""

from __future__ import annotations

from typing import Any

from spark_validation.core.result import PASS, verdict_of
from spark_validation.mirror import judge
from spark_validation.mirror.config import Arguments, parse
from spark_validation.mirror.covered import Coverage, coverage, figures, judge_compared, sentences
from spark_validation.mirror.mark import Earlier
from spark_validation.mirror.seen import Compared, Found, Scope
from tests.unit.spark_validation.mirror.test_config import GOOD

NAMES = ("orders", "audit", "late", "gone", "missing")


def arguments(*names: str, **given: Any) -> Arguments:
    topics = [{"source": name, "target": f"dc_a.{name}"} for name in names or NAMES]
    return parse({**GOOD, "topics": topics, **given})


def scope(number: int, name: str) -> Scope:
    return Scope(number, name, f"dc_a.{name}", ())


def test_topics_and_records_are_counted_and_each_topic_that_was_left_out_says_why() -> None:
    seen = Compared(pairs={0: {"n_a": 40, "n_c": 2, "n_t": 41}, 1: {"n_a": 7, "n_t": 7}})
    disturbed = {"dc_a.audit": "it was deleted", "gone": "records of partition 0 were removed up to offset 9"}
    found = coverage(arguments(), seen, [scope(0, "orders"), scope(1, "audit")], disturbed, {"late": 5}, {})
    assert (found.topics, found.compared, found.records, found.mirrored) == (5, 1, 40, 41)
    assert sentences(found, None) == [
        "compared 1 of 5 topics: 40 records of the source with 41 of the mirror",
        "left out: topic audit: its mirror dc_a.audit: it was deleted",
        "left out: topic gone: records of partition 0 were removed up to offset 9",
        "left out: topic late: the mirror is 5 offsets behind",
        "left out: topic missing: it is not in the target as dc_a.missing",
    ]
    assert figures(found)["left_out"][2] == {"topic": "late", "why": "the mirror is 5 offsets behind"}
    assert judge_compared(found).status == PASS


def test_a_part_that_was_not_read_is_told_of_a_topic_that_was_judged() -> None:
    unread = {"orders": "a transaction is open, partition 0 is read up to offset 9"}
    found = coverage(arguments("orders"), Compared(), [scope(0, "orders")], {}, {}, unread)
    assert (found.compared, found.left_out) == (1, unread)
    check = judge.judge_settled(unread, 20)
    assert (check.status, check.actual) == ("inconclusive", 1)
    assert "topic orders (a transaction is open, partition 0 is read up to offset 9)" in check.suggests
    assert judge.judge_settled({}, 20).status == "pass"


def test_an_audit_of_no_record_is_inconclusive_though_nothing_differs() -> None:
    given = arguments("orders")
    scopes = [scope(0, "orders")]
    for seen in (Compared(), Compared(pairs={0: {"n_c": 5, "n_t": 5}}), Compared(pairs={0: {"n_t": 5}})):
        found = coverage(given, seen, scopes, {}, {}, {})
        checks = [*judge.judge_records(seen, scopes, given, {}), judge_compared(found)]
        assert verdict_of(checks) == "inconclusive"
    assert "hold no record" in judge_compared(coverage(given, Compared(), scopes, {}, {}, {})).suggests
    assert "no topic could be judged" in judge_compared(coverage(given, Compared(), [], {}, {}, {})).suggests


def test_a_fault_of_one_topic_decides_though_others_could_not_be_judged() -> None:
    seen = Compared({"lost": Found(1, {0: 1})}, {0: {"n_a": 3, "n_t": 2}})
    scopes, disturbed = [scope(0, "orders")], {"gone": "it was deleted"}
    checks = [
        judge.judge_stable(disturbed, 20),
        *judge.judge_records(seen, scopes, arguments(), disturbed),
        judge_compared(coverage(arguments(), seen, scopes, disturbed, {}, {})),
    ]
    assert verdict_of(checks) == "fail"
    assert checks[0].suggests == "not judged: topic gone (it was deleted); the others are; run again"


def test_many_topics_that_were_left_out_are_counted() -> None:
    lines = sentences(Coverage(30, 0, 0, 0, {f"t{index:02}": "it was deleted" for index in range(30)}), 7)
    assert len(lines) == 22
    assert lines[0] == "compared 0 of 30 topics: 0 records of the source from 7 ms (from_ms) on with 0 of the mirror"
    assert lines[-1] == "left out: 10 more topics"


def test_what_was_not_read_again_is_told_with_its_date_and_what_was_read_whole_with_the_reason() -> None:
    earlier = Earlier(5, 12_000, 1_795_000_000_000, {"no earlier audit left a mark": 2})
    lines = sentences(Coverage(1, 1, 40, 41, earlier=earlier), None)
    assert lines[1:] == [
        "not read again in 5 partitions: 12,000 records that earlier audits proved, the oldest of them at "
        "2026-11-18 11:06 UTC",
        "partitions compared whole: 2 (no earlier audit left a mark)",
    ]
    assert sentences(Coverage(1, 1, 40, 41, earlier=Earlier(whole={"from_ms is set": 3})), 7)[1:] == [
        "partitions compared whole: 3 (from_ms is set)"
    ]
    assert figures(Coverage(1, 1, 40, 41, earlier=earlier))["earlier"]["records"] == 12_000
    assert "earlier" not in figures(Coverage(1, 1, 40, 41))
