"""Read records of a topic from its leaders within the bounds: no group, nothing committed, nothing kept."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection, denied
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import hidden_topics, topics_at
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Key, Partition
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RequestFailedError, is_denial
from ansible_collections.streamops.kafka.plugins.module_utils._core.names import capped
from ansible_collections.streamops.kafka.plugins.module_utils._logs.api import (
    Leaders,
    fetch,
    log_ends,
    offsets_at,
)
from page.records import bounds
from page.records.asked import COMMITTED, NEWEST, OFFSET, TIME, Asked
from page.records.batches import Found, part_of
from page.records.walk import Walk, order, share, take_all, walk_of


class NoTopicError(Exception):
    """The topic or the partition is not there."""


class ReaderSession(Session):
    """A session of one read: it takes no answer that is larger than the bound."""

    def __init__(self, connection: Connection) -> None:
        seconds = min(connection.request_timeout, bounds.REQUEST_SECONDS)
        super().__init__(replace(connection, request_timeout=seconds))
        self._until = time.monotonic() + bounds.SECONDS

    def call(self, what: str, function: Callable[[], Any], anybody: bool = True) -> Any:
        """Send, or raise RequestFailedError where the time of the read is over."""
        if time.monotonic() > self._until:
            why = f"the read took longer than {bounds.SECONDS} s"
            raise RequestFailedError(what, "was not sent", "READ_TIMEOUT", why, unsent=True)
        return super().call(what, function, anybody)

    def python_config(self) -> dict[str, Any]:
        """Return the keyword arguments of a client of kafka-python."""
        return {**super().python_config(), "receive_message_max_bytes": bounds.ANSWER}


def read(connection: Connection, topic: str, asked: Asked) -> Found:
    """Return the records of a topic that are asked for. Raises a StreamopsError or NoTopicError."""
    began = time.monotonic()
    with ReaderSession(connection) as session:
        partitions = _partitions(session, topic, asked)
        found = Found(len(partitions))
        wanted = [one for one in partitions if asked.partition in (None, one.index)]
        leaders = Leaders({(topic, one.index): one.leader for one in wanted}, frozenset())
        ends = log_ends(session, leaders, leaders.of)
        found.logs = {index: ends[topic, index] for _topic, index in sorted(ends)}
        _note_missing(found)
        walks = _walks(session, leaders, topic, asked, found)
        reading = _Reading(session, leaders, topic, asked, found, began + bounds.SECONDS - bounds.REQUEST_SECONDS)
        reading.run(walks)
    for walk in walks:
        if not walk.is_done:
            walk.give_up()
    found.records = order([one for walk in walks for one in walk.records], asked)
    found.seconds = time.monotonic() - began
    return found


def _partitions(session: Session, topic: str, asked: Asked) -> Sequence[Partition]:
    partitions = topics_at(session, None, [topic]).get(topic, ())
    if not partitions:
        if hidden_topics(session, [topic]):
            code = "TOPIC_AUTHORIZATION_FAILED"
            why = denied(session.connection, "read records", code, topic)
            raise RequestFailedError("read records", f"of topic {topic}", code, why)
        raise NoTopicError(f"The cluster has no topic {topic}.")
    if asked.partition is not None and asked.partition not in [one.index for one in partitions]:
        raise NoTopicError(f"The topic {topic} has no partition {asked.partition}, but {len(partitions):,} from 0 on.")
    return partitions


def _note_missing(found: Found) -> None:
    silent = [str(index) for index, log in found.logs.items() if log.missing]
    if silent:
        some = capped(silent, 10)
        found.notes.append(f"The leaders of these partitions did not tell their ends, so they are left out: {some}.")


def _walks(session: Session, leaders: Leaders, topic: str, asked: Asked, found: Found) -> list[Walk]:
    """Return where to begin in each partition that has records."""
    logs = {index: log for index, log in found.logs.items() if not log.missing and log.end > log.start}
    starts: dict[int, int | str | None] = {}
    if asked.start == TIME:
        times = {(topic, index): asked.time or 0 for index in logs}
        starts = {index: at for (_topic, index), at in offsets_at(session, leaders, times).items()}
        # No record is so young, or its leader does not say.
        if untold := sorted(index for index, at in starts.items() if isinstance(at, str)):
            found.notes.append(f"Unknown where the time begins in partition {', '.join(map(str, untold))}.")
        logs = {index: log for index, log in logs.items() if isinstance(starts.get(index), int)}
    elif asked.start == OFFSET:
        starts = dict.fromkeys(logs, asked.offset)
    if len(logs) > bounds.PARTITIONS:
        found.notes.append(
            f"{len(logs):,} partitions have records to show, and the first {bounds.PARTITIONS} of them are read. "
            "Choose one partition to see others."
        )
        logs = dict(list(logs.items())[: bounds.PARTITIONS])
    most = share(len(logs), asked.most)
    if len(logs) > 1:
        found.notes.append(f"At most {most} records of each partition. Choose a partition to go on in it.")
    walks = []
    for index, log in logs.items():
        at = starts.get(index)
        if isinstance(at, int) and asked.start == OFFSET and not log.start <= at < log.end:
            where = f"The log of partition {index} has the offsets {log.start:,} to {log.end - 1:,}"
            found.notes.append(f"{where}, and not {at:,}." + (" It is shown from its start." if at < log.start else ""))
        walks.append(walk_of(index, log, at if isinstance(at, int) else None, asked.start == NEWEST, most))
    return walks


class _Reading:
    """The requests of one read, until all walks are done or a bound is met."""

    def __init__(
        self, session: Session, leaders: Leaders, topic: str, asked: Asked, found: Found, until: float
    ) -> None:
        self._session, self._leaders, self._topic, self._asked = session, leaders, topic, asked
        self._found, self._until, self._unpacked = found, until, 0

    def run(self, walks: Sequence[Walk]) -> None:
        """Ask each leader for what is left, in turns."""
        for turn in range(bounds.ROUNDS):
            by_leader: dict[int, deque[Walk]] = {}
            for walk in walks:
                leader = self._leaders.of.get((self._topic, walk.partition))
                if not walk.is_done and leader is not None:
                    by_leader.setdefault(leader, deque()).append(walk)
            if not by_leader:
                return
            for leader, some in sorted(by_leader.items()):
                # Who is first gets a batch however large it is, so each comes first in turn.
                some.rotate(-turn)
                if why := self._over():
                    self._found.notes.append(why)
                    return
                self._ask(leader, {(self._topic, one.partition): one for one in some})
        if all(walk.is_done for walk in walks):
            return
        self._found.notes.append(
            f"What was found after {bounds.ROUNDS} requests to a broker: the log has more that is never shown, as "
            "markers and aborted records, or compaction removed much of it. Begin at an offset to see others."
        )

    def _over(self) -> str:
        if time.monotonic() > self._until:
            return f"What was found in {bounds.SECONDS - bounds.REQUEST_SECONDS} seconds; there may be more."
        if self._found.fetched >= bounds.READ or self._unpacked >= bounds.UNPACKED:
            return f"What was found in the first {bounds.READ:,} bytes; there may be more."
        return ""

    def _ask(self, leader: int, walks: Mapping[Key, Walk]) -> None:
        committed = self._asked.isolation == COMMITTED
        most = min(bounds.REQUEST, bounds.READ - self._found.fetched)
        places = {key: walk.at for key, walk in walks.items()}
        try:
            answered = fetch(self._session, leader, places, most, committed, bounds.WAIT_SECONDS)
        except RequestFailedError as error:
            if is_denial(error.code):
                raise
            # What other brokers sent is shown all the same.
            some = capped([str(one.partition) for one in walks.values()], 10)
            self._found.notes.append(f"Broker {leader} did not send records of partitions {some}: {error.message}")
            for lost in walks.values():
                lost.give_up()
            return
        parts = []
        for key, one in answered.items():
            walk = walks.get(key)
            if walk is None:
                continue
            if is_denial(one.code):
                raise RequestFailedError("read records", f"of topic {self._topic}", one.code, one.why)
            if one.code:
                self._found.notes.append(f"Partition {walk.partition} was not read: {one.why}")
                walk.give_up()
                continue
            self._found.fetched += len(one.data)
            limit = min(walk.end, one.stable if committed and one.stable >= 0 else one.end)
            room = bounds.UNPACKED - self._unpacked
            part = part_of(one.data, one.aborted, walk.wanted(limit, room))
            self._unpacked = bounds.UNPACKED if part.is_full else self._unpacked + part.unpacked
            self._found.skipped += part.skipped
            parts.append((walk, part, limit))
        take_all(parts)
