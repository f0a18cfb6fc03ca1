# SPDX-License-Identifier: GPL-3.0-or-later
"""What playbooks/status.yml says where nothing answers, that status_strict ends it with an error, and its report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.cluster import ROOT, Cluster, free_port_base, hosts_file, local_variables
from tests.support.markup import Markup
from tests.support.zookeeper import ZookeeperCluster


def lone_ensemble(folder: Path) -> ZookeeperCluster:
    """An inventory of three servers of ZooKeeper and nothing else, of which none runs."""
    servers = {f"zookeeper{number}": {"zookeeper_id": number} for number in (1, 2, 3)}
    inventory = hosts_file(folder / "inventory", {"zookeeper": servers}, local_variables("local_zookeeper"))
    return ZookeeperCluster(inventory, folder / "run", free_port_base())


@pytest.mark.full
def test_an_inventory_of_zookeeper_alone_is_looked_at_and_strict_about_it(tmp_path: Path) -> None:
    ensemble = lone_ensemble(tmp_path)
    seen = ensemble.playbook("playbooks/status.yml", status_report=str(tmp_path / "status.html")).ok()
    assert "DOWN         ensemble of" in seen.output
    assert "zookeeper3 (id 3, unreachable" in " ".join(seen.output.split())
    (told,) = json.loads((tmp_path / "status.json").read_text())["clusters"]
    assert (told["status"], len(told["ensemble"]["servers"])) == ("DOWN", 3)
    strict = ensemble.playbook("playbooks/status.yml", "--check", status_strict=True)
    assert strict.rc != 0
    assert "no server leads" in strict.output
    assert strict.changed == 0


@pytest.mark.full
def test_check_mode_asks_a_cluster_too_and_fails_where_none_answers(tmp_path: Path) -> None:
    cluster = Cluster(ROOT / "inventories" / "local", tmp_path / "run", free_port_base())
    page = tmp_path / "status.html"
    run = cluster.playbook("playbooks/status.yml", "--check", status_report=str(page))
    assert run.rc != 0
    assert "no bootstrap server answered" in " ".join(run.output.split())
    assert "(check mode: not written)" in " ".join(run.output.split())
    assert not page.exists()


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


@pytest.mark.full
def test_a_report_is_left_of_clusters_and_a_mirror_that_are_down_although_the_run_fails(tmp_path: Path) -> None:
    centres = Cluster(ROOT / "inventories" / "local_mirror", tmp_path / "run", free_port_base())
    page = tmp_path / "status.html"
    run = centres.playbook("playbooks/status.yml", status_report=str(page))
    assert run.rc != 0
    assert f"Report {page}" in " ".join(run.output.split()), run.output[-6000:]
    found = json.loads((tmp_path / "status.json").read_text())
    assert [(one["name"], one["status"]) for one in found["clusters"]] == [("dc_a", "DOWN"), ("dc_b", "DOWN")]
    assert ("dc_a->dc_b", "DOWN") in [(one["flow"], one["status"]) for one in found["mirrors"]]
    read = Markup(page.read_text())
    assert read.open == []
    assert "DOWN: " in read.text
    assert "the cluster does not answer" in read.text
    assert {page.stat().st_mode & 0o777, (tmp_path / "status.json").stat().st_mode & 0o777} == {0o640}


def test_a_report_that_cannot_be_written_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    ensemble = lone_ensemble(tmp_path)
    run = ensemble.playbook("playbooks/status.yml", status_report=str(tmp_path / "none" / "status.html"))
    said = " ".join(run.output.split())
    assert run.rc != 0
    assert f"the directory {tmp_path}/none does not exist on the control node" in said
    assert "No cluster was asked" in said
    assert "ensemble of" not in said
