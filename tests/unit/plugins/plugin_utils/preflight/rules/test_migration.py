# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules on clusters between ZooKeeper and KRaft: three brokers, three controllers, by the mode of each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.host import Host
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.rule import RULES, Violation
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.rules import migration

ZOOKEEPER, MIGRATING, KRAFT, LEFT_ALONE = "zookeeper", "migrating", "kraft", "left_alone"
NAMES = ("migration_not_finalised", "broker_new_in_migration", "many_directories_in_migration")
#: Importing them is what makes them rules.
OWN = [rule for rule in RULES.values() if rule.find.__module__ == migration.__name__]


def disk(used: bool = True, logs: bool = True) -> dict[str, Any]:
    """Return a data directory as node_info tells it."""
    return {"logs": logs, "meta_properties": {"broker.id": "1"} if used else None, "started": used}


def host(name: str, mode: str, *disks: dict[str, Any], flagged: bool = False, **changes: Any) -> Host:
    """Return a node in a mode: a controller by its name, else a broker."""
    good = Host(
        name=name,
        cluster="blue",
        machine=name,
        node_id=1,
        roles=("controller",) if name.startswith("controller") else ("broker",),
        cluster_id="",
        version="3.9.2",
        production=True,
        min_free_mib=0,
        min_free_inodes=0,
        require_mount=False,
        installs_java=False,
        accepted=(),
        info={"disks": list(disks or [disk()]), "migrates": flagged},
        clock=None,
        mode=mode,
    )
    return replace(good, **changes)


def cluster(brokers: str, controllers: str, *others: Host) -> list[Host]:
    """Return two brokers and a controller of these modes, and others."""
    return [host("broker1", brokers), host("broker2", brokers), host("controller1", controllers), *others]


def violations(hosts: list[Host]) -> list[Violation]:
    return [violation for rule in OWN for violation in rule.violations(hosts)]


def said(hosts: list[Host]) -> list[tuple[str, tuple[str, ...]]]:
    return [(violation.name, violation.hosts) for violation in violations(hosts)]


NEW = host("broker9", MIGRATING, disk(used=False))
MANY = host("broker9", MIGRATING, disk(), disk())
#: From before the first step to the last one.
PHASES = [
    (ZOOKEEPER, LEFT_ALONE),
    (ZOOKEEPER, MIGRATING),
    (MIGRATING, MIGRATING),
    (KRAFT, MIGRATING),
    (KRAFT, KRAFT),
]


def test_the_rules_are_those() -> None:
    assert tuple(rule.name for rule in OWN) == NAMES


@pytest.mark.parametrize(("brokers", "controllers"), PHASES)
def test_a_migration_as_it_should_be_is_left_in_peace(brokers: str, controllers: str) -> None:
    assert said(cluster(brokers, controllers)) == []


@pytest.mark.parametrize(("brokers", "controllers"), PHASES)
def test_a_broker_without_data_is_refused_between_the_first_step_and_the_last(brokers: str, controllers: str) -> None:
    expected = [("broker_new_in_migration", ("broker9",))] if controllers == MIGRATING else []
    assert said(cluster(brokers, controllers, replace(NEW, mode=brokers))) == expected
    # One whose disks were replaced on purpose too.
    assert said(cluster(brokers, controllers, replace(NEW, mode=brokers, emptied=True))) == expected


def test_a_broker_without_data_may_be_accepted_and_the_reason_is_named() -> None:
    (violation,) = violations(cluster(KRAFT, MIGRATING, replace(NEW, mode=KRAFT)))
    assert (violation.level, violation.acceptable) == ("error", True)
    assert "KIP-1362" in violation.what
    assert "migrate_to_kraft.yml" in violation.fix


@pytest.mark.parametrize(
    "silent",
    [
        replace(NEW, info=None),
        host("broker9", MIGRATING, disk(used=False), disk()),
        host("controller2", MIGRATING, disk(used=False)),
    ],
)
def test_a_host_that_does_not_answer_or_a_controller_is_no_new_broker(silent: Host) -> None:
    assert "broker_new_in_migration" not in dict(said(cluster(MIGRATING, MIGRATING, silent)))


def test_another_cluster_beside_it_is_untouched() -> None:
    green = [replace(one, cluster="green") for one in (replace(NEW, mode=ZOOKEEPER), replace(MANY, mode=ZOOKEEPER))]
    assert said([*cluster(MIGRATING, MIGRATING), *green]) == []


@pytest.mark.parametrize(
    ("brokers", "controllers", "told"),
    [
        (ZOOKEEPER, LEFT_ALONE, False),
        # The step that brings the migration is the time to know it.
        (ZOOKEEPER, MIGRATING, True),
        (MIGRATING, MIGRATING, True),
        (KRAFT, MIGRATING, False),
        (KRAFT, KRAFT, False),
    ],
)
def test_several_directories_are_a_risk_of_brokers_in_zookeeper_mode(
    brokers: str, controllers: str, told: bool
) -> None:
    found = violations(cluster(brokers, controllers, replace(MANY, mode=brokers)))
    expected = [("many_directories_in_migration", "warning", "2 data directories")] if told else []
    assert [(violation.name, violation.level, violation.found) for violation in found] == expected


def test_a_directory_for_metadata_alone_does_not_count() -> None:
    assert said(cluster(MIGRATING, MIGRATING, host("broker9", MIGRATING, disk(), disk(logs=False)))) == []


@pytest.mark.parametrize(
    ("mode", "flagged", "refused"),
    [
        ("kraft_isolated", True, True),
        ("kraft_combined", True, True),
        ("kraft_isolated", False, False),
        (MIGRATING, True, False),
        # The run that finalises, and one that cleans up behind it.
        (KRAFT, True, False),
        (ZOOKEEPER, True, False),
        (LEFT_ALONE, True, False),
    ],
)
def test_kafka_mode_is_not_changed_before_the_migration_is_finalised(mode: str, flagged: bool, refused: bool) -> None:
    controller = host("controller1", mode, flagged=flagged)
    assert said([host("broker1", mode), controller]) == (
        [("migration_not_finalised", ("controller1",))] if refused else []
    )
    assert not any(violation.acceptable for violation in violations([controller]))
