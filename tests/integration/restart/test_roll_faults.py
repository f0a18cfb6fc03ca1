"""Faults on each node of a roll, and runs that are killed anywhere: no node ever takes up a bad value again."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.cluster import NODE_OPTIONS, ROOT, Cluster, environment, free_port_base, until
from tests.support.traffic import producing, read_all
from tests.support.zookeeper import ZookeeperCluster

pytestmark = pytest.mark.full

#: What Kafka and Java take when they judge files, and find out at the start.
LATE = {"kafka_broker_config": {"metric.reporters": "no.such.Reporter"}}
LATE_OF_ZOOKEEPER = {"kafka_jvm_options": [*NODE_OPTIONS, "-Dzookeeper.serverCnxnFactory=no.such.Factory"]}
NO_LOG = {"kafka_jvm_options": [*NODE_OPTIONS, "-Xlog:gc:file=/no/such/directory/gc.log"]}
#: Each roll of this process wishes for another one.
NUMBERS = itertools.count(401)


def wishes() -> dict[str, Any]:
    """Variables for a roll of all brokers, in which all of them are fine."""
    return {"kafka_broker_config": {"queued.max.requests": next(NUMBERS)}, "kafka_jvm_options": NODE_OPTIONS}


@pytest.fixture(scope="module", params=["local", "local_isolated", "local_zookeeper"])
def cluster(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster of each mode, which the tests of this file hurt one after the other."""
    kind = ZookeeperCluster if request.param == "local_zookeeper" else Cluster
    cluster = kind(ROOT / "inventories" / request.param, tmp_path_factory.mktemp("faults"), free_port_base())
    try:
        cluster.playbook().ok()
        yield cluster
    finally:
        cluster.destroy()


def only(node: str, fault: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    """Variables that give one node a fault in a roll of all brokers, in which the others are fine."""
    return {
        name: f"{{{{ {fault.get(name, wish)} if inventory_hostname == '{node}' else {wish} }}}}"
        for name, wish in wanted.items()
    }


def every_node_survives_a_kill(cluster: Cluster) -> None:
    """Each node starts again by itself with what is on its disk, as after a crash or a boot."""
    for node in cluster.nodes:
        before = cluster.pid(node)
        cluster.kill(node)
        until(partial(cluster.has_started_again, node, before), f"{node} to start again", 60)
    until(lambda: all(cluster.listens(node) for node in cluster.nodes), "all nodes to listen", 180)


def victims(cluster: Cluster) -> list[str]:
    """The first, the second and the last broker in the order of the inventory."""
    brokers = [node for node in cluster.nodes if not node.startswith(("zookeeper", "controller"))]
    return [brokers[0], brokers[1], brokers[-1]]


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("fault", [LATE, NO_LOG], ids=["a class that is not there", "a log that Java cannot open"])
def test_a_fault_on_one_broker_of_a_roll_is_taken_back_and_survives_nowhere(
    cluster: Cluster, place: int, fault: dict[str, Any]
) -> None:
    victim, wanted = victims(cluster)[place], wishes()
    new = f"queued.max.requests={wanted['kafka_broker_config']['queued.max.requests']}"
    with producing(cluster.bootstrap_servers, "orders", rate=400) as ledger:
        run = cluster.playbook(kafka_start_timeout=60, **only(victim, fault, wanted))
        assert run.rc != 0
        said = " ".join(run.output.split())
        assert f"{victim} did not come back with its new start files. It runs with those from before again" in said
        assert "No other node was stopped after it or has new files." in said
        named = re.search(r"\. ([\w, ]+) runs? with new files already\.", said)
        renewed = {node for node in cluster.nodes if new in cluster.start_files(node)}
        assert set(named[1].split(", ") if named else []) == renewed
        assert all("no.such" not in cluster.start_files(node) for node in cluster.nodes)
        assert all("/no/such" not in cluster.start_files(node) for node in cluster.nodes)
        every_node_survives_a_kill(cluster)
        until(lambda: len(ledger.acknowledged) > 5000, "5,000 acknowledged records", 120)
    assert not ledger.failed
    assert not ledger.lost(read_all(cluster.bootstrap_servers, "orders"))
    cluster.playbook(**wanted).ok()


def test_a_fault_on_a_voter_is_taken_back(cluster: Cluster) -> None:
    """A controller, a server of ZooKeeper, or a combined node."""
    voters = [node for node in cluster.nodes if node not in victims(cluster)] or cluster.nodes
    victim = voters[1]
    fault = (LATE_OF_ZOOKEEPER if cluster.is_server(victim) else NO_LOG)["kafka_jvm_options"]
    options = f"{{{{ {fault} if inventory_hostname == '{victim}' else {NODE_OPTIONS} }}}}"
    run = cluster.playbook(kafka_start_timeout=60, kafka_jvm_options=options)
    assert run.rc != 0
    assert f"{victim} did not come back with its new start files" in " ".join(run.output.split())
    every_node_survives_a_kill(cluster)
    cluster.playbook().ok()


def test_runs_killed_anywhere_leave_each_node_one_whole_set_of_files(cluster: Cluster) -> None:
    """Runs of two wishes in turn are killed at random; then a node dies, and the next run goes on from there."""
    # The same places for each mode, other ones than a person would choose.
    chance = random.Random(33)
    with producing(cluster.bootstrap_servers, "orders", rate=200) as ledger:
        for number in range(int(os.environ.get("STREAMOPS_KILLS", "8"))):
            killed_after(cluster, chance.uniform(8, 75), 500 + number % 2)
            victim = chance.choice(cluster.nodes)
            if cluster.alive(victim):
                cluster.kill(victim)
            for node in cluster.nodes:
                assert is_whole(cluster.directory / "config" / node), f"{node} after kill {number}"
        cluster.playbook(kafka_broker_config={"queued.max.requests": 499}).ok()
        until(lambda: all(cluster.listens(node) for node in cluster.nodes), "all nodes to listen", 60)
    assert not ledger.failed
    assert not ledger.lost(read_all(cluster.bootstrap_servers, "orders"))
    for node in cluster.nodes:
        config = cluster.directory / "config" / node
        left = {link for link in ("staged", "failed") if (config / link).exists()}
        assert not left, f"{node}: {left}"
        assert cluster.is_proven(node), node
    again = cluster.playbook(kafka_broker_config={"queued.max.requests": 499}).ok()
    assert again.changed == 0


def killed_after(cluster: Cluster, seconds: float, value: int) -> None:
    """Start a run and kill all of it after a time, or let it end."""
    command = cluster.command("site.yml", kafka_broker_config={"queued.max.requests": value})
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as run:
        deadline = time.monotonic() + seconds
        while run.poll() is None and time.monotonic() < deadline:
            time.sleep(0.2)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGKILL)


def is_whole(config: Path) -> bool:
    """Whether all files that a node reads are those of one generation, none missing and none of another one."""
    names = {path.name for path in (config / "current").iterdir() if path.name != "MANIFEST.sha256"}
    real = (config / "current").resolve()
    return {"jvm.options", "start"} <= names and all((config / name).resolve() == real / name for name in names)
