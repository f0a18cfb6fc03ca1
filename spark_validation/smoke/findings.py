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
from spark_validation.smoke.geometry import Lane
from spark_validation.smoke.ledger import Ledger
from spark_validation.smoke.observed import CORRUPT, EXAMPLES, MISROUTED, OK, TOMBSTONE, Findings, Found


def exact(
    session: SparkSession,
    topic_rows: DataFrame,
    ledger: Ledger,
    suspects: dict[int, int],
    strange: list[int],
    odd: list[int],
) -> tuple[Findings, list[dict[str, Any]]]:
    """All lists of one audit: `suspects` (lane number -> size), lanes of strangers, and kinds of odd records."""
    classified = record.classify(topic_rows, ledger.run_id, ledger.topic)
    found = lane_findings(session, topic_rows, classified, suspects) if suspects else Findings()
    found = replace(found, odd=odd_records(classified, odd))
    return found, strangers(classified, strange) if strange else []


def lane_findings(
    session: SparkSession, topic_rows: DataFrame, classified: DataFrame, lanes: dict[int, int]
) -> Findings:
    """Compare the suspect `lanes` (number -> size) record by record with what they must hold.

    `topic_rows` are the rows of the Kafka source, `classified` the same rows out of `record.classify`.
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
        return Findings(
            lost=_found(expected.join(present, ["lane", "seq"], "left_anti"), ["lane", "seq"]),
            duplicated=_duplicates(inside),
            out_of_order=_disorder(inside),
            unknown=_found(ours.where((F.col("seq") < 0) | (F.col("seq") >= F.col("size"))), ["lane", "seq", "offset"]),
        )
    finally:
        ours.unpersist()


def odd_records(classified: DataFrame, kinds: list[int]) -> dict[int, list[dict[str, Any]]]:
    """The first EXAMPLES records (partition and offset) of each of `kinds`."""
    examples: dict[int, list[dict[str, Any]]] = {}
    for kind in kinds:
        rows = classified.where(F.col("kind") == kind).select("partition", "offset", "lane", "seq")
        examples[kind] = [
            _example(row.asDict()) for row in rows.orderBy("partition", "offset").limit(EXAMPLES).collect()
        ]
    return examples


def strangers(classified: DataFrame, lanes: list[int]) -> list[dict[str, Any]]:
    """The first EXAMPLES records that claim writers or attempts which the ledger does not know."""
    rows = classified.where((F.col("kind") <= MISROUTED) & F.col("lane").isin(lanes))
    rows = rows.select("partition", "offset", "lane", "seq").orderBy("partition", "offset").limit(EXAMPLES)
    return [_example(row.asDict()) for row in rows.collect()]


def _duplicates(inside: DataFrame) -> Found:
    copies = inside.groupBy("lane", "seq").agg(
        F.count(F.lit(1)).alias("copies"), F.slice(F.sort_array(F.collect_list("offset")), 1, 5).alias("offsets")
    )
    copies = copies.where("copies > 1")
    total = copies.agg(F.sum(F.col("copies") - 1)).collect()[0][0]
    return Found(int(total or 0), _examples(copies, ["lane", "seq"]))


def _disorder(inside: DataFrame) -> Found:
    first = F.row_number().over(Window.partitionBy("lane", "seq").orderBy("partition", "offset"))
    rows = inside.withColumn("copy", first).where((F.col("copy") == 1) & (F.col("kind") == OK))
    before = F.lag("seq").over(Window.partitionBy("partition", "lane").orderBy("offset"))
    rows = rows.select("partition", "offset", "lane", "seq", before.alias("after_seq"))
    return _found(rows.where(F.col("seq") < F.col("after_seq")), ["partition", "offset"])


def _found(rows: DataFrame, order: list[str]) -> Found:
    total = rows.count()
    return Found(total, _examples(rows, order) if total else [])


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
