"""Exact lists for the unequal cells: lost, phantom, changed and repeated records, each booked once.

A record is its fingerprint. With `a` copies on the source up to the frontier, `c` beyond it and `t` on the target,
a - t copies are lost when t < a, and t - (a + c) are too many when t > a + c: repeats if the source knows the record,
phantoms if not. A loss and a phantom that are one record are a **change**: paired by key and time in the order of their
offsets, then by content (the time changed), then by the whole fingerprint in another partition, then by time (the key
changed).
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

from pyspark.sql import Column, DataFrame, Row, Window
from pyspark.sql import functions as F  # noqa: N812

from spark_validation.core.result import calendar
from spark_validation.mirror.rows import MAY, MIRROR, MUST
from spark_validation.mirror.seen import (
    CHANGED,
    DISORDER,
    DUPLICATED,
    EXPIRED,
    LOST,
    PHANTOM,
    UNJUDGED,
    Found,
    Scope,
)

_PARTITION = ["pair", "place"]
_IDENTITY = [*_PARTITION, "id"]
_CARRIED = (
    "partition",
    "offset",
    "ts",
    "ts_cmp",
    "timeless",
    "id",
    "key_hash",
    "value_hash",
    "headers_hash",
    "size",
    "key",
)


def differing(rows: DataFrame) -> DataFrame:
    """The single records of marked rows that the other side lacks, with `kind`: lost, phantom or duplicated."""
    counts = rows.groupBy(*_IDENTITY).agg(
        *[F.sum((F.col("side") == side).cast("bigint")).alias(name) for name, side in _COUNTED.items()]
    )
    odd = counts.where("t < a or t > a + c")
    # Which of equal records is missing or too many is not known. Of the source it is the first, which retention may
    # have taken on the target; of the target the last, since repeats come after what they repeat.
    place = F.when(F.col("side") == MUST, -F.col("offset")).otherwise(F.col("offset"))
    copy = F.row_number().over(Window.partitionBy(*_IDENTITY, "side").orderBy("partition", place))
    ranked = rows.where(F.col("side") != MAY).join(odd, _IDENTITY).withColumn("copy", copy)
    kind = (
        F.when((F.col("side") == MUST) & (F.col("copy") > F.col("t")), LOST)
        .when((F.col("side") == MIRROR) & (F.expr("a + c") == 0), PHANTOM)
        .when((F.col("side") == MIRROR) & (F.col("copy") > F.expr("a + c")), DUPLICATED)
    )
    found = ranked.withColumn("kind", kind).where(F.col("kind").isNotNull())
    return found.select("pair", "place", "kind", (F.col("side") == MIRROR).alias("on_target"), *_CARRIED)


_COUNTED = {"a": MUST, "c": MAY, "t": MIRROR}


def excused(odd: DataFrame, marks: DataFrame, promised: DataFrame, by_offset: bool) -> DataFrame:
    """`differing` rows where those that retention may explain are `unjudged` or `expired` instead.

    marks    -- by partition, see anchors.py
    promised -- pair, promised_from (ms) and sized: what the source still promises, and whether it limits its size too
    """
    rows = odd.join(F.broadcast(marks), ["pair", "place"], "left").join(F.broadcast(promised), "pair", "left")
    place = F.col("offset") if by_offset else F.col("ts")
    gone = (F.col("kind") == LOST) & (place < F.coalesce("judged_from", F.lit(-1)))
    older = (F.col("kind") == PHANTOM) & (place < F.coalesce("known_from", F.lit(-1)))
    kind = F.coalesce(by_retention(gone, older, F.col("ts")), "kind")
    return rows.withColumn("kind", kind).drop("judged_from", "known_from", "promised_from", "sized")


def by_retention(gone: Column, older: Column, ts: Column) -> Column:
    """Name a record that one side may have removed: `unjudged`, `expired`, or NULL where that explains nothing.

    gone -- the target may have removed it; older -- the source may; beside columns of `promised`, see `excused`
    """
    held = ts >= F.coalesce("promised_from", F.lit(-1))
    return F.when((gone & held) | (older & held & ~F.col("sized")), UNJUDGED).when(gone | older, EXPIRED)


def changes(odd: DataFrame) -> DataFrame:
    """Lost and phantom rows -> the same with what belongs together as one row of kind `changed`.

    Columns of the source's record have the prefix s_, those of the target's t_; either side is NULL where it is alone.
    """
    lost = odd.where(F.col("kind") == LOST).select("pair", *_prefixed("s"))
    phantom = odd.where(F.col("kind") == PHANTOM).select("pair", *_prefixed("t"))
    paired: DataFrame | None = None
    for keys in _ROUNDS:
        both = _numbered(lost, "s", keys).join(_numbered(phantom, "t", keys), ["pair", "paired_by", "nth"], "full")
        both = both.drop("paired_by", "nth").localCheckpoint()
        matched = both.where("s_offset is not null and t_offset is not null")
        paired = matched if paired is None else paired.union(matched)
        lost = both.where("t_offset is null").select("pair", *_columns("s"))
        phantom = both.where("s_offset is null").select("pair", *_columns("t"))
    empty = [F.lit(None).cast(kind).alias(name) for name, kind in dict(lost.dtypes).items() if name != "pair"]
    none = [F.lit(None).cast(kind).alias(name) for name, kind in dict(phantom.dtypes).items() if name != "pair"]
    assert paired is not None
    names = ["pair", *_columns("s"), *_columns("t")]
    rest = lost.select("*", *none).select(*names).union(phantom.select("*", *empty).select(*names))
    everything = paired.select(*names).union(rest)
    kind = F.when(F.isnull("t_offset"), LOST).when(F.isnull("s_offset"), PHANTOM).otherwise(CHANGED)
    return everything.select(*names, kind.alias("kind"), _what().alias("what"))


# Each way to tell that a loss and a phantom are one record: what must be the same in both.
_ROUNDS: tuple[tuple[str, ...], ...] = (
    ("place", "key_hash", "ts_cmp"),
    ("place", "key_hash", "value_hash", "headers_hash"),
    ("id",),
    ("place", "timed", "ts_cmp"),
)


def _numbered(rows: DataFrame, side: str, keys: tuple[str, ...]) -> DataFrame:
    # A record without a time is like every other one without: `timed` is its own then, so that it meets nobody.
    timed = F.when(F.col(f"{side}_timeless"), F.xxhash64(F.lit(side), f"{side}_partition", f"{side}_offset"))
    columns = [timed if key == "timed" else F.col(f"{side}_{key}") for key in keys]
    rows = rows.withColumn("paired_by", F.xxhash64(*[F.coalesce(column, F.lit(0)) for column in columns]))
    order = Window.partitionBy("pair", "paired_by").orderBy(f"{side}_partition", f"{side}_offset")
    return rows.withColumn("nth", F.row_number().over(order))


def _columns(side: str) -> list[str]:
    return [f"{side}_{name}" for name in ("place", *_CARRIED)]


def _prefixed(side: str) -> list[Column]:
    return [F.col(name).alias(f"{side}_{name}") for name in ("place", *_CARRIED)]


def _what() -> Column:
    differs = {
        "key": "key_hash",
        "value": "value_hash",
        "headers": "headers_hash",
        "timestamp": "ts_cmp",
        "partition": "place",
    }
    return F.concat_ws(
        ", ", *[F.when(F.col(f"s_{column}") != F.col(f"t_{column}"), F.lit(name)) for name, column in differs.items()]
    )


def disorder(rows: DataFrame, marks: DataFrame | None) -> DataFrame:
    """Marked rows of whole partitions -> the source's records that stand before their predecessor on the target.

    marks -- see anchors.py: what stands before them is left out, since its other copy may have been removed

    The one step that sorts, for partitions whose order the sums of their cells do not prove. Repeats are removed first:
    a record meets its first copy on the target, and a mirror that goes back and comes forward again has its first
    copies in order. A record that the source itself holds more than once is left out: which of its copies a repeat
    stands for is not known.
    """
    mirror = F.col("side") == MIRROR
    copies = F.count(F.lit(1)).over(Window.partitionBy(*_PARTITION, "id", mirror))
    rows = rows.withColumn("copies", copies)
    if marks is not None:
        rows = rows.join(F.broadcast(marks), _PARTITION, "left")
        rows = rows.where(mirror | (F.col("offset") >= F.coalesce("judged_from", F.lit(-1))))
        rows = rows.where(~mirror | (F.col("offset") >= F.coalesce("known_from", F.lit(-1))))
    source = rows.where(~mirror & (F.col("copies") == 1))
    source = source.select(*_PARTITION, "id", "partition", "offset", "ts", "key", "size")
    target = rows.where(mirror).groupBy(*_PARTITION, "id").agg(F.min("offset").alias("target_offset"))
    both = source.join(target, [*_PARTITION, "id"])
    before = F.lag("target_offset").over(Window.partitionBy(*_PARTITION).orderBy("offset"))
    late = both.withColumn("before", before).where(F.col("target_offset") < F.col("before"))
    return late.withColumn("kind", F.lit(DISORDER))


def listed(rows: DataFrame, kinds: tuple[str, ...], scopes: list[Scope], examples: int) -> dict[str, Found]:
    """Rows with a `kind` -> how many of each kind, by pair, and at most `examples` of each with their place."""
    totals: dict[str, dict[int, int]] = {kind: {} for kind in kinds}
    for row in rows.groupBy("kind", "pair").count().collect():
        totals.setdefault(row["kind"], {})[int(row["pair"])] = int(row["count"])
    by_number = {scope.number: scope for scope in scopes}
    found = {}
    for kind, counted in totals.items():
        first = rows.where(F.col("kind") == kind).orderBy("pair", *_order(rows)).limit(examples) if counted else None
        shown = [example(row, by_number[int(row["pair"])]) for row in first.collect()] if first else []
        found[kind] = Found(sum(counted.values()), counted, shown)
    return found


def _order(rows: DataFrame) -> list[Column]:
    if "s_offset" in rows.columns:
        return [F.coalesce("s_partition", "t_partition"), F.coalesce("s_offset", "t_offset")]
    return [F.col("partition"), F.col("offset")]


def example(row: Row, scope: Scope) -> dict[str, Any]:
    """One row of `changes` or `differing` as a report shows it: where it stands on each side, when, and its key."""
    values = row.asDict()
    if "s_offset" in values:
        source, target = _side(values, "s_"), _side(values, "t_")
    else:
        source, target = (None, values) if values.get("on_target") else (values, None)
    one: dict[str, Any] = source or target or {}
    shown: dict[str, Any] = {
        "topic": scope.source if source else scope.target,
        "partition": one["partition"],
        "source_offset": source["offset"] if source else None,
        "target_offset": target["offset"] if target else values.get("target_offset"),
        "timestamp": moment(one["ts"]),
        "key": preview(one["key"]),
    }
    if source and target:
        shown |= {
            "differs_in": values.get("what"),
            "source_value": size(source["size"]),
            "target_value": size(target["size"]),
        }
        if source["partition"] != target["partition"]:
            shown["target_partition"] = target["partition"]
    else:
        shown["value"] = size(one["size"])
    return shown


def _side(values: dict[str, Any], prefix: str) -> dict[str, Any] | None:
    if values[f"{prefix}offset"] is None:
        return None
    return {name.removeprefix(prefix): value for name, value in values.items() if name.startswith(prefix)}


def moment(ts: int) -> str:
    """Epoch milliseconds as text (UTC); a number that no calendar has stays a number."""
    date = calendar(ts)
    return f"{ts} ms" if date is None else date.isoformat(timespec="milliseconds")


def preview(key: Any) -> str:
    """The start of a key as text: printable ASCII as it is, else hexadecimal digits."""
    if key is None:
        return "none"
    raw = bytes(key)
    text = raw.decode("ascii", "replace")
    return text if text.isprintable() and "\N{REPLACEMENT CHARACTER}" not in text else "0x" + raw.hex()


def size(value: int | None) -> str:
    """Return what a value is by its size: a tombstone has none."""
    return "tombstone" if value is None else f"{value:,} bytes"
