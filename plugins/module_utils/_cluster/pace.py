# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Decides whether a cluster changes its metadata slower than before a roll began.

Some legal values let every change of metadata wait (controller.quorum.append.linger.ms, KIP-595): the node comes up, is
in sync and leads, while each topic, leader and in-sync replica of the cluster takes as long as that to change.
"""

from __future__ import annotations

from collections.abc import Sequence

#: So many times as long as before is slower. Figures of a quiet cluster are a few tens of milliseconds, of which other
#: work on the machine easily makes several times as much.
FACTOR = 10
#: Seconds that the fastest of several changes takes beyond the fastest before, at least, to be slower. A busy machine
#: delays some of them; a value of the quorum delays each.
BEYOND = 0.5
#: The same of what happens once, as an election does: a busy machine delays it by seconds.
BEYOND_ONCE = 5.0
#: Seconds over which no change was fast before they are called slow.
PATIENCE = 20.0
#: Changes that are timed at least. The first one is not counted: it may come at the end of a wait that another change
#: of the cluster began (BatchAccumulator lets all records of one wait go together), and it opens the connection.
LEAST = 2
#: Changes that are timed before a roll.
LEAST_BEFORE = 4


def fastest(seconds: Sequence[float]) -> float:
    """Return how long the fastest change took, of one or more in their order; the first counts only where it is alone.

    seconds -- of each change
    """
    return min(seconds[1:] or seconds)


def longest(before: float, beyond: float) -> float:
    """Return the seconds up to which something is not slower than C(before) seconds."""
    return max(FACTOR * before, before + beyond)


def is_timed(seconds: Sequence[float], before: float | None, elapsed: float) -> bool:
    """Tell whether enough changes were timed: one was fast, or none was in PATIENCE seconds.

    before -- seconds that a change took before the roll, None where this is the measurement before it
    """
    if before is None:
        return len(seconds) >= LEAST_BEFORE
    if len(seconds) >= LEAST and fastest(seconds) <= longest(before, BEYOND):
        return True
    return bool(seconds) and elapsed >= PATIENCE


def slower(what: str, before: float, after: float, beyond: float) -> str:
    """Return what is slower than before the roll, as a sentence without its end; empty where it is not.

    before, after -- in seconds. beyond -- BEYOND, or BEYOND_ONCE for what was timed once.
    """
    if after <= longest(before, beyond):
        return ""
    return f"slower than before: {what} takes {after:.3g} s instead of {before:.3g} s"
