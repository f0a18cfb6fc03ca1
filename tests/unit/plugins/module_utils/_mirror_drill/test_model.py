# SPDX-License-Identifier: GPL-3.0-or-later
"""What a drill makes, counts and says."""

from __future__ import annotations

import json
from dataclasses import replace

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.canary import with_events
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow, matches, translates
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_drill.model import (
    FEWEST_RECORDS,
    Content,
    Counts,
    Kept,
    Loss,
    Numbered,
    Outcome,
    Own,
    again_at_most,
    can_drill,
    copies_of,
    counts_of,
    days_since,
    drill_flow,
    faults,
    filled,
    is_ours,
    kept_of,
    last_drill,
    last_line,
    loss_of,
    middle_of,
    outcome_lines,
    outcome_of,
    own_of,
    parts_of,
    plan_lines,
    topic_refusals,
    unknown_drill,
)
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover.model import (
    GroupPlan,
    Plan,
    Reading,
    Span,
)

FLOW = Flow("a", "b", ("orders", "audit[.].*"), topics_exclude=("audit[.]old",))
OWN = own_of(FLOW, "0badcafe", 2)
COUNTS = Counts(acknowledged=200, missing=0, again=12, again_at_most=20, skipped=0, twice=0)
LOSS = Loss(acknowledged=150, missing=3, seconds=0.25, look_seconds=0.01)
PASSED = Outcome("2026-01-31T02:10:00Z", "alice", (), {"copied": 61.0}, LOSS, COUNTS, 14.2, 14.1)


def records(*numbers: int) -> list[Numbered]:
    """Records of one partition, one a second."""
    return [Numbered(number, ("t", 0), number, float(number)) for number in numbers]


# -- what it makes -------------------------------------------------------------------------------------------------


def test_mirrors_with_a_canary_copy_its_topics_and_nothing_else_of_them() -> None:
    assert OWN.topics == ("streamops-drill.a.b-0badcafe-0", "streamops-drill.a.b-0badcafe-1")
    (running,) = with_events([FLOW], ["b"])
    assert all(matches(running, topic) for topic in OWN.topics)
    assert not any(matches(FLOW, topic) for topic in OWN.topics)
    assert not matches(drill_flow(FLOW, OWN), "orders")
    assert matches(drill_flow(FLOW, OWN), OWN.topics[0])


def test_no_mirror_makes_its_group_anew() -> None:
    assert not translates(Flow("a", "b", (".*",)), OWN.group)


def test_the_flow_of_a_drill_has_the_names_and_the_syncs_of_its_flow() -> None:
    flow = drill_flow(replace(FLOW, policy="identity", exactly_once="enabled"), OWN)
    assert (flow.pair, flow.policy, flow.exactly_once) == ("a->b", "identity", "enabled")
    assert copies_of(flow, OWN) == list(OWN.topics)
    assert copies_of(FLOW, OWN)[0] == "a.streamops-drill.a.b-0badcafe-0"


def test_a_drill_without_topics_has_one_of_its_own() -> None:
    assert len(own_of(FLOW, "0badcafe", 0).topics) == 1


def test_only_names_of_drills_of_this_flow_are_deleted() -> None:
    assert is_ours(FLOW, OWN)
    assert not is_ours(FLOW, replace(OWN, topics=("orders",)))
    assert not is_ours(FLOW, replace(OWN, topics=(*OWN.topics, "streamops-drill.a.b-mine")))
    assert not is_ours(FLOW, replace(OWN, group="billing"))
    assert not is_ours(Flow("a", "c", ("orders",)), OWN)
    # A dot of a name is no sign of an expression.
    assert not is_ours(FLOW, replace(OWN, topics=("streamops-drill_a.b-0badcafe-0",)))


def test_few_records_are_filled_up_and_all_have_a_partition_that_is_there() -> None:
    contents = filled([Content(7, None, None), Content(1, b"k", b"v")], 4)
    assert contents[:2] == [Content(3, None, None), Content(1, b"k", b"v")]
    assert len(contents) == FEWEST_RECORDS
    assert {content.partition for content in contents} == {0, 1, 2, 3}
    many = [Content(0, None, b"v")] * (FEWEST_RECORDS + 1)
    assert filled(many, 1) == many


def test_topics_that_are_missing_too_many_or_not_of_the_flow_are_refused() -> None:
    existing = ["orders", "audit.new", "audit.old", "invoices"]
    assert topic_refusals(FLOW, ["orders", "audit.new"], existing) == []
    assert topic_refusals(FLOW, [], existing) == []
    (missing,) = topic_refusals(FLOW, ["order"], existing)
    assert "a has no topic order" in missing
    (foreign,) = topic_refusals(FLOW, ["invoices", "audit.old"], existing)
    assert "a->b does not copy invoices, audit.old" in foreign
    assert "more than 20" in topic_refusals(FLOW, ["orders"] * 21, existing)[0]


# -- what the target keeps -----------------------------------------------------------------------------------------


def test_what_is_kept_is_read_again_as_it_was() -> None:
    for kept in (
        Kept(),
        Kept(OWN, None),
        Kept(None, PASSED),
        Kept(OWN, Outcome("2026-01-31T02:10:00Z", "", ("not drained: b lacks records",), {"copied": 1.0})),
    ):
        assert kept_of(json.loads(json.dumps(kept.as_data()))) == kept
    assert kept_of(None) == Kept()
    assert Kept(OWN).as_data()["left"] == {"topics": list(OWN.topics), "group": OWN.group}
    assert isinstance(kept_of(Kept(OWN).as_data()).left, Own)


# -- what it counts ------------------------------------------------------------------------------------------------


def test_the_parts_of_a_drill() -> None:
    assert parts_of(200) == (100, 150)


def test_the_group_reads_the_first_half_of_each_partition() -> None:
    written = [Numbered(at, ("t", at % 2), at // 2, 0.0) for at in range(9)]
    assert middle_of(written) == {("t", 0): 3, ("t", 1): 2}
    assert middle_of([Numbered(0, ("t", 0), 41, 0.0)]) == {("t", 0): 42}


def test_a_loss_is_what_had_not_arrived_and_as_old_as_the_oldest_of_it() -> None:
    written = records(1, 2, 3, 4, 5)
    assert loss_of(written, [1, 2, 3], 5.5, 0.02) == Loss(5, 2, 1.5, 0.02)
    assert loss_of(written, [1, 2, 3, 4, 5], 5.5, 0.02) == Loss(5, 0, 0.0, 0.02)
    # A record that came over another one is not lost, and one that was overtaken is.
    assert loss_of(written, [1, 2, 4, 5], 5.5, 0.02) == Loss(5, 1, 2.5, 0.02)


def test_records_are_counted_at_the_target() -> None:
    # Ten records, four read before; the group goes on two before its place.
    assert counts_of(range(10), range(4), [*range(10)], [*range(2, 10)], 3) == Counts(10, 0, 2, 3, 0, 0)


def test_what_is_missing_skipped_and_copied_twice_is_counted() -> None:
    counts = counts_of(range(10), range(4), [0, 1, 2, 3, 4, 5, 5, 6, 7], [5, 5, 6, 7], 0)
    assert counts == Counts(acknowledged=10, missing=2, again=0, again_at_most=0, skipped=3, twice=1)


def test_a_record_that_only_the_target_got_is_not_counted() -> None:
    assert counts_of(range(4), range(2), [0, 1, 2, 3], [2, 3, 4], 0) == Counts(4, 0, 0, 0, 0, 0)


def test_the_bound_is_that_of_the_plan() -> None:
    reading = Reading("t", 0, "known", 90, 88, None, 88, 90, Span(0, 2), Span(0, 0))
    groups = [GroupPlan("g", "classic", 0, 0, False, [reading, replace(reading, partition=1, high=91)])]
    assert again_at_most(Plan("a->b", "b", 5.0, [], groups, [], [])) == 5


def test_a_drill_passes_only_without_loss_skips_and_surprises() -> None:
    assert faults(FLOW, COUNTS) == []
    assert faults(FLOW, replace(COUNTS, twice=3)) == []
    assert faults(FLOW, replace(COUNTS, missing=1)) == ["b lacks 1 of 200 acknowledged records"]
    assert faults(FLOW, replace(COUNTS, skipped=2)) == ["the group skipped 2 records in b"]
    assert faults(FLOW, replace(COUNTS, again=21)) == ["the group read 21 records again, and the plan allows 20"]


# -- what people read ----------------------------------------------------------------------------------------------


def test_lines_of_a_drill_that_passed() -> None:
    assert outcome_lines(FLOW, PASSED)[:6] == [
        "Drill        a->b, passed",
        "RPO          0 of 200 acknowledged records are not in b",
        "RTO          14.2 s: first record read after 14.2 s, first record written after 14.1 s",
        "Group        read 12 records again (the plan: at most 20) and skipped 0",
        "Loss         without notice 3 of 150 records would be lost, the oldest 0.2 s old",
        "Seconds      copied 61.0",
    ]


def test_lines_of_a_drill_that_failed_say_why_and_what_was_measured() -> None:
    failed = Outcome("2026-01-31T02:10:00Z", "", ("not drained: b lacks records.",), {"copied": 61.0}, LOSS)
    shown = outcome_lines(FLOW, failed)
    assert shown[:2] == ["Drill        a->b, failed", "Against      not drained: b lacks records."]
    assert not any(line.startswith(("RPO", "RTO", "Group")) for line in shown)
    assert any(line.startswith("Loss") for line in shown)


def test_the_last_drill_is_one_line() -> None:
    assert last_line(last_drill(None, None)) == "Drill        none yet (mirror_drill.yml)"
    passed = "RPO 0, RTO 14 s, 12 records read again"
    assert line_after(PASSED, 12) == f"Drill        passed 12 days ago: {passed}"
    failed = replace(PASSED, why=("not drained: b lacks records.", "more"))
    assert line_after(failed, 0) == "Drill        failed today: not drained: b lacks records."
    assert "a day ago" in line_after(PASSED, 1)
    # A clock that went back.
    assert "today" in line_after(PASSED, -3)
    assert line_after(PASSED, 45) == f"Drill        passed 45 days ago: {passed}"
    old = " (more than 45 days: run mirror_drill.yml again)"
    assert line_after(PASSED, 46) == f"Drill        passed 46 days ago: {passed}{old}"
    assert last_line(unknown_drill("no right.")) == "Drill        not known: no right."


def line_after(drill: Outcome, days: int) -> str:
    """Return the line about a drill so many days after it."""
    return last_line(last_drill(drill, days_since(drill, after(days))))


def after(days: int) -> float:
    """So many days after the drill that passed, in seconds since 1970."""
    return PASSED.ended_at + 86_400 * days


def test_a_drill_is_read_again_from_its_own_data() -> None:
    failed = replace(PASSED, why=("no",), counts=None, loss=None, rto_read=None)
    assert [outcome_of(drill.as_data()) for drill in (PASSED, failed)] == [PASSED, failed]
    shown = last_drill(failed, 3).as_data()
    assert (shown["state"], shown["rpo_records"], shown["rto_seconds"]) == ("failed", None, None)
    assert shown["summary"] == "no"
    assert last_drill(None, None).as_data()["state"] == last_drill(None, None).ago == "never"


def test_no_drill_where_nothing_may_be_written_into_the_source_or_no_offsets_come_over() -> None:
    flows = [FLOW, replace(FLOW, untouched_source=True), replace(FLOW, engine="legacy")]
    assert [can_drill(flow) for flow in flows] == [True, False, False]


def test_check_mode_says_what_a_drill_would_make_and_remove() -> None:
    assert plan_lines(FLOW, [], None, [])[1:4] == [
        "Makes        1 topic streamops-drill.a.b-... in a with 200 records of its own, a copy in b, and a group in "
        "both",
        "Steps        fenced, drained, moved and turned of a failover, with these topics and this group alone",
        "Keeps        how it ended, in the topic _streamops_state of b",
    ]
    against, removes, makes, *_others = plan_lines(FLOW, ["orders", "audit.new"], OWN, ["task 0 failed"])[1:]
    assert against == "Against      task 0 failed"
    assert removes.startswith("Removes      what a drill before it left: streamops-drill.a.b-0badcafe-0")
    assert makes.startswith("Makes        2 topics")
    assert "the last records of orders, audit.new, at most 1,000 and 10 MiB each, copies in b" in makes
