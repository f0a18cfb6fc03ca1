# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Which phase of the migration to KRaft a cluster is in, from what was seen of it. Pure.

The state in the metadata log decides (KIP-866), then how each broker is registered in KRaft. It is read from the disks
of the controllers, so that controllers that are stopped tell it too.
"""

from __future__ import annotations

from dataclasses import dataclass

from .model import MIGRATION, NONE, POST_MIGRATION, PRE_MIGRATION, ClusterLook, Znodes
from .modes import KRAFT

NOT_BEGUN, CONTROLLERS_READY = "not_begun", "controllers_ready"
BROKERS_MIGRATING, COPIED = "brokers_migrating", "copied"
BROKERS_MOVING, DUAL_WRITE_KRAFT = "brokers_moving", "dual_write_kraft"
FINALISED, ZOOKEEPER_GONE = "finalised", "zookeeper_gone"
#: No phases of a migration: a cluster that never had ZooKeeper, one that cannot migrate, one that does not tell.
CREATED_IN_KRAFT, CANNOT_MIGRATE, UNKNOWN = "created_in_kraft", "cannot_migrate", "unknown"
#: The way of a migration, in its order.
WAY = (
    NOT_BEGUN,
    CONTROLLERS_READY,
    BROKERS_MIGRATING,
    COPIED,
    BROKERS_MOVING,
    DUAL_WRITE_KRAFT,
    FINALISED,
    ZOOKEEPER_GONE,
)


@dataclass(frozen=True)
class Phase:
    """A phase by its name; of one that counts brokers how many of them are done, and of how many."""

    name: str
    done: int = 0
    total: int = 0

    def __str__(self) -> str:
        return f"{self.name} ({self.done} of {self.total} brokers)" if self.total else self.name


def phase_of(look: ClusterLook) -> Phase:
    """Return the phase of a cluster; unknown where controllers that may know more do not tell."""
    ids = look.broker_ids
    of_kraft = sum(not migrating for migrating in look.registered.values())
    if look.state == POST_MIGRATION:
        return Phase(ZOOKEEPER_GONE if look.ensemble.is_gone else FINALISED)
    if _untold(look):
        return Phase(UNKNOWN)
    if look.state == MIGRATION:
        if not of_kraft:
            return Phase(COPIED)
        return Phase(DUAL_WRITE_KRAFT) if of_kraft == len(ids) else Phase(BROKERS_MOVING, of_kraft, len(ids))
    if look.state == PRE_MIGRATION:
        migrating = sum(look.registered.values())
        return Phase(BROKERS_MIGRATING, migrating, len(ids)) if migrating else Phase(CONTROLLERS_READY)
    return _without_flag(look) if look.state == NONE else _before(look)


def _untold(look: ClusterLook) -> bool:
    """Tell whether controllers whose logs were not read may hold a later state than the others do.

    A record is on a majority once it is committed, so any majority of the logs has it.
    """
    missing = [node for node in look.controllers if node.silence or node.unread]
    return bool(missing) and 2 * (len(look.controllers) - len(missing)) <= len(look.controllers)


def _without_flag(look: ClusterLook) -> Phase:
    """Return the phase of a cluster whose log says that it was created in KRaft mode.

    Kafka starts no migration from such a log (ActivationRecordsGenerator); with brokers of ZooKeeper beside it the
    controllers were started without the flag.
    """
    modes = {look.mode_of(broker) for broker in look.broker_ids}
    return Phase(CREATED_IN_KRAFT if modes <= {KRAFT} and not look.with_session else CANNOT_MIGRATE)


def _before(look: ClusterLook) -> Phase:
    """Return the phase of a cluster without a state in any log: not begun, where nothing else says otherwise.

    A znode /controller that KRaft wrote says that its controllers are missing in the inventory, or lost their disks.
    Controllers of Kafka 4.x write no state.
    """
    modes = {look.mode_of(broker) for broker in look.broker_ids}
    znodes = look.ensemble.znodes
    if look.registered and modes == {KRAFT} and not look.with_session:
        return Phase(CREATED_IN_KRAFT)
    if _never_started(look):
        return Phase(NOT_BEGUN)
    led_by_kraft = znodes is not None and znodes.kraft_epoch >= 0
    return Phase(UNKNOWN if led_by_kraft or KRAFT in modes or modes <= {""} else NOT_BEGUN)


def _never_started(look: ClusterLook) -> bool:
    """Tell whether a cluster is not installed yet: each machine says that nothing runs or ran, and ZooKeeper, where it
    can be asked, that no broker has ever been the controller."""
    blank = all(
        node.started is None
        and not (node.running or node.silence or node.record_unread or node.unread or node.kraft_dirs)
        for node in look.nodes
    )
    return blank and bool(look.brokers) and look.ensemble.znodes in (None, Znodes())
