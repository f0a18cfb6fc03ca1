# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a node's own disk says about the metadata quorum: which leader it knows, and whether it holds any record."""

from __future__ import annotations

import json
import os
import re
from typing import Any

from .disks import META_PROPERTIES, METADATA_PARTITION

_STATE = "quorum-state"
# A formatted voter that never had a leader has one segment without a byte, and the snapshot that formatting wrote.
_FIRST = re.compile(r"0{20}(-0{10}(-\d+)?\.checkpoint(\.part)?|\.log)\Z")
# What is being written, or about to be removed, was made of records as well.
_HELD = re.compile(r"\d{20}(-\d{10}(-\d+)?\.checkpoint|\.log)(\.(part|deleted|swap|cleaned))?\Z")
# Of a disk that was formatted, and on which no node has started since.
_BLANK = {"leader": None, "epoch": None, "records": False, "changed_at": None, "static": None}
# It is one line of some hundred bytes.
_STATE_LIMIT = 65536


def quorum(metadata_dir: str) -> dict[str, Any] | None:
    """Return {leader, epoch, records, changed_at, static}; None where nothing was formatted, or it cannot be read.

    leader -- the id that the node last knew, None when it knew none; it stays there while the node is stopped.
    records -- whether there is anything in the log that an elected leader wrote.
    changed_at -- when the node wrote this, in seconds since 1970: it does so whenever leader, epoch or its vote change
    (KIP-595, quorum-state), so a quorum whose leader comes and goes is told by one look.
    static -- whether the node wrote this for voters of its configuration (kraft.version 0) or for those of the log (1);
    None where that is not known.
    """
    path = os.path.join(metadata_dir, METADATA_PARTITION)
    try:
        names = os.listdir(path)
        records = any(_held(path, name) for name in names if _HELD.match(name))
        file = os.path.join(path, _STATE)
        state, changed_at = (_state(file), os.path.getmtime(file)) if _STATE in names else ({}, None)
    except FileNotFoundError:
        return dict(_BLANK) if os.path.isfile(os.path.join(metadata_dir, META_PROPERTIES)) else None
    except (OSError, ValueError):
        return None
    leader, epoch = state.get("leaderId"), state.get("leaderEpoch")
    known = isinstance(leader, int) and leader >= 0
    return {
        "leader": leader if known else None,
        "epoch": epoch if isinstance(epoch, int) else None,
        "records": records,
        "changed_at": changed_at,
        "static": _is_static(state),
    }


def _is_static(state: dict[str, Any]) -> bool | None:
    """Tell what a state was written for. A node that joins a dynamic quorum writes one without voters at first."""
    if state.get("data_version") == 0:
        return True if state.get("currentVoters") else None
    return None if state.get("data_version") is None else False


def _held(path: str, name: str) -> bool:
    return not _FIRST.match(name) or (name.endswith(".log") and os.path.getsize(os.path.join(path, name)) > 0)


def _state(path: str) -> dict[str, Any]:
    with open(path, encoding="utf-8") as file:
        text = file.read(_STATE_LIMIT)
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError(f"{path}: no object")
    return found
