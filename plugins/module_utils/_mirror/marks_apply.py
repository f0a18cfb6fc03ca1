# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Keeps what audits of a mirror proved with the target, for the next audit (spark_validation/mirror/mark.py).

Whether a mark still holds is judged by the audit that begins at it, so marks that are old or of another flow cost time
and no verdict. But a partition that an audit did not find clean must lose its mark, also where another audit, which had
read the mark before, ends later: what that one did not compare whole itself is kept only while it still has a mark.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

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


class Audited(NamedTuple):
    """The marks of an audit, and when it began (epoch milliseconds): those of then are of what it compared whole."""

    marks: list[dict[str, Any]]
    began_ms: int


def mirror_marks(module: Any) -> dict[str, Any]:
    """Return the marks of a flow, or keep those of an audit where its result is given; the module's result."""
    params = module.params
    source, target, result = params["source"], params["target"], params["result"]
    audited = marks_of(result, source, target) if result else None
    key = f"mirror_marks {source}->{target}"
    with at(f"target {target}"), Session(Connection.from_params(params)) as copy:
        kept = read_state(copy, key)[0]
        # What is damaged, or of another release, is no mark: its partitions are compared whole.
        before = kept if _are_marks(kept) else []
        if not result:
            return {**_told(before), "marks": before}
        if audited is None:
            return _told(before)
        standing = still_kept(audited, before)
        marks = most_records(standing)
        if marks != (kept or []) and not module.check_mode:
            made_state_topic(copy)
            write_state(copy, key, marks)
    return _told(marks, len(standing) - len(marks), len(audited.marks) - len(standing))


def _told(marks: Sequence[Any], left_out: int = 0, taken_away: int = 0) -> dict[str, Any]:
    """Return how many partitions have a mark now, and of an audit how many have none and why."""
    lines = []
    if left_out:
        lines.append(
            f"Marks        clean partitions without one: {left_out:,}; at most {MOST:,} are kept, those of the "
            "partitions with most records"
        )
    if taken_away:
        lines.append(
            f"Marks        clean partitions without one: {taken_away:,}; another audit has taken it away since "
            "this one began"
        )
    if lines:
        lines.append("Note         the next audit compares partitions without a mark whole")
    return {
        "changed": False,
        "partitions": len(marks),
        "left_out": left_out,
        "taken_away": taken_away,
        "lines": lines,
    }


def marks_of(path: str, source: str, target: str) -> Audited | None:
    """Return the marks in a result.json; None where it has none or is of another flow (an audit that broke off)."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
        settings = document["settings"]
        marks = document["figures"].get("marks")
        began_ms = int(document.get("started_ms") or 0)
        aliases = [(settings.get(side) or {}).get("alias") for side in ("source", "target")]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        why = f"result {path} of the audit cannot be read: {error}. The marks of earlier audits were kept as they are."
        raise UnreadableResultError(f"{why} Fix: run the audit again.") from error
    return Audited(marks, began_ms) if aliases == [source, target] and _are_marks(marks) else None


def _are_marks(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(mark, dict) for mark in value)


def still_kept(audited: Audited, before: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the marks of an audit without those that it went on from and that another audit has taken away since.

    before -- the marks that are kept now
    """
    places = {(mark.get("topic"), mark.get("partition")) for mark in before}
    return [
        mark
        for mark in audited.marks
        if mark["whole_ms"] >= audited.began_ms or (mark["topic"], mark["partition"]) in places
    ]


def most_records(marks: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return at most MOST of these marks: those that save most reading."""
    return sorted(marks, key=lambda mark: -mark["records"])[:MOST] if len(marks) > MOST else list(marks)
