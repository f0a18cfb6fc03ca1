# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Wait until every live broker knows a change: Kafka answers before all of them do."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from .._core.errors import StreamopsError, WaitTimeoutError
from .._core.progress import DONE, GOING, Advance, Step, follow

#: Seconds between two looks.
PAUSE = 0.2
ACCEPTED = "The changes themselves were accepted by the cluster; run again to look again."
_Observer = TypeVar("_Observer")


def wait_until_seen(
    what: str,
    observers: Callable[[], Iterable[_Observer]],
    missing_at: Callable[[_Observer], Sequence[str]],
    timeout: float,
) -> None:
    """Return when no observer, a broker's id or a server, misses anything; C(missing_at) names what one misses."""
    done: set[_Observer] = set()
    last: dict[_Observer, list[str]] = {}

    def missing() -> list[str]:
        """Return what all observers together still miss."""
        names: list[str] = []
        for observer in [one for one in observers() if one not in done]:
            try:
                last[observer] = [f"{observer}: {name}" for name in missing_at(observer)]
            except StreamopsError as error:
                # What it missed before is still missing: no answer is no progress.
                names += [f"{observer}: {error.message}", *last.get(observer, ())]
                continue
            if not last[observer]:
                done.add(observer)
            names += last[observer]
        return names

    wait_until_none(what, missing, timeout)


def wait_until_none(what: str, missing: Callable[[], Sequence[str]], timeout: float) -> None:
    """Return when C(missing) names nothing any more.

    WaitTimeoutError with the last names after C(timeout) seconds in which it did not name fewer than ever, or after
    PATIENCE times as long in all: a slow cluster that takes thousands of changes is not given up while it does.
    """
    names: list[str] = []
    advance = Advance()

    def look(_elapsed: float) -> Step:
        """Ask what is missing; fewer than ever is progress."""
        names[:] = missing()
        advance.take(settled=-len(names))
        return Step(GOING if names else DONE, "", progress=str(advance))

    followed = follow(look, lambda _line: None, time.monotonic, lambda _left: time.sleep(PAUSE), timeout, PAUSE)
    if followed.timed_out:
        raise WaitTimeoutError(what, max(timeout, round(followed.elapsed)), names, ACCEPTED)
