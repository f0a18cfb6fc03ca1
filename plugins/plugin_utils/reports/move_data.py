# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The report of a move as data: how it ended and what it cost, for what lists reports (page/filed). Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

MOVE_SCHEMA = "streamops.move/1"
PLANNED, DONE, FAILED = "planned", "done", "failed"


def outcome_of(done: Mapping[str, Any]) -> str:
    """Return how a move ended, from what carrying it out returned; empty of one that was only planned."""
    if not done:
        return PLANNED
    return DONE if done.get("stage") == "done" and not misplaced(done) else FAILED


def misplaced(done: Mapping[str, Any]) -> int:
    """Return how many partitions were not where they had been put, when the cluster was asked at the end."""
    return int((done.get("verified") or {}).get("misplaced_total", 0))


def move_data(plan: Mapping[str, Any], done: Mapping[str, Any], title: str, cluster: str, made: str) -> str:
    """Return the JSON beside the report of a move.

    Args:
        plan: The plan (state applied in check mode). One that an earlier run began tells no costs.
        done: What carrying it out returned; empty when only planned.
        title: The goal, in words.
        cluster: Its name.
        made: The time at the end, as text (ISO 8601, UTC).
    """
    data = {
        "schema": MOVE_SCHEMA,
        "cluster": cluster,
        "title": title,
        "outcome": outcome_of(done),
        "made": made,
        "seconds": done.get("elapsed"),
        **{key: plan.get(key) for key in ("moves", "deletions", "bytes", "leader_changes", "plan_digest")},
    }
    return json.dumps(data, indent=1) + "\n"
