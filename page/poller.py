"""Poll again and again in one thread, and keep the last picture for any number of readers."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import StreamopsError
from page.metrics import text_of
from page.picture import Picture, Polls

_LOG = logging.getLogger("page")


@dataclass(frozen=True)
class Seen:
    """What readers get: how polls went, the last picture, and its metrics as text. Replaced as a whole."""

    polls: Polls
    picture: Picture | None = None
    text: str = ""


class Poller:
    """Calls C(take) every C(interval) seconds in one thread, so there is never more than one poll at once."""

    def __init__(self, take: Callable[[], Picture], interval: float, series_limit: int) -> None:
        self.seen = Seen(Polls(time.time()))
        self._take, self._interval, self._limit = take, interval, series_limit
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="poller", daemon=True)

    def start(self) -> None:
        """Begin to poll."""
        self._thread.start()

    def stop(self, seconds: float) -> None:
        """Begin no further poll, and wait at most C(seconds) for the one under way."""
        self._ended.set()
        self._thread.join(seconds)

    def poll(self) -> None:
        """Poll once; a poll that fails leaves the last picture and is counted."""
        seen = self.seen
        polls = replace(seen.polls, done=seen.polls.done + 1)
        try:
            picture = self._take()
            self.seen = Seen(replace(polls, error=""), picture, text_of(picture, self._limit))
        except Exception as error:
            # Whatever goes wrong, the next poll must come: without it the page would show an old picture for ever.
            why = error.message if isinstance(error, StreamopsError) else f"{type(error).__name__}: {error}"
            _LOG.error("poll failed: %s", why, exc_info=not isinstance(error, StreamopsError))
            self.seen = replace(seen, polls=replace(polls, failed=polls.failed + 1, error=why))

    def _run(self) -> None:
        while not self._ended.is_set():
            self.poll()
            self._ended.wait(self._interval)
