"""The story that the classic guides tell, on brokers with ZooKeeper and on brokers with controllers of their own."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

from tests.support.cluster import Cluster, until
from tests.support.modules import run_module
from tests.support.moves import topic_of
from tests.support.traffic import consuming, producing

#: test_zookeeper.py, which ./test runs, rolls and stops such brokers too, and scenario `zookeeper` cuts their power.
pytestmark = pytest.mark.full
TOPIC, ALONE = "story", "alone"


def described(cluster: Cluster) -> list[dict[str, Any]]:
    """The partitions of the topic with leader, replicas and ISR; none while there is no controller to tell."""
    asked = {"bootstrap_servers": cluster.bootstrap_servers, "topics": [TOPIC]}
    info = run_module("streamops.kafka.cluster_info", asked)
    return [partition for topic in info.get("topics", ()) for partition in topic["partitions"]]


@pytest.mark.parametrize("mode", ["zookeeper", "isolated"])
def test_a_broker_dies_under_load_and_returns_and_nothing_is_lost(mode: str, request: pytest.FixtureRequest) -> None:
    cluster: Cluster = request.getfixturevalue(mode)
    topic = {"name": TOPIC, "partitions": 10, "replication_factor": 2, "config": {"min.insync.replicas": 1}}
    asked = {"bootstrap_servers": cluster.bootstrap_servers, "topics": [topic]}
    assert not run_module("streamops.kafka.topics", asked)["failed"]
    before = described(cluster)
    assert len(before) == 10
    assert all(len(p["replicas"]) == 2 and sorted(p["isr"]) == sorted(p["replicas"]) for p in before)
    victim = before[0]["leader"]
    name = next(node for node, number in cluster.identities.items() if number == victim and node.startswith("broker"))

    with (
        consuming(cluster.bootstrap_servers, TOPIC) as read,
        producing(cluster.bootstrap_servers, TOPIC, rate=500) as ledger,
    ):
        until(lambda: len(ledger.acknowledged) > 500 and len(read) > 500, "traffic")
        cluster.kill_supervisord()
        cluster.kill(name)

        def moved() -> bool:
            found = described(cluster)
            return found != [] and all(victim not in p["isr"] and p["leader"] not in (victim, None) for p in found)

        until(moved, "the ISR to shrink and the leaders to move", timeout=120)
        written, seen = len(ledger.acknowledged), len(read)
        until(lambda: len(ledger.acknowledged) > written + 500 and len(read) > seen + 500, "clients to go on")
        cluster.playbook().ok()
        after = described(cluster)
        assert all(sorted(p["isr"]) == sorted(p["replicas"]) for p in after), "the ISR is full again"
        assert all(p["leader"] == p["replicas"][0] for p in after), "preferred leaders are back"
    assert not ledger.failed
    assert not ledger.lost(read), "what was acknowledged was read"


@pytest.mark.parametrize(("mode", "name"), [("zookeeper", "broker12"), ("isolated", "broker5")])
def test_a_broker_is_replaced_by_an_empty_one_and_refills(mode: str, name: str, request: pytest.FixtureRequest) -> None:
    cluster: Cluster = request.getfixturevalue(mode)
    data, number = cluster.directory / "data" / name, cluster.identities[name]
    alive = cluster.playbook("playbooks/replace_node.yml", kafka_replace_node=name)
    assert alive.rc != 0
    assert "A node that lives needs no replacement" in " ".join(alive.output.split())
    with topic_of(cluster, ALONE, {0: [number]}, 1):
        cluster.stop(name)
        there = cluster.playbook("playbooks/replace_node.yml", kafka_replace_node=name)
        assert there.rc != 0
        assert "there is data in" in " ".join(there.output.split())
        shutil.rmtree(data)
        plain = cluster.playbook()
        assert plain.rc != 0, "a broker that the cluster knows is not started empty by accident"
        assert f"while the cluster knows broker {number}" in " ".join(plain.output.split())
        last = cluster.playbook("playbooks/replace_node.yml", kafka_replace_node=name)
        assert last.rc != 0
        assert f"{ALONE}: partition 0: broker {number} has the only replica" in " ".join(last.output.split())
        assert not data.exists()
        consent = {"kafka_replace_node": name, "kafka_replace_lost_topics": ALONE}
        cluster.playbook("playbooks/replace_node.yml", **consent).ok()
    info = run_module("streamops.kafka.cluster_info", {"bootstrap_servers": cluster.bootstrap_servers})
    assert info["counts"]["under_replicated"] == 0
    assert list(data.glob("orders-*/*.log"))
