# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Partitions that are being moved now, as the cluster lists them (KIP-455)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

#: A partition by topic and number.
Key = tuple[str, int]
#: Why single partitions or resources were refused: Kafka's error name, and what it says.
Failures = dict[Key, tuple[str, str]]


@dataclass(frozen=True)
class InFlight:
    """One reassignment under way. C(replicas) are all that the partition has now, old and new, the target first."""

    topic: str
    index: int
    replicas: tuple[int, ...]
    adding: frozenset[int]
    removing: frozenset[int]

    @property
    def key(self) -> Key:
        """The partition."""
        return self.topic, self.index

    @property
    def touched(self) -> frozenset[int]:
        """All brokers that it touches: those that have a replica, get one or lose one."""
        return self.adding.union(self.replicas, self.removing)

    @property
    def target(self) -> tuple[int, ...]:
        """The replicas when it has ended."""
        return tuple(broker for broker in self.replicas if broker not in self.removing)

    @property
    def original(self) -> tuple[int, ...]:
        """The replicas when it is cancelled (their order may have been another one)."""
        return tuple(broker for broker in self.replicas if broker not in self.adding)


def in_flight_of(listed: Mapping[Any, Mapping[str, Any]]) -> dict[Key, InFlight]:
    """The reassignments in an answer of kafka-python, by partition."""
    return {
        (partition.topic, partition.partition): InFlight(
            partition.topic,
            partition.partition,
            tuple(found["replicas"]),
            frozenset(found["adding_replicas"]),
            frozenset(found["removing_replicas"]),
        )
        for partition, found in listed.items()
    }


def named(keys: Iterable[Key]) -> list[str]:
    """Partitions for people, sorted."""
    return [f"{topic}-{index}" for topic, index in sorted(keys)]
