# SPDX-License-Identifier: GPL-3.0-or-later
"""Who may take a step of a planned failover, whom it denies, and why its stage is not reached."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._acls.entries import Binding, parse_entries
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover.model import (
    GroupPlan,
    PartitionPlan,
    Plan,
    Reading,
    Span,
)
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover.record import (
    Denial,
    Failback,
    Loss,
    Record,
)
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover.steps import (
    back_refusals,
    denial_entries,
    denials,
    group_lines,
    next_refusals,
    operator_refusals,
    reached_lines,
    undrained,
    unfenced,
    unmoved,
    unready,
)

FLOW = Flow("a", "b", ("orders",))
ROW = PartitionPlan("orders", 0, 100, 100, 0, 0, False)
READING = Reading("orders", 0, "known", 90, 88, None, 88, 90, Span(0, 2), Span(0, 0))
GROUP = GroupPlan("billing", "classic", 0, 0, True, [READING])
WHOLE = Plan("a->b", "b", 5.0, [ROW], [GROUP], [], [])


def record(stage: str, **parts: Any) -> Record:
    """Return a record of alice."""
    return Record(stage, "alice", "2026-11-30T03:00:00Z", **parts)


def refused(before: Record | None, **given: Any) -> str:
    """Return why the next step is refused; nothing speaks against it where nothing is given."""
    options = {"writers": (), "are_stopped": False, "is_enabled": True, "way_back": None, **given}
    return " ".join(next_refusals(FLOW, before, **options))


# -- who may take a step -------------------------------------------------------------------------------------------


def test_a_second_operator_is_refused_and_reads_whom_to_ask() -> None:
    assert list(operator_refusals(FLOW, None, "bob")) == []
    assert list(operator_refusals(FLOW, record("fenced"), "alice")) == []
    (refusal,) = operator_refusals(FLOW, record("fenced"), "bob")
    assert "taken by alice (fenced at 2026-11-30T03:00:00Z), and you are bob" in refusal
    assert "kafka_failover_operator=alice" in refusal


@pytest.mark.parametrize(("stage", "shown"), [("", "not begun"), ("fenced", "fenced")])
def test_a_second_operator_of_a_failback_reads_that_it_is_one_and_how_far_it_is(stage: str, shown: str) -> None:
    (refusal,) = operator_refusals(FLOW, record("turned", loss=Loss(back=Failback(stage))), "bob")
    assert f"the failback of a->b is taken by alice ({shown} at 2026-11-30T03:00:00Z), and you are bob" in refusal


def test_the_first_step_needs_to_know_how_writers_are_stopped() -> None:
    assert "kafka_failover_writers_stopped=true" in refused(None)
    assert refused(None, writers=["User:orders"]) == ""
    assert refused(None, are_stopped=True) == ""
    # A fence that was begun goes on with what it began with.
    assert refused(record("begun", denied=(Denial("User:orders", "orders"),))) == ""
    assert refused(record("begun", are_stopped=True)) == ""


def test_a_principal_without_a_type_is_refused_before_anything_is_kept() -> None:
    assert "write User:orders" in refused(None, writers=["orders"])


def test_a_failover_in_the_other_direction_is_ended_first() -> None:
    assert "the failover b->a is not done" in refused(None, are_stopped=True, way_back=record("turned"))
    assert refused(record("fenced"), way_back=record("turned")) == ""
    # The record of a loss waits for it, behind the failback.
    for failback, refusal in (
        (None, True),
        (Failback(""), True),
        (Failback("kept"), True),
        (Failback("begun"), False),
    ):
        lost = record("turned", loss=Loss(back=failback))
        assert ("its failback is not done" in refused(None, are_stopped=True, way_back=lost)) is refusal


def test_the_last_step_needs_the_flow_disabled_and_no_other_does() -> None:
    assert "mirror_flows still enables a->b" in refused(record("turned"))
    assert refused(record("turned"), is_enabled=False) == ""
    assert "Leave it out" in refused(record("turned"), is_enabled=False, writers=["User:orders"])
    assert "so nothing is copied" in refused(record("fenced"), is_enabled=False)


def test_there_is_a_way_back_until_the_target_is_open() -> None:
    for stage in ("begun", "fenced", "drained", "moved"):
        assert list(back_refusals(FLOW, record(stage))) == []
    (refusal,) = back_refusals(FLOW, record("turned"))
    assert "fail over by the flow b->a" in refusal


# -- the fence -----------------------------------------------------------------------------------------------------


def allow(resource: str, pattern_type: str = "literal", resource_type: str = "topic") -> Binding:
    """Return a right of somebody."""
    return Binding("User:orders", "*", "allow", "write", resource_type, resource, pattern_type)


def test_writers_are_denied_the_topics_of_the_flow() -> None:
    wanted = denials(["payments", "orders"], ["User:a", "User:b", "User:a"], [allow("*")], [])
    assert wanted == [Denial(f"User:{who}", topic) for who in "ab" for topic in ("orders", "payments")]


def test_a_topic_without_an_acl_gets_none_which_would_shut_out_all_others() -> None:
    topics = ["orders", "order-lines", "free"]
    assert denials(
        topics, ["User:a"], [allow("orders"), allow("order-", "prefixed"), allow("free", "literal", "group")], []
    ) == [
        Denial("User:a", "order-lines"),
        Denial("User:a", "orders"),
    ]


def test_topics_of_the_canary_stay_open() -> None:
    assert denials(["streamops-canary.a.b"], ["User:*"], [allow("*")], []) == []


def test_a_denial_that_others_made_is_not_ours() -> None:
    ours = [Denial("User:a", "orders"), Denial("User:b", "orders")]
    (theirs, *_rest) = parse_entries(denial_entries(ours))[0]
    assert denials(["orders"], ["User:a", "User:b"], [theirs], []) == ours[1:]
    # Unless another failover made it, which takes it away when it ends.
    assert denials(["orders"], ["User:a", "User:b"], [theirs], ours[:1]) == ours


# -- what a step needs ---------------------------------------------------------------------------------------------


def test_topics_that_grow_are_not_fenced() -> None:
    assert unfenced(WHOLE) == []
    (reason,) = unfenced(replace(WHOLE, partitions=[replace(ROW, grown=4100)]))
    assert "orders-0 4,100 records within 5 s" in reason


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (replace(ROW, lag=7), "b lacks records, check that the mirror runs: orders-0 7."),
        (replace(ROW, grown=1), "still written"),
        (replace(ROW, is_open=True), "a transaction is open"),
        (replace(ROW, target_end=None), "brokers did not tell where the log ends"),
    ],
)
def test_what_is_not_in_the_target_is_not_drained(row: PartitionPlan, said: str) -> None:
    assert undrained(WHOLE) == []
    (reason,) = undrained(replace(WHOLE, partitions=[row]))
    assert said in reason


def test_the_lag_of_the_canary_hinders_nothing_and_what_speaks_against_the_plan_does() -> None:
    canary = replace(ROW, topic="streamops-canary.a.b", lag=1)
    assert undrained(replace(WHOLE, partitions=[canary])) == []
    assert undrained(replace(WHOLE, against=["task 0 failed"])) == ["task 0 failed."]


def test_clients_of_groups_stop_before_their_offsets_move() -> None:
    assert unready(WHOLE) == []
    busy = [replace(GROUP, members=2), replace(GROUP, name="audit", members_there=1)]
    assert unready(replace(WHOLE, groups=busy)) == [
        "groups with members in a: billing (2). Stop their consumers.",
        "groups with members in b: audit (1). Stop them.",
    ]
    # A group that reads nothing of the flow, or has no offsets to bring over, may go on.
    others = [replace(GROUP, members=2, readings=[]), replace(GROUP, type="share", members=2)]
    assert unready(replace(WHOLE, groups=others)) == []
    assert "audit (denied)" in unready(replace(WHOLE, groups=[replace(GROUP, name="audit", error="denied")]))[0]


def test_offsets_that_are_not_in_the_target_as_they_were_set_are_told() -> None:
    def of(reading: Reading) -> list[str]:
        return unmoved(replace(WHOLE, groups=[replace(GROUP, readings=[reading])]))

    assert of(READING) == []
    assert "billing orders-0 at 95" in of(replace(READING, there=95, skips=Span(5, 7)))[0]
    assert of(replace(READING, there=None, state="no_offset"))
    # Beyond the end of the source nothing is set.
    assert of(replace(READING, committed=101, there=None, state="no_offset")) == []


# -- what people read ----------------------------------------------------------------------------------------------


def test_people_read_what_each_group_reads_again_by_partition() -> None:
    second = replace(READING, partition=1, low=50, high=50)
    assert group_lines(replace(WHOLE, groups=[replace(GROUP, readings=[READING, second])])) == [
        "Group        billing: begins at b, reads at most 2 records again (orders-0 at most 2)"
    ]


def test_each_stage_says_what_is_next() -> None:
    for stage in ("fenced", "drained", "moved", "turned", "done"):
        assert all(line.startswith("Do  ") for line in reached_lines(FLOW, stage))
    turned = "\n".join(reached_lines(FLOW, "turned"))
    assert "set enabled: false for a->b" in turned
    assert "delete the topics of a" not in turned
    kept = replace(FLOW, policy="identity")
    assert "enable b->a in the run after that one" in "\n".join(reached_lines(kept, "turned"))
    untouched = replace(kept, untouched_source=True)
    assert "delete the topics of a" in "\n".join(reached_lines(untouched, "turned"))
