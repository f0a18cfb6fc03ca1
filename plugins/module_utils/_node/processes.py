# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Processes as /proc shows them: which there are, when they started, how they were called."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection

#: Seconds in which a process has to show its arguments.
_MOMENT = 2.0
#: States in which no code runs any more, zombie and dead; the entry stays until a parent looks, which in a container
#: may be never.
GONE = ("Z", "X", "x")
#: PF_KTHREAD, a bit of the flags in /proc/PID/stat (proc(5), include/linux/sched.h).
_KERNEL_THREAD = 0x00200000
_NOBODY = 65534


def machine() -> str:
    """Return what is the same for all that see these processes: this boot, this numbering; empty where not known.

    The control node has the same of itself in plugin_utils/run_names.py.
    """
    try:
        numbering = os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""
    boot = (read_text("/proc/sys/kernel/random/boot_id") or "").strip()
    return f"{boot}/{numbering}" if boot else ""


def stat(pid: int) -> tuple[str, int | None]:
    """Return (state, start time in ticks since boot) of a process; ("", None) when /proc does not show it."""
    fields = _stat_fields(pid)
    return (fields[0], int(fields[19])) if fields else ("", None)


def parent(pid: int) -> int:
    """Return the number of the process above one; 0 where there is none, or /proc does not show it."""
    fields = _stat_fields(pid)
    return int(fields[1]) if fields else 0


def credentials(pid: int) -> tuple[int, int, tuple[int, ...]]:
    """Return the effective user and group of a process and its other groups (proc(5)); nobody's if it is gone."""
    rows = [line.split() for line in (read_text(f"/proc/{pid}/status") or "").splitlines()]
    numbers = {row[0]: [int(word) for word in row[1:]] for row in rows if row[:1] in (["Uid:"], ["Gid:"], ["Groups:"])}
    user, group = (numbers.get(key, [_NOBODY] * 4)[1] for key in ("Uid:", "Gid:"))
    return user, group, tuple(numbers.get("Groups:", ()))


def processor_seconds(pid: int) -> float:
    """Return the processor time that a process has used, in seconds; 0 when /proc does not show it."""
    # utime and stime (proc(5)).
    return sum(map(int, _stat_fields(pid)[11:13])) / os.sysconf("SC_CLK_TCK")


def _stat_fields(pid: int) -> list[str]:
    """Return what /proc/PID/stat says of a process from its state on; nothing of one that is not shown."""
    text = read_text(f"/proc/{pid}/stat") or ""
    # The command in brackets may itself hold blanks and brackets: count from the last one (proc(5)).
    return text[text.rfind(")") + 1 :].split()


def is_shown(pid: int, start_time: int | None) -> bool:
    """Tell whether /proc shows a process that started then and still runs; another start time is another process."""
    state, started = stat(pid)
    return started is not None and started == start_time and state not in GONE


def is_alive(pid: int, start_time: int) -> bool:
    """Tell whether a process still runs that started then, in ticks since boot: numbers are used again."""
    if stat(pid)[1] is not None:
        return is_shown(pid, start_time)
    try:
        os.kill(pid, 0)
    except PermissionError:
        # It exists, and belongs to another user whom /proc (mounted with hidepid) hides: believe the record.
        return True
    except OSError:
        return False
    return False


def started_at(start_time: int | None) -> float | None:
    """Return the seconds since 1970 of a start time in clock ticks since boot."""
    boot = [line.split()[1] for line in (read_text("/proc/stat") or "").splitlines() if line.startswith("btime ")]
    if start_time is None or not boot:
        return None
    return round(int(boot[0]) + start_time / os.sysconf("SC_CLK_TCK"), 2)


def arguments(pid: int) -> list[str]:
    """Return the command line of a process; nothing of one that is gone, may not be seen or is a thread of the kernel.

    One that has just begun or is about to end shows none: a moment later it has one, or is gone.
    """
    until = time.monotonic() + _MOMENT
    while _runs_a_program(_stat_fields(pid)):
        said = read_text(f"/proc/{pid}/cmdline")
        if said or said is None or time.monotonic() > until:
            *words, last = (said or "").split("\0")
            # Who writes its own title, as sshd does, may end it without a zero byte.
            return [*words, last] if last else words
        time.sleep(0.01)
    return []


def _runs_a_program(fields: list[str]) -> bool:
    """Tell whether a process has, or will have in a moment, a command line: threads of the kernel never show one."""
    return bool(fields) and fields[0] not in GONE and not int(fields[6]) & _KERNEL_THREAD


def command(pid: int) -> str:
    """Return the command line of a process as people write it, shortened to 200 characters."""
    return " ".join(word for word in arguments(pid) if word)[:200] or (read_text(f"/proc/{pid}/comm") or "").strip()


def limits(text: str, names: Collection[str]) -> dict[str, tuple[int | None, int | None]]:
    """Read the text of /proc/PID/limits: of those that are named the soft and the hard limit, None for unlimited."""
    read: dict[str, tuple[int | None, int | None]] = {}
    for line in text.splitlines():
        name = next((name for name in names if line.startswith(f"{name} ")), "")
        numbers = [int(word) if word.isdigit() else None for word in line[len(name) :].split()[:2]]
        if name and len(numbers) == 2:
            read[name] = (numbers[0], numbers[1])
    return read


def variables(text: str) -> dict[str, str]:
    """Read the text of /proc/PID/environ: NAME=value, ended by a zero byte; of a name that is there twice the first.

    getenv(3) returns the first one. What has no = is no variable.
    """
    read: dict[str, str] = {}
    for entry in text.split("\0"):
        name, separator, value = entry.partition("=")
        if separator and name:
            read.setdefault(name, value)
    return read


def pids() -> list[int]:
    """List all processes that /proc shows."""
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def first(is_it: Callable[[int, list[str]], bool]) -> int | None:
    """Return the lowest number of a process in which code runs and of which this holds; None for none.

    is_it -- takes the number and the command line, which is empty of one that shows none.
    """
    for pid in sorted(pids()):
        if is_it(pid, arguments(pid)) and stat(pid)[0] not in GONE:
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
