# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Times changes of metadata: a configuration of the topic of states is set and set back."""

from __future__ import annotations

import time

from .._client.session import Session
from .._configs.api import TOPIC, alter_configs
from .._core.errors import RequestFailedError, StreamopsError, is_denial
from .api import describe_quorum
from .pace import BEYOND, BEYOND_ONCE, fastest, is_timed, longest, slower
from .snapshot import STATE_TOPIC

#: Seconds between two changes where the first one failed.
_PAUSE = 0.2
#: How long a deleted segment stays on disk. Its values here are Kafka's default (a minute) and a moment more.
_KEY, _DEFAULT_MS = "file.delete.delay.ms", 60_000


def change_seconds(session: Session, before: float | None = None) -> tuple[float | None, str]:
    """Return how long a change of metadata takes in seconds, None with why where none could be timed.

    before -- what it took before the roll: then changes are timed until one is as fast, or for PATIENCE seconds. A
    change that was not answered in time counts as one that took that long.
    """
    began, seconds = time.monotonic(), list[float]()
    while True:
        # Always another value than one that a run which was cut has left there, so that it is a change.
        for value in (str(_DEFAULT_MS + time.time_ns() // 1000 % 997), None):
            took, why, final = _timed_change(session, value)
            if not why or (before is not None and not final and took > longest(before, BEYOND)):
                seconds.append(took)
            elif final or before is None or (not seconds and time.monotonic() - began >= longest(before, BEYOND_ONCE)):
                if value is not None and not final:
                    _timed_change(session, None)  # It may have been carried out without an answer.
                return None, why
            else:
                time.sleep(_PAUSE)
        if is_timed(seconds, before, time.monotonic() - began):
            return fastest(seconds), ""


def require_pace(session: Session, broker: int | None, before: float) -> tuple[float | None, str]:
    """Return what C(change_seconds) does; raise RequestFailedError where it is slower than before the roll."""
    seconds, why = change_seconds(session, before)
    if seconds is not None:
        refuse_slower(session, broker, slower("a change of metadata", before, seconds, BEYOND))
    return seconds, why


def refuse_slower(session: Session, broker: int | None, sentence: str) -> None:
    """Raise RequestFailedError for a sentence of C(slower), with the controller that is active; do nothing without."""
    if sentence:
        quorum = describe_quorum(session)
        leader = quorum.leader_id if quorum else None
        active = "" if leader is None else f"; controller {leader} is active, whose files decide that"
        name = "the node" if broker is None else f"broker {broker}"
        raise RequestFailedError("prove", name, "SLOWER_THAN_BEFORE", f"{sentence}{active}")


def _timed_change(session: Session, value: str | None) -> tuple[float, str, bool]:
    """Return the seconds of one change, why it failed, empty where it did not, and whether it always would."""
    began = time.monotonic()
    try:
        failure = alter_configs(session, TOPIC, {STATE_TOPIC: {_KEY: value}}).get(STATE_TOPIC)
    except StreamopsError as error:
        return time.monotonic() - began, error.message, not error.passing
    took = time.monotonic() - began
    if failure is None:
        return took, "", False
    code, why = failure
    if code == "UNKNOWN_TOPIC_OR_PARTITION":
        return took, f"topic {STATE_TOPIC} does not exist", True
    return took, why, is_denial(code)
