"""The driver's side of a job in cluster mode: it brings what the job writes to where the submitting host finds it."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from spark_validation.shared import FILES, SharedDirectory, driver_java

_EVERY = 2.0
#: A host that has not said for so long that it waits is gone (seconds).
ALONE_SECONDS = 120.0
_EXIT = 2


@contextlib.contextmanager
def brought(output: Path, uri: str) -> Iterator[None]:
    """Bring the files of the body as they are written; ends this process when nobody waits for them any more."""
    bringer = _Bringer(output, SharedDirectory(driver_java(), uri))
    bringer.look()
    bringer.start()
    try:
        yield
    finally:
        bringer.stop()
        for name in FILES:
            if (output / name).exists():
                bringer.shared.put(output / name)


class _Bringer:
    """Looks every two seconds whether somebody waits, and brings the progress made since."""

    def __init__(self, output: Path, shared: SharedDirectory) -> None:
        self.shared = shared
        self._progress = output / FILES[0]
        self._size = 0
        self._last: int | None = None
        self._heard = time.monotonic()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._loop, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._done.set()
        self._thread.join(timeout=60)

    def look(self) -> None:
        """End the process when its run has been ended or is gone."""
        renewed = self.shared.renewed()
        if renewed is None:
            _end("the run that submitted this job was ended")
        if renewed != self._last:
            self._last, self._heard = renewed, time.monotonic()

    def _loop(self) -> None:
        while not self._done.wait(_EVERY):
            # A file system that does not answer for a moment ends no job.
            with contextlib.suppress(Exception):
                self.look()
                self._bring_progress()
            if time.monotonic() - self._heard > ALONE_SECONDS:
                _end(f"the run that submitted this job has not been heard of for {ALONE_SECONDS:g} s")

    def _bring_progress(self) -> None:
        size = self._progress.stat().st_size if self._progress.exists() else 0
        if size != self._size:
            self.shared.put(self._progress)
            self._size = size


def _end(why: str) -> None:
    """End the driver at once: a thread cannot end what the main one does in Java."""
    print(f"streamops ends this job: {why}", flush=True)
    os._exit(_EXIT)
