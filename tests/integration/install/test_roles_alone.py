# SPDX-License-Identifier: GPL-3.0-or-later
"""The roles in plays of users' own, without a playbook of this collection: the same guards, or a clear refusal."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.cluster import ROOT, Cluster, Run, free_port_base, said

ROLES = [
    "kafka_broker",
    "spark_validation",
    *(
        pytest.param(role, marks=pytest.mark.full)
        for role in ("preflight", "zookeeper_ensemble", "kraft_controller", "kafka_resources", "mirror_maker")
    ),
]


def play(cluster: Cluster, folder: Path, hosts: str, roles: str, *arguments: str, **keywords: Any) -> Run:
    """A run of one play with one role or several, and with other keywords where they are given."""
    playbook = folder / "play.yml"
    named = [f"streamops.kafka.{role}" for role in roles.split()]
    one = {"hosts": hosts, "gather_facts": False, **keywords, "roles": named}
    playbook.write_text(yaml.safe_dump([one]))
    return cluster.playbook(str(playbook), *arguments)


@pytest.mark.full
def test_a_role_alone_finds_a_running_cluster_as_wanted_after_all_guards(combined: Cluster, tmp_path: Path) -> None:
    before = combined.pids()
    run = play(combined, tmp_path, "kafka_brokers", "kafka_broker").ok()
    assert run.changed == 0, run.output
    assert combined.pids() == before
    for guard in (
        "Apply all rules to all clusters",
        "Apply all rules to all nodes",
        "no other run changes",
        "Format plan",
    ):
        assert guard in run.output
    assert play(combined, tmp_path, "kafka_brokers", "kafka_resources").ok().changed == 0


def test_a_role_alone_refuses_what_site_yml_refuses(combined: Cluster, tmp_path: Path) -> None:
    before = combined.pids()
    run = play(combined, tmp_path, "kafka_brokers", "kafka_broker", "-e", "kafka_cluster_id=MkU3OEVBNTcwNTJENDM2Qk")
    assert run.rc != 0
    assert run.changed == 0
    assert "MkU3OEVBNTcwNTJENDM2Qk" in run.output
    assert combined.pids() == before


@pytest.mark.full
def test_a_play_with_a_part_of_a_cluster_is_refused(combined: Cluster, tmp_path: Path) -> None:
    for role in ("kafka_broker", "kafka_resources", "spark_validation"):
        run = play(combined, tmp_path, "kafka1", role)
        assert run.rc != 0
        assert run.changed == 0
        assert "the play leaves out kafka2, kafka3 of cluster local" in said(run)
    turns = play(combined, tmp_path, "kafka_brokers", "kafka_broker", serial=1)
    assert "serial takes the hosts of the play in turns and leaves out kafka2, kafka3" in said(turns)
    free = play(combined, tmp_path, "kafka_brokers", "kafka_broker", strategy="free")
    assert free.rc != 0
    assert "strategy free is refused" in said(free)


@pytest.mark.full
def test_brokers_without_their_controllers_are_refused(tmp_path: Path) -> None:
    cluster = Cluster(ROOT / "inventories" / "local_isolated", tmp_path / "run", free_port_base())
    run = play(cluster, tmp_path, "kafka_brokers", "kafka_broker")
    assert run.rc != 0
    assert run.changed == 0
    assert "the play leaves out controller1, controller2, controller3 of cluster" in said(run)
    assert "name all groups of the cluster in hosts of the play" in said(run)


@pytest.mark.full
@pytest.mark.parametrize("role", ROLES)
def test_a_host_in_no_group_is_told_where_it_belongs_before_any_change(role: str, tmp_path: Path) -> None:
    inventory = tmp_path / "inventory"
    shutil.copytree(ROOT / "inventories" / "local", inventory)
    groups = yaml.safe_load((inventory / "hosts.yml").read_text())
    groups["others"] = {"hosts": {"kafka4": {"kafka_node_id": 4}}}
    (inventory / "hosts.yml").write_text(yaml.safe_dump(groups))
    cluster = Cluster(inventory, tmp_path / "run", free_port_base())
    run = play(cluster, tmp_path, "all", role)
    assert run.rc != 0
    assert run.changed == 0
    assert "kafka4 is in none of the groups" in said(run)
    assert "kraft_controllers (controller), kafka_brokers (broker), zookeeper (zookeeper)" in said(run)
    assert "kafka_brokers: {children: {my_brokers: {}}}" in said(run)


@pytest.mark.full
def test_a_role_says_its_groups_where_the_inventory_has_none(tmp_path: Path) -> None:
    inventory = tmp_path / "inventory"
    shutil.copytree(ROOT / "inventories" / "local", inventory)
    (inventory / "hosts.yml").write_text(yaml.safe_dump({"kafka": {"hosts": {"kafka1": {"kafka_node_id": 1}}}}))
    cluster = Cluster(inventory, tmp_path / "run", free_port_base())
    run = play(cluster, tmp_path, "kafka", "kafka_broker")
    assert run.rc != 0
    assert run.changed == 0
    assert "no host in the groups zookeeper, kraft_controllers, kafka_brokers, mirror_makers" in said(run)


def changes(run: Run) -> dict[str, int]:
    """The changed tasks of a run by host."""
    return {host: counters["changed"] for host, counters in run.recap.items()}


@pytest.mark.full
def test_roles_pass_over_hosts_of_other_groups(tmp_path: Path) -> None:
    cluster = Cluster(ROOT / "inventories" / "local_zookeeper", tmp_path / "run", free_port_base())
    servers = changes(play(cluster, tmp_path, "zookeeper:kafka_brokers", "zookeeper_ensemble", "--check").ok())
    assert servers["zookeeper1"] > 0
    assert [servers[f"broker{number}"] for number in (11, 12, 13)] == [0, 0, 0]
    brokers = changes(play(cluster, tmp_path, "zookeeper:kafka_brokers", "kafka_broker", "--check").ok())
    assert brokers["broker11"] > 0
    assert [brokers[f"zookeeper{number}"] for number in (1, 2, 3)] == [0, 0, 0]
    both = play(cluster, tmp_path, "zookeeper:kafka_brokers", "zookeeper_ensemble kafka_broker", "--check").ok()
    assert changes(both) == {host: servers[host] + brokers[host] for host in servers}


@pytest.mark.full
def test_the_role_of_mirrors_passes_over_brokers(tmp_path: Path) -> None:
    cluster = Cluster(ROOT / "inventories" / "local_mirror", tmp_path / "run", free_port_base())
    run = play(cluster, tmp_path, "all", "mirror_maker", "--check")
    assert {host for host, changed in changes(run).items() if changed} <= {"mirror1"}, run.output[-3000:]


@pytest.mark.full
def test_a_host_of_the_group_without_an_id_is_named(tmp_path: Path) -> None:
    inventory = tmp_path / "inventory"
    shutil.copytree(ROOT / "inventories" / "local_zookeeper", inventory)
    groups = yaml.safe_load((inventory / "hosts.yml").read_text())
    del groups["zookeeper"]["hosts"]["zookeeper2"]["zookeeper_id"]
    del groups["kafka_brokers"]["hosts"]["broker13"]["kafka_node_id"]
    (inventory / "hosts.yml").write_text(yaml.safe_dump(groups))
    cluster = Cluster(inventory, tmp_path / "run", free_port_base())
    run = play(cluster, tmp_path, "zookeeper:kafka_brokers", "zookeeper_ensemble kafka_broker")
    assert run.rc != 0
    assert run.changed == 0
    assert "broker13: kafka_node_id: the node has no id" in said(run)
    assert "zookeeper2: zookeeper_id: the server has no" in said(run)


@pytest.mark.full
def test_tags_of_own_tasks_are_known_and_others_are_not(tmp_path: Path) -> None:
    cluster = Cluster(ROOT / "inventories" / "local", tmp_path / "run", free_port_base())
    later = {"ansible.builtin.debug": {"msg": "mine ran"}, "tags": ["mine"]}
    guards = {"name": "streamops.kafka.preflight", "tasks_from": "guards.yml", "apply": {"tags": ["always"]}}
    plays = [
        {
            "hosts": "kafka_brokers",
            "gather_facts": False,
            "tasks": [{"ansible.builtin.include_role": guards, "tags": ["always"]}],
        },
        {"hosts": "kafka_brokers", "gather_facts": False, "tasks": [{"block": [later]}]},
    ]
    playbook = tmp_path / "play.yml"
    playbook.write_text(yaml.safe_dump(plays))
    assert "mine ran" in cluster.playbook(str(playbook), "--tags", "mine").ok().output
    refused = cluster.playbook(str(playbook), "--tags", "mine,yours")
    assert refused.rc != 0
    assert "no task has the tag yours, so" in said(refused)
