# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a cluster on ZooKeeper stands on its way to KRaft, before a migration and with a first controller beside it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.cluster import ROOT, Run, environment, free_port_base, hosts_file, parse_recap, said, until
from tests.support.lone_broker import LoneBroker
from tests.support.modules import run_module
from tests.support.runs import heard
from tests.support.zookeeper import ZookeeperCluster, shipped

MIGRATE = "playbooks/migrate_to_kraft.yml"
RELEASE, NAME = "3.9.2", "local_zookeeper"
CONTROLLER, ID = "controller101", 101
#: The port of the controller, counted from the first of the cluster: no node of the inventory has it.
OFFSET = 15

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZookeeperCluster]:
    """Three servers of ZooKeeper and three brokers, which the tests of this file take on in order."""
    on_zookeeper = ZookeeperCluster(shipped(), tmp_path_factory.mktemp("phase"), free_port_base())
    try:
        on_zookeeper.playbook().ok()
        yield on_zookeeper
    finally:
        on_zookeeper.destroy()


@pytest.fixture(scope="module")
def controller(cluster: ZookeeperCluster, kafka_release: Callable[[str], Path]) -> Iterator[LoneBroker]:
    """A controller with the migration flag, formatted for this cluster, that something else than a run starts.

    Its files are where the inventory has those of a controller of this name.
    """
    address = f"127.0.0.1:{cluster.port_base + OFFSET}"
    servers = ",".join(f"127.0.0.1:{cluster.port(server)}" for server in cluster.servers)
    node = LoneBroker(
        kafka_release(RELEASE),
        cluster.directory / "config" / CONTROLLER,
        cluster.port_base + OFFSET,
        **{
            "process.roles": "controller",
            "node.id": str(ID),
            "controller.quorum.voters": f"{ID}@{address}",
            "listeners": f"CONTROLLER://{address}",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,BROKER:PLAINTEXT",
            # By which it reaches the brokers.
            "inter.broker.listener.name": "BROKER",
            "log.dirs": str(cluster.data(CONTROLLER)),
            "zookeeper.connect": f"{servers}/{NAME}",
            "zookeeper.metadata.migration.enable": "true",
        },
    )
    node.format(znodes(cluster)["cluster"]["cluster_id"])
    try:
        node.start()
        yield node
    finally:
        node.kill()


def znodes(cluster: ZookeeperCluster) -> dict[str, Any]:
    """Return what zookeeper_info says of the ensemble, and of the cluster in it."""
    return cluster.ensemble(chroot=f"/{NAME}")


def inventory(directory: Path, **more: dict[str, Any]) -> tuple[str, str]:
    """Return the arguments that add controllers to an inventory: the first one, and others by their names."""
    hosts = {CONTROLLER: {"kafka_node_id": ID}, **more}
    return "-i", str(hosts_file(directory, {"kraft_controllers": hosts}, {}))


def shows(cluster: ZookeeperCluster, *arguments: str) -> Run:
    """Return a run that shows the phase as an operator sees it; it changes nothing, and no node restarts."""
    before = cluster.pids()
    seen = {**environment(cluster.programs), "ANSIBLE_STDOUT_CALLBACK": "streamops.kafka.operator"}
    done = heard(cluster.command(MIGRATE, *arguments), cwd=ROOT, env=seen)
    run = Run(done.returncode, done.stdout, parse_recap(done.stdout)).ok()
    assert (run.changed, cluster.pids()) == (0, before)
    return run


def rows(run: Run) -> list[tuple[str, str]]:
    """Return the screen of a run: the name of each row and its text."""
    lines = re.findall(r"^\[\w+\] ([A-Z].{12})(.*)$", run.output, re.M)
    return [(name.strip(), text) for name, text in lines]


def looked(cluster: ZookeeperCluster) -> dict[str, Any]:
    """Return what a controller's machine tells."""
    return run_module(
        "streamops.kafka.migration_info",
        {
            "state_dir": str(cluster.directory / "run" / CONTROLLER),
            "config_file": str(cluster.directory / "config" / CONTROLLER / "server.properties"),
            "metadata_dir": str(cluster.data(CONTROLLER)),
        },
    )


@pytest.mark.parametrize("check", [(), ("--check",)], ids=["run", "check"])
def test_a_cluster_on_zookeeper_has_begun_nothing_and_could_begin(
    cluster: ZookeeperCluster, check: tuple[str, ...]
) -> None:
    read = znodes(cluster)
    owner, epoch = read["znodes"]["/controller"]["brokerid"], read["znodes"]["/controller_epoch"]
    assert owner in (11, 12, 13)
    assert (read["znodes"]["/controller"]["kraftControllerEpoch"], read["unread"]) == (-1, {})
    screen = rows(shows(cluster, *check))
    assert [name for name, _text in screen][-2:] == ["May stay", "Way back"], "nothing blocks, and nothing is noted"
    shown = dict(screen)
    assert shown["Cluster"] == f"{NAME}: not_begun"
    assert (shown["Controllers"], shown["Brokers"]) == ("none in the inventory", "3 zookeeper")
    zookeeper = f"/controller {owner} (of ZooKeeper), /controller_epoch {epoch}, /migration missing"
    assert shown["ZooKeeper"] == f"3 of 3 servers serve; {zookeeper}"
    assert shown["Next step"].startswith("start the controllers: ")
    assert "not now" not in shown["Next step"]
    assert shown["Way back"] == "nothing to take back. It costs nothing"


def test_controllers_of_the_inventory_that_were_never_started_leave_the_phase_as_it_is(
    cluster: ZookeeperCluster, tmp_path: Path
) -> None:
    shown = dict(rows(shows(cluster, *inventory(tmp_path))))
    assert shown["Cluster"] == f"{NAME}: not_begun"
    assert shown["Controllers"] == f"{CONTROLLER} no log (stopped)"
    assert not [name for name in shown if name.startswith("Blocks")]


def test_what_is_no_step_is_refused_by_name_before_a_node_is_asked(cluster: ZookeeperCluster) -> None:
    before = cluster.pids()
    run = cluster.playbook(MIGRATE, kafka_migration="forth")
    assert (run.rc != 0, run.changed, cluster.pids()) == (True, 0, before)
    assert "kafka_migration=forth is no step" in said(run)
    assert "Look at each node" not in said(run)


def test_nothing_is_taken_back_of_a_migration_that_has_not_begun(cluster: ZookeeperCluster) -> None:
    before = cluster.pids()
    run = cluster.playbook(MIGRATE, kafka_migration="back")
    assert (run.rc != 0, cluster.pids()) == (True, before)
    assert "nothing is left to take back" in said(run)
    assert "Nothing was changed" in said(run)


def test_a_step_without_controllers_is_refused_and_changes_nothing(cluster: ZookeeperCluster) -> None:
    before = cluster.pids()
    run = cluster.playbook(MIGRATE, kafka_migration="next")
    assert (run.rc != 0, cluster.pids()) == (True, before)
    assert "the inventory has no controllers" in said(run)
    assert "Nothing was changed" in said(run)


def test_what_may_know_more_and_does_not_answer_leaves_the_phase_unknown(
    cluster: ZookeeperCluster, tmp_path: Path
) -> None:
    # Nothing listens on port 1.
    silent = {"kafka_node_id": 102, "ansible_connection": "ssh", "ansible_port": 1}
    shown = said(shows(cluster, *inventory(tmp_path, controller102=silent)))
    assert f"Cluster {NAME}: unknown" in shown
    assert "controller102 no answer" in shown
    assert "Blocks both controller controller102 (id 102) does not answer" in shown


def test_a_server_that_is_stopped_is_counted_and_the_others_tell(cluster: ZookeeperCluster) -> None:
    server = next(name for name in cluster.servers if name != cluster.leader())
    cluster.stop(server)
    try:
        shown = said(cluster.playbook(MIGRATE).ok())
    finally:
        cluster.start(server)
        until(lambda: cluster.ensemble()["healthy"], "the ensemble to be whole")
    assert f"Cluster {NAME}: not_begun" in shown
    assert "ZooKeeper 2 of 3 servers serve; /controller " in shown


def test_a_broker_that_is_stopped_holds_the_next_step_and_not_the_phase(cluster: ZookeeperCluster) -> None:
    cluster.stop("broker12")
    try:
        shown = said(cluster.playbook(MIGRATE).ok())
    finally:
        cluster.start("broker12")
        until(lambda: len(znodes(cluster)["cluster"]["brokers"]) == 3, "broker12 to be registered")
    assert f"Cluster {NAME}: not_begun" in shown
    assert "Blocks next broker broker12 (id 12) is down (its process does not run)" in shown
    assert "(not now: mend what blocks it first)" in shown


def test_a_controller_with_the_flag_waits_for_the_brokers(
    cluster: ZookeeperCluster, controller: LoneBroker, tmp_path: Path
) -> None:
    until(lambda: (looked(cluster)["log"] or {}).get("state") == "PRE_MIGRATION", "the controller to be elected")
    until(lambda: znodes(cluster)["znodes"]["/migration"] is not None, "the controller to write /migration")
    machine = looked(cluster)
    assert (machine["running"], machine["start_record"], machine["unread"]) == (True, None, "")
    assert machine["log"]["brokers"] == {}
    read = znodes(cluster)["znodes"]
    assert read["/controller"]["kraftControllerEpoch"] == -1, "a broker is in charge until the metadata is copied"

    shown = said(shows(cluster, *inventory(tmp_path)))
    assert f"Cluster {NAME}: controllers_ready" in shown
    assert f"Controllers {CONTROLLER} PRE_MIGRATION; epoch of the quorum {machine['epoch']}" in shown
    assert "Brokers 3 zookeeper" in shown
    assert f"/controller_epoch {read['/controller_epoch']}, /migration not copied" in shown
    assert "Next step bring the brokers into migration mode: " in shown
    assert "Way back stop the controllers, delete /migration, set their __cluster_metadata aside" in shown
    # A run has not started it, so how it was started is not known.
    assert f"Blocks next {CONTROLLER} (id {ID}) runs without a start record" in shown


def test_a_controller_that_is_stopped_tells_the_phase_by_its_disk(
    cluster: ZookeeperCluster, controller: LoneBroker, tmp_path: Path
) -> None:
    controller.terminate()
    shown = said(shows(cluster, *inventory(tmp_path)))
    assert f"Cluster {NAME}: controllers_ready" in shown
    assert f"Controllers {CONTROLLER} PRE_MIGRATION (stopped)" in shown
    assert f"Blocks next controller {CONTROLLER} (id {ID}) is down" in shown
    assert "Blocks both 0 of 1 controllers run, which is no majority" in shown


def test_controllers_that_the_inventory_lacks_are_seen_by_what_they_left(
    cluster: ZookeeperCluster, controller: LoneBroker
) -> None:
    assert not controller.alive
    shown = said(shows(cluster))
    assert f"Cluster {NAME}: not_begun" in shown
    assert "Note znode /migration is left from controllers that copied nothing" in shown
