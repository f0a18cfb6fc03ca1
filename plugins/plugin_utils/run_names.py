# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Which run of Ansible takes the lock of a cluster, what it calls itself, and whether another one still is."""

from __future__ import annotations

import getpass
import os
import socket
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath

import ansible.context


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


def names() -> dict[str, str]:
    """Return what the module calls this run by: run for programs, owner and purpose for people."""
    # A task runs in a child of ansible-playbook, which is the same process for all tasks of the run.
    run = os.getppid()
    return {
        "run": f"{place()} {run} {started(run)}",
        "owner": owner(run, os.environ),
        "purpose": purpose(ansible.context.CLIARGS.get("args", ())),
    }


def owner(process: int, environment: Mapping[str, str]) -> str:
    """Return what people know a run by: the job that AWX shows, else the user and the process.

    AWX gives a job JOB_ID and AWX_HOST (awx/main/tasks/jobs.py, build_env); its container has a user of no meaning.
    """
    who = f"{socket.gethostname()} (process {process})"
    if environment.get("AWX_HOST") and environment.get("JOB_ID"):
        return f"AWX job {environment['JOB_ID']} on {who}"
    return f"{_user()}@{who}"


def purpose(playbooks: Iterable[str]) -> str:
    """Return the playbooks of a run in few words: files without their folders, others by their full name."""
    return ", ".join(PurePath(playbook).name for playbook in playbooks)


def _user() -> str:
    """The name of the user, or its number: a container may run as a number that has no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())
