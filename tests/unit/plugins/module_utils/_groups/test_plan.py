"""Moves of offsets, and what is said against them."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.diff import diff_of
from ansible_collections.streamops.kafka.plugins.module_utils._groups.model import Group, Listed, Member, Offset
from ansible_collections.streamops.kafka.plugins.module_utils._groups.plan import (
    Goal,
    Move,
    changes_of,
    choose,
    offsets_in,
    parse_topics,
    plan_moves,
    unsupported,
    with_members,
)
from ansible_collections.streamops.kafka.plugins.module_utils._logs.model import Log

P0, P1 = ("orders", 0), ("orders", 1)
LOGS = {P0: Log(10, 100), P1: Log(0, 50)}
BILLING = Listed("billing", "classic", "Stable", "consumer", 1)


def moved(goal: Goal, before: int | None = 40, **more: Any) -> tuple[Move, ...]:
    """The moves of partition 0."""
    plan = plan_moves(goal, [P0], {P0: Offset(before)}, LOGS, **more)
    assert plan.violations == ()
    return plan.moves


@pytest.mark.parametrize(
    ("goal", "after", "skipped", "again"),
    [
        (Goal("earliest"), 10, 0, 30),
        (Goal("latest"), 100, 60, 0),
        (Goal("offset", 41), 41, 1, 0),
        (Goal("shift", -5), 35, 0, 5),
        (Goal("shift", 5), 45, 5, 0),
        (Goal("file", offsets={P0: 20}), 20, 0, 20),
        (Goal("group", offsets={P0: 90}), 90, 50, 0),
    ],
)
def test_a_move_says_what_is_skipped_or_read_again(goal: Goal, after: int, skipped: int, again: int) -> None:
    assert moved(goal) == (Move("orders", 0, 40, after, skipped, again),)


def test_a_time_is_the_first_record_from_it_on_or_the_end() -> None:
    assert moved(Goal("timestamp"), at={P0: 70})[0].after == 70
    assert moved(Goal("timestamp"), at={P0: None})[0].after == 100


def test_nothing_moves_that_is_where_it_shall_be() -> None:
    plan = plan_moves(Goal("latest"), [P0, P1], {P0: Offset(100), P1: Offset(49)}, LOGS)
    assert ([move.key for move in plan.moves], plan.unchanged) == ([P1], 1)


def test_without_an_offset_nothing_is_known_of_what_is_skipped() -> None:
    assert moved(Goal("latest"), None) == (Move("orders", 0, None, 100),)


@pytest.mark.parametrize(("wanted", "nearest"), [(9, 10), (101, 100), (-1, 10)])
def test_an_offset_outside_of_the_log_needs_consent(wanted: int, nearest: int) -> None:
    plan = plan_moves(Goal("offset", wanted), [P0], {P0: Offset(40)}, LOGS)
    assert plan.moves == ()
    assert f"orders-0: offset {wanted} is not in the log, which holds 10 to 100" in plan.violations[0]
    clipped = moved(Goal("offset", wanted, clip=True))
    assert (clipped[0].after, clipped[0].clipped) == (nearest, wanted)


def test_what_retention_took_is_not_counted_as_read_again() -> None:
    assert moved(Goal("earliest"), 5) == (Move("orders", 0, 5, 10, 0, 0),)
    assert moved(Goal("latest"), 120) == (Move("orders", 0, 120, 100, 0, 0),)


def test_a_shift_needs_an_offset() -> None:
    plan = plan_moves(Goal("shift", 1), [P0], {}, LOGS)
    assert plan.violations[0].startswith("orders-0: has no committed offset")


@pytest.mark.parametrize("why", ["topic_deleted", "no_answer", "not_allowed"])
def test_an_unknown_log_stops_the_move(why: str) -> None:
    plan = plan_moves(Goal("latest"), [P0, P1], {P0: Offset(4)}, {P0: Log(missing=why), P1: Log(0, 9)})
    assert len(plan.violations) == 1
    assert plan.violations[0].startswith("orders-0: ")


def test_offsets_are_taken_away_whatever_became_of_their_log() -> None:
    plan = plan_moves(Goal("none"), [P0, P1], {P0: Offset(4)}, {P0: Log(missing="topic_deleted")})
    assert (plan.moves, plan.unchanged) == ((Move("orders", 0, 4, None),), 1)


def test_partitions_that_a_file_leaves_out_are_left_alone() -> None:
    plan = plan_moves(Goal("file", offsets={P1: 3}), [P0, P1], {P0: Offset(40)}, LOGS)
    assert [move.key for move in plan.moves] == [P1]


def test_the_diff_shows_offsets_and_records() -> None:
    moves = [Move("orders", 0, 40, 100, 60, 0), Move("orders", 1, None, 5), Move("orders", 2, 7, None)]
    assert diff_of(changes_of(moves)) == {
        "before": {"orders-0": {"offset": 40}, "orders-2": {"offset": 7}},
        "after": {"orders-0": {"offset": 100, "records_skipped": 60}, "orders-1": {"offset": 5}},
    }


def test_topics_are_names_with_or_without_partitions() -> None:
    assert parse_topics(["orders", " audit:0, 2"]) == ({"orders": None, "audit": frozenset({0, 2})}, [])


@pytest.mark.parametrize("bad", ["", ":1", "orders:", "orders:x", "orders:-1", "orders:1,,2", "orders:²"])
def test_a_topic_that_cannot_be_read_is_refused(bad: str) -> None:
    found, violations = parse_topics([bad])
    assert (found, len(violations)) == ({}, 1)


def test_a_topic_named_twice_is_refused() -> None:
    assert "named twice" in parse_topics(["orders:0", "orders:1"])[1][0]


def test_without_topics_all_that_the_group_has_is_chosen() -> None:
    assert choose(None, {}, [P0]) == ({P0}, [])


def test_named_topics_and_partitions_must_be_there() -> None:
    known = {"orders": [0, 1]}
    assert choose({"orders": None}, known, []) == ({P0, P1}, [])
    assert choose({"orders": frozenset({1})}, known, []) == ({P1}, [])
    assert "does not exist" in choose({"order": None}, known, [])[1][0]
    assert "has no partition 7" in choose({"orders": frozenset({1, 7})}, known, [])[1][0]


def test_offsets_of_a_deleted_topic_are_found_by_its_name() -> None:
    assert choose({"gone": None}, {}, [("gone", 3)]) == ({("gone", 3)}, [])


def test_members_are_named() -> None:
    group = Group(BILLING, "Stable", (Member("m1", "app-1", "10.0.0.7"), Member("m2", "", "10.0.0.8")))
    assert "has 2 member(s) (app-1 at 10.0.0.7, m2 at 10.0.0.8)" in with_members(group)[0]
    assert with_members(Group(BILLING, "Empty")) == []
    assert "coordinator is loading" in with_members(Group(BILLING, error="coordinator is loading"))[0]


def result(name: str, committed: Any = 5) -> dict[str, Any]:
    """A group as group_info returns it."""
    part = {"partition": 0, "committed": committed, "lag": 0}
    return {"name": name, "topics": [{"name": "orders", "partitions": [part, {"partition": 1, "committed": None}]}]}


@pytest.mark.parametrize(
    "content",
    [
        {"groups": [result("billing")]},
        {"groups": [result("other", 9), result("billing")]},
        result("billing"),
        result("another name"),
        [result("billing")],
    ],
)
def test_a_file_has_the_form_of_group_info(content: Any) -> None:
    assert offsets_in(content, "billing") == ({P0: 5}, [])


@pytest.mark.parametrize(
    "content",
    [
        None,
        7,
        "text",
        {},
        {"groups": []},
        {"groups": [{}]},
        {"groups": [result("a"), result("b")]},
        {"topics": [{"name": "orders"}]},
        {"topics": [7]},
        {"topics": [{"name": "orders", "partitions": [{"partition": "x", "committed": 1}]}]},
        {"topics": []},
    ],
)
def test_another_form_is_refused(content: Any) -> None:
    found, violations = offsets_in(content, "billing")
    assert (found, len(violations)) == ({}, 1)


def test_offsets_of_a_share_group_are_not_taken_away() -> None:
    assert len(unsupported("share", "none")) == 1
    assert unsupported("share", "latest") == unsupported("classic", "none") == []
