# SPDX-License-Identifier: GPL-3.0-or-later
"""The process of a run, with a program in the place of MirrorMaker that only turns a loop or ends."""

from __future__ import annotations

import itertools
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._mirror_tune.process_run import (
    TuneProcessError,
    alive,
    end,
    look,
    work,
    write,
)
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_tune.watch import PROPERTIES, SCRIPT
from ansible_collections.streamops.kafka.plugins.module_utils._node import processes
from tests.support.cluster import until

BUSY = 'echo "[now] ERROR cannot log in"\nwhile :; do :; done'


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    """The directory of the process; whatever runs from it ends with the test."""
    place = tmp_path / "tune"
    yield place
    end(str(place))


def started(directory: Path, script: str, seconds: int = 60) -> int:
    """Starts a program as MirrorMaker; its pid."""
    program = directory.parent / "release" / "bin" / "connect-mirror-maker.sh"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(f'#!/bin/sh\necho "$1 $KAFKA_HEAP_OPTS"\n{script}\n')
    program.chmod(0o755)
    options = {"properties": "tasks.max=2\n", "heap_bytes": 1 << 20, "release_dir": str(directory.parent / "release")}
    fixed = {"java": "", "user": "", "group": "", "seconds": seconds, "directory": str(directory)}
    assert work({"state": "started", **options, **fixed}, False) == {"changed": True}
    return int((directory / "pid").read_text().split()[0])


def stopped(directory: Path) -> dict[str, Any]:
    """Stops it."""
    return work({"state": "stopped", "directory": str(directory)}, False)


def runs(pid: int) -> bool:
    """Whether a process runs."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_process_is_given_its_files_and_heap_and_what_it_used_is_told(directory: Path) -> None:
    pid = started(directory, BUSY)
    assert runs(pid)
    assert (directory / "mirror.properties").read_text() == "tasks.max=2\n"
    assert (directory / "mirror.properties").stat().st_mode & 0o777 == 0o600
    until(lambda: sum(len(file.read_text().splitlines()) for file in directory.glob("samples")) > 2, "samples")
    assert f"{directory}/mirror.properties -Xms1024k -Xmx1024k" in (directory / "mirror.log").read_text()
    found = stopped(directory)
    assert (found["changed"], found["ran"], found["complaints"]) == (True, True, ["[now] ERROR cannot log in"])
    first, *_rest, last = found["samples"]
    assert last[0] > first[0]
    assert last[2] > first[2]
    assert not runs(pid)
    assert not directory.exists()


def test_a_process_ends_by_itself_when_its_time_is_over(directory: Path) -> None:
    pid = started(directory, BUSY, seconds=3)
    until(lambda: not runs(pid), "the end", timeout=30)
    assert stopped(directory)["ran"] is False


def test_a_process_that_ended_by_itself_tells_why(directory: Path) -> None:
    pid = started(directory, "sleep 0.3\necho Caused by: no right")
    until(lambda: not runs(pid), "the end", timeout=30)
    found = stopped(directory)
    assert (found["ran"], found["complaints"]) == (False, ["Caused by: no right"])


def test_a_start_ends_what_an_earlier_run_left(directory: Path) -> None:
    before = started(directory, BUSY)
    now = started(directory, BUSY)
    assert not runs(before)
    assert runs(now)


def test_a_process_that_does_not_listen_to_term_is_killed(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ansible_collections.streamops.kafka.plugins.module_utils._mirror_tune import process_run

    monkeypatch.setattr(process_run, "_GRACE", 0.5)
    pid = started(directory, f"trap '' TERM\n{BUSY}")
    time.sleep(0.3)
    assert stopped(directory)["ran"]
    assert not runs(pid)


def test_a_pid_that_went_to_another_process_is_not_ended(directory: Path) -> None:
    pid = started(directory, BUSY)
    file = directory / "pid"
    own = file.read_text()
    file.write_text(f"{pid} 1\n")
    assert work({"state": "stopped", "directory": str(directory)}, True)["changed"]
    assert runs(pid)
    file.write_text(own)


def test_a_process_that_is_not_the_mirror_of_this_directory_is_not_ended(directory: Path) -> None:
    # The file is of the user of Kafka, and the module runs as root: its text is not to be trusted.
    pid = started(directory, BUSY)
    file, own = directory / "pid", (directory / "pid").read_text()
    with subprocess.Popen(["sleep", "60"]) as other:
        since = Path(f"/proc/{other.pid}/stat").read_text().rpartition(")")[2].split()[19]
        file.write_text(f"{other.pid} {since}\n")
        assert alive(str(directory)) is None
        file.write_text(own)
        assert alive(str(directory)) == pid
        assert stopped(directory)["ran"]
        assert other.poll() is None
        other.kill()


@pytest.mark.parametrize("shows", [True, False])
def test_a_process_that_shows_no_arguments_for_a_moment_is_asked_again(
    directory: Path, monkeypatch: pytest.MonkeyPatch, shows: bool
) -> None:
    """The kernel shows none while a process takes up a program, and while it ends."""
    pid = started(directory, BUSY)
    real, times = processes.read_text, itertools.count()
    monkeypatch.setattr(processes, "_MOMENT", 0.2)

    def read(path: str) -> str | None:
        """Show no arguments, for ever or the first three times."""
        hides = path.endswith("/cmdline") and not (shows and next(times) > 2)
        return "" if hides else real(path)

    monkeypatch.setattr(processes, "read_text", read)
    assert alive(str(directory)) == (pid if shows else None)
    monkeypatch.undo()
    assert stopped(directory)["ran"]


def test_a_process_of_another_user_is_not_ended(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pid = started(directory, BUSY)
    real = os.stat

    def of_another(path: Any, **options: Any) -> Any:
        """The process is that of a user that the directory is not of."""
        found = real(path, **options)
        if str(path) != f"/proc/{pid}":
            return found
        return os.stat_result((*found[:4], found.st_uid + 1, *found[5:]))

    monkeypatch.setattr(os, "stat", of_another)
    assert alive(str(directory)) is None
    monkeypatch.undo()
    assert alive(str(directory)) == pid


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_files_are_given_away_without_following_links(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The place where the directory is belongs to the user of Kafka, who may put a link in its place meanwhile."""
    victim = directory.parent / "victim"
    victim.mkdir()
    (victim / PROPERTIES).write_text("of root")
    makes = os.mkdir

    def swapped(path: str, mode: int) -> None:
        """A link stands where the directory was made."""
        makes(path, mode)
        os.rename(path, f"{path}.away")
        os.symlink(victim, path)

    monkeypatch.setattr(os, "mkdir", swapped)
    with pytest.raises(OSError, match=r"tune"):
        write(str(directory), {PROPERTIES: "x", SCRIPT: "y"}, (12345, 12345))
    monkeypatch.undo()
    assert sorted(path.name for path in victim.iterdir()) == [PROPERTIES]
    assert victim.stat().st_uid == (victim / PROPERTIES).stat().st_uid == 0
    directory.unlink()
    write(str(directory), {PROPERTIES: "x"}, (12345, 12345))
    assert directory.stat().st_uid == (directory / PROPERTIES).stat().st_uid == 12345
    assert directory.stat().st_mode & 0o777 == 0o700


def test_nothing_left_is_nothing_to_stop(directory: Path) -> None:
    assert stopped(directory) == {"changed": False, "samples": [], "complaints": [], "ran": False}


def test_the_machine_tells_cores_round_trip_and_buffers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        found = look("/nowhere", ["127.0.0.1:1", address], 1)
    assert found["cores"] >= 1
    assert 0 < found["round_trip"] < 1
    assert found["receive_bytes"] > 65536
    assert found["left"] is False


def test_a_source_that_takes_no_connection_is_refused() -> None:
    with pytest.raises(TuneProcessError, match=r"127\.0\.0\.1:1: .*Nothing was started"):
        look("/nowhere", ["127.0.0.1:1"], 1)


def test_a_machine_without_memory_for_a_second_mirror_is_refused() -> None:
    with pytest.raises(TuneProcessError, match=r"a second mirror needs 1500000\.0 GB"):
        look("/nowhere", ["127.0.0.1:1"], 10**15)
