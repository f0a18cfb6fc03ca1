# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster that others started is taken over node by node, and given back: three brokers, started as by nohup."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._node import adopted, adopted_look
from tests.support.cluster import ROOT, Cluster, Run, free_port_base, kill, read_until, until
from tests.support.modules import run_module
from tests.support.traffic import producing, read_all

TOPIC = "orders"
#: Kafka takes this when it reads its properties, and finds out at its start that there is no such class.
LATE = {"metric.reporters": "no.such.Reporter"}
TAKE, BACK, FINISH = (("-e", f"kafka_adopt={word}") for word in ("take", "back", "finish"))


class Others(Cluster):
    """A cluster whose nodes were installed by nothing of this collection, and whose inventory describes them."""

    @property
    def homes(self) -> dict[str, Path]:
        """Return where the files of each node of the old installation are."""
        return {node: self.directory / "old" / node for node in self.nodes}

    def become(self) -> None:
        """Make a cluster of ours that of others: their own files and processes, and nothing of ours but the data."""
        for node, home in self.homes.items():
            current = self.directory / "config" / node / "current"
            (home / "config").mkdir(parents=True)
            (home / "logs").mkdir()
            shutil.copy(current / "server.properties", home / "config" / "server.properties")
        # In order the last of them would wait for a quorum.
        super().destroy()
        until(lambda: not any(map(self.alive, self.nodes)), "the nodes to end")
        for name in ("config", "run", "log"):
            shutil.rmtree(self.directory / name)
        for node in self.nodes:
            self.start_old(node)
        until(lambda: all(map(self.listens, self.nodes)), "the old nodes to listen", 180)

    def start_old(self, node: str) -> None:
        """Start a node as somebody does who types it."""
        (libs,) = (self.directory / "install" / "releases").glob("kafka-*/libs")
        home = self.homes[node]
        argv = ["java", "-Xmx512m", f"-Dkafka.logs.dir={home}/logs", "-cp", f"{libs}/*", "kafka.Kafka"]
        with (home / "console.log").open("ab") as output:
            subprocess.Popen(
                [*argv, "config/server.properties"], cwd=home, stdout=output, stderr=output, start_new_session=True
            )

    def old_pid(self, node: str) -> int | None:
        """Return the number of the old process of a node; None where it does not run."""
        claim: adopted.Claim = {
            "manager": "none",
            "name": "",
            "enabled": False,
            "control": "",
            "main_class": "kafka.Kafka",
            "properties_file": str(self.homes[node] / "config" / "server.properties"),
        }
        return adopted_look.old_process(adopted.claimed(claim))

    def runners(self) -> dict[str, str]:
        """Return who runs each node: old, ours, both or nobody."""
        names = {(True, True): "both", (True, False): "old", (False, True): "ours", (False, False): "nobody"}
        return {node: names[self.old_pid(node) is not None, self.alive(node)] for node in self.nodes}

    def kept(self) -> dict[str, bytes]:
        """Return the content of each file of the old installation that the nodes do not write themselves."""
        files = [path for home in self.homes.values() for path in (home / "config").rglob("*") if path.is_file()]
        return {str(path): path.read_bytes() for path in files}

    def adopt(self, *arguments: str, **variables: object) -> Run:
        """Run adopt.yml; what it does must come with the command line."""
        return self.playbook("playbooks/adopt.yml", *arguments, **variables)

    def destroy(self) -> None:
        """End the old processes too."""
        for node in self.nodes:
            if (pid := self.old_pid(node)) is not None:
                os.kill(pid, signal.SIGKILL)
        super().destroy()


@pytest.fixture
def others(tmp_path: Path) -> Iterator[Others]:
    """A running cluster of others."""
    cluster = Others(ROOT / "inventories" / "local", tmp_path / "c", free_port_base())
    cluster.playbook().ok()
    try:
        cluster.become()
        yield cluster
    finally:
        cluster.destroy()


def all_run(cluster: Others, who: str) -> bool:
    """Tell whether one of both runs all nodes."""
    return set(cluster.runners().values()) == {who}


def phases(cluster: Others) -> list[str]:
    """Return what the files say of the nodes; empty where there are none."""
    files = [cluster.directory / "config" / node / adopted.FILE for node in cluster.nodes]
    return [json.loads(path.read_text())["phase"] for path in files if path.exists()]


def said(run: Run) -> str:
    """Return what a run printed, in one line."""
    return " ".join(run.output.split())


def no_manager(cluster: Others) -> None:
    """Leave out where whatever runs these tests looks like the service of the nodes: it would be stopped."""
    found = run_module("streamops.kafka.adoption_info", {"locks": []})["processes"]
    pids = {cluster.old_pid(node) for node in cluster.nodes}
    managers = {told["service"]["manager"] for told in found if told["pid"] in pids}
    if managers != {"none"}:
        pytest.skip(f"these tests themselves run below a service ({managers}), which would be stopped")


@pytest.mark.full
def test_a_cluster_of_others_is_taken_over_and_given_back_without_a_loss(others: Others) -> None:
    no_manager(others)
    kept, before = others.kept(), {node: others.old_pid(node) for node in others.nodes}
    refused = others.playbook()
    assert refused.rc != 0
    assert "a node that others installed is taken over by adopt.yml" in said(refused)
    foreseen = others.adopt("--check", "--diff", *TAKE).ok()
    assert "it is run by a process without a service" in said(foreseen)
    assert phases(others) == []
    other = others.adopt(*TAKE, kafka_cluster_id="AAAAAAAAAAAAAAAAAAAAAA")
    assert other.rc != 0
    assert "its cluster id by the inventory: AAAAAAAAAAAAAAAAAAAAAA" in said(other)
    assert {node: others.old_pid(node) for node in others.nodes} == before

    with producing(others.bootstrap_servers, TOPIC, rate=200) as ledger:
        ledger.reaches(500)
        taken = others.adopt(*TAKE).ok()
        assert all_run(others, "ours"), others.runners()
        assert phases(others) == ["taken"] * 3
        assert "taken over from a process without a service" in said(taken)
        pids = others.pids()
        assert others.playbook().ok().changed == 0
        assert others.adopt(*TAKE).ok().changed == 0
        assert others.pids() == pids
        ledger.reaches(len(ledger.acknowledged) + 500)
        others.adopt(*BACK).ok()
        assert all_run(others, "old"), others.runners()
        assert phases(others) == ["returned"] * 3
        ledger.reaches(len(ledger.acknowledged) + 500)
    assert not ledger.failed
    assert not ledger.lost(read_all(others.bootstrap_servers, TOPIC))
    assert others.kept() == kept
    # Nothing of ours starts beside what was given back.
    again = others.playbook()
    assert again.rc != 0
    assert "the node was given back" in said(again)
    assert all_run(others, "old"), others.runners()


@pytest.mark.full
def test_a_node_that_does_not_come_back_goes_to_its_old_service_and_a_cut_run_goes_on(others: Others) -> None:
    no_manager(others)
    with producing(others.bootstrap_servers, TOPIC, rate=200) as ledger:
        ledger.reaches(500)
        failed = others.adopt(*TAKE, kafka_broker_config=LATE, kafka_start_timeout=60)
        assert failed.rc != 0
        assert "was not taken over: a process without a service" in said(failed)
        assert all_run(others, "old"), others.runners()

        run = others.begin("playbooks/adopt.yml", *TAKE)
        # Printed once the old process has ended.
        read_until(run, "Old service | Stop the node, and keep its old service from starting it")
        kill(run)
        assert "old" in others.runners().values()
        others.adopt(*TAKE).ok()
        assert all_run(others, "ours"), others.runners()

        unconfirmed = others.adopt(*FINISH)
        assert unconfirmed.rc != 0
        assert phases(others) == ["taken"] * 3
        others.adopt(*FINISH, kafka_adopt_confirmed="finish").ok()
        assert phases(others) == []
        refused = others.adopt(*BACK)
        assert refused.rc != 0
        assert "cannot be given back" in said(refused)
        assert all_run(others, "ours"), others.runners()
        others.playbook("playbooks/rolling_restart.yml").ok()
    assert not ledger.lost(read_all(others.bootstrap_servers, TOPIC))
