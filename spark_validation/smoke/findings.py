"""Exact lists for the lanes that the one pass found wanting, and only for those.

Each fault is booked once: a record whose bytes were damaged is corrupt and not also lost; a record that came twice is a
duplicate and its second place is no disorder.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812

from spark_validation.smoke import record
from spark_validation.smoke.geometry import ATTEMPTS, WRITERS, Lane
from spark_validation.smoke.ledger import Ledger
from spark_validation.smoke.observed import CORRUPT, EXAMPLES, MISROUTED, OK, TOMBSTONE, Findings, Found

_PLACE = ["partition", "offset"]
_SHOWN = [*_PLACE, "lane", "seq"]
_NO_EDGE = 2**63 - 1


def exact(
    session: SparkSession,
    topic_rows: DataFrame,
    ledger: Ledger,
    suspects: dict[int, int],
    strange: list[int],
    odd: list[int],
) -> Findings:
    """All lists of one audit: `suspects` (lane number -> size), lanes of strangers, and kinds of odd records."""
    classified = record.classify(topic_rows, ledger.run_id, ledger.topic)
    found = lane_findings(session, topic_rows, classified, suspects, ledger.ranges) if suspects else Findings()
    return replace(found, odd=odd_records(classified, odd), strange=strangers(classified, strange))


def lane_findings(
    session: SparkSession,
    topic_rows: DataFrame,
    classified: DataFrame,
    lanes: dict[int, int],
    ranges: dict[int, tuple[int, int]],
) -> Findings:
    """Compare the suspect `lanes` (number -> size) record by record with what they must hold.

    `topic_rows` are the rows of the Kafka source, `classified` the same rows out of `record.classify`, `ranges` the
    offsets of the ledger.
    """
    wanted = session.createDataFrame(sorted(lanes.items()), "lane bigint, size bigint")
    ours = classified.where(F.col("kind") <= MISROUTED).join(F.broadcast(wanted), "lane")
    ours = ours.select("partition", "offset", "kind", "lane", "seq", "size").persist()
    try:
        inside = ours.where((F.col("seq") >= 0) & (F.col("seq") < F.col("size")))
        expected = wanted.where("size > 0").select("lane", F.explode(F.expr("sequence(0L, size - 1)")).alias("seq"))
        claimed = (
            record.claimed_identity(topic_rows)
            .join(classified.where(F.col("kind").isin(CORRUPT, TOMBSTONE)), ["partition", "offset"])
            .select(F.col("claim_lane").alias("lane"), F.col("claim_seq").alias("seq"))
        )
        present = inside.select("lane", "seq").union(claimed)
        missing = expected.join(present, ["lane", "seq"], "left_anti")
        lost = _found(missing, ["lane", "seq"])
        return Findings(
            lost=replace(lost, places=_gaps(missing, inside, ranges)) if lost.total else lost,
            duplicated=_duplicates(inside),
            out_of_order=_disorder(inside),
            unknown=_found(ours.where((F.col("seq") < 0) | (F.col("seq") >= F.col("size"))), ["lane", "seq", "offset"]),
        )
    finally:
        ours.unpersist()


def odd_records(classified: DataFrame, kinds: list[int]) -> dict[int, Found]:
    """The records of each of `kinds`."""
    return {kind: _found(classified.where(F.col("kind") == kind).select(*_SHOWN), _PLACE) for kind in kinds}


def strangers(classified: DataFrame, lanes: list[int]) -> Found:
    """The records that claim writers or attempts which the ledger does not know."""
    rows = classified.where((F.col("kind") <= MISROUTED) & F.col("lane").isin(lanes))
    return _found(rows.select(*_SHOWN), _PLACE) if lanes else Found()


def _gaps(missing: DataFrame, inside: DataFrame, ranges: dict[int, tuple[int, int]]) -> list[dict[str, Any]]:
    """Between which offsets the missing records of each partition were, by the records of their lanes around them."""
    gaps = missing.groupBy("lane").agg(
        F.count(F.lit(1)).alias("records"), F.min("seq").alias("low"), F.max("seq").alias("high")
    )
    around = inside.where(F.col("kind") == OK).join(F.broadcast(gaps), "lane").groupBy("lane")
    edges = around.agg(
        F.max(F.when(F.col("seq") < F.col("low"), F.col("offset"))).alias("before"),
        F.min(F.when(F.col("seq") > F.col("high"), F.col("offset"))).alias("after"),
    )
    by_partition = gaps.join(edges, "lane", "left").groupBy(
        F.expr(f"cast(lane div {WRITERS * ATTEMPTS} as int)").alias("partition")
    )
    found = by_partition.agg(
        F.sum("records").alias("records"),
        # NULL, where a lane has no record on a side, stands for the edge of the range.
        F.min(F.coalesce(F.col("before") + 1, F.lit(-1))).alias("first"),
        F.max(F.coalesce(F.col("after") - 1, F.lit(_NO_EDGE))).alias("last"),
    )
    return [
        {
            "partition": int(row["partition"]),
            "records": int(row["records"]),
            "first": max(int(row["first"]), ranges[row["partition"]][0]),
            "last": min(int(row["last"]), ranges[row["partition"]][1] - 1),
        }
        for row in found.orderBy("partition").collect()
    ]


def _duplicates(inside: DataFrame) -> Found:
    copies = inside.groupBy("lane", "seq").agg(
        F.count(F.lit(1)).alias("copies"), F.slice(F.sort_array(F.collect_list("offset")), 1, 5).alias("offsets")
    )
    copies = copies.where("copies > 1")
    total = int(copies.agg(F.sum(F.col("copies") - 1)).collect()[0][0] or 0)
    if not total:
        return Found()
    copy = F.row_number().over(Window.partitionBy("lane", "seq").orderBy("partition", "offset"))
    repeats = inside.withColumn("copy", copy).where("copy > 1")
    return Found(total, _examples(copies, ["lane", "seq"]), _places(repeats))


def _disorder(inside: DataFrame) -> Found:
    first = F.row_number().over(Window.partitionBy("lane", "seq").orderBy("partition", "offset"))
    rows = inside.withColumn("copy", first).where((F.col("copy") == 1) & (F.col("kind") == OK))
    before = F.lag("seq").over(Window.partitionBy("partition", "lane").orderBy("offset"))
    rows = rows.select("partition", "offset", "lane", "seq", before.alias("after_seq"))
    return _found(rows.where(F.col("seq") < F.col("after_seq")), ["partition", "offset"])


def _found(rows: DataFrame, order: list[str]) -> Found:
    total = rows.count()
    if not total:
        return Found()
    return Found(total, _examples(rows, order), _places(rows) if "offset" in rows.columns else [])


def _places(rows: DataFrame) -> list[dict[str, Any]]:
    """Count the rows that each partition has, and between which offsets."""
    by_partition = rows.groupBy("partition").agg(
        F.count(F.lit(1)).alias("records"), F.min("offset").alias("first"), F.max("offset").alias("last")
    )
    return [
        {name: int(row[name]) for name in ("partition", "records", "first", "last")}
        for row in by_partition.orderBy("partition").collect()
    ]


def _examples(rows: DataFrame, order: list[str]) -> list[dict[str, Any]]:
    return [_example(row.asDict()) for row in rows.orderBy(*order).limit(EXAMPLES).collect()]


def _example(row: dict[str, Any]) -> dict[str, Any]:
    """Numbers of a row, with the lane spelled out: partition is where it is, partition_meant where it belongs."""
    shown: dict[str, Any] = {
        name: row[name] for name in ("partition", "offset", "offsets") if row.get(name) is not None
    }
    if row.get("lane", record.NO_LANE) != record.NO_LANE:
        lane = Lane.of(int(row["lane"]))
        shown |= {
            "partition_meant": lane.partition,
            "writer": lane.writer,
            "attempt": lane.attempt,
            "sequence": row["seq"],
        }
    if row.get("after_seq") is not None:
        shown["after_sequence"] = row["after_seq"]
    return shown
