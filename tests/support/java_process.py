# SPDX-License-Identifier: GPL-3.0-or-later
"""One process of an unpacked Kafka release, started by the release's own launcher, for tests to hurt."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


class JavaProcess:
    """A tool of a release that runs until it is ended; its output goes to a file in its own folder."""

    def __init__(
        self, release: Path, directory: Path, name: str, *command: str, heap: str = "512m", options: str = ""
    ) -> None:
        """Make it; options -- more arguments of Java."""
        self.directory = directory
        self._command = [str(release / "bin" / command[0]), *command[1:]]
        self._log = directory / f"{name}.log"
        self._environment = {**os.environ, "KAFKA_HEAP_OPTS": f"-Xmx{heap}"}
        if options:
            self._environment["KAFKA_OPTS"] = options
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it; what it prints is added to what earlier starts printed. It may not run already."""
        assert not self.alive, f"{self._log.stem} runs already"
        self.directory.mkdir(parents=True, exist_ok=True)
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, cwd=self.directory, env=self._environment, stdout=log, stderr=subprocess.STDOUT
            )

    @property
    def pid(self) -> int | None:
        """Its process id; None before the first start."""
        return None if self._process is None else self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._process is not None and self._process.poll() is None

    def kill(self) -> None:
        """SIGKILL, and waits for the end; no harm when it has ended."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(30)

    def terminate(self, timeout: float = 90) -> int:
        """SIGTERM, and waits for the end, by SIGKILL when it takes too long (seconds); returns the exit status."""
        assert self._process is not None, "it was never started"
        self._process.terminate()
        try:
            return self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            return self._process.wait(30)

    def log(self) -> str:
        """What it has printed since its first start."""
        return self._log.read_text(errors="replace") if self._log.exists() else ""
