# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Which process is the node's: its start record, checked against /proc."""

from __future__ import annotations

import os
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.properties import READ_ENCODING
from ansible_collections.streamops.kafka.plugins.module_utils._node import start_record as record

# Zombie and dead: no code runs any more, but the entry stays until a parent looks (in a container often nobody does).
_GONE = ("Z", "X", "x")
# Kafka's main class: how a node is known that was started without a record.
_MAIN = "kafka.Kafka"


def read_record(state_dir: str) -> dict[str, str | None]:
    """Read the files of the start record in this directory as text: None for each that cannot be read."""
    names = (record.PID, record.START_TIME, record.PROPERTIES, record.JVM, record.FILES, record.LIMITS)
    encodings = {record.PROPERTIES: READ_ENCODING}
    return {
        name: read_text(os.path.join(state_dir, record.DIRECTORY, name), encodings.get(name, "utf-8")) for name in names
    }


def process(files: dict[str, str | None], config_file: str = "") -> dict[str, Any]:
    """Tell which process the node is: {running, pid, since, start_time, recorded}.

    since -- seconds since 1970 at which it started, None when unknown. recorded -- the start record is that of this
    process. Without such a record, config_file (as given to java) finds one that something else started.
    """
    known = record.identity(files)
    if known is not None and is_alive(*known):
        return _running(known[0], known[1], recorded=True)
    foreign = _find(config_file) if config_file else None
    if foreign is not None:
        return _running(foreign, stat(foreign)[1], recorded=False)
    return {"running": False, "pid": None, "since": None, "start_time": None, "recorded": False}


def stat(pid: int) -> tuple[str, int | None]:
    """Return (state, start time in ticks since boot) of a process; ("", None) when /proc does not show it."""
    text = read_text(f"/proc/{pid}/stat")
    if not text:
        return "", None
    # The command in brackets may itself hold blanks and brackets: count from the last one (proc(5)).
    fields = text[text.rindex(")") + 1 :].split()
    return fields[0], int(fields[19])


def started_at(start_time: int | None) -> float | None:
    """Return the seconds since 1970 of a start time in clock ticks since boot."""
    boot = [line.split()[1] for line in (read_text("/proc/stat") or "").splitlines() if line.startswith("btime ")]
    if start_time is None or not boot:
        return None
    return round(int(boot[0]) + start_time / os.sysconf("SC_CLK_TCK"), 2)


def command(pid: int) -> str:
    """Return the command line of a process as people write it, shortened to 200 characters."""
    arguments = (read_text(f"/proc/{pid}/cmdline") or "").split("\0")
    return " ".join(word for word in arguments if word)[:200] or (read_text(f"/proc/{pid}/comm") or "").strip()


def pids() -> list[int]:
    """List all processes that /proc shows."""
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def _running(pid: int, start_time: int | None, recorded: bool) -> dict[str, Any]:
    return {
        "running": True,
        "pid": pid,
        "since": started_at(start_time),
        "start_time": start_time,
        "recorded": recorded,
    }


def is_alive(pid: int, start_time: int) -> bool:
    """Tell whether a process still runs that started then, in ticks since boot: numbers are used again."""
    state, found = stat(pid)
    if found is not None:
        # Another start time: the number went to another process.
        return found == start_time and state not in _GONE
    try:
        os.kill(pid, 0)
    except PermissionError:
        # It exists, and belongs to another user whom /proc (mounted with hidepid) hides: believe the record.
        return True
    except OSError:
        return False
    return False


def _find(config_file: str) -> int | None:
    for pid in sorted(pids()):
        arguments = (read_text(f"/proc/{pid}/cmdline") or "").split("\0")
        if _MAIN in arguments and config_file in arguments and stat(pid)[0] not in _GONE:
            return pid
    return None


def read_text(path: str, encoding: str = "utf-8") -> str | None:
    """Read a file as text, None when it cannot be read; a byte that is none of its encoding becomes an escape.

    What the roles write is UTF-8, and so are the arguments of a process that was started with it.
    """
    try:
        with open(path, encoding=encoding, errors="backslashreplace", newline="") as file:
            return file.read()
    except OSError:
        return None
