"""An ensemble goes to a newer release under load by upgrade.yml, and back; the brokers stay as they are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.cluster import free_port_base, said, until
from tests.support.traffic import producing, read_all
from tests.support.upgrades import UPGRADE
from tests.support.watch import Watch
from tests.support.zookeeper import ZookeeperCluster, shipped

OLD, NEW = "3.8.6", "3.9.5"
KAFKA = "3.9.2"
#: Records a second, and how many are acknowledged at least on each way.
RATE, LEAST = 500, 20_000

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZookeeperCluster]:
    """Three servers of the older release and three brokers, which the tests of this file take on in order."""
    directory, variables = tmp_path_factory.mktemp("ensemble"), {"zookeeper_version": OLD}
    one = ZookeeperCluster(shipped(), directory, free_port_base(), variables)
    # The stream of a proof stands there, and another cluster of this name may be proven at the same time.
    one.variables["streamops_artifacts"] = str(directory / "left")
    try:
        one.playbook().ok()
        yield one
    finally:
        one.destroy()


def test_the_plan_has_the_servers_alone(cluster: ZookeeperCluster) -> None:
    before = cluster.pids()
    planned = said(cluster.playbook(UPGRADE, "--check", zookeeper_version=NEW).ok())
    assert f"local_zookeeper: {KAFKA} (3 of 3 nodes have {KAFKA}); ZooKeeper {OLD} -> {NEW}" in planned
    turns = [planned.index(f"Node {turn}. ") for turn in (1, 2, 3)]
    assert turns == sorted(turns)
    for broker in cluster.brokers:
        assert f"Node - {broker} (id {cluster.identities[broker]}, broker) {KAFKA}, done" in planned
    for server in cluster.servers:
        assert f"{server} (id {cluster.identities[server]}, zookeeper) {OLD} -> {NEW}, restarts" in planned
    assert cluster.pids() == before
    undecided = cluster.playbook(UPGRADE, zookeeper_version=NEW, kafka_upgrade="back")
    assert (undecided.rc != 0, undecided.changed) == (True, 0)
    assert f"kafka_upgrade=back, but zookeeper_version {NEW} is newer than what" in said(undecided)


@pytest.mark.parametrize(("release", "words"), [(NEW, {}), (OLD, {"kafka_upgrade": "back"})], ids=["there", "back"])
def test_the_ensemble_rolls_under_load_and_the_brokers_stay(
    cluster: ZookeeperCluster, release: str, words: dict[str, str]
) -> None:
    before, topic = cluster.pids(), "orders" if release == NEW else "payments"
    with producing(cluster.bootstrap_servers, topic, rate=RATE, keys=50) as ledger, Watch(cluster) as watch:
        until(lambda: len(ledger.acknowledged) > 100, "the producer to be under way")
        leader = cluster.leader()
        run = cluster.playbook(UPGRADE, zookeeper_version=release, **words).ok()
        ledger.reaches(LEAST)
    restarted = [node for node in cluster.nodes if cluster.pid(node) != before[node]]
    assert restarted == cluster.servers
    assert (watch.most_down, watch.order[-1]) == (1, leader)
    found = cluster.ensemble()
    assert found["healthy"], found["problems"]
    assert {server["version"] for server in found["servers"]} == {release}
    assert f"ZooKeeper 3 of 3 servers have {release}" in said(run)
    assert not ledger.failed
    assert not ledger.lost(read_all(cluster.bootstrap_servers, topic))
