# SPDX-License-Identifier: GPL-3.0-or-later
"""What a source has alone that was lost and answers again, and where the flow back begins."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.records import position_of
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.status import Log
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover.compare import (
    Compared,
    compared,
    digest_of,
)
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover.record import Failback, Loss, stamp_of
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover.surplus import (
    ANEW,
    GONE,
    SAME,
    SHORT,
    UNTOLD,
    Part,
    Survey,
    back_start,
    back_start_lines,
    failback_lines,
    failback_refusals,
    reached_after_return,
    state_of,
    surplus_topic,
    unbegun,
    unkept,
)

SAME_NAMES = Flow("a", "b", ("orders",), policy="identity")
RENAMED = Flow("a", "b", ("orders",))
LOSS = Loss("", {"orders": {"0": 4}}, {"orders": {"0": 6}}, "2026-11-30T03:20:00Z")


def logged(text: str, start: int = 0) -> list[tuple[int, bytes]]:
    """Return records of a log, a letter each; a dot is an offset without one."""
    return [(start + at, letter.encode()) for at, letter in enumerate(text) if letter != "."]


def digests(text: str) -> list[bytes]:
    """Return the records of a copy, a letter each."""
    return [letter.encode() for letter in text]


@pytest.mark.parametrize(
    ("source", "copied", "copy", "first", "records", "is_exact"),
    [
        # The mirror wrote down 4, and has copied 6.
        ("abcdefgh", 4, "abcdef", 6, 2, True),
        ("abcdefgh", 4, "abcd", 4, 4, True),
        ("abcdefgh", 4, "abcdefgh", 8, 0, True),
        ("abcd", 4, "abcd", 4, 0, True),
        # Aborted records and markers have offsets and no copy.
        ("ab.c..d..e.", 6, "abcd", 9, 1, True),
        ("abc....", 3, "abc", 7, 0, True),
        # Equal records: what stands before them tells them apart.
        ("xaaaaaaa", 3, "xaaaa", 5, 3, True),
        # The whole window is equal: the first place holds, and nothing is left out.
        ("aaaaaaaa", 4, "aaaaaa", 6, 2, False),
        ("aaaaaa", 3, "aaaaaaaaaaaa", 6, 0, True),
        # A mirror that was killed copied c and d again, then went on.
        ("abcdefgh", 4, "abcdcdef", 6, 2, True),
        # It was killed once more before it came to what is new.
        ("abcdefgh", 4, "abcdb", 4, 4, False),
        # The source holds nothing below the position any more, or the copy nothing of it.
        ("....efgh", 4, "zzef", 6, 2, True),
        ("....efgh", 4, "zz", 4, 4, False),
        # The copy was compacted, or retention took its end, or it is not known.
        ("abcdefgh", 4, "acf", 1, 7, False),
        ("abcdefgh", 4, "acdf", 4, 4, False),
        ("abcdefgh", 4, "", 4, 4, False),
        # The log of the source was cut, and written beyond C(copied): what is new below it is in no copy.
        ("abXYefgh", 4, "abcd", 2, 6, False),
        ("abXY", 4, "abcd", 2, 2, False),
        ("WXYZefgh", 4, "abcd", 0, 8, False),
        # The copy is not known as far back as the source.
        ("abcXefgh", 4, "bcd", 3, 5, False),
    ],
)
def test_the_surplus_begins_behind_the_last_copied_record(
    source: str, copied: int, copy: str, first: int, records: int, is_exact: bool
) -> None:
    at = compared(logged(source), copied, len(source), digests(copy))
    assert (at.first, at.records) == (first, records)
    assert at.is_exact is is_exact


def test_records_are_equal_by_key_value_headers_and_timestamp() -> None:
    made: dict[str, Any] = {"key": b"k", "value": b"v", "headers": [("h", b"1")], "timestamp": 7, "offset": 3}
    same = digest_of(SimpleNamespace(**{**made, "offset": 9}))
    others = [
        {"key": None},
        {"key": b""},
        {"value": None},
        {"headers": []},
        {"headers": [("h", None)]},
        {"timestamp": 8},
    ]
    assert digest_of(SimpleNamespace(**made)) == same
    assert len({digest_of(SimpleNamespace(**{**made, **other})) for other in others} | {same}) == 7


@pytest.mark.parametrize(
    ("log", "copied", "was", "now", "state"),
    [
        (Log(0, 9), 4, "1", "1", SAME),
        (Log(0, 9), 4, "", "2", SAME),
        (None, 4, "1", "", GONE),
        (Log(0, 9), 4, "1", "2", ANEW),
        (Log(0, 0), 4, "", "", ANEW),
        (Log(0, 0), None, "", "", SAME),
        (Log(0, 3), 4, "1", "1", SHORT),
        (Log(None, None), 4, "1", "1", UNTOLD),
    ],
)
def test_a_topic_that_is_gone_made_anew_or_cut_is_known(
    log: Log | None, copied: int | None, was: str, now: str, state: str
) -> None:
    assert state_of(log, copied, was, now) == state


def part(state: str = SAME, number: int = 0, **more: Any) -> Part:
    """Return a partition of orders with two records above its copy."""
    given = {"log": Log(0, 8), "copied": 4, "end_there": 6, "compared": Compared(6, 2, True), "read_to": 8, **more}
    return Part("orders", number, state, **given)


def test_the_flow_back_begins_at_the_ends_of_the_turn_and_whole_where_the_source_has_nothing() -> None:
    survey = Survey([part(), part(GONE, 1, log=None), part(ANEW, 2), part(number=3, copied=None, end_there=None)])
    start = back_start(SAME_NAMES, survey, {("orders", 1): 40, ("orders", 0): 2})
    read = [position_of(key, value, "b") for key, value in start.records().items()]
    assert sorted(filter(None, read)) == [(("orders", 0), 6), (("orders", 1), None)]
    assert start.refusals == []
    assert start.missing({("orders", 0): 6}) == []
    assert "orders-1" in str(start.missing({("orders", 0): 6, ("orders", 1): 40}))
    lines = back_start_lines(SAME_NAMES, start)
    assert "b->a begins at the ends that b had when it was opened: 1 partition" in lines[0]
    assert "copies back whole: orders-1, orders-2" in lines[1]


def test_an_empty_source_is_copied_back_whole() -> None:
    survey = Survey([part(GONE, log=None, compared=None)])
    start = back_start(SAME_NAMES, survey, {})
    assert (start.records(), start.whole) == ({}, [("orders", 0)])
    lines = failback_lines(SAME_NAMES, LOSS, survey, [])
    assert "Surplus      0 records are in a and not in b" in lines
    assert "Note         a does not have orders-0" in lines


def test_a_flow_back_that_runs_already_is_not_set_back() -> None:
    start = back_start(SAME_NAMES, Survey([part()]), {("orders", 0): 9})
    assert start.records() == {}
    assert "orders-0 (9)" in back_start_lines(SAME_NAMES, start)[1]


def test_where_a_flow_back_could_copy_twice_or_leave_out_it_does_not_begin() -> None:
    unknown = back_start(SAME_NAMES, Survey([part(end_there=None)]), {}).refusals
    assert "does not say where the copies of orders-0 ended" in unknown[0]


@pytest.mark.parametrize(
    ("given", "first"), [({"state": SHORT, "log": Log(0, 3)}, 0), ({}, 2), ({"state": SHORT, "log": Log(0, 3)}, None)]
)
def test_what_a_cut_log_still_has_is_kept_before_anybody_is_told_to_delete_it(given: Any, first: int | None) -> None:
    cut = part(**given)
    places = {} if first is None else {"orders": {"0": first}}
    (lacking,) = back_start(SAME_NAMES, Survey([cut]), {}, Failback("kept", places)).refusals
    assert "a has lost records of orders-0, and what it has there is not kept" in lacking
    assert "elete these" not in lacking
    if first is not None and cut.log:
        kept = Failback("kept", places, {"orders": {"0": [cut.log.end or 0, 3]}})
        (advice,) = back_start(SAME_NAMES, Survey([cut]), {}, kept).refusals
        assert "has lost records of orders-0, and what it has there is kept. Delete these topics there" in advice
    empty = part(SHORT, log=Log(3, 3))
    assert "Delete these topics" in back_start(SAME_NAMES, Survey([empty]), {}).refusals[0]


def test_a_plan_names_surplus_doubt_markers_and_what_follows() -> None:
    parts = [
        part(),
        part(number=1, compared=Compared(4, 3, False), read_to=7),
        part(number=2, compared=Compared(8, 0, True)),
    ]
    text = "\n".join(failback_lines(SAME_NAMES, LOSS, Survey(parts), ["Stage        turned"]))
    assert "2 to 6 records are in a and not in b (orders 6)" in text
    assert "not found for certain" in text
    assert "b too: orders-1" in text
    assert "markers and aborted ones: orders-2" in text
    assert "delete the topic in a after step kept and before step begun" in text
    renamed = "\n".join(failback_lines(RENAMED, LOSS, Survey(parts), []))
    assert "copies the surplus into its copies in b as late records" in renamed
    kept = Failback("kept", kept={"orders": {"0": [8, 2]}})
    text = "\n".join(failback_lines(RENAMED, Loss("", {}, {}, LOSS.opened_at, back=kept), Survey(), []))
    assert "2 records of orders in _streamops_surplus.2026-11-30.orders of b (partitions 0)" in text


def test_what_hinders_a_step_is_named() -> None:
    survey = Survey([part(UNTOLD)], {("orders", 0): 5}, [("orders", 1)], 2, 1, 5.0)
    text = "\n".join(unkept(RENAMED, survey))
    for words in ("a is still written: orders-0 5", "2 mirrors run a->b", "end of orders-0", "is open in a: orders-1"):
        assert words in text
    assert "1 mirrors run b->a" in str(unbegun(RENAMED, survey))
    (hidden,) = unbegun(RENAMED, Survey(hidden=["broker 3 of b (no answer)"]))
    assert hidden == "mirrors are not known: broker 3 of b (no answer). Start these brokers, then run again."
    assert "mirror_flows enables a->b" in str(list(failback_refusals(RENAMED, LOSS, "kept", True, True)))
    assert "how writers of a are stopped" in str(list(failback_refusals(RENAMED, LOSS, "fenced", False, False)))
    assert "no step is left. Enable b->a" in str(list(failback_refusals(RENAMED, LOSS, "", False, True)))
    long = Loss("", {"x" * 240: {"0": 1}})
    assert "at most 249 characters" in str(list(failback_refusals(RENAMED, long, "fenced", False, True)))
    assert "kafka_failover=b->a" in reached_after_return(RENAMED, "begun")[0]


def test_two_losses_of_a_day_keep_their_surplus_apart_and_an_older_record_its_names() -> None:
    first, second = (replace(LOSS, stamp=stamp_of(f"2026-11-30T0{hour}:20:00Z")) for hour in (3, 9))
    assert surplus_topic("orders", first) == "_streamops_surplus.2026-11-30-032000.orders"
    assert surplus_topic("orders", second) == "_streamops_surplus.2026-11-30-092000.orders"
    assert surplus_topic("orders", LOSS) == "_streamops_surplus.2026-11-30.orders"


def test_a_surplus_has_a_topic_that_no_flow_mirrors() -> None:
    from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import matches

    assert not matches(Flow("b", "a", (".*",)), surplus_topic("orders", LOSS))
