"""A topic as a list of rows: what a clean run of job smoke leaves behind, ready to be damaged by a test."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from spark_validation.smoke import record
from spark_validation.smoke.geometry import Geometry
from spark_validation.smoke.ledger import Ledger

SCHEMA = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, timestampType int, "
    "headers array<struct<key:string,value:binary>>"
)
TOPIC = "_streamops_smoke"


@dataclass(frozen=True)
class Row:
    """One record where it stands; the append time is `delay_ms` after its send time, or after `sent_ms`."""

    partition: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...]
    delay_ms: int = 3
    sent_ms: int | None = None

    @property
    def sent(self) -> int:
        """The send time that the record carries; 0 when it carries none that can be read."""
        if self.sent_ms is not None:
            return self.sent_ms
        text = (self.value or b"")[82:95]
        return int(text) if text.isdigit() else 0


@dataclass
class FakeTopic:
    """The rows of each partition in the order of their offsets. `gaps`: offsets left out, as transactions do it."""

    ledger: Ledger
    rows: dict[int, list[Row]]
    gaps: int = 0

    def frame(self, session: SparkSession) -> DataFrame:
        """The topic with the columns of Spark's Kafka source."""
        epoch = datetime(1970, 1, 1, tzinfo=UTC)
        values: list[tuple[Any, ...]] = []
        for partition, rows in self.rows.items():
            for place, row in enumerate(rows):
                append = epoch + timedelta(milliseconds=row.sent + row.delay_ms)
                offset = place * (self.gaps + 1)
                values.append((row.key, row.value, TOPIC, partition, offset, append, 1, list(row.headers)))
        return session.createDataFrame(values, SCHEMA)


def write(session: SparkSession, shape: Geometry, run_id: str, attempts: dict[int, int] | None = None) -> list[Row]:
    """The records of one run, made by the job's own code, in the order in which each writer sends them."""
    accepted = attempts or dict.fromkeys(range(shape.writers), 0)
    writers = session.createDataFrame(sorted(accepted.items()), "writer bigint, attempt int")
    made = record.to_kafka(record.with_identity(writers, shape), run_id, TOPIC, (0, 90)).collect()
    rows = [
        Row(
            row["partition"],
            bytes(row["key"]),
            bytes(row["value"]),
            tuple((header["key"], bytes(header["value"])) for header in row["headers"]),
        )
        for row in made
    ]
    return sorted(rows, key=lambda row: (row.key or b"")[6:])


def clean(session: SparkSession, shape: Geometry, seed: int, run_id: str = "run-1") -> FakeTopic:
    """A history without fault, in which the writers of each partition interleave at random."""
    draw = random.Random(seed)
    return interleaved(write(session, shape, run_id), shape, draw, run_id)


def interleaved(rows: list[Row], shape: Geometry, draw: random.Random, run_id: str = "run-1") -> FakeTopic:
    """Put rows into their partitions, keeping the order within each lane and drawing the order between lanes."""
    lanes: dict[int, dict[bytes, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in sorted(rows, key=lambda row: row.key or b""):
        lanes[row.partition][(row.key or b"")[:16]].append(row)
    topic: dict[int, list[Row]] = {partition: [] for partition in range(shape.partitions)}
    for partition, queues in lanes.items():
        order = [name for name, queue in queues.items() for _ in queue]
        draw.shuffle(order)
        heads = {name: iter(queue) for name, queue in queues.items()}
        topic[partition] = [replace(next(heads[name]), delay_ms=draw.randrange(400)) for name in order]
    began = min((row.sent for row in rows), default=0)
    ranges = {partition: (0, len(topic[partition])) for partition in range(shape.partitions)}
    attempts = dict.fromkeys(range(shape.writers), 0)
    return FakeTopic(Ledger(run_id, TOPIC, None, shape, attempts, ranges, began, began + 5000), topic)
