"""The live probe: time from a producer through Kafka, Spark and Kafka again, measured on a running stream.

The driver sends small records; a stream reads them and sends an echo; an echo's append time minus the time in it is the
end-to-end latency. Spark's real-time mode is used when a core is free for each partition that it watches, else
micro-batches; the result says which.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming.query import StreamingQuery

from spark_validation.core.read import reader
from spark_validation.core.session import (
    client_properties,
    cores,
    jvm,
    kafka_options,
    local_uri,
    producer_properties,
    source_options,
)
from spark_validation.smoke import latency
from spark_validation.smoke.config import Arguments
from spark_validation.smoke.record import ECHO, PROBE, RUN_ID_WIDTH
from spark_validation.smoke.topic import Ranges, Topic

_TEXT = "org.apache.kafka.common.serialization.StringDeserializer"


class Echoes:
    """A Java consumer on the driver that looks for an echo of this run between all that others write meanwhile."""

    def __init__(self, session: SparkSession, arguments: Arguments, topic: str, starts: dict[int, int]) -> None:
        self._java: Any = jvm(session)
        fixed = {
            "key.deserializer": _TEXT,
            "value.deserializer": _TEXT,
            "isolation.level": "read_committed",
            "enable.auto.commit": "false",
            "max.poll.records": "5000",
        }
        self._mark = f"{ECHO}{arguments.run_id.ljust(RUN_ID_WIDTH)}"
        made = self._java.org.apache.kafka.clients.consumer.KafkaConsumer
        self._consumer = made({**client_properties(arguments), **fixed})
        place = self._java.org.apache.kafka.common.TopicPartition
        places = {index: place(topic, index) for index in starts}
        self._consumer.assign(list(places.values()))
        for index, start in starts.items():
            self._consumer.seek(places[index], start)

    def is_there(self) -> bool:
        """Return whether an echo is among the next records; what was read once is not read again."""
        records = self._consumer.poll(self._java.java.time.Duration.ofMillis(200))
        # One call for all records of a partition: each call from Python to Java costs more than a record.
        texts = [str(self._java.java.lang.String.valueOf(records.records(place))) for place in records.partitions()]
        return any(self._mark in text for text in texts)

    def close(self) -> None:
        """Close the consumer."""
        self._consumer.close(self._java.java.time.Duration.ofSeconds(2))


REAL_TIME, MICRO_BATCH = "real-time", "micro-batch"
_PER_SECOND = 20
_START_SECONDS = 30
_BYTES = "org.apache.kafka.common.serialization.ByteArraySerializer"


@dataclass(frozen=True)
class Live:
    """What the probe measured; `reason` says why real-time mode was not used, when it was not."""

    mode: str
    reason: str
    sent: int
    figures: dict[str, object]


def probe(session: SparkSession, arguments: Arguments, topic: Topic, partitions: list[int], work: Path) -> Live:
    """Run the probe for `arguments.live_seconds` on the first partitions that the cores allow."""
    free = cores(session)
    reason = "" if free >= 2 else "real-time mode needs a core for each partition and one core was given"
    starts = topic.ends(len(partitions))
    if not reason:
        try:
            return _measured(session, arguments, topic, partitions[:free], starts, work, REAL_TIME, "")
        except Exception as error:
            reason = f"real-time mode did not start: {str(error).splitlines()[0][:200]}"
            starts = topic.ends(len(partitions))
    return _measured(session, arguments, topic, partitions, starts, work, MICRO_BATCH, reason)


def _measured(
    session: SparkSession,
    arguments: Arguments,
    topic: Topic,
    partitions: list[int],
    starts: dict[int, int],
    work: Path,
    mode: str,
    reason: str,
) -> Live:
    query = _echo(session, arguments, topic.name, partitions, starts, mode, work / f"checkpoint-{mode}")
    try:
        with (
            closing(_Sender(session, arguments, topic.name, partitions)) as sender,
            closing(Echoes(session, arguments, topic.name, {index: starts[index] for index in partitions})) as echoes,
        ):
            _until_first_echo(query, sender, echoes)
            first = sender.now()
            sender.send_for(arguments.live_seconds)
            time.sleep(1.0)
        if query.exception() is not None:
            raise RuntimeError(str(query.exception()))
    finally:
        query.stop()
    ends = topic.ends(len(starts))
    ranges = {index: (start, ends[index]) for index, start in starts.items()}
    return Live(mode, reason, sender.sent, _echo_latency(session, arguments, topic.name, ranges, first))


def _echo(
    session: SparkSession,
    arguments: Arguments,
    topic: str,
    partitions: list[int],
    starts: dict[int, int],
    mode: str,
    checkpoint: Path,
) -> StreamingQuery:
    rows = (
        session.readStream.format("kafka")
        .options(**source_options(arguments))
        .option("assign", json.dumps({topic: partitions}))
        .option("startingOffsets", json.dumps({topic: {str(index): starts[index] for index in partitions}}))
        .load()
    )
    mark = F.concat(F.lit(PROBE), F.lit(arguments.run_id.ljust(32))).cast("binary")
    probes = rows.where(F.substring("value", 1, 36) == mark)
    echo = F.concat(F.lit(ECHO).cast("binary"), F.substring("value", 5, 100))
    writer = (
        probes.select("topic", "partition", echo.alias("value"))
        .writeStream.format("kafka")
        .options(**kafka_options({**producer_properties(arguments), "linger.ms": "0"}))
        .option("checkpointLocation", local_uri(checkpoint))
        .outputMode("update")
    )
    # PySpark's own minimum for the length of a real-time batch; it is a checkpoint interval, not a latency.
    if mode == REAL_TIME:
        return writer.trigger(realTime="5 seconds").start()  # type: ignore[call-overload,no-any-return]  # not in the stubs
    return writer.trigger(processingTime="0 seconds").start()


class _Sender:
    """A Java producer on the driver that sends probes round robin and flushes each, so that its clock is honest."""

    def __init__(self, session: SparkSession, arguments: Arguments, topic: str, partitions: list[int]) -> None:
        self._java: Any = jvm(session)
        fixed = {"key.serializer": _BYTES, "value.serializer": _BYTES, "linger.ms": "0"}
        settings = {**producer_properties(arguments), **fixed}
        self._producer = self._java.org.apache.kafka.clients.producer.KafkaProducer(settings)
        self._head = f"{PROBE}{arguments.run_id.ljust(32)}"
        self._topic, self._partitions, self.sent = topic, partitions, 0

    def now(self) -> int:
        """The clock that stands in the probes, in epoch milliseconds."""
        return int(self._java.java.lang.System.currentTimeMillis())

    def send(self) -> None:
        """Send one probe and wait for its acknowledgement."""
        partition = self._partitions[self.sent % len(self._partitions)]
        value = f"{self._head}{self.now():013d}".encode()
        record = self._java.org.apache.kafka.clients.producer.ProducerRecord(
            self._topic, partition, None, bytearray(value)
        )
        self._producer.send(record).get()
        self.sent += 1

    def send_for(self, seconds: float) -> None:
        """Send _PER_SECOND probes a second."""
        due = begun = time.monotonic()
        while due < begun + seconds:
            self.send()
            due += 1 / _PER_SECOND
            time.sleep(max(0.0, due - time.monotonic()))

    def close(self) -> None:
        """Close the producer."""
        self._producer.close()


def _until_first_echo(query: StreamingQuery, sender: _Sender, echoes: Echoes) -> None:
    """Send until an echo shows: the start of a query takes seconds and is no latency of the cluster."""
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        if query.exception() is not None:
            raise RuntimeError(str(query.exception()))
        sender.send()
        time.sleep(0.2)
        if echoes.is_there():
            return
    raise RuntimeError(f"no echo within {_START_SECONDS} s")


def _echo_latency(
    session: SparkSession, arguments: Arguments, topic: str, ranges: Ranges, first_ms: int
) -> dict[str, object]:
    mark = F.concat(F.lit(ECHO), F.lit(arguments.run_id.ljust(32))).cast("binary")
    rows: DataFrame = reader(session, arguments)({topic: ranges}).where(F.substring("value", 1, 36) == mark)
    sent: Column = F.substring("value", 37, 13).cast("string").cast("bigint")
    rows = rows.select(sent.alias("sent"), (F.unix_millis("timestamp") - sent).alias("ms")).where(
        F.col("sent") >= first_ms
    )
    values = [int(row["ms"]) for row in rows.collect()]
    counts = Counter(latency.bucket_of(value) for value in values)
    return latency.summary(counts, sum(values), min(values, default=None), max(values, default=None))
