"""Where source and mirror begin to overlap when retention has cut the start of either. Pure DataFrame to DataFrame.

Offsets of the two sides are not comparable, and times are not in order, but the mirror keeps the order of a partition.
So the first records that the target still holds mark a place in the source: what stands before it in the source may
have been on the target once, and cannot be judged. Likewise the first records that the source still holds mark a place
in the target: what stands before it came from records that the source no longer has.

Repeats: a mirror that restarts goes back and comes forward again. Behind the **last** copy of a record everything that
follows it in the source follows on the target, and nothing older; so the last copy is the mark, on either side. What
the source itself holds more than once marks nothing.
The legacy engine keeps no partitions, hence no order; there the times of the first records take the place of the marks,
unless a partition lost all it had, or the target stamps its own time: then nothing of a side that was cut is judged.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from spark_validation.mirror.rows import ANY_PARTITION, MIRROR
from spark_validation.mirror.seen import Scope

# So many offsets at a start are looked at for a record that the other side has.
FIRST = 200
_PLACE = ["pair", "place"]
_NEVER = 2**62


def marks(session: SparkSession, scopes: list[Scope], rows: DataFrame, firsts: DataFrame, keeps: bool) -> DataFrame:
    """By partition (pair, place): `judged_from`, a source offset, and `known_from`, a target offset.

    rows   -- marked rows of both sides, with every copy of the records in `firsts`
    firsts -- marked rows of the first FIRST offsets of both sides
    Losses before judged_from and phantoms before known_from are not judged. Without partitions (legacy) both are times.
    """
    cut = session.createDataFrame(
        sorted(
            {
                (
                    scope.number,
                    span.partition if keeps else ANY_PARTITION,
                    span.cut_source,
                    span.cut_target,
                    not keeps and (scope.timeless or _emptied(span.source)),
                    not keeps and (scope.timeless or _emptied(span.target)),
                )
                for scope in scopes
                for span in scope.spans
            }
        ),
        "pair int, place int, cut_source boolean, cut_target boolean, no_source boolean, no_target boolean",
    )
    flags = ("cut_source", "cut_target", "no_source", "no_target")
    cut = cut.groupBy(*_PLACE).agg(*[F.max(flag).alias(flag) for flag in flags])
    found = _by_order(rows, firsts) if keeps else _by_time(firsts)
    joined = cut.join(found, _PLACE, "left")
    judged = (
        F.when(~F.col("cut_target"), -1)
        .when(F.col("no_target"), _NEVER)
        .otherwise(F.coalesce("in_source", F.when(F.col("in_target").isNotNull(), -1), F.lit(_NEVER)))
    )
    known = (
        F.when(~F.col("cut_source"), -1)
        .when(F.col("no_source"), _NEVER)
        .otherwise(F.coalesce("in_target", F.when(F.col("in_source").isNotNull(), -1), F.lit(_NEVER)))
    )
    return joined.select(*_PLACE, judged.alias("judged_from"), known.alias("known_from"))


def _emptied(span: tuple[int, int] | None) -> bool:
    return span is not None and span[0] == span[1] > 0


def _by_order(rows: DataFrame, firsts: DataFrame) -> DataFrame:
    mirror = F.col("side") == MIRROR
    once = rows.where(~mirror).groupBy(*_PLACE, "id").count().where("count = 1")
    last = rows.groupBy(*_PLACE, "id", mirror.alias("mirror")).agg(F.max("offset").alias("last"))
    met = firsts.select(*_PLACE, "id", "offset", (~mirror).alias("mirror")).join(last, [*_PLACE, "id", "mirror"])
    met = met.join(once, [*_PLACE, "id"], "left_semi")
    first = {
        name: F.min_by(F.when(side, F.col("last")), F.when(side, F.col("offset"))).alias(name)
        for name, side in {"in_source": ~F.col("mirror"), "in_target": F.col("mirror")}.items()
    }
    return met.groupBy(*_PLACE).agg(*first.values())


def _by_time(firsts: DataFrame) -> DataFrame:
    """The latest time among the first records of the partitions of each side: before it something may be gone."""
    mirror = F.col("side") == MIRROR
    each = firsts.groupBy(*_PLACE, "partition", mirror.alias("mirror")).agg(F.max("ts").alias("ts"))
    return each.groupBy(*_PLACE).agg(
        F.max(F.when(F.col("mirror"), F.col("ts"))).alias("in_source"),
        F.max(F.when(~F.col("mirror"), F.col("ts"))).alias("in_target"),
    )
