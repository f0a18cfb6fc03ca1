"""One Spark session for all tests of this room."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.support.spark import start_session


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The session, with the connector's pinned jars."""
    session = start_session()
    yield session
    session.stop()
