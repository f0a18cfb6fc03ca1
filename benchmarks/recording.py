"""Records a JVM while a benchmark runs it: Java Flight Recorder, and the CPU times of its threads from Linux."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from benchmarks.flight import Profile, ThreadTimes, cpu_times, read_events, summary

#: Seconds between two looks at the CPU times of a process.
_LOOK_SECONDS = 0.25


class Recording:
    """The recordings of one JVM: of Java Flight Recorder, and of the CPU times of its threads while it runs."""

    def __init__(self, directory: Path, name: str) -> None:
        """Record in a directory; `name` is that of the files which are kept of it."""
        self._file, self._name = directory / f"{name}.jfr", name
        self._times: list[ThreadTimes] = []

    @property
    def option(self) -> str:
        """Return the argument of Java with which the JVM writes its recording when it ends."""
        return f"-XX:StartFlightRecording=filename={self._file},settings=profile"

    @contextmanager
    def watching(self, pid: int) -> Iterator[None]:
        """Look at the CPU times of a process until this is left or the process is gone."""
        ended = threading.Event()
        ticks = os.sysconf("SC_CLK_TCK")

        def watch() -> None:
            """Look now and again."""
            while not ended.wait(_LOOK_SECONDS):
                threads = {}
                for file in Path(f"/proc/{pid}/task").glob("*/stat"):
                    # A thread may end between the list and the look at it.
                    with suppress(OSError):
                        threads[int(file.parent.name)] = cpu_times(file.read_text(errors="replace"), ticks)
                if threads:
                    self._times.append(ThreadTimes(time.time(), threads))

        thread = threading.Thread(target=watch)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def keep(self, first: int, last: int, directory: Path) -> None:
        """Put the recording, and the summary of the span between two times, into a directory.

        first, last -- milliseconds of the epoch. Raises SystemExit without a recording.
        """
        if not self._file.exists():
            raise SystemExit(f"{self._name}: no recording was written; its JVM was killed, or has no Flight Recorder")
        program = Path(__file__).with_name("FlightEvents.java")
        words = ["java", str(program), str(self._file), str(first), str(last)]
        lines = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
        profile = Profile(first / 1000, last / 1000, read_events(lines), self._times)
        (directory / f"{self._name}.md").write_text(summary(profile))
        shutil.move(self._file, directory / self._file.name)
