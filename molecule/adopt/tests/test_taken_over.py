"""Nodes that a unit of others ran: ours runs them, theirs is out of the way, and they go back to it.

All machines have had a power cut before, by the tests that scenarios share.
"""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.support.machines import Machine
from tests.support.modules import run_module
from tests.support.traffic import producing, read_all

ROOT = Path(__file__).resolve().parents[3]
OLD, HOME = "kafka.service", "/opt/apache/kafka"
#: Kafka takes this when it reads its properties, and finds out at its start that there is no such class.
LATE = '{"kafka_broker_config": {"metric.reporters": "no.such.Reporter"}, "kafka_start_timeout": 90}'


def adopt(wish: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run adopt.yml on the scenario's inventory as molecule made it."""
    inventory = os.environ["MOLECULE_INVENTORY_FILE"]
    command = ["ansible-playbook", "-i", inventory, "playbooks/adopt.yml", "-e", f"kafka_adopt={wish}", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)


def state(machine: Machine, unit: str) -> tuple[str, str]:
    """Return whether a unit runs, and whether it starts with the machine."""
    shown = machine.run("systemctl", "show", unit, "--property=ActiveState,UnitFileState", "--value")
    active, enabled = shown.split()
    return active, enabled


def runs(machine: Machine, unit: str, other: str) -> bool:
    """Tell whether one unit alone runs the node, now and with the machine."""
    return state(machine, unit) == ("active", "enabled") and state(machine, other) == ("inactive", "disabled")


def identity(machine: Machine) -> str:
    """Return what the disk says of the node."""
    return machine.run("cat", "/srv/kafka/meta.properties")


@pytest.fixture
def servers(administrator: dict[str, Any]) -> list[str]:
    """Where clients begin."""
    return list(administrator["bootstrap_servers"])


def test_ours_alone_runs_the_node_now_and_with_the_machine(node: Machine) -> None:
    assert runs(node, node.service, OLD)
    (pid,) = node.run("pgrep", "--exact", "java").split()
    assert int(pid) == node.pid()
    assert node.run("stat", "-c", "%U %G", f"/proc/{pid}") == "kafka kafka"


def test_no_file_of_the_old_installation_was_touched(node: Machine) -> None:
    files = ["/etc/systemd/system/kafka.service", "/etc/default/kafka", f"{HOME}/config/server.properties"]
    marks = node.run("stat", "-c", "%Y %a %U", *files, f"{HOME}/bin/kafka-server-start.sh").splitlines()
    formatted, mode, owner = node.run("stat", "-c", "%Y %a %U", "/srv/kafka/bootstrap.checkpoint").split()
    assert [mark for mark in marks if int(mark.split()[0]) > int(formatted)] == []
    assert owner == "kafka"
    assert mode in ("644", "640")


def test_records_from_before_are_there(servers: list[str]) -> None:
    assert read_all(servers, "before") == Counter(range(1000))


def test_a_node_that_does_not_come_back_runs_with_its_old_service_and_all_go_back_without_a_loss(
    nodes: list[Machine], servers: list[str], administrator: dict[str, Any]
) -> None:
    before = {node.name: identity(node) for node in nodes}
    topic = {"name": "during", "partitions": 6, "replication_factor": 3, "config": {"min.insync.replicas": 2}}
    assert not run_module("streamops.kafka.topics", {**administrator, "topics": [topic]})["failed"]
    with producing(servers, "during", rate=200) as ledger:
        ledger.reaches(500)
        back = adopt("back")
        assert back.returncode == 0, back.stdout[-6000:]
        assert [node.name for node in nodes if not runs(node, OLD, node.service)] == []

        failed = adopt("take", "-e", LATE)
        assert failed.returncode != 0
        assert "was not taken over" in " ".join(failed.stdout.split())
        assert [node.name for node in nodes if not runs(node, OLD, node.service)] == []

        # systemd ends what dies, and starts it again: nothing of ours stands in its way.
        nodes[0].run("systemctl", "kill", "--signal=KILL", OLD)
        again = adopt("take")
        assert again.returncode == 0, again.stdout[-6000:]
        assert [node.name for node in nodes if not runs(node, node.service, OLD)] == []
        ledger.reaches(len(ledger.acknowledged) + 500, 120)
    assert not ledger.failed
    assert ledger.lost(read_all(servers, "during")) == []
    assert {node.name: identity(node) for node in nodes} == before
