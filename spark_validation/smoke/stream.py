"""Spark as a stream: the frozen range read once more, and a live probe of end-to-end latency."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from spark_validation.core.session import local_uri, source_options
from spark_validation.smoke import record
from spark_validation.smoke.config import Arguments
from spark_validation.smoke.observed import OTHER_RUN, PartitionSeen
from spark_validation.smoke.topic import Ranges

# Bounds a micro-batch; a range that fits is one batch.
_RECORDS_PER_BATCH = 2_000_000


def stream_range(
    session: SparkSession, arguments: Arguments, topic: str, run_id: str, ranges: Ranges, work: Path
) -> dict[int, PartitionSeen]:
    """Read the frozen range with trigger(availableNow) and return the sums by partition.

    Partitions that the topic gained since are not read, nor those of which nothing is left to read: Spark would miss a
    start for the first and find the start of the others out of range. A stream has a start but no end: what was
    appended after the range was frozen is read and left out, as is what other runs wrote meanwhile. `work` is an empty
    directory for the checkpoint.
    """
    seen: dict[int, PartitionSeen] = {}
    ranges = {index: span for index, span in ranges.items() if span[0] < span[1]}
    if not ranges:
        return seen

    def add(batch: DataFrame, _batch: int) -> None:
        """Add one batch to what was seen."""
        for row in batch.where(F.col("kind") != OTHER_RUN).groupBy("partition").agg(*_digests()).collect():
            index = int(row["partition"])
            so_far = seen.get(index, PartitionSeen(0, 0, 0, 0))
            seen[index] = PartitionSeen(
                so_far.records + int(row["records"]),
                so_far.bytes + int(row["bytes"]),
                so_far.digest_xor ^ int(row["digest_xor"]),
                so_far.digest_sum + int(row["digest_sum"]),
            )

    rows = (
        session.readStream.format("kafka")
        .options(**source_options(arguments))
        .option("assign", json.dumps({topic: sorted(ranges)}))
        .option("startingOffsets", json.dumps({topic: {str(i): start for i, (start, _end) in ranges.items()}}))
        .option("maxOffsetsPerTrigger", _RECORDS_PER_BATCH)
        .load()
    )
    ends = F.create_map(*[F.lit(number) for index, (_start, end) in ranges.items() for number in (index, end)])
    inside = record.classify(rows.where(F.col("offset") < ends[F.col("partition")]), run_id, topic)
    query = (
        inside.writeStream.foreachBatch(add)
        .trigger(availableNow=True)
        .option("checkpointLocation", local_uri(work / "checkpoint-range"))
        .start()
    )
    query.awaitTermination()
    return seen


def _digests() -> list[Column]:
    return [
        F.count(F.lit(1)).alias("records"),
        F.sum("bytes").alias("bytes"),
        F.bit_xor("hash").alias("digest_xor"),
        F.sum(F.expr("hash & 4294967295")).alias("digest_sum"),
    ]
