# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Writes and reads the records of a drill, with kafka-python, which also logs in by Kerberos."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from .._client.session import Session
from .._cluster.snapshot import Key
from .._core.errors import RequestFailedError
from .._mirror.api import visit
from .._mirror.flows import Flow
from .._state.api import read_states
from .._state.form import UnknownFormError, parsed
from .model import (
    HEADER,
    MOST_BYTES,
    MOST_RECORD_BYTES,
    MOST_RECORDS,
    Content,
    Kept,
    Numbered,
    Outcome,
    kept_of,
    state_key,
)


def kept_of_flow(session: Session, flow: Flow) -> Kept:
    """Return what the target of a flow keeps of its drills.

    Raises UnknownFormError for a record of another form, as a newer release may write it.
    """
    key = state_key(flow)
    return _kept(key, read_states(session, [key]).get(key))


def last_of_flows(
    session: Session, flows: Sequence[Flow], topics: Collection[str] | None = None
) -> dict[str, Outcome | str | None]:
    """Return the last drill of each of these flows as their target keeps it, by source->target: None without any, and
    a sentence where its record has another form, which hides no other flow.

    C(topics) are the names of all topics, where they have been listed already.
    """
    values = read_states(session, [state_key(flow) for flow in flows], topics)
    ended: dict[str, Outcome | str | None] = {}
    for flow in flows:
        try:
            ended[flow.pair] = _kept(state_key(flow), values.get(state_key(flow))).last
        except UnknownFormError as error:
            ended[flow.pair] = error.message
    return ended


def _kept(key: str, value: Any) -> Kept:
    return parsed(key, value, _sound, "ran the last drill")


def _sound(value: Any) -> Kept:
    """Return what is kept; ValueError for a time that none is."""
    kept = kept_of(value)
    if kept.last and min(kept.last.ended_at, kept.last.rto or 0.0) < 0:
        raise ValueError("a time is below 0")
    return kept


def last_contents(session: Session, logs: Mapping[Key, tuple[int, int]]) -> list[Content]:
    """Return the last records of one topic, at most MOST_RECORDS and MOST_BYTES in all; without a consumer group.

    Larger ones than MOST_RECORD_BYTES are left out. With the header a record may be too large for the mirror, whose
    task then fails for good, with all that it copies (AbstractWorkerSourceTask).
    C(logs): where the log of each of its partitions begins and where its committed records end.
    """
    each = max(1, MOST_RECORDS // max(1, len(logs)))
    latest: deque[Content] = deque()
    size = 0

    def take(record: Any) -> None:
        """Keep a record; the earliest ones go where there are too many."""
        nonlocal size
        # The library writes no record without both.
        value = b"" if record.key is None and record.value is None else record.value
        content = Content(record.partition, record.key, value)
        if _bytes(content) > MOST_RECORD_BYTES:
            return
        latest.append(content)
        size += _bytes(content)
        while len(latest) > MOST_RECORDS or size > MOST_BYTES:
            size -= _bytes(latest.popleft())

    visit(
        session,
        {key: max(start, end - each) for key, (start, end) in logs.items()},
        {key: end for key, (_start, end) in logs.items()},
        take,
    )
    return list(latest)


def _bytes(content: Content) -> int:
    return len(content.key or b"") + len(content.value or b"")


def number_of(record: Any) -> int | None:
    """Return the number of a record of a drill; None of any other record."""
    texts = [value for name, value in record.headers or () if name == HEADER and value]
    return int(texts[-1]) if texts and texts[-1].isdigit() else None


class Writer:
    """Writes numbered records, each acknowledged by all replicas in sync; open within a C(with)."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._producer: Any = None

    def __enter__(self) -> Writer:
        self._producer = self._session.call("open a writer", self._opened)
        return self

    def __exit__(self, *_error: object) -> None:
        with contextlib.suppress(Exception):  # The connection may be gone already.
            self._producer.close(timeout=1)

    def _opened(self) -> Any:
        from kafka import KafkaProducer

        limit = self._session.connection.request_timeout
        return KafkaProducer(
            **self._session.python_config(),
            acks="all",
            enable_idempotence=True,
            # A topic that is gone must stay so.
            allow_auto_create_topics=False,
            max_block_ms=limit * 1000,
            delivery_timeout_ms=(limit + 1) * 1000,
        )

    def write(self, records: Sequence[tuple[str, int, Content]], seconds: float = 0.0) -> list[Numbered]:
        """Write records (topic, number, content) evenly over so many seconds; return them as they were acknowledged.

        Raises RequestFailedError for the first one that was not.
        """
        what = "write records of the drill"
        # Not repeated with another broker: what was written already would be written twice.
        return list(self._session.call(what, lambda: list(self._written(records, seconds)), anybody=False))

    def _written(self, records: Sequence[tuple[str, int, Content]], seconds: float) -> Iterator[Numbered]:
        began, sent, times = time.monotonic(), [], {}

        def acknowledged(number: int) -> None:
            """Note when it came, in the thread of the library."""
            times[number] = time.monotonic()

        for at, (topic, number, content) in enumerate(records):
            time.sleep(max(0.0, began + seconds * at / len(records) - time.monotonic()))
            future = self._producer.send(
                topic,
                content.value,
                content.key,
                headers=[(HEADER, str(number).encode())],
                partition=content.partition,
            )
            future.add_callback(lambda _told, number=number: acknowledged(number))
            sent.append((number, future))
        limit = self._session.connection.request_timeout + 5
        for number, future in sent:
            told = future.get(timeout=limit)
            yield Numbered(number, (told.topic, told.partition), told.offset, times.get(number, time.monotonic()))


def read_copies(session: Session, logs: Mapping[Key, tuple[int, int]]) -> list[Numbered]:
    """Return the records of a drill in these logs, from start to before end, without a consumer group."""
    records: dict[tuple[Key, int], Numbered] = {}

    def take(record: Any) -> None:
        """Keep a record once: a connection that breaks brings some twice."""
        if (number := number_of(record)) is not None:
            place = (record.topic, record.partition)
            records[place, record.offset] = Numbered(number, place, record.offset, time.monotonic())

    visit(session, {key: log[0] for key, log in logs.items()}, {key: log[1] for key, log in logs.items()}, take)
    return list(records.values())


def read_as_group(
    session: Session, group: str, ends: Mapping[Key, int], starts: Mapping[Key, int] | None = None
) -> list[Numbered]:
    """Read up to these ends as a client of a group does, commit, and return the records with the time of each.

    starts -- where to begin; without them where the group stands, as its clients would. Raises RequestFailedError where
    nothing comes for as long as one request may take, or where the group has no offset.
    """
    return list(session.call(f"read as group {group}", lambda: _read(session, group, ends, starts)))


def _read(session: Session, group: str, ends: Mapping[Key, int], starts: Mapping[Key, int] | None) -> list[Numbered]:
    from kafka import KafkaConsumer, TopicPartition

    options = {"group_id": group, "auto_offset_reset": "none", "enable_auto_commit": False}
    limit = session.connection.request_timeout
    with closing(
        KafkaConsumer(
            **session.python_config(), **options, isolation_level="read_committed", allow_auto_create_topics=False
        )
    ) as consumer:
        left = {TopicPartition(*key): end for key, end in ends.items()}
        consumer.assign(list(left))
        for key, start in (starts or {}).items():
            consumer.seek(TopicPartition(*key), start)
        records: dict[tuple[Any, int], Numbered] = {}
        moved_at = time.monotonic()
        while any((consumer.position(place, timeout_ms=limit * 1000) or 0) < end for place, end in left.items()):
            fresh = consumer.poll(timeout_ms=200)
            now = time.monotonic()
            for place, some in fresh.items():
                for record in some:
                    number = number_of(record)
                    if number is not None and record.offset < left[place]:
                        records[place, record.offset] = Numbered(number, tuple(place), record.offset, now)
            if fresh:
                moved_at = now
            elif now - moved_at > limit:
                raise RequestFailedError("read as group", group, "TIMED_OUT", f"nothing came for {limit} s")
        _commit(consumer, ends)
        return list(records.values())


def _commit(consumer: Any, ends: Mapping[Key, int]) -> None:
    """Commit what was read: the group never reads beyond these ends."""
    from kafka import OffsetAndMetadata, TopicPartition

    consumer.commit({TopicPartition(*key): OffsetAndMetadata(end, "", -1) for key, end in ends.items()})
