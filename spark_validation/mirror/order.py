"""Whether the mirror kept the order of a partition where the sums of its cells do not prove it: the step that sorts.

Repeats are removed first: a record meets its first copy on the target, further copies meet nothing. A mirror that goes
back and comes forward again has its first copies in order. A record that the source itself holds more than once is left
out: which of its copies a repeat stands for is not known.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from spark_validation.mirror.rows import MIRROR
from spark_validation.mirror.seen import DISORDER

_PLACE = ["pair", "place"]


def disorder(rows: DataFrame, marks: DataFrame | None) -> DataFrame:
    """Marked rows of whole partitions -> the source's records that stand before their predecessor on the target.

    marks -- see anchors.py: what stands before them is left out, since its other copy may have been removed
    """
    mirror = F.col("side") == MIRROR
    copies = F.count(F.lit(1)).over(Window.partitionBy(*_PLACE, "id", mirror))
    rows = rows.withColumn("copies", copies)
    if marks is not None:
        rows = rows.join(F.broadcast(marks), _PLACE, "left")
        rows = rows.where(mirror | (F.col("offset") >= F.coalesce("judged_from", F.lit(-1))))
        rows = rows.where(~mirror | (F.col("offset") >= F.coalesce("known_from", F.lit(-1))))
    source = rows.where(~mirror & (F.col("copies") == 1))
    source = source.select(*_PLACE, "id", "partition", "offset", "ts", "key", "size")
    target = rows.where(mirror).groupBy(*_PLACE, "id").agg(F.min("offset").alias("target_offset"))
    both = source.join(target, [*_PLACE, "id"])
    before = F.lag("target_offset").over(Window.partitionBy(*_PLACE).orderBy("offset"))
    late = both.withColumn("before", before).where(F.col("target_offset") < F.col("before"))
    return late.withColumn("kind", F.lit(DISORDER))
