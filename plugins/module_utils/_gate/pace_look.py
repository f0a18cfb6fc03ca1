# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Judges at a gate, and times what nodes that restart behind it are compared with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._client.session import Session
from .._cluster.pace_look import change_seconds
from .look import judge_now


def judge_and_time(session: Session, params: Mapping[str, Any], check: bool, diff: bool) -> dict[str, Any]:
    """Judge once whether the nodes may stop, and time a change of metadata where the gate is open; the module's result.

    Only with C(times_metadata), and never in check mode.
    """
    judged = judge_now(session, params, check, diff)
    is_timed = params["times_metadata"] and judged["allowed"] and not check
    seconds, why = change_seconds(session) if is_timed else (None, "")
    return {**judged, "metadata_seconds": seconds, "not_timed": why}
