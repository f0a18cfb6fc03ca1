"""Rows of two topics -> fingerprints that can be compared. Pure DataFrame to DataFrame.

xxhash64 skips NULLs, so (NULL, 'a') and ('a', NULL) have one hash, and a tombstone would pass for an empty value
(measured on Spark 4.2). Each field that may be NULL is therefore hashed together with whether it is.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from spark_validation.mirror.seen import Scope

# Sides of a comparison: source up to the frontier, source beyond it, target.
MUST, MAY, MIRROR = 0, 1, 2
# Cells of a topic whose records have no time in common with those of the mirror: this many by fingerprint.
_TIMELESS_CELLS = 256
_PREVIEW = 40
ANY_PARTITION = -1


def bounds(session: SparkSession, scopes: list[Scope], side: str, keeps_partitions: bool = True) -> DataFrame:
    """One small row for each partition of `side`: topic, partition, pair, place, timeless, frontier."""
    rows = [
        (
            getattr(scope, side),
            span.partition,
            scope.number,
            span.partition if keeps_partitions else ANY_PARTITION,
            scope.timeless,
            -1 if span.frontier is None else span.frontier,
        )
        for scope in scopes
        for span in scope.spans
    ]
    schema = "topic string, partition int, pair int, place int, timeless boolean, frontier bigint"
    return session.createDataFrame(rows, schema)


def marked(rows: DataFrame, places: DataFrame, side: str, bucket_ms: int, from_ms: int | None = None) -> DataFrame:
    """Rows of Spark's Kafka source (with headers) and `bounds` -> the columns of a comparison.

    side, pair, place, partition, offset, ts (ms), ts_cmp (0 where times do not count), id (fingerprint of all that
    counts), bucket, bytes, and what the exact lists need: hashes of key, value and headers, sizes, a key preview.
    """
    joined = rows.join(F.broadcast(places), ["topic", "partition"])
    time = F.unix_millis("timestamp")
    if from_ms is not None:
        joined = joined.where(F.col("timeless") | (time >= from_ms))
    compared = F.when(F.col("timeless"), F.lit(0)).otherwise(time)
    which = F.lit(MIRROR) if side == "target" else F.when(F.col("offset") <= F.col("frontier"), MUST).otherwise(MAY)
    # One projection for the fingerprint, the next for what follows from it: each is computed once.
    rows = joined.select(
        which.alias("side"),
        "pair",
        "place",
        "partition",
        "offset",
        "timeless",
        time.alias("ts"),
        compared.alias("ts_cmp"),
        F.xxhash64(*_parts("key"), *_parts("value"), _headers(), compared).alias("id"),
        F.xxhash64(*_parts("key")).alias("key_hash"),
        F.hash(*_parts("key")).alias("key_check"),
        F.xxhash64(*_parts("value")).alias("value_hash"),
        _headers().alias("headers_hash"),
        F.length("value").alias("size"),
        (F.coalesce(F.length("key"), F.lit(0)) + F.coalesce(F.length("value"), F.lit(0))).alias("bytes"),
        F.substring("key", 1, _PREVIEW).alias("key"),
    )
    by_print = F.pmod(F.col("id"), F.lit(_TIMELESS_CELLS))
    bucket = F.when(F.col("timeless"), by_print).otherwise(F.floor(F.col("ts") / bucket_ms))
    return rows.withColumn("bucket", bucket)


def _parts(name: str) -> list[Column]:
    return [F.isnull(name), F.coalesce(F.col(name), F.lit(bytearray()))]


def _headers() -> Column:
    """Headers in their order; the size and the NULL flags keep [a: NULL, b: x] apart from [a: b, x: NULL]."""
    each = F.transform(
        F.col("headers"),
        lambda header: F.struct(
            header["key"], header["value"].isNull(), F.coalesce(header["value"], F.lit(bytearray()))
        ),
    )
    return F.when(F.isnull("headers"), F.lit(0)).otherwise(F.xxhash64(F.size("headers"), each))
