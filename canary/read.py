"""Read the topics of events in one cluster from their beginning, again and again, in a thread of its own."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Mapping
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection, denied
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import hidden_topics, topics_at
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Key
from ansible_collections.streamops.kafka.plugins.module_utils._core.names import capped
from ansible_collections.streamops.kafka.plugins.module_utils._logs.api import Leaders, log_ends
from ansible_collections.streamops.kafka.plugins.module_utils._logs.model import Log
from canary.board import Board
from canary.failures import Unreadable, is_known, why_of

_LOG = logging.getLogger("canary")
#: Seconds between two looks at the ends of the logs, after a failure, and of a poll that brings nothing.
LOOK, AGAIN, POLL = 5.0, 5.0, 0.5
#: Bytes of a fetch: events are small, and what else stands in the topic must not fill the memory.
_FETCH = 1024 * 1024


class Reader:
    """Reads all topics of a cluster that the board asks for. Where it stands it keeps in memory only."""

    def __init__(self, name: str, connection: Connection, board: Board, end: threading.Event) -> None:
        self._name, self._connection, self._board, self._end = name, connection, board, end
        self._topics = board.topics(name)
        #: The next offset of each partition.
        self._next: dict[Key, int] = {}
        #: Up to where each partition must be read before what comes is new.
        self._goal: dict[Key, int] = {}
        #: When each goal was the end of its log, and when the ends were looked for last.
        self._found: dict[Key, float] = {}
        self._looked = 0.0
        self._cut: set[str] = set()
        self._is_live = False
        #: Why some partitions cannot be read; the others are.
        self._silent = ""
        self.thread = threading.Thread(target=self._run, name=f"read {name}", daemon=True)

    def _run(self) -> None:
        while not self._end.is_set():
            self._begin()
            try:
                with Session(self._connection) as session:
                    self._follow(session)
            except Exception as error:
                # A thread that ended would look like a mirror that brings nothing.
                self._fail(error)
                self._end.wait(AGAIN)

    def _begin(self) -> None:
        """Count a cluster as read only at the ends that a new connection finds: it may have gone on for long."""
        self._is_live, self._goal = False, {}

    def _fail(self, error: Exception) -> None:
        why = why_of(error)
        self._board.not_read(self._name, why)
        _LOG.warning("cluster %s cannot be read: %s", self._name, why, exc_info=not is_known(error))

    def _follow(self, session: Session) -> None:
        from kafka import KafkaConsumer

        consumer = KafkaConsumer(
            **session.python_config(),
            group_id=None,
            enable_auto_commit=False,
            # Where a log was cut or made anew, from its beginning.
            auto_offset_reset="earliest",
            isolation_level="read_committed",
            fetch_max_bytes=_FETCH,
            max_partition_fetch_bytes=_FETCH,
            allow_auto_create_topics=False,
        )
        try:
            due = time.monotonic()
            while not self._end.is_set():
                if time.monotonic() >= due:
                    due = time.monotonic() + LOOK
                    self._look(session, consumer)
                self._poll(consumer)
                self._judge()
        finally:
            with contextlib.suppress(Exception):  # The connection may be gone already.
                consumer.close(timeout_ms=2000)

    def _look(self, session: Session, consumer: Any) -> None:
        """Find the partitions there are and the ends of their logs, and begin with those that are new."""
        now = time.monotonic()
        there = topics_at(session, None, self._topics)
        if hidden := hidden_topics(session, [one for one in self._topics if one not in there]):
            raise Unreadable(denied(self._connection, "read events", "TOPIC_AUTHORIZATION_FAILED", hidden[0]))
        self._next = {key: at for key, at in self._next.items() if key[0] in there}
        led = {(name, one.index): one.leader for name, partitions in there.items() for one in partitions}
        logs = log_ends(session, Leaders(led, frozenset()), led)
        silent = [f"{topic}-{number}" for (topic, number), log in sorted(logs.items()) if log.missing]
        self._silent = f"no leader of {capped(silent, 3)} answers" if silent else ""
        self._assign(consumer, {key: log for key, log in logs.items() if not log.missing}, now)

    def _assign(self, consumer: Any, logs: Mapping[Key, Log], now: float) -> None:
        """Read these logs on, up to the ends that they had at C(now)."""
        from kafka import TopicPartition

        wanted = {TopicPartition(*key) for key in logs}
        self._looked = now
        is_other = wanted != consumer.assignment()
        if is_other:
            consumer.assign(sorted(wanted))
        for key, log in logs.items():
            at = self._next.get(key)
            if at is None:
                # A log that is met for the first time may have a past that is no news.
                self._cut |= {key[0]} if log.start > 0 and not self._is_live else set()
            is_anew = at is not None and at > log.end
            if is_other or is_anew:
                at = log.start if at is None or is_anew else max(at, log.start)
                consumer.seek(TopicPartition(*key), at)
                self._next[key] = at
            goal = self._goal.get(key)
            # The goal stays until it is reached, so that a busy log cannot move it on for ever.
            if goal is None or self._next[key] >= goal:
                self._goal[key], self._found[key] = log.end, now
            else:
                self._goal[key] = min(goal, log.end)
        self._goal = {key: goal for key, goal in self._goal.items() if key in logs}

    def _poll(self, consumer: Any) -> None:
        for _place, records in consumer.poll(timeout_ms=round(POLL * 1000)).items():
            now, day = time.monotonic(), time.time()
            for one in records:
                self._board.take(self._name, one.topic, one.partition, one.value, self._is_live, now, day)
        for place in consumer.assignment():
            # Markers of transactions give no records: only the position tells that they were passed.
            at = consumer.position(place, timeout_ms=1000)
            if at is not None:
                self._next[place.topic, place.partition] = at

    def _judge(self) -> None:
        if self._silent:
            self._board.not_read(self._name, self._silent)
        elif all(self._next.get(key, 0) >= goal for key, goal in self._goal.items()):
            self._is_live = True
            # As of the look, not of now: of a broker that is gone nothing more comes either.
            seen = min((self._found[key] for key in self._goal), default=self._looked)
            self._board.read(self._name, self._cut, seen)
