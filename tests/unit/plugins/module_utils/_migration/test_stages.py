# SPDX-License-Identifier: GPL-3.0-or-later
"""The stage of each node: where a run keeps it, and where a step brings it, in each phase and after killed runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._migration import phase as phases
from ansible_collections.streamops.kafka.plugins.module_utils._migration.model import (
    MIGRATION,
    NONE,
    POST_MIGRATION,
    PRE_MIGRATION,
    ClusterLook,
    MetadataLog,
    Znodes,
)
from ansible_collections.streamops.kafka.plugins.module_utils._migration.modes import (
    BROKER,
    CONTROLLER,
    FLAG,
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
from tests.unit.plugins.module_utils._migration import looks

PHASES = [getattr(looks, name) for name in WAY]


def told(look: ClusterLook, wish: str) -> tuple[list[str], list[str]]:
    """Return the stages of the brokers and of the controllers."""
    found = stages(look, phase_of(look), wish)
    return [found[node.host] for node in look.brokers], [found[node.host] for node in look.controllers]


@pytest.mark.parametrize(
    ("phase", "brokers", "controllers"),
    [
        (looks.not_begun, [ZOOKEEPER] * 3, LEFT_ALONE),
        (looks.controllers_ready, [ZOOKEEPER] * 3, MIGRATING),
        (looks.brokers_migrating, [MIGRATING, MIGRATING, ZOOKEEPER], MIGRATING),
        (looks.copied, [MIGRATING] * 3, MIGRATING),
        (looks.brokers_moving, [KRAFT, MIGRATING, MIGRATING], MIGRATING),
        (looks.dual_write_kraft, [KRAFT] * 3, MIGRATING),
        (looks.finalised, [KRAFT] * 3, KRAFT),
        (looks.zookeeper_gone, [KRAFT] * 3, KRAFT),
    ],
)
def test_between_the_steps_every_node_keeps_what_it_is_in(
    phase: Callable[[], ClusterLook], brokers: list[str], controllers: str
) -> None:
    look = phase()
    assert told(look, STAY) == (brokers, [controllers] * 3)
    # No node is asked to be anything else than it was started in.
    kept = stages(look, phase_of(look), STAY)
    assert {node.host: kept[node.host] for node in look.nodes if node.started is not None} == {
        node.host: node.started_in for node in look.nodes if node.started is not None
    }


@pytest.mark.parametrize(
    ("phase", "broker", "controller"),
    [
        (looks.not_begun, ZOOKEEPER, MIGRATING),
        (looks.controllers_ready, MIGRATING, MIGRATING),
        (looks.brokers_migrating, MIGRATING, MIGRATING),
        (looks.copied, KRAFT, MIGRATING),
        (looks.brokers_moving, KRAFT, MIGRATING),
        (looks.dual_write_kraft, KRAFT, KRAFT),
        (looks.finalised, KRAFT, KRAFT),
    ],
)
def test_a_step_gives_each_node_the_stage_behind_it(
    phase: Callable[[], ClusterLook], broker: str, controller: str
) -> None:
    assert told(phase(), NEXT) == ([broker] * 3, [controller] * 3)


@pytest.mark.parametrize("phase", PHASES[:-1], ids=WAY[:-1])
def test_a_step_restarts_one_kind_of_node_alone(phase: Callable[[], ClusterLook]) -> None:
    look = phase()
    kept, wanted = told(look, STAY), told(look, NEXT)
    assert sum(before != after for before, after in zip(kept, wanted, strict=True)) <= 1


def test_a_cluster_without_controllers_stays_with_zookeeper() -> None:
    look = looks.not_begun()
    look = replace(look, nodes=look.brokers)
    assert told(look, STAY) == ([ZOOKEEPER] * 3, [])


@pytest.mark.parametrize("wish", [STAY, NEXT])
def test_nothing_follows_from_a_phase_that_is_not_known(wish: str) -> None:
    look = looks.with_controllers(looks.copied(), silence="timed out", log=None)
    assert phase_of(look).name == phases.UNKNOWN
    with pytest.raises(UnclearStageError, match=r"fits no phase .* fix: run migrate_to_kraft.yml"):
        told(look, wish)


@pytest.mark.parametrize("controller", [None, 2])
@pytest.mark.parametrize("before", [looks.copied(), looks.brokers_moving()])
def test_a_way_back_that_was_begun_is_not_turned_round(before: ClusterLook, controller: int | None) -> None:
    """The logs on the disks of stopped controllers still tell the dual write: brokers would get the flag again, and
    controllers start with metadata from before the way back."""
    stopped = looks.with_controllers(before, running=False)
    look = looks.with_znodes(stopped, controller=controller, kraft_epoch=-1, migration=None)
    for mode in (MIGRATING, ZOOKEEPER):
        back = looks.with_node(look, "broker1", started=looks.STARTED[mode])
        with pytest.raises(UnclearStageError, match=r"a way back to ZooKeeper was begun .* fix: end it"):
            told(back, STAY)


@pytest.mark.parametrize("before", [looks.controllers_ready(), looks.brokers_migrating()])
def test_a_way_back_from_before_the_copy_that_was_cut_can_still_be_turned_round(before: ClusterLook) -> None:
    """Of it /migration alone is gone, which each controller makes anew when it starts."""
    look = looks.with_znodes(looks.with_controllers(before, running=False), migration=None)
    assert told(look, STAY)[1] == [MIGRATING] * 3
    assert told(look, BACK) == ([ZOOKEEPER] * 3, [LEFT_ALONE] * 3)


def test_brokers_that_have_all_moved_stay_whatever_the_znodes_say() -> None:
    look = looks.with_znodes(looks.dual_write_kraft(), controller=None, kraft_epoch=-1, migration=None)
    assert told(look, STAY) == ([KRAFT] * 3, [MIGRATING] * 3)


@pytest.mark.parametrize("look", [looks.zookeeper_gone(), looks.cluster(NONE, (ZOOKEEPER,) * 3, {}, Znodes(1, -1, 3))])
def test_no_step_leads_on_from_an_end_and_from_what_cannot_migrate(look: ClusterLook) -> None:
    with pytest.raises(UnclearStageError, match="no step leads on from the phase"):
        told(look, NEXT)


def test_controllers_that_cannot_migrate_are_left_alone_and_brokers_stay() -> None:
    look = looks.cluster(NONE, (ZOOKEEPER,) * 3, {}, Znodes(1, -1, 3))
    assert told(look, STAY) == ([ZOOKEEPER] * 3, [LEFT_ALONE] * 3)


def test_a_cluster_that_was_made_in_kraft_stays_there() -> None:
    look = looks.cluster(NONE, (KRAFT,) * 3, {1: False, 2: False, 3: False}, None)
    assert phase_of(look).name == phases.CREATED_IN_KRAFT
    assert told(look, STAY) == ([KRAFT] * 3, [KRAFT] * 3)


@pytest.mark.parametrize("wish", ["", "forward", "BACK"])
def test_another_wish_is_none(wish: str) -> None:
    with pytest.raises(ValueError, match="a run wants one of stay, next, back"):
        told(looks.copied(), wish)


# -- what killed runs leave --------------------------------------------------------------------------------------------


def test_controllers_of_which_only_one_was_started_go_on_and_the_others_wait() -> None:
    look = looks.with_node(looks.not_begun(), "controller1", running=True, started={ROLES: CONTROLLER, FLAG: "true"})
    assert told(look, STAY) == ([ZOOKEEPER] * 3, [MIGRATING, LEFT_ALONE, LEFT_ALONE])
    assert told(look, NEXT) == ([ZOOKEEPER] * 3, [MIGRATING] * 3)


def test_a_controller_that_was_not_started_beside_a_quorum_belongs_to_it() -> None:
    look = looks.with_node(looks.controllers_ready(), "controller3", log=None, running=False, started=None)
    assert told(look, STAY) == ([ZOOKEEPER] * 3, [MIGRATING] * 3)


def test_a_broker_that_was_restarted_and_is_not_registered_yet_is_not_taken_back() -> None:
    moved = looks.with_node(looks.copied(), "broker2", started={ROLES: BROKER})
    assert told(moved, STAY)[0] == [MIGRATING, KRAFT, MIGRATING]
    flagged = looks.with_node(looks.controllers_ready(), "broker2", started={FLAG: "true"})
    assert told(flagged, STAY)[0] == [ZOOKEEPER, MIGRATING, ZOOKEEPER]


def test_a_broker_that_is_down_keeps_how_it_was_started_last_and_else_how_it_is_registered() -> None:
    down = looks.with_node(looks.brokers_moving(), "broker1", running=False)
    assert told(down, STAY)[0] == [KRAFT, MIGRATING, MIGRATING]
    silent = looks.with_node(looks.brokers_moving(), "broker1", running=False, silence="timed out", started=None)
    assert told(silent, STAY)[0] == [KRAFT, MIGRATING, MIGRATING]


@pytest.mark.parametrize(
    ("look", "expected"),
    [
        (looks.with_node(looks.controllers_ready(), "broker2", started={ROLES: BROKER}), MIGRATING),
        (looks.with_node(looks.copied(), "broker2", started={}), MIGRATING),
        (looks.with_node(looks.finalised(), "broker2", started={FLAG: "true"}), KRAFT),
    ],
)
def test_a_mode_that_its_phase_forbids_is_mended(look: ClusterLook, expected: str) -> None:
    assert told(look, STAY)[0][1] == expected


@pytest.mark.parametrize(
    ("phase", "stage"),
    [
        (looks.not_begun, ZOOKEEPER),
        (looks.controllers_ready, ZOOKEEPER),
        (looks.brokers_migrating, MIGRATING),
        (looks.copied, MIGRATING),
        (looks.brokers_moving, MIGRATING),
        (looks.dual_write_kraft, KRAFT),
        (looks.finalised, KRAFT),
    ],
)
def test_a_broker_that_was_added_gets_the_mode_that_leaves_the_phase_as_it_is(
    phase: Callable[[], ClusterLook], stage: str
) -> None:
    look = phase()
    added = looks.broker(4, ZOOKEEPER, running=False, started=None)
    kept = stages(replace(look, nodes=(*look.nodes, added)), phase_of(look), STAY)
    assert kept["broker4"] == stage


def test_a_controller_without_the_flag_is_mended_until_every_broker_has_moved() -> None:
    unflagged = {ROLES: CONTROLLER}
    early = looks.with_node(looks.brokers_moving(), "controller2", started=unflagged)
    assert told(early, STAY)[1] == [MIGRATING] * 3, "it would shut the other brokers out once it leads"
    finalising = looks.with_node(looks.dual_write_kraft(), "controller2", started=unflagged)
    assert told(finalising, STAY)[1] == [MIGRATING, KRAFT, MIGRATING]
    assert told(finalising, NEXT)[1] == [KRAFT] * 3


def test_a_finalised_cluster_leaves_no_controller_with_the_flag() -> None:
    flagged = {ROLES: CONTROLLER, FLAG: "true"}
    behind = MetadataLog(MIGRATION, {1: False, 2: False, 3: False}, epoch=3, end=900)
    look = looks.with_node(looks.finalised(), "controller2", started=flagged, log=behind)
    assert look.state == POST_MIGRATION
    assert told(look, STAY)[1] == [KRAFT] * 3


def test_brokers_that_all_wait_for_the_copy_keep_the_flag() -> None:
    znodes = Znodes(1, -1, 3)
    look = looks.cluster(PRE_MIGRATION, (MIGRATING,) * 3, {1: True, 2: True, 3: True}, znodes)
    assert told(look, STAY) == told(look, NEXT) == ([MIGRATING] * 3, [MIGRATING] * 3)
