# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Logs of partitions as their leaders know them: both ends, the offset of a time, deletions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import hidden_topics, list_topics
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Key
from ansible_collections.streamops.kafka.plugins.module_utils._core.bulk import parts
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RequestFailedError
from ansible_collections.streamops.kafka.plugins.module_utils._logs.model import (
    NO_ANSWER,
    NOT_ALLOWED,
    TOPIC_DELETED,
    Log,
)

#: Partitions in one request: brokers from 4.4 on refuse arrays of more than 1,000,000 elements.
_PARTITIONS = 5_000
#: What ListOffsets is asked instead of a timestamp (KIP-79).
LATEST, EARLIEST = -1, -2


@dataclass(frozen=True)
class Leaders:
    """Which broker leads each partition (None: none does), and topics that the caller may not see."""

    of: Mapping[Key, int | None]
    hidden: frozenset[str]

    def state(self, key: Key) -> str:
        """Return why a partition without a leader cannot be asked."""
        if key in self.of:
            return NO_ANSWER
        return NOT_ALLOWED if key[0] in self.hidden else TOPIC_DELETED


def leaders_of(session: Session, topics: Iterable[str]) -> Leaders:
    """Find who leads the partitions of these topics; topics that do not exist are left out."""
    wanted = set(topics)
    known = list_topics(session)
    led = {(one.topic, one.index): one.leader for name in wanted & known.keys() for one in known[name]}
    return Leaders(led, frozenset(hidden_topics(session, sorted(wanted - known.keys()))))


def log_ends(session: Session, leaders: Leaders, wanted: Iterable[Key]) -> dict[Key, Log]:
    """Both ends of these logs, or why they are unknown: two requests to each leader for each 5,000 partitions."""
    keys = set(wanted)
    starts, ends = (offsets_at(session, leaders, dict.fromkeys(keys, when)) for when in (EARLIEST, LATEST))
    return {key: _log(starts[key], ends[key]) for key in keys}


def _log(start: int | str | None, end: int | str | None) -> Log:
    if isinstance(start, int) and isinstance(end, int):
        return Log(start, end)
    return Log(missing=next((one for one in (start, end) if isinstance(one, str)), NO_ANSWER))


def offsets_at(session: Session, leaders: Leaders, when: Mapping[Key, int]) -> dict[Key, int | str | None]:
    """By partition the first offset at or after a time (ms since 1970, or LATEST, EARLIEST).

    None where no record is that young, and a state (TOPIC_DELETED, NO_ANSWER, NOT_ALLOWED) where it is unknown.
    """
    by_leader: dict[int, list[Key]] = {}
    found: dict[Key, int | str | None] = {}
    for key in sorted(when):
        leader = leaders.of.get(key)
        if leader is None:
            found[key] = leaders.state(key)
        else:
            by_leader.setdefault(leader, []).append(key)
    for leader, keys in sorted(by_leader.items()):
        for part in parts(keys, _PARTITIONS):
            found |= _offsets_of_leader(session, leader, {key: when[key] for key in part})
    return found


def _offsets_of_leader(session: Session, leader: int, when: Mapping[Key, int]) -> dict[Key, int | str | None]:
    from kafka.protocol.consumer import ListOffsetsRequest

    found: dict[Key, int | str | None] = dict.fromkeys(when, NO_ANSWER)
    topic = ListOffsetsRequest.ListOffsetsTopic
    wanted = [
        topic(
            name=name,
            partitions=[
                topic.ListOffsetsPartition(partition_index=index, current_leader_epoch=-1, timestamp=time)
                for (_name, index), time in some.items()
            ],
        )
        for name, some in by_topic(when).items()
    ]
    limit = session.connection.request_timeout * 1000
    request = ListOffsetsRequest(replica_id=-1, isolation_level=0, topics=wanted, timeout_ms=limit)
    answered, _why = answer_of(
        session, f"list offsets at broker {leader}", request, leader, lambda answer: answer.topics
    )
    for one in answered:
        for part in one.partitions:
            if not part.error_code:
                found[one.name, part.partition_index] = part.offset if part.offset >= 0 else None
            elif session.explain("list offsets", part)[0].endswith("_AUTHORIZATION_FAILED"):
                found[one.name, part.partition_index] = NOT_ALLOWED
    return found


def delete_records(session: Session, leader: int, before: Mapping[Key, int]) -> dict[Key, Any]:
    """Delete the records before these offsets; per partition None or (Kafka's error name, why).

    C(leader) leads the partitions.
    """
    from kafka.protocol.admin import DeleteRecordsRequest

    topic = DeleteRecordsRequest.DeleteRecordsTopic
    wanted = [
        topic(
            name=name,
            partitions=[
                topic.DeleteRecordsPartition(partition_index=index, offset=offset)
                for (_name, index), offset in some.items()
            ],
        )
        for name, some in by_topic(before).items()
    ]
    what = f"delete records at broker {leader}"
    limit = session.connection.request_timeout * 1000
    answer = session.send(what, DeleteRecordsRequest(topics=wanted, timeout_ms=limit), leader)
    return {
        (one.name, part.partition_index): session.outcome(what, part, one.name)
        for one in answer.topics
        for part in one.partitions
    }


def answer_of(
    session: Session, what: str, request: Any, broker: int, take: Callable[[Any], Any]
) -> tuple[Iterable[Any], str]:
    """What C(take) finds in the answer of a broker; nothing, and why, when it gave none."""
    try:
        answer = session.send(what, request, broker)
        # The answer as a whole has an error in some messages only.
        return take(session.sound(answer, what) if hasattr(answer, "error_code") else answer), "left out of the answer"
    except RequestFailedError as error:
        return (), f"broker {broker} did not answer: {error.why}"


def by_topic(values: Mapping[Key, Any]) -> dict[str, dict[Key, Any]]:
    """Sort values by topic, as the messages of Kafka nest them."""
    found: dict[str, dict[Key, Any]] = {}
    for key, value in values.items():
        found.setdefault(key[0], {})[key] = value
    return found
