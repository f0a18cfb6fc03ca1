# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans made from real brokers, and Kafka taking them as they are."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from kafka.admin import KafkaAdminClient

from tests.support.cluster import Cluster
from tests.support.modules import run_module

TOPIC = "moved-orders"


def plan(cluster: Cluster, check: bool = False, **wish: Any) -> dict[str, Any]:
    """What the module plans."""
    return run_module(
        "streamops.kafka.reassignment", {"bootstrap_servers": cluster.bootstrap_servers, **wish}, check=check
    )


@pytest.fixture(scope="module")
def orders(combined: Cluster) -> Iterator[str]:
    """A topic of six partitions with one replica each."""
    topics = {"bootstrap_servers": combined.bootstrap_servers, "allow_delete": True}
    # Of the cluster it is 2: a plan by which fewer replicas acknowledge than that is refused.
    wanted = {"name": TOPIC, "partitions": 6, "replication_factor": 1, "config": {"min.insync.replicas": "1"}}
    made = run_module("streamops.kafka.topics", {**topics, "topics": [wanted]})
    assert not made["failed"], made
    yield TOPIC
    run_module("streamops.kafka.topics", {**topics, "topics": [{"name": TOPIC, "state": "absent"}]})


@contextmanager
def kafkas_own(cluster: Cluster) -> Iterator[KafkaAdminClient]:
    """Kafka's own calls, so that nothing of ours carries a plan out. Such a client keeps to the broker that it took
    for the controller at its start: a test that stops a broker opens it after that."""
    client = KafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers)
    try:
        yield client
    finally:
        client.close()


def carry_out(admin: KafkaAdminClient, wanted: dict[str, Any]) -> None:
    """Give a reassignment file to Kafka."""
    from kafka.structs import TopicPartition

    admin.alter_partition_reassignments(
        {TopicPartition(p["topic"], p["partition"]): p["replicas"] for p in wanted["partitions"]}
    )


def settled(admin: KafkaAdminClient) -> None:
    """Wait until nothing is being moved."""
    for _ in range(120):
        if not admin.list_partition_reassignments():
            return
        time.sleep(0.5)
    raise AssertionError("still moving")


def test_what_is_planned_is_carried_out_and_then_there_is_nothing_to_plan(combined: Cluster, orders: str) -> None:
    more = plan(combined, replication_factor={orders: 2}, throttle=10_000_000, sample_seconds=1)
    assert (more["moves"], more["proof"], more["changed"]) == (6, "partition", False)
    assert more["schedule"]["seconds"] is not None
    assert {change["topic"] for change in more["changes"]} == {orders}
    with kafkas_own(combined) as admin:
        carry_out(admin, more["reassignment"])
        settled(admin)
    again = plan(combined, replication_factor={orders: 2})
    assert (again["moves"], again["changes"]) == (0, [])
    fewer = plan(combined, check=True, replication_factor={orders: 1})
    assert (fewer["moves"], fewer["deletions"], fewer["leader_changes"]) == (0, 6, 0)


@pytest.mark.full
def test_a_look_kept_in_a_file_plans_for_brokers_that_are_not_there_yet(
    combined: Cluster, orders: str, tmp_path: Path
) -> None:
    look = run_module("streamops.kafka.cluster_info", {"bootstrap_servers": combined.bootstrap_servers, "sizes": True})
    assert all(node["disk_total_bytes"] > node["disk_used_bytes"] > 0 for node in look["nodes"])
    assert all(p["size_bytes"] is not None for topic in look["topics"] for p in topic["partitions"])
    path = tmp_path / "snapshot.json"
    path.write_text(json.dumps(look))
    wish = {"snapshot": str(path), "add": [{"id": 99}], "rack_rule": "none"}
    found = run_module("streamops.kafka.reassignment", wish)
    replicas = sum(len(p["replicas"]) for topic in look["topics"] for p in topic["partitions"])
    assert found["moves"] >= replicas // 4
    assert next(broker for broker in found["brokers"] if broker["id"] == 99)["replicas"]["to"] >= replicas // 4
    refused = plan(combined, add=[{"id": 99}])
    assert refused["failed"]
    assert "broker 99 is not registered" in refused["msg"]


@pytest.mark.full
def test_a_drain_that_leaves_too_few_brokers_is_refused(combined: Cluster, orders: str) -> None:
    refused = plan(combined, drain=[combined.identities["kafka1"]])
    assert refused["failed"]
    assert "2 brokers may hold replicas, too few for partitions with 3" in refused["msg"]


@pytest.mark.full
def test_nothing_is_planned_while_others_move_partitions(combined: Cluster, orders: str) -> None:
    from kafka.structs import TopicPartition

    look = run_module(
        "streamops.kafka.cluster_info", {"bootstrap_servers": combined.bootstrap_servers, "topics": [orders]}
    )
    stopped = combined.identities["kafka3"]
    partition = next(p for p in look["topics"][0]["partitions"] if stopped not in p["replicas"])
    combined.stop("kafka3")
    try:
        # The API takes a target that is down, and the move waits for it.
        key = TopicPartition(orders, partition["partition"])
        with kafkas_own(combined) as admin:
            admin.alter_partition_reassignments({key: [*partition["replicas"], stopped]})
            refused = plan(combined, replication_factor={orders: 1})
            assert refused["failed"]
            assert f"1 partition(s) are being moved now ({orders}-{partition['partition']})" in refused["msg"]
            admin.alter_partition_reassignments({key: None})
            settled(admin)
        needs = plan(combined, fix_racks=True, rack_rule="strict")
        assert not needs["failed"], needs["msg"]
    finally:
        combined.start("kafka3")
    waited = run_module(
        "streamops.kafka.isr_wait", {"bootstrap_servers": combined.bootstrap_servers, "timeout": 120, "interval": 2}
    )
    assert waited["in_sync"], waited
