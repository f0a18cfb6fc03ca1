"""A source and its mirror as lists of rows, ready to be damaged by a test: what MirrorMaker 2 leaves behind."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from spark_validation.core.read import Reader, TopicRanges
from spark_validation.mirror.compare import Comparison, How
from spark_validation.mirror.seen import Compared, Scope, Span
from tests.support.fake_topic import SCHEMA

BEGAN = 1_795_000_000_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Headers = tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True)
class Event:
    """One record where it stands. `ts` in epoch ms."""

    offset: int
    key: bytes | None
    value: bytes | None
    ts: int
    headers: Headers = ()


Log = dict[int, list[Event]]


@dataclass
class FakeMirror:
    """Both sides of one pair of topics, and what is told of them.

    start -- log starts; behind -- mays by partition; since -- offsets of a mark in source and target, by partition
    """

    source: Log
    target: Log
    source_start: dict[int, int] = field(default_factory=dict)
    target_start: dict[int, int] = field(default_factory=dict)
    behind: int = 0
    timeless: bool = False
    compacted: bool = False
    promised_from_ms: int | None = None
    sized: bool = False
    since: dict[int, tuple[int, int]] = field(default_factory=dict)

    def scope(self, number: int, name: str) -> Scope:
        """The pair as the job freezes it: the last `behind` records of each partition are beyond the frontier."""
        spans = []
        for index in sorted(set(self.source) | set(self.target)):
            events, mirrored = self.source.get(index), self.target.get(index)
            musts = (events or [])[: max(0, len(events or []) - self.behind)]
            source_start, target_start = self.source_start.get(index, 0), self.target_start.get(index, 0)
            spans.append(
                Span(
                    index,
                    musts[-1].offset if musts else None,
                    None if events is None else (source_start, _end(events, source_start)),
                    None if mirrored is None else (target_start, _end(mirrored, target_start)),
                    source_start > 0,
                    target_start > 0,
                    self.since.get(index) if events and mirrored else None,
                )
            )
        times = (self.timeless, self.compacted, self.promised_from_ms, self.sized)
        return Scope(number, name, f"dc_a.{name}", tuple(spans), *times)


def compared(session: SparkSession, mirrors: dict[str, FakeMirror], **how: Any) -> Compared:
    """What one comparison finds in all of them; the pair's number is its place."""
    return comparison(session, mirrors, **how).run(scopes(mirrors))


def scopes(mirrors: dict[str, FakeMirror]) -> list[Scope]:
    """Return the mirrors as a job freezes them."""
    return [mirror.scope(number, name) for number, (name, mirror) in enumerate(mirrors.items())]


def comparison(session: SparkSession, mirrors: dict[str, FakeMirror], **how: Any) -> Comparison:
    """Return a comparison that reads these mirrors."""
    source = reader(session, {name: mirror.source for name, mirror in mirrors.items()})
    target = reader(session, {f"dc_a.{name}": mirror.target for name, mirror in mirrors.items()})
    return Comparison(session, source, target, How(**{"bucket_ms": 10_000, **how}))


def found(seen: Compared, mirrors: dict[str, FakeMirror]) -> dict[str, dict[str, int]]:
    """By mirror, how many records of each kind were found."""
    return {
        name: {kind: part.by_pair[number] for kind, part in seen.kinds.items() if part.by_pair.get(number)}
        for number, name in enumerate(mirrors)
    }


def _end(events: list[Event], start: int) -> int:
    return events[-1].offset + 1 if events else start


def reader(session: SparkSession, logs: dict[str, Log]) -> Reader:
    """Reads frozen ranges of fake topics."""
    rows = [
        (
            event.key, event.value, topic, partition, event.offset, EPOCH + timedelta(milliseconds=event.ts), 0,
            list(event.headers) or None,
        )
        for topic, log in logs.items()
        for partition, events in log.items()
        for event in events
    ]  # fmt: skip
    frame = session.createDataFrame(rows, SCHEMA).localCheckpoint()

    def read(ranges: TopicRanges) -> DataFrame:
        """The rows of the ranges."""
        spans = [
            (topic, partition, low, high)
            for topic, by_partition in ranges.items()
            for partition, (low, high) in by_partition.items()
        ]
        wanted = session.createDataFrame(spans, "topic string, partition int, low bigint, high bigint")
        inside = (F.col("offset") >= F.col("low")) & (F.col("offset") < F.col("high"))
        return frame.join(F.broadcast(wanted), ["topic", "partition"]).where(inside).select(frame.columns)

    return read


def drawn_log(draw: random.Random, partitions: int, size: int, keys: int = 0) -> Log:
    """Random records: keys, values and headers may be NULL or empty, times go to and fro, offsets have gaps."""
    log: Log = {}
    for partition in range(partitions):
        offset, events = 0, []
        for place in range(size):
            key = None if draw.random() < 0.2 else draw.randbytes(draw.randrange(4))
            if keys:
                key = b"%d-%d" % (partition, draw.randrange(keys))
            value = None if draw.random() < 0.15 else draw.randbytes(draw.randrange(12))
            headers = tuple(
                (draw.choice("ab"), None if draw.random() < 0.3 else draw.randbytes(draw.randrange(3)))
                for _ in range(draw.randrange(3) if draw.random() < 0.5 else 0)
            )
            ts = BEGAN + place * 400 + draw.randrange(-3000, 3000)
            events.append(Event(offset, key, value, ts, headers))
            offset += 1 if draw.random() < 0.9 else draw.randrange(2, 5)
        log[partition] = events
    return log


def mirrored(log: Log, shift: int = 0) -> Log:
    """A perfect mirror: the same records in order, with offsets of its own and no gaps."""
    return {
        index: [replace(event, offset=place + shift) for place, event in enumerate(events)]
        for index, events in log.items()
    }


def renumbered(log: Log) -> None:
    """Give the records of a damaged log consecutive offsets again."""
    for index, events in log.items():
        log[index] = [replace(event, offset=place) for place, event in enumerate(events)]


def sound(seed: int = 1, partitions: int = 2, size: int = 60, **given: Any) -> FakeMirror:
    """A mirror without fault whose source has no gaps, so that places are offsets."""
    source = drawn_log(random.Random(seed), partitions, size)
    renumbered(source)
    return FakeMirror(source, mirrored(source), **given)
