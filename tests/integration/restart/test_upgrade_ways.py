"""To the newest release under load, by upgrade.yml, in each mode; its features come after it as a step of their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._release.releases import release
from tests.support.cluster import ROOT, Cluster, free_port_base, said, until
from tests.support.traffic import producing, read_all
from tests.support.upgrades import UPGRADE, features, finalize
from tests.support.watch import Watch

# A cluster of its own that is rolled three times: a sixth of all plain tests on brokers, by their minutes.
pytestmark = pytest.mark.full

NEW = "4.4.0"
#: The inventory of a cluster and the release that it comes from.
COMBINED, ISOLATED = ("local", "4.3.1"), ("local_isolated", "4.1.2")
#: Records a second, and how many are acknowledged before a run begins.
RATE, UNDER_WAY = 500, 200
#: How many are acknowledged at least while a cluster goes there and back, and while one goes there. With those of
#: test_upgrade.py and zookeeper/test_zookeeper_upgrade.py the long forms count 300,000 or more.
THERE_AND_BACK, THERE = 100_000, 50_000


@pytest.fixture(
    scope="module",
    params=[pytest.param(COMBINED, id="combined"), pytest.param(ISOLATED, id="isolated")],
)
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster of an older release, which the tests of this file take to the newest one in order."""
    inventory, old = request.param
    variables = {"kafka_version": old}
    one = Cluster(ROOT / "inventories" / inventory, tmp_path_factory.mktemp("way"), free_port_base(), variables)
    # The stream of a proof stands there, and another cluster of this name may be proven at the same time.
    one.variables["streamops_artifacts"] = str(one.directory / "left")
    try:
        one.playbook().ok()
        yield one
    finally:
        one.destroy()


@pytest.mark.parametrize("cluster", [pytest.param(COMBINED, id="combined")], indirect=True)
def test_it_goes_there_and_back_under_load_and_nothing_is_lost(cluster: Cluster) -> None:
    level, before = features(cluster), cluster.pids()
    with producing(cluster.bootstrap_servers, "payments", rate=RATE, keys=50) as ledger, Watch(cluster) as watch:
        until(lambda: len(ledger.acknowledged) > UNDER_WAY, "the producer to be under way")
        cluster.playbook(UPGRADE, kafka_version=NEW).ok()
        there = cluster.pids()
        back = cluster.playbook(UPGRADE, kafka_upgrade="back").ok()
        ledger.reaches(THERE_AND_BACK)
    assert watch.most_down == 1
    assert all(len({pids[node] for pids in (before, there, cluster.pids())}) == 3 for node in cluster.nodes)
    assert f"3 of 3 nodes have {cluster.variables['kafka_version']}" in said(back)
    assert "none lost, repeated or out of order" in said(back)
    assert not ledger.failed
    assert not ledger.lost(read_all(cluster.bootstrap_servers, "payments"))
    assert features(cluster) == level


def test_every_node_gets_the_release_under_load_and_nothing_is_lost(cluster: Cluster) -> None:
    old = cluster.variables["kafka_version"]
    level, before, nodes = features(cluster), cluster.pids(), len(cluster.nodes)
    with producing(cluster.bootstrap_servers, "orders", rate=RATE) as ledger, Watch(cluster) as watch:
        until(lambda: len(ledger.acknowledged) > UNDER_WAY, "the producer to be under way")
        run = cluster.playbook(UPGRADE, kafka_version=NEW).ok()
        ledger.reaches(THERE)
    assert f"{cluster.inventory.name}: {old} -> {NEW} (0 of {nodes} nodes have {NEW})" in said(run)
    assert f"{cluster.inventory.name}: {nodes} of {nodes} nodes have {NEW}" in said(run)
    assert (watch.most_down, sorted(watch.order)) == (1, sorted(cluster.nodes))
    assert all(cluster.pid(node) != before[node] for node in cluster.nodes)
    assert "none lost, repeated or out of order" in said(run)
    assert not ledger.failed
    found = read_all(cluster.bootstrap_servers, "orders")
    assert not ledger.lost(found)
    assert max(found.values()) == 1, "an idempotent producer leaves no duplicates"
    assert features(cluster) == level, "binaries alone raise no feature"


def test_its_features_are_raised_and_no_node_restarts(cluster: Cluster) -> None:
    before, pids = features(cluster), cluster.pids()
    run = finalize(cluster, kafka_version=NEW).ok()
    assert "features raised, no node restarted" in said(run)
    # kraft.version is raised by its name alone.
    assert features(cluster) == {**release(NEW).new_cluster, "kraft.version": before["kraft.version"]}
    assert cluster.pids() == pids
