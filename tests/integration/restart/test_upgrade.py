"""From one release to the next under load, by upgrade.yml: rolled, nothing lost, and taken back.

Before that it is judged by streamops.kafka.upgrade_plan.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.cluster import ROOT, Cluster, free_port_base, kill, read_until, said, until
from tests.support.old_client import ask_as_of_old
from tests.support.traffic import producing, read_all
from tests.support.upgrades import UPGRADE, features, finalize
from tests.support.watch import Watch

OLD, NEW = "3.9.2", "4.3.1"
#: Records a second, and how many are acknowledged at least on the way.
RATE, LEAST = 500, 60_000

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three combined nodes of the old release, which the tests of this file take to the new one and back, in order."""
    directory = tmp_path_factory.mktemp("upgrade")
    cluster = Cluster(ROOT / "inventories" / "local", directory, free_port_base(), {"kafka_version": OLD})
    # The stream of a proof stands there, and another cluster of this name may be proven at the same time.
    cluster.variables["streamops_artifacts"] = str(directory / "left")
    try:
        cluster.playbook().ok()
        yield cluster
    finally:
        cluster.destroy()


def test_check_mode_shows_the_plan_and_changes_nothing(cluster: Cluster) -> None:
    before = cluster.pids()
    planned = cluster.playbook(UPGRADE, "--check", kafka_version=NEW).ok()
    assert f"local: {OLD} -> {NEW} (0 of 3 nodes have {NEW})" in said(planned)
    last = said(planned).rpartition("Show the plan again")[2]
    assert f"{OLD} -> {NEW}, restarts, leads now, so last" in last
    assert "Features kraft.version 1, metadata.version 21; they stay as they are" in last
    assert "Check Clients: none too old since " in last, "nor do the modules of the product use what 4.x removed"
    assert cluster.pids() == before
    assert not list(cluster.directory.glob(f"install/releases/*{NEW}*"))


def test_a_run_is_refused_with_all_reasons_before_anything_changes(cluster: Cluster) -> None:
    before = cluster.pids()
    unknown = cluster.playbook(UPGRADE, kafka_version="4.9.9")
    assert (unknown.rc != 0, unknown.changed) == (True, 0)
    assert "this collection does not have Kafka 4.9.9. fix: set kafka_version to one of" in said(unknown)
    removed = {"log.message.timestamp.difference.max.ms": 1000}
    wrong = cluster.playbook(UPGRADE, kafka_version=NEW, kafka_upgrade="back", kafka_config=removed)
    assert (wrong.rc != 0, wrong.changed) == (True, 0)
    assert "Cluster local cannot be taken back now, for 2 reasons. Nothing was changed." in said(wrong)
    assert f"kafka_version {NEW} is newer than what kafka1, kafka2, kafka3 runs ({OLD})" in said(wrong)
    assert f"Kafka {NEW} does not read log.message.timestamp.difference.max.ms" in said(wrong)
    assert cluster.playbook(UPGRADE, kafka_version=NEW, kafka_upgrade="sideways").rc != 0
    proof = cluster.playbook(UPGRADE, kafka_version=NEW, kafka_prove_topic="orders")
    assert (proof.rc != 0, proof.changed) == (True, 0)
    assert "refused_proof" in said(proof), "a roll is proven by default, so what its proof would not take is refused"
    assert cluster.pids() == before


def test_an_upgrade_that_is_cut_is_finished_by_the_next_run_and_loses_nothing(cluster: Cluster) -> None:
    level, before = features(cluster), cluster.pids()
    with producing(cluster.bootstrap_servers, "orders", rate=RATE) as ledger, Watch(cluster) as watch:
        until(lambda: len(ledger.acknowledged) > 1000, "the producer to be under way")
        cut = cluster.begin(UPGRADE, kafka_version=NEW)
        read_until(cut, "Roll | Record the restart")
        kill(cut)
        done = {node for node in cluster.nodes if cluster.pid(node) != before[node]}
        assert len(done) == 1
        mixed = cluster.playbook("playbooks/status.yml", status_fail_on="never").ok()
        assert f"{NEW} on 1 of 3 nodes ({done.pop()})" in said(mixed)
        run = cluster.playbook(UPGRADE, kafka_version=NEW).ok()
        ledger.reaches(LEAST)
    assert f"(1 of 3 nodes has {NEW})" in said(run)
    assert run.output.count("Roll | Record the restart") == 2
    assert watch.most_down == 1
    assert not ledger.failed
    found = read_all(cluster.bootstrap_servers, "orders")
    assert not ledger.lost(found)
    assert max(found.values()) == 1, "an idempotent producer leaves no duplicates"
    assert f"local: 3 of 3 nodes have {NEW}" in said(run)
    assert f"kafka_version: {OLD} in the inventory" in said(run)
    assert features(cluster) == level, "binaries alone raise no feature"


def test_a_second_run_changes_nothing_and_the_way_back_has_a_word_of_its_own(cluster: Cluster) -> None:
    before = cluster.pids()
    assert cluster.playbook(UPGRADE, kafka_version=NEW).ok().changed == 0
    undecided = cluster.playbook(UPGRADE)
    assert undecided.rc != 0
    assert "to go back, add -e kafka_upgrade=back" in said(undecided)
    assert cluster.pids() == before


def test_before_features_are_raised_the_cluster_goes_back(cluster: Cluster) -> None:
    before = cluster.pids()
    with Watch(cluster) as watch:
        back = cluster.playbook(UPGRADE, kafka_upgrade="back").ok()
    assert watch.most_down == 1
    assert f"local: 3 of 3 nodes have {OLD}" in said(back)
    assert all(cluster.pid(node) != before[node] for node in cluster.nodes)
    assert sum(read_all(cluster.bootstrap_servers, "orders").values()) >= LEAST


def test_a_client_that_is_too_old_holds_the_upgrade_back(cluster: Cluster) -> None:
    before = cluster.pids()
    ask_as_of_old(cluster.port("kafka2"))
    refused = cluster.playbook(UPGRADE, "--check", kafka_version=NEW)
    assert (refused.rc != 0, refused.changed) == (True, 0)
    assert f"a client of unknown software is too old for Kafka {NEW} (KIP-896): ListOffsets v0 1 times" in said(refused)
    assert "on kafka2 since " in said(refused)
    watched = cluster.playbook(UPGRADE, "--check", kafka_version=NEW, kafka_upgrade_watch_seconds="2").ok()
    assert "Check Clients: none too old within 2 s" in said(watched)
    assert cluster.pids() == before


def test_after_features_are_raised_it_does_not(cluster: Cluster) -> None:
    accepted = cluster.playbook(UPGRADE, kafka_version=NEW, kafka_upgrade_accept_old_clients="true").ok()
    assert "kafka_upgrade_accept_old_clients accepts that it fails" in said(accepted)
    before = cluster.pids()
    raised = finalize(cluster, kafka_version=NEW).ok()
    assert "features raised, no node restarted" in said(raised)
    assert (features(cluster)["metadata.version"], cluster.pids()) == (30, before)
    refused = cluster.playbook(UPGRADE, kafka_upgrade="back")
    assert (refused.rc != 0, refused.changed) == (True, 0)
    assert f"which Kafka {OLD} does not know" in said(refused)
    assert cluster.pids() == before
