"""Whether the live probe of this run has its first echo, whatever other clients write to the topic meanwhile."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from spark_validation.core.session import client_properties, jvm
from spark_validation.smoke.config import Arguments
from spark_validation.smoke.record import ECHO, RUN_ID_WIDTH

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
