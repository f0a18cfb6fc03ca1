# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Wait until every live broker knows a change: Kafka answers before all of them do."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import StreamopsError, WaitTimeoutError

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

    def missing() -> list[str]:
        """What all observers together still miss."""
        names: list[str] = []
        for observer in [one for one in observers() if one not in done]:
            try:
                found = [f"{observer}: {name}" for name in missing_at(observer)]
            except StreamopsError as error:
                found = [f"{observer}: {error.message}"]
            if not found:
                done.add(observer)
            names += found
        return names

    wait_until_none(what, missing, timeout)


def wait_until_none(what: str, missing: Callable[[], Sequence[str]], timeout: float) -> None:
    """Return when C(missing) names nothing any more; WaitTimeoutError with the last names after C(timeout) seconds."""
    deadline = time.monotonic() + timeout
    while True:
        names = missing()
        if not names:
            return
        if time.monotonic() > deadline:
            raise WaitTimeoutError(what, timeout, list(names), ACCEPTED)
        time.sleep(PAUSE)
