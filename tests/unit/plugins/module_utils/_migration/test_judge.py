# SPDX-License-Identifier: GPL-3.0-or-later
"""What forbids a step, and what proves its end."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._migration import judge
from ansible_collections.streamops.kafka.plugins.module_utils._migration import phase as phases
from ansible_collections.streamops.kafka.plugins.module_utils._migration.back import left_of, troubles_back
from ansible_collections.streamops.kafka.plugins.module_utils._migration.judge import (
    GOALS,
    SECONDS,
    StepFacts,
    is_irreversible,
    progress_of,
    restarts_of,
    seconds_of,
    troubles_of_step,
)
from ansible_collections.streamops.kafka.plugins.module_utils._migration.model import (
    MIGRATION,
    PRE_MIGRATION,
    ClusterLook,
    EnsembleLook,
    MetadataLog,
    MigrationZnode,
    Znodes,
)
from ansible_collections.streamops.kafka.plugins.module_utils._migration.modes import (
    BROKER,
    CONTROLLER,
    FLAG,
    KRAFT,
    MIGRATING,
    PROTOCOL,
    ROLES,
    ZOOKEEPER,
)
from ansible_collections.streamops.kafka.plugins.module_utils._migration.phase import WAY, phase_of
from ansible_collections.streamops.kafka.plugins.module_utils._migration.stages import (
    NEXT,
    STAY,
    UnclearStageError,
    stages,
)
from ansible_collections.streamops.kafka.plugins.module_utils._migration.steps import STEPS
from ansible_collections.streamops.kafka.plugins.module_utils._migration.troubles import RELEASE
from tests.unit.plugins.module_utils._migration import looks

OF_ZOOKEEPER = Znodes(1, -1, 3, MigrationZnode())
STEP_PHASES = [getattr(looks, name) for name in GOALS]


def named(look: ClusterLook, **facts: Any) -> list[str]:
    return [trouble.name for trouble in troubles_of_step(look, StepFacts(**facts))]


def test_each_step_has_a_goal_behind_it_and_a_bound_for_its_wait() -> None:
    assert list(GOALS) == list(WAY[:-1]) == [name for name in WAY if STEPS[name].next]
    for before, goal in GOALS.items():
        assert WAY.index(goal) > WAY.index(before)
        assert 0 < seconds_of(before) == SECONDS[goal] <= 900


def test_finalising_alone_closes_the_way_back() -> None:
    assert [name for name in GOALS if is_irreversible(name)] == [phases.DUAL_WRITE_KRAFT]


@pytest.mark.parametrize("phase", STEP_PHASES, ids=GOALS)
def test_a_whole_cluster_may_take_its_next_step_once_that_is_confirmed(phase: Callable[[], ClusterLook]) -> None:
    look = phase()
    before = phase_of(look).name
    assert named(look, confirmed=GOALS[before]) == []
    unconfirmed = ["not_confirmed"] if before in (phases.DUAL_WRITE_KRAFT, phases.FINALISED) else []
    assert named(look) == unconfirmed


@pytest.mark.parametrize("confirmed", ["", "true", "dual_write_kraft", "zookeeper_gone"])
def test_what_was_confirmed_for_another_step_confirms_nothing(confirmed: str) -> None:
    troubles = troubles_of_step(looks.dual_write_kraft(), StepFacts(confirmed=confirmed))
    assert [trouble.name for trouble in troubles] == ["not_confirmed"]
    assert "there is no way back to ZooKeeper afterwards" in troubles[0].what
    assert "-e kafka_migration_confirmed=finalised" in troubles[0].fix


@pytest.mark.parametrize("phase", STEP_PHASES, ids=GOALS)
def test_a_reassignment_under_way_holds_each_step_of_kafka(phase: Callable[[], ClusterLook]) -> None:
    look = phase()
    goal = GOALS[phase_of(look).name]
    held = goal != phases.ZOOKEEPER_GONE
    assert named(look, confirmed=goal, moving=("t-0", "t-1")) == ["reassigning"] * held
    assert named(look, confirmed=goal, unasked="timed out") == ["reassignments_unread"] * held


def test_partitions_that_move_are_counted_and_named() -> None:
    text = str(troubles_of_step(looks.copied(), StepFacts(moving=tuple(f"t-{n}" for n in range(30))))[0])
    assert text.startswith("30 partitions are being reassigned: t-0, t-1, ")
    assert " and 10 more. fix: wait for the reassignment" in text


def test_a_first_step_that_was_cut_when_one_controller_had_started_is_taken_again_or_back() -> None:
    """One of three elects nobody, so nothing is in its log (metadata_log), and the cluster has begun nothing."""
    started = {ROLES: CONTROLLER, FLAG: "true"}
    look = looks.with_node(looks.not_begun(), "controller1", running=True, started=started, release=RELEASE, epoch=7)
    assert phase_of(look).name == phases.NOT_BEGUN
    assert named(look) == []
    wanted = stages(look, phase_of(look), NEXT)
    assert restarts_of(look, wanted) == ["controller2", "controller3"]
    assert troubles_back(look, StepFacts()) == ()
    assert left_of(look) == ["controller controller1 (id 101) is not stopped"]


def test_a_cluster_without_controllers_has_none_to_start() -> None:
    look = looks.not_begun()
    assert named(replace(look, nodes=look.brokers)) == ["no_controllers"]


@pytest.mark.parametrize(
    ("look", "trouble"),
    [
        (looks.with_node(looks.not_begun(), "broker2", running=False), "broker_down"),
        (looks.with_node(looks.not_begun(), "broker2", release="3.9.1"), "other_release"),
        (looks.with_node(looks.not_begun(), "broker2", started={PROTOCOL: "3.8"}), "old_protocol"),
        (looks.with_node(looks.not_begun(), "controller2", id=2), "shared_ids"),
        (looks.with_node(looks.not_begun(), "controller2", id=101), "same_ids"),
        (looks.with_node(looks.not_begun(), "broker2", roles=frozenset({BROKER, CONTROLLER})), "combined"),
        (looks.with_node(looks.controllers_ready(), "controller2", running=False), "controller_down"),
        (looks.with_node(looks.controllers_ready(), "controller2", log=None, running=False), "controller_missing"),
        (looks.with_node(looks.dual_write_kraft(), "broker2", running=False), "broker_down"),
        (looks.with_znodes(looks.dual_write_kraft(), brokers=frozenset({2})), "session_left"),
        (looks.with_node(looks.finalised(), "controller2", started={ROLES: CONTROLLER, FLAG: "true"}), "flag_left"),
    ],
)
def test_what_blocks_the_way_on_blocks_a_step_that_is_confirmed(look: ClusterLook, trouble: str) -> None:
    assert trouble in named(look, confirmed=GOALS[phase_of(look).name])


def test_a_broker_that_is_down_and_registered_with_zookeeper_keeps_the_migration_from_its_end() -> None:
    look = looks.cluster(MIGRATION, (KRAFT, KRAFT, MIGRATING), {1: False, 2: False, 3: True}, looks.OF_KRAFT)
    look = looks.with_node(look, "broker3", running=False)
    assert phase_of(look).name == phases.BROKERS_MOVING, "so the next step is not to finalise"
    assert "broker_down" in named(look, confirmed=phases.FINALISED)


def test_what_blocks_only_the_way_back_or_is_a_note_blocks_no_step() -> None:
    look = looks.with_znodes(looks.copied(), epoch=4)
    assert named(look) == []


@pytest.mark.parametrize(
    "look", [looks.zookeeper_gone(), looks.with_controllers(looks.copied(), silence="timed out", log=None)]
)
def test_from_an_end_and_from_an_unknown_phase_no_step_leads_on(look: ClusterLook) -> None:
    assert "no_step" in named(look)
    with pytest.raises(UnclearStageError):
        progress_of(look, phase_of(look).name)


# -- how far a step is -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("phase", "before", "text"),
    [
        (looks.controllers_ready, phases.NOT_BEGUN, "3 of 3 controllers run and have the state"),
        (looks.copied, phases.CONTROLLERS_READY, "3 of 3 brokers are registered in migration mode"),
        (looks.copied, phases.BROKERS_MIGRATING, "3 of 3 brokers are registered in migration mode"),
        (looks.dual_write_kraft, phases.COPIED, "3 of 3 brokers are registered in KRaft mode"),
        (looks.dual_write_kraft, phases.BROKERS_MOVING, "3 of 3 brokers are registered in KRaft mode"),
        (looks.finalised, phases.DUAL_WRITE_KRAFT, "3 of 3 controllers run without the migration flag"),
        (looks.zookeeper_gone, phases.FINALISED, "3 of 3 servers of ZooKeeper are stopped"),
    ],
)
def test_a_step_is_done_in_the_phase_that_it_leads_to(phase: Callable[[], ClusterLook], before: str, text: str) -> None:
    progress = progress_of(phase(), before)
    assert (progress.reached, progress.done, progress.total) == (True, 3, 3)
    assert str(progress).startswith(text)
    assert "waits" not in str(progress)


@pytest.mark.parametrize("phase", STEP_PHASES, ids=GOALS)
def test_no_step_is_done_in_the_phase_that_it_begins_in(phase: Callable[[], ClusterLook]) -> None:
    look = phase()
    progress = progress_of(look, phase_of(look).name)
    assert not progress.reached
    assert progress.done < progress.total


def test_brokers_that_are_left_are_counted_and_named() -> None:
    progress = progress_of(looks.brokers_migrating(), phases.CONTROLLERS_READY)
    assert str(progress) == "2 of 3 brokers are registered in migration mode; waits for broker3 (id 3)"
    progress = progress_of(looks.brokers_moving(), phases.COPIED)
    assert str(progress) == "1 of 3 brokers are registered in KRaft mode; waits for broker2 (id 2), broker3 (id 3)"


def test_with_all_brokers_registered_the_copy_is_waited_for() -> None:
    look = looks.cluster(PRE_MIGRATION, (MIGRATING,) * 3, {1: True, 2: True, 3: True}, OF_ZOOKEEPER)
    progress = progress_of(look, phases.CONTROLLERS_READY)
    assert (progress.reached, progress.done) == (False, 3)
    assert str(progress).endswith("; the controllers copy the metadata")


@pytest.mark.parametrize(
    ("look", "before", "left"),
    [
        # Registered as wanted, and down: it has not left (KAFKA-20960).
        (looks.with_node(looks.dual_write_kraft(), "broker2", running=False), phases.COPIED, "broker2"),
        (looks.with_node(looks.copied(), "broker2", running=False), phases.CONTROLLERS_READY, "broker2"),
        # Registered, and meanwhile started as something else.
        (looks.with_node(looks.copied(), "broker2", started={}), phases.CONTROLLERS_READY, "broker2"),
        # Its start is not known.
        (looks.with_node(looks.copied(), "broker2", started=None), phases.CONTROLLERS_READY, "broker2"),
        (looks.with_node(looks.controllers_ready(), "controller2", running=False), phases.NOT_BEGUN, "controller2"),
        (
            looks.with_node(looks.controllers_ready(), "controller2", log=MetadataLog("", {}, 4, 10)),
            phases.NOT_BEGUN,
            "controller2",
        ),
        (
            looks.with_node(looks.finalised(), "controller2", started={ROLES: CONTROLLER, FLAG: "true"}),
            phases.DUAL_WRITE_KRAFT,
            "controller2",
        ),
        (
            looks.with_node(looks.finalised(), "controller2", log=MetadataLog(MIGRATION, {}, 3, 900)),
            phases.DUAL_WRITE_KRAFT,
            "controller2",
        ),
    ],
)
def test_a_node_that_does_not_run_as_the_step_wants_it_is_waited_for(look: ClusterLook, before: str, left: str) -> None:
    progress = progress_of(look, before)
    assert (progress.reached, progress.done) == (False, 2)
    assert f"; waits for {left} (id " in str(progress)


def test_a_broker_that_the_inventory_lacks_keeps_the_step_open() -> None:
    registered = {1: False, 2: False, 3: False, 7: True}
    look = looks.cluster(MIGRATION, (KRAFT,) * 3, registered, looks.OF_KRAFT)
    progress = progress_of(look, phases.COPIED)
    assert (progress.reached, progress.done, progress.total) == (False, 3, 3)
    assert str(progress).endswith("; waits for brokers that the inventory lacks")


def test_servers_that_may_still_run_are_not_gone() -> None:
    look = replace(looks.finalised(), ensemble=EnsembleLook(3, 0, 2))
    progress = progress_of(look, phases.FINALISED)
    assert (progress.reached, str(progress)) == (False, "2 of 3 servers of ZooKeeper are stopped")


# -- which nodes begin -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("phase", "hosts"),
    [
        (looks.not_begun, ["controller1", "controller2", "controller3"]),
        (looks.controllers_ready, ["broker1", "broker2", "broker3"]),
        (looks.brokers_migrating, ["broker3"]),
        (looks.copied, ["broker1", "broker2", "broker3"]),
        (looks.brokers_moving, ["broker2", "broker3"]),
        (looks.dual_write_kraft, ["controller1", "controller2", "controller3"]),
        (looks.finalised, []),
    ],
)
def test_a_step_restarts_the_nodes_that_are_left(phase: Callable[[], ClusterLook], hosts: list[str]) -> None:
    look = phase()
    assert restarts_of(look, stages(look, phase_of(look), NEXT)) == hosts
    assert restarts_of(look, stages(look, phase_of(look), STAY)) == []


def test_a_node_that_is_down_is_started_and_one_that_is_left_alone_is_not() -> None:
    look = looks.with_node(looks.not_begun(), "broker2", running=False)
    assert restarts_of(look, stages(look, phase_of(look), STAY)) == ["broker2"]
    assert ZOOKEEPER in stages(look, phase_of(look), STAY).values()


def test_every_trouble_of_a_step_is_tested_by_name() -> None:
    names = re.findall(r'Trouble\(\s*"(\w+)"', Path(judge.__file__).read_text())
    assert sorted(names) == ["no_controllers", "no_step", "not_confirmed", "reassigning", "reassignments_unread"]
