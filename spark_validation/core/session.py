"""The Spark session of a job, and the options by which Spark's Kafka source and sink reach the cluster."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import SparkSession

from spark_validation import __version__
from spark_validation.core.fields import SECRET_NAME, Reach
from spark_validation.core.sizes import RECORDS_PER_WRITER

#: What Spark itself hides where it prints settings and options. The words are the same in Java's patterns.
_REDACTED = f"(?i){SECRET_NAME.pattern}"


def open_session(name: str) -> SparkSession:
    """The session of this process; master, jars and resources come from spark-submit."""
    session = (
        SparkSession.builder.appName(f"streamops {name}")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "UTC")
        # A speculative copy of a writing task would write its records a second time.
        .config("spark.speculation", "false")
        .config("spark.redaction.regex", _REDACTED)
        .config("spark.sql.redaction.options.regex", _REDACTED)
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    session.conf.set("spark.sql.shuffle.partitions", str(max(2, cores(session))))
    # A window keeps this many rows of a lane in memory before it goes through a spilling sorter, row by row.
    session.conf.set("spark.sql.windowExec.buffer.in.memory.threshold", str(RECORDS_PER_WRITER))
    return session


def cores(session: SparkSession) -> int:
    """Return how many tasks run at once."""
    return max(1, session.sparkContext.defaultParallelism)


def jvm(session: SparkSession) -> Any:
    """The driver's Java side; through it the Kafka client that the connector brings along can be called."""
    return session._jvm


def local_uri(path: Path) -> str:
    """A path of the driver's own disk for Spark, which takes a bare one for a path of Hadoop's default file system.

    Enough for a checkpoint of a stream without state: only the driver reads and writes it.
    """
    return path.resolve().as_uri()


def versions(session: SparkSession) -> dict[str, str]:
    """Return what ran: Python, PySpark, Spark, Java, Kafka client, this package."""
    java = jvm(session)
    return {
        "python": platform.python_version(),
        "pyspark": pyspark.__version__,
        "spark": session.version,
        "java": str(java.java.lang.System.getProperty("java.version")),
        "kafka_clients": str(java.org.apache.kafka.common.utils.AppInfoParser.getVersion()),
        "spark_validation": __version__,
        "master": str(session.sparkContext.master),
    }


def client_properties(reach: Reach) -> dict[str, str]:
    """Native properties for every client of the job. A broker that is gone shows in seconds, not in minutes."""
    wait = reach.timeout_seconds * 1000
    return {
        "request.timeout.ms": str(wait),
        "default.api.timeout.ms": str(wait),
        "reconnect.backoff.max.ms": "500",
        **reach.kafka,
        "bootstrap.servers": ",".join(reach.bootstrap_servers),
    }


def producer_properties(reach: Reach) -> dict[str, str]:
    """The properties above and what a durable, idempotent producer needs; three timeouts leave room for an election."""
    wait = reach.timeout_seconds * 1000
    tuned = {
        "max.block.ms": str(wait),
        "delivery.timeout.ms": str(3 * wait + 1000),
        "linger.ms": "20",
        "batch.size": "131072",
        "compression.type": "lz4",
    }
    fixed = {"acks": "all", "enable.idempotence": "true"}
    return {**tuned, **client_properties(reach), **fixed}


def kafka_options(properties: dict[str, str]) -> dict[str, str]:
    """Native properties under the prefix by which Spark hands them to its clients."""
    return {f"kafka.{key}": value for key, value in properties.items()}


def source_options(reach: Reach) -> dict[str, str]:
    """Options of every read: committed records only, headers, and a loss of data is an error, never a silence."""
    return {
        **kafka_options(client_properties(reach)),
        "kafka.isolation.level": "read_committed",
        "includeHeaders": "true",
        "failOnDataLoss": "true",
        "kafkaConsumer.pollTimeoutMs": str(3 * reach.timeout_seconds * 1000),
        "fetchOffset.numRetries": "1",
    }
