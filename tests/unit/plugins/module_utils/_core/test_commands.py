# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs in bounded time, with real ones that sleep."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.commands import CommandTimeoutError, detach, run
from tests.support.cluster import until


def lives(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_program_that_ends_gives_its_code_and_what_it_printed() -> None:
    assert run(["sh", "-c", "echo out; echo err >&2; exit 3"], 30) == (3, "out\n", "err\n")
    assert run(["cat"], 30) == (0, "", ""), "it has no input to wait for"


def test_bytes_that_are_no_text_and_much_output_are_taken() -> None:
    code, out, _err = run(["sh", "-c", "printf '\\377'; head -c 1000000 /dev/zero"], 30)
    assert (code, len(out)) == (0, 1_000_001)


def test_the_umask_is_that_of_the_program_alone(tmp_path: Path) -> None:
    before = os.umask(0o022)
    os.umask(before)
    run(["touch", str(tmp_path / "made")], 30, umask=0o077)
    assert (tmp_path / "made").stat().st_mode & 0o777 == 0o600
    assert os.umask(before) == before


def test_a_program_that_is_not_there_is_an_os_error() -> None:
    with pytest.raises(FileNotFoundError):
        run(["/nowhere/program"], 30)


@pytest.mark.parametrize(
    "script", ["sleep 600 & echo $! > {pid}; wait", "trap '' TERM; sleep 600 & echo $! > {pid}; wait"]
)
def test_one_that_does_not_end_is_killed_with_all_that_it_started(tmp_path: Path, script: str) -> None:
    pid = tmp_path / "pid"
    began = time.monotonic()
    with pytest.raises(CommandTimeoutError) as stuck:
        run(["sh", "-c", script.format(pid=pid), "s3cret"], 1.0)
    assert time.monotonic() - began < 6
    assert "sh did not end within 1 s, so it was killed with all processes that it had started" in stuck.value.message
    assert "s3cret" not in stuck.value.message
    deadline = time.monotonic() + 5
    while lives(int(pid.read_text())) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not lives(int(pid.read_text()))


def test_one_that_left_its_group_and_keeps_the_output_open_holds_up_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ansible_collections.streamops.kafka.plugins.module_utils._core import commands

    monkeypatch.setattr(commands, "_LAST_WORDS", 0.2)
    pid = tmp_path / "pid"
    began = time.monotonic()
    with pytest.raises(CommandTimeoutError):
        run(["sh", "-c", f"setsid sh -c 'echo $$ > {pid}; exec sleep 20' & wait"], 1.0)
    assert time.monotonic() - began < 6
    os.kill(int(pid.read_text()), 9)


def test_a_program_whose_answer_is_not_needed_any_more_is_ended(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    began = time.monotonic()
    assert run(["sh", "-c", f"echo x; touch {mark}; sleep 20"], 15.0, enough=mark.exists) == (-9, "", "")
    assert time.monotonic() - began < 10
    assert run(["sh", "-c", "echo said; exit 3"], 15.0, enough=mark.with_name("none").exists) == (3, "said\n", "")
    with pytest.raises(CommandTimeoutError):
        run(["sleep", "20"], 0.5, enough=mark.with_name("none").exists)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root acts as another user")
def test_the_output_of_a_program_of_another_user_is_opened_with_the_rights_of_that_user() -> None:
    """Whoever owns the directory may have put a link there meanwhile."""
    nobody, before = (65534, 65534), (os.geteuid(), os.getegid(), os.getgroups())
    # Folders of tests are closed to other users.
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        place.chmod(0o755)
        files = [place / "of-root", place / "own"]
        for file in files:
            file.write_text("kept\n")
            file.chmod(0o600)
        os.chown(files[1], *nobody)
        (place / "link").symlink_to(files[0])
        with pytest.raises(PermissionError):
            detach(["/bin/echo", "more"], user=nobody, output=str(place / "link"))
        detach(["/bin/echo", "more"], user=nobody, output=str(files[1]))
        until(lambda: files[1].read_text() == "kept\nmore\n", "the output")
        assert files[0].read_text() == "kept\n"
    assert (os.geteuid(), os.getegid(), os.getgroups()) == before
