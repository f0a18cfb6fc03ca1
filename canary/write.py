"""Write an event into each partition of one source every interval, in a thread of its own, and keep the topic."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import contextlib
import logging
import threading
import time
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import (
    cordoned_brokers,
    live_brokers,
    topics_at,
)
from ansible_collections.streamops.kafka.plugins.module_utils._topics.api import (
    TopicSpec,
    create_topics,
    grow_topics,
    require,
)
from canary.board import Board
from canary.config import Way
from canary.event import Event, Place
from canary.failures import is_known, why_of
from canary.places import config_for, missing_partitions

_LOG = logging.getLogger("canary")
#: Seconds that an event may take to be written, at least and at most; the interval where that lies between.
_DELIVERY = (5.0, 20.0)
#: What a topic or partition is refused with that another request has made meanwhile.
_THERE = ("TOPIC_ALREADY_EXISTS", "INVALID_PARTITIONS")


class Writer:
    """Writes the events of a way whose first flow goes into the cluster of this service."""

    def __init__(self, way: Way, connection: Connection, interval: float, board: Board, end: threading.Event) -> None:
        self._way, self._connection, self._interval = way, connection, interval
        self._board, self._end = board, end
        self._delivery = min(max(_DELIVERY[0], interval), _DELIVERY[1])
        self._last: dict[int, Place] = {}
        self._producer: Any = None
        #: Partitions of the topic when it was last looked at: each takes an event at a time.
        self._partitions = 0
        self.thread = threading.Thread(target=self._run, name=f"write {way.source}", daemon=True)

    def _run(self) -> None:
        due = time.monotonic()
        while not self._end.is_set():
            has_tried = True
            try:
                has_tried = self._once()
            except Exception as error:
                # A thread that ended would look like a source that nothing can be written into. No partition took one.
                self._fail(error, max(1, self._partitions))
            # The numbers to go on from are looked for more often than events are written.
            due = max(due + self._interval, time.monotonic()) if has_tried else time.monotonic() + 1
            self._end.wait(due - time.monotonic())
        self._close()

    def _fail(self, error: Exception, events: int = 1) -> None:
        why = why_of(error)
        self._board.failed(self._way.source, why, events)
        _LOG.warning("source %s takes no event: %s", self._way.source, why, exc_info=not is_known(error))

    def _close(self) -> None:
        producer, self._producer = self._producer, None
        if producer is not None:
            with contextlib.suppress(Exception):  # What was not sent in time is sent no more.
                producer.close(timeout=2)

    def _once(self) -> bool:
        """Write once where that can be; return whether it was tried."""
        with Session(self._connection) as session:
            partitions = self._partitions = self._keep(session)
            # Before both logs were read an event would get a number that is taken.
            if not partitions or not self._board.is_ready(self._way):
                return False
            if self._producer is None:
                self._producer = _producer(session, self._delivery)
        self._write(partitions)
        return True

    def _keep(self, session: Session) -> int:
        """Create the topic, or grow it to a partition on each broker; return how many partitions it has."""
        name = self._way.topic
        there = topics_at(session, None, [name]).get(name, ())
        brokers, leading = live_brokers(session), [one.replicas[0] for one in there if one.replicas]
        wanted = missing_partitions(brokers, leading)
        if wanted:  # A cordoned broker gets none, until it is uncordoned.
            cordoned = cordoned_brokers(session, brokers)
            brokers = [broker for broker in brokers if broker not in cordoned]
            wanted = missing_partitions(brokers, leading)
        if wanted and not there:
            spec = TopicSpec(name, 0, 0, config_for(len(brokers)), wanted)
            require("create topic", create_topics(session, [spec]), _THERE)
        elif wanted:
            require("create topic", grow_topics(session, {name: len(there) + len(wanted)}, {name: wanted}), _THERE)
        led = {one.leader for one in there}
        self._board.led(self._way.source, len(there), sum(one not in led for one in brokers), time.monotonic())
        return len(there)

    def _write(self, partitions: int) -> None:
        until = time.monotonic() + self._delivery
        sent = []
        failed: list[Exception] = []
        for number in range(partitions):
            event = self._event(number)
            self._board.sends(event, time.monotonic())
            try:
                future = self._producer.send(
                    self._way.topic, event.value, event.key, partition=number, timestamp_ms=event.at
                )
            except Exception as error:
                failed.append(error)
            else:
                sent.append((event, future))
        for event, future in sent:
            try:
                future.get(timeout=max(0.1, until - time.monotonic()))
            except Exception as error:
                failed.append(error)
            else:
                self._last[event.partition] = event.place
                self._board.wrote(self._way.source, event.partition, time.monotonic())
        if failed:
            self._fail(failed[0], len(failed))

    def _event(self, partition: int) -> Event:
        """Return the next event: the number of one that was not taken is used again, so that no number is skipped."""
        day = round(time.time() * 1000)
        known = [self._board.last_place(self._way, partition), self._last.get(partition)]
        last = max((one for one in known if one is not None), default=None)
        return Event(self._way.writer, partition, last.next if last else Place(day, 0), day)


def _producer(session: Session, delivery: float) -> Any:
    from kafka import KafkaProducer

    return KafkaProducer(
        **{
            **session.python_config(),
            "acks": "all",
            # One event of a partition is under way at a time. One that is written twice is known to be (ledger.py), and
            # a producer without a state of its own goes on after whatever a source did to it.
            "enable_idempotence": False,
            "max_in_flight_requests_per_connection": 1,
            # A partition that was added is found soon.
            "metadata_max_age_ms": 30_000,
            "allow_auto_create_topics": False,
            "max_block_ms": round(delivery * 500),
            "request_timeout_ms": round(delivery * 500),
            "delivery_timeout_ms": round(delivery * 1000),
            "max_request_size": 65536,
        }
    )
