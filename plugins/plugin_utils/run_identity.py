# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Which run of Ansible this is, and whether another one still is: place, process number and start of its process."""

from __future__ import annotations

import os
import socket
from pathlib import Path


def place() -> str:
    """Return where process numbers mean what they mean here: this boot of this machine, this container."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    try:
        return f"{boot.read_text(encoding='utf-8').strip()}/{os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return socket.gethostname()  # No Linux: the age of a lock must do.


def died(run: str) -> bool:
    """Return whether a run, written as "place number start", was one of this machine and is gone."""
    where, _space, process = run.partition(" ")
    number, _space, start = process.partition(" ")
    return where == place() and bool(start) and started(int(number)) != start


def started(process: int) -> str:
    """Say when a process started, in clock ticks since boot (field 22 of proc(5) stat); '' where that is not known."""
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
