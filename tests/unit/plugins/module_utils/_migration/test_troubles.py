# SPDX-License-Identifier: GPL-3.0-or-later
"""Each named state: the cluster that has it, its name, and which direction it blocks."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._migration import troubles
from ansible_collections.streamops.kafka.plugins.module_utils._migration.model import (
    MIGRATION,
    NONE,
    POST_MIGRATION,
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
from ansible_collections.streamops.kafka.plugins.module_utils._migration.phase import phase_of
from tests.unit.plugins.module_utils._migration import looks

UNFLAGGED = {ROLES: CONTROLLER}
BOTH, FORWARD, BACKWARD, NEITHER = ("forward", "back"), ("forward",), ("back",), ()
OF_ZOOKEEPER = Znodes(1, -1, 3, MigrationZnode())


def denied(look: ClusterLook, *paths: str) -> ClusterLook:
    """Return a cluster of whose znodes the login of the inventory may not change some."""
    return replace(look, ensemble=replace(look.ensemble, denied=paths))


CASES: list[tuple[str, ClusterLook, tuple[str, ...]]] = [
    ("controller_silent", looks.with_node(looks.copied(), "controller2", silence="timed out", log=None), BOTH),
    ("controller_down", looks.with_node(looks.copied(), "controller2", running=False), FORWARD),
    ("broker_down", looks.with_node(looks.copied(), "broker2", running=False), FORWARD),
    ("broker_down", looks.with_node(looks.copied(), "broker2", silence="timed out", started=None), FORWARD),
    ("log_unread", looks.with_node(looks.copied(), "controller2", log=None, unread="Permission denied"), BOTH),
    ("not_recorded", looks.with_node(looks.not_begun(), "broker2", started=None), FORWARD),
    (
        "record_unread",
        looks.with_node(looks.not_begun(), "broker2", started=None, record_unread="Permission denied"),
        FORWARD,
    ),
    ("znodes_unread", replace(looks.copied(), ensemble=EnsembleLook(3, 1, 0)), BOTH),
    (
        "no_quorum",
        looks.with_node(looks.with_node(looks.copied(), "controller1", running=False), "controller2", running=False),
        FORWARD,
    ),
    ("no_quorum", looks.with_controllers(looks.brokers_moving(), running=False), BOTH),
    ("bound_to_kraft", looks.with_node(looks.dual_write_kraft(), "broker2", kraft_dirs=("/d/1",)), BACKWARD),
    ("other_release", looks.with_node(looks.not_begun(), "broker2", release="3.9.1"), FORWARD),
    ("other_release", looks.with_node(looks.copied(), "controller2", release="4.0.0"), FORWARD),
    ("old_protocol", looks.with_node(looks.not_begun(), "broker2", started={PROTOCOL: "3.8"}), FORWARD),
    ("old_protocol", looks.with_node(looks.not_begun(), "broker2", started={PROTOCOL: "3.8-IV0"}), FORWARD),
    ("combined", looks.with_node(looks.not_begun(), "broker2", roles=frozenset({BROKER, CONTROLLER})), FORWARD),
    (
        "combined",
        looks.with_node(looks.controllers_ready(), "controller2", started={ROLES: "broker, controller", FLAG: "true"}),
        FORWARD,
    ),
    ("shared_ids", looks.with_node(looks.not_begun(), "controller2", id=2), FORWARD),
    ("same_ids", looks.with_node(looks.not_begun(), "controller2", id=101), FORWARD),
    ("controller_missing", looks.with_node(looks.copied(), "controller2", log=None, running=False), FORWARD),
    (
        "flag_left",
        looks.with_node(looks.finalised(), "controller2", started={ROLES: CONTROLLER, FLAG: "true"}),
        FORWARD,
    ),
    ("session_left", looks.with_znodes(looks.dual_write_kraft(), brokers=frozenset({2})), FORWARD),
    ("controllers_without_flag", looks.cluster(NONE, (ZOOKEEPER,) * 3, {}, Znodes(1, -1, 3)), FORWARD),
    ("controllers_without_flag", looks.with_node(looks.controllers_ready(), "controller2", started=UNFLAGGED), FORWARD),
    ("finalises_when_it_leads", looks.with_node(looks.dual_write_kraft(), "controller2", started=UNFLAGGED), NEITHER),
    (
        "state_differs",
        looks.with_node(looks.copied(), "controller2", log=MetadataLog(PRE_MIGRATION, {1: True}, 4, 500)),
        FORWARD,
    ),
    ("broker_without_flag", looks.with_node(looks.copied(), "broker2", started={}), FORWARD),
    ("broker_too_early", looks.with_node(looks.not_begun(), "broker2", started={ROLES: BROKER}), BOTH),
    ("broker_flag_without_controllers", looks.with_node(looks.not_begun(), "broker2", started={FLAG: "true"}), NEITHER),
    (
        "not_registered",
        looks.cluster(PRE_MIGRATION, (MIGRATING, MIGRATING, ZOOKEEPER), {1: True}, OF_ZOOKEEPER),
        FORWARD,
    ),
    ("not_registered", looks.with_node(looks.copied(), "broker2", started={ROLES: BROKER}), FORWARD),
    (
        "left_behind",
        looks.cluster(POST_MIGRATION, (KRAFT, KRAFT, MIGRATING), {1: False, 2: False, 3: True}, looks.OF_KRAFT),
        BOTH,
    ),
    (
        "left_behind",
        replace(
            looks.cluster(POST_MIGRATION, (KRAFT, KRAFT, MIGRATING), {1: False, 2: False, 3: True}, None),
            ensemble=EnsembleLook(3, 0, 3),
        ),
        BOTH,
    ),
    (
        "unknown_broker",
        looks.cluster(MIGRATION, (MIGRATING,) * 3, {1: True, 2: True, 3: True, 7: True}, looks.OF_KRAFT),
        FORWARD,
    ),
    ("migration_left", looks.with_znodes(looks.not_begun(), migration=MigrationZnode(101, 4, 800)), FORWARD),
    ("migration_left", looks.with_znodes(looks.controllers_ready(), migration=MigrationZnode(101, 4, 800)), FORWARD),
    ("migration_left_empty", looks.with_znodes(looks.not_begun(), migration=MigrationZnode()), NEITHER),
    ("half_way_back", looks.with_znodes(looks.copied(), controller=2, kraft_epoch=-1), FORWARD),
    ("half_way_back", looks.with_znodes(looks.copied(), controller=None, kraft_epoch=-1), FORWARD),
    ("controller_left", looks.with_znodes(looks.not_begun(), controller=101, kraft_epoch=4), BOTH),
    ("znodes_denied", denied(looks.not_begun(), "/config/users/app"), FORWARD),
    ("znodes_denied", denied(looks.controllers_ready(), "/", "/config"), BOTH),
    ("znodes_denied", denied(looks.copied(), "/config/users/app"), NEITHER),
    ("znodes_denied", denied(looks.dual_write_kraft(), "/controller_epoch"), BACKWARD),
    ("epoch_above", looks.with_znodes(looks.copied(), epoch=4), NEITHER),
    ("epoch_above", looks.with_node(looks.copied(), "controller2", epoch=23), NEITHER),
    ("nothing_tells", ClusterLook("empty"), BOTH),
]


@pytest.mark.parametrize(("name", "look", "blocks"), CASES, ids=[f"{case[0]}-{i}" for i, case in enumerate(CASES)])
def test_a_bad_state_is_named_with_its_fix(name: str, look: ClusterLook, blocks: tuple[str, ...]) -> None:
    listed = troubles.troubles_of(look, phase_of(look))
    assert [trouble.name for trouble in listed if trouble.name == name] == [name]
    trouble = next(trouble for trouble in listed if trouble.name == name)
    assert trouble.blocks == blocks
    assert trouble.what
    assert trouble.fix


def test_the_table_has_every_name_of_the_source() -> None:
    names = set(re.findall(r'Trouble\(\s*"(\w+)"', Path(troubles.__file__).read_text()))
    assert {case[0] for case in CASES} == names


@pytest.mark.parametrize("protocol", ["3.9", "3.9-IV0", ""])
def test_a_protocol_of_3_9_and_none_are_no_trouble(protocol: str) -> None:
    look = looks.with_node(looks.not_begun(), "broker2", started={PROTOCOL: protocol})
    assert troubles.troubles_of(look, phase_of(look)) == ()


def test_both_epochs_are_told_with_the_value_that_the_way_back_needs() -> None:
    look = looks.with_node(looks.copied(), "controller2", epoch=23)
    text = str(troubles.troubles_of(look, phase_of(look))[0])
    assert {"23", "9", "24"} <= set(re.findall(r"\d+", text))


@pytest.mark.parametrize(
    ("look", "at_a_controller"),
    [
        (looks.cluster(MIGRATION, (MIGRATING,) * 3, {1: True, 2: True, 3: True, 7: True}, looks.OF_KRAFT), True),
        (looks.cluster(PRE_MIGRATION, (MIGRATING,) * 3, {1: True, 7: True}, Znodes(1, -1, 3)), True),
        (looks.with_znodes(looks.not_begun(), brokers=frozenset({1, 2, 3, 7})), False),
    ],
)
def test_a_registration_in_kraft_is_taken_away_at_a_controller(look: ClusterLook, at_a_controller: bool) -> None:
    (trouble,) = (one for one in troubles.troubles_of(look, phase_of(look)) if one.name == "unknown_broker")
    assert ("--bootstrap-controller" in trouble.fix) is at_a_controller
    assert "broker 7 is registered" in trouble.what
