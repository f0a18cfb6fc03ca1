"""Progress of a run as JSON lines, one object per line, for whoever shows it (a person, an action plugin)."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from pyspark.sql import SparkSession


class Progress:
    """Writes `{"t", "phase", "done", "total", "unit", "message"}` lines; remembers how long each phase took."""

    def __init__(self, path: Path) -> None:
        """`path` is truncated: one file holds one run."""
        self._file = path.open("w", encoding="utf-8", buffering=1)
        self._lock = threading.Lock()
        self.phases: list[dict[str, float | str]] = []

    def line(self, phase: str, message: str, done: int | None = None, total: int | None = None, unit: str = "") -> None:
        """Write one line; `done` and `total` in `unit`."""
        row = {
            "t": round(time.time(), 3),
            "phase": phase,
            "done": done,
            "total": total,
            "unit": unit,
            "message": message,
        }
        with self._lock:
            self._file.write(json.dumps(row) + "\n")

    @contextlib.contextmanager
    def phase(self, name: str, message: str) -> Iterator[None]:
        """Bracket a step: says that it begins, and keeps its seconds also when it fails."""
        begun = time.monotonic()
        self.line(name, message)
        try:
            yield
        finally:
            self.phases.append({"name": name, "seconds": round(time.monotonic() - begun, 3)})

    @contextlib.contextmanager
    def watch(self, phase: str, total: int, unit: str, poll: Callable[[], int], every: float = 1.0) -> Iterator[None]:
        """While the body runs, write what `poll` returns, each `every` seconds if it changed; silent if it fails."""
        stop = threading.Event()

        def loop() -> None:
            """Look and write until the body is done."""
            shown = 0
            while not stop.wait(every):
                with contextlib.suppress(Exception):
                    done = min(max(poll(), shown), total)
                    if done != shown:
                        self.line(phase, f"{done:,} of {total:,} {unit}", done, total, unit)
                        shown = done

        thread = threading.Thread(target=loop, daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join(timeout=10)

    def close(self) -> None:
        """Flush and close the file."""
        self._file.close()


def records_read(session: SparkSession, records: int) -> Callable[[], int]:
    """A poll for reads: the share of finished tasks of the running stages, in records of the frozen range."""
    tracker = session.sparkContext.statusTracker()

    def poll() -> int:
        """Records of the running stages that are done."""
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        tasks = sum(stage.numTasks for stage in stages if stage)
        done = sum(stage.numCompletedTasks for stage in stages if stage)
        return records * done // tasks if tasks else 0

    return poll
