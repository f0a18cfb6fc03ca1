# SPDX-License-Identifier: GPL-3.0-or-later
"""What playbooks/status.yml says where nothing answers, and that status_strict ends it with an error."""

from __future__ import annotations

from pathlib import Path

from tests.support.cluster import ROOT, Cluster, free_port_base, hosts_file, local_variables
from tests.support.zookeeper import ZookeeperCluster


def lone_ensemble(folder: Path) -> ZookeeperCluster:
    """An inventory of three servers of ZooKeeper and nothing else, of which none runs."""
    servers = {f"zookeeper{number}": {"zookeeper_id": number} for number in (1, 2, 3)}
    inventory = hosts_file(folder / "inventory", {"zookeeper": servers}, local_variables("local_zookeeper"))
    return ZookeeperCluster(inventory, folder / "run", free_port_base())


def test_an_inventory_of_zookeeper_alone_is_looked_at_and_strict_about_it(tmp_path: Path) -> None:
    ensemble = lone_ensemble(tmp_path)
    seen = ensemble.playbook("playbooks/status.yml").ok()
    assert "DEGRADED     ensemble of" in seen.output
    assert "zookeeper3 (id 3, unreachable" in " ".join(seen.output.split())
    strict = ensemble.playbook("playbooks/status.yml", "--check", status_strict=True)
    assert strict.rc != 0
    assert "no server leads" in strict.output
    assert strict.changed == 0


def test_check_mode_asks_a_cluster_too_and_fails_where_none_answers(tmp_path: Path) -> None:
    cluster = Cluster(ROOT / "inventories" / "local", tmp_path / "run", free_port_base())
    run = cluster.playbook("playbooks/status.yml", "--check")
    assert run.rc != 0
    assert "no bootstrap server answered" in " ".join(run.output.split())


def test_clusters_and_a_mirror_that_do_not_answer_are_all_told_of_as_down(tmp_path: Path) -> None:
    centres = Cluster(ROOT / "inventories" / "local_mirror", tmp_path / "run", free_port_base())
    run = centres.playbook("playbooks/status.yml", status_fail_on="never").ok()
    said = " ".join(run.output.split())
    for what in (
        "dc_a: the cluster does not answer",
        "dc_b: the cluster does not answer",
        "mirror dc_a->dc_b: nothing",
    ):
        assert f"DOWN {what}" in said, run.output[-6000:]
    assert run.changed == 0
