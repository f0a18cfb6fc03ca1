"""The topic as the cluster shows it now: partitions, leaders, offsets.

Read with the Java consumer that Spark's connector brings along (one connection, milliseconds): Spark itself tells
offsets only as a side effect of reading, and Python needs no Kafka library this way.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import time
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from spark_validation.core.errors import asked

Ranges = dict[int, tuple[int, int]]
_BYTES = "org.apache.kafka.common.serialization.ByteArrayDeserializer"


@dataclass(frozen=True)
class Broker:
    """A broker as clients see it."""

    id: int
    host: str
    port: int
    rack: str | None


@dataclass(frozen=True)
class Partition:
    """One partition: leader is None while it has none."""

    index: int
    leader: Broker | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]


class Topic:
    """One consumer on one topic; used by one thread, closed at the end."""

    def __init__(self, java: Any, name: str, properties: dict[str, str]) -> None:
        """Connect lazily; `properties` are native client properties."""
        self._java = java
        self.name = name
        fixed = {
            "key.deserializer": _BYTES,
            "value.deserializer": _BYTES,
            "isolation.level": "read_committed",
            "allow.auto.create.topics": "false",
            "enable.auto.commit": "false",
        }
        made = java.org.apache.kafka.clients.consumer.KafkaConsumer
        self._consumer = asked("connection", made, {**properties, **fixed})

    def __enter__(self) -> Topic:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._consumer.close(self._java.java.time.Duration.ofSeconds(2))

    def partitions(self) -> list[Partition]:
        """All partitions, sorted; empty when the topic does not exist. Raises CannotRunError when no broker answers."""
        found = asked("topic " + self.name, self._consumer.partitionsFor, self.name) or []
        return sorted(
            (
                Partition(
                    int(info.partition()),
                    _broker(info.leader()),
                    tuple(int(node.id()) for node in info.replicas()),
                    tuple(int(node.id()) for node in info.inSyncReplicas()),
                )
                for info in found
            ),
            key=lambda partition: partition.index,
        )

    def starts(self, partitions: int) -> dict[int, int]:
        """The first offset that each partition still holds."""
        return self._offsets(self._consumer.beginningOffsets, partitions)

    def ends(self, partitions: int) -> dict[int, int]:
        """The offset after the last committed record (the last stable offset) of each partition."""
        return self._offsets(self._consumer.endOffsets, partitions)

    def settled_ends(self, partitions: int, at_least: dict[int, int], seconds: float) -> dict[int, int]:
        """Like `ends`, but waits up to `seconds` until each partition has reached `at_least`.

        After a change of leader the end that clients may see can lag behind what was acknowledged; freezing it at once
        would book acknowledged records as lost.
        """
        deadline = time.monotonic() + seconds
        while True:
            ends = self.ends(partitions)
            if all(ends[index] >= wanted for index, wanted in at_least.items()) or time.monotonic() > deadline:
                return ends
            time.sleep(0.2)

    def _offsets(self, call: Any, partitions: int) -> dict[int, int]:
        place = self._java.org.apache.kafka.common.TopicPartition
        places = [place(self.name, index) for index in range(partitions)]
        answer = asked("offsets of topic " + self.name, call, places)
        return {index: int(answer.get(one)) for index, one in enumerate(places)}


def _broker(node: Any) -> Broker | None:
    if node is None or int(node.id()) < 0:
        return None
    rack = node.rack()
    return Broker(int(node.id()), str(node.host()), int(node.port()), None if rack is None else str(rack))
