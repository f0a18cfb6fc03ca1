"""Poll a cluster again and again in one thread, and keep the last picture for any number of readers."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import (
    ClusterUnreachableError,
    StreamopsError,
)
from page.core.exposition import Family
from page.known.history import History, followed
from page.known.metrics import families_of
from page.known.picture import Picture, Polls
from page.known.rates import Rates, rates_between

_LOG = logging.getLogger("page")


@dataclass(frozen=True)
class Seen:
    """What readers get: how polls went, the last picture, its metrics, the lag of before, and the growth of logs.

    Replaced as a whole.
    """

    polls: Polls
    picture: Picture | None = None
    families: Sequence[Family] = ()
    history: History = field(default_factory=History)
    rates: Rates = field(default_factory=Rates)


class Poller:
    """Calls C(take) every C(interval) seconds in a thread of its own, so there is one poll of a cluster at once.

    C(take) gets the last picture, None before the first one.
    Pollers share nothing: a cluster that does not answer keeps its own poller waiting, and no other.
    """

    def __init__(
        self, cluster: str, take: Callable[[Picture | None], Picture], interval: float, series_limit: int
    ) -> None:
        self.seen = Seen(Polls(time.time()))
        self._cluster, self._take, self._interval, self._limit = cluster, take, interval, series_limit
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"poller {cluster}", daemon=True)

    def start(self) -> None:
        """Begin to poll."""
        self._thread.start()

    def end(self) -> None:
        """Begin no further poll."""
        self._ended.set()

    def wait(self, seconds: float) -> None:
        """Wait at most C(seconds) for the poll under way, after C(end)."""
        self._thread.join(max(0.0, seconds))

    def poll(self) -> None:
        """Poll once; a poll that fails leaves the last picture and is counted."""
        seen = self.seen
        polls = replace(seen.polls, done=seen.polls.done + 1)
        try:
            picture = self._take(seen.picture)
            families = families_of(self._cluster, picture, self._limit)
            history = followed(seen.history, picture.groups, picture.taken, picture.silent_brokers > 0)
            rates = rates_between(seen.picture, picture)
            self.seen = Seen(replace(polls, error="", is_down=False), picture, families, history, rates)
        except Exception as error:
            # Whatever goes wrong, the next poll must come: without it the page would show an old picture for ever.
            why = error.message if isinstance(error, StreamopsError) else f"{type(error).__name__}: {error}"
            trace = not isinstance(error, StreamopsError)
            _LOG.error("poll of cluster %s failed: %s", self._cluster, why, exc_info=trace)
            is_down = isinstance(error, ClusterUnreachableError) and error.is_gone
            failed = replace(polls, failed=polls.failed + 1, error=why, is_down=is_down)
            self.seen = replace(seen, polls=failed)

    def _run(self) -> None:
        while not self._ended.is_set():
            self.poll()
            self._ended.wait(self._interval)
