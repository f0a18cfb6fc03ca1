# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Everything that is read about a cluster as a whole: brokers, topics, quorum, reassignments, logs.

Kafka leaves out of its answers what the caller has no right to see, so somebody without rights sees a cluster without
topics, in which all is well: C(require_describe) and C(hidden_topics) tell the difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from .._client.connection import denied
from .._client.reach import silent_servers
from .._client.session import Session
from .._configs.api import topic_values
from .._core.addresses import host_port
from .._core.errors import RequestFailedError
from .log_sizes import LogDirs, log_dirs_of
from .snapshot import (
    Broker,
    InFlight,
    Key,
    Partition,
    Quorum,
    Snapshot,
    brokers_of,
    ids_alive,
    in_flight_of,
    partition_of,
    quorum_of,
)

#: Kafka's error TOPIC_AUTHORIZATION_FAILED.
_HIDDEN = 29
#: The topic of the metadata log, whose one partition the quorum keeps.
_METADATA = "__cluster_metadata"
#: The level of metadata.version from which on a broker may be cordoned (4.3-IV0, KIP-1066).
_CORDONS = 30
#: The id of a topic that has none.
_NO_ID = "00000000-0000-0000-0000-000000000000"
#: What gates ask of each topic.
_MIN_INSYNC, _UNCLEAN = "min.insync.replicas", "unclean.leader.election.enable"


# -- brokers and quorum ------------------------------------------------------------------------------------------


def list_brokers(session: Session) -> tuple[Broker, ...]:
    """The registered brokers, with the fenced ones where the cluster lists them (Kafka 4.0 and later)."""
    return brokers_of(_described(session)["brokers"], ())


def live_brokers(session: Session) -> list[int]:
    """The ids of the brokers that are registered and not fenced."""
    return ids_alive(list_brokers(session))


def finalized_features(session: Session) -> dict[str, int] | None:
    """Return the levels of the finalised features by name (KIP-584), such as metadata.version 30 for 4.3-IV0.

    None where the broker knows no epoch of them: in ZooKeeper mode, and before it has read the metadata.
    """
    found = session.call("describe features", session.python.describe_features)
    levels = {name: one["finalized"][1] for name, one in found.items() if one.get("finalized_epoch") is not None}
    return levels or None


def require_describe(session: Session, what: str) -> None:
    """Raise RequestFailedError unless the caller may describe the cluster; C(what) names what that is needed for."""
    allowed = _described(session).get("authorized_operations")
    if allowed is not None and "DESCRIBE" not in allowed:
        code = "CLUSTER_AUTHORIZATION_FAILED"
        raise RequestFailedError(what, "of all topics", code, denied(session.connection, "describe cluster", code))


def describe_quorum(session: Session) -> Quorum | None:
    """The metadata quorum, None where there is none (ZooKeeper mode).

    A broker asks its leader, the active controller. Without an answer C(error) says so: nothing is known then, neither
    that there is no leader nor that anybody is no voter.
    """
    what = "describe quorum"
    try:
        answer = _ask_quorum(session)
    except RequestFailedError as error:
        if error.code == "UNSUPPORTED_VERSION":
            return None
        if not error.passing:
            raise
        return Quorum.unknown(f"no broker got an answer from the active controller: {error.why}")
    found = session.sound(session.sound(answer, what).topics[0].partitions[0], what)
    return quorum_of(found.to_dict())


def voter_endpoints(session: Session) -> dict[int, list[tuple[str, str]]]:
    """Return the listeners of the voters as the quorum knows them: by node id each as (name, host:port).

    Empty before Kafka 3.9, which does not tell. Call it only where there is a quorum that can be asked.
    """
    nodes = _ask_quorum(session).nodes or ()
    return {one.node_id: [(at.name, host_port(at.host, at.port)) for at in one.listeners] for one in nodes}


def _ask_quorum(session: Session) -> Any:
    """Return the answer to DescribeQuorum of the leader of the quorum."""
    from kafka.protocol.admin import DescribeQuorumRequest

    topic = DescribeQuorumRequest.TopicData
    request = DescribeQuorumRequest(
        topics=[topic(topic_name=_METADATA, partitions=[topic.PartitionData(partition_index=0)])]
    )
    return session.ask("describe quorum", request, _quorum_codes)


def _quorum_codes(answer: Any) -> list[int]:
    """The errors in an answer to DescribeQuorum: as a whole, and of its one partition."""
    return [answer.error_code, *(one.error_code for topic in answer.topics for one in topic.partitions)]


def _described(session: Session) -> Any:
    return session.call("describe cluster", session.python.describe_cluster)


# -- topics ------------------------------------------------------------------------------------------------------


def list_topics(session: Session) -> dict[str, tuple[Partition, ...]]:
    """Return all topics with their partitions (C(min_insync) 0), as one broker knows them."""
    return topics_at(session, None, None)


def topics_at(session: Session, broker: int | None, names: Iterable[str] | None) -> dict[str, tuple[Partition, ...]]:
    """These topics (None = all) as one broker (None = any) knows them (C(min_insync) 0); unknown ones are left out."""
    where = "list topics" if broker is None else f"list topics at broker {broker}"
    answer = _metadata_of(session, where, names, broker)
    return {topic.name: _partitions(topic) for topic in answer.topics if topic.error_code == 0}


def topic_ids(session: Session) -> dict[str, str]:
    """The ids of all topics; without those of brokers before Kafka 2.8, which have none."""
    answer = _metadata_of(session, "list topics", None)
    ids = {topic.name: str(getattr(topic, "topic_id", None) or "") for topic in answer.topics if topic.error_code == 0}
    return {name: one for name, one in ids.items() if one and one != _NO_ID}


def hidden_topics(session: Session, names: Iterable[str]) -> list[str]:
    """Those of these topics that the caller may not describe: Kafka does not tell whether they exist."""
    wanted = list(names)
    if not wanted:
        return []
    answer = _metadata_of(session, "list topics", wanted)
    return sorted(topic.name for topic in answer.topics if topic.error_code == _HIDDEN)


def _metadata_of(session: Session, what: str, names: Iterable[str] | None, broker: int | None = None) -> Any:
    from kafka.protocol.metadata import MetadataRequest

    wanted = None if names is None else [MetadataRequest.MetadataRequestTopic(name=name) for name in names]
    return session.send(what, MetadataRequest(topics=wanted, allow_auto_topic_creation=False), broker)


def _partitions(topic: Any) -> tuple[Partition, ...]:
    found = sorted(topic.partitions, key=lambda p: p.partition_index)
    return tuple(
        partition_of(topic.name, p.partition_index, p.leader_id, p.replica_nodes, p.isr_nodes, topic.is_internal)
        for p in found
    )


def with_eligible(session: Session, partitions: Iterable[Partition]) -> tuple[Partition, ...]:
    """The same partitions; those without a leader also name who is eligible to lead them (KIP-966), if Kafka tells.

    One request for each 2,000 partitions of their topics.
    """
    listed = tuple(partitions)
    known = _eligible(session, sorted({one.topic for one in listed if one.leader is None}))
    return tuple(
        replace(one, eligible=known[one.topic, one.index][0], last_known=known[one.topic, one.index][1])
        if one.leader is None and (one.topic, one.index) in known
        else one
        for one in listed
    )


def _eligible(session: Session, names: list[str]) -> dict[Key, tuple[tuple[int, ...], tuple[int, ...]]]:
    """By partition (ELR, last known ELR) of these topics; nothing before Kafka 3.7 and with ZooKeeper."""
    from kafka import errors

    found: dict[Key, tuple[tuple[int, ...], tuple[int, ...]]] = {}
    cursor: dict[str, Any] | None = None
    while names:
        try:
            answer = session.asked(partial(session.python.describe_topic_partitions, names, cursor=cursor))
        except (errors.IncompatibleBrokerVersion, errors.UnsupportedVersionError):
            return {}
        except errors.KafkaError as error:
            session.failed("describe partitions", error)
        for topic in answer["topics"]:
            for one in topic["partitions"]:
                members = one["eligible_leader_replicas"] or (), one["last_known_elr"] or ()
                found[topic["name"], one["partition_index"]] = (tuple(members[0]), tuple(members[1]))
        if answer["next_cursor"] in (None, cursor):
            break
        cursor = answer["next_cursor"]
    return found


def silent_brokers(session: Session, brokers: Iterable[Broker]) -> dict[int, str]:
    """The registered brokers that do not answer at the listener of this session, with what happened there.

    In ZooKeeper mode the cluster takes a dead broker for alive until its session ends (zookeeper.session.timeout.ms, 18
    s by default, KIP-537). All are asked at once, within reach.PROBE_SECONDS.
    """
    servers = {host_port(broker.host, broker.port): broker.id for broker in brokers if not broker.fenced}
    return {servers[server]: why for server, why in silent_servers(session.connection, servers).items()}


# -- snapshots ---------------------------------------------------------------------------------------------------


def take_snapshot(
    session: Session,
    quorum: Quorum | None,
    min_insync: bool = True,
    topics: Mapping[str, Iterable[Partition]] | None = None,
) -> Snapshot:
    """The cluster now, beside the quorum as C(describe_quorum) found it; C(min_insync) costs one request more.

    C(topics) are all topics with their partitions, where they have been listed already.
    """
    about = _described(session)
    listed = list_topics(session) if topics is None else topics
    partitions = tuple(partition for some in listed.values() for partition in some)
    if min_insync:
        partitions = with_min_insync(session, partitions)
    elected = about["controller_id"] if about["controller_id"] >= 0 else None
    return Snapshot(
        cluster_id=about["cluster_id"],
        controller_id=quorum.leader_id if quorum else elected,
        brokers=brokers_of(about["brokers"], partitions),
        partitions=partitions,
        quorum=quorum,
    )


def with_min_insync(session: Session, partitions: Iterable[Partition]) -> tuple[Partition, ...]:
    """The same partitions, each with min_insync and unclean as they are in effect for its topic; one request."""
    listed = tuple(partitions)
    names = {one.topic for one in listed}
    values = topic_values(session, names, [_MIN_INSYNC, _UNCLEAN]) if listed else {}

    def known(one: Partition) -> Partition:
        """The partition with what its topic says; one of a topic that is gone meanwhile has min_insync 0."""
        found = values.get(one.topic)
        if found is None:
            return replace(one, min_insync=0)
        return replace(one, min_insync=_min_insync(found), unclean=found.get(_UNCLEAN) == "true")

    return tuple(known(one) for one in listed)


def min_insync_of(session: Session, topics: Iterable[str]) -> dict[str, int]:
    """The effective min.insync.replicas of these topics; topics that do not exist any more are left out."""
    return {name: _min_insync(found) for name, found in topic_values(session, topics, [_MIN_INSYNC]).items()}


def _min_insync(values: Mapping[str, str | None]) -> int:
    # 1 is the default of Kafka.
    return int(values.get(_MIN_INSYNC) or 1)


# -- reassignments and logs --------------------------------------------------------------------------------------


def list_reassignments(session: Session) -> dict[Key, InFlight]:
    """The partitions that are being moved now, whoever began it (KIP-455)."""
    from kafka.protocol.admin import ListPartitionReassignmentsRequest

    limit = session.connection.request_timeout * 1000
    request = ListPartitionReassignmentsRequest(topics=None, timeout_ms=limit)
    what = "list reassignments"
    answer = session.ask(what, request, lambda found: [found.error_code])
    return in_flight_of(session.sound(answer, what).topics)


def describe_log_dirs(
    session: Session, broker: int, partitions: Mapping[str, list[int]] | None = None
) -> list[dict[str, Any]]:
    """The log directories of a broker with these replicas (None = all), as Kafka's protocol has them."""
    from kafka.protocol.admin import DescribeLogDirsRequest

    what = f"describe log dirs of broker {broker}"
    request = DescribeLogDirsRequest(topics=None if partitions is None else list(partitions.items()))
    answer = session.sound(session.send(what, request, broker), what)
    return [result.to_dict() for result in answer.results]


def disk_usage(session: Session, brokers: Iterable[int]) -> dict[int, LogDirs]:
    """Return what these brokers hold and how full their disks are, one request for each."""
    return {broker: log_dirs_of(describe_log_dirs(session, broker)) for broker in brokers}


def cordoned_brokers(session: Session, brokers: Iterable[int]) -> frozenset[int]:
    """Return those of these live brokers that get no new replicas (KIP-1066), one request to each at the same time.

    Below the level that knows cordons only that is asked for. Left out is a broker that does not answer, and all are
    of a caller that may not ask (describe on the cluster): Kafka then says itself whom it refuses.
    """
    from kafka.protocol.admin import DescribeLogDirsRequest

    nodes = sorted(set(brokers))
    if not nodes or (finalized_features(session) or {}).get("metadata.version", 0) < _CORDONS:
        return frozenset()
    answers = session.send_to_each(partial(DescribeLogDirsRequest, topics=[]), nodes)
    return frozenset(
        broker for broker, answer in answers.items() if log_dirs_of(disk.to_dict() for disk in answer.results).cordoned
    )


def replica_sizes(session: Session, broker: int, partitions: Mapping[str, list[int]]) -> Mapping[Key, int]:
    """Bytes of a broker's replicas of these partitions; those that it does not hold are left out."""
    return log_dirs_of(describe_log_dirs(session, broker, partitions)).sizes
