# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Which process is the node's: its start record, checked against /proc."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from .._core.properties import READ_ENCODING
from . import start_record as record
from .adopted import Adopted
from .adopted_look import old_process
from .processes import first, is_alive, read_text, started_at, stat

# Kafka's main class: how a node is known that was started without a record.
_MAIN = "kafka.Kafka"


def read_record(state_dir: str) -> dict[str, str | None]:
    """Read the files of the start record in this directory as text: None for each that cannot be read."""
    names = (record.PID, record.START_TIME, record.PROPERTIES, record.JVM, record.FILES, record.LIMITS)
    encodings = {record.PROPERTIES: READ_ENCODING}
    return {
        name: read_text(os.path.join(state_dir, record.DIRECTORY, name), encodings.get(name, "utf-8")) for name in names
    }


def process(files: Mapping[str, str | None], config_file: str = "", adopted: Adopted | None = None) -> dict[str, Any]:
    """Tell which process the node is: {running, pid, since, start_time, recorded}.

    since -- seconds since 1970 at which it started, None when unknown. recorded -- the start record is that of this
    process. Without such a record, config_file (as given to java) finds one that something else started, and adopted
    the one that ran before the node was taken over.
    """
    known = record.identity(files)
    if known is not None and is_alive(*known):
        return _running(known[0], known[1], recorded=True)
    foreign = _find(config_file) if config_file else None
    if foreign is None and adopted is not None:
        foreign = old_process(adopted)
    if foreign is not None:
        return _running(foreign, stat(foreign)[1], recorded=False)
    return {"running": False, "pid": None, "since": None, "start_time": None, "recorded": False}


def _running(pid: int, start_time: int | None, recorded: bool) -> dict[str, Any]:
    return {
        "running": True,
        "pid": pid,
        "since": started_at(start_time),
        "start_time": start_time,
        "recorded": recorded,
    }


def _find(config_file: str) -> int | None:
    return first(lambda pid, argv: _MAIN in argv and config_file in argv)
