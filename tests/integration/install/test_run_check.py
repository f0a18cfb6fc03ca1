# SPDX-License-Identifier: GPL-3.0-or-later
"""--limit and the strategy of a run, in every playbook that users may call; no cluster is needed."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.cluster import ROOT, Cluster, Run, free_port_base, said
from tests.support.forms import short
from tests.support.playbooks import PUBLIC, example, first

#: awx.yml works on AWX, and on no host of a cluster.
STARTED = [name for name in PUBLIC if name != "awx"]
#: These begin with the preflight, which refuses a part of a cluster (limit_splits_cluster) together with all else.
WITH_PREFLIGHT = [name for name in STARTED if "roles/preflight/tasks/main.yml" in first(name)[0]]
#: These begin with _start.yml. The others work on hosts beside the clusters, so a part of one is nothing to them.
WITH_START = [name for name in STARTED if first(name)[0] == ["run_check"]]


def refused(cluster: Cluster, run: Run) -> str:
    """What a run said that failed, changed nothing, and left nothing in the cluster's folder."""
    assert run.rc != 0, run.output[-3000:]
    assert run.changed == 0
    assert [path.name for path in cluster.directory.iterdir()] == ["extra-vars.yml"]
    return said(run)


def shipped(playbook: str, folder: Path) -> tuple[Cluster, str]:
    """A shipped inventory that the playbook is for, and a host that is a part of its cluster."""
    name, host = ("local_zookeeper", "zookeeper2") if playbook == "zookeeper_members" else ("local", "kafka2")
    return Cluster(ROOT / "inventories" / name, folder / "run", free_port_base()), host


def started() -> list[Any]:
    """Every public playbook; the short form runs one that asks by itself, and one that shares a check (_start.yml)."""
    return short(STARTED, "site", "status")


@pytest.mark.parametrize("playbook", started())
def test_a_part_of_a_cluster_and_strategy_free_are_refused(
    playbook: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster, host = shipped(playbook, tmp_path)
    monkeypatch.setenv("ANSIBLE_STRATEGY", "free")
    run = cluster.playbook(f"playbooks/{playbook}.yml", "--limit", host, **example(playbook))
    why = refused(cluster, run)
    assert "strategy free is refused" in why
    assert (f"--limit {host} leaves out" in why) == (playbook in WITH_START)


@pytest.mark.full
@pytest.mark.parametrize("playbook", WITH_PREFLIGHT)
def test_the_preflight_refuses_a_part_of_a_cluster(playbook: str, tmp_path: Path) -> None:
    cluster, host = shipped(playbook, tmp_path)
    why = refused(cluster, cluster.playbook(f"playbooks/{playbook}.yml", "--limit", host))
    assert f"{host}: --limit leaves out" in why or "--limit leaves out a part of cluster" in why


@pytest.mark.parametrize("playbook", ["site", pytest.param("stop", marks=pytest.mark.full)])
def test_a_start_in_the_middle_is_refused(playbook: str, tmp_path: Path) -> None:
    cluster, _host = shipped(playbook, tmp_path)
    start = {"site": "Install, configure and start the broker", "stop": "Stop the node"}[playbook]
    why = refused(cluster, cluster.playbook(f"playbooks/{playbook}.yml", "--start-at-task", start))
    assert f"--start-at-task '{start}' is refused: it passes by the checks" in why
    assert "is undefined" not in why


@pytest.mark.parametrize("option", ["--tags", pytest.param("--skip-tags", marks=pytest.mark.full)])
def test_a_tag_that_no_task_has_is_refused(option: str, tmp_path: Path) -> None:
    cluster, _host = shipped("site", tmp_path)
    why = refused(cluster, cluster.playbook("playbooks/site.yml", option, "kafka_topic,kafka_users"))
    assert "no task has the tag kafka_topic, so" in why
    assert "kafka_acls, kafka_client_bundle, kafka_configs" in why


@pytest.mark.full
def test_an_inventory_without_a_group_of_this_collection_is_refused(tmp_path: Path) -> None:
    inventory = tmp_path / "inventory"
    inventory.mkdir()
    (inventory / "hosts.yml").write_text(yaml.safe_dump({"kafka": {"hosts": {"kafka1": None}}}))
    cluster = Cluster(inventory, tmp_path / "run", free_port_base())
    for playbook in ("site", "status"):
        why = refused(cluster, cluster.playbook(f"playbooks/{playbook}.yml"))
        assert "no host in the groups zookeeper, kraft_controllers, kafka_brokers, mirror_makers" in why
        assert "kafka_brokers: {children: {my_brokers: {}}}" in why


@pytest.mark.full
@pytest.mark.parametrize(
    "hosts", short([{}, {"kafka_brokers": {"hosts": {}}}, {"kafka_brokers": {}, "mine": {"hosts": {"a": None}}}], {})
)
def test_an_inventory_without_hosts_is_refused_and_does_not_pass_as_a_success(
    hosts: dict[str, Any], tmp_path: Path
) -> None:
    inventory = tmp_path / "inventory"
    inventory.mkdir()
    (inventory / "hosts.yml").write_text(yaml.safe_dump({"all": {"children": hosts}}))
    cluster = Cluster(inventory, tmp_path / "run", free_port_base())
    for playbook in ("site", "status", "mirrors"):
        why = refused(cluster, cluster.playbook(f"playbooks/{playbook}.yml"))
        assert "no host in the groups zookeeper, kraft_controllers, kafka_brokers, mirror_makers" in why


def test_an_extra_variable_that_is_a_slip_is_refused_with_the_name_that_is_meant(tmp_path: Path) -> None:
    cluster, _host = shipped("rebalance", tmp_path)
    for playbook in ("rebalance", "site"):
        run = cluster.playbook(f"playbooks/{playbook}.yml", kafka_resources_move_throtle="50000000")
        said_of_it = "nothing reads the extra variable kafka_resources_move_throtle. fix: perhaps"
        assert f"{said_of_it} kafka_resources_move_throttle is meant" in refused(cluster, run)


@pytest.mark.full
def test_groups_of_an_inventory_have_own_names_as_children_of_the_known_ones(tmp_path: Path) -> None:
    inventory = tmp_path / "inventory"
    shutil.copytree(ROOT / "inventories" / "local", inventory)
    groups = yaml.safe_load((inventory / "hosts.yml").read_text())
    groups["mine"] = groups["kafka_brokers"]
    groups["kafka_brokers"] = groups["kraft_controllers"] = {"children": {"mine": None}}
    (inventory / "hosts.yml").write_text(yaml.safe_dump(groups))
    cluster = Cluster(inventory, tmp_path / "run", free_port_base())
    judged = cluster.playbook("playbooks/site.yml", "--tags", "preflight").ok()
    assert "kafka3" in judged.output
    assert judged.changed == 0
    named = cluster.playbook("playbooks/site.yml", kafka_brokers_group="mine")
    assert "kafka_brokers: {children: {mine: {}}}" in refused(cluster, named)


def test_a_node_to_be_replaced_must_be_named(tmp_path: Path) -> None:
    cluster, _host = shipped("replace_node", tmp_path)
    for given in ({}, {"kafka_replace_node": "kafka33"}):
        why = refused(cluster, cluster.playbook("playbooks/replace_node.yml", **given))
        assert "kafka_replace_node must name a host of the inventory" in why


@pytest.mark.parametrize(
    ("playbook", "given", "said_of_it"),
    [
        ("playbooks/change_replication_factor.yml", {"kafka_replication_factor": "orders"}, "is no dict of topics"),
        (
            "playbooks/grow_topic.yml",
            {"kafka_grow_topic": "orders", "kafka_grow_partitions": ""},
            "is not set, or empty",
        ),
        (
            "playbooks/drain_and_remove_broker.yml",
            {"kafka_remove_broker": " "},
            "kafka_remove_broker is not set, or empty",
        ),
        ("site.yml", {"preflight_allow_limit": "-"}, "preflight_allow_limit is neither true nor false"),
    ],
)
def test_a_value_that_cannot_be_read_is_told_once(
    playbook: str, given: dict[str, Any], said_of_it: str, tmp_path: Path
) -> None:
    cluster = Cluster(ROOT / "inventories" / "local_isolated", tmp_path / "run", free_port_base())
    run = cluster.playbook(playbook, **given)
    assert said_of_it in refused(cluster, run)
    assert run.output.count("fatal: ") == 1
    assert "argument_spec_data" not in run.output


@pytest.mark.full
def test_an_empty_answer_for_replication_factors_is_none(tmp_path: Path) -> None:
    cluster = Cluster(ROOT / "inventories" / "local", tmp_path / "run", free_port_base())
    run = cluster.playbook("playbooks/change_replication_factor.yml", "--check", kafka_replication_factor="")
    assert "no bootstrap server answered" in said(run)
    assert "kafka_replication_factor" not in run.output


ABOUT_ONE_CLUSTER: dict[str, dict[str, Any]] = {
    "drain_and_remove_broker": {"kafka_remove_broker": "a3"},
    "grow_topic": {"kafka_grow_topic": "orders", "kafka_grow_partitions": 24},
    "replace_node": {"kafka_replace_node": "a3", "kafka_replaced_id": 5},
    "change_replication_factor": {"kafka_replication_factor": {"orders": 2}},
}


@pytest.mark.parametrize("playbook", short(ABOUT_ONE_CLUSTER, "drain_and_remove_broker"))
def test_what_is_about_one_cluster_is_not_done_to_another_one_of_the_inventory(playbook: str, tmp_path: Path) -> None:
    cluster = Cluster(ROOT / "inventories" / "local_mirror", tmp_path / "run", free_port_base())
    given = ABOUT_ONE_CLUSTER[playbook]
    why = refused(cluster, cluster.playbook(f"playbooks/{playbook}.yml", **given))
    assert "--limit dc_a for dc_a, or --limit dc_b_brokers for dc_b" in why
    limited = said(cluster.playbook(f"playbooks/{playbook}.yml", "--limit", "dc_a", "--check", **given))
    assert "is about one cluster" not in limited
