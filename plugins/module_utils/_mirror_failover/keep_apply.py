# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Copies the surplus of a partition record by record into the topic that keeps it, and reads it back.

What the topic has already is compared with the surplus first, so a copy that was cut goes on where it was, and nothing
is written twice. No record stays in memory but those that are on their way.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from .._client.session import Session
from .._cluster.api import topics_at
from .._cluster.snapshot import Key
from .._configs.api import topic_values
from .._core.errors import RequestFailedError, StreamopsError
from .._mirror.api import visit
from .._mirror.look import at, edges
from .._topics.api import TopicSpec, copies_for, make_topic
from .api import LARGE, Writer
from .compare import digest_of

#: Seconds that a topic may take to be there.
_TOPIC_TIMEOUT = 30.0
#: Settings of a topic that keeps a surplus: nothing in it expires, and records keep their own times.
KEPT_CONFIG = {
    "cleanup.policy": "delete",
    "retention.ms": "-1",
    "retention.bytes": "-1",
    "message.timestamp.type": "CreateTime",
}
#: The setting that says how large a compressed batch may be, and the largest value that Kafka takes.
_MOST, _MOST_AT_ALL = "max.message.bytes", 2**31 - 1


@dataclass
class Chain:
    """A number of records in order, and what two equal rows of them have in common."""

    records: int = 0
    last: int = -1
    _sum: Any = field(default_factory=hashlib.sha256)

    def add(self, record: Any) -> bool:
        """Take the next record; false for one that a connection, which broke, brings once more."""
        if record.offset <= self.last:
            return False
        self.last = record.offset
        self.records += 1
        self._sum.update(digest_of(record))
        return True

    @property
    def digest(self) -> bytes:
        """Return the digest of all records so far."""
        return bytes(self._sum.digest())


@dataclass(frozen=True)
class Keeping:
    """A partition of the source whose surplus is kept, from C(first) to before C(end), and the topic for it.

    partitions -- of the topic, as many as its source has. sides -- how errors name source and target.
    """

    where: Key
    first: int
    end: int
    topic: str
    partitions: int
    sides: tuple[str, str]


def keep(origin: Session, copy: Session, keeping: Keeping) -> int:
    """Copy what is not there yet, read all of it back, and return how many records it is.

    Raises OtherContentError for a topic that has other records, RequestFailedError where not all is acknowledged.
    """
    most = _made(origin, copy, keeping)
    there = _chain_of(copy, keeping)
    passed = Chain()
    writer = Writer(copy, keeping.topic, keeping.where[1], most)

    def take(record: Any) -> None:
        """Compare a record that is there, and write one that is not."""
        if not passed.add(record):
            return
        if passed.records <= there.records:
            if passed.records == there.records and passed.digest != there.digest:
                raise OtherContentError(keeping)
        else:
            writer.write(record)

    # Errors of reading and of writing name the topic, and so the side.
    visit(origin, {keeping.where: keeping.first}, {keeping.where: keeping.end}, take)
    if passed.records < there.records:
        raise OtherContentError(keeping)
    with at(keeping.sides[1]):
        writer.finish()
    if writer.number:
        there = _chain_of(copy, keeping)
    if (there.records, there.digest) != (passed.records, passed.digest):
        why = f"{there.records:,} records are read back of partition {keeping.where[1]}, of {passed.records:,}"
        raise RequestFailedError("keep", keeping.topic, "NOT_AS_WRITTEN", why)
    return passed.records


class OtherContentError(StreamopsError):
    """The topic that is to keep a surplus has records that are not of it."""

    def __init__(self, keeping: Keeping) -> None:
        (topic, number), (source, target) = keeping.where, (side.partition(" ")[2] for side in keeping.sides)
        super().__init__(
            f"surplus of {topic}-{number}: {keeping.topic} of {target} has other records in partition {number} than "
            f"{source} has from offset {keeping.first} on. Look whose they are, and delete {keeping.topic} if nobody "
            f"needs it; then run this again. Nothing was written into that partition, and {source} was only read."
        )


def _made(origin: Session, copy: Session, keeping: Keeping) -> int:
    """Make the topic where it is not there; return how many bytes a compressed batch of the source may have."""
    with at(keeping.sides[0]):
        most = int(topic_values(origin, [keeping.where[0]], [_MOST])[keeping.where[0]].get(_MOST) or 0)
    with at(keeping.sides[1]):
        known = topics_at(copy, None, [keeping.topic])
        if not known:
            # Another compression, or another batch, may make a record larger than it was.
            config = {**KEPT_CONFIG, _MOST: str(min(_MOST_AT_ALL, max(LARGE, 2 * most)))}
            make_topic(copy, TopicSpec(keeping.topic, keeping.partitions, copies_for(copy), config), _TOPIC_TIMEOUT)
        elif len(known[keeping.topic]) <= keeping.where[1]:
            raise OtherContentError(keeping)
    return most


def _chain_of(copy: Session, keeping: Keeping) -> Chain:
    """Read what the topic has of the partition."""
    chain, key = Chain(), (keeping.topic, keeping.where[1])
    with at(keeping.sides[1]):
        logs = edges(copy, topics_at(copy, None, [keeping.topic]))
        log = logs.get(key)
        if log is None or log.start is None or log.end is None:
            raise RequestFailedError("read", keeping.topic, "LEADER_NOT_AVAILABLE", f"partition {key[1]} has no leader")
        if log.start:
            raise OtherContentError(keeping)
        visit(copy, {key: 0}, {key: log.end}, chain.add)
    return chain
