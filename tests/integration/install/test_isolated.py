"""Controllers and brokers as separate processes: installed, unchanged, and rolled controllers first."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

import pytest
import yaml

from tests.support.cluster import Cluster, until
from tests.support.modules import run_module
from tests.support.traffic import producing, read_all
from tests.support.watch import Watch

#: Scenario `secure`, which ./test runs, has controllers of their own too.
pytestmark = pytest.mark.full


def test_the_quorum_has_three_voters_and_the_brokers_observe(isolated: Cluster) -> None:
    info = run_module("streamops.kafka.cluster_info", {"bootstrap_servers": isolated.bootstrap_servers})
    assert [voter["id"] for voter in info["quorum"]["voters"]] == [1, 2, 3]
    assert [observer["id"] for observer in info["quorum"]["observers"]] == [4, 5, 6]
    assert [node["id"] for node in info["nodes"]] == [4, 5, 6]


def test_controllers_that_are_all_frozen_are_a_cluster_that_is_down_until_they_go_on(isolated: Cluster) -> None:
    """The brokers serve what they lead, and no metadata changes: nothing tells them that nobody leads."""
    controllers = [node for node in isolated.nodes if node.startswith("controller")]
    nodes = [
        {"host": host, "node_id": node_id, "roles": ["controller" if host in controllers else "broker"]}
        for host, node_id in isolated.identities.items()
    ]
    asked = {"bootstrap_servers": isolated.bootstrap_servers, "request_timeout": 10, "nodes": nodes}
    with contextlib.ExitStack() as frozen:
        for node in controllers:
            frozen.enter_context(isolated.frozen(node))
        found = run_module("streamops.kafka.cluster_health", asked)
    assert (found["status"], found["findings"][0]["kind"]) == ("DOWN", "no_controller"), found["findings"]
    assert f"a majority of {', '.join(controllers)} runs" in found["findings"][0]["next_step"]
    until(lambda: run_module("streamops.kafka.cluster_health", asked)["status"] == "OK", "the quorum to go on", 120)


def test_a_second_run_changes_and_restarts_nothing(isolated: Cluster) -> None:
    before = isolated.pids()
    again = isolated.playbook().ok()
    assert again.changed == 0
    assert f"Bootstrap    {','.join(isolated.bootstrap_servers)}" in again.output, "the cluster is shown at the end"
    assert isolated.pids() == before


def test_a_controller_that_the_inventory_lost_is_named_and_no_node_restarts(isolated: Cluster, tmp_path: Path) -> None:
    inventory = shutil.copytree(isolated.inventory, tmp_path / "inventory")
    hosts = yaml.safe_load((inventory / "hosts.yml").read_text())
    del hosts["kraft_controllers"]["hosts"]["controller3"]
    (inventory / "hosts.yml").write_text(yaml.safe_dump(hosts))
    lost, before = Cluster(inventory, isolated.directory, isolated.port_base, isolated.variables), isolated.pids()
    run = lost.playbook()
    assert run.rc != 0
    assert run.changed == 0
    assert "controller 3 is one of the 3 voters of the quorum (1, 2, 3)" in " ".join(run.output.split())
    assert isolated.pids() == before


def test_a_roll_takes_controllers_before_brokers_the_active_one_late_and_loses_nothing(isolated: Cluster) -> None:
    before = isolated.pids()
    with producing(isolated.bootstrap_servers, "orders") as ledger, Watch(isolated) as watch:
        until(lambda: len(ledger.acknowledged) > 1000, "the producer to be under way")
        isolated.playbook(kafka_config={"queued.max.requests": 401}).ok()
    after = isolated.pids()
    assert all(after[node] != before[node] for node in isolated.nodes)
    assert watch.most_down == 1
    assert sorted(watch.order) == sorted(isolated.nodes), f"exactly one restart per node, saw {watch.order}"
    assert [node for node in watch.order if node.startswith("controller")][:2] == watch.order[:2]
    assert watch.order[-1].startswith("controller"), "the active controller is left for pass 2"
    assert not ledger.failed
    assert not ledger.lost(read_all(isolated.bootstrap_servers, "orders"))
