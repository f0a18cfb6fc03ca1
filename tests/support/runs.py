"""Processes of tests: commands that may take as long as they like while they print, and those that stand still."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
from collections.abc import Iterator, Sequence
from typing import Any

#: Seconds without a word after which a run hangs. A task of a playbook prints when it ends, and no test waits longer
#: than this in one task, also on a machine that is ten times slower than a quick one.
SILENCE = 1200


def heard(command: Sequence[str], silence: float = SILENCE, **process: Any) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end, and gives its status and all that it printed.

    After `silence` seconds without output it is killed, and an AssertionError has the end of what it printed.
    """
    printed = bytearray()
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **process) as run,
        selectors.DefaultSelector() as selector,
    ):
        assert run.stdout is not None
        selector.register(run.stdout, selectors.EVENT_READ)
        try:
            while selector.select(silence):
                piece = run.stdout.read1(65536)  # type: ignore[attr-defined]
                if not piece:
                    return subprocess.CompletedProcess(command, run.wait(), printed.decode(errors="replace"))
                printed += piece
        finally:
            # Of a run that ended nothing is left to kill.
            run.kill()
    raise AssertionError(f"no word for {silence:g} s:\n{printed[-6000:].decode(errors='replace')}")


@contextlib.contextmanager
def paused(pid: int | None) -> Iterator[None]:
    """A process that is stopped as by a debugger or a machine that hangs: its connections stay and nothing answers."""
    assert pid, "it was never started"
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)
