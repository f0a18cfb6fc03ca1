# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters in each phase of the migration: three brokers 1-3, three controllers 101-103, three servers of ZooKeeper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._migration.model import (
    MIGRATION,
    POST_MIGRATION,
    PRE_MIGRATION,
    ClusterLook,
    EnsembleLook,
    MetadataLog,
    MigrationZnode,
    NodeLook,
    Znodes,
)
from ansible_collections.streamops.kafka.plugins.module_utils._migration.modes import (
    BROKER,
    CONTROLLER,
    FLAG,
    KRAFT,
    MIGRATING,
    ROLES,
    ZOOKEEPER,
)
from ansible_collections.streamops.kafka.plugins.module_utils._migration.troubles import RELEASE

STARTED: Mapping[str, Mapping[str, str]] = {ZOOKEEPER: {}, MIGRATING: {FLAG: "true"}, KRAFT: {ROLES: BROKER}}
OF_KRAFT = Znodes(controller=101, kraft_epoch=4, epoch=9, migration=MigrationZnode(101, 4, 800))


def broker(number: int, mode: str, **more: Any) -> NodeLook:
    """Return a broker that runs in a mode."""
    look = NodeLook(f"broker{number}", number, frozenset({BROKER}), release=RELEASE, started=STARTED[mode])
    return replace(look, **{"kraft_dirs": (), **more})


def controller(number: int, log: MetadataLog | None, **more: Any) -> NodeLook:
    """Return a controller with a log, which runs with the migration flag; one without a log has never started."""
    started = {ROLES: CONTROLLER, FLAG: "true"}
    look = NodeLook(f"controller{number}", 100 + number, frozenset({CONTROLLER}), release=RELEASE, started=started)
    look = replace(look, log=log, epoch=4) if log else replace(look, running=False, started=None, release="")
    return replace(look, **more)


def cluster(
    state: str | None, modes: tuple[str, ...], registered: Mapping[int, bool], znodes: Znodes | None, **more: Any
) -> ClusterLook:
    """Return a cluster: state -- in the log of its controllers, None where they have never started; modes -- of the
    brokers; those of ZooKeeper have a session; registered -- brokers in KRaft."""
    log = None if state is None else MetadataLog(state, registered, epoch=4, end=1000)
    nodes = [broker(number, mode) for number, mode in enumerate(modes, 1)]
    controllers = [controller(number, log) for number in (1, 2, 3)]
    if state == POST_MIGRATION:
        controllers = [replace(node, started={ROLES: CONTROLLER}) for node in controllers]
    sessions = frozenset(node.id for node in nodes if node.mode != KRAFT)
    ensemble = EnsembleLook(3, 3, 0, znodes and replace(znodes, brokers=sessions))
    return replace(ClusterLook("blue", (*nodes, *controllers), ensemble), **more)


def not_begun() -> ClusterLook:
    return cluster(None, (ZOOKEEPER,) * 3, {}, Znodes(controller=1, epoch=3))


def controllers_ready() -> ClusterLook:
    return cluster(PRE_MIGRATION, (ZOOKEEPER,) * 3, {}, Znodes(1, -1, 3, MigrationZnode()))


def brokers_migrating() -> ClusterLook:
    znodes = Znodes(1, -1, 3, MigrationZnode())
    return cluster(PRE_MIGRATION, (MIGRATING, MIGRATING, ZOOKEEPER), {1: True, 2: True}, znodes)


def copied() -> ClusterLook:
    return cluster(MIGRATION, (MIGRATING,) * 3, {1: True, 2: True, 3: True}, OF_KRAFT)


def brokers_moving() -> ClusterLook:
    return cluster(MIGRATION, (KRAFT, MIGRATING, MIGRATING), {1: False, 2: True, 3: True}, OF_KRAFT)


def dual_write_kraft() -> ClusterLook:
    return cluster(MIGRATION, (KRAFT,) * 3, {1: False, 2: False, 3: False}, OF_KRAFT)


def finalised() -> ClusterLook:
    return cluster(POST_MIGRATION, (KRAFT,) * 3, {1: False, 2: False, 3: False}, OF_KRAFT)


def zookeeper_gone() -> ClusterLook:
    return replace(finalised(), ensemble=EnsembleLook(3, 0, 3))


def with_node(look: ClusterLook, host: str, **changes: Any) -> ClusterLook:
    """Return a cluster in which one node differs."""
    return replace(look, nodes=tuple(replace(node, **changes) if node.host == host else node for node in look.nodes))


def with_controllers(look: ClusterLook, **changes: Any) -> ClusterLook:
    """Return a cluster in which all controllers differ."""
    nodes = tuple(replace(node, **changes) if CONTROLLER in node.roles else node for node in look.nodes)
    return replace(look, nodes=nodes)


def with_znodes(look: ClusterLook, **changes: Any) -> ClusterLook:
    """Return a cluster whose znodes differ."""
    znodes = replace(look.ensemble.znodes or Znodes(), **changes)
    return replace(look, ensemble=replace(look.ensemble, znodes=znodes))
