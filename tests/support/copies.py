"""What stands in a mirrored topic, partition by partition and in order, held against what its writer was told."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import Consumer, KafkaError, TopicPartition

from tests.support.cluster import until
from tests.support.traffic import Ledger

#: Numbers by partition, in the order of their offsets.
Sequences = dict[int, list[int]]


class Follower:
    """Reads committed records of a topic from its first offset on, as far as there are any."""

    def __init__(self, bootstrap_servers: list[str], topic: str, settings: dict[str, Any] | None = None) -> None:
        self._consumer = Consumer(
            {
                "bootstrap.servers": ",".join(bootstrap_servers),
                "group.id": "follower",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "isolation.level": "read_committed",
                **(settings or {}),
            }
        )
        until(lambda: self._partitions(topic), f"topic {topic}", timeout=180)
        partitions = sorted(self._partitions(topic))
        self.found: Sequences = {number: [] for number in partitions}
        self.highest = dict.fromkeys(partitions, -1)
        self._ended: set[int] = set()
        self._passed: list[tuple[float, int]] = []
        self._consumer.assign([TopicPartition(topic, number, 0) for number in partitions])

    def _partitions(self, topic: str) -> dict[int, Any]:
        # Of all topics: a question for one by name would be an error while it is not there.
        found = self._consumer.list_topics(timeout=30).topics.get(topic)
        return dict(found.partitions) if found else {}

    def read(self) -> None:
        """Takes what has come, a second long at most."""
        for message in self._consumer.consume(10000, timeout=0.5):
            partition, error = message.partition(), message.error()
            if error is None:
                number = int(message.value())
                self.found[partition].append(number)
                self.highest[partition] = max(self.highest[partition], number)
                self._ended.discard(partition)
            elif error.code() == KafkaError._PARTITION_EOF:
                self._ended.add(partition)
        self._passed.append((time.monotonic(), min(self.highest.values())))

    def passed(self, number: int) -> bool:
        """Whether every partition has a record that was written after this one."""
        self.read()
        return min(self.highest.values()) > number

    def passed_before(self, seconds: float) -> int:
        """The number that every partition had passed so many seconds ago; -1 when nothing is known of that time."""
        then = time.monotonic() - seconds
        return max((number for moment, number in self._passed if moment <= then), default=-1)

    def reached(self, numbers: dict[int, int]) -> bool:
        """Whether each of these partitions has its number, or one that was written after it."""
        self.read()
        return all(self.highest[partition] >= number for partition, number in numbers.items())

    def to_the_end(self) -> Sequences:
        """Reads to the end as it is now; what is under way in a transaction is waited for."""
        self._ended.clear()
        until(self._at_the_end, "the end of the topic", timeout=120)
        return self.found

    def _at_the_end(self) -> bool:
        self.read()
        return len(self._ended) == len(self.found)

    def close(self) -> None:
        """Ends it."""
        self._consumer.close()


@dataclass
class Comparison:
    """How a mirrored topic differs from its source: counts and a few examples of each kind."""

    records: int = 0
    lost: list[int] = field(default_factory=list)
    unknown: list[int] = field(default_factory=list)
    misplaced: list[tuple[int, int, int]] = field(default_factory=list)
    repeated: list[int] = field(default_factory=list)
    disordered: list[int] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """Nothing lost, nothing that nobody wrote, all in their partitions and, repeats left out, in their places."""
        return not (self.lost or self.unknown or self.misplaced or self.disordered)

    def __str__(self) -> str:
        kinds = ("lost", "unknown", "misplaced", "repeated", "disordered")
        told = [f"{len(getattr(self, kind))} {kind} {getattr(self, kind)[:5]}" for kind in kinds]
        return f"{self.records} records written: {', '.join(told)}"


def compared(ledger: Ledger, found: Sequences) -> Comparison:
    """Holds what was found against what was acknowledged.

    misplaced -- (number, its partition in the source, its partition here); repeated -- one entry for each copy too
    many; disordered -- partitions whose first occurrences are not in the order of the source's offsets.
    """
    result = Comparison(len(ledger.acknowledged))
    everywhere: set[int] = set()
    for partition, numbers in found.items():
        times = Counter(numbers)
        places = [(number, ledger.acknowledged.get(number)) for number in times]
        result.unknown += [number for number, place in places if place is None]
        result.misplaced += [
            (number, place[0], partition) for number, place in places if place and place[0] != partition
        ]
        result.repeated += [number for number, count in times.items() for _ in range(count - 1)]
        offsets = [place[1] for _, place in places if place and place[0] == partition]
        if offsets != sorted(offsets):
            result.disordered.append(partition)
        everywhere.update(times)
    result.lost = sorted(set(ledger.acknowledged) - everywhere)
    return result
