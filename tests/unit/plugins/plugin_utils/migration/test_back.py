# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run of the way back does with each host, as the result of a task, and the same run again after each cut."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._migration import phase as phases
from ansible_collections.streamops.kafka.plugins.module_utils._migration.judge import StepFacts
from ansible_collections.streamops.kafka.plugins.module_utils._migration.model import ClusterLook, Znodes
from ansible_collections.streamops.kafka.plugins.module_utils._migration.modes import (
    KRAFT,
    LEFT_ALONE,
    MIGRATING,
    ZOOKEEPER,
)
from ansible_collections.streamops.kafka.plugins.module_utils._migration.stages import stages
from ansible_collections.streamops.kafka.plugins.module_utils._migration.troubles import BACK
from ansible_collections.streamops.kafka.plugins.plugin_utils.migration.back import (
    back_facts,
    back_plan,
    back_progress_facts,
)
from tests.unit.plugins.module_utils._migration import looks
from tests.unit.plugins.plugin_utils.migration.test_read import read_back

BROKERS = ["broker1", "broker2", "broker3"]
CONTROLLERS = ["controller1", "controller2", "controller3"]
NOW = 1795986000


def facts(look: ClusterLook, **known: Any) -> dict[str, Any]:
    """Return the result of a task, as it comes out of JSON."""
    directories = {node.host: f"/data/{node.host}" for node in look.nodes}
    plan = back_plan(read_back(look), StepFacts(**known), directories, NOW)
    result: dict[str, Any] = json.loads(json.dumps(back_facts(plan)))
    return result


def test_brokers_of_kraft_return_one_after_the_other_and_controllers_stay() -> None:
    result = facts(looks.dual_write_kraft())
    assert (result["troubles"], result["goal"], result["seconds"]) == ([], phases.COPIED, 120)
    assert result["stages"] == dict.fromkeys([*BROKERS, *CONTROLLERS], MIGRATING)
    assert (result["hands_over"], result["stop"], result["controllers_stopped"]) == (False, [], False)
    assert result["restarts"] == BROKERS
    assert result["aside"]["broker2"] == {
        "path": "/data/broker2/__cluster_metadata-0",
        "name": "/data/broker2/__cluster_metadata-1795986000",
    }
    assert result["lines"][1] == "Restart      broker1 as migrating; sets aside /data/broker1/__cluster_metadata-0"


def test_a_hand_over_names_all_that_it_does_before_it_does_it() -> None:
    result = facts(looks.with_znodes(looks.copied(), epoch=3))
    assert (result["goal"], result["hands_over"], result["quorum_epoch"]) == (phases.NOT_BEGUN, True, 4)
    assert (result["stop"], result["idle"], result["controllers_stopped"]) == (CONTROLLERS, CONTROLLERS, False)
    assert result["stages"] == {**dict.fromkeys(BROKERS, ZOOKEEPER), **dict.fromkeys(CONTROLLERS, LEFT_ALONE)}
    assert list(result["aside"]) == CONTROLLERS
    assert result["lines"] == [
        "Way back     copied -> not_begun",
        *(f"Stop         {host}" for host in CONTROLLERS),
        "Then         set /controller_epoch 5",
        "Then         delete /controller",
        "Then         delete /migration",
        *(
            f"Then         set aside /data/{host}/__cluster_metadata-0 -> "
            f"/data/{host}/__cluster_metadata-1795986000 on {host}"
            for host in CONTROLLERS
        ),
        *(f"Restart      {host} as zookeeper" for host in BROKERS),
        "Then         waits up to 120 s for not_begun",
    ]


def test_the_second_judgement_says_that_the_controllers_are_stopped() -> None:
    stopped = looks.with_controllers(looks.copied(), running=False)
    result = facts(stopped, unasked="nobody is in charge")
    assert (result["troubles"], result["stop"], result["controllers_stopped"]) == ([], [], True)
    assert len(result["aside"]) == 3
    one_runs = looks.with_node(stopped, "controller2", running=True)
    assert (facts(one_runs)["stop"], facts(one_runs)["controllers_stopped"]) == (["controller2"], False)


def test_from_controllers_that_wait_no_broker_restarts() -> None:
    result = facts(looks.controllers_ready())
    assert (result["stop"], result["restarts"], result["quorum_epoch"]) == (CONTROLLERS, [], 0)
    assert "Then         delete /migration" in result["lines"]


def test_a_half_step_that_is_forbidden_has_no_stages() -> None:
    result = facts(looks.with_node(looks.dual_write_kraft(), "broker2", kraft_dirs=("/d",)))
    assert (result["stages"], result["restarts"], result["stop"], result["aside"]) == ({}, [], [], {})
    assert [trouble["name"] for trouble in result["troubles"]] == ["bound_to_kraft"]
    assert result["lines"][0].startswith("Blocks back  broker broker2 (id 2) has directories")
    assert "no_way_back" in [trouble["name"] for trouble in facts(looks.finalised())["troubles"]]


def test_a_broker_in_charge_in_too_low_an_epoch_forbids_it_too() -> None:
    result = facts(looks.with_znodes(looks.copied(), controller=2, kraft_epoch=-1, epoch=4))
    (trouble,) = result["troubles"]
    assert trouble["name"] == "hand_over_refused"
    assert trouble["what"].endswith("(KAFKA-20488)")
    assert trouble["fix"].startswith("set /controller_epoch to 5")


def done(look: ClusterLook, result: dict[str, Any]) -> ClusterLook:
    """Return the cluster behind all that a half step says: what Kafka makes of it stands in the looks."""
    if not result["hands_over"]:
        assert {result["stages"][host] for host in result["restarts"]} == {MIGRATING}
        return looks.copied()
    look = looks.with_controllers(look, running=False, log=None, epoch=0)
    for host in result["restarts"]:
        look = looks.with_node(look, host, started=looks.STARTED[ZOOKEEPER])
    znodes = replace(look.ensemble.znodes or Znodes(), controller=1, kraft_epoch=-1, epoch=10, migration=None)
    return replace(look, ensemble=replace(look.ensemble, znodes=replace(znodes, brokers=frozenset({1, 2, 3}))))


@pytest.mark.parametrize(
    ("look", "runs"),
    [
        (looks.controllers_ready(), 1),
        (looks.brokers_migrating(), 1),
        (looks.copied(), 1),
        (looks.brokers_moving(), 2),
        (looks.dual_write_kraft(), 2),
    ],
)
def test_runs_lead_all_the_way_back_and_then_nothing_is_left(look: ClusterLook, runs: int) -> None:
    for _run in range(runs):
        result = facts(look)
        assert result["troubles"] == []
        assert not back_progress_facts(look, result["phase"])["reached"]
        look = done(look, result)
        assert back_progress_facts(look, result["phase"])["reached"]
    assert [trouble["name"] for trouble in facts(look)["troubles"]] == ["is_back"]


def test_a_broker_that_has_returned_does_not_restart_again() -> None:
    result = facts(looks.brokers_moving())
    assert (result["restarts"], list(result["aside"])) == (["broker1"], ["broker1"])
    assert KRAFT not in result["stages"].values()


@pytest.mark.parametrize(
    "look", [looks.not_begun(), looks.controllers_ready(), looks.brokers_migrating(), looks.copied()]
)
def test_the_stages_of_each_hand_over_are_the_same_whatever_its_second_judgement_finds(look: ClusterLook) -> None:
    wanted = stages(look, phases.phase_of(look), BACK)
    assert wanted == {**dict.fromkeys(BROKERS, ZOOKEEPER), **dict.fromkeys(CONTROLLERS, LEFT_ALONE)}
