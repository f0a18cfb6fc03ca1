"""Servers of an ensemble come, go and are replaced, one at a time, while a producer writes."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cluster import free_port_base, until
from tests.support.traffic import producing, read_all
from tests.support.zookeeper import ZookeeperCluster, inventory, with_servers

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZookeeperCluster]:
    """Three servers of the older release and three brokers, in an inventory that tests rewrite."""
    directory, variables = tmp_path_factory.mktemp("members"), {"zookeeper_version": "3.8.6"}
    cluster = ZookeeperCluster(inventory(directory / "inventory"), directory / "c", free_port_base(), variables)
    try:
        cluster.playbook().ok()
        yield cluster
    finally:
        cluster.destroy()


def members(cluster: ZookeeperCluster) -> list[list[int]]:
    """The memberships that the servers run with, each once."""
    told = [server["members"] for server in cluster.ensemble(compare_members=False)["servers"] if server["members"]]
    return sorted({tuple(one): one for one in told}.values())


def test_an_empty_server_is_refused_in_passing_and_refills_by_its_playbook(cluster: ZookeeperCluster) -> None:
    cluster.stop("zookeeper2")
    shutil.rmtree(cluster.data("zookeeper2"))
    shutil.rmtree(cluster.directory / "data" / "zookeeper2-txlog")
    refused = cluster.playbook()
    assert refused.rc != 0
    assert "2 of 3 with data, a majority is 2" in " ".join(refused.output.split())
    cluster.playbook("playbooks/replace_node.yml", kafka_replace_node="zookeeper2").ok()
    found = cluster.ensemble()
    assert found["healthy"], found["problems"]
    assert list((cluster.data("zookeeper2") / "version-2").glob("snapshot.*")), "it has the data of the others"


def test_a_majority_of_empty_servers_is_refused_with_the_arithmetic(cluster: ZookeeperCluster) -> None:
    for server in ("zookeeper1", "zookeeper2"):
        cluster.stop(server)
        cluster.data(server).rename(cluster.data(server).with_suffix(".kept"))
    try:
        refused = cluster.playbook()
        replaced = cluster.playbook("playbooks/replace_node.yml", kafka_replace_node="zookeeper1")
    finally:
        for server in ("zookeeper1", "zookeeper2"):
            cluster.data(server).with_suffix(".kept").rename(cluster.data(server))
    assert refused.rc != 0
    assert "1 of 3 with data, a majority is 2" in " ".join(refused.output.split())
    assert replaced.rc != 0
    cluster.playbook().ok()
    assert cluster.ensemble()["healthy"]


def test_without_any_mount_no_new_ensemble_is_founded(cluster: ZookeeperCluster) -> None:
    cluster.playbook("playbooks/stop.yml").ok()
    data, kept = cluster.directory / "data", cluster.directory / "data.kept"
    data.rename(kept)
    refused = cluster.playbook()
    (kept / "zookeeper1").rename(kept / "zookeeper1.kept")
    for node in cluster.nodes:
        (cluster.directory / "config" / node / "has-data").unlink()
    for log in (cluster.directory / "log").glob("*/*"):
        if log.name in ("controller.log", "state-change.log"):
            log.unlink()
    kept.rename(data)
    # What is left then is the data of brokers, which have had an ensemble.
    for server in cluster.servers[1:]:
        cluster.data(server).rename(data / f"{server}.kept")
    lost = cluster.playbook()
    for server in cluster.servers:
        (data / f"{server}.kept").rename(cluster.data(server))
    said = " ".join(refused.output.split())
    assert refused.rc != 0
    for node in cluster.nodes:
        assert str(cluster.directory / "config" / node / "has-data") in said
    assert lost.rc != 0
    assert f"data of broker11 in {cluster.data('broker11')}" in " ".join(lost.output.split())
    cluster.playbook().ok()
    assert cluster.ensemble()["healthy"]


def test_three_become_five_and_three_again_and_nothing_is_lost(cluster: ZookeeperCluster) -> None:
    with producing(cluster.bootstrap_servers, "orders", rate=100) as ledger:
        until(lambda: len(ledger.acknowledged) > 100, "the producer to be under way")
        with_servers(cluster.inventory, 5)
        cluster.__post_init__()
        assert cluster.playbook().rc != 0, "members do not come in passing"
        cluster.playbook("playbooks/zookeeper_members.yml").ok()
        assert members(cluster) == [[1, 2, 3, 4, 5]]
        assert cluster.ensemble()["healthy"]
        assert {server["version"] for server in cluster.ensemble()["servers"]} == {"3.8.6"}
        leaving = ["zookeeper4", "zookeeper5"]
        cluster.playbook("playbooks/zookeeper_members.yml", zookeeper_leaving=leaving).ok()
        assert members(cluster) == [[1, 2, 3]]
        assert not any(cluster.alive(server) for server in leaving)
    with_servers(cluster.inventory, 3)
    cluster.__post_init__()
    assert cluster.ensemble()["healthy"]
    assert cluster.playbook().ok().changed == 0
    assert not ledger.failed
    assert not ledger.lost(read_all(cluster.bootstrap_servers, "orders"))


def test_a_server_that_serves_alone_is_run_again_and_grows_to_three(tmp_path: Path) -> None:
    # One broker cannot hold the three copies of the shipped topics.
    variables = {"kafka_topics": []}
    alone = ZookeeperCluster(inventory(tmp_path / "inventory", 1, 1), tmp_path / "c", free_port_base(), variables)
    try:
        alone.playbook().ok()
        assert alone.playbook().ok().changed == 0
        with_servers(alone.inventory, 3)
        alone.__post_init__()
        alone.playbook("playbooks/zookeeper_members.yml").ok()
        assert members(alone) == [[1, 2, 3]]
        assert alone.ensemble()["healthy"]
    finally:
        alone.destroy()
