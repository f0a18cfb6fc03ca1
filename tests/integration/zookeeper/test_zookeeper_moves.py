"""Moves on Kafka 3.9, in mode zookeeper and with KRaft: the same module, the same promises."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import list_brokers
from tests.support.cluster import ROOT, Cluster, free_port_base, until
from tests.support.modules import run_module
from tests.support.moves import administering, move, record, replicas, throttles, topic_of
from tests.support.traffic import producing, read_all

NAME = "in-modes"


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three combined nodes of Kafka 3.9."""
    inventory, directory = ROOT / "inventories" / "local", tmp_path_factory.mktemp("older")
    cluster = Cluster(inventory, directory, free_port_base(), {"kafka_version": "3.9.2"})
    try:
        cluster.playbook().ok()
        yield cluster
    finally:
        cluster.destroy()


def brokers(cluster: Cluster) -> list[int]:
    """The ids of the brokers."""
    with administering(cluster) as admin:
        return [broker.id for broker in list_brokers(admin)]


@pytest.mark.full
@pytest.mark.parametrize("mode", ["zookeeper", "older"])
def test_replicas_move_under_load_and_throttles_are_then_as_they_were(
    mode: str, request: pytest.FixtureRequest
) -> None:
    cluster: Cluster = request.getfixturevalue(mode)
    first, second, third = brokers(cluster)
    placed = {0: [first, second], 1: [second, third], 2: [second, first], 3: [third, first]}
    wanted = {0: [first, third], 1: [first, third], 2: [second, third], 3: [third, second]}
    listed = [{"topic": NAME, "partition": number, "replicas": held} for number, held in wanted.items()]
    wish = {"assignment": {"version": 1, "partitions": listed}, "throttle": 20_000_000}
    with topic_of(cluster, NAME, placed, 3):
        before = throttles(cluster, NAME)
        with producing(cluster.bootstrap_servers, NAME, rate=500) as ledger:
            until(lambda: len(ledger.acknowledged) > 1000, "traffic")
            planned = move(cluster, check=True, **wish)
            moved = move(cluster, **wish)
            again = move(cluster, **wish)
            assert not moved["failed"], moved["msg"]
            assert planned["moves"] == moved["moves"] == 4
            assert replicas(cluster, NAME) == wanted
            assert not again["changed"]
            levelled = move(cluster, rebalance=True, throttle=20_000_000)
            assert not levelled["failed"], levelled["msg"]
        info = run_module("streamops.kafka.cluster_info", {"bootstrap_servers": cluster.bootstrap_servers})
        counts = [node["replicas"] for node in info["nodes"]]
        assert info["counts"]["under_replicated"] == 0
        assert max(counts) - min(counts) <= 1
        assert throttles(cluster, NAME) == before
        assert record(cluster) is None
        assert not ledger.failed
        assert not ledger.lost(read_all(cluster.bootstrap_servers, NAME))
