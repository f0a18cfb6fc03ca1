# SPDX-License-Identifier: GPL-3.0-or-later
"""What Kafka's JmxTool prints of clients that are too old, and what a node says that cannot be asked."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._node import attach
from ansible_collections.streamops.kafka.plugins.module_utils._node import start_record as record
from ansible_collections.streamops.kafka.plugins.module_utils._node.deprecated_requests import (
    MBEAN,
    counted,
    deprecated_requests,
)
from ansible_collections.streamops.kafka.plugins.module_utils._node.processes import stat


def line(request: str, version: int, count: int, software: str = "unknown") -> str:
    client = f"clientSoftwareName={software},clientSoftwareVersion=1.2"
    return f"{MBEAN},request={request},version={version},{client}:Count={count}"


def test_each_request_is_counted_once() -> None:
    said = [
        "time=1795762175873",
        line("ListOffsets", 0, 3),
        line("Fetch", 2, 12),
        line("FetchConsumer", 2, 12),
        line("Fetch", 0, 0),
        line("Produce", 1, 7, "sharp"),
    ]
    assert [(one["software"], one["api"], one["api_version"], one["count"]) for one in counted(said)] == [
        ("sharp", "Produce", 1, 7),
        ("unknown", "Fetch", 2, 12),
        ("unknown", "ListOffsets", 0, 3),
    ]
    assert {one["software_version"] for one in counted(said)} == {"1.2"}


def test_a_node_that_does_not_run_says_so(tmp_path: Path) -> None:
    found = deprecated_requests({"state_dir": str(tmp_path), "java": ""})
    assert found == {"requests": [], "since": None, "unread": "it does not run"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a record to another user")
@pytest.mark.parametrize("is_link", [False, True])
def test_a_start_record_of_another_user_than_the_process_is_not_believed(tmp_path: Path, is_link: bool) -> None:
    # The user of a node owns its record: it may name a process of somebody else there, and a class path of its own.
    started = tmp_path / record.DIRECTORY
    real = tmp_path / "other" if is_link else started
    real.mkdir()
    (real / record.PID).write_text(str(os.getpid()))
    (real / record.START_TIME).write_text(str(stat(os.getpid())[1]))
    (real / record.JVM).write_text("-cp /evil/*")
    if is_link:
        started.symlink_to(real)
    os.chown(started, 65534, 65534, follow_symlinks=False)
    ran: list[object] = []
    found = deprecated_requests(
        {"state_dir": str(tmp_path), "java": sys.executable}, lambda *given, **_: ran.append(given)
    )
    assert found["unread"] == "its start record belongs to another user than its process"
    assert (found["requests"], ran) == ([], [])


def test_a_process_that_the_signal_would_end_is_left_alone() -> None:
    code = "import signal, time; signal.signal(signal.SIGQUIT, signal.SIG_DFL); print('up', flush=True); time.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        with pytest.raises(attach.AttachError, match="does not take the signal"):
            attach.ask(process.pid, "agentProperties")
        time.sleep(0.2)
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_a_socket_of_somebody_else_is_not_believed() -> None:
    code = (
        "import os, signal, socket, time; s = socket.socket(socket.AF_UNIX);"
        "path = f'/tmp/.java_pid{os.getppid()}'; s.bind(path); s.listen(); print('up', flush=True); time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        with pytest.raises(attach.AttachError, match=f"is not its own, process {process.pid} listens there"):
            attach.ask(os.getpid(), "agentProperties")
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        Path(f"/tmp/.java_pid{os.getpid()}").unlink()


def test_a_process_that_takes_the_signal_and_opens_nothing_is_not_waited_for_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(attach, "SECONDS", 0.2)
    before = signal.signal(signal.SIGQUIT, lambda *_: None)
    try:
        with pytest.raises(attach.AttachError, match="did not open"):
            attach.ask(os.getpid(), "agentProperties")
    finally:
        signal.signal(signal.SIGQUIT, before)
    assert not Path(f"/tmp/.attach_pid{os.getpid()}").exists()
