# SPDX-License-Identifier: GPL-3.0-or-later
"""The step to the features of a release: which levels, what is refused, and the lines of one screen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._features.plan import Step
from ansible_collections.streamops.kafka.plugins.plugin_utils.findings import REFUSE, Finding
from ansible_collections.streamops.kafka.plugins.plugin_utils.upgrade import checks
from ansible_collections.streamops.kafka.plugins.plugin_utils.upgrade.finalize import (
    check_finalize,
    done_lines,
    finalize_lines,
    wanted_levels,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.upgrade.model import FINALIZE, ClusterFacts
from ansible_collections.streamops.kafka.plugins.plugin_utils.upgrade.plan import refusal_text
from tests.unit.plugins.plugin_utils.upgrade.upgrade_data import NEW, OLD, cluster, info, node

STEPS = [Step("metadata.version", 21, 30), Step("group.version", 0, 1)]
RAISING: Mapping[str, Any] = {"changes": [one.as_dict() for one in STEPS], "unchanged": ["share.version"]}
NOTHING: Mapping[str, Any] = {"changes": [], "unchanged": ["metadata.version", "group.version"]}


def upgraded(*nodes: Any, **values: Any) -> ClusterFacts:
    """Three combined nodes that run their release, or those that are given."""
    nodes = nodes or tuple(node(number, runs=NEW) for number in (1, 2, 3))
    return cluster(*nodes, **{"action": FINALIZE, **values})


def findings(facts: ClusterFacts, raising: Mapping[str, Any] = RAISING) -> list[Finding]:
    return [one for outcome in check_finalize(facts, raising) for one in outcome.findings]


def test_a_cluster_gets_what_a_new_one_gets_and_kraft_version_never() -> None:
    state, levels = wanted_levels(upgraded(), {})
    assert state == "at_least"
    assert list(levels.items()) == [
        ("metadata.version", 30),
        ("group.version", 1),
        ("transaction.version", 2),
        ("eligible.leader.replicas.version", 1),
        ("share.version", 1),
        ("streams.version", 1),
    ]


def test_a_feature_that_a_new_cluster_does_not_get_is_left_alone() -> None:
    _state, levels = wanted_levels(upgraded(target="4.1.2"), {})
    assert ("share.version" in levels, levels["metadata.version"]) == (False, 27)
    assert wanted_levels(upgraded(target="9.9.9"), {}) == ("at_least", {})


def test_levels_by_hand_hold_as_they_are_and_alone() -> None:
    given = {"metadata.version": "4.0", "kraft.version": 1}
    assert wanted_levels(upgraded(), given) == ("present", given)


def test_a_cluster_in_order_is_refused_for_nothing() -> None:
    assert findings(upgraded()) == []
    assert all(outcome.fine for outcome in check_finalize(upgraded(), RAISING))


def test_replicas_moves_and_mirrors_do_not_matter() -> None:
    behind = [{"topic": "orders", "partition": 0, "replicas": [1, 2, 3], "isr": [1]}]
    facts = upgraded(info=info(1, 2, 3, under_replicated=behind), mirrors={"m1": OLD})
    assert findings(facts) == []


@pytest.mark.parametrize(
    ("facts", "what"),
    [
        (upgraded(node(1, runs=NEW), node(2)), f"k2 runs Kafka {OLD}, and kafka_version is {NEW}"),
        (upgraded(node(1, runs=NEW, target=OLD), target=OLD), f"k1 runs Kafka {NEW}, and kafka_version is {OLD}"),
        (upgraded(node(1, runs="9.9.9", target="9.9.9"), target="9.9.9"), "this collection does not have Kafka 9.9.9"),
        (upgraded(node(1, runs=NEW), node(2, runs=NEW, running=False)), "k2 is stopped"),
        (upgraded(node(1, runs=NEW), node(2, runs="", running=False, silence="timed out")), "k2 does not answer"),
        (upgraded(node(1, runs=NEW), node(2, runs="")), "nothing was ever started on k2"),
        (upgraded(info=info(1, 2, 3, 9)), "controller 9 is one of the 4 voters"),
        (upgraded(info=info(1, 2, 3, quorum={"leader_id": 1, "observers": [{"id": 8}]})), "the inventory lacks follow"),
        (
            upgraded(info={**info(1, 2, 3), "nodes": [{"id": one, "fenced": one == 2} for one in (1, 2, 3)]}),
            "k2 runs, and the cluster has it fenced",
        ),
        (upgraded(info=None, unasked="timed out"), "the cluster does not answer (timed out)"),
    ],
)
def test_an_old_absent_or_unknown_node_is_refused_with_a_fix(facts: ClusterFacts, what: str) -> None:
    found = findings(facts)
    assert [one for one in found if what in one.what and one.level == REFUSE and one.fix], found


def test_half_an_upgrade_refuses_what_its_own_gates_would_wait_for() -> None:
    facts = upgraded(node(1, runs=NEW), node(2), info=info(1, 2, quorum={"error": "no answer"}))
    assert ("refuse", "the quorum does not answer: no answer") in [(one.level, one.what) for one in findings(facts)]


def test_each_reason_of_the_cluster_is_one_of_the_run() -> None:
    raising = {"msg": "features: 2 ...", "failure": {"violations": ["group.versio: no node", "metadata.version: high"]}}
    assert [one.what for one in findings(upgraded(), raising)] == ["group.versio: no node", "metadata.version: high"]
    assert [one.what for one in findings(upgraded(), {"msg": "not\n allowed"})] == ["not allowed"]
    silent = findings(upgraded(info=None, unasked="timed out"), {"msg": "timed out"})
    assert len(silent) == 1, "that the cluster does not answer is said once"


def test_zookeeper_mode_is_refused_with_what_takes_the_place_of_features() -> None:
    facts = upgraded(node(1, ("broker",), runs="3.9.2", target="3.9.2"), mode="zookeeper", target="3.9.2")
    (only,) = findings(facts, {})
    assert "finalises no features" in only.what
    assert "set inter.broker.protocol.version in kafka_config to the release that all brokers run (3.9)" in only.fix


def test_features_are_not_raised_between_zookeeper_and_kraft() -> None:
    nodes = [node(1, ("broker",), runs="3.9.2", target="3.9.2"), node(9, ("controller",), runs="3.9.2", target="3.9.2")]
    (only,) = findings(upgraded(*nodes, mode="zookeeper", target="3.9.2"), {})
    assert "on its way from ZooKeeper to KRaft, where Kafka supports no change of metadata.version" in only.what
    # Setting it would be such a change.
    assert "inter.broker.protocol.version" not in only.fix
    assert only.fix.startswith("finish the migration by migrate_to_kraft.yml")


def test_the_plan_says_from_where_to_where_what_it_brings_and_the_way_back() -> None:
    outcomes = check_finalize(upgraded(), RAISING)
    assert finalize_lines(upgraded(), outcomes, RAISING) == [
        "Finalize     local: Kafka 4.3.1 on 3 nodes",
        "Raise 1.     metadata.version 3.9-IV0 (level 21) -> 4.3-IV0 (level 30)",
        "             It brings eligible leader replicas (4.0, KIP-966), cordoned log directories (4.3, KIP-1066).",
        "             It cannot be taken back below 4.3-IV0, which changes what the metadata log holds.",
        "Raise 2.     group.version 0 -> 1",
        "             It brings consumer groups whose members the broker assigns (KIP-848).",
        "             It can be taken back to 0 by a safe downgrade.",
        "Stays        kraft.version 1",
        "Check        Nodes: all 3 run",
        "Check        Releases: 4.3.1 on all nodes",
        "Check        Quorum: whole",
        "Check        Registered: nodes of the inventory alone",
        "Check        Levels: all taken by the cluster",
    ]


def test_what_is_refused_stands_in_the_plan_and_in_the_message() -> None:
    facts = upgraded(node(1, runs=NEW), node(2))
    outcomes = check_finalize(facts, {})
    lines = finalize_lines(facts, outcomes, {})
    assert lines[-1].startswith(f"Refused      k2 runs Kafka {OLD}")
    assert not [line for line in lines if "nothing is left" in line]
    assert refusal_text(facts.name, facts.action, outcomes).startswith("Cluster local cannot be finalised now, for 1")


def test_a_second_run_finds_nothing_left() -> None:
    lines = finalize_lines(upgraded(), check_finalize(upgraded(), NOTHING), NOTHING)
    said = "nothing is left to raise (metadata.version, group.version as wanted)"
    assert lines[1] == f"Raise -      {said}"
    assert done_lines(upgraded(), NOTHING) == [f"Finalised    local: {said}"]


def test_what_was_raised_is_named() -> None:
    assert done_lines(upgraded(), RAISING) == [
        "Finalised    local: 2 features raised, no node restarted",
        "             metadata.version 3.9-IV0 (level 21) -> 4.3-IV0 (level 30)",
        "             group.version 0 -> 1",
    ]


def test_a_word_of_the_inventory_finalises_nothing() -> None:
    found = checks.path(upgraded()).findings
    assert [one.what for one in found] == ["kafka_upgrade=finalize does not come from the command line"]


def test_levels_that_cannot_be_read_are_refused_with_the_way_to_give_them() -> None:
    outcomes = check_finalize(upgraded(), {}, "kafka_upgrade_features is 'abc', which names no levels")
    (refused,) = [one for outcome in outcomes for one in outcome.findings]
    assert (refused.level, refused.what) == (REFUSE, "kafka_upgrade_features is 'abc', which names no levels")
    assert """-e '{"kafka_upgrade_features": {"metadata.version": "4.0"}}'""" in refused.fix
