"""Counts the records of a proof by partition and kind: one pass over the topic, one sort for the order.

A record of a proof holds the text `PROOF KIND NUMBER`; the numbers of one kind rise in each partition.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

#: By which producer a record is: the idempotent one, or the transactional one.
KINDS = ("idempotent", "transactional")


@dataclass(frozen=True)
class Counted:
    """The records of one kind in one partition.

    `out_of_order`: those whose number is lower than the highest before them. `checksum`: the sum of crc32 of the texts
    `PARTITION OFFSET VALUE`. Field names are those of result.json.
    """

    partition: int
    kind: str
    records: int
    distinct: int
    first: int
    last: int
    out_of_order: int
    checksum: int


def count(rows: DataFrame, proof: str) -> tuple[list[Counted], int]:
    """The records of this proof, by partition and kind; and how many others the rows hold."""
    # A number of 19 digits may be too large for Spark, and no proof has so many records. \z: the very end of the text.
    pattern = rf"\A{proof} ({'|'.join(KINDS)}) ([0-9]{{1,18}})\z"
    text = F.coalesce(F.col("value").cast("string"), F.lit(""))
    kind = F.regexp_extract("text", pattern, 1)
    number = F.regexp_extract("text", pattern, 2)
    before = Window.partitionBy("partition", "kind").orderBy("offset").rowsBetween(Window.unboundedPreceding, -1)
    place = (F.col("partition").cast("string"), F.col("offset").cast("string"))
    found = (
        rows.select("partition", "offset", text.alias("text"))
        .withColumn("kind", kind)
        .withColumn("number", F.when(number != "", number.cast("bigint")))
        .withColumn("falls", F.col("number") < F.max("number").over(before))
        .groupBy("partition", "kind")
        .agg(
            F.count("*").alias("records"),
            F.countDistinct("number").alias("distinct"),
            F.min("number").alias("first"),
            F.max("number").alias("last"),
            F.count_if("falls").alias("out_of_order"),
            F.sum(F.crc32(F.concat_ws(" ", *place, "text"))).alias("checksum"),
        )
        .collect()
    )
    ours = [Counted(**row.asDict()) for row in found if row.kind]
    others = sum(row.records for row in found if not row.kind)
    return sorted(ours, key=lambda one: (one.partition, one.kind)), others
