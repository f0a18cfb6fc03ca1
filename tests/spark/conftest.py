"""One Spark session for all tests of this room, with the connector's pinned jars."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.support.modules import REPOSITORY, run_module

LOCK = REPOSITORY / "roles" / "spark_validation" / "files" / "spark-kafka-4.2.0.lock.json"


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "streamops-kafka"


@pytest.fixture(scope="session")
def connector_jars() -> list[str]:
    """The four jars, fetched by the product's own module into the role's own cache."""
    result = run_module("streamops.kafka.maven_jars", {"lock": str(LOCK), "dest": str(_cache() / "spark-kafka-4.2.0")})
    assert not result["failed"], result
    return list(result["jars"])


@pytest.fixture(scope="session")
def spark(connector_jars: list[str]) -> Iterator[SparkSession]:
    """The session, with Spark's settings as shipped but for what makes small data slow."""
    os.environ.update(PYSPARK_PYTHON=sys.executable, PYSPARK_DRIVER_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    # Python workers import the package; a job gets it as a zip.
    os.environ["PYTHONPATH"] = os.pathsep.join([str(REPOSITORY), os.environ.get("PYTHONPATH", "")])
    session = (
        SparkSession.builder.master("local[2]")
        .appName("streamops tests")
        .config("spark.jars", ",".join(connector_jars))
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    yield session
    session.stop()
