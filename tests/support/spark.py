"""Spark for tests: the connector's pinned jars and a session in this process."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from tests.support.modules import REPOSITORY, run_module

LOCK = REPOSITORY / "roles" / "spark_validation" / "files" / "spark-kafka-4.2.0.lock.json"


def connector_jars() -> list[str]:
    """The four jars of the role's lock, in the role's own cache."""
    return fetched_jars(LOCK, "spark-kafka-4.2.0")


def fetched_jars(lock: Path, directory: str) -> list[str]:
    """The jars of a lock file, fetched by the product's own module into this directory of its cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "streamops-kafka"
    result = run_module("streamops.kafka.maven_jars", {"lock": str(lock), "dest": str(cache / directory)})
    assert not result["failed"], result
    return list(result["jars"])


def start_session(master: str = "local[2]") -> SparkSession:
    """A session with Spark's settings as shipped, but for what makes small data slow; the caller stops it."""
    os.environ.update(PYSPARK_PYTHON=sys.executable, PYSPARK_DRIVER_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    # Python workers import the package; a submitted job gets it as a zip.
    os.environ["PYTHONPATH"] = os.pathsep.join([str(REPOSITORY), os.environ.get("PYTHONPATH", "")])
    return (
        SparkSession.builder.master(master)
        .appName("streamops tests")
        .config("spark.jars", ",".join(connector_jars()))
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
