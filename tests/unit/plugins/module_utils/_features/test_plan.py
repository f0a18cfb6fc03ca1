# SPDX-License-Identifier: GPL-3.0-or-later
"""Deciding about features: what is below, what is raised in which order, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._features.plan import (
    BROKER,
    CONTROLLER,
    SAFE_DOWNGRADE,
    UPGRADE,
    Node,
    State,
    Step,
    described,
    lines,
    plan_least,
    plan_levels,
    plan_newest,
    refused_steps,
    way_back,
)

ELR = "eligible.leader.replicas.version"
OLD = {"metadata.version": (1, 25), "group.version": (0, 1), "kraft.version": (0, 1)}
NEW = {"metadata.version": (7, 30), "group.version": (0, 1), "kraft.version": (0, 1), ELR: (0, 1)}
FINALIZED = {"metadata.version": 25, "group.version": 0}


def state(*nodes: Node, finalized: Mapping[str, int] = FINALIZED, epoch: int | None = 9) -> State:
    """A cluster with these nodes."""
    return State(finalized, epoch, nodes)


def broker(node: int, ranges: Mapping[str, tuple[int, int]] = NEW) -> Node:
    """A broker that told what it supports."""
    return Node(node, BROKER, ranges)


GHOST = Node(7, BROKER, None, True, "it is fenced: down, or not yet up")
BLIND = Node(9, CONTROLLER, None, False, "c9:9093: timed out")


def test_what_all_nodes_could_run_is_the_intersection_and_who_holds_a_feature_down_is_named() -> None:
    found = described(state(broker(1), broker(2, OLD)), {})
    metadata = found["features"][0]
    assert (metadata["name"], metadata["min"], metadata["max"], metadata["max_name"]) == (
        "metadata.version",
        7,
        25,
        "4.0-IV3",
    )
    assert (metadata["below"], metadata["held_by"]) == (False, ["broker 2"])
    elr = next(one for one in found["features"] if one["name"] == ELR)
    assert (elr["max"], elr["below"], elr["held_by"]) == (0, False, ["broker 2"])
    assert found["below"] == ["group.version", "kraft.version"]


def test_lines_say_what_is_below_and_what_counts_without_an_answer() -> None:
    said = lines(state(broker(1), GHOST, BLIND), {"metadata.version": "Broker 7 only supports versions 1-25"})
    assert said[0] == (
        "metadata.version is 4.0-IV3 (level 25) although all nodes could run 4.3-IV0 (level 30); the controller would "
        "refuse it: Broker 7 only supports versions 1-25"
    )
    alone = described(state(broker(1)), {}, "update features: not allowed")
    assert alone["lines"][-1] == (
        "the controller could not be asked what it would refuse: update features: not allowed"
    )
    assert said[-2:] == [
        "broker 7 is registered and fenced: it counts when a feature is raised",
        "controller 9 did not tell what it supports: c9:9093: timed out",
    ]


def test_metadata_version_goes_first_and_kraft_version_last_and_back_the_other_way() -> None:
    wanted = {"kraft.version": 1, ELR: 1, "metadata.version": "4.3"}
    plan = plan_levels(state(broker(1)), wanted, UPGRADE)
    assert plan.violations == []
    assert [one.feature for one in plan.steps] == ["metadata.version", ELR, "kraft.version"]
    high = state(broker(1), finalized={"metadata.version": 30, ELR: 1, "group.version": 1})
    back = plan_levels(high, {"metadata.version": 30, ELR: 0, "group.version": 0}, SAFE_DOWNGRADE)
    assert ([one.feature for one in back.steps], back.unchanged) == ([ELR, "group.version"], ["metadata.version"])


@pytest.mark.parametrize("level", [30, "30", " 30 ", "4.3", 4.3, "4.3-IV0", "4.3-iv0", "4.3.1"])
def test_a_level_is_a_number_a_name_or_a_release_also_as_text(level: object) -> None:
    plan = plan_levels(state(broker(1)), {"metadata.version": level}, UPGRADE)
    assert (plan.violations, plan.steps) == ([], [Step("metadata.version", 25, 30)])


@pytest.mark.parametrize("level", [True, "", "newest", "4.9", "4", -1, 4.1e9, None, "4.3-IV9"])
def test_what_is_no_level_is_refused(level: object) -> None:
    (violation,) = plan_levels(state(broker(1)), {"metadata.version": level}, UPGRADE).violations
    assert violation.startswith("metadata.version: ")


def test_a_release_is_no_level_of_another_feature() -> None:
    (violation,) = plan_levels(state(broker(1)), {"group.version": "4.3"}, UPGRADE).violations
    assert violation == "group.version: '4.3' is no level of it; give a whole number from 0 on"


def test_a_name_that_no_node_knows_is_refused_with_names_like_it_beside_all_else() -> None:
    plan = plan_levels(state(broker(1)), {"group.versio": 1, "metadata.version": 99}, UPGRADE)
    assert len(plan.violations) == 2
    assert "names like it: group.version" in plan.violations[0]


def test_a_level_above_a_node_is_refused_with_the_nodes() -> None:
    nodes = state(broker(1), broker(2, OLD), Node(3, CONTROLLER, OLD))
    (violation,) = plan_levels(nodes, {"metadata.version": "4.3"}, UPGRADE).violations
    assert violation == (
        "metadata.version: level 4.3-IV0 (level 30) is not supported by all nodes (broker 2, controller 3: 1 to 25); "
        "ask for a level from 7 to 25, or have a release that supports it on these nodes first"
    )


def test_a_level_below_a_node_is_refused() -> None:
    (violation,) = plan_levels(state(broker(1)), {"metadata.version": 5}, SAFE_DOWNGRADE).violations
    assert "(broker 1: 7 to 30); ask for a level from 7 to 30" in violation


def test_newest_is_what_all_nodes_support_and_only_of_what_is_named() -> None:
    plan = plan_newest(state(broker(1), broker(2)), ["metadata.version", ELR, ELR])
    assert plan.steps == [Step("metadata.version", 25, 30), Step(ELR, 0, 1)]
    held = plan_newest(state(broker(1), broker(2, OLD)), ["metadata.version"])
    assert (held.steps, held.unchanged, held.violations) == ([], ["metadata.version"], [])
    assert plan_newest(state(broker(1)), ["nothing"]).violations


def test_features_go_up_in_the_order_in_which_a_cluster_is_finalised() -> None:
    names = ("streams.version", "share.version", "kraft.version", "transaction.version", "group.version", ELR)
    ranges = {**dict.fromkeys(names, (0, 1)), "metadata.version": (7, 30), "another.version": (0, 1)}
    plan = plan_least(state(broker(1, ranges)), dict.fromkeys((*names, "another.version"), 1))
    assert [one.feature for one in plan.steps] == [
        "group.version",
        "transaction.version",
        ELR,
        "share.version",
        "streams.version",
        "another.version",
        "kraft.version",
    ]


def test_at_least_leaves_what_is_higher_and_raises_what_is_lower() -> None:
    now = state(broker(1), finalized={"metadata.version": 30, "group.version": 0})
    plan = plan_least(now, {"metadata.version": "4.0", "group.version": "1"})
    assert (plan.steps, plan.unchanged) == ([Step("group.version", 0, 1)], ["metadata.version"])
    assert "'high' is no level of it" in plan_least(now, {"group.version": "high"}).violations[0]
    assert plan_least(state(broker(1), epoch=None), {"metadata.version": 25}).violations


@pytest.mark.parametrize(
    ("wanted", "upgrade_type", "words"),
    [
        ({"metadata.version": 22}, UPGRADE, "is a downgrade; give upgrade_type safe_downgrade"),
        ({"metadata.version": 30}, SAFE_DOWNGRADE, "is no downgrade; give upgrade_type upgrade"),
        ({"metadata.version": 22}, SAFE_DOWNGRADE, "changed with 4.0-IV1, so Kafka has no safe way back"),
        ({"kraft.version": 0}, SAFE_DOWNGRADE, "Kafka never takes kraft.version back"),
    ],
)
def test_a_step_goes_only_where_it_is_asked_to_and_loses_nothing(
    wanted: Mapping[str, object], upgrade_type: str, words: str
) -> None:
    now = state(broker(1), finalized={"metadata.version": 25, "kraft.version": 1})
    (violation,) = plan_levels(now, wanted, upgrade_type).violations
    assert words in violation


def test_levels_without_metadata_changes_are_taken_back() -> None:
    plan = plan_levels(state(broker(1)), {"metadata.version": 23}, SAFE_DOWNGRADE)
    assert (plan.violations, plan.steps) == ([], [Step("metadata.version", 25, 23)])


def test_what_the_controller_refuses_names_the_ghosts_that_may_be_behind_it() -> None:
    now = state(broker(1), GHOST)
    plan = plan_newest(now, ["metadata.version"])
    error = ("INVALID_UPDATE_VERSION", "Broker 7 only supports versions 1-25")
    (said,) = refused_steps(plan, now, {"metadata.version": error})
    assert "Broker 7 only supports versions 1-25 (INVALID_UPDATE_VERSION)" in said
    assert "they count all the same: broker 7;" in said
    assert refused_steps(plan, now, {"metadata.version": None}) == []


def test_a_controller_that_nothing_is_known_of_stops_only_where_the_cluster_does_not_know_either() -> None:
    early = state(broker(1, {"metadata.version": (1, 25)}), BLIND, finalized={"metadata.version": 14})
    (violation,) = plan_newest(early, ["metadata.version"]).violations
    assert "the levels of controller 9 are unknown" in violation
    assert plan_newest(state(broker(1), BLIND), ["metadata.version"]).violations == []


def test_a_cluster_in_zookeeper_mode_has_no_features() -> None:
    (violation,) = plan_levels(state(broker(1), epoch=None, finalized={}), {"metadata.version": 1}, UPGRADE).violations
    assert "it is in ZooKeeper mode" in violation
    found = described(state(broker(1), epoch=None, finalized={}), {})
    assert (found["below"], found["lines"], [one["below"] for one in found["features"]]) == ([], [], [False] * 4)


def test_whether_a_step_can_be_taken_back_is_said_before_it() -> None:
    assert way_back("metadata.version", 25, 29) == (
        True,
        "It can be taken back to 4.0-IV3 (level 25) by a safe downgrade.",
    )
    assert way_back("metadata.version", 25, 30)[0] is False
    assert way_back("metadata.version", 33, 35)[0] is False
    assert way_back("kraft.version", 0, 1)[0] is False
    assert way_back(ELR, 0, 1)[0] is True
    assert way_back(ELR, 1, 0)[0] is True


def test_a_step_says_what_it_brings_and_takes_away() -> None:
    assert Step("metadata.version", 25, 30).as_dict()["brings"] == (
        "It brings cordoned log directories (4.3, KIP-1066)."
    )
    assert "ACLs for networks of hosts (4.4)" in Step("metadata.version", 25, 33).as_dict()["brings"]
    assert Step("share.version", 1, 0).as_dict()["brings"] == "It takes away share groups (KIP-932)."
    assert Step("new.version", 0, 1).as_dict()["brings"] == "It brings nothing that this collection knows by name."
