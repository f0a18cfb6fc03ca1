# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""How far a reassignment is and what comes next, from what was wanted and what the cluster shows now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.moving import InFlight, Key
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Partition
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.record import Record, Row
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.throttle import Copy


@dataclass(frozen=True)
class Look:
    """The cluster at one moment: partitions, those being moved (by whomever), brokers that are registered and alive."""

    partitions: Mapping[Key, Partition]
    in_flight: Mapping[Key, InFlight]
    alive: frozenset[int]


@dataclass(frozen=True)
class Standing:
    """How far the rows of a record are.

    C(done): at their target with every replica in sync, or their topic is gone (C(deleted)). C(moving): under way to
    it. C(syncing): there, and a replica is not in sync. C(taken): somebody else moves the partition elsewhere.
    C(submit): to begin now, of the first batch that is not done. C(held): not begun, for a broker that is not alive.
    C(later): of batches after it. C(batch): its rows; C(number): how many batches are done.
    """

    done: tuple[Row, ...]
    deleted: tuple[Row, ...]
    moving: tuple[Row, ...]
    syncing: tuple[Row, ...]
    taken: tuple[Row, ...]
    submit: tuple[Row, ...]
    held: tuple[Row, ...]
    later: tuple[Row, ...]
    batch: tuple[Row, ...]
    number: int

    @property
    def complete(self) -> bool:
        """Whether nothing is left to do."""
        return not self.batch


def judge(record: Record, look: Look) -> Standing:
    """Sort the rows of a record."""
    found: dict[str, list[Row]] = {
        name: [] for name in ("done", "deleted", "moving", "syncing", "taken", "submit", "held", "later")
    }
    current: tuple[Row, ...] = ()
    number = 0
    for batch in record.batches:
        states = [(_state(row, look), row) for row in batch]
        open_ = any(state not in ("done", "deleted") for state, _row in states)
        for state, row in states:
            # A row of a later batch that is under way was begun by a run that had other batches.
            found["later" if current and state in ("submit", "held") else state].append(row)
        if open_ and not current:
            current = batch
        elif not open_ and not current:
            number += 1
    return Standing(**{name: tuple(rows) for name, rows in found.items()}, batch=current, number=number)


def _state(row: Row, look: Look) -> str:
    partition, flying = look.partitions.get(row.key), look.in_flight.get(row.key)
    if partition is None:
        return "deleted"
    if flying is not None:
        return "moving" if flying.target == row.replicas else "taken"
    if partition.replicas == row.replicas:
        return "done" if set(row.replicas) <= set(partition.isr) else "syncing"
    return "submit" if look.alive.issuperset(set(row.replicas) - set(partition.replicas)) else "held"


def ours(record: Record, look: Look) -> dict[Key, InFlight]:
    """What is under way to where the record wants it."""
    return {
        row.key: look.in_flight[row.key]
        for row in record.rows
        if row.key in look.in_flight and look.in_flight[row.key].target == row.replicas
    }


def copies(rows: Iterable[Row], look: Look) -> list[Copy]:
    """The copies that these rows still make or will make."""
    found = []
    for row in rows:
        partition, flying = look.partitions.get(row.key), look.in_flight.get(row.key)
        if partition is None:
            continue
        on = flying.original if flying is not None else partition.replicas
        to = tuple(broker for broker in row.replicas if broker not in on)
        if to:
            found.append(Copy(row.topic, row.index, tuple(sorted(on)), tuple(sorted(to))))
    return found


def behind(rows: Iterable[Row], look: Look) -> dict[int, list[Key]]:
    """By broker the partitions of these rows that wait for its replica: it is not in sync, or not begun."""
    found: dict[int, list[Key]] = {}
    for row in rows:
        partition = look.partitions.get(row.key)
        for broker in row.replicas if partition is not None else ():
            if partition is not None and broker not in partition.isr:
                found.setdefault(broker, []).append(row.key)
    return found


@dataclass(frozen=True)
class Cancellation:
    """What can be cancelled, and what cannot: too few of the replicas before it are in sync, by partition why."""

    cancel: tuple[Key, ...]
    unsafe: Mapping[Key, str]


def cancellation(record: Record, look: Look, min_insync: Mapping[str, int]) -> Cancellation:
    """Which moves of a record may be cancelled so that acks=all writes go on.

    Cancelling takes the new replicas out of the ISR, whoever is left in it (Kafka does not compare that with
    min.insync.replicas), and was known to leave partitions without a leader (KAFKA-14424).
    """
    cancel, unsafe = [], {}
    for key, flying in sorted(ours(record, look).items()):
        partition = look.partitions.get(key)
        if partition is None:
            continue
        left = sorted(set(partition.isr) & set(flying.original))
        need = max(1, min(min_insync.get(key[0], 1), len(flying.original)))
        if len(left) < need:
            unsafe[key] = (
                f"of its replicas before the move {list(flying.original)} only {left} are in sync, "
                f"min.insync.replicas is {min_insync.get(key[0], 1)}"
            )
        else:
            cancel.append(key)
    return Cancellation(tuple(cancel), unsafe)
