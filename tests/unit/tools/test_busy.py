"""The loops beside a command take processors, and end with it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._node.processes import is_alive, stat
from tests.support.cluster import ROOT, until

#: Prints the loops beside it: the children of its parent that are no shell of this command.
BESIDE = "for pid in $(cat /proc/$PPID/task/$PPID/children); do [ $pid = $$ ] || echo $pid; done"


def busy(command: str) -> subprocess.Popen[str]:
    """Starts a command of the shell beside the loops."""
    return subprocess.Popen([ROOT / "tools" / "busy.sh", "sh", "-c", command], stdout=subprocess.PIPE, text=True)


def test_four_loops_run_beside_a_command_and_end_with_it_and_its_answer_is_kept() -> None:
    with busy(f"{BESIDE}; exit 3") as run:
        assert run.stdout is not None
        pids = list(map(int, run.stdout.read().split()))
    assert run.returncode == 3
    assert len(pids) == 4
    until(lambda: not any(map(is_there, pids)), "the end of the loops", timeout=20)


@pytest.mark.parametrize("signal", [15, 9])
def test_the_loops_end_with_a_run_that_is_ended(signal: int) -> None:
    with busy(f"{BESIDE}; echo .; exec sleep 60") as run:
        assert run.stdout is not None
        pids = [int(line) for line in iter(run.stdout.readline, ".\n")]
        (sleeping,) = set(children(run.pid)) - set(pids)
        assert all(map(is_there, pids))
        os.kill(run.pid, signal)
        os.kill(sleeping, 15)
    until(lambda: not any(map(is_there, pids)), "the end of the loops", timeout=20)


def children(pid: int) -> list[int]:
    """The children of a process."""
    return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def is_there(pid: int) -> bool:
    """Whether a process runs."""
    started = stat(pid)[1]
    return started is not None and is_alive(pid, started)
