# SPDX-License-Identifier: GPL-3.0-or-later
"""The unit of a node under a real systemd: what brings it back, what keeps it down, and what it waits for."""

from __future__ import annotations

import subprocess
import uuid
from collections.abc import Iterator

import pytest

from tests.support.cluster import ROOT, until
from tests.support.inventory_data import view
from tests.support.machines import docker, start_machine
from tests.support.units import rendered

IMAGE, LABEL = "streamops-kafka-base:bookworm", "streamops.units"
#: It ends as Java does: with 143 on SIGTERM.
NODE = """#!/usr/bin/python3
import os, signal, time
signal.signal(signal.SIGTERM, lambda *_: os._exit(143))
while True: time.sleep(60)
"""
MOUNT = "[Mount]\nWhat={what}\nWhere=/disk2\nType={kind}\n"


@pytest.fixture(scope="module")
def machine(engine: None) -> Iterator[str]:
    """A machine with systemd, the unit of a broker with two disks, and a program that stands for Java."""
    subprocess.run([str(ROOT / "tools" / "base_image.sh")], check=True, capture_output=True, timeout=900)
    name = f"units-{uuid.uuid4().hex[:8]}"
    start_machine(name, IMAGE, LABEL)
    try:
        own = {"kafka_node_id": 1, "kafka_log_dirs": ["/var/lib/kafka/a", "/disk2/a"]}
        put(name, "/etc/systemd/system/kafka-a.service", rendered(view({"a": own}, brokers=["a"])))
        put(name, "/etc/kafka/a/start", NODE)
        mount(name, "tmpfs", "tmpfs")
        docker("exec", name, "useradd", "--system", "kafka")
        docker("exec", name, "chmod", "0755", "/etc/kafka/a/start")
        until(lambda: systemctl(name, "is-system-running").stdout.strip() in ("running", "degraded"), "systemd", 120)
        yield name
    finally:
        docker("rm", "--force", "--volumes", name)


def put(name: str, path: str, text: str) -> None:
    """Write a file of the machine."""
    docker("exec", "-i", name, "install", "-D", "/dev/stdin", path, given=text)


def mount(name: str, what: str, kind: str) -> None:
    """Say what is mounted as the second disk."""
    put(name, "/etc/systemd/system/disk2.mount", MOUNT.format(what=what, kind=kind))
    docker("exec", name, "chmod", "0644", "/etc/systemd/system/disk2.mount", "/etc/systemd/system/kafka-a.service")
    systemctl(name, "daemon-reload")


def systemctl(name: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run systemctl on the machine."""
    command = ["docker", "exec", name, "systemctl", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def pid(name: str) -> int:
    """The process of the node; 0 while there is none."""
    return int(systemctl(name, "show", "kafka-a", "--property=MainPID", "--value").stdout or 0)


def test_a_node_that_got_a_signal_comes_back_and_one_that_was_stopped_does_not(machine: str) -> None:
    assert systemctl(machine, "enable", "--now", "kafka-a").returncode == 0
    for signal in ("TERM", "KILL"):
        before = pid(machine)
        docker("exec", machine, "kill", f"-{signal}", str(before))
        until(lambda before=before: pid(machine) not in (0, before), f"the node to come back after SIG{signal}", 120)
    assert systemctl(machine, "disable", "kafka-a").returncode == 0
    assert systemctl(machine, "stop", "kafka-a").returncode == 0
    # One that systemd is about to start again is in the state auto-restart.
    assert systemctl(machine, "show", "kafka-a", "--property=SubState", "--value").stdout.strip() == "dead"
    docker("restart", machine)
    until(lambda: systemctl(machine, "is-system-running").stdout.strip() in ("running", "degraded"), "a boot", 120)
    assert pid(machine) == 0
    assert systemctl(machine, "enable", "kafka-a").returncode == 0
    docker("restart", machine)
    until(lambda: pid(machine) != 0, "the node to start at boot", 120)


def test_a_node_does_not_start_without_one_of_its_disks(machine: str) -> None:
    systemctl(machine, "stop", "kafka-a")
    systemctl(machine, "stop", "disk2.mount")
    # A mount that fails at once, as one does whose device has not come in time.
    mount(machine, "none", "no-such-file-system")
    refused = systemctl(machine, "start", "kafka-a")
    assert refused.returncode != 0
    assert "dependency" in refused.stderr
    assert pid(machine) == 0
    mount(machine, "tmpfs", "tmpfs")
    assert systemctl(machine, "start", "kafka-a").returncode == 0
    assert pid(machine) != 0
    assert docker("exec", machine, "findmnt", "--noheadings", "--output", "FSTYPE", "/disk2") == "tmpfs"
