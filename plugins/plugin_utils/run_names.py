# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a run calls itself where it takes the lock of a cluster: for programs, and for people."""

from __future__ import annotations

import getpass
import os
import socket
from collections.abc import Iterable, Mapping
from pathlib import PurePath

import ansible.context

from .run_identity import place, started


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
