# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Writes records of one cluster into a partition of another one."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from .._client.session import Session
from .._core.errors import RequestFailedError

#: Bytes that a record may have at least. Limits of topics are those of compressed batches, so a record may have far
#: more; a broker takes no larger request unless socket.request.max.bytes says so.
LARGE = 100_000_000
#: The most that librdkafka allows for a record.
_LARGEST = 1_000_000_000


class Writer:
    """Writes copies of records into a partition in order, each once, with the key, headers and time of the record.

    most -- bytes that a compressed batch may have; 0 where it is not known. Raises RequestFailedError.
    """

    def __init__(self, copy: Session, topic: str, partition: int, most: int) -> None:
        self._copy, self._topic, self._partition, self._most = copy, topic, partition, most
        self._limit = copy.connection.request_timeout
        self._producer: Any = None
        self._failure: Any = None
        self._acknowledged = 0
        self.number = 0

    def _answered(self, error: Any, _message: Any) -> None:
        if error is None:
            self._acknowledged += 1
        elif self._failure is None:
            self._failure = error

    def write(self, record: Any) -> None:
        """Hand over a record; RequestFailedError where one before it failed, or none is acknowledged any more."""
        self._producer = self._producer or self._made()
        self._wait(lambda: self._produced(record))
        self.number += 1
        self._producer.poll(0)

    def _produced(self, record: Any) -> bool:
        from confluent_kafka import KafkaException

        try:
            self._producer.produce(
                self._topic,
                record.value,
                record.key,
                self._partition,
                on_delivery=self._answered,
                timestamp=record.timestamp,
                headers=list(record.headers or ()),
            )
        except BufferError:
            self._producer.poll(0.1)
            return False
        except KafkaException as error:
            why = f"record {record.topic}-{record.partition} offset {record.offset}: {error.args[0].str()}"
            raise self._failed(error.args[0].name(), why) from error
        return True

    def finish(self) -> None:
        """Wait until all is acknowledged."""
        if self._producer is not None:
            self._wait(lambda: self._producer.flush(0.5) == 0)

    def _wait(self, is_done: Callable[[], bool]) -> None:
        """Wait as long as records are acknowledged."""
        moved_at, before = time.monotonic(), self._acknowledged
        while True:
            done = is_done()
            if self._failure is not None:
                raise self._failed(self._failure.name(), self._failure.str())
            if done:
                return
            if self._acknowledged != before:
                moved_at, before = time.monotonic(), self._acknowledged
            elif time.monotonic() - moved_at > self._limit + 5:
                raise self._failed("TIMED_OUT", f"{self.number - self._acknowledged} records are not acknowledged")

    def _failed(self, code: str, why: str) -> RequestFailedError:
        return RequestFailedError("write", self._topic, code, why)

    def _made(self) -> Any:
        from confluent_kafka import Producer

        largest = min(_LARGEST, max(LARGE, 2 * self._most))
        fixed = {
            "acks": "all",
            # In order, and none twice: what is there is compared with the surplus as a row.
            "enable.idempotence": True,
            "compression.type": "lz4",
            # One of the largest records fits in.
            "queue.buffering.max.kbytes": largest // 1000,
            "message.max.bytes": largest,
            "delivery.timeout.ms": round(self._limit * 1000),
            "log_level": 0,
        }
        return Producer({**self._copy.confluent_config(), **fixed})
