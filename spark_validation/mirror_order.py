"""Whether the mirror kept the order of a partition where the sums of its cells do not prove it: the step that sorts.

Repeats are removed first: the nth copy of a record on the source meets the nth on the target, further copies meet
nothing. A mirror that goes back and comes forward again has its first copies in order.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from spark_validation.mirror_rows import MIRROR
from spark_validation.mirror_seen import DISORDER

_PLACE = ["pair", "place"]


def disorder(rows: DataFrame, marks: DataFrame | None) -> DataFrame:
    """Marked rows of whole partitions -> the source's records that stand before their predecessor on the target.

    marks -- see mirror_anchors: what stands before them is left out, since its other copy may have been removed
    """
    mirror = F.col("side") == MIRROR
    if marks is not None:
        rows = rows.join(F.broadcast(marks), _PLACE, "left")
        rows = rows.where(mirror | (F.col("offset") >= F.coalesce("judged_from", F.lit(-1))))
        rows = rows.where(~mirror | (F.col("offset") >= F.coalesce("known_from", F.lit(-1))))
    nth = F.row_number().over(Window.partitionBy(*_PLACE, "id", mirror).orderBy("offset"))
    carried = [*_PLACE, "id", "partition", "offset", "ts", "key", "size"]
    rows = rows.withColumn("nth", nth).select("side", "nth", *carried)
    source = rows.where(~mirror).drop("side")
    target = rows.where(mirror).select(*_PLACE, "id", "nth", F.col("offset").alias("target_offset"))
    both = source.join(target, [*_PLACE, "id", "nth"])
    before = F.lag("target_offset").over(Window.partitionBy(*_PLACE).orderBy("offset"))
    late = both.withColumn("before", before).where(F.col("target_offset") < F.col("before"))
    return late.withColumn("kind", F.lit(DISORDER))
