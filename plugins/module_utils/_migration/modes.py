# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The modes of a node of Kafka on the way from ZooKeeper to KRaft (KIP-866), and how a start record tells them. Pure.

A mode is what a process was started in; the stage of a node is the mode whose settings a run gives it (stages.py):

broker      zookeeper  broker.id, zookeeper.*, AclAuthorizer; nothing of a quorum
            migrating  the same with the flag, controller.quorum.voters and controller.listener.names
            kraft      process.roles, node.id, StandardAuthorizer; no zookeeper.*, no inter.broker.protocol.version
controller  migrating  process.roles, node.id, StandardAuthorizer, zookeeper.*, the flag, inter.broker.listener.name
            kraft      the same without the last three
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Optional

from .._node.start_record import MIGRATION_FLAG, migrates

#: Of a broker: with ZooKeeper, with ZooKeeper and the migration flag, with KRaft. Of a controller: with the migration
#: flag and ZooKeeper, without both.
ZOOKEEPER, MIGRATING, KRAFT = MODES = "zookeeper", "migrating", "kraft"
#: Of a controller that a run neither starts nor changes.
LEFT_ALONE = "left_alone"

BROKER, CONTROLLER = "broker", "controller"
ROLES, PROTOCOL = "process.roles", "inter.broker.protocol.version"
FLAG = MIGRATION_FLAG
#: The properties of a start record that tell the phase; the others may hold secrets and are left on the node.
TELLING = (ROLES, FLAG, PROTOCOL)

#: The properties of TELLING that a process was started with; None where it has no start record.
Started = Optional[Mapping[str, str]]


def roles_of(started: Started) -> frozenset[str]:
    """Return the roles of KRaft that a process was started with; empty of a broker of ZooKeeper."""
    words = (started or {}).get(ROLES, "").split(",")
    return frozenset(word.strip() for word in words if word.strip())


def is_flagged(started: Started) -> bool:
    """Tell whether a process was started with the migration flag."""
    return migrates(started or {})


def broker_mode(started: Started) -> str:
    """Return the mode that a broker was started in, empty where that is not known."""
    if started is None:
        return ""
    if roles_of(started):
        return KRAFT
    return MIGRATING if is_flagged(started) else ZOOKEEPER


def mode_of(started: Started) -> str:
    """Return the mode that a node of either role was started in, empty where that is not known.

    A broker of KRaft has no use for the flag, so one that still has it is a broker of KRaft all the same.
    """
    if CONTROLLER in roles_of(started):
        return MIGRATING if is_flagged(started) else KRAFT
    return broker_mode(started)
