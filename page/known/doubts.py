"""Judge what takes several polls: a quorum whose leaders come and go, an ensemble that brokers do not reach. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._health.look import AFTER_SESSION, UNLED_SECONDS

#: Elections in so many seconds that are no single one any more, as node_info watches controllers for them.
EPOCHS, WATCH = 2, 12.0
#: When a poll asked the quorum, in seconds of the clock of pictures, and the epoch of its leader.
Epoch = tuple[float, int]


def followed_epochs(before: Sequence[Epoch], clock: float, epoch: int | None) -> tuple[Epoch, ...]:
    """Return the epochs that are remembered: all since the newest that is at least UNLED_SECONDS old.

    C(epoch) is that of the poll at C(clock), None where no active controller answered, which tells of no election.
    """
    every = [*before, *([(clock, epoch)] if epoch is not None else [])]
    old = sum(clock - when >= UNLED_SECONDS for when, _epoch in every)
    return tuple(every[max(0, old - 1) :])


def unsteady_by_polls(epochs: Sequence[Epoch]) -> dict[str, Any]:
    """Return what State has as C(unsteady) of a quorum without a leader that lasts; empty of any other.

    The rate is that of the watch on the machines of controllers (node_info with watch_quorum): more than one election
    in WATCH seconds. It must have lasted for UNLED_SECONDS, as a quorum that does not answer must.
    """
    if not epochs:
        return {}
    (began, first), (ended, newest) = epochs[0], epochs[-1]
    seconds = ended - began
    if seconds < UNLED_SECONDS or newest - first < EPOCHS * seconds / WATCH:
        return {}
    return {"controllers": [], "epochs": f"epochs {first} to {newest} within {seconds:.0f} s", "changed": []}


def unread_since(before: float | None, clock: float, is_unread: bool, is_sure: bool) -> float | None:
    """Return since when no broker of ZooKeeper mode has told the settings of topics; None where one has.

    C(before) is what the poll before returned. It begins with C(is_sure) alone, where each broker answers otherwise:
    later ones may not, since each such request keeps a thread of its broker waiting for the ensemble.
    """
    return (before or (clock if is_sure else None)) if is_unread else None


def ensemble_by_polls(since: float | None, clock: float) -> str:
    """Return what was seen of an ensemble that brokers have not reached for longer than a session of theirs; empty of
    any other."""
    if since is None or clock - since < AFTER_SESSION:
        return ""
    return f"for {clock - since:.0f} s no broker has told the settings of topics, which it reads from ZooKeeper"
