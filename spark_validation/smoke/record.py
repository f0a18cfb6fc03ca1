"""The record on the wire: built and taken apart by Spark SQL functions only, so that no row passes through Python.

Key     lane (16 digits) and sequence (10 digits): unique per record, and a second place where its identity stands.
Header  `streamops-run` = run id.
Value   a text of fixed columns, then the topic meant, then random bytes:

    column   1..4   magic        SOV1
             5..24  checksum     signed decimal, xxhash64 over key, header and everything from column 25 on
            25..56  run id       padded with blanks
            57..72  lane         partition meant, writer, attempt (geometry.py)
            73..82  sequence     0, 1, 2 ... per lane
            83..95  send time    milliseconds since 1970, taken when the row is handed to the producer
            96..98  length of the topic name, then the name, then the payload
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  (the name the whole Spark world uses)

from spark_validation.smoke.geometry import ATTEMPTS, WRITERS, Geometry
from spark_validation.smoke.observed import CORRUPT, FOREIGN, MISROUTED, OK, OTHER_RUN, TOMBSTONE

MAGIC = "SOV1"
# What the live probe sends and gets back: such a mark, the run id (padded), the send time; without key (live.py).
PROBE, ECHO = "SOP1", "SOE1"
_PROBE_BYTES = 49
HEADER = "streamops-run"
RUN_ID_WIDTH = 32
_BODY = 25
_REST = 2**31 - 1

NO_LANE = -1

# No producer holds a record for longer, whatever its timeouts, nor do clocks differ by as much: it is a copy.
_STALE_MS = 3_600_000


def with_identity(writers: DataFrame, shape: Geometry) -> DataFrame:
    """Rows `writer, attempt` (one per Spark task) -> one row per record: lane, seq, partition. No shuffle."""
    writer = F.col("writer")
    first = F.expr(f"writer * {shape.records} div {shape.writers}")
    after = F.expr(f"(writer + 1) * {shape.records} div {shape.writers}")
    rows = writers.select("writer", "attempt", first.alias("first"), F.explode(F.sequence(first, after - 1)).alias("g"))
    partition = F.expr(f"g % {shape.partitions}")
    return rows.select(
        partition.cast("int").alias("partition"),
        ((partition * WRITERS + writer) * ATTEMPTS + F.col("attempt")).alias("lane"),
        F.expr(f"(g - first) div {shape.partitions}").alias("seq"),
    )


def to_kafka(identified: DataFrame, run_id: str, topic: str, payload_bytes: tuple[int, int]) -> DataFrame:
    """Rows `partition, lane, seq` -> the columns of Spark's Kafka sink (key, value, headers, topic, partition).

    `payload_bytes`: smallest and largest size of the random payload, in bytes.
    """
    # now() is one constant per query; only a reflective call gives each row its own clock.
    sent = F.reflect(F.lit("java.lang.System"), F.lit("currentTimeMillis"))
    rows = identified.withColumn("sent", sent).withColumn("payload", _payload(run_id, payload_bytes))
    fixed = F.concat(
        F.lit(run_id.ljust(RUN_ID_WIDTH)),
        _digits(F.col("lane"), 16),
        _digits(F.col("seq"), 10),
        F.lpad(F.col("sent"), 13, "0"),
        F.lit(_topic_mark(topic)),
    )
    key = F.concat(_digits(F.col("lane"), 16), _digits(F.col("seq"), 10)).cast("binary")
    run = F.lit(run_id).cast("binary")
    rows = rows.select("partition", key.alias("key"), F.concat(fixed.cast("binary"), F.col("payload")).alias("body"))
    checksum = F.xxhash64(F.col("key"), run, F.col("body"))
    head = F.concat(F.lit(MAGIC), F.lpad(checksum.cast("string"), 20, " ")).cast("binary")
    return rows.select(
        F.lit(topic).alias("topic"),
        "partition",
        "key",
        F.concat(head, F.col("body")).alias("value"),
        F.array(F.struct(F.lit(HEADER).alias("key"), run.alias("value"))).alias("headers"),
    )


def classify(topic_rows: DataFrame, run_id: str, topic: str) -> DataFrame:
    """Rows of Spark's Kafka source (with headers) -> partition, offset, kind, lane, seq, latency_ms and measures.

    `kind` is one of the constants in observed.py. What another run sent here is OTHER_RUN; an intact record of another
    run that it cannot have sent here is as foreign as one of another client. Lane and sequence are NO_LANE and 0 unless
    it is OK or MISROUTED.
    Nothing here raises on arbitrary bytes. `latency_ms` is append time minus send time; `hash` is the checksum
    computed from what was read, the same for the same bytes in any order or reader.
    """
    value = F.col("value")
    run_header = F.get(F.col("headers"), F.lit(0))["value"]
    computed = F.xxhash64(F.col("key"), run_header, F.substring(value, _BODY, _REST))
    rows = topic_rows.select(
        "partition",
        "offset",
        F.unix_millis("timestamp").alias("append_ms"),
        F.col("timestampType").alias("time_type"),
        (F.coalesce(F.length("key"), F.lit(0)) + F.coalesce(F.length("value"), F.lit(0))).alias("bytes"),
        computed.alias("hash"),
        _number(value, 57, 16).alias("lane"),
        _number(value, 73, 10).alias("seq"),
        _number(value, 83, 13).alias("sent"),
        value.isNull().alias("tombstone"),
        _true((F.substring(value, 1, 4) == _bytes(MAGIC)) & (_number(value, 5, 20) == computed)).alias("intact"),
        _true(F.substring(value, _BODY, RUN_ID_WIDTH) == _bytes(run_id.ljust(RUN_ID_WIDTH))).alias("run"),
        _true(run_header == _bytes(run_id)).alias("marked"),
        _true(F.substring(value, 96, 3 + len(topic)) == _bytes(_topic_mark(topic))).alias("topic_meant"),
        _of_another_probe(run_id).alias("probe"),
    )
    here = F.expr(f"lane div {WRITERS * ATTEMPTS}") == F.col("partition")
    fresh = _true(F.abs(F.col("append_ms") - F.col("sent")) < _STALE_MS)
    kind = (
        F.when(F.col("tombstone"), TOMBSTONE)
        .when(F.col("intact") & F.col("run") & F.col("topic_meant") & here, OK)
        .when(F.col("intact") & F.col("run"), MISROUTED)
        .when(F.col("intact") & F.col("topic_meant") & here & fresh, OTHER_RUN)
        .when(F.col("probe"), OTHER_RUN)
        .when(F.col("run") | F.col("marked"), CORRUPT)
        .otherwise(FOREIGN)
    )
    rows = rows.withColumn("kind", kind.cast("int"))
    trusted = F.col("kind") <= MISROUTED
    return rows.select(
        "partition",
        "offset",
        "kind",
        "append_ms",
        "time_type",
        "bytes",
        "hash",
        F.when(trusted, F.col("lane")).otherwise(F.lit(NO_LANE)).alias("lane"),
        F.when(trusted, F.col("seq")).otherwise(F.lit(0)).alias("seq"),
        F.when(trusted, F.col("append_ms") - F.col("sent")).alias("latency_ms"),
    )


def _of_another_probe(run_id: str) -> Column:
    """Say whether a row of the Kafka source was sent by the live probe of another run that goes on meanwhile."""
    value = F.col("value")
    away = F.abs(F.unix_millis("timestamp") - _number(value, 37, 13))
    marked = F.substring(value, 1, 4).isin([bytearray(PROBE, "utf-8"), bytearray(ECHO, "utf-8")])
    other = F.substring(value, 5, RUN_ID_WIDTH) != _bytes(run_id.ljust(RUN_ID_WIDTH))
    return _true(F.col("key").isNull() & (F.length(value) == _PROBE_BYTES) & marked & other & (away < _STALE_MS))


def claimed_identity(topic_rows: DataFrame) -> DataFrame:
    """Select what the **key** of each row claims (`claim_lane, claim_seq`, NULL if unreadable), partition and offset.

    Used for corrupt records and tombstones only, to tell "damaged" from "gone".
    """
    return topic_rows.select(
        "partition",
        "offset",
        _number(F.col("key"), 1, 16).alias("claim_lane"),
        _number(F.col("key"), 17, 10).alias("claim_seq"),
    )


def _payload(run_id: str, payload_bytes: tuple[int, int]) -> Column:
    """Pseudo-random bytes, different in each record, of a size drawn between the two bounds (both included)."""
    smallest, largest = payload_bytes
    drawn = F.pmod(F.xxhash64(F.lit(run_id), F.col("lane"), F.col("seq")), F.lit(largest - smallest + 1))
    size = (F.lit(smallest) + drawn).cast("int")
    seed = F.concat_ws(":", F.lit(run_id), F.col("lane"), F.col("seq"))
    blocks = F.transform(
        F.sequence(F.lit(0), (size / F.lit(64)).cast("int")),
        lambda block: F.sha2(F.concat_ws(":", seed, block), 512),
    )
    return F.substring(F.unhex(F.array_join(blocks, "")), F.lit(1), size)


def _topic_mark(topic: str) -> str:
    return f"{len(topic):03d}{topic}"


def _digits(number: Column, width: int) -> Column:
    return F.lpad(number.cast("string"), width, "0")


def _number(binary: Column, start: int, length: int) -> Column:
    return F.substring(binary, start, length).cast("string").try_cast("bigint")


def _bytes(text: str) -> Column:
    return F.lit(bytearray(text, "utf-8"))


def _true(condition: Column) -> Column:
    return F.coalesce(condition, F.lit(False))
