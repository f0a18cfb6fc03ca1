# SPDX-License-Identifier: GPL-3.0-or-later
"""The way back: the half steps from each phase, what forbids them, and each place where a run may have been cut."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._migration import phase as phases
from ansible_collections.streamops.kafka.plugins.module_utils._migration.back import (
    GOALS,
    SECONDS,
    hands_over,
    left_of,
    progress_back,
    seconds_back,
    troubles_back,
)
from ansible_collections.streamops.kafka.plugins.module_utils._migration.judge import (
    StepFacts,
    restarts_of,
    troubles_of_step,
)
from ansible_collections.streamops.kafka.plugins.module_utils._migration.model import (
    NONE,
    ClusterLook,
    EnsembleLook,
    Znodes,
)
from ansible_collections.streamops.kafka.plugins.module_utils._migration.modes import (
    BROKER,
    CONTROLLER,
    KRAFT,
    LEFT_ALONE,
    MIGRATING,
    ROLES,
    ZOOKEEPER,
)
from ansible_collections.streamops.kafka.plugins.module_utils._migration.phase import WAY, phase_of
from ansible_collections.streamops.kafka.plugins.module_utils._migration.stages import (
    BACK,
    NEXT,
    STAY,
    UnclearStageError,
    stages,
)
from ansible_collections.streamops.kafka.plugins.module_utils._migration.steps import STEPS
from tests.unit.plugins.module_utils._migration import looks

BROKERS, CONTROLLERS = ("broker1", "broker2", "broker3"), ("controller1", "controller2", "controller3")
CANNOT = looks.cluster(NONE, (ZOOKEEPER,) * 3, {}, Znodes(1, -1, 3))


def named(look: ClusterLook, **facts: Any) -> list[str]:
    return [trouble.name for trouble in troubles_back(look, StepFacts(**facts))]


def told(look: ClusterLook, wish: str = BACK) -> tuple[set[str], set[str]]:
    """Return the stages of the brokers and of the controllers."""
    found = stages(look, phase_of(look), wish)
    return {found[node.host] for node in look.brokers}, {found[node.host] for node in look.controllers}


def stopped(look: ClusterLook) -> ClusterLook:
    """Return a cluster whose controllers were stopped."""
    return looks.with_controllers(look, running=False)


def changed(look: ClusterLook) -> ClusterLook:
    """Return a cluster behind the change of its znodes."""
    return looks.with_znodes(look, controller=None, kraft_epoch=-1, migration=None)


def set_aside(look: ClusterLook, *controllers: str) -> ClusterLook:
    """Return a cluster some of whose controllers have no metadata log."""
    for host in controllers:
        look = looks.with_node(look, host, log=None, epoch=0)
    return look


def returned(look: ClusterLook, *brokers: str) -> ClusterLook:
    """Return a cluster some of whose brokers restarted without the flag; the first of them is the controller."""
    for host in brokers:
        look = looks.with_node(look, host, started=looks.STARTED[ZOOKEEPER])
    return looks.with_znodes(look, controller=int(brokers[0][-1]), epoch=10) if brokers else look


@pytest.mark.parametrize(
    ("look", "goal", "brokers", "controllers"),
    [
        (looks.controllers_ready(), phases.NOT_BEGUN, {ZOOKEEPER}, {LEFT_ALONE}),
        (looks.brokers_migrating(), phases.NOT_BEGUN, {ZOOKEEPER}, {LEFT_ALONE}),
        (looks.copied(), phases.NOT_BEGUN, {ZOOKEEPER}, {LEFT_ALONE}),
        (looks.brokers_moving(), phases.COPIED, {MIGRATING}, {MIGRATING}),
        (looks.dual_write_kraft(), phases.COPIED, {MIGRATING}, {MIGRATING}),
        (CANNOT, phases.NOT_BEGUN, {ZOOKEEPER}, {LEFT_ALONE}),
    ],
)
def test_each_phase_has_its_half_step_back(
    look: ClusterLook, goal: str, brokers: set[str], controllers: set[str]
) -> None:
    before = phase_of(look).name
    assert named(look) == []
    assert (GOALS[before], hands_over(before)) == (goal, goal == phases.NOT_BEGUN)
    assert told(look) == (brokers, controllers)
    assert 0 < seconds_back(before) == SECONDS[goal] <= 900
    assert not progress_back(look, before).reached


def test_a_half_step_back_leads_back_and_the_table_has_a_way_wherever_one_leads() -> None:
    on_the_way = [name for name in GOALS if name in WAY]
    assert all(WAY.index(GOALS[name]) <= WAY.index(name) for name in on_the_way)
    assert set(GOALS) == {name for name in STEPS if STEPS[name].back}


@pytest.mark.parametrize("look", [looks.finalised(), looks.zookeeper_gone()])
def test_from_a_finalised_migration_no_way_leads_back(look: ClusterLook) -> None:
    assert "no_way_back" in named(look)
    with pytest.raises(UnclearStageError, match="no way leads back from the phase"):
        told(look)
    with pytest.raises(UnclearStageError, match="no way leads back from the phase"):
        progress_back(look, phase_of(look).name)


def test_where_nothing_was_begun_nothing_is_taken_back() -> None:
    look = looks.not_begun()
    assert named(look) == ["is_back"]
    assert restarts_of(look, stages(look, phase_of(look), BACK)) == []


def test_controllers_that_were_restarted_to_finalise_get_the_flag_again_first() -> None:
    look = looks.with_node(looks.dual_write_kraft(), "controller2", started={ROLES: CONTROLLER})
    assert stages(look, phase_of(look), STAY)["controller2"] == KRAFT
    assert restarts_of(look, stages(look, phase_of(look), BACK)) == ["controller2", *BROKERS]


# -- what forbids a half step ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("phase", [looks.copied, looks.brokers_moving, looks.dual_write_kraft])
def test_a_broker_that_was_added_or_replaced_in_kraft_mode_is_named_before_anything_changes(
    phase: Callable[[], ClusterLook],
) -> None:
    look = looks.with_node(phase(), "broker2", kraft_dirs=("/data/1",))
    trouble = next(trouble for trouble in troubles_back(look, StepFacts()) if trouble.name == "bound_to_kraft")
    assert "broker2 (id 2)" in trouble.what
    assert "/data/1" in trouble.what
    assert "first move its partitions away" in trouble.fix


@pytest.mark.parametrize(
    ("look", "trouble"),
    [
        (looks.with_node(looks.copied(), "broker2", kraft_dirs=None), "dirs_unread"),
        (looks.with_node(looks.copied(), "broker2", silence="timed out", started=None), "broker_silent"),
        (looks.with_node(looks.copied(), "controller2", record_unread="Permission denied"), "stop_unseen"),
        (looks.with_node(looks.copied(), "controller2", silence="timed out", log=None), "controller_silent"),
        (looks.with_node(looks.copied(), "broker2", started={ROLES: BROKER}), "broker_of_kraft"),
        (looks.with_znodes(looks.copied(), epoch=None), "epoch_missing"),
        (replace(looks.copied(), ensemble=EnsembleLook(3, 1, 0)), "znodes_unread"),
        (stopped(looks.dual_write_kraft()), "no_quorum"),
        (looks.with_controllers(looks.copied(), silence="timed out", log=None), "no_way_back"),
    ],
)
def test_what_is_not_known_or_would_fail_on_the_way_forbids_a_half_step(look: ClusterLook, trouble: str) -> None:
    assert trouble in named(look)


def test_a_reassignment_under_way_forbids_a_half_step() -> None:
    assert named(looks.copied(), moving=("t-0",)) == ["reassigning"]
    assert named(looks.copied(), unasked="timed out") == ["reassignments_unread"]


def test_where_nobody_is_in_charge_nobody_has_to_be_asked() -> None:
    for look in (stopped(looks.copied()), changed(stopped(looks.copied()))):
        assert named(look, unasked="timed out") == []
    # A broker that took over can be asked again.
    assert named(returned(changed(stopped(looks.copied())), "broker1"), unasked="timed out") == ["reassignments_unread"]


def test_a_broker_that_is_down_is_started_by_the_way_back() -> None:
    look = looks.with_node(looks.copied(), "broker2", running=False)
    assert named(look) == []
    assert "broker2" in restarts_of(look, stages(look, phase_of(look), BACK))


# -- cuts -----------------------------------------------------------------------------------------------------------


def test_the_return_of_the_brokers_goes_on_where_it_was_cut_and_ends_in_copied() -> None:
    look = looks.brokers_moving()
    assert restarts_of(look, stages(look, phase_of(look), BACK)) == ["broker1"]
    assert "waits for broker1 (id 1)" in progress_back(look, phases.DUAL_WRITE_KRAFT).text
    end = looks.copied()
    assert progress_back(end, phases.DUAL_WRITE_KRAFT).reached
    assert progress_back(end, phases.BROKERS_MOVING).text == "3 of 3 brokers are registered in migration mode"
    assert told(end, NEXT) == ({KRAFT}, {MIGRATING}), "the way on is open too"


def test_a_broker_that_returned_is_done_once_kraft_knows_it() -> None:
    look = looks.with_node(looks.brokers_moving(), "broker1", started=looks.STARTED[MIGRATING])
    progress = progress_back(look, phases.BROKERS_MOVING)
    assert (progress.reached, progress.done, progress.total) == (False, 2, 3)


@pytest.mark.parametrize(
    ("look", "phase", "left", "restarts"),
    [
        (stopped(looks.copied()), phases.COPIED, 4, 3),
        (changed(stopped(looks.copied())), phases.COPIED, 3, 3),
        (set_aside(changed(stopped(looks.copied())), "controller1"), phases.COPIED, 3, 3),
        (set_aside(changed(stopped(looks.copied())), "controller1", "controller3"), phases.COPIED, 3, 3),
        (set_aside(changed(stopped(looks.copied())), *CONTROLLERS), phases.NOT_BEGUN, 2, 3),
        (returned(set_aside(changed(stopped(looks.copied())), *CONTROLLERS), "broker2"), phases.NOT_BEGUN, 1, 2),
        (returned(set_aside(changed(stopped(looks.copied())), *CONTROLLERS), *BROKERS), phases.NOT_BEGUN, 0, 0),
    ],
)
def test_a_hand_over_goes_on_wherever_it_was_cut(look: ClusterLook, phase: str, left: int, restarts: int) -> None:
    assert phase_of(look).name == phase
    assert named(look) == ([] if left else ["is_back"])
    assert told(look) == ({ZOOKEEPER}, {LEFT_ALONE})
    assert len(restarts_of(look, stages(look, phase_of(look), BACK))) == restarts
    assert len(left_of(look)) == left
    progress = progress_back(look, phases.COPIED)
    assert (progress.reached, progress.done, progress.total) == (not left, 3 - restarts, 3)


@pytest.mark.parametrize("controller", [None, 2])
def test_controllers_do_not_start_again_behind_a_hand_over_that_was_cut(controller: int | None) -> None:
    look = looks.with_znodes(changed(stopped(looks.copied())), controller=controller)
    with pytest.raises(UnclearStageError, match=r"a way back to ZooKeeper was begun .* fix: end it, run"):
        told(look, STAY)
    assert "half_way_back" in [trouble.name for trouble in troubles_of_step(look, StepFacts())]


def test_what_is_left_is_said_each() -> None:
    assert left_of(looks.copied()) == [
        "controller controller1 (id 101), controller2 (id 102), controller3 (id 103) is not stopped",
        "/controller names controller 101 of KRaft",
        "/migration is there",
        "the metadata log of controller controller1 (id 101), controller2 (id 102), controller3 (id 103) "
        "is not set aside",
        "broker broker1 (id 1), broker2 (id 2), broker3 (id 3) does not run in ZooKeeper mode without the migration "
        "flag",
    ]
    assert left_of(replace(looks.not_begun(), ensemble=EnsembleLook(3, 1, 0)))[0] == "the znodes are not known"


def test_a_broker_without_a_session_has_not_returned() -> None:
    look = looks.with_znodes(looks.not_begun(), brokers=frozenset({1, 3}))
    assert left_of(look) == ["broker broker2 (id 2) does not run in ZooKeeper mode without the migration flag"]
