# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""A reassignment under way: what is kept of it with the cluster, and how far it is by what the cluster shows now.

The record is written before anything is touched and taken away after everything is restored, so whoever finds it knows
that a run was cut, or runs. What is done is not in it: the cluster itself shows that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Optional

from .._cluster.snapshot import InFlight, Key, Partition, effective_min_isr, named
from .._core.errors import StreamopsError

#: The key of the record in the state topic: there is one reassignment at a time.
KEY = "reassignment"
VERSION = 1
#: A KRaft controller refuses more records than this in one request (QuorumController.MAX_RECORDS_PER_BATCH).
REQUEST_PARTITIONS = 10_000
#: By broker id or topic name the values of some keys; None where a key has no value of its own.
Priors = dict[str, dict[str, Optional[str]]]


@dataclass(frozen=True)
class Row:
    """One partition and where it goes. C(bytes) are those of one replica, C(moves) how many replicas are copied."""

    topic: str
    index: int
    replicas: tuple[int, ...]
    bytes: int
    moves: int

    @property
    def key(self) -> Key:
        """The partition."""
        return self.topic, self.index


@dataclass(frozen=True)
class Record:
    """A reassignment under way. C(brokers) and C(topics): what the keys of throttles were before it.

    C(stopped): why the cluster refused single partitions, by name; then nothing more of it is begun. Without batches
    only throttles are left to restore. C(digest): that of the plan which the batches were made from.
    """

    spec: Mapping[str, Any]
    batches: tuple[tuple[Row, ...], ...]
    brokers: Priors = field(default_factory=dict)
    topics: Priors = field(default_factory=dict)
    stopped: Mapping[str, str] = field(default_factory=dict)
    digest: str = ""

    @property
    def rows(self) -> list[Row]:
        """All partitions in order."""
        return [row for batch in self.batches for row in batch]

    def as_data(self) -> dict[str, Any]:
        """The record for JSON; rows as short as they can be, since there may be a million."""
        return {
            "version": VERSION,
            "spec": dict(self.spec),
            "batches": [
                [[row.topic, row.index, list(row.replicas), row.bytes, row.moves] for row in batch]
                for batch in self.batches
            ],
            "brokers": self.brokers,
            "topics": self.topics,
            "stopped": dict(self.stopped),
            "digest": self.digest,
        }


@dataclass(frozen=True)
class Copy:
    """A partition whose copies are to be throttled: the brokers that it is on and those that it comes to."""

    topic: str
    index: int
    on: tuple[int, ...]
    to: tuple[int, ...]


def record_of(data: Any) -> Record | None:
    """The record that was kept, None where there is none; StreamopsError when it cannot be understood."""
    if data is None:
        return None
    try:
        if data["version"] != VERSION:
            raise ValueError(f"its version is {data['version']!r}, this collection reads {VERSION}")
        batches = tuple(
            tuple(Row(topic, index, tuple(replicas), size, moves) for topic, index, replicas, size, moves in batch)
            for batch in data["batches"]
        )
        return Record(data["spec"], batches, data["brokers"], data["topics"], data["stopped"], data["digest"])
    except (KeyError, TypeError, ValueError) as error:
        raise StreamopsError(
            f"reassignment: the record that an earlier run left with the cluster cannot be understood ({error}). "
            "Nothing was changed. Run the version of this collection that wrote it with state: finished."
        ) from error


@dataclass(frozen=True)
class Look:
    """The cluster at one moment: partitions, those being moved (by whomever), brokers that are registered and alive."""

    partitions: Mapping[Key, Partition]
    in_flight: Mapping[Key, InFlight]
    alive: frozenset[int]

    def added(self, row: Row) -> list[int]:
        """The brokers that a partition, which exists, comes to."""
        return [broker for broker in row.replicas if broker not in self.partitions[row.key].replicas]

    def shrinks(self, row: Row) -> bool:
        """Return whether a partition, which exists, will have fewer replicas."""
        return len(row.replicas) < len(self.partitions[row.key].replicas)


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
        """Return whether nothing is left to do."""
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
    """Return what is under way to where the record wants it."""
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
    """Return which moves of a record may be cancelled so that acks=all writes go on.

    Cancelling takes the new replicas out of the ISR, whoever is left in it (Kafka does not compare that with
    min.insync.replicas), and was known to leave partitions without a leader (KAFKA-14424).
    """
    cancel, unsafe = [], {}
    for key, flying in sorted(ours(record, look).items()):
        partition = look.partitions.get(key)
        if partition is None:
            continue
        left = sorted(set(partition.isr) & set(flying.original))
        need = max(1, effective_min_isr(min_insync.get(key[0], 1), len(flying.original)))
        if len(left) < need:
            unsafe[key] = (
                f"of its replicas before the move {list(flying.original)} only {left} are in sync, "
                f"min.insync.replicas is {min_insync.get(key[0], 1)}"
            )
        else:
            cancel.append(key)
    return Cancellation(tuple(cancel), unsafe)


#: How many partitions a list of a result names at most.
SHOWN = 20


def progress(
    record: Record,
    look: Look,
    standing: Standing,
    copied: Mapping[int, Mapping[Key, int]],
    held: Mapping[Key, str] | None = None,
) -> dict[str, Any]:
    """The figures. C(copied): by broker the bytes that its new replicas of moving partitions have by now.

    C(held): partitions whose move cannot start yet, and why.
    """
    rows = record.rows
    open_rows = {row.key: _copied(row, look, copied) for row in standing.moving}
    finished = [*standing.done, *standing.deleted, *standing.syncing]
    slowest = max(standing.moving, key=lambda row: (_bytes(row) - open_rows[row.key], row.key), default=None)
    late = behind((*standing.moving, *standing.syncing, *standing.held), look)
    return {
        "batches_total": len(record.batches),
        "batches_done": standing.number,
        "partitions_total": len(rows),
        "partitions_done": len(standing.done) + len(standing.deleted),
        "moves_total": sum(row.moves for row in rows),
        "moves_done": sum(row.moves for row in finished),
        "bytes_total": sum(map(_bytes, rows)),
        "bytes_done": sum(map(_bytes, finished)) + sum(open_rows.values()),
        "in_flight": named(row.key for row in standing.moving)[:SHOWN],
        "in_flight_total": len(standing.moving),
        "not_begun": len(standing.submit) + len(standing.held) + len(standing.later),
        "held": {named([key])[0]: why for key, why in list((held or {}).items())[:SHOWN]},
        "held_total": len(held or {}),
        "taken": named(row.key for row in standing.taken)[:SHOWN],
        "slowest": None
        if slowest is None
        else {"partition": named([slowest.key])[0], "bytes": _bytes(slowest), "bytes_done": open_rows[slowest.key]},
        "behind": [
            {
                "broker": broker,
                "alive": broker in look.alive,
                "partitions": named(keys)[:SHOWN],
                "partitions_total": len(keys),
            }
            for broker, keys in sorted(late.items())
        ],
    }


def _bytes(row: Row) -> int:
    return row.bytes * row.moves


def _copied(row: Row, look: Look, copied: Mapping[int, Mapping[Key, int]]) -> int:
    """Bytes of a moving partition that are there; a log that grows is not counted beyond what was planned."""
    adding = look.in_flight[row.key].adding
    return sum(min(row.bytes, copied.get(broker, {}).get(row.key, 0)) for broker in adding)
