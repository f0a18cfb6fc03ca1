# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a tuning asks of both clusters and does there: look, write the load, delete what is its own."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from typing import Any

from .._client.session import Session
from .._cluster.api import disk_usage, list_topics, live_brokers
from .._cluster.snapshot import Key
from .._core.errors import RequestFailedError
from .._logs.api import leaders_of, log_ends
from .._logs.model import Log
from .._mirror.api import visit
from .._mirror.flows import LOAD, own_topics
from .._topics.api import TopicSpec, drop_topics, make_topic
from .names import MARK, copy_topic, with_load
from .plan import COPIES, Disk, Look, is_over

#: Seconds that a topic may take to be there, or to be gone, at the brokers.
_SETTLE_SECONDS = 60.0
#: Seconds between two looks at a copy.
PAUSE = 0.25
#: Different values of the load. A batch holds several of each, but no more than about 2 to 1 can be packed.
_VALUES = 64
#: What librdkafka says of a record that was purged from the queue of its producer.
_GIVEN_UP = "_PURGE_QUEUE"
#: The load of a tuning that was killed goes by itself after a day.
_KEPT = {"cleanup.policy": "delete", "retention.ms": str(86_400_000), "message.timestamp.type": "CreateTime"}


def disks(session: Session, end: str, brokers: Sequence[int]) -> list[Disk]:
    """The log directories of these brokers, one without figures for a broker that does not tell."""
    found = []
    for broker, held in disk_usage(session, brokers).items():
        listed = [Disk(end, broker, one.total_bytes, one.usable_bytes) for one in held.disks]
        found += listed or [Disk(end, broker, None, None)]
    return found


def own(session: Session) -> list[str]:
    """The topics that a tuning made here."""
    return own_topics(list_topics(session))


def foreign(session: Session, names: Sequence[str]) -> list[str]:
    """Those of these topics whose first or last records no tuning wrote; others than those with load are left out."""
    existing = list_topics(session)
    keys = [(name, part.index) for name in with_load(names) for part in existing.get(name, ())]
    logs = _logs_of(session, keys)
    known = [key for key in keys if logs[key].start < logs[key].end]
    found: set[str] = set()

    def take(record: Any) -> None:
        """One record."""
        if not (record.key or b"").startswith(MARK):
            found.add(record.topic)

    visit(session, {key: logs[key].start for key in known}, {key: logs[key].start + 1 for key in known}, take)
    visit(session, {key: logs[key].end - 1 for key in known}, {key: logs[key].end for key in known}, take)
    return sorted(found)


def remove(session: Session, names: Sequence[str]) -> None:
    """Delete these topics and wait until no broker that is asked knows them."""
    drop_topics(session, names, _SETTLE_SECONDS, "delete topics of a tuning")


def make(session: Session, partitions: int) -> None:
    """Create the topic of the load, with its replicas on as many brokers as production has."""
    copies = max(1, min(COPIES, len(live_brokers(session))))
    make_topic(session, TopicSpec(LOAD, partitions, copies, _KEPT), _SETTLE_SECONDS)


def write(session: Session, partitions: int, records: int, record_bytes: int, seconds: float) -> int:
    """Write the load, spread evenly; stop after so many seconds. Return how many records the source has then.

    What is queued when the time is over is given up, and only what is on its way is waited for. Raises
    RequestFailedError where the source refuses records, does not acknowledge those, or has none in the end.
    """
    from confluent_kafka import Producer

    fixed = {
        "acks": "all",
        "linger.ms": 20,
        "batch.size": 1_000_000,
        "compression.type": "none",
        "queue.buffering.max.kbytes": 262_144,
        # Without a bound everything would be on its way at once, where the line only is slow to answer.
        "max.in.flight": 5,
        "message.max.bytes": max(1_000_000, 2 * record_bytes),
        "log_level": 0,
    }
    failures: list[Any] = []

    def delivered(error: Any, _message: Any) -> None:
        """Keep the first failure; to be given up is none."""
        if error is not None and error.name() != _GIVEN_UP and not failures:
            failures.append(error)

    producer, until = Producer({**session.confluent_config(), **fixed}), time.monotonic() + seconds
    pool = values(record_bytes)
    for number in range(records):
        while not failures and time.monotonic() < until:
            try:
                at = number % partitions
                producer.produce(LOAD, pool[number % len(pool)], MARK + b"%d" % number, at, on_delivery=delivered)
                break
            except BufferError:
                producer.poll(0.1)
        else:
            break
        producer.poll(0)
    producer.flush(0 if failures else max(0.0, until - time.monotonic()))
    producer.purge(in_flight=False)
    left = producer.flush(session.connection.request_timeout)
    if failures or left:
        error = failures[0] if failures else None
        code, why = (error.name(), error.str()) if error else ("TIMED_OUT", f"{left} records were not acknowledged")
        raise RequestFailedError("write", LOAD, code, why)
    written = _records(session, [(LOAD, at) for at in range(partitions)])
    if not written:
        raise RequestFailedError("write", LOAD, "TIMED_OUT", f"no record was acknowledged within {seconds:g} s")
    return written


def _logs_of(session: Session, keys: Sequence[Key]) -> dict[Key, Log]:
    """Return the logs of these partitions; one that cannot be asked begins and ends at -1."""
    return log_ends(session, leaders_of(session, {topic for topic, _index in keys}), keys)


def _records(session: Session, keys: Sequence[Key]) -> int:
    """Return the number of records that were ever written to these partitions, as far as they can be asked."""
    return sum(max(log.end, 0) for log in _logs_of(session, keys).values())


def values(record_bytes: int) -> list[bytes]:
    """Values of the load: half of each is drawn, half is the same everywhere, so that about 2 to 1 can be packed."""
    drawn = random.Random(46)
    half = record_bytes // 2
    return [drawn.randbytes(half) + b"s" * (record_bytes - half) for _number in range(_VALUES)]


def watched(session: Session, number: int, partitions: int, records: int, bounds: Mapping[str, float]) -> list[Look]:
    """Look at the copy of a run until it is over (rate.is_over with these bounds); the looks."""
    name, looks = copy_topic(number), [Look(time.time(), 0)]
    keys = [(name, at) for at in range(partitions)]
    while not is_over(looks, records, bounds["run_seconds"], bounds["start_seconds"], time.time()):
        time.sleep(PAUSE)
        looks.append(Look(time.time(), _records(session, keys)))
    return looks
