# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbooks that move data, on a cluster that gets a fourth broker and loses it again; each test goes on from the
one before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cluster import Cluster, free_port_base, hosts_file, local_variables, until
from tests.support.modules import run_module
from tests.support.moves import administering, fill, throttles
from tests.support.traffic import producing, read_all

THREE = {f"kafka{n}": {"kafka_node_id": n, "kafka_rack": f"r{n}"} for n in (1, 2, 3)}
FOUR = {**THREE, "kafka4": {"kafka_node_id": 4, "kafka_rack": "r1"}}
TOPIC = "orders"


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three combined nodes with some data."""
    directory = tmp_path_factory.mktemp("moving")
    inventory = hosts_file(directory / "three", {"kraft_controllers": THREE, "kafka_brokers": THREE}, local_variables())
    variables = {"kafka_resources_move_report_dir": str(directory / "reports")}
    cluster = Cluster(inventory, directory / "cluster", free_port_base(), variables)
    try:
        cluster.playbook().ok()
        yield cluster
    finally:
        cluster.destroy()


@pytest.fixture(scope="module")
def four(three: Cluster) -> Iterator[Cluster]:
    """The same with a fourth broker in the inventory."""
    groups = {"kraft_controllers": THREE, "kafka_brokers": FOUR}
    inventory = hosts_file(three.directory.parent / "four", groups, local_variables())
    cluster = Cluster(inventory, three.directory, three.port_base, three.variables)
    yield cluster
    if cluster.alive("kafka4"):
        cluster.stop("kafka4")


def held(cluster: Cluster, broker: int) -> int:
    """How many replicas a broker has."""
    options = {"bootstrap_servers": cluster.bootstrap_servers, "brokers": [broker]}
    found = run_module("streamops.kafka.log_dirs", options)
    return int(found["brokers"][0]["replica_count"])


def report(cluster: Cluster, name: str) -> str:
    """A report that a playbook wrote."""
    directory = Path(cluster.variables["kafka_resources_move_report_dir"])
    return (directory / f"{name}.html").read_text()


def moves(output: str) -> int:
    """How many moves a playbook showed before it began."""
    found = re.search(r"(\d+) replicas move", output)
    assert found, output[-3000:]
    return int(found.group(1))


def test_a_broker_that_is_a_voter_is_not_removed(three: Cluster) -> None:
    run = three.playbook("playbooks/drain_and_remove_broker.yml", kafka_remove_broker="kafka3")
    assert run.rc != 0
    assert run.changed == 0
    assert "every broker here is a voter" in " ".join(run.output.split())


def test_a_new_broker_gets_its_share_and_nobody_restarts(three: Cluster, four: Cluster) -> None:
    fill(three, TOPIC, 6, 2)
    before = three.pids()
    shown = four.playbook("playbooks/add_brokers.yml", plan_only=True).ok()
    assert held(four, 4) == 0, "plan_only moves nothing"
    done = four.playbook("playbooks/add_brokers.yml", kafka_resources_move_throttle=20_000_000).ok()
    # The second run also places the topic that keeps its state.
    assert 0 < moves(shown.output) <= moves(done.output) == held(four, 4)
    assert three.pids() == before
    assert "Every partition has the replicas that were planned" in report(four, "local-rebalance")
    again = four.playbook("playbooks/rebalance.yml").ok()
    assert (again.changed, "Nothing to move" in again.output) == (0, True)


def test_a_loaded_broker_is_emptied_by_as_many_moves_as_it_has_replicas_and_removed(four: Cluster) -> None:
    before, replicas = throttles(four), held(four, 4)
    with producing(four.bootstrap_servers, TOPIC, rate=500) as ledger:
        until(lambda: len(ledger.acknowledged) > 1000, "traffic")
        words = {"kafka_remove_broker": "kafka4", "kafka_resources_move_throttle": 20_000_000}
        done = four.playbook("playbooks/drain_and_remove_broker.yml", **words).ok()
        reached = len(ledger.acknowledged)
        until(lambda: len(ledger.acknowledged) > reached + 500, "traffic to go on")
    assert moves(done.output) == replicas
    assert not four.alive("kafka4")
    with administering(four) as admin:
        assert [broker.id for broker in admin.brokers()] == [1, 2, 3]
    del before["brokers"]["4"]
    assert throttles(four) == before
    assert not ledger.failed
    assert not ledger.lost(read_all(four.bootstrap_servers, TOPIC))


def test_without_it_no_replica_is_left_to_move(three: Cluster) -> None:
    # A drain leaves leaders with whoever leads; a rebalance spreads them, once.
    first = three.playbook("playbooks/rebalance.yml").ok()
    assert "Nothing to move" in first.output or moves(first.output) == 0
    assert three.playbook("playbooks/rebalance.yml").ok().changed == 0


def test_a_topic_gets_fewer_and_more_replicas_and_more_partitions(three: Cluster) -> None:
    down = three.playbook("playbooks/change_replication_factor.yml", kafka_replication_factor={TOPIC: 2}).ok()
    assert moves(down.output) == 0
    up = three.playbook("playbooks/change_replication_factor.yml").ok()
    assert moves(up.output) == 6, "the inventory wants three replicas of its six partitions"
    grown = {"kafka_grow_topic": TOPIC, "kafka_grow_partitions": 9}
    three.playbook("playbooks/grow_topic.yml", **grown).ok()
    assert three.playbook("playbooks/grow_topic.yml", **grown).ok().changed == 0
    options = {"bootstrap_servers": three.bootstrap_servers, "topics": [TOPIC]}
    partitions = run_module("streamops.kafka.cluster_info", options)["topics"][0]["partitions"]
    assert [len(one["replicas"]) for one in partitions] == [3] * 9
    assert all(one["leader"] == one["replicas"][0] for one in partitions)
