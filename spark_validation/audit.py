"""The one pass: rows of Spark's Kafka source -> an Observation. One read, one sort, one job.

Whether a lane is whole needs no hash and no list: n records whose sequence rises strictly from 0 to n-1 can only be
0, 1, ... n-1. The window below proves the rising, so a loss that a duplicate hides in the counts still shows.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from pyspark.sql import Column, DataFrame, Row, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812

from spark_validation import latency
from spark_validation.config import Arguments
from spark_validation.observed import LaneSeen, Observation, PartitionSeen, Slot
from spark_validation.session import cores, source_options
from spark_validation.topic import Ranges

SLOTS = 60
_RECORDS_PER_TASK = 500_000
_VIEWS = (["partition", "kind", "lane"], ["partition"], ["bucket"], ["slot"])


def read_range(session: SparkSession, arguments: Arguments, topic: str, ranges: Ranges) -> DataFrame:
    """Exactly the frozen offsets of `topic`, as a batch, with the columns of Spark's Kafka source."""
    records = sum(end - start for start, end in ranges.values())
    tasks = max(len(ranges), cores(session), -(-records // _RECORDS_PER_TASK))
    return (
        session.read.format("kafka")
        .options(**source_options(arguments))
        .option("subscribe", topic)
        .option("minPartitions", tasks)
        .option("startingOffsets", json.dumps({topic: {str(i): start for i, (start, _) in ranges.items()}}))
        .option("endingOffsets", json.dumps({topic: {str(i): end for i, (_, end) in ranges.items()}}))
        .load()
    )


def slot_width_ms(began_ms: int, ended_ms: int) -> int:
    """The width of a slot of the timeline, so that a run has at most SLOTS of them."""
    return max(100, -(-(ended_ms - began_ms + 1) // SLOTS))


def observe(classified: DataFrame, began_ms: int, width_ms: int) -> Observation:
    """Run the pass on the output of `record.classify`; only sums come back to the driver."""
    return _collected(measured(classified, began_ms, width_ms).collect())


def measured(classified: DataFrame, began_ms: int, width_ms: int) -> DataFrame:
    """The sums by lane, by partition, by latency bucket and by slot of the timeline, in one frame."""
    before = F.lag("seq").over(Window.partitionBy("partition", "kind", "lane").orderBy("offset"))
    # Outside the write (a foreign record, another clock) everything falls into the slots at both ends.
    slot = F.least(F.greatest(F.floor((F.col("append_ms") - began_ms) / width_ms), F.lit(-1)), F.lit(SLOTS))
    cells = (
        classified.withColumn("backwards", F.coalesce((F.col("seq") <= before).cast("int"), F.lit(0)))
        .withColumn("slot", slot)
        .withColumn("bucket", _bucket(F.col("latency_ms")))
        .groupBy("partition", "kind", "lane", "slot", "bucket")
        .agg(
            *_sums(
                {"records": F.count(F.lit(1)), "create_time": F.sum((F.col("time_type") != 1).cast("int"))},
                "seq",
                "seq",
            )
        )
    )
    again = {"records": F.sum("records"), "create_time": F.sum("create_time")}
    return cells.groupingSets(
        [[F.col(name) for name in view] for view in _VIEWS],
        "partition", "kind", "lane", "slot", "bucket",
    ).agg(F.grouping_id().alias("view"), *_sums(again, "least", "most"))  # fmt: skip


def _sums(counts: dict[str, Column], least: str, most: str) -> list[Column]:
    """The measures of a group. The same formulas serve rows (`least` = `most` = the column) and groups of rows."""
    rows = least == most
    value = "latency_ms" if rows else "latency_total"
    return [
        *(count.alias(name) for name, count in counts.items()),
        F.sum("bytes").alias("bytes"),
        F.min(least).alias("least"),
        F.max(most).alias("most"),
        F.sum("backwards").alias("backwards"),
        F.sum(value).alias("latency_total"),
        F.min("latency_ms" if rows else "latency_least").alias("latency_least"),
        F.max("latency_ms" if rows else "latency_most").alias("latency_most"),
        F.bit_xor("hash" if rows else "digest_xor").alias("digest_xor"),
        F.sum(F.expr("hash & 4294967295") if rows else F.col("digest_sum")).alias("digest_sum"),
    ]


def _bucket(latency_ms: Column) -> Column:
    doublings = F.log2(latency_ms / latency.EXACT)
    return (
        F.when(latency_ms < 0, latency.SKEWED)
        .when(latency_ms < latency.EXACT, latency_ms)
        .otherwise(F.floor(latency.EXACT + latency.PER_DOUBLING * doublings))
    )


def _collected(rows: list[Row]) -> Observation:
    views: dict[str, list[dict[str, Any]]] = {"lanes": [], "partitions": [], "latency": [], "timeline": []}
    # grouping_id sets a bit for each column that is not grouped by, the first column highest.
    names = {0b00011: "lanes", 0b01111: "partitions", 0b11110: "latency", 0b11101: "timeline"}
    for row in rows:
        views[names[int(row["view"])]].append(row.asDict())
    known = [row for row in views["latency"] if row["bucket"] is not None]
    return Observation(
        lanes=[LaneSeen(**{name: int(row[name]) for name in LaneSeen.__dataclass_fields__}) for row in views["lanes"]],
        partitions={
            int(row["partition"]): PartitionSeen(
                **{name: int(row[name]) for name in PartitionSeen.__dataclass_fields__}
            )
            for row in views["partitions"]
        },
        latency=Counter({int(row["bucket"]): int(row["records"]) for row in known}),
        latency_total_ms=sum(int(row["latency_total"]) for row in known),
        latency_least_ms=min((int(row["latency_least"]) for row in known), default=None),
        latency_most_ms=max((int(row["latency_most"]) for row in known), default=None),
        timeline=sorted(
            (Slot(int(row["slot"]), int(row["records"]), int(row["bytes"])) for row in views["timeline"]),
            key=lambda slot: slot.index,
        ),
        create_time=sum(int(row["create_time"]) for row in views["partitions"]),
    )
