"""A node's process is told from every other one, with real processes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._node import process as subject
from ansible_collections.streamops.kafka.plugins.module_utils._node import processes, start_record


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "600"])
    yield process
    process.kill()
    process.wait()


def recorded(pid: int, start_time: int) -> dict[str, str | None]:
    return {"pid": f"{pid}\n", "start_time": f"{start_time}\n"}


def start_time(pid: int) -> int:
    found = processes.stat(pid)[1]
    assert found is not None
    return found


def test_a_living_process_with_the_recorded_start_time_is_the_node(child: subprocess.Popen[bytes]) -> None:
    found = subject.process(recorded(child.pid, start_time(child.pid)))
    assert (found["running"], found["pid"], found["recorded"]) == (True, child.pid, True)
    assert abs(found["since"] - time.time()) < 60


def test_a_process_that_got_the_same_number_later_is_not_the_node(child: subprocess.Popen[bytes]) -> None:
    found = subject.process(recorded(child.pid, start_time(child.pid) - 1))
    assert (found["running"], found["pid"]) == (False, None)


def test_a_dead_process_that_nobody_has_waited_for_does_not_run(child: subprocess.Popen[bytes]) -> None:
    began = start_time(child.pid)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert processes.stat(child.pid)[0] == "Z"
    assert subject.process(recorded(child.pid, began))["running"] is False


def test_a_process_that_is_gone_does_not_run(child: subprocess.Popen[bytes]) -> None:
    began = start_time(child.pid)
    child.kill()
    child.wait()
    assert subject.process(recorded(child.pid, began))["running"] is False


def test_a_process_of_another_user_is_seen(child: subprocess.Popen[bytes]) -> None:
    # Process 1 is root's; as root this says nothing new, as anybody else it does.
    assert subject.process(recorded(1, start_time(1)))["running"] is True


def test_a_command_with_blanks_and_brackets_in_its_name_is_read_right(tmp_path: Path) -> None:
    program = tmp_path / "a) S (b"
    program.symlink_to(sys.executable)
    process = subprocess.Popen([str(program), "-c", "input()"], stdin=subprocess.PIPE)
    try:
        state, began = processes.stat(process.pid)
        assert state in "SRD"
        assert began is not None
        assert began > start_time(1) - 1
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("files", [{}, {"pid": None, "start_time": None}, {"pid": "x", "start_time": "1"}])
def test_no_record_is_no_process(files: dict[str, str | None]) -> None:
    assert subject.process(files)["running"] is False


def test_a_process_that_something_else_started_is_found_by_its_properties_file(tmp_path: Path) -> None:
    config = str(tmp_path / "é 日本" / "server.properties")
    command = [sys.executable, "-c", "import time; time.sleep(600)", "kafka.Kafka", config]
    process = subprocess.Popen(command)
    try:
        # The kernel lets the parent go on before the new program's arguments are in place.
        deadline = time.monotonic() + 30
        while config.encode() not in Path(f"/proc/{process.pid}/cmdline").read_bytes() and time.monotonic() < deadline:
            time.sleep(0.01)
        found = subject.process({}, config)
        assert (found["running"], found["pid"], found["recorded"]) == (True, process.pid, False)
        assert subject.process({}, config + ".other")["running"] is False
    finally:
        process.kill()
        process.wait()


def test_reads_a_record_and_gives_none_for_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "started").mkdir()
    (tmp_path / "started" / "pid").write_text("12\n")
    found = subject.read_record(str(tmp_path))
    assert found["pid"] == "12\n"
    assert found["server.properties"] is None


def test_each_file_of_a_record_is_read_in_the_encoding_in_which_it_was_written(tmp_path: Path) -> None:
    # Java reads properties as ISO-8859-1; what the roles write, and what sha256sum prints of paths, is UTF-8.
    started = tmp_path / "started"
    started.mkdir()
    owner = "-Downer=Équipe 日本 кириллица"
    (started / "jvm.options").write_bytes(f'"{owner}"\n'.encode())
    (started / "server.properties").write_bytes("a=é\nb=\\u00E9\n".encode("iso-8859-1"))
    (started / "files.sha256").write_bytes(f"{'0' * 64}  /etc/кафка/log4j2.yaml\n".encode())
    found = start_record.contents(subject.read_record(str(tmp_path)))
    assert found is not None
    assert found["jvm"] == [owner]
    assert found["properties"] == {"a": "é", "b": "é"}
    assert found["files"] == {"/etc/кафка/log4j2.yaml": "0" * 64}


def test_a_byte_that_is_no_text_is_shown_as_an_escape_and_differs_from_all_text(tmp_path: Path) -> None:
    (tmp_path / "jvm.options").write_bytes(b"-Downer=\xe9\n")
    assert processes.read_text(str(tmp_path / "jvm.options")) == "-Downer=\\xe9\n"
