# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Changes of topics: create, grow, delete. C(_cluster/api.py) reads them."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from .._client.session import Session
from .._client.settle import wait_until_none, wait_until_seen
from .._cluster.api import cordoned_brokers, live_brokers, topics_at
from .._cluster.snapshot import RECORD_BYTES, STATE_TOPIC, Partition
from .._configs.api import TOPIC, describe_configs
from .._configs.values import ConfigValue, is_set
from .._core.errors import RequestFailedError, WaitTimeoutError

#: What a topic that exists already is refused with.
_EXISTS = "TOPIC_ALREADY_EXISTS"
#: The active controller knows a topic before brokers do: a broker gets so long to learn of it (seconds).
_REPLAY_SECONDS = 5.0
#: Settings of the state topic. Kafka compacts all segments but the last one, so that one is ended by the hour; and a
#: segment must hold the biggest record.
STATE_CONFIG = {
    "cleanup.policy": "compact",
    "max.message.bytes": str(RECORD_BYTES),
    "compression.type": "producer",
    "segment.bytes": str(RECORD_BYTES),
    "segment.ms": "3600000",
    "min.cleanable.dirty.ratio": "0.1",
}
#: Seconds that the state topic may take to be there.
_STATE_TIMEOUT = 30.0


@dataclass(frozen=True)
class TopicSpec:
    """A topic to create. C(placed): the replicas of each of its partitions; empty where Kafka places them."""

    name: str
    partitions: int
    replication_factor: int
    config: Mapping[str, str]
    placed: Sequence[Sequence[int]] = ()


def create_topics(session: Session, topics: Iterable[TopicSpec], validate_only: bool = False) -> dict[str, Any]:
    """Create topics in one request; per name None or (Kafka's error name, why).

    A broker that does not answer may have asked the active controller for it. So another one is asked for the same, and
    a topic that exists then is ours as long as it is as wanted.
    """
    from kafka.protocol.admin import CreateTopicsRequest

    topic, specs = CreateTopicsRequest.CreatableTopic, list(topics)
    wanted = [
        topic(
            name=one.name,
            num_partitions=-1 if one.placed else one.partitions,
            replication_factor=-1 if one.placed else one.replication_factor,
            assignments=[
                topic.CreatableReplicaAssignment(partition_index=index, broker_ids=list(replicas))
                for index, replicas in enumerate(one.placed)
            ],
            configs=[topic.CreatableTopicConfig(name=key, value=value) for key, value in one.config.items()],
        )
        for one in specs
    ]
    what = "create_topics"
    if validate_only or not wanted:
        return _asked(session, what, CreateTopicsRequest, "topics", wanted, True)
    limit = session.connection.request_timeout * 1000
    # Without time of its own a KRaft controller would drop the request and call that a success.
    request = CreateTopicsRequest(topics=wanted, timeout_ms=limit, validate_only=False)
    answer, repeated = session.ask_twice(what, request, lambda told: [one.error_code for one in told.topics])
    outcomes = _outcomes(session, what, answer.topics)
    there = [one for one in specs if (outcomes.get(one.name) or ("",))[0] == _EXISTS] if repeated else []
    return {**outcomes, **dict.fromkeys(_as_wanted(session, there))}


def _as_wanted(session: Session, topics: Sequence[TopicSpec]) -> list[str]:
    """Return those of these topics that are there as wanted, as far as the broker that answered last knows."""
    if not topics:
        return []
    keys = sorted({key for one in topics for key in one.config})
    names = [one.name for one in topics]
    there: dict[str, tuple[Partition, ...]] = {}

    def unknown() -> list[str]:
        """The topics that the broker has not read in the metadata log yet."""
        there.update(topics_at(session, None, names))
        return [name for name in names if name not in there]

    with contextlib.suppress(WaitTimeoutError):
        wait_until_none("create_topics", unknown, _REPLAY_SECONDS)
    values = describe_configs(session, TOPIC, dict.fromkeys(names, keys)) if keys else {}
    return [one.name for one in topics if is_as_wanted(one, there.get(one.name, ()), values.get(one.name, {}))]


def is_as_wanted(wanted: TopicSpec, there: Sequence[Partition], values: Mapping[str, ConfigValue]) -> bool:
    """Return whether a topic has the partitions, replicas and settings that it was to be created with."""
    if not there or not all(is_set(values.get(key), value) for key, value in wanted.config.items()):
        return False
    if wanted.placed:
        return [list(one.replicas) for one in there] == [list(one) for one in wanted.placed]
    same = wanted.partitions in (-1, len(there))
    return same and all(wanted.replication_factor in (-1, len(one.replicas)) for one in there)


def grow_topics(
    session: Session,
    totals: Mapping[str, int],
    placed: Mapping[str, Sequence[Sequence[int]]] | None = None,
    validate_only: bool = False,
) -> dict[str, Any]:
    """Raise topics to these numbers of partitions in one request; per name None or (Kafka's error name, why).

    C(placed), by topic: the replicas of each new partition, where Kafka does not place them.
    """
    from kafka.protocol.admin import CreatePartitionsRequest

    topic, places = CreatePartitionsRequest.CreatePartitionsTopic, placed or {}
    wanted = [
        topic(
            name=name,
            count=total,
            assignments=[topic.CreatePartitionsAssignment(broker_ids=list(replicas)) for replicas in places[name]]
            if name in places
            else None,
        )
        for name, total in totals.items()
    ]
    return _asked(session, "create_partitions", CreatePartitionsRequest, "results", wanted, validate_only)


def delete_topics(session: Session, names: Iterable[str]) -> dict[str, Any]:
    """Delete topics in one request; per name None or (Kafka's error name, why)."""
    from kafka.protocol.admin import DeleteTopicsRequest

    wanted = [DeleteTopicsRequest.DeleteTopicState(name=name) for name in names]
    return _asked(session, "delete_topics", DeleteTopicsRequest, "responses", wanted)


def _asked(
    session: Session, what: str, message: Any, part: str, topics: list[Any], validate_only: bool | None = None
) -> dict[str, Any]:
    """Ask for a change of these topics; C(part) of the answer has one entry each.

    What changes nothing is asked of one broker after the other. Without topics nothing is asked.
    """
    if not topics:
        return {}
    limit = session.connection.request_timeout
    # Without time of its own a KRaft controller would drop the request and call that a success.
    options = {} if validate_only is None else {"validate_only": validate_only}
    request = message(topics=topics, timeout_ms=limit * 1000, **options)
    if validate_only:
        answer = session.ask(what, request, lambda found: [one.error_code for one in getattr(found, part)])
    else:
        # The broker says itself that its time is over; a little later it would not be heard any more.
        answer = session.send_to_controller(what, request, limit + 5)
    return _outcomes(session, what, getattr(answer, part))


def _outcomes(session: Session, what: str, parts: Iterable[Any]) -> dict[str, Any]:
    """By topic what became of it: None, or (Kafka's error name, why)."""
    return {one.name: session.outcome(what, one, one.name) for one in parts}


def require(what: str, outcomes: Mapping[str, Any], passing: Collection[str] = ()) -> None:
    """Raise RequestFailedError for one that was refused, but for errors of these names."""
    for name, failure in outcomes.items():
        if failure and failure[0] not in passing:
            raise RequestFailedError(what, name, *failure)


def make_topic(session: Session, spec: TopicSpec, seconds: float) -> None:
    """Create a topic, and wait so long until a broker knows it."""
    require("create topic", create_topics(session, [spec]))
    wait_until_none("create topic", lambda: [] if topics_at(session, None, [spec.name]) else [spec.name], seconds)


def drop_topics(session: Session, names: Collection[str], seconds: float, what: str = "delete topic") -> None:
    """Delete these topics as far as they are there, and wait so long until no broker that is asked knows them.

    Asked with kafka-python: a client of librdkafka asks again by itself for each topic that it has seen, which makes a
    deleted one anew where brokers create topics by themselves.
    """
    if there := sorted(topics_at(session, None, names)):
        require("delete topic", delete_topics(session, there), ["UNKNOWN_TOPIC_OR_PARTITION"])
        wait_until_none(what, lambda: sorted(topics_at(session, None, there)), seconds)


def copies_for(session: Session) -> int:
    """Return how many replicas an own topic gets: three, where as many brokers are there."""
    live = live_brokers(session)
    # Kafka gives a cordoned broker no replica. Where all are, it says so itself.
    return min(3, len(set(live) - cordoned_brokers(session, live)) or len(live))


def made_state_topic(session: Session) -> bool:
    """Make the state topic, seen by every live broker; return whether it was not there."""
    if topics_at(session, None, [STATE_TOPIC]):
        return False
    factor = copies_for(session)
    config = {**STATE_CONFIG, "min.insync.replicas": str(min(2, factor))}
    require("create topic", create_topics(session, [TopicSpec(STATE_TOPIC, 1, factor, config)]), [_EXISTS])

    def missing_at(broker: int) -> list[str]:
        """Return what is missing where a broker does not see a leader of it."""
        found = topics_at(session, broker, [STATE_TOPIC]).get(STATE_TOPIC, ())
        return [] if found and found[0].leader is not None else ["no leader is seen"]

    wait_until_seen(STATE_TOPIC, partial(live_brokers, session), missing_at, _STATE_TIMEOUT)
    return True
