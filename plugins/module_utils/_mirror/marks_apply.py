# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Keeps what audits of a mirror proved with the target, for the next audit (spark_validation/mirror/mark.py).

Whether a mark still holds is judged by the audit that begins at it, so marks that are old or of another flow cost time
and no verdict.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .._client.connection import Connection
from .._client.session import Session
from .._core.errors import StreamopsError
from .._state.api import read_state, write_state
from .._topics.api import made_state_topic
from .look import at

#: Marks that are kept at most: about 25 MB, where the state topic takes records of 64 MiB.
MOST = 100_000


class UnreadableResultError(StreamopsError):
    """A result of an audit that cannot be read."""


def mirror_marks(module: Any) -> dict[str, Any]:
    """Return the marks of a flow, those of an audit where its result is given; the module's result."""
    params = module.params
    source, target = params["source"], params["target"]
    audited = marks_of(params["result"], source, target) if params["result"] else None
    key = f"mirror_marks {source}->{target}"
    with at(f"target {target}"), Session(Connection.from_params(params)) as copy:
        before = read_state(copy, key)[0] or []
        if audited is None:
            return {"changed": False, "marks": before, "left_out": 0}
        marks = most_records(audited)
        if marks != before and not module.check_mode:
            made_state_topic(copy)
            write_state(copy, key, marks)
    return {"changed": False, "marks": marks, "left_out": len(audited) - len(marks)}


def marks_of(path: str, source: str, target: str) -> list[dict[str, Any]] | None:
    """Return the marks in a result.json; None where it has none or is of another flow (an audit that broke off)."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
        settings = document["settings"]
        marks = document["figures"].get("marks")
        aliases = [(settings.get(side) or {}).get("alias") for side in ("source", "target")]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        why = f"result {path} of the audit cannot be read: {error}. The marks of earlier audits were kept as they are."
        raise UnreadableResultError(f"{why} Fix: run the audit again.") from error
    is_whole = isinstance(marks, list) and all(isinstance(mark, dict) for mark in marks)
    return marks if aliases == [source, target] and is_whole else None


def most_records(marks: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return at most MOST of these marks: those that save most reading."""
    return sorted(marks, key=lambda mark: -mark["records"])[:MOST] if len(marks) > MOST else list(marks)
