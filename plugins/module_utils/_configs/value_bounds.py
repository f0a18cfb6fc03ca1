# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The one table of values that Kafka takes and that a cluster cannot live with, or lives with badly.

Each row names a key, what it must stay within, what happens beyond, and where that is known from. Kafka's own ranges
(definitions.json) are wider. A row that stops a cluster is an error; one that slows it, or risks records, a warning.
What needs more than two numbers of one node to be judged has a rule of its own in the preflight (rules/timeouts.py,
rules/sizes.py, rules/connections.py). The module broker_configs judges by the rows of a single key what it sets live.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .values import without_listener

#: Which nodes read a key.
BROKER, CONTROLLER, NODE = "broker", "controller", "node"
#: Keys that only nodes of KRaft read, whichever the row says.
KRAFT_KEYS = ("controller.quorum.", "broker.heartbeat.", "broker.session.", "initial.broker.", "metadata.")
MIB = 1024 * 1024
MINUTE = 60 * 1000


@dataclass(frozen=True)
class Bound:
    """A key whose number has bounds of its own.

    why -- what happens beyond them; source -- the class of Kafka, KIP or JIRA that it is known from
    least, most -- the bounds, in the unit of the key; None for none
    other -- a number beyond them that has a meaning of its own, such as 0 for never
    stops -- whether a cluster cannot live beyond them
    """

    key: str
    why: str
    source: str
    least: int | None = None
    most: int | None = None
    other: int | None = None
    stops: bool = False
    read_by: str = BROKER

    def holds(self, value: int) -> bool:
        """Tell whether a number is within the bounds, or is the one beside them."""
        low = self.least is not None and value < self.least
        high = self.most is not None and value > self.most
        return value == self.other or not (low or high)

    @property
    def allowed(self) -> str:
        """Say what is within the bounds, in words."""
        ends = (("at least", self.least), ("at most", self.most))
        words = " and ".join(f"{word} {end}" for word, end in ends if end is not None)
        return words if self.other is None else f"{words}, or {self.other}"


@dataclass(frozen=True)
class Order:
    """A key whose number must stay below that of another key of the same node, or may equal it.

    spare -- how much the other one must be larger at least; 0 where they may be equal
    """

    key: str
    other: str
    why: str
    source: str
    spare: int = 1
    stops: bool = False
    read_by: str = BROKER

    def holds(self, value: int, other: int) -> bool:
        """Tell whether the two numbers are in this order."""
        return value + self.spare <= other


#: A leader of the quorum holds a fetch for so long when there is nothing new (KafkaRaftClient.MAX_FETCH_WAIT_MS).
QUORUM_WAIT_MS = 500
_QUORUM_QUIET = (
    f"the leader of the quorum answers a fetch after up to {QUORUM_WAIT_MS} ms, which is too late: a quiet quorum"
    " elects without end"
)
_SLOW_METADATA = "every change of metadata (a topic, a leader, the in-sync replicas) waits for so long"
_ROLLS = "a new segment begins after a few records, and the node runs out of open files"
_LATE_COMMIT = "every commit of a consumer group waits for so long"

BOUNDS: tuple[Bound, ...] = (
    # The quorum.
    Bound(
        "controller.quorum.append.linger.ms",
        _SLOW_METADATA + ", and an election needs several of them",
        "BatchAccumulator, KafkaRaftClient.appendLingerMs",
        most=1000,
        stops=True,
        read_by=CONTROLLER,
    ),
    Bound("controller.quorum.append.linger.ms", _SLOW_METADATA, "BatchAccumulator", most=200, read_by=CONTROLLER),
    Bound(
        "controller.quorum.election.timeout.ms",
        "a candidate gives up before the votes arrive, so the quorum elects without end",
        "KIP-595, CandidateState",
        least=100,
        stops=True,
        read_by=CONTROLLER,
    ),
    Bound(
        "controller.quorum.election.timeout.ms",
        "a quorum whose election fails has no leader for so long",
        "KIP-595, CandidateState",
        most=10000,
        read_by=CONTROLLER,
    ),
    Bound(
        "controller.quorum.election.backoff.max.ms",
        "a quorum whose election fails has no leader for so long",
        "KIP-595, KafkaRaftClient.binaryExponentialElectionBackoffMs",
        most=10000,
        read_by=CONTROLLER,
    ),
    *(
        Bound(
            key, _QUORUM_QUIET, "KafkaRaftClient.MAX_FETCH_WAIT_MS", least=QUORUM_WAIT_MS + 1, stops=True, read_by=NODE
        )
        for key in ("controller.quorum.fetch.timeout.ms", "controller.quorum.request.timeout.ms")
    ),
    *(
        Bound(
            key,
            "a leader that died is missed after so long, and no metadata changes until then",
            "KIP-595",
            most=30000,
            read_by=NODE,
        )
        for key in ("controller.quorum.fetch.timeout.ms", "controller.quorum.request.timeout.ms")
    ),
    Bound(
        "controller.quorum.fetch.snapshot.max.bytes",
        "a node that needs a snapshot gets it in pieces so small that it does not catch up",
        "KIP-630, KIP-1219",
        least=65536,
        stops=True,
        read_by=NODE,
    ),
    Bound(
        "controller.quorum.fetch.max.bytes",
        "nodes that are behind catch up with the metadata one change at a time",
        "KIP-1219",
        least=65536,
        read_by=NODE,
    ),
    Bound(
        "metadata.log.max.record.bytes.between.snapshots",
        "every few changes the node writes a snapshot of all metadata",
        "SnapshotGenerator, KIP-630",
        least=MIB,
        read_by=NODE,
    ),
    Bound(
        "metadata.log.max.snapshot.interval.ms",
        "the node writes a snapshot of all metadata again and again",
        "SnapshotGenerator, KIP-876",
        least=1000,
        other=0,
        read_by=NODE,
    ),
    Bound("metadata.log.segment.ms", _ROLLS, "KafkaRaftLog", least=MINUTE, read_by=NODE),
    # Brokers and their controllers.
    Bound(
        "broker.heartbeat.interval.ms",
        "brokers send heartbeats without a pause, and the controllers have time for nothing else",
        "BrokerLifecycleManager.scheduleNextCommunication",
        least=100,
        stops=True,
    ),
    Bound(
        "broker.session.timeout.ms",
        "a short pause of a broker or of the network takes all its leaders away",
        "BrokerHeartbeatManager, KIP-631",
        least=2000,
        read_by=CONTROLLER,
    ),
    Bound(
        "broker.session.timeout.ms",
        "a broker that died keeps its leaders for so long, and nothing is written there",
        "BrokerHeartbeatManager, KIP-631",
        most=2 * MINUTE,
        read_by=CONTROLLER,
    ),
    Bound(
        "initial.broker.registration.timeout.ms",
        "the broker shuts down before the controllers have registered it",
        "BrokerLifecycleManager.RegistrationTimeoutEvent",
        least=10000,
        stops=True,
    ),
    Bound(
        "server.max.startup.time.ms",
        "the node shuts down while it still reads its logs, as it does after a crash",
        "FutureUtils.waitWithLogging",
        least=5 * MINUTE,
        stops=True,
        read_by=NODE,
    ),
    *(
        Bound(key, "requests of brokers to the controllers time out on a busy machine", source, least=1000, stops=True)
        for key, source in (
            ("request.timeout.ms", "KafkaConfig.requestTimeoutMs"),
            ("controller.socket.timeout.ms", "NodeToControllerChannelManager"),
        )
    ),
    Bound(
        "socket.connection.setup.timeout.ms",
        "nodes give up a connection before its handshake is done",
        "KIP-601",
        least=1000,
        read_by=NODE,
    ),
    # Copies.
    Bound("num.replica.fetchers", "no follower copies anything", "AbstractFetcherManager", least=1, stops=True),
    Bound(
        "num.replica.alter.log.dirs.threads",
        "no partition moves between the disks of a broker",
        "ReplicaAlterLogDirsManager",
        least=1,
        stops=True,
    ),
    *(
        Bound(key, "followers ask their leaders without a pause", "DelayedFetch", least=1, stops=True)
        for key in ("replica.fetch.wait.max.ms", "replica.fetch.min.bytes")
    ),
    Bound(
        "replica.lag.time.max.ms",
        "followers leave the in-sync replicas at each pause of a garbage collection",
        "KIP-537, Partition.maybeShrinkIsr",
        least=2000,
        stops=True,
    ),
    Bound(
        "replica.lag.time.max.ms",
        "a short pause takes followers out of the in-sync replicas",
        "KIP-537, Partition.maybeShrinkIsr",
        least=10000,
    ),
    Bound(
        "replica.lag.time.max.ms",
        "writes with acks=all wait for a follower that hangs until producers give up (after 120000 ms by default)",
        "KIP-91, Partition.maybeShrinkIsr",
        most=2 * MINUTE - 1,
    ),
    Bound(
        "replica.fetch.backoff.ms",
        "after each failed fetch, as when a leader restarts, a follower stands still for so long",
        "AbstractFetcherThread.fetchBackOffMs",
        most=10000,
    ),
    Bound(
        "replica.high.watermark.checkpoint.interval.ms",
        "a broker that crashed takes its partitions back from an old high watermark",
        "ReplicaManager.startHighWatermarkCheckPointThread",
        least=1,
        most=MINUTE,
    ),
    # Connections and requests.
    Bound(
        "max.connection.creation.rate",
        "the node takes no connection",
        "KIP-612, ConnectionQuotas",
        least=1,
        stops=True,
        read_by=NODE,
    ),
    Bound(
        "connections.max.reauth.ms",
        "clients log in again before they have sent anything",
        "KIP-368",
        least=1000,
        other=0,
        stops=True,
        read_by=NODE,
    ),
    Bound(
        "connections.max.reauth.ms",
        "clients log in again so often that nodes do little else",
        "KIP-368",
        least=MINUTE,
        other=0,
        read_by=NODE,
    ),
    Bound(
        "sasl.server.max.receive.size",
        "a login does not fit in so few bytes",
        "KIP-802",
        least=1024,
        stops=True,
        read_by=NODE,
    ),
    Bound(
        "socket.request.max.bytes",
        "requests between nodes (copies, registrations, metadata) do not fit, and their connections are closed",
        "NetworkReceive, InvalidReceiveException",
        least=65536,
        stops=True,
        read_by=NODE,
    ),
    Bound(
        "num.io.threads",
        "one request that waits for a disk holds up all others",
        "KafkaRequestHandlerPool",
        least=2,
        read_by=NODE,
    ),
    *(
        Bound(
            key,
            "data crosses the network in pieces so small that copies fall behind",
            "SocketServer",
            least=4096,
            other=-1,
            read_by=reader,
        )
        for key, reader in (
            ("socket.send.buffer.bytes", NODE),
            ("socket.receive.buffer.bytes", NODE),
            ("replica.socket.receive.buffer.bytes", BROKER),
        )
    ),
    # Records and logs.
    Bound(
        "message.max.bytes",
        "the topics of consumer groups and transactions, and those of our proofs, cannot be written",
        "GroupMetadataManager; offset.metadata.max.bytes is 4096",
        least=8192,
        stops=True,
    ),
    Bound(
        "message.max.bytes",
        "batches of producers with the defaults of Kafka's own clients (batch.size 16384) are refused at first",
        "ProducerConfig, UnifiedLog.append",
        least=32768,
    ),
    Bound("log.index.size.max.bytes", _ROLLS, "LogSegment.shouldRoll, OffsetIndex", least=1024, stops=True),
    Bound("log.segment.bytes", _ROLLS, "LogSegment.shouldRoll, KIP-1161", least=65536, stops=True),
    *(
        Bound(key, _ROLLS, "LogSegment.shouldRoll", least=MIB)
        for key in (
            "log.segment.bytes",
            "offsets.topic.segment.bytes",
            "transaction.state.log.segment.bytes",
            "share.coordinator.state.topic.segment.bytes",
        )
    ),
    Bound("log.roll.ms", _ROLLS, "LogSegment.shouldRoll", least=1000, stops=True),
    Bound("log.roll.ms", _ROLLS, "LogSegment.shouldRoll", least=MINUTE),
    Bound(
        "log.retention.check.interval.ms",
        "disks can fill before the broker looks at what it may delete",
        "LogManager.cleanupLogs",
        most=60 * MINUTE,
    ),
    Bound(
        "log.cleaner.threads", "compacted topics, those of consumer groups too, grow without end", "LogCleaner", least=1
    ),
    # Groups and transactions.
    Bound(
        "offsets.commit.timeout.ms",
        "commits of consumer groups time out before the followers have them",
        "GroupCoordinatorConfig",
        least=100,
        stops=True,
    ),
    Bound(
        "share.coordinator.write.timeout.ms",
        "what share groups acknowledge times out before the followers have it",
        "ShareCoordinatorConfig",
        least=100,
        stops=True,
    ),
    Bound("group.coordinator.append.linger.ms", _LATE_COMMIT, "KIP-848, CoordinatorRuntime", most=1000),
    Bound("share.coordinator.append.linger.ms", _LATE_COMMIT, "KIP-932, CoordinatorRuntime", most=1000),
    Bound(
        "offsets.retention.minutes",
        "a consumer group that stands still for so long loses its place",
        "KIP-186",
        least=24 * 60,
    ),
    Bound(
        "transaction.abort.timed.out.transaction.cleanup.interval.ms",
        "consumers that read committed records stand still for so long behind a dead producer",
        "TransactionCoordinator",
        most=MINUTE,
    ),
)

ORDERS: tuple[Order, ...] = (
    Order(
        "replica.fetch.wait.max.ms",
        "replica.socket.timeout.ms",
        "each fetch of a follower times out while nothing is written",
        "KafkaConfig.validateValues, which takes equal ones",
        stops=True,
    ),
    Order(
        "replica.fetch.backoff.ms",
        "replica.lag.time.max.ms",
        "a follower whose fetch failed once, as when a leader restarts, leaves the in-sync replicas",
        "AbstractFetcherThread.fetchBackOffMs, Partition.maybeShrinkIsr",
        stops=True,
    ),
    Order(
        "controller.quorum.retry.backoff.ms",
        "controller.quorum.fetch.timeout.ms",
        "a voter whose request failed once begins an election before it asks again",
        "KIP-595, RequestManager",
        stops=True,
        read_by=NODE,
    ),
    Order(
        "group.min.session.timeout.ms",
        "group.max.session.timeout.ms",
        "brokers refuse every member of a consumer group",
        "GroupCoordinatorConfig",
        spare=0,
        stops=True,
    ),
    Order(
        "num.io.threads",
        "queued.max.requests",
        "request threads stand idle while requests wait on the network",
        "SocketServer, RequestChannel",
        spare=0,
        read_by=NODE,
    ),
    Order(
        "transaction.max.timeout.ms",
        "transactional.id.expiration.ms",
        "a producer is forgotten while its transaction is open",
        "TransactionStateManager",
    ),
    Order(
        "message.max.bytes",
        "max.decompressed.message.bytes",
        "batches that are allowed are refused when they are opened",
        "max.decompressed.message.bytes of Kafka 4.4",
        spare=0,
    ),
)

_WHOLE = re.compile(r"[+-]?[0-9]{1,19}")


def bound_broken(key: str, value: str | None) -> Bound | None:
    """Return the row of a single key that a value is beyond, first one that stops a cluster; None where there is none.

    The key may be that of a listener. What is no whole number is left to Kafka.
    """
    if value is None or not _WHOLE.fullmatch(value.strip()):
        return None
    beyond = [bound for bound in BOUNDS if bound.key == without_listener(key) and not bound.holds(int(value))]
    return min(beyond, key=lambda bound: not bound.stops, default=None)
