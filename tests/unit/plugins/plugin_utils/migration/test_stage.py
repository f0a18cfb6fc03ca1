# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run does with each host, as the result of a task: stages, restarts, what forbids a step, how far it is."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._migration import phase as phases
from ansible_collections.streamops.kafka.plugins.module_utils._migration.judge import StepFacts
from ansible_collections.streamops.kafka.plugins.module_utils._migration.model import ClusterLook
from ansible_collections.streamops.kafka.plugins.module_utils._migration.modes import (
    KRAFT,
    LEFT_ALONE,
    MIGRATING,
    ZOOKEEPER,
)
from ansible_collections.streamops.kafka.plugins.module_utils._migration.stages import NEXT, STAY, UnclearStageError
from ansible_collections.streamops.kafka.plugins.module_utils._migration.steps import STEPS
from ansible_collections.streamops.kafka.plugins.plugin_utils.migration.stage import (
    plan_lines,
    progress_facts,
    seen_by,
    step_facts,
    step_plan,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.view import View
from tests.support.inventory_data import view
from tests.unit.plugins.module_utils._migration import looks
from tests.unit.plugins.plugin_utils.migration.test_read import read_back

ASKED = StepFacts()


def facts(look: ClusterLook, wish: str, known: StepFacts | None = ASKED) -> dict[str, Any]:
    """Return the result of a task, as it comes out of JSON."""
    result: dict[str, Any] = json.loads(json.dumps(step_facts(step_plan(look, wish, known))))
    return result


def test_a_run_between_the_steps_leaves_new_controllers_alone_and_restarts_nothing() -> None:
    result = facts(read_back(looks.not_begun()), STAY, None)
    controllers = ["controller1", "controller2", "controller3"]
    assert (result["phase"], result["idle"], result["restarts"]) == (phases.NOT_BEGUN, controllers, [])
    assert result["stages"] == {
        **dict.fromkeys(("broker1", "broker2", "broker3"), ZOOKEEPER),
        **dict.fromkeys(controllers, LEFT_ALONE),
    }
    assert (result["goal"], result["seconds"], result["irreversible"]) == ("", 0, False)


def test_a_step_says_where_it_leads_how_long_it_waits_and_whom_it_restarts() -> None:
    result = facts(read_back(looks.brokers_moving()), NEXT)
    assert (result["troubles"], result["idle"]) == ([], [])
    assert (result["goal"], result["seconds"], result["irreversible"]) == (phases.DUAL_WRITE_KRAFT, 120, False)
    assert result["restarts"] == ["broker2", "broker3"]
    assert set(result["stages"].values()) == {KRAFT, MIGRATING}


def test_a_step_that_closes_the_way_back_says_so() -> None:
    result = facts(looks.dual_write_kraft(), NEXT, StepFacts(confirmed=phases.FINALISED))
    assert (result["goal"], result["irreversible"]) == (phases.FINALISED, True)
    assert set(result["stages"].values()) == {KRAFT}


def test_a_step_that_is_forbidden_has_no_stages() -> None:
    result = facts(looks.dual_write_kraft(), NEXT)
    assert (result["stages"], result["restarts"], result["goal"]) == ({}, [], "")
    assert [trouble["name"] for trouble in result["troubles"]] == ["not_confirmed"]
    assert "fix: confirm it for this cluster" in result["troubles"][0]["text"]


def test_a_step_for_which_no_broker_was_asked_is_forbidden() -> None:
    result = facts(looks.copied(), NEXT, None)
    assert [trouble["name"] for trouble in result["troubles"]] == ["reassignments_unread"]


def test_a_run_in_a_phase_that_is_not_known_fails() -> None:
    look = looks.with_controllers(looks.copied(), silence="timed out", log=None)
    with pytest.raises(UnclearStageError):
        step_plan(look, STAY)


def test_a_step_shows_how_far_it_is() -> None:
    assert progress_facts(looks.brokers_moving(), phases.COPIED) == {
        "reached": False,
        "done": 1,
        "total": 3,
        "text": "1 of 3 brokers are registered in KRaft mode; waits for broker2 (id 2), broker3 (id 3)",
    }


def rendered(look: ClusterLook, wish: str, host: str) -> View:
    """Return the model of a host to which the stages of a run are given as they are to each."""
    plan = step_plan(look, wish, ASKED)
    groups = {
        "brokers": [node.host for node in look.brokers],
        "controllers": [node.host for node in look.controllers],
        "zookeepers": ["zk1", "zk2", "zk3"],
    }
    hosts: dict[str, dict[str, Any]] = {
        node.host: {"kafka_node_id": node.id, "_kafka_stage": plan.stages[node.host]} for node in look.nodes
    }
    hosts |= {f"zk{number}": {"zookeeper_id": number} for number in (1, 2, 3)}
    return view(hosts, **groups, host=host, kafka_mode="zookeeper", kafka_log_dirs=["/d"])


@pytest.mark.parametrize(
    ("host", "wish", "keys"),
    [
        ("broker1", STAY, {"process.roles"}),
        ("broker2", STAY, {"broker.id", "zookeeper.metadata.migration.enable"}),
        ("broker2", NEXT, {"process.roles"}),
        ("controller1", NEXT, {"process.roles", "zookeeper.metadata.migration.enable"}),
    ],
)
def test_hosts_of_one_cluster_are_rendered_each_in_its_own_stage(host: str, wish: str, keys: set[str]) -> None:
    found = rendered(looks.brokers_moving(), wish, host)["properties"]
    assert {"broker.id", "process.roles", "zookeeper.metadata.migration.enable"} & set(found) == keys
    assert found["controller.quorum.voters"][0] == "101@controller1:9093"


def test_the_plan_of_a_step_names_whom_it_restarts_in_their_order_and_as_what() -> None:
    plan = step_plan(looks.brokers_moving(), NEXT, ASKED)
    assert plan_lines(plan) == [
        "Step         brokers_moving -> dual_write_kraft",
        "Restart      broker2 as kraft",
        "Restart      broker3 as kraft",
        "Then         waits up to 120 s for dual_write_kraft",
    ]
    last = plan_lines(step_plan(looks.dual_write_kraft(), NEXT, StepFacts(confirmed=phases.FINALISED)))
    assert last[0].endswith("-> finalised; afterwards there is no way back to ZooKeeper")


def test_the_last_step_is_taken_by_hand() -> None:
    plan = step_plan(looks.finalised(), NEXT, StepFacts(confirmed=phases.ZOOKEEPER_GONE))
    assert ([trouble.name for trouble in plan.troubles], plan.stages) == (["by_hand"], {})
    assert plan.troubles[0].what.startswith("the last step, to stop ZooKeeper")
    assert STEPS[phases.FINALISED].does.startswith("by hand")
    assert plan_lines(plan) == []


def test_a_controller_waits_for_its_own_log_and_for_no_other_one() -> None:
    before = looks.controllers_ready()
    one, *others = before.controllers
    assert one.log is not None
    log = replace(one.log, brokers={1: True, 2: True, 3: True}, state="MIGRATION", end=one.log.end + 9)
    started = [replace(node, started=looks.STARTED[MIGRATING]) for node in before.brokers]
    now = replace(before, nodes=(replace(one, log=log), *others, *started))
    assert progress_facts(seen_by(now, one.host), phases.CONTROLLERS_READY)["reached"]
    assert not progress_facts(seen_by(now, others[0].host), phases.CONTROLLERS_READY)["reached"]
    assert [node.host for node in seen_by(now, one.host).controllers] == [one.host]
