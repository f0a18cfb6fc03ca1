# SPDX-License-Identifier: GPL-3.0-or-later
"""cluster_info and leader_election against real brokers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._release.releases import release
from tests.support.cluster import Cluster, free_port_base
from tests.support.modules import run_module
from tests.support.releases import NEW_CLUSTER

TOPIC = "info-orders"


def info(cluster: Cluster, **options: Any) -> dict[str, Any]:
    """Return what cluster_info says."""
    return run_module("streamops.kafka.cluster_info", {"bootstrap_servers": cluster.bootstrap_servers, **options})


def in_sync(cluster: Cluster) -> None:
    """Wait until the whole cluster is in sync."""
    waited = run_module(
        "streamops.kafka.isr_wait", {"bootstrap_servers": cluster.bootstrap_servers, "timeout": 120, "interval": 2}
    )
    assert waited["in_sync"], waited


@pytest.fixture(scope="module")
def orders(combined: Cluster) -> Iterator[str]:
    """A topic of six partitions on all three brokers."""
    topics = {"bootstrap_servers": combined.bootstrap_servers, "allow_delete": True}
    wanted = {"name": TOPIC, "partitions": 6, "replication_factor": 3, "config": {"min.insync.replicas": "2"}}
    assert not run_module("streamops.kafka.topics", {**topics, "topics": [wanted]})["failed"]
    yield TOPIC
    run_module("streamops.kafka.topics", {**topics, "topics": [{"name": TOPIC, "state": "absent"}]})


def test_a_healthy_cluster_is_described_in_full(combined: Cluster, orders: str) -> None:
    found = info(combined, topics=[orders])
    assert not found["changed"]
    assert {node["id"] for node in found["nodes"]} == set(combined.identities.values())
    assert {node["port"] for node in found["nodes"]} == {combined.port(node) for node in combined.nodes}
    assert not any(node["fenced"] for node in found["nodes"])
    assert {voter["id"] for voter in found["quorum"]["voters"]} == set(combined.identities.values())
    assert found["controller_id"] == found["quorum"]["leader_id"]
    assert [(t["name"], t["partition_count"], t["min_insync_replicas"]) for t in found["topics"]] == [(orders, 6, 2)]
    assert len(found["topics"][0]["partitions"]) == 6
    # Its nodes were formatted with the levels of their release.
    assert found["features"]["metadata.version"] == release(NEW_CLUSTER).new_cluster["metadata.version"]
    assert found["counts"]["under_replicated"] == found["counts"]["offline"] == 0


def test_partitions_and_topics_can_be_left_out_and_check_mode_looks_too(combined: Cluster, orders: str) -> None:
    arguments = {"bootstrap_servers": combined.bootstrap_servers, "include_partitions": False}
    found = run_module("streamops.kafka.cluster_info", arguments, check=True)
    assert "partitions" not in next(topic for topic in found["topics"] if topic["name"] == orders)
    assert info(combined, topics=[])["topics"] == []


def test_what_topics_and_brokers_set_in_the_cluster_is_listed_when_asked_for(combined: Cluster, orders: str) -> None:
    assert "overrides" not in info(combined, topics=[orders])
    found = info(combined, topics=[orders], overrides=True)["overrides"]
    assert {"kind": "topic", "name": orders, "key": "min.insync.replicas", "value": "2"} in found
    assert {one["kind"] for one in found} <= {"topic", "broker"}


@pytest.mark.full
def test_a_stopped_broker_shows_in_every_finding_and_leaders_come_back_by_election(
    combined: Cluster, orders: str
) -> None:
    identity = combined.identities["kafka3"]
    elections = {"bootstrap_servers": combined.bootstrap_servers, "broker": identity}
    combined.stop("kafka3")
    try:
        found = info(combined, topics=[orders])
        assert [node["id"] for node in found["nodes"] if node["fenced"]] == [identity]
        assert found["counts"]["under_replicated"] == found["counts"]["at_min_isr"] == 6
        assert found["counts"]["under_min_isr"] == found["counts"]["offline"] == 0
        strict = combined.playbook("playbooks/status.yml", "--check", status_strict=True, kafka_version="3.9.2")
        assert strict.rc != 0
        assert "fatal: [kafka1]" in strict.output
        assert "broker kafka3 (id 3) is down" in " ".join(strict.output.split())
        assert f"Kafka {NEW_CLUSTER}, unknown on kafka3" in strict.output, "the version that runs"
        moved = [p for p in found["not_preferred_leader"] if p["replicas"][0] == identity]
        assert moved
        away = run_module("streamops.kafka.leader_election", elections)
        assert not away["failed"]
        assert not away["changed"]
        assert {(p["topic"], p["partition"]) for p in moved} <= {
            (p["topic"], p["partition"]) for p in away["not_in_sync"]
        }
    finally:
        combined.start("kafka3")
        in_sync(combined)
    planned = run_module("streamops.kafka.leader_election", elections, check=True, diff=True)
    elected = run_module("streamops.kafka.leader_election", elections, diff=True)
    for answer in (planned, elected):
        assert answer["changed"]
        assert {(p["topic"], p["partition"]) for p in moved} <= {
            (p["topic"], p["partition"]) for p in answer["elected"]
        }
    name = f"{moved[0]['topic']}-{moved[0]['partition']}"
    assert elected["diff"]["after"][name] == {"leader": identity}
    assert not run_module("streamops.kafka.leader_election", elections)["changed"]
    assert not [p for p in info(combined)["not_preferred_leader"] if p["replicas"][0] == identity]


@pytest.mark.full
def test_an_election_for_a_broker_or_partition_that_does_not_exist_is_refused(combined: Cluster) -> None:
    servers = {"bootstrap_servers": combined.bootstrap_servers}
    refused = run_module("streamops.kafka.leader_election", {**servers, "broker": 99})
    assert refused["failed"]
    assert "broker 99 is no broker of this cluster; there are 1, 2, 3" in refused["msg"]
    nowhere = [{"topic": "orders", "partition": 4711}, {"topic": "no-such-topic", "partition": 0}]
    refused = run_module("streamops.kafka.leader_election", {**servers, "partitions": nowhere})
    assert "partition orders-4711 does not exist" in refused["msg"]
    assert "partition no-such-topic-0 does not exist" in refused["msg"]


def test_topics_carry_their_effective_configuration(combined: Cluster, orders: str) -> None:
    found = info(combined, topics=[orders], topic_configs=["cleanup.policy", "no.such.key"])
    assert found["topics"][0]["config"] == {"cleanup.policy": "delete"}


@pytest.mark.full
def test_an_unreachable_cluster_is_a_clear_error() -> None:
    server = f"127.0.0.1:{free_port_base()}"
    found = run_module("streamops.kafka.cluster_info", {"bootstrap_servers": [server]})
    assert found["failed"]
    assert found["failure"]["kind"] == "ClusterUnreachableError"
    assert server in found["msg"]
