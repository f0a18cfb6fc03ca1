# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Wait until every live broker knows a change: Kafka answers before all of them do."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import StreamopsError, WaitTimeoutError
from ansible_collections.streamops.kafka.plugins.module_utils._core.progress import PATIENCE

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
        """What all observers together still miss."""
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
    began = time.monotonic()
    deadline, fewest = began + timeout, None
    while True:
        names = missing()
        if not names:
            return
        now = time.monotonic()
        if fewest is not None and len(names) < fewest:
            deadline = max(deadline, min(now + timeout, began + PATIENCE * timeout))
        fewest = len(names) if fewest is None else min(fewest, len(names))
        if now > deadline:
            raise WaitTimeoutError(what, max(timeout, round(now - began)), list(names), ACCEPTED)
        time.sleep(PAUSE)
