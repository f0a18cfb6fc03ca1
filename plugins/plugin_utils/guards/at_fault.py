# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Whether another node is at fault for a node of a roll that is not whole, by who copies from whom.

A node that has just restarted leads again, and a follower that does not copy from it keeps it from being whole. Where
others copy from it, its own files are not to be given up for that: those of the follower are, if they changed since the
node was whole last. A run that was cut, or somebody by hand, may have changed them, and no leader restarted since.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...module_utils._cluster.attribution import FOLLOWER, LEADER, PAIR
from ...module_utils._node.restart_reasons import reason_line

Info = Mapping[str, Any]


@dataclass(frozen=True)
class Change:
    """What a node that runs was changed by last, against what it was proven with before, a line each.

    C(is_fresh): by this run. C(is_suspect): the node that is not whole now was never whole beside it. C(waits): the
    node gets other files in this run.
    """

    lines: tuple[str, ...] = ()
    is_fresh: bool = False
    is_suspect: bool = False
    waits: bool = False

    @property
    def goes_back(self) -> bool:
        """Return whether the node is to go back to what it was proven with; where it waits, what it gets is better."""
        return self.is_suspect and not self.waits


def change_of(info: Info, restarted: bool, stuck: Info, taken_up: Sequence[str] | None = None) -> Change:
    """Return what changed last on a node, and whether it may be why another one is not whole.

    Args:
        info: What node_info saw of it before the roll; empty where it has no part in the run.
        restarted: Whether this run restarted it.
        stuck: What node_info saw of the node that is not whole, before the roll.
        taken_up: The names of the start files that it took up in this run, as far as they are known; None: it took up
            none.
    """
    reasons = [reason_line(reason) for reason in info.get("restart_reasons") or ()]
    known = info.get("start_files") or {}
    unproven = bool(known.get("current")) and known.get("current") != known.get("proven")
    if restarted and reasons:
        # What was written in place, as certificates are, has no way back: behind it lies what changed long before.
        return Change(tuple(reasons), is_fresh=True, is_suspect=unproven or taken_up is not None)
    if info.get("needs_start") and taken_up is not None:
        # Nobody compared it with a process, since none ran.
        lines = [f"file {name}" for name in taken_up] or ["its start files"]
        return Change(tuple(lines), is_fresh=True, is_suspect=True)
    waits = bool(reasons) and not restarted
    if known.get("edited"):
        # What it was proven with is lost where it was edited in place: only the inventory has it.
        lines = [f"edited by hand: {name}" for name in known["edited"]]
        return Change((*lines, *(f"runs and is to get: {reason}" for reason in reasons)), is_suspect=waits, waits=waits)
    lines = list((known.get("last_change") or {}).get("changes") or ())
    # By the clocks of two machines. A node is proven long behind its switch: its session has to pass.
    switched, proven = known.get("switched_at"), (stuck.get("start_files") or {}).get("proven_at")
    is_newer = switched is not None and proven is not None and switched > proven
    return Change(tuple(lines), is_suspect=bool(lines) and (unproven or is_newer), waits=waits)


@dataclass(frozen=True)
class Culprit:
    """The node that is at fault, what it does, and what changed last in its start files.

    C(others): further nodes that are at fault as well, with what changed last on each. C(is_either): instead of that,
    the one of these may be at fault as well as this one; nothing tells them apart.
    """

    node_id: int
    phrase: str
    change: Change
    others: tuple[tuple[int, Change], ...] = ()
    is_either: bool = False

    @property
    def both_changed(self) -> bool:
        """Return whether this run changed each of two of which either may be at fault."""
        return self.is_either and self.change.is_fresh and all(last.is_fresh for _node, last in self.others)

    @property
    def goes_back(self) -> bool:
        """Return whether the node is to go back: of two that this run changed nothing tells which one should."""
        return self.change.goes_back and not self.both_changed


def culprit(node_id: int, attributions: Iterable[Mapping[str, Any]], change: Callable[[int], Change]) -> Culprit | None:
    """Return who else is at fault for a node that is not whole; None where it is itself, or nobody else is known to be.

    Of a pair nothing but their files tells the two apart. The leader is the one that is not whole. Where others copy
    from it, it is the follower if that was changed in this run, or since the leader was whole last. Where nobody else
    does, nothing speaks for the leader: either may be at fault if this run changed the follower, else it is the leader.

    Args:
        node_id: The node that is not whole.
        attributions: As isr_wait returns them.
        change: What changed last on a node, by its id.
    """
    faults = [fault for fault in attributions if fault["kind"] in (FOLLOWER, LEADER, PAIR)]
    mine = [fault for fault in faults if node_id in fault["leaders"]]
    # As a leader that several do not copy from, or as a follower that copies from nobody, it is at fault itself.
    if any(fault["kind"] == LEADER for fault in mine) or any(
        fault["kind"] == FOLLOWER and node_id in fault["followers"] for fault in faults
    ):
        return None
    followers = [fault for fault in mine if fault["kind"] == FOLLOWER]
    if followers:
        return _of_followers(followers, change)
    for fault in mine:
        follower = fault["followers"][0]
        last = change(follower)
        if fault["served"] and (last.is_fresh or last.is_suspect):
            return Culprit(follower, str(fault["phrase"]), last)
        if last.is_fresh and not fault["served"]:
            return Culprit(follower, str(fault["phrase"]), last, ((node_id, change(node_id)),), is_either=True)
    # It copies from others, and is one of several that cannot copy from this one.
    for fault in faults:
        if fault["kind"] == LEADER and node_id in fault["followers"] and len(fault["followers"]) > 1:
            leader = fault["leaders"][0]
            return Culprit(leader, str(fault["phrase"]), change(leader))
    return None


def _of_followers(faults: Sequence[Mapping[str, Any]], change: Callable[[int], Change]) -> Culprit:
    """Return the followers that are at fault, first the one of which most is known to be taken back."""
    changes = [(int(fault["followers"][0]), change(fault["followers"][0])) for fault in faults]
    ordered = sorted(changes, key=lambda known: (not known[1].goes_back, not known[1].is_fresh))
    (first, last), *others = ordered
    return Culprit(first, "; ".join(str(fault["phrase"]) for fault in faults), last, tuple(others))
