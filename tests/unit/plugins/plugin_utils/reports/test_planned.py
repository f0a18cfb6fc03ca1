# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan that a person approves, and the digest that a later run compares."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.planned import (
    INSTALLS,
    RESTARTS,
    STARTS,
    STAYS,
    WRITES,
    Change,
    ClusterPlan,
    NodePlan,
    changes_in,
    digest,
    lines,
    moves_in,
    node_does,
    refusal,
)

PLAN = ClusterPlan(
    "orders",
    [
        NodePlan(
            "kafka1", RESTARTS, "property num.io.threads: 8 -> 9", ["server.properties"], ["2 partitions are low"]
        ),
        NodePlan("kafka2", STAYS),
        NodePlan("kafka4", INSTALLS, files=["start"]),
    ],
    [
        Change("topic", "orders", {"partitions": 6}, {"partitions": 12}),
        Change("topic", "audit", None, {"partitions": 3, "replication_factor": 3}),
        Change("ACL", "User:old allow read on topic literal orders from *", {"host": "*"}, None),
    ],
    {"topics": 4, "users": 0},
)
NOTHING = ClusterPlan("orders", [NodePlan("kafka1", STAYS)], [], {"topics": 4})


def test_a_plan_says_what_would_be_done_why_what_hinders_it_and_what_stays() -> None:
    assert lines(PLAN) == [
        "kafka1 would restart (property num.io.threads: 8 -> 9); files: server.properties",
        "kafka4 would be installed and started",
        "topic orders partitions=6 -> partitions=12",
        "topic audit would be added: partitions=3, replication_factor=3",
        "ACL User:old allow read on topic literal orders from * WOULD BE DELETED",
        "not now: kafka1: 2 partitions are low",
        "stays: 1 node, 4 topics",
    ]
    assert lines(NOTHING) == ["nothing to do", "stays: 1 node, 4 topics"]


def test_a_login_is_told_in_words_and_one_of_a_kind_is_no_plural() -> None:
    before = {"SCRAM-SHA-512": {"iterations": 4096, "password": "(not shown)"}}
    after = {"SCRAM-SHA-512": {"iterations": 8192, "password": "(as given)"}}
    plan = ClusterPlan("orders", [], [Change("user", "a", before, after)], {"topics": 1, "users": 1, "ACLs": 1})
    assert lines(plan) == [
        "user a SCRAM-SHA-512 (iterations 4096, password not shown) -> "
        "SCRAM-SHA-512 (iterations 8192, password as given)",
        "stays: 1 topic, 1 user, 1 ACL",
    ]


def test_the_digest_counts_the_changes_so_that_nothing_to_do_is_seen() -> None:
    assert digest([PLAN]).startswith("5-changes-")
    assert digest([NOTHING]).startswith("0-changes-")
    assert digest([]) == digest([NOTHING])


def test_the_digest_is_of_what_changes_and_of_nothing_else() -> None:
    same = replace(PLAN, nodes=[replace(node, held=()) for node in reversed(PLAN.nodes)], kept={"topics": 9})
    assert digest([same]) == digest([PLAN])
    other_value = replace(PLAN, changes=[replace(PLAN.changes[0], after={"partitions": 24}), *PLAN.changes[1:]])
    other_cluster = replace(PLAN, name="payments")
    other_reason = replace(PLAN, nodes=[replace(PLAN.nodes[0], why="property num.io.threads: 8 -> 7"), *PLAN.nodes[1:]])
    assert len({digest([one]) for one in (PLAN, other_value, other_cluster, other_reason)}) == 4


def test_a_mirror_is_shown_and_said_to_be_outside_of_the_approval() -> None:
    mirror = NodePlan("mirror1", STARTS, compared=False)
    plan = replace(NOTHING, nodes=[mirror])
    assert lines(plan)[0] == "mirror1 would start; the approval does not cover this"
    assert digest([plan]) == digest([])


def running(**more: Any) -> dict[str, Any]:
    return {"process": {"running": True}, "restart_reasons": [], **more}


@pytest.mark.parametrize(
    ("info", "files", "forced", "does"),
    [
        (
            {"process": {"running": False}, "disks": [{"meta_properties": {}, "started": False}]},
            ["start"],
            False,
            INSTALLS,
        ),
        ({"process": {"running": False}, "disks": [{"meta_properties": {"node.id": "1"}}]}, [], False, STARTS),
        ({}, [], True, INSTALLS),
        (running(restart_reasons=[{"name": "a"}]), [], False, RESTARTS),
        (running(), [], True, RESTARTS),
        (running(), ["metrics.yml"], False, WRITES),
        (running(), [], False, STAYS),
    ],
)
def test_what_would_be_done_to_a_node(info: dict[str, Any], files: list[str], forced: bool, does: str) -> None:
    assert node_does(info, files, forced) == does


def test_the_changes_are_those_of_the_diff_of_a_module() -> None:
    diff = {"before": {"a": {"x": 1}, "b": {"x": 2}}, "after": {"a": {"x": 3}, "c": {"x": 4}}}
    assert changes_in("topic", diff) == [
        Change("topic", "a", {"x": 1}, {"x": 3}),
        Change("topic", "b", {"x": 2}, None),
        Change("topic", "c", None, {"x": 4}),
    ]
    assert changes_in("topic", {}) == []


def text(plan: ClusterPlan) -> str:
    return "\n".join(["orders:", *(f"  {line}" for line in lines(plan))])


def test_the_approved_plan_is_carried_out_and_one_that_is_done_is_not_refused() -> None:
    moves = "9-12-" + "0" * 64
    assert refusal(f"{digest([PLAN])},{moves}", digest([PLAN])) == ""
    assert refusal("", digest([PLAN])) == ""
    assert refusal(" ", digest([PLAN])) == ""
    assert refusal(digest([PLAN]), digest([NOTHING])) == ""
    assert moves_in(f"{digest([PLAN])},{moves}") == moves


def test_another_plan_is_refused_with_the_difference_of_both() -> None:
    now = replace(PLAN, nodes=[PLAN.nodes[0], NodePlan("kafka2", RESTARTS, "record process: x -> y"), PLAN.nodes[2]],
                  changes=PLAN.changes[1:])  # fmt: skip
    said = refusal(digest([PLAN]), digest([now]), text(PLAN), text(now))
    assert "the approved one has 5 changes, the plan of now 5 changes" in said
    assert "\n- only approved: topic orders partitions=6 -> partitions=12\n" in said
    assert "\n- only now: kafka2 would restart (record process: x -> y)\n" in said
    assert "stays" not in said
    assert "not now" not in said
    assert "only" not in refusal(digest([PLAN]), digest([now])).replace("plan_only", "")


def test_a_refusal_of_a_plan_that_found_nothing_names_the_tag_that_shows_no_nodes() -> None:
    hint = "A plan with --tags kafka_service alone lists no nodes: give kafka_configure,kafka_service to both. fix:"
    assert hint in refusal(digest([NOTHING]), digest([PLAN]))
    assert "kafka_service" not in refusal(digest([PLAN]), digest([replace(PLAN, changes=PLAN.changes[1:])]))


@pytest.mark.parametrize("given", ["yes", "3-changes-xyz", "9-12-" + "0" * 64])
def test_what_is_no_digest_of_such_a_plan_approves_nothing(given: str) -> None:
    assert "no digest of a plan that this run could carry out" in refusal(given, digest([PLAN]))


def test_what_is_no_digest_is_refused_where_nothing_is_left_to_do_as_well() -> None:
    assert "has 'yes', which is no digest of a plan" in refusal("yes", digest([NOTHING]))
    assert "3-changes-xyz" in refusal(f"{digest([PLAN])},3-changes-xyz", digest([NOTHING]))
    assert refusal("9-12-" + "0" * 64, digest([NOTHING])) == "", "the moves are compared where they are planned"
