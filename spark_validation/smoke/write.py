"""The write: Spark tasks send the records and the driver learns which attempts Spark accepted."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Callable

from pyspark.accumulators import Accumulator, AccumulatorParam
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from spark_validation.core.session import kafka_options, producer_properties
from spark_validation.smoke import record
from spark_validation.smoke.config import Arguments
from spark_validation.smoke.geometry import Geometry

Attempts = dict[int, int]


class AttemptsParam(AccumulatorParam[Attempts]):
    """Collects writer -> attempt. Spark merges it for tasks that succeeded and for no other, once each."""

    def zero(self, value: Attempts) -> Attempts:
        """An empty map."""
        return {}

    def addInPlace(self, value1: Attempts, value2: Attempts) -> Attempts:  # noqa: N802  (PySpark's name)
        """Join two maps; their writers are distinct."""
        value1.update(value2)
        return value1


def writer_rows(session: SparkSession, shape: Geometry, accepted: Accumulator[Attempts]) -> DataFrame:
    """One row `writer, attempt` per Spark task; the same stage makes the records, so a retry makes a new attempt."""
    attempt = F.udf(_attempt_reader(accepted), "int", useArrow=False).asNondeterministic()
    rows = session.range(0, shape.writers, 1, shape.writers)
    return rows.select(F.col("id").alias("writer"), attempt(F.col("id")).alias("attempt"))


def write_records(session: SparkSession, arguments: Arguments, shape: Geometry) -> Attempts:
    """Write all records of a run and return the accepted attempt of each writer; raises what Spark raises."""
    accepted = session.sparkContext.accumulator({}, AttemptsParam())
    identified = record.with_identity(writer_rows(session, shape, accepted), shape)
    sizes = (arguments.payload_min_bytes, arguments.payload_max_bytes)
    rows = record.to_kafka(identified, arguments.run_id, arguments.topic, sizes)
    rows.write.format("kafka").options(**kafka_options(producer_properties(arguments))).save()
    return dict(accepted.value)


def _attempt_reader(accepted: Accumulator[Attempts]) -> Callable[[int], int]:
    # Runs once per attempt, in the stage that writes: TaskContext is the one public place that knows the attempt.
    def read(writer: int) -> int:
        """Note the attempt that writes for this writer, and return it."""
        from pyspark import TaskContext

        context = TaskContext.get()
        attempt = context.attemptNumber() if context else 0
        accepted.add({writer: attempt})
        return attempt

    return read
