# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Whether another node is at fault for a node of a roll that is not whole, by who copies from whom.

A node that has just restarted leads again, and a follower that does not copy from it keeps it from being whole. Where
others copy from it, its own files are not to be given up for that: those of the follower are, if they changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.attribution import FOLLOWER, LEADER, PAIR


@dataclass(frozen=True)
class Culprit:
    """The node that is at fault, what it does, and what changed last in its start files, a line each.

    C(is_fresh): that changed in this run, so it may be taken back.
    """

    node_id: int
    phrase: str
    changes: tuple[str, ...]
    is_fresh: bool


def culprit(
    node_id: int,
    attributions: Iterable[Mapping[str, Any]],
    changes: Callable[[int], tuple[Iterable[str], bool]],
) -> Culprit | None:
    """Return who else is at fault for a node that is not whole; None where it is itself, or nobody else is known to be.

    Of a pair nothing but their files tells the two apart. The leader serves others, so it is the follower if that was
    changed in this run too; where it was not, the leader's own change was the last.

    Args:
        node_id: The node that is not whole.
        attributions: As isr_wait returns them.
        changes: What changed last on a node, by its id, and whether that was in this run; empty where nothing is known.
    """
    faults = [fault for fault in attributions if fault["kind"] in (FOLLOWER, LEADER, PAIR)]
    mine = [fault for fault in faults if node_id in fault["leaders"]]
    # As a leader that several do not copy from, or as a follower that copies from nobody, it is at fault itself.
    if any(fault["kind"] == LEADER for fault in mine) or any(
        fault["kind"] == FOLLOWER and node_id in fault["followers"] for fault in faults
    ):
        return None
    for fault in sorted(mine, key=lambda fault: fault["kind"] != FOLLOWER):
        follower = fault["followers"][0]
        lines, is_fresh = changes(follower)
        changed = tuple(lines)
        if fault["kind"] == FOLLOWER or (changed and is_fresh):
            return Culprit(follower, str(fault["phrase"]), changed, bool(changed) and is_fresh)
    return None
