# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster goes back from KRaft to ZooKeeper from each phase, twice, then forward again; no record is lost."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.support.cluster import said
from tests.support.migration import FLAG, OLD, STEPS, Way, phase_behind
from tests.support.modules import run_module
from tests.support.traffic import producing

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def way(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Way]:
    """A server of ZooKeeper, three brokers that have topics with records, and controllers in the inventory."""
    with Way.begun(tmp_path_factory.mktemp("back"), servers=1) as made:
        made.add_controllers()
        made.cluster.playbook().ok()
        yield made


def forward_to(way: Way, goal: str) -> None:
    """Take the steps from a cluster of ZooKeeper to a phase."""
    for phase in STEPS[: STEPS.index(goal) + 1]:
        assert phase_behind(way.next()) == phase


def back_under_load(way: Way, goal: str) -> str:
    """Take a half step back while records are written; return what the run said."""
    with way.under_load():
        run = way.back()
        assert phase_behind(run) == goal
    return said(run)


def is_of_zookeeper_again(way: Way, brokers_restart: bool, before: dict[str, int]) -> None:
    """Check a cluster behind its hand-over: who runs and as what, the znodes, the logs, and that topics change."""
    for node in way.cluster.controllers:
        assert not way.cluster.alive(node)
        assert not (way.cluster.data(node) / "__cluster_metadata-0").exists()
        assert list(way.cluster.data(node).glob("__cluster_metadata-[1-9]*"))
    restarted = [node for node in way.cluster.brokers if way.cluster.pid(node) != before[node]]
    assert restarted == (way.cluster.brokers if brokers_restart else [])
    for node in way.cluster.brokers:
        assert set(way.started(node)) == {"broker.id"}

    told = way.cluster.ensemble(chroot="/local_zookeeper")
    assert told["znodes"]["/controller"]["brokerid"] in (11, 12, 13)
    assert told["znodes"]["/controller"].get("kraftControllerEpoch", -1) == -1
    assert told["znodes"]["/migration"] is None
    topic = {"name": f"since_{int(time.time())}", "partitions": 3, "replication_factor": 3}
    servers = {"bootstrap_servers": way.cluster.bootstrap_servers}
    made = run_module("streamops.kafka.topics", {**servers, "topics": [topic]})
    assert (made["failed"], made["changed"]) == (False, True)
    counts = run_module("streamops.kafka.cluster_info", servers)["counts"]
    assert (counts["under_replicated"], counts["offline"]) == (0, 0)


def writes_and_reads(way: Way) -> None:
    """Write to the old topic too: its partitions have the epochs that KRaft gave them."""
    with producing(way.cluster.bootstrap_servers, OLD, rate=200) as ledger:
        ledger.reaches(500)
    way.keeps(ledger, OLD)


def test_a_check_shows_the_way_back_and_changes_nothing(way: Way) -> None:
    forward_to(way, "controllers_ready")
    before = way.cluster.pids()
    shown = said(way.back("--check").ok())
    assert "Way back controllers_ready -> not_begun" in shown
    assert "Stop controller15" in shown
    assert "delete /migration" in shown
    assert way.cluster.pids() == before
    assert way.phase() == "controllers_ready"


@pytest.mark.parametrize("again", [1, 2])
def test_from_controllers_that_wait_no_broker_restarts(way: Way, again: int) -> None:
    if way.phase() == "not_begun":
        forward_to(way, "controllers_ready")
    before = way.cluster.pids()
    back_under_load(way, "not_begun")
    is_of_zookeeper_again(way, brokers_restart=False, before=before)


@pytest.mark.parametrize("elections", [0, 20])
def test_from_a_copy_that_brokers_of_zookeeper_write(way: Way, elections: int) -> None:
    forward_to(way, "copied")
    way.elect(elections)
    epoch = way.quorum()["leaderEpoch"]
    before = way.cluster.pids()
    shown = back_under_load(way, "not_begun")
    assert "Done: the controllers of cluster local_zookeeper are stopped" in shown
    is_of_zookeeper_again(way, brokers_restart=True, before=before)
    assert way.cluster.ensemble(chroot="/local_zookeeper")["znodes"]["/controller_epoch"] > epoch
    writes_and_reads(way)


@pytest.mark.parametrize("again", [1, 2])
def test_from_brokers_of_kraft_in_two_half_steps(way: Way, again: int) -> None:
    forward_to(way, "dual_write_kraft")
    back_under_load(way, "copied")
    for node in way.cluster.brokers:
        assert set(way.started(node)) == {"broker.id", FLAG}
        assert len(list(way.cluster.data(node).glob("__cluster_metadata-[1-9]*"))) >= again
    for node in way.cluster.controllers:
        assert way.cluster.alive(node)

    before = way.cluster.pids()
    back_under_load(way, "not_begun")
    is_of_zookeeper_again(way, brokers_restart=True, before=before)
    writes_and_reads(way)


def test_what_is_back_is_not_taken_back_again(way: Way) -> None:
    before = {node: way.cluster.pid(node) for node in way.cluster.brokers}
    refused = way.back()
    assert refused.rc != 0
    assert "nothing is left to take back" in said(refused)
    assert {node: way.cluster.pid(node) for node in before} == before


def test_the_way_forward_is_open_again(way: Way) -> None:
    forward_to(way, "dual_write_kraft")
    assert phase_behind(way.next(kafka_migration_confirmed="finalised")) == "finalised"
    writes_and_reads(way)
