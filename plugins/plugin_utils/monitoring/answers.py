# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What Prometheus says about its targets, as a line for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...module_utils._core.names import capped
from .targets import JOBS, PREFIX

_SHOWN = 10


def answers(targets: Sequence[Mapping[str, Any]]) -> str:
    """Return how many targets of the inventory answer, and which do not, each with what Prometheus says of it.

    What Prometheus reads of itself and of Alertmanager is none of them.

    Args:
        targets: C(activeTargets) of GET /api/v1/targets of Prometheus' HTTP API.
    """
    pools = tuple(f"{PREFIX}-{job}" for job in JOBS)
    own = [one for one in targets if one.get("scrapePool", "").startswith(pools)]
    # Prometheus has them in no order.
    silent = sorted(_silent(one) for one in own if one.get("health") != "up")
    said = f"Prometheus reads {len(own)} target{'' if len(own) == 1 else 's'}; {len(own) - len(silent)} answer."
    return f"{said} No answer: {capped(silent, _SHOWN)}." if silent else said


def _silent(target: Mapping[str, Any]) -> str:
    labels = target.get("labels", {})
    why = target.get("lastError") or "not read yet"
    return f"{labels.get('node', '?')} (job {labels.get('job', '?')}, {labels.get('instance', '?')}): {why}"
