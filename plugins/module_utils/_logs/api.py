# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Logs of partitions as their leaders know them: both ends, the offset of a time, the newest record, what they hold,
deletions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .._client.session import Session
from .._cluster.api import hidden_topics, topics_at
from .._cluster.snapshot import Key
from .._core.bulk import parts
from .._core.errors import RequestFailedError
from .model import NO_ANSWER, NOT_ALLOWED, TOO_OLD, TOPIC_DELETED, Log

#: Partitions in one request: brokers from 4.4 on refuse arrays of more than 1,000,000 elements.
_PARTITIONS = 5_000
#: What ListOffsets is asked instead of a timestamp (KIP-79).
LATEST, EARLIEST = -1, -2
#: Who asks: a consumer, or one that debugs (ListOffsetsRequest.CONSUMER_REPLICA_ID, DEBUGGING_REPLICA_ID).
_CONSUMER, _DEBUGGER = -1, -2
#: The same for the record with the largest timestamp, and the first version of the message that has it: an older broker
#: would take it for a time, and answer for the oldest record.
_NEWEST, _NEWEST_SINCE = -3, 7
#: Kafka's errors UNKNOWN_TOPIC_OR_PARTITION and NOT_LEADER_OR_FOLLOWER (Errors): this broker does not lead it.
_NOT_LED = frozenset((3, 6))


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
    known = topics_at(session, None, wanted)
    led = {(one.topic, one.index): one.leader for partitions in known.values() for one in partitions}
    return Leaders(led, frozenset(hidden_topics(session, sorted(wanted - known.keys()))))


def log_ends(session: Session, leaders: Leaders, wanted: Iterable[Key], committed: bool = False) -> dict[Key, Log]:
    """Both ends of these logs, or why they are unknown: two requests to each leader for each 5,000 partitions.

    C(committed): the end is the last stable offset, below which no transaction is open (KIP-98).
    """
    keys = set(wanted)
    starts, ends = (offsets_at(session, leaders, dict.fromkeys(keys, when), committed) for when in (EARLIEST, LATEST))
    return {key: _log(starts[key], ends[key]) for key in keys}


def _log(start: int | str | None, end: int | str | None) -> Log:
    if isinstance(start, int) and isinstance(end, int):
        return Log(start, end)
    return Log(missing=next((one for one in (start, end) if isinstance(one, str)), NO_ANSWER))


def offsets_at(
    session: Session, leaders: Leaders, when: Mapping[Key, int], committed: bool = False
) -> dict[Key, int | str | None]:
    """By partition the first offset at or after a time (ms since 1970, or LATEST, EARLIEST).

    None where no record is that young, and a state (TOPIC_DELETED, NO_ANSWER, NOT_ALLOWED) where it is unknown.
    C(committed) as in C(log_ends).
    """
    return _from_leaders(
        leaders,
        when,
        lambda leader, keys: _offsets_of_leader(session, leader, {key: when[key] for key in keys}, committed),
    )


def _from_leaders(
    leaders: Leaders, wanted: Iterable[Key], ask: Callable[[int, list[Key]], Mapping[Key, int | str | None]]
) -> dict[Key, int | str | None]:
    """Put together what C(ask) gets from each leader for at most 5,000 of its partitions at once.

    A partition without a leader has its state (Leaders.state) instead.
    """
    by_leader: dict[int, list[Key]] = {}
    found: dict[Key, int | str | None] = {}
    for key in sorted(wanted):
        leader = leaders.of.get(key)
        if leader is None:
            found[key] = leaders.state(key)
        else:
            by_leader.setdefault(leader, []).append(key)
    for leader, keys in sorted(by_leader.items()):
        for part in parts(keys, _PARTITIONS):
            found |= ask(leader, part)
    return found


def _offsets_of_leader(
    session: Session, leader: int, when: Mapping[Key, int], committed: bool
) -> dict[Key, int | str | None]:
    found: dict[Key, int | str | None] = dict.fromkeys(when, NO_ANSWER)
    request = _offsets_request(session, when, committed=committed)
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


def ends_at(session: Session, leader: int, keys: Iterable[Key]) -> tuple[dict[Key, int], dict[Key, int], set[Key]]:
    """Return by partition the end of its log at its leader, and its high watermark: what every replica of the ISR has.

    The third are the partitions that who answers denies leading, or does not know; those with other errors are left
    out. Raises RequestFailedError when it does not answer. A consumer is told the high watermark, who asks as a
    debugging consumer (-2, ListOffsetsRequest of Kafka) the end.
    """
    wanted = sorted(keys)
    ends, _denied = _latest(session, leader, wanted, _DEBUGGER)
    committed, denied = _latest(session, leader, wanted, _CONSUMER)
    return ends, committed, denied


def _latest(session: Session, leader: int, keys: list[Key], replica: int) -> tuple[dict[Key, int], set[Key]]:
    """Return the latest offsets as a replica or consumer is told them, and the partitions that are not led there."""
    found: dict[Key, int] = {}
    denied: set[Key] = set()
    for part in parts(keys, _PARTITIONS):
        request = _offsets_request(session, dict.fromkeys(part, LATEST), replica)
        for topic in session.send(f"list offsets at broker {leader}", request, leader).topics:
            told = {(topic.name, part.partition_index): part.offset for part in topic.partitions if not part.error_code}
            found.update(told)
            denied.update(
                (topic.name, part.partition_index) for part in topic.partitions if part.error_code in _NOT_LED
            )
    return found, denied


def _offsets_request(
    session: Session, when: Mapping[Key, int], replica: int = _CONSUMER, committed: bool = False, **versions: int
) -> Any:
    """Return ListOffsets for times by partition; C(versions) are bounds (min_version) of the message's version."""
    from kafka.protocol.consumer import ListOffsetsRequest

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
    isolation = int(committed)
    return ListOffsetsRequest(
        replica_id=replica, isolation_level=isolation, topics=wanted, timeout_ms=limit, **versions
    )


def newest_times(session: Session, leaders: Leaders, wanted: Iterable[Key]) -> dict[Key, int | str | None]:
    """Return by partition the largest time of its records (ms since 1970): one request for each 5,000 of a leader.

    No record is read (KIP-734), so Describe on the topics is enough.

    Markers of transactions count as records. None where there is no record; a state (TOPIC_DELETED, NO_ANSWER,
    NOT_ALLOWED, TOO_OLD) where it is unknown.
    """
    return _from_leaders(leaders, wanted, lambda leader, keys: _newest_at(session, leader, keys))


def _newest_at(session: Session, leader: int, keys: Iterable[Key]) -> Mapping[Key, int | str | None]:
    when = dict.fromkeys(keys, _NEWEST)
    found: dict[Key, int | str | None] = dict.fromkeys(when, NO_ANSWER)
    what = f"list newest records at broker {leader}"
    try:
        answer = session.send(what, _offsets_request(session, when, min_version=_NEWEST_SINCE), leader)
    except RequestFailedError as error:
        return dict.fromkeys(when, TOO_OLD) if error.code == "UNSUPPORTED_VERSION" else found
    for one in answer.topics:
        for part in one.partitions:
            if not part.error_code:
                found[one.name, part.partition_index] = part.timestamp if part.timestamp >= 0 else None
            elif session.explain(what, part)[0].endswith("_AUTHORIZATION_FAILED"):
                found[one.name, part.partition_index] = NOT_ALLOWED
    return found


@dataclass(frozen=True)
class Fetched:
    """What a leader sent of a log: batches as they are in it, or the C(code) of Kafka's error and C(why).

    C(stable) is the offset before which all transactions have ended, C(end) the high watermark, C(start) where the log
    begins. C(aborted) are producer and first offset of transactions that were aborted.
    """

    data: bytes = b""
    start: int = -1
    end: int = -1
    stable: int = -1
    aborted: tuple[tuple[int, int], ...] = ()
    code: str = ""
    why: str = ""


def fetch(
    session: Session, leader: int, places: Mapping[Key, int], most: int, committed: bool, wait: float
) -> dict[Key, Fetched]:
    """Return what a leader has of these partitions from these offsets on: about C(most) bytes, in whole batches.

    A batch that is larger is sent all the same where it is the first (KIP-74). No group is involved, and nothing is
    committed. C(committed): up to the first transaction that is open, and with those that were aborted; C(wait) is how
    long (seconds) the broker may wait for records. Read on the topics is needed. Raises RequestFailedError.
    """
    from kafka.protocol.consumer import FetchRequest

    # Version 4 is the first with transactions (KIP-98) and the oldest of Kafka 4; from 13 on topics have ids (KIP-516).
    request = FetchRequest(
        replica_id=_CONSUMER,
        max_wait_ms=round(wait * 1000),
        min_bytes=1,
        max_bytes=most,
        isolation_level=int(committed),
        session_id=0,
        session_epoch=-1,
        topics=_fetch_topics(places, most),
        forgotten_topics_data=[],
        rack_id="",
        min_version=4,
        max_version=12,
    )
    what = f"read records at broker {leader}"
    answer = session.send(what, request, leader)
    if getattr(answer, "error_code", 0):
        session.sound(answer, what)
    return {
        (one.topic, part.partition_index): _fetched(session, what, one.topic, part)
        for one in answer.responses
        for part in one.partitions
    }


def _fetch_topics(places: Mapping[Key, int], most: int) -> list[Any]:
    """Return the topics of a request that reads from these offsets on."""
    from kafka.protocol.consumer import FetchRequest

    topic = FetchRequest.FetchTopic
    return [
        topic(
            topic=name,
            partitions=[
                topic.FetchPartition(
                    partition=index,
                    current_leader_epoch=-1,
                    fetch_offset=offset,
                    last_fetched_epoch=-1,
                    log_start_offset=-1,
                    partition_max_bytes=most,
                )
                for (_name, index), offset in some.items()
            ],
        )
        for name, some in by_topic(places).items()
    ]


def _fetched(session: Session, what: str, topic: str, part: Any) -> Fetched:
    """Return what an answer says of one partition."""
    code, why = session.explain(what, part, topic) if part.error_code else ("", "")
    return Fetched(
        bytes(part.records or b""),
        part.log_start_offset,
        part.high_watermark,
        part.last_stable_offset,
        tuple((gone.producer_id, gone.first_offset) for gone in part.aborted_transactions or ()),
        code,
        why,
    )


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
    """Return what C(take) finds in the answer of a broker; nothing, and why, when it gave none."""
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
