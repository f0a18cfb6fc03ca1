# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a cluster looked like at one moment: plain data that gates, plans and reports decide on."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from .._core.addresses import host_port
from .._core.names import INTERNAL

#: The topic in which this collection keeps what a run must find again: moves under way, and throttles before them.
STATE_TOPIC = "_streamops_state"
#: The biggest record of the state topic. A plan of a million partitions is one of about 50 MB before compression.
RECORD_BYTES = 64 << 20
#: Kafka's default of controller.quorum.fetch.timeout.ms; Strimzi's KafkaQuorumCheck calls a voter caught up within it.
FETCH_TIMEOUT_MS = 2000


@dataclass(frozen=True)
class Broker:
    """A registered broker. C(fenced): it is registered but takes no part, usually because it is down."""

    id: int
    host: str
    port: int
    rack: str | None
    fenced: bool


@dataclass(frozen=True)
class Partition:
    """One partition. C(leader) is None while it has none.

    C(min_insync) is the min.insync.replicas that holds for its topic, its own or the cluster's, 0 when the snapshot was
    taken without it; so is C(unclean), whether unclean.leader.election.enable is on.
    C(eligible) and C(last_known): who may lead besides the ISR, and who was the last that might (KIP-966); both are
    asked only where a partition has no leader, and None where the cluster does not tell.
    """

    topic: str
    index: int
    leader: int | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    min_insync: int
    internal: bool
    eligible: tuple[int, ...] | None = None
    last_known: tuple[int, ...] | None = None
    unclean: bool = False

    @property
    def needed(self) -> int:
        """Return how many replicas must be in sync for acks=all to be served, 0 where that is not known."""
        return effective_min_isr(self.min_insync, len(self.replicas))


def effective_min_isr(min_insync: int, replicas: int) -> int:
    """Return how many of so many replicas must be in sync for acks=all: min.insync.replicas, never more than exist.

    So does Kafka since 3.7, with eligible leader replicas and without (KAFKA-15583, Partition.effectiveMinIsr). While a
    partition moves, the replicas that it gets count too.
    """
    return min(min_insync, replicas)


@dataclass(frozen=True)
class Voter:
    """A member of the metadata quorum (voter or observer).

    C(lag) is in records behind the leader; C(last_caught_up_ms_ago) is None when it has never caught up.
    """

    id: int
    directory_id: str | None
    log_end_offset: int
    lag: int
    last_caught_up_ms_ago: int | None


@dataclass(frozen=True)
class Quorum:
    """The KRaft metadata quorum. C(leader_id) is None while it has no leader.

    C(error) says why it could not be asked; then nothing else is known of it, and there are no members.
    """

    leader_id: int | None
    leader_epoch: int
    high_watermark: int
    voters: tuple[Voter, ...]
    observers: tuple[Voter, ...]
    error: str | None = None

    @cached_property
    def members(self) -> Mapping[int, Voter]:
        """The entry of each node, voter or observer: the one that caught up last.

        A node whose metadata directory was replaced has two. The leader lists that of the old directory for five
        minutes more (LeaderState.OBSERVER_SESSION_TIMEOUT_MS of Kafka); it says nothing of the node.
        """

        def age(member: Voter) -> float:
            """Return how long ago it had caught up, in ms; never is longest."""
            return float("inf") if member.last_caught_up_ms_ago is None else member.last_caught_up_ms_ago

        return {member.id: member for member in sorted((*self.observers, *self.voters), key=age, reverse=True)}

    @classmethod
    def unknown(cls, error: str) -> Quorum:
        """A quorum that could not be asked, and why."""
        return cls(None, -1, -1, (), (), error)


def caught_up(voter: Voter, quorum: Quorum, limit_ms: int) -> bool:
    """Tell whether a voter has all records but those of the last C(limit_ms) milliseconds; the leader always has."""
    if voter.id == quorum.leader_id:
        return True
    return voter.last_caught_up_ms_ago is not None and voter.last_caught_up_ms_ago < limit_ms


@dataclass(frozen=True)
class Snapshot:
    """One observation of a cluster. C(quorum) is None where there is none (ZooKeeper mode).

    C(controller_id) is the active controller: the leader of the quorum, or in ZooKeeper mode the broker elected; None
    where there is none, or where C(quorum) could not be asked. C(silent): the registered brokers that did not answer at
    their own listener, with what happened; empty also where they were not asked. C(elsewhere): those at whose
    address another node answers, with that address and node; empty also where they were not asked.
    """

    cluster_id: str
    controller_id: int | None
    brokers: tuple[Broker, ...]
    partitions: tuple[Partition, ...]
    quorum: Quorum | None
    silent: Mapping[int, str] = field(default_factory=dict)
    elsewhere: Mapping[int, str] = field(default_factory=dict)

    @cached_property
    def servers(self) -> Mapping[int, str]:
        """Return where each live broker is reached, host:port at the listener that the snapshot was taken by."""
        return {one.id: host_port(one.host, one.port) for one in self.brokers if not one.fenced}


def partition_of(
    topic: str,
    index: int,
    leader: int,
    replicas: Iterable[int],
    isr: Iterable[int],
    internal: bool | None = None,
) -> Partition:
    """A partition as the protocol describes it, where -1 stands for no leader; C(min_insync) is left 0.

    C(internal) is what the broker said; where the answer has no place for it, it goes by the name, as brokers do.
    """
    known = leader if leader >= 0 else None
    said = topic in INTERNAL if internal is None else internal
    return Partition(topic, index, known, tuple(replicas), tuple(isr), 0, said)


def ids_alive(brokers: Iterable[Broker]) -> list[int]:
    """The ids of the brokers that take part in the cluster: registered, and not fenced."""
    return [broker.id for broker in brokers if not broker.fenced]


def brokers_of(listed: Iterable[Mapping[str, Any]], partitions: Iterable[Partition]) -> tuple[Broker, ...]:
    """The brokers of an answer to DescribeCluster; before Kafka 4.0 fenced ones show only as holders of replicas."""
    brokers = {b["broker_id"]: (b["host"], b["port"], b["rack"], bool(b.get("is_fenced"))) for b in listed}
    for partition in partitions:
        for replica in partition.replicas:
            brokers.setdefault(replica, ("", -1, None, True))
    return tuple(Broker(broker, *brokers[broker]) for broker in sorted(brokers))


def quorum_from(described: Mapping[str, Any]) -> Quorum:
    """The quorum from its description (_cluster/info.py): its fields as plain data."""
    members = {part: tuple(Voter(**one) for one in described[part]) for part in ("voters", "observers")}
    return Quorum(**{**described, **members})


def quorum_of(found: Mapping[str, Any]) -> Quorum:
    """The quorum in the partition of an answer to DescribeQuorum (its message in kafka-python, as a dict)."""
    members = found["current_voters"] + found["observers"]
    leader = next((m for m in members if m["replica_id"] == found["leader_id"]), None)
    # The leader stamps its own entry with its present time, so no clock of ours has a part in this.
    now = leader["last_caught_up_timestamp"] if leader else -1
    end = leader["log_end_offset"] if leader else found["high_watermark"]

    def voter(member: Mapping[str, Any]) -> Voter:
        """One member of the quorum."""
        seen = member.get("last_caught_up_timestamp", -1)
        offset = member["log_end_offset"]
        return Voter(
            id=member["replica_id"],
            directory_id=_directory_id(member.get("replica_directory_id")),
            log_end_offset=offset,
            lag=max(end - offset, 0),
            last_caught_up_ms_ago=max(now - seen, 0) if seen >= 0 and now >= 0 else None,
        )

    return Quorum(
        leader_id=found["leader_id"] if found["leader_id"] >= 0 else None,
        leader_epoch=found["leader_epoch"],
        high_watermark=found["high_watermark"],
        voters=tuple(voter(member) for member in found["current_voters"]),
        observers=tuple(voter(member) for member in found["observers"]),
    )


def _directory_id(value: Any) -> str | None:
    """A directory id as Kafka prints it (base64 without padding), None when the cluster does not know it."""
    if not value or uuid.UUID(str(value)).int == 0:
        return None
    return base64.urlsafe_b64encode(uuid.UUID(str(value)).bytes).rstrip(b"=").decode()


#: A partition by topic and number.
Key = tuple[str, int]
#: Why single partitions or resources were refused: Kafka's error name, and what it says.
Failures = dict[Key, tuple[str, str]]


@dataclass(frozen=True)
class InFlight:
    """One reassignment under way. C(replicas) are all that the partition has now, old and new, the target first."""

    topic: str
    index: int
    replicas: tuple[int, ...]
    adding: frozenset[int]
    removing: frozenset[int]

    @property
    def key(self) -> Key:
        """The partition."""
        return self.topic, self.index

    @property
    def touched(self) -> frozenset[int]:
        """All brokers that it touches: those that have a replica, get one or lose one."""
        return self.adding.union(self.replicas, self.removing)

    @property
    def target(self) -> tuple[int, ...]:
        """The replicas when it has ended."""
        return tuple(broker for broker in self.replicas if broker not in self.removing)

    @property
    def original(self) -> tuple[int, ...]:
        """The replicas when it is cancelled (their order may have been another one)."""
        return tuple(broker for broker in self.replicas if broker not in self.adding)


def in_flight_of(topics: Iterable[Any]) -> dict[Key, InFlight]:
    """The reassignments in the topics of an answer to ListPartitionReassignments, by partition."""
    return {
        (topic.name, found.partition_index): InFlight(
            topic.name,
            found.partition_index,
            tuple(found.replicas),
            frozenset(found.adding_replicas),
            frozenset(found.removing_replicas),
        )
        for topic in topics
        for found in topic.partitions
    }


def seen_moving(
    partitions: Iterable[Partition], before: Mapping[Key, InFlight], after: Mapping[Key, InFlight]
) -> tuple[tuple[Partition, ...], dict[Key, InFlight]]:
    """Return partitions with the moves under way among them, listed before and after the partitions were.

    A move that began meanwhile counts, with all replicas that its partition has since then. One that ended meanwhile
    counts as long as the partition still shows its old replicas.
    """
    found, moving = [], {}
    for one in partitions:
        key = one.topic, one.index
        move = after.get(key) or before.get(key)
        if move is not None and key in after and {*one.isr} <= {*move.replicas}:
            one = replace(one, replicas=move.replicas)
        if move is not None and {*one.replicas} == {*move.replicas}:
            moving[key] = move
        found.append(one)
    return tuple(found), moving


def named(keys: Iterable[Key]) -> list[str]:
    """Partitions for people, sorted."""
    return [f"{topic}-{index}" for topic, index in sorted(keys)]


def behind(partitions: Iterable[Partition], alive: Collection[int], leaders: Collection[int]) -> list[int]:
    """Return the live replicas that are out of the ISR of what these brokers lead."""
    return sorted({f for one in partitions if one.leader in leaders for f in out_of_sync(one, alive)})


def without_adding(partitions: Iterable[Partition], moving: Iterable[InFlight]) -> tuple[Partition, ...]:
    """Return the partitions without the replicas that a reassignment is about to add: they have never been in sync."""
    adding = {one.key: one.adding for one in moving}
    return tuple(
        replace(one, replicas=tuple(r for r in one.replicas if r not in adding[one.topic, one.index]))
        if adding.get((one.topic, one.index))
        else one
        for one in partitions
    )


def out_of_sync(partition: Partition, alive: Collection[int]) -> list[int]:
    """Return the live followers that are not in the ISR of a partition."""
    return [one for one in partition.replicas if one != partition.leader and one in alive and one not in partition.isr]
