"""node_wait and node_info through Ansible, on processes that are started here and stand for a node."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.modules import run_module

# Listens on a port of its own after a while, tells it, and ends when told to. Until then it logs each of these words.
NODE = """
import socket, sys, time
s = socket.socket(); s.bind(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
for word in sys.argv[3:]:
    time.sleep(1.5); print(f"[2099-01-01 00:00:00,000] INFO {word} {time.time()}", flush=True)
time.sleep(float(sys.argv[1])); s.listen()
time.sleep(float(sys.argv[2])); print("[2099-01-01 00:00:00,000] ERROR Invalid value x for configuration a", flush=True)
"""

Start = Callable[..., tuple["subprocess.Popen[str]", int]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start a stand-in with its start record; returns it and its port."""
    processes: list[subprocess.Popen[str]] = []

    def begin(
        listens_after: float = 0, lives: float = 600, words: Sequence[str] = ()
    ) -> tuple[subprocess.Popen[str], int]:
        log = (tmp_path / "console.log").open("w")
        command = [sys.executable, "-c", NODE, str(listens_after), str(lives), *words]
        process = subprocess.Popen(command, stdout=log, text=True)
        processes.append(process)
        record = tmp_path / "started"
        record.mkdir()
        ticks = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[19]
        texts = {"pid": str(process.pid), "start_time": ticks, "server.properties": "node.id=1\n", "jvm.options": ""}
        for name, text in texts.items():
            (record / name).write_text(text)
        for _ in range(600):
            told = (tmp_path / "console.log").read_text()
            if told:
                return process, int(told.splitlines()[0])
            time.sleep(0.1)
        raise AssertionError("the stand-in did not tell its port")

    yield begin
    for process in processes:
        process.kill()
        process.wait()


def wait(tmp_path: Path, check: bool = False, **other: Any) -> dict[str, Any]:
    options = {"node": "kafka1", "state_dir": str(tmp_path), "log_files": [str(tmp_path / "console.log")], **other}
    return run_module("streamops.kafka.node_wait", options, check=check)


def test_waits_until_the_node_listens(start: Start, tmp_path: Path) -> None:
    process, port = start(listens_after=4)
    done = wait(tmp_path, ports=[port])
    assert (done["failed"], done["changed"]) == (False, False), done
    assert done["ports"][str(port)]["pid"] == process.pid
    assert done["history"][-1]["state"] == "done"


def test_a_node_that_ends_fails_the_wait_with_its_own_last_error(start: Start, tmp_path: Path) -> None:
    _process, port = start(listens_after=600)
    _process.kill()
    (tmp_path / "console.log").write_text("[2099-01-01 00:00:00,000] ERROR Invalid value x for configuration a\n")
    failed = wait(tmp_path, ports=[port], timeout=120)
    assert failed["failed"]
    assert "node kafka1: failed: its process ended" in failed["msg"]
    assert "Invalid value x for configuration a" in failed["msg"]
    assert failed["failure"]["node"] == "kafka1"
    assert failed["elapsed"] < 120


def test_a_node_that_runs_with_other_listeners_than_wanted_is_up_on_its_own(start: Start, tmp_path: Path) -> None:
    """So does one that went back to its older files, while the inventory names a new port."""
    _process, port = start()
    properties = tmp_path / "started" / "server.properties"
    properties.write_text(f"listeners=CLIENT://127.0.0.1:{port}\n")
    done = wait(tmp_path, ports=[1], timeout=5)
    assert not done["failed"], done["msg"]
    assert list(done["ports"]) == [str(port)]


def test_a_node_that_ended_names_who_holds_its_port(start: Start, tmp_path: Path) -> None:
    process, _port = start(listens_after=600)
    process.kill()
    process.wait()
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        failed = wait(tmp_path, ports=[port], timeout=5)
    assert "its process ended" in failed["msg"]
    assert f"port {port} is held by process {os.getpid()} (" in failed["msg"]


def test_a_node_that_never_listens_fails_in_bounded_time(start: Start, tmp_path: Path) -> None:
    _process, port = start(listens_after=600)
    failed = wait(tmp_path, ports=[port], timeout=3)
    assert failed["failed"]
    assert f"waits for port {port}" in failed["msg"]
    assert failed["failure"]["kind"] == "NodeWaitTimeout"


def test_a_slow_start_is_waited_for_while_it_logs_new_lines(start: Start, tmp_path: Path) -> None:
    """Each word takes longer than half of the timeout, all of them three times as long."""
    _process, port = start(words=["reads", "opens", "recovers", "joins", "registers", "catches up", "binds", "serves"])
    done = wait(tmp_path, ports=[port], timeout=4, interval=1)
    assert not done["failed"], done["msg"]
    assert done["elapsed"] > 4


def test_a_start_that_repeats_itself_fails_after_its_timeout(start: Start, tmp_path: Path) -> None:
    _process, port = start(words=["tries"] * 400)
    failed = wait(tmp_path, ports=[port], timeout=6, interval=1)
    assert failed["failure"]["kind"] == "NodeWaitTimeout"
    assert failed["elapsed"] < 300, "half of what it goes on for"


def test_check_mode_looks_once_and_fails_nothing(tmp_path: Path) -> None:
    looked = wait(tmp_path, check=True, ports=[1])
    assert (looked["failed"], looked["changed"], looked["looks"]) == (False, False, 1), looked


def test_waits_until_the_node_is_gone(start: Start, tmp_path: Path) -> None:
    start(lives=4)
    done = wait(tmp_path, state="stopped", timeout=120)
    assert (done["failed"], done["process"]["running"]) == (False, False), done


def test_node_info_reads_a_running_node_and_why_it_must_restart(start: Start, tmp_path: Path) -> None:
    process, port = start()
    options = {
        "log_dirs": [str(tmp_path / "data")],
        "state_dir": str(tmp_path),
        "ports": [port, 1],
        "wanted": {"properties": {"node.id": "2"}, "jvm": ["-Xmx1g"], "files": {}},
    }
    found = run_module("streamops.kafka.node_info", options, check=True)
    assert (found["failed"], found["changed"]) == (False, False), found
    assert found["process"]["pid"] == process.pid
    assert [one["name"] for one in found["restart_reasons"]] == ["node.id", "-Xmx"]
    assert (found["ports"]["1"], found["ports"][str(port)]["ours"]) == (None, True)
    assert found["java"]["version"] >= 17
    assert found["disks"][0]["exists"] is False


def test_node_info_works_where_nothing_is_installed() -> None:
    found = run_module("streamops.kafka.node_info", {})
    assert (found["failed"], found["needs_start"], found["disks"], found["ports"]) == (False, True, [], {}), found


def test_a_wait_that_may_time_out_says_so_and_fails_nothing(tmp_path: Path, start: Start) -> None:
    process, _ = start()
    found = wait(tmp_path, state="stopped", timeout=1, fail_on_timeout=False)
    assert not found.get("failed")
    assert found["reached"] is False
    assert found["process"]["pid"] == process.pid
