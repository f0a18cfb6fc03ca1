"""Processes of a cluster that a test starts, ended by their ids; files can be hidden from them."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

#: Puts an empty file system over each directory up to the word --, and runs the rest.
_HIDE = 'while [ "$1" != -- ]; do mount -t tmpfs none "$1" || exit 97; shift; done; shift; exec "$@"'


def hidden_from(directories: Sequence[Path], command: Sequence[str]) -> list[str]:
    """The command in a mount namespace of its own, in which these directories are empty, as on another machine."""
    if not directories:
        return list(command)
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    places = [str(directory) for directory in directories]
    return ["unshare", "--mount", *user, "/bin/sh", "-c", _HIDE, "hide", *places, "--", *command]


@dataclass
class Daemons:
    """Processes that this object started, and that it alone ends; each writes NAME.log into the directory."""

    directory: Path
    _processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def run(self, name: str, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        """Start one, with these variables besides those of the test."""
        with (self.directory / f"{name}.log").open("wb") as log:
            self._processes.append(
                subprocess.Popen(
                    command, stdout=log, stderr=log, env={**os.environ, **(environment or {})}, start_new_session=True
                )
            )

    def stop(self) -> None:
        """End what was started, the last one first; what has not ended by itself after a minute is killed.

        How long a daemon takes to end says nothing of what is tested: a NodeManager of YARN needs more than 30 s on a
        busy machine.
        """
        for process in reversed(self._processes):
            os.killpg(process.pid, signal.SIGTERM)
        for process in self._processes:
            try:
                process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
