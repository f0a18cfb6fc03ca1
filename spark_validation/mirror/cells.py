"""Aggregates by cell (pair, partition, bucket of record time): which cells of source and mirror are unequal.

A cell holds count, bytes, XOR and sum of the fingerprints; XOR alone is blind to a record that came twice more. ANSI
arithmetic raises where a bigint overflows, and a decimal for each record takes longer than all else here: so halves of
32 bits are summed, which overflow at 2,000,000,000 records a cell, and put together behind it. `bend` sums fingerprint
times offset: a mirror whose offsets are those of the source plus one number d has
bend(mirror) = bend(source) + d * weight, and a swap breaks that, so that order is proved without a sort wherever
neither side has gaps in its offsets.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from spark_validation.mirror.rows import MAY, MIRROR, MUST
from spark_validation.mirror.seen import Part

CELL = ["pair", "place", "bucket"]
_SIDES = {"a": MUST, "c": MAY, "t": MIRROR}
# 22 bits of fingerprint times 40 bits of offset stay within a bigint.
_WEIGHT, _OFFSET = (1 << 22) - 1, (1 << 40) - 1
_SUMS = ("n", "bytes", "sum", "weight", "bend")
SLOTS = 60
_HALF = 32


def cells(rows: DataFrame) -> DataFrame:
    """Marked rows of both sides -> one row for each cell with the sums of each side and what they say.

    equal -- the mirror's cell is that of the source, up to the frontier or with what came after it
    shift -- target offset minus source offset, when the cell is equal and in order by its sums; else NULL
    """
    weight = F.col("id").bitwiseAND(_WEIGHT)
    halves = rows.groupBy(*CELL, "side").agg(
        F.count(F.lit(1)).alias("n"),
        F.sum("bytes").alias("bytes"),
        F.bit_xor("id").alias("xor"),
        *_halves("sum", F.col("id")),
        F.sum(weight).cast("decimal(38,0)").alias("weight"),
        *_halves("bend", weight * F.col("offset").bitwiseAND(_OFFSET)),
        F.min("offset").alias("low"),
        F.max("offset").alias("high"),
    )
    sums = halves.withColumns({name: _whole(name) for name in ("sum", "bend")})
    columns: list[Column] = []
    for name, side in _SIDES.items():
        mine = F.col("side") == side
        columns += [
            F.coalesce(F.max(F.when(mine, F.col(measure))), F.lit(0)).alias(f"{measure}_{name}")
            for measure in (*_SUMS, "xor")
        ]
        columns += [F.max(F.when(mine, F.col(edge))).alias(f"{edge}_{name}") for edge in ("low", "high")]
    return _judged(sums.groupBy(*CELL).agg(*columns))


def _halves(name: str, number: Column) -> list[Column]:
    """Return the sums of both halves of a number of 64 bits."""
    upper, lower = F.shiftright(number, _HALF), number.bitwiseAND((1 << _HALF) - 1)
    return [F.sum(upper).alias(f"{name}_upper"), F.sum(lower).alias(f"{name}_lower")]


def _whole(name: str) -> Column:
    """Return the sum of numbers by those of their halves."""
    upper = F.col(f"{name}_upper").cast("decimal(20,0)") * F.lit(1 << _HALF).cast("decimal(10,0)")
    return (upper + F.col(f"{name}_lower").cast("decimal(20,0)")).cast("decimal(38,0)")


def _judged(wide: DataFrame) -> DataFrame:
    xor_all = F.col("xor_a").bitwiseXOR(F.col("xor_c"))
    whole = (F.col("xor_a") == F.col("xor_t")) & _same(("n", "bytes", "sum"), more=False)
    ahead = (xor_all == F.col("xor_t")) & _same(("n", "bytes", "sum"), more=True)
    shift = F.when(whole, F.col("low_t") - F.col("low_a")).otherwise(
        F.col("low_t") - F.least("low_a", "low_c")  # least skips NULL
    )
    rows = wide.withColumn("equal", whole | ahead).withColumn("d", shift)
    turned = F.col("d").cast("decimal(20,0)")
    bent = F.when(whole, F.col("bend_a") + turned * F.col("weight_a").cast("decimal(18,0)")).otherwise(
        F.col("bend_a") + F.col("bend_c") + turned * (F.col("weight_a") + F.col("weight_c")).cast("decimal(18,0)")
    )
    return rows.withColumn("shift", F.when(F.col("equal") & (bent == F.col("bend_t")), F.col("d"))).drop("d")


def _same(measures: tuple[str, ...], more: bool) -> Column:
    both = F.lit(True)
    for name in measures:
        source = F.col(f"{name}_a") + F.col(f"{name}_c") if more else F.col(f"{name}_a")
        both = both & (source == F.col(f"{name}_t"))
    return both


def by_part(summed: DataFrame) -> dict[Part, dict[str, int]]:
    """Records and bytes by partition (by pair where partitions are not kept), and its cells."""
    names = [f"{measure}_{side}" for measure in ("n", "bytes") for side in _SIDES]
    rows = summed.groupBy("pair", "place").agg(
        *[F.sum(name).alias(name) for name in names],
        F.count(F.lit(1)).alias("cells"),
        F.sum((~F.col("equal")).cast("int")).alias("unequal_cells"),
    )
    return {
        (int(row["pair"]), int(row["place"])): {
            name: int(value) for name, value in row.asDict().items() if name not in ("pair", "place")
        }
        for row in rows.collect()
    }


def by_pair(parts: Mapping[Part, Mapping[str, int]]) -> dict[int, dict[str, int]]:
    """Sum up `by_part` by pair."""
    pairs: dict[int, dict[str, int]] = {}
    for (pair, _place), sums in parts.items():
        whole = pairs.setdefault(pair, dict.fromkeys(sums, 0))
        for name, value in sums.items():
            whole[name] += value
    return pairs


def slots(summed: DataFrame, bucket_ms: int, timeless: list[int]) -> list[dict[str, Any]]:
    """At most SLOTS slots of record time with the records of each side, for the plot; without the timeless topics."""
    timed = summed.where(~F.col("pair").isin(timeless)) if timeless else summed
    ends = timed.agg(F.min("bucket"), F.max("bucket")).collect()[0]
    if ends[0] is None:
        return []
    first, width = int(ends[0]), -(-(int(ends[1]) - int(ends[0]) + 1) // SLOTS)
    slot = F.floor((F.col("bucket") - first) / width)
    rows = timed.groupBy(slot.alias("slot")).agg(
        F.sum("n_a").alias("source"), F.sum("n_c").alias("beyond"), F.sum("n_t").alias("target")
    )
    return [
        {
            "began_ms": (first + int(row["slot"]) * width) * bucket_ms,
            "width_ms": width * bucket_ms,
            **{name: int(row[name]) for name in ("source", "beyond", "target")},
        }
        for row in sorted(rows.collect(), key=lambda row: int(row["slot"]))
    ]


def suspects(summed: DataFrame) -> list[tuple[int, int]]:
    """Partitions (pair, place) that hold records on both sides and whose order the sums do not prove."""
    straight = F.min(F.col("shift").isNotNull() & F.col("equal")).alias("straight")
    apart = (F.max("shift") - F.min("shift")).alias("apart")
    rows = (
        summed.where("n_t > 0 or n_a > 0")
        .groupBy("pair", "place")
        .agg(straight, apart, F.sum("n_t").alias("n_t"), F.sum("n_a").alias("n_a"))
    )
    rows = rows.where("n_t > 1 and n_a > 0 and (not straight or apart <> 0)").select("pair", "place")
    return [(int(row["pair"]), int(row["place"])) for row in rows.collect()]


def edges(bad: DataFrame) -> list[dict[str, int | None]]:
    """By partition (pair, place), the offsets between which the records of `bad` cells lie on each side."""
    rows = bad.groupBy("pair", "place").agg(
        F.min(F.least("low_a", "low_c")).alias("source_low"),
        F.max(F.greatest("high_a", "high_c")).alias("source_high"),
        F.min("low_t").alias("target_low"),
        F.max("high_t").alias("target_high"),
    )
    return [row.asDict() for row in rows.collect()]
