# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Changes of topics: create, grow, delete. C(_cluster/api.py) reads them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
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
    if not wanted:
        return {}
    limit = session.connection.request_timeout * 1000
    # Without time of its own a KRaft controller would drop the request and call that a success.
    request = CreateTopicsRequest(topics=wanted, timeout_ms=limit, validate_only=validate_only)
    what = "create_topics"

    def codes(answer: Any) -> list[int]:
        """The errors of its topics."""
        return [one.error_code for one in answer.topics]

    if validate_only:
        return _outcomes(session, what, session.ask(what, request, codes).topics)
    answer, repeated = session.ask_twice(what, request, codes)
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


def made_state_topic(session: Session) -> bool:
    """Make the state topic, seen by every live broker; return whether it was not there."""
    if topics_at(session, None, [STATE_TOPIC]):
        return False
    live = live_brokers(session)
    # Kafka gives a cordoned broker no replica. Where all are, it says so itself.
    factor = min(3, len(set(live) - cordoned_brokers(session, live)) or len(live))
    config = {**STATE_CONFIG, "min.insync.replicas": str(min(2, factor))}
    failure = create_topics(session, [TopicSpec(STATE_TOPIC, 1, factor, config)]).get(STATE_TOPIC)
    if failure is not None and failure[0] != "TOPIC_ALREADY_EXISTS":
        raise RequestFailedError("create topic", STATE_TOPIC, *failure)

    def missing_at(broker: int) -> list[str]:
        """Return what is missing where a broker does not see a leader of it."""
        found = topics_at(session, broker, [STATE_TOPIC]).get(STATE_TOPIC, ())
        return [] if found and found[0].leader is not None else ["no leader is seen"]

    wait_until_seen(STATE_TOPIC, partial(live_brokers, session), missing_at, _STATE_TIMEOUT)
    return True
