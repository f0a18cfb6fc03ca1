"""From one release to the next under load, by upgrade.yml: rolled, nothing lost, and taken back.

Before that it is judged by streamops.kafka.upgrade_plan.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.cluster import ROOT, Cluster, free_port_base, until
from tests.support.modules import run_module
from tests.support.traffic import producing, read_all
from tests.support.watch import Watch

OLD, NEW = "3.9.2", "4.3.1"
UPGRADE = "playbooks/upgrade.yml"

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three combined nodes of the old release, which the tests of this file take to the new one and back."""
    directory = tmp_path_factory.mktemp("upgrade")
    cluster = Cluster(ROOT / "inventories" / "local", directory, free_port_base(), {"kafka_version": OLD})
    try:
        cluster.playbook().ok()
        yield cluster
    finally:
        cluster.destroy()


def features(cluster: Cluster) -> dict[str, int]:
    return dict(
        run_module("streamops.kafka.cluster_info", {"bootstrap_servers": cluster.bootstrap_servers})["features"]
    )


def said(output: str) -> str:
    return " ".join(output.split())


def test_an_upgrade_is_planned_refused_rolled_under_load_and_taken_back(cluster: Cluster) -> None:
    before, level = cluster.pids(), features(cluster)

    planned = cluster.playbook(UPGRADE, "--check", kafka_version=NEW).ok()
    assert f"local: {OLD} -> {NEW} (0 of 3 nodes have {NEW})" in said(planned.output)
    assert f"{OLD} -> {NEW}, restarts, leads now, so last" in said(planned.output)
    assert cluster.pids() == before

    # Several reasons at once, before a file is written.
    refused = cluster.playbook(UPGRADE, kafka_version="4.9.9", kafka_upgrade="back")
    assert refused.rc != 0
    assert "this collection does not have Kafka 4.9.9" in said(refused.output)
    assert cluster.playbook(UPGRADE, kafka_version=NEW, kafka_upgrade="sideways").rc != 0
    removed = {"log.message.timestamp.difference.max.ms": 1000}
    refused = cluster.playbook(UPGRADE, kafka_version=NEW, kafka_upgrade="back", kafka_config=removed)
    assert refused.rc != 0
    assert "for 2 reasons. Nothing was changed." in said(refused.output)
    assert f"Kafka {NEW} does not read log.message.timestamp.difference.max.ms" in said(refused.output)
    assert refused.changed == 0
    assert cluster.pids() == before

    with producing(cluster.bootstrap_servers, "orders") as ledger, Watch(cluster) as watch:
        until(lambda: len(ledger.acknowledged) > 1000, "the producer to be under way")
        run = cluster.playbook(UPGRADE, kafka_version=NEW).ok()
        until(lambda: len(ledger.acknowledged) >= 20000, "20,000 acknowledged records", timeout=120)
    assert watch.most_down == 1
    assert not ledger.failed
    found = read_all(cluster.bootstrap_servers, "orders")
    assert not ledger.lost(found)
    assert max(found.values()) == 1, "an idempotent producer leaves no duplicates"
    assert f"local: 3 of 3 nodes have {NEW}" in said(run.output)
    assert f"kafka_version: {OLD} in the inventory" in said(run.output)
    assert features(cluster) == level, "binaries alone raise no feature"

    middle = cluster.pids()
    again = cluster.playbook(UPGRADE, kafka_version=NEW).ok()
    assert again.changed == 0
    assert cluster.pids() == middle

    undecided = cluster.playbook(UPGRADE)
    assert undecided.rc != 0
    assert "to go back, add -e kafka_upgrade=back" in said(undecided.output)
    assert cluster.pids() == middle

    returned = cluster.playbook(UPGRADE, kafka_upgrade="back").ok()
    assert f"local: 3 of 3 nodes have {OLD}" in said(returned.output)
    assert all(cluster.pid(node) != middle[node] for node in cluster.nodes)
    assert not ledger.lost(read_all(cluster.bootstrap_servers, "orders"))
