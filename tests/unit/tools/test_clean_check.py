# SPDX-License-Identifier: GPL-3.0-or-later
"""tools/clean_check sees the commit and nothing else of a checkout, and removes its clone."""

from __future__ import annotations

import hashlib
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.cluster import ROOT
from tests.support.other_order import place

TOOL: dict[str, Any] = runpy.run_path(str(ROOT / "tools" / "clean_check"))
FAKE_TEST = """#!/bin/sh
echo "stages $*, CI=$CI"
ls
[ -L .venv ] && echo "environment shared"
[ ! -e fails ] || exit 7
[ ! -e leaves ] || touch left_over
"""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a ./test of its own, whose virtual environment has the pinned packages."""
    made = tmp_path / "checkout"
    made.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    git(made, "init", "-q")
    (made / ".gitignore").write_text("/.venv\n")
    (made / "test").write_text(FAKE_TEST)
    (made / "test").chmod(0o755)
    (made / ".venv").mkdir()
    pinned = ""
    for name in TOOL["PINNED"]:
        (made / name).write_text(f"a=={len(name)}\n")
        pinned += f"{hashlib.sha256((made / name).read_bytes()).hexdigest()}  {name}\n"
    (made / ".venv" / "pinned").write_text(pinned)
    commit(made)
    return made


def git(directory: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.invalid")
    subprocess.run(["git", "-C", str(directory), *who, *words], check=True, capture_output=True)


def commit(checkout: Path, *names: str) -> None:
    for name in names:
        (checkout / name).touch()
    git(checkout, "add", "-A")
    git(checkout, "commit", "-q", "-m", "a")


def clones(checkout: Path) -> list[Path]:
    return list(checkout.parent.glob("clean_check_*"))


def check(checkout: Path) -> int:
    status: int = TOOL["check"](checkout, ["lint", "unit"], os.environ)
    return status


def test_the_clone_has_what_is_committed_and_is_removed(checkout: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (checkout / "never_committed").touch()
    assert check(checkout) == 0
    said = capfd.readouterr().out
    assert "stages lint unit, CI=true" in said
    assert "1 changed or new files have no commit yet" in said
    assert "never_committed" not in said
    assert "environment shared" in said
    assert "clean_check passed: lint unit of" in said
    assert clones(checkout) == []


def test_a_commit_that_no_branch_has_is_cloned_too(checkout: Path, capfd: pytest.CaptureFixture[str]) -> None:
    git(checkout, "checkout", "-q", "--detach")
    commit(checkout, "only_here")
    assert check(checkout) == 0
    assert "only_here" in capfd.readouterr().out


def test_a_linked_worktree_is_checked_at_its_own_commit(checkout: Path, capfd: pytest.CaptureFixture[str]) -> None:
    worktree = checkout.parent / "worktree"
    git(checkout, "worktree", "add", "-q", str(worktree), "-b", "other")
    commit(worktree, "only_there")
    assert check(worktree) == 0
    said = capfd.readouterr().out
    assert "only_there" in said
    assert "environment shared" not in said, "the worktree has no virtual environment"


def test_other_pinned_packages_are_not_installed_into_the_shared_environment(
    checkout: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (checkout / TOOL["PINNED"][1]).write_text("a==2\n")
    commit(checkout)
    assert check(checkout) == 0
    assert "environment shared" not in capfd.readouterr().out


def test_the_exit_status_is_that_of_the_stages(checkout: Path, capfd: pytest.CaptureFixture[str]) -> None:
    commit(checkout, "fails")
    assert check(checkout) == 7
    assert "clean_check FAILED (exit status 7)" in capfd.readouterr().out
    assert clones(checkout) == []


def test_a_file_that_tests_leave_behind_is_a_failure(checkout: Path, capfd: pytest.CaptureFixture[str]) -> None:
    commit(checkout, "leaves")
    assert check(checkout) == 1
    assert "?? left_over" in capfd.readouterr().out


@pytest.mark.parametrize("ended_by", [signal.SIGTERM, signal.SIGINT])
def test_a_check_that_is_ended_ends_its_stages_and_removes_the_clone(checkout: Path, ended_by: signal.Signals) -> None:
    (checkout / "test").write_text("#!/bin/sh\necho $$ > ../../pid.new && mv ../../pid.new ../../pid\nsleep 900\n")
    commit(checkout)
    (checkout / "tools").mkdir()
    tool = checkout / "tools" / "clean_check"
    tool.write_text((ROOT / "tools" / "clean_check").read_text())
    # A shell starts what it runs in the background with SIGINT ignored, and these tests may run there.
    heard = f"import os, signal; signal.signal({ended_by:d}, signal.SIG_DFL)"
    run = f"{heard}; os.execv({sys.executable!r}, {[sys.executable, str(tool)]!r})"
    child = subprocess.Popen([sys.executable, "-c", run], env={**os.environ, "TMPDIR": str(checkout.parent)})
    pid = checkout.parent / "pid"
    deadline = time.monotonic() + 300
    while not pid.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    child.send_signal(ended_by)
    assert child.wait(300) in (130, 143)
    assert not Path(f"/proc/{pid.read_text().strip()}").exists()
    assert clones(checkout) == []


def test_variables_of_a_developer_do_not_reach_the_stages() -> None:
    shell = {
        "PATH": "/repo/.venv/bin:/usr/bin", "HOME": "/root", "ANSIBLE_CONFIG": "x", "PYTEST_ADDOPTS": "-x",
        "PYTHONPATH": "y", "HTTP_PROXY": "z",
    }  # fmt: skip
    found = TOOL["environment"](shell, "abc", Path("/repo"))
    assert found == {
        "PATH": "/usr/bin", "HOME": "/root", "HTTP_PROXY": "z", "CI": "true", "ORDER_OF_FILES": "abc",
        "PYTEST_ADDOPTS": "-p tests.support.other_order",
    }  # fmt: skip


def test_each_word_has_its_own_order_of_files() -> None:
    files = [f"tests/unit/test_{number}.py" for number in range(20)]
    orders = [sorted(files, key=lambda file: place(file, word)) for word in ("a", "a", "b")]
    assert orders[0] == orders[1] != orders[2]
