# SPDX-License-Identifier: GPL-3.0-or-later
"""What several files of this room plant in a cluster of their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.cluster import Cluster
from tests.support.modules import run_module


@pytest.fixture
def alone(cluster: Cluster) -> Iterator[str]:
    """A topic with a single replica of each partition; `cluster` is that of the file that asks."""
    connection = {"bootstrap_servers": cluster.bootstrap_servers}
    wish = {"name": "alone", "partitions": 3, "replication_factor": 1}
    run_module("streamops.kafka.topics", {**connection, "topics": [wish]})
    yield "alone"
    gone = {"topics": [{"name": "alone", "state": "absent"}], "allow_delete": True}
    run_module("streamops.kafka.topics", {**connection, **gone})
