# SPDX-License-Identifier: GPL-3.0-or-later
"""Which phase a cluster is in, for every phase and every mix of brokers."""

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
    EnsembleLook,
    MetadataLog,
    Znodes,
)
from ansible_collections.streamops.kafka.plugins.module_utils._migration.modes import (
    KRAFT,
    LEFT_ALONE,
    MIGRATING,
    ZOOKEEPER,
)
from ansible_collections.streamops.kafka.plugins.module_utils._migration.phase import phase_of
from ansible_collections.streamops.kafka.plugins.module_utils._migration.stages import STAY, stages
from ansible_collections.streamops.kafka.plugins.module_utils._migration.troubles import troubles_of
from tests.unit.plugins.module_utils._migration import looks

PHASES: list[tuple[Callable[[], ClusterLook], str]] = [
    (looks.not_begun, "not_begun"),
    (looks.controllers_ready, "controllers_ready"),
    (looks.brokers_migrating, "brokers_migrating (2 of 3 brokers)"),
    (looks.copied, "copied"),
    (looks.brokers_moving, "brokers_moving (1 of 3 brokers)"),
    (looks.dual_write_kraft, "dual_write_kraft"),
    (looks.finalised, "finalised"),
    (looks.zookeeper_gone, "zookeeper_gone"),
]


@pytest.mark.parametrize(("make", "text"), PHASES, ids=[text for _make, text in PHASES])
def test_each_phase_is_read_from_a_cluster_that_is_in_it_and_has_no_trouble(
    make: Callable[[], ClusterLook], text: str
) -> None:
    look = make()
    assert str(phase_of(look)) == text
    assert troubles_of(look, phase_of(look)) == ()


def test_the_table_of_clusters_has_every_phase_of_the_way() -> None:
    assert [phase_of(make()).name for make, _text in PHASES] == list(phases.WAY)


SILENT = {"silence": "timed out", "log": None, "running": False, "started": None}


@pytest.mark.parametrize(
    ("look", "text"),
    [
        # All brokers are registered, and the copy is under way.
        (
            looks.cluster(PRE_MIGRATION, (MIGRATING,) * 3, {1: True, 2: True, 3: True}, Znodes(1, -1, 3)),
            "brokers_migrating (3 of 3 brokers)",
        ),
        # A broker that is down keeps the registration of its last start.
        (looks.with_node(looks.brokers_moving(), "broker3", running=False), "brokers_moving (1 of 3 brokers)"),
        (
            looks.with_node(looks.cluster(MIGRATION, (KRAFT,) * 3, {1: False, 2: False}, looks.OF_KRAFT), "broker3"),
            "brokers_moving (2 of 3 brokers)",
        ),
        # A broker that the inventory lacks counts.
        (
            looks.cluster(MIGRATION, (KRAFT,) * 3, {1: False, 2: False, 3: False, 7: True}, looks.OF_KRAFT),
            "brokers_moving (3 of 4 brokers)",
        ),
        # Stopped controllers tell by their disks.
        (looks.with_controllers(looks.copied(), running=False), "copied"),
        # One of three machines that is silent leaves a majority; two do not, since they may hold a later state.
        (looks.with_node(looks.copied(), "controller1", **SILENT), "copied"),
        (looks.with_node(looks.with_node(looks.copied(), "controller1", **SILENT), "controller2", **SILENT), "unknown"),
        (looks.with_controllers(looks.not_begun(), silence="timed out"), "unknown"),
        (looks.with_controllers(looks.copied(), log=None, unread="Permission denied"), "unknown"),
        # What is finalised is not taken back, however few tell it.
        (
            looks.with_node(looks.with_node(looks.finalised(), "controller1", **SILENT), "controller2", **SILENT),
            "finalised",
        ),
        # ZooKeeper is gone only where each server is stopped for certain, or the inventory has none.
        (replace(looks.finalised(), ensemble=EnsembleLook(3, 0, 2)), "finalised"),
        (replace(looks.finalised(), ensemble=EnsembleLook()), "zookeeper_gone"),
        # A log says NONE: with brokers of ZooKeeper the controllers were started without the flag.
        (looks.cluster(NONE, (ZOOKEEPER,) * 3, {}, Znodes(1, -1, 3)), "cannot_migrate"),
        (looks.cluster(NONE, (MIGRATING, ZOOKEEPER, ZOOKEEPER), {}, Znodes(1, -1, 3)), "cannot_migrate"),
        (looks.cluster(NONE, (KRAFT,) * 3, {1: False, 2: False, 3: False}, None), "created_in_kraft"),
        # No log has a state. Controllers of 4.x write none.
        (looks.cluster("", (KRAFT,) * 3, {1: False, 2: False, 3: False}, None), "created_in_kraft"),
        (looks.cluster("", (KRAFT, KRAFT, ZOOKEEPER), {1: False, 2: False}, Znodes(3, -1, 3)), "unknown"),
        (looks.cluster(None, (KRAFT,) * 3, {}, None), "unknown"),
        (looks.cluster(None, (ZOOKEEPER,) * 3, {}, Znodes(101, 4, 9)), "unknown"),
        (looks.cluster(None, (ZOOKEEPER,) * 3, {}, None), "not_begun"),
        (ClusterLook("empty"), "unknown"),
    ],
)
def test_mixed_clusters_have_the_phase_that_is_safe_to_name(look: ClusterLook, text: str) -> None:
    assert str(phase_of(look)) == text


BLANK = {"running": False, "started": None, "release": "", "log": None}
#: Brokers and controllers of the inventory, and nothing was ever installed.
NEW = replace(
    looks.not_begun(),
    nodes=tuple(replace(node, **BLANK) for node in looks.not_begun().nodes),
    ensemble=EnsembleLook(3, 0, 0, None, "no server leads"),
)


@pytest.mark.parametrize(
    ("look", "name"),
    [
        (NEW, "not_begun"),
        (replace(NEW, ensemble=EnsembleLook(3, 3, 0, Znodes())), "not_begun"),
        # Somebody was the controller: the start records are lost, or these are other machines.
        (replace(NEW, ensemble=EnsembleLook(3, 3, 0, Znodes(epoch=3))), "unknown"),
        (replace(NEW, ensemble=EnsembleLook(3, 3, 0, Znodes(101, 4, 9))), "unknown"),
        (looks.with_node(NEW, "broker1", silence="timed out"), "unknown"),
        (looks.with_node(NEW, "broker1", record_unread="Permission denied"), "unknown"),
        (looks.with_node(NEW, "broker1", running=True), "unknown"),
        (looks.with_node(NEW, "broker1", kraft_dirs=("/data",)), "unknown"),
        (looks.with_node(NEW, "controller1", running=True), "unknown"),
        (looks.with_node(NEW, "controller1", unread="Permission denied"), "unknown"),
        (replace(NEW, nodes=NEW.controllers), "unknown"),
    ],
)
def test_a_first_installation_with_controllers_has_not_begun_and_installs_the_brokers(
    look: ClusterLook, name: str
) -> None:
    assert phase_of(look).name == name
    if name == phases.NOT_BEGUN:
        kept = stages(look, phase_of(look), STAY)
        assert {kept[node.host] for node in look.brokers} == {ZOOKEEPER}
        assert {kept[node.host] for node in look.controllers} == {LEFT_ALONE}


def test_the_furthest_log_of_the_newest_epoch_tells_the_state() -> None:
    look = looks.copied()
    old = MetadataLog(PRE_MIGRATION, {}, epoch=3, end=5000)
    newer = MetadataLog(POST_MIGRATION, {1: False, 2: False, 3: False}, epoch=5, end=1100)
    assert phase_of(looks.with_node(look, "controller1", log=old)).name == phases.COPIED
    assert phase_of(looks.with_node(look, "controller1", log=newer)).name == phases.FINALISED


@pytest.mark.parametrize(
    ("registered", "session", "started", "mode"),
    [
        (True, True, MIGRATING, MIGRATING),
        (False, False, KRAFT, KRAFT),
        # It was restarted in KRaft mode, and has not registered so.
        (True, False, KRAFT, MIGRATING),
        (None, True, MIGRATING, MIGRATING),
        (None, True, ZOOKEEPER, ZOOKEEPER),
        # A session in ZooKeeper is newer than what a start record of KRaft says.
        (None, True, KRAFT, ZOOKEEPER),
        (None, False, KRAFT, KRAFT),
    ],
)
def test_the_registration_of_a_broker_comes_before_its_start_record(
    registered: bool | None, session: bool, started: str, mode: str
) -> None:
    brokers = {} if registered is None else {1: registered}
    znodes = Znodes(brokers=frozenset({1} if session else ()))
    nodes = (looks.broker(1, started), looks.controller(1, MetadataLog(PRE_MIGRATION, brokers)))
    assert ClusterLook("blue", nodes, EnsembleLook(1, 1, 0, znodes)).mode_of(1) == mode
