"""Compacted topics: the latest value of each key, since compaction may have removed anything but that on either side.

The latest value up to the frontier must be the target's latest, or a value that the source got after the frontier.
A key that got one after the frontier is in motion: the source's compaction may have removed meanwhile what the target
still shows, so a value that is found nowhere is `in_flux`, which decides nothing. A key that the target does not show
at all is lost, unless one of the newer records is its tombstone.
A key whose latest record is a tombstone is gone: the target may still show the tombstone, or nothing.
Compaction works by partition, so a key that stands in two of them (the topic has grown) has a latest value in each.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from spark_validation.mirror.records import by_retention
from spark_validation.mirror.rows import MAY, MIRROR, MUST
from spark_validation.mirror.seen import CHANGED, EXPIRED, IN_FLUX, LOST, PHANTOM

# Two hashes, so that two of a thousand million keys do not meet by chance.
_KEY = ["pair", "place", "key_hash", "key_check"]
_SHOWN = ("offset", "partition", "ts", "id", "size", "value_hash", "headers_hash", "ts_cmp", "key")


def latest(rows: DataFrame) -> DataFrame:
    """Marked rows -> by key the last record of each side (structs must, may, mirror; NULL where there is none)."""
    record = F.struct(*_SHOWN)
    # A mirror that keeps no partitions still keeps one key in one partition, so offsets order its records.
    sides = {"must": MUST, "may": MAY, "mirror": MIRROR}
    return rows.groupBy(*_KEY).agg(
        *[F.max(F.when(F.col("side") == side, record)).alias(name) for name, side in sides.items()]
    )


def differing(by_key: DataFrame, later: DataFrame, cut: DataFrame, promised: DataFrame, from_ms: int) -> DataFrame:
    """`latest` of marked rows -> the keys that are wrong, shaped like `records.changes`.

    later    -- the marked rows of the source beyond the frontier
    cut      -- by pair: cut_source, cut_target, whether retention has removed old records
    promised -- pair, promised_from (ms) and sized, see records.excused
    from_ms  -- a key that only one side has, with a record older than this, is not judged
    """
    source, target = F.col("must"), F.col("mirror")
    alive, shown = _alive("must"), _alive("mirror")
    same = source["id"] == target["id"]
    wrong = by_key.where((alive | shown) & ~F.coalesce(same, F.lit(False)))
    wrong = wrong.join(_known_later(later, wrong), _KEY, "left_anti")
    wrong = wrong.join(_deleted_later(later), _KEY, "left")
    wrong = wrong.join(F.broadcast(cut), "pair", "left").join(F.broadcast(promised), "pair", "left")
    old = F.coalesce(source["ts"], target["ts"]) < from_ms
    gone = F.isnull("mirror") & F.col("cut_target")
    older = F.isnull("must") & F.col("cut_source")
    kind = F.coalesce(
        F.when(F.isnotnull("may") & (F.isnotnull("mirror") | F.col("deleted")), IN_FLUX),
        F.when(old & (F.isnull("must") | F.isnull("mirror")), EXPIRED),
        by_retention(gone, older, F.coalesce(source["ts"], target["ts"])),
        F.when(F.isnull("mirror"), LOST).when(F.isnull("must"), PHANTOM).otherwise(CHANGED),
    )
    columns = [
        F.col(struct)[name].alias(f"{prefix}_{name}")
        for prefix, struct in (("s", "must"), ("t", "mirror"))
        for name in _SHOWN
    ]
    differs = {"value": "value_hash", "headers": "headers_hash", "timestamp": "ts_cmp"}
    what = F.concat_ws(", ", *[F.when(source[name] != target[name], F.lit(word)) for word, name in differs.items()])
    return wrong.select("pair", *columns, kind.alias("kind"), what.alias("what"))


def _alive(side: str) -> Column:
    return F.coalesce(F.col(side)["size"].isNotNull(), F.lit(False))


def _known_later(later: DataFrame, wrong: DataFrame) -> DataFrame:
    """Keys of `wrong` whose value on the target the source got after the frontier, as one of possibly many."""
    shown = wrong.where(F.isnotnull("may")).select(*_KEY, F.col("mirror")["id"].alias("id"))
    return later.join(shown, [*_KEY, "id"], "left_semi").select(*_KEY).distinct()


def _deleted_later(later: DataFrame) -> DataFrame:
    """Keys that the source deleted after the frontier, with `deleted`."""
    return later.where(F.isnull("size")).select(*_KEY).distinct().withColumn("deleted", F.lit(True))


def by_pair(by_key: DataFrame) -> dict[int, dict[str, int]]:
    """Count the keys that each side has, by pair, under the names of `cells.by_pair`."""
    counted = {"n_a": "must", "n_c": "may", "n_t": "mirror"}
    rows = by_key.groupBy("pair").agg(*[F.count(struct).alias(name) for name, struct in counted.items()]).collect()
    return {int(row["pair"]): {name: int(row[name]) for name in counted} for row in rows}
