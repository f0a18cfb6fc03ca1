"""The submitting host's side of a job in cluster mode: it runs spark-submit and fetches what the driver leaves.

It stands between the run and spark-submit, so to the run a job in cluster mode looks like any other: its files appear
in its directory, its exit code is that of its result, and ending it ends the job.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pyspark.java_gateway import launch_gateway

from spark_validation.core.errors import root_cause
from spark_validation.shared import FILES, SharedDirectory

_EVERY = 2.0
_RENEW = 10.0
_CANNOT, _ENDED = 2, 143


def escort(command: Sequence[str], uri: str, arguments: Path, output: Path) -> int:
    """Run the command, whose driver puts its files to `uri`; returns the exit code of the job.

    `arguments` is what the driver is given; spark-submit finds it as `output`/arguments.json, which is in memory.
    """
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda _number, _frame: ended.set())
    with _in_memory(arguments, output / "arguments.json"):
        try:
            shared = SharedDirectory(_own_java(), uri)
            shared.renew(0)
        except Exception as error:
            print(f"cannot write to {uri} (spark_validation_shared_dir), so nothing was submitted: {root_cause(error)}")
            return _CANNOT
        code = _ENDED
        try:
            if not ended.is_set():
                code = _followed(subprocess.Popen(command, stdin=subprocess.DEVNULL), shared, output, ended)
        finally:
            # The driver ends itself when this is gone, also one that has still to start.
            shared.remove()
    return _ENDED if ended.is_set() else _exit_code(output, code)


def _followed(child: subprocess.Popen[bytes], shared: SharedDirectory, output: Path, ended: threading.Event) -> int:
    """Fetch the progress until spark-submit ends, then all the rest; returns its exit code."""
    began, count = time.monotonic(), 0
    while child.poll() is None and not ended.wait(_EVERY):
        # A file system that does not answer for a moment ends no job.
        with contextlib.suppress(Exception):
            shared.get(FILES[0], output / FILES[0])
            if time.monotonic() - began > (count + 1) * _RENEW:
                count += 1
                shared.renew(count)
    if ended.is_set():
        child.terminate()
        return _ENDED
    for name in FILES:
        shared.get(name, output / name)
    return child.wait()


def _exit_code(output: Path, submitted: int) -> int:
    """The exit code that the result names: spark-submit knows only 0 and 1 of a driver elsewhere."""
    with contextlib.suppress(OSError):
        return int(json.loads((output / "result.json").read_text(encoding="utf-8"))["exit_code"])
    log = output / "spark.log"
    found = re.findall(r"application_\d+_\d+", log.read_text(errors="replace") if log.exists() else "")
    where = f"yarn logs -applicationId {found[-1]}" if found else "the log of the driver"
    print(f"the driver left no result; what it said: {where}", flush=True)
    return submitted or _CANNOT


@contextlib.contextmanager
def _in_memory(source: Path, link: Path) -> Iterator[None]:
    """Show what is read from a pipe as a file that can be read again, and that no disk holds."""
    held = os.memfd_create("arguments")
    try:
        os.write(held, source.read_bytes())
        link.symlink_to(f"/proc/{os.getpid()}/fd/{held}")
        yield
    finally:
        link.unlink(missing_ok=True)
        os.close(held)


def _own_java() -> Any:
    """A Java process with Spark's classes, in a session of its own: it is needed when this one is being ended."""
    os.environ["PYSPARK_SUBMIT_ARGS"] = "--master local --deploy-mode client --conf spark.log.level=ERROR pyspark-shell"
    return launch_gateway(popen_kwargs={"start_new_session": True}).jvm  # type: ignore[no-untyped-call]
