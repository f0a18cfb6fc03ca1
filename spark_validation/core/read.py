"""Reads frozen ranges of several topics of one cluster with Spark's Kafka source."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from collections.abc import Callable

from pyspark.sql import DataFrame, SparkSession

from spark_validation.core.fields import Reach
from spark_validation.core.session import cores, source_options
from spark_validation.core.sizes import RECORDS_PER_TASK

# A topic name -> partition -> first offset and the one after the last.
TopicRanges = dict[str, dict[int, tuple[int, int]]]
# Reads exactly these ranges, with the columns of Spark's Kafka source and headers.
Reader = Callable[[TopicRanges], DataFrame]
SCHEMA = (
    "key binary, value binary, topic string, partition int, offset bigint, timestamp timestamp, timestampType int, "
    "headers array<struct<key:string,value:binary>>"
)


def reader(session: SparkSession, reach: Reach) -> Reader:
    """A reader of the cluster at `reach`; committed records only, and a loss of data while reading is an error."""

    def read(ranges: TopicRanges) -> DataFrame:
        """Exactly these offsets."""
        wanted = {
            topic: {index: span for index, span in spans.items() if span[0] < span[1]}
            for topic, spans in ranges.items()
        }
        wanted = {topic: spans for topic, spans in wanted.items() if spans}
        if not wanted:
            return session.createDataFrame([], SCHEMA)
        spans = [span for by_partition in wanted.values() for span in by_partition.values()]
        records = sum(end - start for start, end in spans)
        tasks = max(len(spans), min(cores(session), -(-records // 1000)), -(-records // RECORDS_PER_TASK))
        return (
            session.read.format("kafka")
            .options(**source_options(reach))
            .option("assign", json.dumps({topic: sorted(spans) for topic, spans in wanted.items()}))
            .option("minPartitions", tasks)
            .option("startingOffsets", _edge(wanted, 0))
            .option("endingOffsets", _edge(wanted, 1))
            .load()
        )

    return read


def _edge(ranges: TopicRanges, edge: int) -> str:
    return json.dumps(
        {topic: {str(index): span[edge] for index, span in spans.items()} for topic, spans in ranges.items()}
    )
