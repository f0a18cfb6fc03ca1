# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults on the way from ZooKeeper to KRaft and back: runs that are cut, nodes that die, two runs at once.

Each test brings the cluster to the phase that it begins in, so that one alone can be run (-k), and one that fails does
not take the others with it.
"""

from __future__ import annotations

import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._zookeeper.connection import Access
from ansible_collections.streamops.kafka.plugins.module_utils._zookeeper.ensemble import Member
from ansible_collections.streamops.kafka.plugins.module_utils._zookeeper.session import Zookeeper
from tests.support.cluster import Run, hosts_file, kill, read_until, said, until
from tests.support.lone_broker import LoneBroker
from tests.support.migration import FLAG, MIGRATE, OLD, STEPS, Way, phase_behind
from tests.support.modules import run_module
from tests.support.traffic import producing

pytestmark = pytest.mark.full

RELEASE, CHROOT = "3.9.2", "/local_zookeeper"
#: The phases in which a cluster may stay while there is a way back.
STAYS = ["not_begun", *STEPS]
#: Tasks behind which a run is cut, named by Ansible once a host has done them.
STARTED, RESTARTED = "Supervisor | Start the node", "Roll | Record the restart"
GIVEN_BACK = "Hand over | Give the cluster back to the brokers of ZooKeeper"
CONFIRMED = {"kafka_migration_confirmed": "finalised"}
#: Seconds that the last records may take behind a fault.
BEHIND = 600
#: Seconds for which ZooKeeper has no quorum.
WITHOUT_ZOOKEEPER = 60


@pytest.fixture(scope="module")
def way(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Way]:
    """A server of ZooKeeper, three brokers that have topics with records, and controllers in the inventory."""
    with Way.begun(tmp_path_factory.mktemp("faults"), servers=1) as made:
        made.add_controllers()
        made.cluster.playbook().ok()
        yield made


def comes_to(way: Way, goal: str) -> None:
    """Take steps, forward or back, until the cluster is in a phase of STAYS."""
    phase = way.phase()
    for _step in STAYS:
        if phase == goal:
            break
        forward = phase in STAYS and STAYS.index(phase) < STAYS.index(goal)
        phase = phase_behind(way.next() if forward else way.back())
    assert phase == goal


def cut(way: Way, wish: str, task: str, times: int = 1, **given: Any) -> None:
    """Begin a step, and kill its run once it has done a task so often."""
    run = way.cluster.begin(MIGRATE, kafka_migration=wish, **given)
    try:
        for _time in range(times):
            read_until(run, task)
    finally:
        kill(run)


def of_brokers(way: Way) -> dict[str, int]:
    """Return the processes of the servers of ZooKeeper and of the brokers."""
    return {node: way.cluster.pid(node) for node in (*way.cluster.servers, *way.cluster.brokers)}


def is_refused(run: Run, words: str) -> None:
    """Check that a run has said why it is refused, before its first change."""
    assert (run.rc != 0, run.changed) == (True, 0), run.output[-6000:]
    assert words in said(run)


def new_topic(way: Way, name: str) -> str:
    """Make a topic with a time in its name, which says that metadata can be changed; return its name."""
    topic = {"name": f"{name}_{int(time.time())}", "partitions": 3, "replication_factor": 3}
    made = run_module("streamops.kafka.topics", {"bootstrap_servers": way.cluster.bootstrap_servers, "topics": [topic]})
    assert (made["failed"], made["changed"]) == (False, True), made
    return str(topic["name"])


def topics_in_zookeeper(way: Way) -> list[str]:
    """Return the topics that the ensemble holds."""
    members = [Member(way.cluster.identities[s], "127.0.0.1", way.cluster.port(s)) for s in way.cluster.servers]
    with Zookeeper(members, Access(), CHROOT) as session:
        return session.children("/brokers/topics")


def is_written_to_both(way: Way, name: str) -> None:
    """Check that a change of metadata by KRaft comes to ZooKeeper."""
    made = new_topic(way, name)
    until(lambda: made in topics_in_zookeeper(way), f"{made} to come to ZooKeeper", 120)


def all_is_well(way: Way) -> None:
    """Check that each partition has a leader and all its replicas, and that the old topic takes records too."""
    servers = {"bootstrap_servers": way.cluster.bootstrap_servers}

    def whole() -> bool:
        counts = run_module("streamops.kafka.cluster_info", servers).get("counts", {})
        return (counts.get("under_replicated"), counts.get("offline")) == (0, 0)

    until(whole, "all replicas to be in sync", 180)
    with producing(way.cluster.bootstrap_servers, OLD, rate=200) as ledger:
        ledger.reaches(200)
    way.keeps(ledger, OLD)


# -- what is refused before the first step -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hosts", "of_step", "of_site"),
    [
        (
            {"broker11": {"kafka_node_id": 11}},
            "broker11 (id 11) is a broker and a controller; a migration has isolated controllers only (KIP-866)",
            "mode zookeeper has no combined nodes",
        ),
        (
            {"controller18": {"kafka_node_id": 11}},
            "controller controller18 (id 11) has the id of a broker",
            "2 nodes of cluster local_zookeeper have the same node id",
        ),
    ],
    ids=["combined", "id_of_a_broker"],
)
def test_controllers_that_no_migration_has_are_refused(
    way: Way, tmp_path: Path, hosts: dict[str, dict[str, Any]], of_step: str, of_site: str
) -> None:
    comes_to(way, "not_begun")
    before = of_brokers(way)
    more = ("-i", str(hosts_file(tmp_path, {"kraft_controllers": hosts}, {})))
    is_refused(way.next(*more), of_step)
    is_refused(way.cluster.playbook("site.yml", *more), of_site)
    assert of_brokers(way) == before
    assert not any(way.cluster.alive(node) for node in way.cluster.controllers)


@pytest.mark.parametrize(
    ("group", "host", "words"),
    [
        ("kraft_controllers", "controller17", "controller controller17 (id 17) does not answer ("),
        ("kafka_brokers", "broker13", "broker broker13 (id 13) is down ("),
    ],
    ids=["controller", "broker"],
)
@pytest.mark.parametrize("check", [("--check",), ()], ids=["plan", "step"])
def test_a_machine_that_is_away_holds_the_step_by_its_name(
    way: Way, tmp_path: Path, group: str, host: str, words: str, check: tuple[str, ...]
) -> None:
    comes_to(way, "not_begun")
    before = of_brokers(way)
    # Nothing listens on port 1.
    away = {host: {"ansible_connection": "ssh", "ansible_port": 1}}
    run = way.next(*check, "-i", str(hosts_file(tmp_path, {group: away}, {})))
    assert run.rc != 0
    assert words in said(run)
    assert "Nothing was changed" in said(run)
    assert of_brokers(way) == before
    assert way.phase() == "not_begun"


def test_a_controller_that_was_started_by_hand_without_the_flag_is_named(
    way: Way, kafka_release: Callable[[str], Path]
) -> None:
    comes_to(way, "not_begun")
    before = of_brokers(way)
    host, disk = "controller15", way.cluster.data("controller15")
    number, port = way.cluster.identities[host], way.cluster.port(host)
    # Its disk and its file are where the inventory has those of this controller.
    early = LoneBroker(
        kafka_release(RELEASE),
        way.cluster.directory / "config" / host,
        port,
        **{
            "process.roles": "controller",
            "node.id": str(number),
            "controller.quorum.voters": f"{number}@127.0.0.1:{port}",
            "listeners": f"CONTROLLER://127.0.0.1:{port}",
            "log.dirs": str(disk),
        },
    )
    early.format(way.cluster.ensemble(chroot=CHROOT)["cluster"]["cluster_id"])
    try:
        early.start()
        until(lambda: way.phase() == "cannot_migrate", "the controller to write that it does not migrate", 120)
        shown = said(way.cluster.playbook(MIGRATE).ok())
        assert "the controllers were first started without the migration flag" in shown
        is_refused(way.next(), "no step leads on from the phase cannot_migrate")
        assert of_brokers(way) == before
    finally:
        early.kill()
        shutil.rmtree(disk)
        shutil.rmtree(early.directory)
    assert way.phase() == "not_begun"


# -- the first step ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("wish", "goal"), [("back", "not_begun"), ("next", "controllers_ready")])
def test_a_first_step_that_was_cut_when_one_controller_had_started_goes_on_or_back(
    way: Way, wish: str, goal: str
) -> None:
    comes_to(way, "not_begun")
    before, controllers = of_brokers(way), way.cluster.controllers
    with way.under_load(BEHIND):
        # One host after the other, so that the others are formatted and not started.
        run = way.cluster.begin(MIGRATE, "--forks", "1", kafka_migration="next")
        # It prints more than a pipe holds.
        threading.Thread(target=run.communicate, daemon=True).start()
        try:
            until(lambda: any(way.cluster.alive(node) for node in controllers), "a controller to start", 600)
        finally:
            kill(run)
        assert [node for node in controllers if way.cluster.alive(node)] == controllers[:1]
        assert way.phase() == "not_begun", "one of three elects nobody"
        assert phase_behind(way.next() if wish == "next" else way.back()) == goal
    assert {way.cluster.alive(node) for node in controllers} == {wish == "next"}
    assert of_brokers(way) == before
    all_is_well(way)


def test_a_first_step_that_was_cut_behind_the_starts_ends_by_itself(way: Way) -> None:
    comes_to(way, "not_begun")
    before = of_brokers(way)
    cut(way, "next", STARTED)
    # Not by the same command: the controllers end the step, and it would take the next one.
    until(lambda: way.phase() == "controllers_ready", "the controllers to elect a leader", 300)
    way.cluster.playbook().ok()
    assert way.cluster.playbook().ok().changed == 0
    assert all(way.cluster.is_proven(node) for node in way.cluster.controllers)
    assert (way.phase(), of_brokers(way)) == ("controllers_ready", before)


def test_a_controller_that_a_cut_first_step_left_out_is_started_by_site(way: Way) -> None:
    comes_to(way, "controllers_ready")
    before, host = of_brokers(way), way.cluster.controllers[-1]
    way.cluster.stop(host)
    # What such a cut leaves: a disk that was formatted, and no trace of a start.
    for log in way.cluster.data(host).glob("__cluster_metadata-*"):
        shutil.rmtree(log)
    shutil.rmtree(way.cluster.record(host))
    traces = [way.cluster.directory / "log" / host / name for name in ("controller.log", "state-change.log")]
    for trace in (way.cluster.directory / "config" / host / "has-data", *traces):
        trace.unlink(missing_ok=True)

    words = f"controller {host} (id {way.cluster.identities[host]}) has no metadata log, and the others have begun"
    is_refused(way.next(), f"{words}. fix: run site.yml, which starts it")
    with way.under_load(BEHIND):
        way.cluster.playbook().ok()
    shown = said(way.cluster.playbook(MIGRATE).ok())
    assert "Cluster local_zookeeper: controllers_ready" in shown
    assert "Blocks" not in shown
    assert (way.cluster.alive(host), of_brokers(way)) == (True, before)


def test_of_two_first_steps_at_once_one_is_refused_by_the_lock(way: Way) -> None:
    comes_to(way, "not_begun")
    runs = [way.cluster.begin(MIGRATE, kafka_migration="next") for _run in range(2)]
    outputs = [run.communicate(timeout=1200)[0] for run in runs]
    assert sorted(bool(run.returncode) for run in runs) == [False, True], outputs[0][-3000:] + outputs[1][-3000:]
    refused = next(text for run, text in zip(runs, outputs, strict=True) if run.returncode)
    assert "another run is changing it (migrate_to_kraft.yml)" in " ".join(refused.split())
    assert way.phase() == "controllers_ready"


# -- runs that are cut, from then on -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "wish", "task", "times", "inside", "goal"),
    [
        ("controllers_ready", "next", RESTARTED, 2, "brokers_migrating", "copied"),
        # Between the znodes and the restart of the first broker nobody is in charge.
        ("copied", "back", GIVEN_BACK, 1, "", "not_begun"),
        ("copied", "back", RESTARTED, 2, "not_begun", "not_begun"),
        ("copied", "next", RESTARTED, 2, "brokers_moving", "dual_write_kraft"),
        ("dual_write_kraft", "back", RESTARTED, 2, "brokers_moving", "copied"),
    ],
    ids=["to_the_copy", "given_back", "to_zookeeper", "to_kraft", "from_kraft"],
)
def test_the_same_command_behind_a_cut_ends_the_step(
    way: Way, before: str, wish: str, task: str, times: int, inside: str, goal: str
) -> None:
    comes_to(way, before)
    processes = of_brokers(way)
    with way.under_load(BEHIND):
        cut(way, wish, task, times)
        middle = of_brokers(way)
        assert sum(middle[node] != processes[node] for node in middle) == (times if task == RESTARTED else 0)
        # While the logs of the controllers are set aside, the one or the other may be.
        assert way.phase() == inside or not inside
        assert phase_behind(way.next() if wish == "next" else way.back()) == goal
    now = of_brokers(way)
    done = {node for node in middle if middle[node] != processes[node]}
    assert {node for node in done if now[node] != middle[node]} == set(), "nobody restarts twice"
    all_is_well(way)


@pytest.mark.parametrize(
    ("before", "inside", "goal"),
    [("controllers_ready", "brokers_migrating", "not_begun"), ("copied", "brokers_moving", "copied")],
    ids=["to_the_copy", "to_kraft"],
)
def test_a_step_forward_that_was_cut_is_taken_back(way: Way, before: str, inside: str, goal: str) -> None:
    comes_to(way, before)
    with way.under_load(BEHIND):
        cut(way, "next", RESTARTED, 2)
        assert way.phase() == inside
        assert phase_behind(way.back()) == goal
    modes = {"not_begun": {"broker.id"}, "copied": {"broker.id", FLAG}}[goal]
    assert all(set(way.started(node)) == modes for node in way.cluster.brokers)
    all_is_well(way)


def test_a_second_run_beside_a_step_is_refused_and_the_step_ends_well(way: Way) -> None:
    comes_to(way, "controllers_ready")
    with way.under_load(BEHIND):
        first = way.cluster.begin(MIGRATE, kafka_migration="next")
        try:
            read_until(first, "Migration | Show the phase")
            for second in (way.next(), way.back(), way.cluster.playbook()):
                is_refused(second, "another run is changing it (migrate_to_kraft.yml)")
            output, _error = first.communicate(timeout=1200)
        finally:
            kill(first)
    assert first.returncode == 0, output[-6000:]
    assert way.phase() == "copied"


# -- nodes that die ------------------------------------------------------------------------------------------------


def test_the_active_controller_is_killed_while_the_metadata_is_copied(way: Way) -> None:
    comes_to(way, "controllers_ready")
    before = of_brokers(way)
    with way.under_load(BEHIND):
        run = way.cluster.begin(MIGRATE, kafka_migration="next")
        try:
            read_until(run, RESTARTED)
            read_until(run, RESTARTED)
            # The copy begins once the last broker is registered, which is the one that was the controller.
            (last,) = [node for node in way.cluster.brokers if way.cluster.pid(node) == before[node]]
            until(lambda: way.cluster.has_started_again(last, before[last]), f"{last} to restart", 300)
            way.elect(1)
            output, _error = run.communicate(timeout=1800)
        finally:
            kill(run)
    assert run.returncode == 0, output[-6000:]
    assert way.phase() == "copied"
    is_written_to_both(way, "copied")
    all_is_well(way)


@pytest.mark.parametrize("phase", ["copied", "dual_write_kraft"])
def test_the_active_controller_is_killed_while_metadata_is_written_to_both(way: Way, phase: str) -> None:
    comes_to(way, phase)
    with way.under_load(BEHIND):
        way.elect(1)
        is_written_to_both(way, "elected")
    assert way.phase() == phase
    all_is_well(way)


def test_a_broker_that_is_down_in_the_dual_write_holds_the_last_step_until_it_is_back(way: Way) -> None:
    comes_to(way, "dual_write_kraft")
    with way.under_load(BEHIND):
        way.cluster.kill("broker12")
        way.cluster.stop("broker12")
        others = {node: way.cluster.pid(node) for node in way.cluster.nodes if node != "broker12"}
        try:
            words = "broker broker12 (id 12) is down (its process does not run)"
            is_refused(way.next(**CONFIRMED), words)
            assert f"Blocks next {words}" in said(way.cluster.playbook(MIGRATE).ok())
            assert {node: way.cluster.pid(node) for node in others} == others
        finally:
            way.cluster.start("broker12")
    all_is_well(way)
    shown = said(way.cluster.playbook(MIGRATE).ok())
    assert "Cluster local_zookeeper: dual_write_kraft" in shown
    assert "Blocks" not in shown, "the next step may be taken"


def test_zookeeper_without_a_quorum_in_the_dual_write_holds_both_ways_and_loses_nothing(way: Way) -> None:
    comes_to(way, "dual_write_kraft")
    lost = way.cluster.servers
    began, words = time.monotonic(), "the znodes are not known: "
    with way.under_load(BEHIND):
        for server in lost:
            way.cluster.stop(server)
        try:
            shown = said(way.cluster.playbook(MIGRATE).ok())
            assert "Cluster local_zookeeper: dual_write_kraft" in shown
            assert re.search(rf"Blocks both {words}.+ fix: mend the ensemble, and look again", shown)
            is_refused(way.next(**CONFIRMED), words)
            is_refused(way.back(), words)
            name = new_topic(way, "without_zookeeper")
            time.sleep(max(0.0, began + WITHOUT_ZOOKEEPER - time.monotonic()))
        finally:
            for server in lost:
                way.cluster.start(server)
        until(lambda: way.cluster.ensemble()["healthy"], "the ensemble to be whole", 120)
        until(lambda: name in topics_in_zookeeper(way), "what was made meanwhile to come to ZooKeeper", 300)
    shown = said(way.cluster.playbook(MIGRATE).ok())
    assert "Cluster local_zookeeper: dual_write_kraft" in shown
    assert "Blocks" not in shown
    all_is_well(way)


# -- the last step -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("wish", "goal"), [("back", "copied"), ("next", "finalised")])
def test_a_last_step_that_was_cut_before_its_leader_goes_back_or_on(way: Way, wish: str, goal: str) -> None:
    comes_to(way, "dual_write_kraft")
    with way.under_load(BEHIND):
        # The leader is the last one, and with the flag it keeps the way back open.
        cut(way, "next", RESTARTED, 2, **CONFIRMED)
        without = [node for node in way.cluster.controllers if FLAG not in way.started(node)]
        assert len(without) == 2
        shown = said(way.cluster.playbook(MIGRATE).ok())
        assert "Cluster local_zookeeper: dual_write_kraft" in shown
        assert "runs without the migration flag: once it leads, the migration is finalised" in shown
        assert phase_behind(way.next(**CONFIRMED) if wish == "next" else way.back()) == goal
    flagged = [node for node in way.cluster.controllers if FLAG in way.started(node)]
    assert flagged == ([] if wish == "next" else way.cluster.controllers)
    all_is_well(way)
