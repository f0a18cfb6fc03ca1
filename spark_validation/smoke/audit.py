"""The one pass: rows of Spark's Kafka source -> an Observation. One read, one sort, one job.

Whether a lane is whole needs no hash and no list: n records whose sequence rises strictly from 0 to n-1 can only be
0, 1, ... n-1. The window below proves the rising, so a loss that a duplicate hides in the counts still shows.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections import Counter
from typing import Any

from pyspark.sql import Column, DataFrame, Row, Window
from pyspark.sql import functions as F  # noqa: N812

from spark_validation.smoke import latency
from spark_validation.smoke.observed import OTHER_RUN, LaneSeen, Observation, PartitionSeen, Slot

SLOTS = 60
_VIEWS = (["partition", "kind", "lane"], ["partition", "ours"], ["bucket"], ["slot", "ours"])


def slot_width_ms(began_ms: int, ended_ms: int) -> int:
    """The width of a slot of the timeline, so that a run has at most SLOTS of them."""
    return max(100, -(-(ended_ms - began_ms + 1) // SLOTS))


def observe(classified: DataFrame, began_ms: int, width_ms: int) -> Observation:
    """Run the pass on the output of `record.classify`; only sums come back to the driver."""
    return _collected(measured(classified, began_ms, width_ms).collect())


def measured(classified: DataFrame, began_ms: int, width_ms: int) -> DataFrame:
    """The sums by lane, by partition, by latency bucket and by slot of the timeline, in one frame."""
    before = F.lag("seq").over(Window.partitionBy("place", "lane").orderBy("offset"))
    # A column of its own first: in one select with the rest, Spark would widen the rows before the sort, not after it.
    ordered = _narrow(classified, began_ms, width_ms).withColumn("before", before)
    rows = ordered.select(
        "place",
        "lane",
        F.expr("((packed >> 1) & 127) - 1").alias("slot"),
        _bucket(F.col("latency_ms")).alias("bucket"),
        F.lit(1).alias("records"),
        F.expr("packed & 1").alias("create_time"),
        F.expr("packed >> 8").alias("bytes"),
        F.col("seq").alias("least"),
        F.col("seq").alias("most"),
        F.coalesce((F.col("seq") <= F.col("before")).cast("int"), F.lit(0)).alias("backwards"),
        F.col("latency_ms").alias("latency_total"),
        F.col("latency_ms").alias("latency_least"),
        F.col("latency_ms").alias("latency_most"),
        F.col("hash").alias("digest_xor"),
        F.expr("hash & 4294967295").alias("digest_sum"),
    )
    # Grouped by what the rows are sorted by, and more: no second shuffle of records.
    cells = rows.groupBy("place", "lane", "slot", "bucket").agg(*_merged())
    cells = cells.withColumn("partition", F.expr("place >> 3")).withColumn("kind", F.expr("place & 7"))
    cells = cells.withColumn("ours", F.col("kind") != OTHER_RUN)
    views = [[F.col(name) for name in view] for view in _VIEWS]
    grouped = cells.groupingSets(views, "partition", "kind", "lane", "slot", "bucket", "ours")
    return grouped.agg(F.grouping_id().alias("view"), *_merged())


def _narrow(classified: DataFrame, began_ms: int, width_ms: int) -> DataFrame:
    """Select what the sort must carry, in as few columns as will do: each costs eight bytes of every record.

    `place` holds partition and kind, `packed` bytes, slot and whether the client set the time.
    """
    # Outside the write (a foreign record, another clock) everything falls into the slots at both ends.
    slot = F.least(F.greatest(F.floor((F.col("append_ms") - began_ms) / width_ms), F.lit(-1)), F.lit(SLOTS))
    by_client = (F.col("time_type") != 1).cast("int")
    return classified.select(
        (F.col("partition") * 8 + F.col("kind")).alias("place"),
        "lane",
        "offset",
        "seq",
        "hash",
        "latency_ms",
        (F.col("bytes").cast("bigint") * 256 + (slot + 1) * 2 + by_client).alias("packed"),
    )


def _merged() -> list[Column]:
    """The measures of a group, whether its members are records or groups themselves."""
    rules = {
        F.sum: ("records", "create_time", "bytes", "backwards", "latency_total", "digest_sum"),
        F.min: ("least", "latency_least"),
        F.max: ("most", "latency_most"),
        F.bit_xor: ("digest_xor",),
    }
    return [rule(name).alias(name) for rule, names in rules.items() for name in names]


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
    names = {0b000111: "lanes", 0b011110: "partitions", 0b111101: "latency", 0b111010: "timeline"}
    for row in rows:
        # What other runs wrote meanwhile is counted by lane only, and is in no figure.
        if row["ours"] is not False:
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
