"""The cluster as a client on another machine sees it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.machines import Machine, eventually
from tests.support.modules import run_module
from tests.support.traffic import producing, read_all

TOPIC = "molecule"


@pytest.fixture
def cluster(administrator: dict[str, Any]) -> dict[str, Any]:
    """What cluster_info says."""
    return run_module("streamops.kafka.cluster_info", administrator)


def test_every_broker_is_there_and_serves(cluster: dict[str, Any], nodes: list[Machine]) -> None:
    found = {broker["id"]: broker["fenced"] for broker in cluster["nodes"]}
    assert found == {machine.node_id: False for machine in nodes if machine.is_broker}


def test_what_is_written_to_three_replicas_is_read_back(
    administrator: dict[str, Any], settings: dict[str, Any]
) -> None:
    topic = {"name": TOPIC, "partitions": 6, "replication_factor": 3}
    made = run_module("streamops.kafka.topics", {**administrator, "topics": [topic]})
    assert not made["failed"], made
    servers = administrator["bootstrap_servers"]
    with producing(servers, TOPIC, settings=settings) as ledger:
        eventually(lambda: len(ledger.acknowledged) >= 1000, "1,000 acknowledged records", 60)
    assert not ledger.failed
    assert ledger.lost(read_all(servers, TOPIC, settings=settings)) == []


def test_every_replica_is_in_sync(administrator: dict[str, Any]) -> None:
    found = run_module("streamops.kafka.cluster_info", administrator)
    assert found["under_replicated"] == []
