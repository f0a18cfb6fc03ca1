# SPDX-License-Identifier: GPL-3.0-or-later
"""Preflight in real runs of site.yml: everything wrong in one message, and nothing touched."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._release.releases import release
from tests.support.cluster import BIN, ROOT, Cluster, free_port_base
from tests.support.forms import short
from tests.support.refused import assert_refused_untouched, copy_of_local, message, preflight_only, saved
from tests.support.releases import NEW_CLUSTER


@pytest.fixture
def broken(tmp_path: Path) -> Cluster:
    """An inventory with many mistakes of different kinds."""
    _inventory, hosts, variables = copy_of_local(tmp_path)
    nodes = hosts["kafka_brokers"]["hosts"]
    nodes["kafka2"]["kafka_node_id"] = 1
    nodes["kafka3"].pop("kafka_rack")
    nodes["kafka3"]["kafka_heap_size"] = "{{ nowhere }}"
    variables["kafka_config"].update({"node.id": 1, "num.io.thread": 8})
    variables["kafka_topics"] += [{"name": "a.b", "replication_factor": 4}, {"name": "a_b", "partitions": 0}]
    variables["kafka_admin_password"] = "changeme"
    variables["kafka_profil"] = "production"
    return saved(tmp_path, hosts, variables)


def test_all_mistakes_stand_in_one_message_and_nothing_is_touched(broken: Cluster) -> None:
    run = broken.playbook()
    assert_refused_untouched(run, broken)
    told = message(run)
    for part in (
        "nothing was touched",
        "ERROR duplicate_node_id: - kafka1, kafka2: kafka_node_id",
        "ERROR missing_racks: - kafka3: kafka_rack",
        "ERROR more_replicas_than_brokers:",
        "ERROR topic_numbers:",
        "ERROR colliding_topics:",
        "ERROR unknown_property:",
        "perhaps num.io.threads is meant",
        "ERROR port_twice_on_machine:",
        "ERROR undefined_value:",
        "kafka3: kafka_heap_size: the value cannot be templated (found: 'nowhere' is undefined",
        "kafka_admin_password",
        "ERROR managed_property:",
        "use kafka_node_id",
        "WARNING misspelt_variable: - kafka1, kafka2, kafka3: kafka_profil:",
    ):
        assert part in told, part
    assert "changeme" not in run.output


@pytest.mark.full
def test_check_mode_and_tags_do_not_get_around_it(broken: Cluster) -> None:
    for arguments in (["--check", "--diff"], ["--tags", "kafka_configure"]):
        run = broken.playbook("site.yml", *arguments)
        assert_refused_untouched(run, broken)
        assert "ERROR duplicate_node_id:" in message(run)


@pytest.mark.full
def test_a_limit_to_a_part_of_the_cluster_is_refused(tmp_path: Path) -> None:
    cluster = Cluster(ROOT / "inventories" / "local", tmp_path / "run", free_port_base())
    run = cluster.playbook("site.yml", "--limit", "kafka1")
    assert_refused_untouched(run, cluster)
    assert "ERROR limit_splits_cluster: - kafka2, kafka3: --limit leaves out a part" in message(run)


@pytest.mark.parametrize("inventory", short(["local", "local_isolated"], "local_isolated"))
@pytest.mark.parametrize("arguments", short([[], ["--check", "--diff"]], ["--check", "--diff"]), ids=["run", "check"])
def test_the_inventories_of_the_product_pass_and_change_nothing(
    inventory: str, arguments: list[str], tmp_path: Path
) -> None:
    cluster = Cluster(ROOT / "inventories" / inventory, tmp_path / "run", free_port_base())
    run = preflight_only(cluster, tmp_path, *arguments).ok()
    assert run.changed == 0
    assert "[WARNING]" not in run.output
    assert [path.name for path in cluster.directory.iterdir()] == ["extra-vars.yml"]


def with_a_sealed_value(tmp_path: Path, name: str, value: str) -> Cluster:
    """Return a cluster whose brokers have a sealed value; the file password beside it opens it."""
    inventory, hosts, variables = copy_of_local(tmp_path)
    cluster = saved(tmp_path, hosts, variables)
    (tmp_path / "password").write_text("of the vault")
    command = [str(BIN / "ansible-vault"), "encrypt_string", "--vault-password-file", str(tmp_path / "password")]
    secret = subprocess.run([*command, value, "--name", name], capture_output=True, text=True, check=True).stdout
    (inventory / "group_vars" / "kafka_brokers.yml").write_text(secret)
    return cluster


@pytest.mark.full
def test_a_vault_without_its_password_is_named_by_variable(tmp_path: Path) -> None:
    cluster = with_a_sealed_value(tmp_path, "vault_kafka_password", "changeme")
    sealed = message(preflight_only(cluster, tmp_path))
    assert "kafka1, kafka2, kafka3: vault_kafka_password: the value cannot be templated" in sealed
    assert "fix: give the password of the vault: in AWX attach the vault credential" in sealed
    opened = message(preflight_only(cluster, tmp_path, "--vault-password-file", str(tmp_path / "password")))
    assert "vault_kafka_password: the secret is not secret (found: a well-known value" in opened


@pytest.mark.parametrize(
    ("playbook", "variables"),
    short(
        [
            ("grow_topic", {"kafka_grow_topic": "orders", "kafka_grow_partitions": 96}),
            ("grow_topic", {"kafka_grow_topic": "orders", "kafka_grow_partitions": 96, "plan_only": True}),
            # It needs no machine, and goes on where the lock cannot be had.
            ("resources", {"preflight_accept": ["undefined_value"]}),
            ("stop", {}),
            ("stop_node", {"kafka_stop_node": "kafka3"}),
        ],
        ("grow_topic", {"kafka_grow_topic": "orders", "kafka_grow_partitions": 96}),
    ),
)
def test_a_run_that_cannot_open_what_it_needs_is_refused_before_it_takes_the_lock(
    tmp_path: Path, playbook: str, variables: dict[str, Any]
) -> None:
    cluster = with_a_sealed_value(tmp_path, "kafka_admin_password", "a-long-planted-password")
    run = cluster.playbook(f"playbooks/{playbook}.yml", **variables)
    assert_refused_untouched(run, cluster)
    words = " ".join(run.output.split())
    assert "kafka_admin_password" in words
    assert "attach the vault credential to the job template" in words
    assert "undecryptable" not in words
    assert not list(tmp_path.rglob("*.lock"))
    assert "a-long-planted-password" not in words


@pytest.mark.full
def test_accepted_rows_are_shown_as_warnings(tmp_path: Path) -> None:
    _inventory, hosts, variables = copy_of_local(tmp_path)
    del hosts["kafka_brokers"]["hosts"]["kafka3"]
    variables.update(
        kafka_profile="production", preflight_accept=["even_quorum", "few_brokers", "few_replicas"], kafka_topics=[]
    )
    run = preflight_only(saved(tmp_path, hosts, variables), tmp_path).ok()
    told = " ".join(run.output.split())
    assert "[WARNING]: even_quorum: kafka1, kafka2:" in told
    assert told.count("accepted by preflight_accept") == 2


@pytest.mark.full
def test_what_the_hosts_say_is_judged_at_once_with_both_ids_named(tmp_path: Path) -> None:
    cluster = Cluster(ROOT / "inventories" / "local", tmp_path / "run", free_port_base())
    disk = cluster.directory / "data" / "kafka2"
    disk.mkdir(parents=True)
    meta = "version=1\nnode.id=7\ncluster.id=AAAAAAAAAAAAAAAAAAAAAg\ndirectory.id=AAAAAAAAAAAAAAAAAAAAAw\n"
    (disk / "meta.properties").write_text(meta)
    with socket.create_server(("127.0.0.1", cluster.port("kafka1"))):
        run = cluster.playbook("site.yml", kafka_cluster_id="AAAAAAAAAAAAAAAAAAAABA")
    assert run.rc != 0
    assert run.changed == 0
    told = message(run)
    assert "ERROR disk_of_other_node: - kafka2:" in told
    assert "node.id 7 on the disk" in told
    assert "node.id 2 (kafka_node_id)" in told
    assert "ERROR disk_of_other_cluster: - kafka2:" in told
    assert "cluster id AAAAAAAAAAAAAAAAAAAAAg" in told
    assert "cluster id AAAAAAAAAAAAAAAAAAAABA (kafka_cluster_id of the inventory)" in told
    assert f"ERROR port_taken: - kafka1: port {cluster.port('kafka1')}" in told
    assert "found: pid" in told
    assert (disk / "meta.properties").read_text() == meta
    assert sorted(path.name for path in cluster.directory.iterdir()) == ["data", "extra-vars.yml"]


@pytest.mark.full
def test_a_version_behind_what_runs_is_refused_by_what_the_cluster_has_finalised(combined: Cluster) -> None:
    before = combined.pids()
    run = combined.playbook("site.yml", kafka_version="3.9.2")
    said = " ".join(run.output.split())
    assert run.rc != 0
    assert run.changed == 0
    assert "version_behind" in said
    assert f"the node runs Kafka {NEW_CLUSTER}, and 3.9.2 would not start on what its cluster has written" in said
    assert f"metadata.version {release(NEW_CLUSTER).new_cluster['metadata.version']}" in said
    assert "set kafka_version to the version that runs" in said
    assert combined.pids() == before
