"""The life of a cluster under site.yml: first installation, re-runs, drift, crashes, and disks that do not fit."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.cluster import (
    ROOT,
    Cluster,
    environment,
    free_port_base,
    hosts_file,
    local_variables,
    until,
)
from tests.support.modules import run_module
from tests.support.releases import NEW_CLUSTER
from tests.support.shuffled import second_run
from tests.support.traffic import producing, read_all


@contextlib.contextmanager
def a_cluster(inventory: Path, directory: Path, **variables: Any) -> Iterator[Cluster]:
    cluster = Cluster(inventory, directory, free_port_base(), variables)
    try:
        yield cluster
    finally:
        cluster.destroy()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One cluster for the story of this file; its tests run in their order."""
    with a_cluster(ROOT / "inventories" / "local", tmp_path_factory.mktemp("story")) as cluster:
        yield cluster


def cluster_id(cluster: Cluster, node: str) -> str:
    lines = (cluster.directory / "data" / node / "meta.properties").read_text().splitlines()
    return next(line.partition("=")[2] for line in lines if line.startswith("cluster.id="))


def forgotten(cluster: Cluster, broker: int) -> None:
    """Has the cluster forget a broker that was stopped, as soon as it takes it for dead."""
    options = {"broker": broker, "state": "unregistered", "bootstrap_servers": cluster.bootstrap_servers}
    module = "streamops.kafka.broker_registration"
    until(lambda: not run_module(module, options).get("failed"), f"the cluster to forget broker {broker}")


@pytest.mark.full
def test_check_mode_on_a_fresh_host_shows_the_plan_and_writes_nothing(cluster: Cluster) -> None:
    run = cluster.playbook("site.yml", "--check", "--diff").ok()
    assert run.changed > 0
    assert "+node.id=1" in run.output
    assert [path.name for path in cluster.directory.iterdir()] == ["extra-vars.yml"]


@pytest.mark.full
def test_the_first_run_installs_and_the_second_changes_and_restarts_nothing(cluster: Cluster, tmp_path: Path) -> None:
    first = cluster.playbook().ok()
    assert first.changed > 0
    assert "Topics       2 (orders, payments)" in second_run(cluster, tmp_path).output


@pytest.mark.full
def test_check_mode_on_a_converged_cluster_sees_no_change(cluster: Cluster) -> None:
    run = cluster.playbook("site.yml", "--check", "--diff").ok()
    assert run.changed == 0, run.output


@pytest.mark.full
def test_check_mode_names_the_restart_that_a_change_would_cost(cluster: Cluster) -> None:
    before = cluster.pids()
    run = cluster.playbook("site.yml", "--check", "--diff", kafka_broker_config={"queued.max.requests": 400}).ok()
    said = " ".join(run.output.split())
    for node in cluster.nodes:
        assert f"{node} would restart (queued.max.requests: (not set) -> 400)" in said
    assert cluster.pids() == before
    assert "queued.max.requests" not in (cluster.directory / "config" / "kafka1" / "server.properties").read_text()


@pytest.mark.full
def test_a_file_and_a_topic_edited_by_hand_are_reported_and_repaired_without_a_restart(cluster: Cluster) -> None:
    before = cluster.pids()
    properties = cluster.directory / "config" / "kafka2" / "server.properties"
    properties.write_text(properties.read_text() + "num.network.threads=77\n")
    cluster.tool(
        "kafka-configs.sh",
        "--alter",
        "--entity-type",
        "topics",
        "--entity-name",
        "orders",
        "--add-config",
        "retention.ms=1000",
    )
    run = cluster.playbook("site.yml", "--diff").ok()
    assert "-num.network.threads=77" in run.output
    assert run.recap["kafka2"]["changed"] == 2, "the file is staged, and taken up"
    assert run.recap["kafka1"]["changed"] == 1
    assert run.recap["kafka3"]["changed"] == 0
    assert "num.network.threads" not in properties.read_text()
    assert cluster.pids() == before
    assert cluster.playbook().ok().changed == 0


@pytest.mark.full
def test_a_killed_node_and_its_killed_supervisor_heal_by_a_rerun_with_all_data(cluster: Cluster) -> None:
    with producing(cluster.bootstrap_servers, "orders") as ledger:
        until(lambda: len(ledger.acknowledged) > 3000, "3,000 acknowledged records")
        cluster.kill_supervisord()
        cluster.kill("kafka2")
        until(lambda: not cluster.alive("kafka2"), "kafka2 to die")
        others = {node: cluster.pid(node) for node in ("kafka1", "kafka3")}
        cluster.playbook().ok()
    assert cluster.alive("kafka2")
    assert {node: cluster.pid(node) for node in others} == others
    assert not ledger.failed
    assert not ledger.lost(read_all(cluster.bootstrap_servers, "orders"))


@pytest.mark.full
def test_a_node_that_its_supervisor_lost_can_still_be_restarted(cluster: Cluster) -> None:
    orphan = cluster.pid("kafka1")
    cluster.playbook("site.yml", kafka_broker_config={"queued.max.requests": 450}).ok()
    assert cluster.pid("kafka1") != orphan
    cluster.variables["kafka_broker_config"] = {"queued.max.requests": 450}
    assert "RUNNING" in cluster.supervisorctl("status", "kafka-kafka1")


@pytest.mark.full
def test_a_fourth_broker_added_by_the_inventory_joins_and_nobody_restarts(cluster: Cluster, tmp_path: Path) -> None:
    three = {f"kafka{n}": {"kafka_node_id": n, "kafka_rack": f"r{n}"} for n in (1, 2, 3)}
    four = {**three, "kafka4": {"kafka_node_id": 4, "kafka_rack": "r1"}}
    inventory = hosts_file(tmp_path / "inv", {"kraft_controllers": three, "kafka_brokers": four}, local_variables())
    before = cluster.pids()
    grown = Cluster(inventory, cluster.directory, cluster.port_base, cluster.variables)
    try:
        grown.playbook().ok()
        info = run_module("streamops.kafka.cluster_info", {"bootstrap_servers": grown.bootstrap_servers})
        assert [node["id"] for node in info["nodes"] if not node["fenced"]] == [1, 2, 3, 4]
        assert cluster_id(grown, "kafka4") == cluster_id(grown, "kafka1")
        assert cluster.pids() == before
        assert grown.playbook().ok().changed == 0
    finally:
        grown.stop("kafka4")
        forgotten(grown, 4)


@pytest.mark.full
def test_a_changed_node_id_is_refused_with_both_ids(cluster: Cluster, tmp_path: Path) -> None:
    inventory = shutil.copytree(cluster.inventory, tmp_path / "inventory")
    hosts = yaml.safe_load((inventory / "hosts.yml").read_text())
    hosts["kafka_brokers"]["hosts"]["kafka3"]["kafka_node_id"] = 7
    (inventory / "hosts.yml").write_text(yaml.safe_dump(hosts))
    before = cluster.pids()
    changed = Cluster(inventory, cluster.directory, cluster.port_base, cluster.variables)
    run = changed.playbook()
    assert run.rc != 0
    assert run.changed == 0
    assert "kafka3" in run.output
    assert "7" in run.output
    assert cluster.pids() == before


@pytest.mark.full
def test_a_foreign_cluster_id_is_refused_with_both_ids(cluster: Cluster) -> None:
    before = cluster.pids()
    run = cluster.playbook(kafka_cluster_id="J7k2bXk1TqOSm0Gq1x2y3A")
    assert run.rc != 0
    assert run.changed == 0
    assert "J7k2bXk1TqOSm0Gq1x2y3A" in run.output
    assert cluster_id(cluster, "kafka1") in run.output
    assert cluster.pids() == before


@pytest.fixture
def lost(cluster: Cluster, tmp_path: Path) -> Cluster:
    """The cluster by an inventory that has lost its third node."""
    two = {f"kafka{n}": {"kafka_node_id": n, "kafka_rack": f"r{n}"} for n in (1, 2)}
    inventory = hosts_file(tmp_path / "inv", {"kraft_controllers": two, "kafka_brokers": two}, local_variables())
    return Cluster(inventory, cluster.directory, cluster.port_base, {**cluster.variables, "kafka_topics": []})


@pytest.mark.full
def test_a_node_that_the_inventory_lost_is_named(cluster: Cluster, lost: Cluster) -> None:
    before = cluster.pids()
    run = lost.playbook("site.yml", "--check")
    said = " ".join(run.output.split())
    assert run.rc != 0
    assert run.changed == 0
    assert "controller 3 is one of the 3 voters of the quorum (1, 2, 3)" in said
    assert "broker 3 is registered and alive" in said
    assert "kafka_accept_missing_nodes" in said
    assert "drain_and_remove_broker" in said
    assert cluster.pids() == before


@pytest.mark.full
def test_for_a_node_that_the_inventory_lost_nothing_is_lowered(cluster: Cluster, lost: Cluster) -> None:
    before = cluster.pids()
    run = lost.playbook()
    assert run.rc != 0
    assert run.changed == 0
    assert cluster.pids() == before

    # Somebody knows of it: the others learn that this controller has no known address, and nothing else.
    run = lost.playbook("site.yml", "--check", "--diff", kafka_accept_missing_nodes=[3]).ok()
    assert "controller.quorum.bootstrap.servers" in run.output
    # A line of a diff, or a reason to restart.
    assert not re.findall(
        r"^[-+].*(?:replication\.factor|min\.i).*|(?:replication\.factor|min\.i[.\w]*): .*", run.output, re.M
    )

    # Only the settings of the cluster: its own default of copies in sync stays.
    assert lost.playbook("playbooks/resources.yml").ok().changed == 0
    assert cluster.pids() == before


@pytest.mark.full
def test_another_name_of_the_cluster_is_refused_with_both_names(cluster: Cluster) -> None:
    before = cluster.pids()
    run = cluster.playbook(kafka_cluster_name="other")
    said = " ".join(run.output.split())
    assert run.rc != 0
    assert run.changed == 0
    assert "the nodes of cluster other were installed as nodes of cluster local" in said
    assert "kafka_accept_former_cluster_name=local" in said
    assert cluster.pids() == before
    assert not (cluster.directory / "config" / "other.lock").exists()


@pytest.mark.full
def test_without_any_mount_no_empty_cluster_is_formatted(cluster: Cluster) -> None:
    before = cluster_id(cluster, "kafka1")
    with producing(cluster.bootstrap_servers, "orders") as ledger:
        until(lambda: len(ledger.acknowledged) > 500, "500 acknowledged records")
    cluster.playbook("playbooks/stop.yml").ok()
    data, kept = cluster.directory / "data", cluster.directory / "data.kept"
    data.rename(kept)
    notes = {node: cluster.directory / "config" / node / "has-data" for node in cluster.nodes}
    log = cluster.directory / "log" / "kafka2" / "controller.log"
    # Of kafka2 only its log is left, of kafka3 nothing: one trace on one node is enough.
    for node in ("kafka2", "kafka3"):
        notes[node].unlink(missing_ok=True)
    for name in ("controller.log", "state-change.log"):
        (cluster.directory / "log" / "kafka3" / name).unlink()
    refused = cluster.playbook()
    said = " ".join(refused.output.split())
    assert refused.rc != 0
    assert refused.changed == 0
    assert not data.exists()
    for part in (str(notes["kafka1"]), str(log), "mount them, run again", "nothing was touched"):
        assert part in said
    kept.rename(data)
    cluster.playbook().ok()
    assert {cluster_id(cluster, node) for node in cluster.nodes} == {before}
    assert all(note.exists() for note in notes.values()), "a node with data has its note again"
    assert not ledger.lost(read_all(cluster.bootstrap_servers, "orders"))


@pytest.mark.full
def test_two_emptied_disks_of_three_are_refused_and_the_third_node_is_untouched(cluster: Cluster) -> None:
    for node in ("kafka2", "kafka3"):
        cluster.stop(node)
        shutil.rmtree(cluster.directory / "data" / node)
    survivor = cluster.pid("kafka1")
    run = cluster.playbook()
    assert run.rc != 0
    assert run.changed == 0
    assert "kafka2" in run.output
    assert "kafka3" in run.output
    assert cluster.pid("kafka1") == survivor
    assert cluster.alive("kafka1")
    assert not (cluster.directory / "data" / "kafka2").exists()


@pytest.mark.full
def test_a_first_installation_cut_after_one_format_goes_on_with_the_same_id(tmp_path: Path) -> None:
    with a_cluster(ROOT / "inventories" / "local", tmp_path / "cut") as cluster:
        run = subprocess.Popen(
            cluster.command("site.yml"), cwd=ROOT, env=environment(), stdout=subprocess.DEVNULL, start_new_session=True
        )
        disks = cluster.directory / "data"
        until(lambda: any(disks.glob("*/meta.properties")), "the first format", timeout=120)
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
        until(lambda: not _formatting(disks), "the last format to end")
        formatted = sorted(path.parent.name for path in disks.glob("*/meta.properties"))
        drawn = cluster_id(cluster, formatted[0])
        for node in formatted[1:]:
            shutil.rmtree(disks / node)
        cluster.playbook().ok()
        assert {cluster_id(cluster, node) for node in cluster.nodes} == {drawn}
        assert cluster.playbook().ok().changed == 0


def _formatting(disks: Path) -> bool:
    pattern = str(disks.parent).encode()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = path.read_bytes()
            if b"StorageTool" in words and pattern in words:
                return True
    return False


@pytest.mark.full
def test_a_cluster_of_a_single_node_installs_and_settles(tmp_path: Path) -> None:
    variables = {**local_variables(), "kafka_topics": [{"name": "one", "partitions": 3, "replication_factor": 1}]}
    one = {"node1": {"kafka_node_id": 1}}
    inventory = hosts_file(tmp_path / "inv", {"kraft_controllers": one, "kafka_brokers": one}, variables)
    with a_cluster(inventory, tmp_path / "single") as cluster:
        cluster.playbook().ok()
        assert cluster.playbook().ok().changed == 0


@pytest.mark.full
def test_two_clusters_of_two_versions_in_one_inventory_on_one_machine(tmp_path: Path) -> None:
    topics = [{"name": "one", "partitions": 3, "replication_factor": 1}]
    new = {"new1": {"kafka_node_id": 1, "kafka_cluster_name": "new", "kafka_version": NEW_CLUSTER}}
    old = {"old1": {"kafka_node_id": 2, "kafka_cluster_name": "old", "kafka_version": "3.9.2"}}
    both = {**new, **old}
    variables = {**local_variables(), "kafka_local_dir": str(tmp_path / "two"), "kafka_topics": topics}
    del variables["kafka_cluster_name"]
    inventory = hosts_file(tmp_path / "inv", {"kraft_controllers": both, "kafka_brokers": both}, variables)
    with a_cluster(inventory, tmp_path / "two") as cluster:
        run = cluster.playbook().ok()
        assert f"Cluster      new, Kafka {NEW_CLUSTER}" in run.output
        assert "Cluster      old, Kafka 3.9.2" in run.output
        assert cluster_id(cluster, "new1") != cluster_id(cluster, "old1")
        assert len(list((cluster.directory / "install" / "releases").iterdir())) == 2
        assert cluster.playbook().ok().changed == 0
