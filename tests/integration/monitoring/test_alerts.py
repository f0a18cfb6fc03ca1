# SPDX-License-Identifier: GPL-3.0-or-later
"""Alerts that a Prometheus raises of what is done to a real cluster, and that rest again afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.cluster import Cluster, until
from tests.support.modules import run_module
from tests.support.prometheus import Prometheus, prometheus
from tests.support.secured import METRICS_LOGIN, PASSWORD, admin_connection, ca_file

#: The port for Prometheus, counted from the first of a node.
METRICS = 3
#: What one broker that is down must raise: one partition was on it alone, another one wants all three replicas.
OF_ONE_DOWN = (
    "KafkaNodeDown",
    "KafkaPartitionsOffline",
    "KafkaUnderMinIsr",
    "KafkaUnderReplicated",
    "KafkaBrokerFenced",
)


def scrapes(cluster: Cluster) -> list[dict[str, Any]]:
    """The nodes of a cluster whose metrics want TLS and a login."""
    targets = [f"127.0.0.1:{cluster.port(node, METRICS)}" for node in cluster.nodes]
    return [
        {
            "job_name": "kafka",
            "scheme": "https",
            "tls_config": {"ca_file": str(ca_file(cluster))},
            "basic_auth": dict(zip(("username", "password"), METRICS_LOGIN, strict=True)),
            "static_configs": [{"targets": targets, "labels": {"cluster": "secured"}}],
        }
    ]


@pytest.fixture
def watched(secured: Cluster, tmp_path: Path) -> Iterator[Prometheus]:
    """The alerts on that cluster. A login costs the agent 600,000 rounds: seconds on a busy machine."""
    with prometheus(tmp_path / "prometheus", scrapes(secured), {}, every=5) as made:
        yield made


@pytest.fixture
def exposed(secured: Cluster) -> Iterator[None]:
    """Topics that one dead broker hurts."""
    topics = [
        {"name": "alone", "partitions": 3, "replication_factor": 1},
        {"name": "strict", "partitions": 3, "replication_factor": 3, "config": {"min.insync.replicas": "3"}},
    ]
    options = admin_connection(secured, PASSWORD)
    assert not run_module("streamops.kafka.topics", {**options, "topics": topics})["failed"]
    yield
    gone = [{"name": one["name"], "state": "absent"} for one in topics]
    run_module("streamops.kafka.topics", {**options, "topics": gone, "confirm_deletion": ["alone", "strict"]})


@pytest.mark.full
@pytest.mark.usefixtures("exposed")
def test_a_dead_broker_raises_five_alerts_that_rest_when_it_is_back(secured: Cluster, watched: Prometheus) -> None:
    watched.rests()
    secured.kill_supervisord()
    secured.kill("kafka3")
    try:
        until(lambda: not secured.alive("kafka3"), "kafka3 to be gone")
        watched.fires(*OF_ONE_DOWN)
        dead = f"127.0.0.1:{secured.port('kafka3', METRICS)} of cluster secured does not answer"
        # On a machine that is busy for seconds another node may miss a scrape; it is there again in the next.
        until(lambda: watched.summaries("KafkaNodeDown") == [dead], "kafka3 to be the one that does not answer")
        assert watched.summaries("KafkaPartitionsOffline") == ["1 partitions of cluster secured have no leader"]
    finally:
        # Others use this cluster after this test.
        healed = secured.playbook()
    healed.ok()
    watched.rests()
