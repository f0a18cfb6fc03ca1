# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a look at a cluster between ZooKeeper and KRaft brings (KIP-866): its nodes, their metadata logs, its znodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .modes import BROKER, CONTROLLER, KRAFT, MIGRATING, ZOOKEEPER, broker_mode, is_flagged, mode_of, roles_of

#: The values of ZkMigrationState in the metadata log and in the metric of that name (ZkMigrationState.java of 3.9).
NONE, MIGRATION, PRE_MIGRATION, POST_MIGRATION = "NONE", "MIGRATION", "PRE_MIGRATION", "POST_MIGRATION"
STATES: Mapping[int, str] = {0: NONE, 1: MIGRATION, 2: PRE_MIGRATION, 3: POST_MIGRATION}


@dataclass(frozen=True)
class MetadataLog:
    """The metadata log on the disk of one controller.

    state -- the last ZkMigrationState in it, empty where it holds none; brokers -- the registered brokers by id, and
    whether each is still a broker of ZooKeeper (IsMigratingZkBroker of RegisterBrokerRecord); epoch, end -- of its last
    batch: the epoch of the leader that wrote it, and the offset behind it
    """

    state: str = ""
    brokers: Mapping[int, bool] = field(default_factory=dict)
    epoch: int = 0
    end: int = 0


@dataclass(frozen=True)
class NodeLook:
    """One node of Kafka in the inventory, and what its machine told.

    roles -- those of the inventory; silence -- why its machine did not answer, empty where it did; release -- of its
    last start; started -- the properties of TELLING in its start record, None where it has no record; log -- of a
    controller, None where its disk holds none; unread -- why its log could not be read; record_unread -- why its start
    record could not be; epoch -- of the quorum, as a controller knows it: elections that nobody won raise it without a
    record; kraft_dirs -- of a broker, its directories that were formatted for KRaft, None where that is not known;
    dirs_unread -- why they could not be read
    """

    host: str
    id: int
    roles: frozenset[str]
    silence: str = ""
    running: bool = True
    release: str = ""
    started: Mapping[str, str] | None = None
    log: MetadataLog | None = None
    unread: str = ""
    record_unread: str = ""
    epoch: int = 0
    kraft_dirs: tuple[str, ...] | None = None
    dirs_unread: str = ""

    @property
    def started_roles(self) -> frozenset[str]:
        """Return the roles of KRaft that it was started with; empty of a broker of ZooKeeper."""
        return roles_of(self.started)

    @property
    def flagged(self) -> bool:
        """Tell whether it was started with the migration flag."""
        return is_flagged(self.started)

    @property
    def mode(self) -> str:
        """Return the mode that a broker was started in, empty where that is not known."""
        return broker_mode(self.started)

    @property
    def started_in(self) -> str:
        """Return the mode that a node of either role was started in, empty where that is not known."""
        return mode_of(self.started)

    @property
    def answers(self) -> bool:
        """Tell whether its machine answered and its process runs."""
        return self.running and not self.silence

    def __str__(self) -> str:
        return f"{self.host} (id {self.id})"


@dataclass(frozen=True)
class MigrationZnode:
    """The content of /migration (ZkData.scala): offset -- up to where the log is in ZooKeeper, -1 before the copy."""

    controller: int = -1
    epoch: int = -1
    offset: int = -1

    @property
    def is_copied(self) -> bool:
        """Tell whether the copy was completed: then the next controller skips it (initialZkMigrationComplete)."""
        return self.offset > 0


@dataclass(frozen=True)
class Znodes:
    """What Kafka keeps in ZooKeeper about who is in charge; None for a znode that does not exist.

    controller -- the id in /controller; kraft_epoch -- the epoch of KRaft in it, -1 where a broker wrote it; epoch --
    /controller_epoch; brokers -- the ids of /brokers/ids: brokers of ZooKeeper that have a session
    """

    controller: int | None = None
    kraft_epoch: int = -1
    epoch: int | None = None
    migration: MigrationZnode | None = None
    brokers: frozenset[int] = frozenset()


@dataclass(frozen=True)
class EnsembleLook:
    """The ensemble: how many servers the inventory has, how many of them serve and how many are stopped for certain.

    unread -- why the znodes could not be read, empty where they were; denied -- the znodes of a migration that the
    login of the inventory may not read or change, empty where nobody tried
    """

    servers: int = 0
    serving: int = 0
    stopped: int = 0
    znodes: Znodes | None = None
    unread: str = ""
    denied: tuple[str, ...] = ()

    @property
    def is_gone(self) -> bool:
        """Tell whether no server of ZooKeeper is left: one that does not answer may still run."""
        return self.stopped == self.servers


@dataclass(frozen=True)
class ClusterLook:
    """One cluster: its nodes of Kafka and its ensemble, as one look brought them."""

    name: str
    nodes: tuple[NodeLook, ...] = ()
    ensemble: EnsembleLook = EnsembleLook()

    @property
    def controllers(self) -> tuple[NodeLook, ...]:
        """Return the controllers of the inventory."""
        return tuple(node for node in self.nodes if CONTROLLER in node.roles)

    @property
    def brokers(self) -> tuple[NodeLook, ...]:
        """Return the brokers of the inventory."""
        return tuple(node for node in self.nodes if BROKER in node.roles)

    @property
    def log(self) -> MetadataLog | None:
        """Return the log that has most: the furthest one of the newest epoch, as in an election of Raft."""
        logs = [node.log for node in self.controllers if node.log is not None]
        return max(logs, key=lambda log: (log.epoch, log.end), default=None)

    @property
    def state(self) -> str:
        """Return the ZkMigrationState of the cluster, empty where no controller has written one."""
        return self.log.state if self.log else ""

    @property
    def epoch(self) -> int:
        """Return the epoch of the KRaft quorum, 0 where it had no election."""
        return max([self.log.epoch if self.log else 0, *(node.epoch for node in self.controllers)])

    @property
    def registered(self) -> Mapping[int, bool]:
        """Return the brokers that KRaft has registered, and whether each is still one of ZooKeeper."""
        return self.log.brokers if self.log else {}

    @property
    def with_session(self) -> frozenset[int]:
        """Return the ids of the brokers that are registered in ZooKeeper now."""
        return self.ensemble.znodes.brokers if self.ensemble.znodes else frozenset()

    @property
    def broker_ids(self) -> frozenset[int]:
        """Return the ids of all brokers, of the inventory and of both registrations."""
        return frozenset(node.id for node in self.brokers) | self.with_session | frozenset(self.registered)

    @property
    def goes_back(self) -> bool:
        """Tell whether a way back was begun and not ended: metadata is in KRaft, and /controller is not of KRaft.

        Kafka never takes it away by itself: that of KRaft has no session (CreateMode.PERSISTENT in KafkaZkClient).
        """
        znodes = self.ensemble.znodes
        return self.state == MIGRATION and znodes is not None and znodes.kraft_epoch < 0

    def mode_of(self, broker: int) -> str:
        """Return the mode of a broker, by its registration first: a stopped one has not left ZooKeeper.

        Without one in KRaft, a session in ZooKeeper or a start record tells; empty where nothing does.
        """
        if broker in self.registered:
            return MIGRATING if self.registered[broker] else KRAFT
        started = next((node.mode for node in self.brokers if node.id == broker), "")
        if broker in self.with_session:
            return MIGRATING if started == MIGRATING else ZOOKEEPER
        return started


def hosts(nodes: Iterable[NodeLook]) -> str:
    """Return nodes in a sentence."""
    return ", ".join(str(node) for node in nodes)
