# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Whether the quorum of a controller keeps a leader, watched only where it may not.

One look tells a quorum that has had its leader for long from one that has just elected, but not an election from the
last of many. So the second is watched for a while; the first, which is the rule, costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Quorum = Mapping[str, Any]

#: Seconds of a watch, and between two looks: more than two fetch timeouts and elections (Kafka's are 2 s and 1 s).
WATCH, PAUSE = 12.0, 0.3
#: A process that is younger has had no time to find a leader; a quorum that has not changed for so long has one.
YOUNG, SETTLED = 20.0, 10.0
#: Epochs that begin in a watch and are no single election any more.
EPOCHS = 2


def watched(
    look: Callable[[], Quorum | None],
    since: float | None,
    clock: Callable[[], float],
    sleep: Callable[[float], None],
) -> dict[str, Any] | None:
    """Return what C(look) finds of a quorum, with unsteady, first_epoch and last_epoch; None where it finds nothing.

    since -- when the process began (seconds since 1970), None where none runs. Unsteady is a quorum in which two more
    epochs began within the watch, or that had no leader in any look of it.
    """
    began = clock()
    found = look()
    if found is None:
        return None
    first = found["epoch"]
    epochs, led = [first], found["leader"] is not None
    if not _is_doubtful(found, since, began):
        return {**found, "unsteady": False, "first_epoch": first, "last_epoch": first}
    while len(epochs) <= EPOCHS and clock() - began < WATCH:
        if led and _is_settled(found, clock()):
            break
        sleep(PAUSE)
        # It is replaced by a rename, so a look that fails is a disk that does, and says nothing of the leader.
        found = look() or found
        led = led or found["leader"] is not None
        if found["epoch"] != epochs[-1]:
            epochs.append(found["epoch"])
    unsteady = len(epochs) > EPOCHS or not led
    return {**found, "unsteady": unsteady, "first_epoch": first, "last_epoch": epochs[-1]}


def _is_doubtful(found: Quorum, since: float | None, now: float) -> bool:
    if since is None or now - since < YOUNG:
        return False
    return found["leader"] is None or not _is_settled(found, now)


def _is_settled(found: Quorum, now: float) -> bool:
    return found["leader"] is not None and now - (found["changed_at"] or now) >= SETTLED
