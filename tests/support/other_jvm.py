"""A process that looks like the JVM of another installation: its command line, environment and directory."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

#: Writes a command line over its own, between arg_start and arg_end (proc(5), fields 48 and 49 of stat), and waits.
PROGRAM = """
import ctypes, os, sys
fields = open("/proc/self/stat").read().rpartition(")")[2].split()
start, end = int(fields[45]), int(fields[46])
words = open(sys.argv[1], "rb").read()
assert len(words) == end - start, (len(words), end - start)
ctypes.memmove(start, words, len(words))
if sys.argv[2] == "rooted":
    os.chroot(".")
print("ready", flush=True)
os.read(0, 1)
"""


def start(
    argv: Sequence[str], directory: Path, env: Mapping[str, str], is_rooted: bool = False, **more: Any
) -> subprocess.Popen[bytes]:
    """Start one that /proc shows with this command line.

    directory -- where it works; is_rooted -- it is its root directory too, which needs root; more -- as Popen takes it.
    """
    words = b"".join(word.encode() + b"\0" for word in argv)
    script, file = directory / "w.py", directory / "w"
    script.write_text(PROGRAM)
    file.write_bytes(words)
    own = [os.path.realpath(sys.executable), "-S", script.name, file.name, "rooted" if is_rooted else "free"]
    # The last word fills up, so that the kernel keeps as much room for its command line as the other one needs.
    room = len(words) - sum(len(word) + 1 for word in own) - 1
    assert room >= 0, "the command line is too short"
    process = subprocess.Popen(
        [*own, "x" * room], cwd=directory, env=dict(env), stdin=subprocess.PIPE, stdout=subprocess.PIPE, **more
    )
    assert process.stdout is not None
    ready = process.stdout.readline()
    assert ready == b"ready\n", f"it did not start: {process.wait(60)}"
    for _ in range(100):
        if Path(f"/proc/{process.pid}/cmdline").read_bytes() == words:
            return process
        time.sleep(0.05)
    raise AssertionError("its command line is another one")
