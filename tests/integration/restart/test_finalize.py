# SPDX-License-Identifier: GPL-3.0-or-later
"""Features as a step of their own, by upgrade.yml: judged, shown, raised, and nothing left for a second run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.cluster import Cluster, free_port_base, hosts_file, local_variables, said
from tests.support.upgrades import features, finalize

OLD, NEW = "3.9.2", "4.3.1"
#: What a cluster of the old release has finalised, and what the new one gives.
BEFORE, AFTER = 21, 30

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One combined node of the old release, stopped, which the tests of this file take to the new one in order."""
    directory = tmp_path_factory.mktemp("finalize")
    one = {"kafka1": {"kafka_node_id": 1}}
    variables = {**local_variables(), "kafka_topics": [{"name": "one", "partitions": 1, "replication_factor": 1}]}
    inventory = hosts_file(directory / "inventory", {"kraft_controllers": one, "kafka_brokers": one}, variables)
    cluster = Cluster(inventory, directory / "cluster", free_port_base(), {"kafka_version": NEW})
    try:
        cluster.playbook(kafka_version=OLD).ok()
        cluster.stop("kafka1")
        yield cluster
    finally:
        cluster.destroy()


def test_a_node_that_is_down_or_on_the_old_release_is_refused_with_all_reasons(cluster: Cluster) -> None:
    refused = finalize(cluster)
    assert (refused.rc != 0, refused.changed) == (True, 0)
    assert "Cluster local cannot be finalised now, for 3 reasons. Nothing was changed." in said(refused)
    assert "kafka1 is stopped. fix: start it by playbook site" in said(refused)
    assert f"kafka1 runs Kafka {OLD}, and kafka_version is {NEW}. fix: bring it there" in said(refused)
    assert "the cluster does not answer" in said(refused)
    cluster.playbook().ok()
    assert features(cluster)["metadata.version"] == BEFORE


def test_levels_that_nobody_knows_are_refused_and_nothing_is_changed(cluster: Cluster) -> None:
    before = features(cluster)
    wrong = finalize(cluster, kafka_upgrade_features={"group.versio": 1, "metadata.version": "4.4"})
    assert (wrong.rc != 0, wrong.changed) == (True, 0)
    assert "cannot be finalised now, for 2 reasons" in said(wrong)
    assert "group.versio: no node knows a feature of this name (names like it: group.version" in said(wrong)
    assert "metadata.version: level 4.4-IV2 (level 33) is not supported by all nodes" in said(wrong)
    assert features(cluster) == before


def test_check_mode_shows_each_step_and_changes_nothing(cluster: Cluster) -> None:
    before, pids = features(cluster), cluster.pids()
    planned = finalize(cluster, "--check").ok()
    assert f"Finalize local: Kafka {NEW} on 1 node" in said(planned)
    assert "Raise 1. metadata.version 3.9-IV0 (level 21) -> 4.3-IV0 (level 30)" in said(planned)
    assert "It cannot be taken back below 4.3-IV0" in said(planned)
    assert "Raise 2. group.version 0 -> 1" in said(planned)
    assert "Stays kraft.version 1" in said(planned)
    assert (features(cluster), cluster.pids()) == (before, pids)


def test_levels_by_hand_are_raised_alone_also_as_text(cluster: Cluster) -> None:
    run = finalize(cluster, kafka_upgrade_features='{"metadata.version": "4.0"}').ok()
    shown = said(run).rpartition("Show what was raised")[2]
    assert "Finalised local: 1 feature raised, no node restarted" in shown
    assert "metadata.version 3.9-IV0 (level 21) -> 4.0-IV3 (level 25)" in shown
    assert (features(cluster)["metadata.version"], features(cluster).get("group.version", 0)) == (25, 0)


def test_features_are_raised_without_a_restart_and_a_second_run_finds_nothing_left(cluster: Cluster) -> None:
    pids, files = cluster.pids(), cluster.start_files("kafka1")
    run = finalize(cluster).ok()
    assert run.changed == 1
    assert "features raised, no node restarted" in said(run)
    found = features(cluster)
    assert (found["metadata.version"], found["group.version"], found["transaction.version"]) == (AFTER, 1, 2)
    assert (cluster.pids(), cluster.start_files("kafka1")) == (pids, files)
    again = finalize(cluster).ok()
    assert again.changed == 0
    assert "Finalised local: nothing is left to raise" in said(again)
    assert finalize(cluster, "--check").ok().changed == 0
    assert features(cluster) == found
