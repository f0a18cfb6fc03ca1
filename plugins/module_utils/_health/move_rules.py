# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The rules on moves of replicas, and on the throttles that they leave."""

from __future__ import annotations

from collections.abc import Iterator

from .._core.names import capped
from .model import NOTE, SERIOUS, SHOWN, HealthFinding, Limits, State


def throttle_left(state: State, _limits: Limits) -> Iterator[HealthFinding]:
    """Find throttles of replication without a move that they are for: replicas that fall behind stay behind."""
    if state.moving or state.recorded:
        return
    by_name: dict[tuple[str, str], list[str]] = {}
    for one in state.throttles:
        by_name.setdefault((one["kind"], one["name"]), []).append(f"{one['key']}={one['value']}")
    for (kind, name), values in sorted(by_name.items()):
        keys = ",".join(value.partition("=")[0] for value in values)
        yield HealthFinding(
            "throttle_left",
            SERIOUS,
            f"a throttle was left on {kind} {name}",
            found=capped(values, SHOWN),
            allowed="no throttle without a move",
            next_step=f"kafka-configs.sh --alter --entity-type {kind}s --entity-name {name} --delete-config {keys}",
        )


def move(state: State, _limits: Limits) -> Iterator[HealthFinding]:
    """Find moves of replicas that run (move_running, a note), or that a run has left unfinished (move_left)."""
    if state.moving:
        yield HealthFinding(
            "move_running",
            NOTE,
            f"{len(state.moving)} partition(s) are being moved",
            found=capped(list(state.moving), SHOWN),
            allowed="none, unless a run moves them",
            next_step="wait; if no run is active, the module reassignment with state: finished",
        )
    elif state.recorded is not None:
        yield HealthFinding(
            "move_left",
            SERIOUS,
            "a move of replicas was left unfinished"
            if state.recorded
            else "a move of replicas has ended and left settings of throttles to restore",
            found=f"the record of {state.recorded} partitions in the topic _streamops_state",
            allowed="no record once a move has ended",
            next_step="start the same playbook again, or the module reassignment with state: finished or cancelled",
        )
