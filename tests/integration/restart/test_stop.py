# SPDX-License-Identifier: GPL-3.0-or-later
"""What playbooks/stop.yml ends on a machine that several clusters share, and what it leaves."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._node.processes import stat
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.paths import socket_near
from tests.support.cluster import BIN, ROOT, Cluster, free_port_base, until
from tests.support.mirrored import Mirrored, local_mirror

pytestmark = pytest.mark.full

#: A program that stands for a node which is stopped already, or runs on.
PROGRAM = """
[program:{service}]
command = {sleep} 600
autostart = {autostart}
"""


def end(pid: int) -> None:
    """End the supervisord of a test, unless it has gone by itself."""
    if is_alive(pid):
        os.kill(pid, signal.SIGTERM)
        until(lambda: not is_alive(pid), "supervisord to end")


def is_alive(pid: int) -> bool:
    """Tell whether a process runs."""
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[tuple[Mirrored, int]]:
    """A machine whose supervisord has stopped all but one node of dc_b, and the process id of supervisord."""
    cluster = local_mirror(tmp_path / "shared")
    config, run = cluster.directory / "config" / "supervisor", cluster.directory / "run"
    config.mkdir(parents=True)
    run.mkdir()
    socket = socket_near(f"{run}/supervisor.sock")
    programs = "".join(
        PROGRAM.format(service=cluster.service(node), sleep="/bin/sleep", autostart=node == "b1")
        for node in cluster.nodes
    )
    (config / "supervisord.conf").write_text(
        f"[supervisord]\nlogfile = {run}/supervisord.log\npidfile = {run}/supervisord.pid\n"
        f"[unix_http_server]\nfile = {socket}\n"
        "[rpcinterface:supervisor]\n"
        "supervisor.rpcinterface_factory = supervisor.rpcinterface:make_main_rpcinterface\n"
        f"[supervisorctl]\nserverurl = unix://{socket}\n{programs}"
    )
    subprocess.run([str(BIN / "supervisord"), "-c", str(config / "supervisord.conf")], check=True)
    until(lambda: "RUNNING" in cluster.supervisorctl("status", "kafka-b1"), "supervisord to run a node")
    pid = int((run / "supervisord.pid").read_text())
    try:
        yield cluster, pid
    finally:
        end(pid)


def test_supervisord_outlives_the_stop_of_one_cluster_and_ends_with_the_last(shared: tuple[Mirrored, int]) -> None:
    cluster, supervisord = shared
    limited = cluster.playbook("playbooks/stop.yml", "--limit", "dc_a,mirror1").ok()
    assert "kafka-b1" in limited.output, "what runs on is named"
    assert "RUNNING" in cluster.supervisorctl("status", "kafka-b1")
    cluster.supervisorctl("stop", "kafka-b1")
    looked = cluster.playbook("playbooks/stop.yml", "--check").ok()
    assert looked.changed == 0
    assert is_alive(supervisord)
    ended = cluster.playbook("playbooks/stop.yml").ok()
    assert ended.changed == 1
    until(lambda: not is_alive(supervisord), "supervisord to end")


@pytest.fixture
def deaf(tmp_path: Path) -> Iterator[tuple[Cluster, dict[str, subprocess.Popen[bytes]]]]:
    """Six processes with start records that stand for nodes; that of broker4 does not end when it is asked to."""
    cluster = Cluster(ROOT / "inventories" / "local_isolated", tmp_path / "deaf", free_port_base())
    running: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for node in cluster.nodes:
            trap = "trap '' TERM; " if node == "broker4" else ""
            running[node] = subprocess.Popen(["sh", "-c", f"{trap}echo; exec sleep 600"], stdout=subprocess.PIPE)
            output = running[node].stdout
            assert output is not None
            output.readline()  # The signal is ignored from here on.
            record = cluster.directory / "run" / node / "started"
            record.mkdir(parents=True)
            (record / "pid").write_text(str(running[node].pid))
            (record / "start_time").write_text(str(stat(running[node].pid)[1]))
        yield cluster, running
    finally:
        for process in running.values():
            process.kill()
            process.communicate()


def test_a_broker_that_does_not_stop_ends_the_run_before_the_controllers(
    deaf: tuple[Cluster, dict[str, subprocess.Popen[bytes]]],
) -> None:
    cluster, running = deaf
    run = cluster.playbook("playbooks/stop.yml", kafka_stop_timeout=3)
    assert run.rc != 0
    said = " ".join(run.output.split())
    assert "node broker4: not stopped within" in said
    assert "controllers and servers of ZooKeeper do after brokers, was not asked to stop" in said
    ended = {node for node, process in running.items() if process.poll() is not None}
    assert ended == {"broker5", "broker6"}


def test_the_mirrors_alone_can_be_stopped_while_a_site_is_dead(tmp_path: Path) -> None:
    cluster = local_mirror(tmp_path / "dead")
    # Connections to these brokers fail at once: nothing may need them.
    dead = cluster.playbook("playbooks/stop.yml", "--limit", "mirror1").ok()
    assert set(dead.recap) == {"mirror1"}
