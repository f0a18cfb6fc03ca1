"""Does the second reader of a proof count what is there, and nothing else?"""

from __future__ import annotations

from zlib import crc32

import pytest
from pyspark.sql import SparkSession

from spark_validation.core.read import SCHEMA
from spark_validation.proof.counts import Counted, count

PROOF = "0a1b2c3d"
Record = tuple[int, int, bytes | None]


def counted(spark: SparkSession, records: list[Record]) -> tuple[list[Counted], int]:
    rows = [(None, value, "t", partition, offset, None, 0, None) for partition, offset, value in records]
    return count(spark.createDataFrame(rows, SCHEMA).repartition(3), PROOF)


def named(partition: int, offset: int, kind: str, number: int) -> Record:
    return partition, offset, f"{PROOF} {kind} {number}".encode()


def checksum(records: list[Record]) -> int:
    return sum(crc32(b"%d %d %s" % one) for one in records)


def test_records_are_counted_by_partition_and_kind_whatever_the_order_of_reading(spark: SparkSession) -> None:
    # 3 before 1 and 2, and 5 twice; gaps between offsets are markers of transactions.
    idempotent = [named(0, offset, "idempotent", number) for offset, number in enumerate([0, 3, 1, 2, 5, 5])]
    transactional = [named(0, 10 + 2 * number, "transactional", number) for number in range(3)]
    other = [named(1, 7, "idempotent", 999_999_999_999_999_999)]
    found, others = counted(spark, [*transactional, *other, *idempotent])
    assert others == 0
    assert found == [
        Counted(0, "idempotent", 6, 5, 0, 5, 2, checksum(idempotent)),
        Counted(0, "transactional", 3, 3, 0, 2, 0, checksum(transactional)),
        Counted(1, "idempotent", 1, 1, *[999_999_999_999_999_999] * 2, 0, checksum(other)),
    ]


def test_what_is_not_of_the_proof_is_only_counted_as_other(spark: SparkSession) -> None:
    strange = [
        None, b"", b"\xff\xfe", b"0a1b2c3e idempotent 1", b"0a1b2c3d other 1", b"0a1b2c3d idempotent -1",
        b"0a1b2c3d idempotent 1\n", b"0a1b2c3d idempotent 1 2", b" 0a1b2c3d idempotent 1", b"0A1B2C3D idempotent 1",
        b"0a1b2c3d idempotent 12345678901234567890",
    ]  # fmt: skip
    own = named(0, 99, "transactional", 4)
    found, others = counted(spark, [*((0, offset, value) for offset, value in enumerate(strange)), own])
    assert (found, others) == ([Counted(0, "transactional", 1, 1, 4, 4, 0, checksum([own]))], len(strange))


@pytest.mark.parametrize("values", [[], [(0, 0, b"x")]], ids=["nothing", "only_others"])
def test_a_topic_without_the_proof_counts_nothing(spark: SparkSession, values: list[Record]) -> None:
    assert counted(spark, values) == ([], len(values))
