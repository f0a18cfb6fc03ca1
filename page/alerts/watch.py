"""Ask the Alertmanager again and again in a thread, and keep what it told for any number of readers."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import replace

from page.alerts.ask import UnansweredError
from page.alerts.told import NoAlertsError, Told, told

_LOG = logging.getLogger("page")


class Watch:
    """Calls C(ask) every C(interval) seconds in a thread of its own; where it fails, what was told last is kept.

    So an Alertmanager that is gone takes no alert back: that a critical one fired is known, that it has ended is not.
    """

    def __init__(self, ask: Callable[[], bytes], interval: float) -> None:
        self.seen = Told()
        self._ask, self._interval = ask, interval
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="alerts", daemon=True)

    def start(self) -> None:
        """Begin to ask."""
        self._thread.start()

    def end(self) -> None:
        """Ask no more."""
        self._ended.set()

    def look(self) -> None:
        """Ask once."""
        try:
            self.seen = told(self._ask(), time.time())
        except (UnansweredError, NoAlertsError) as error:
            self._failed(str(error))
        except Exception as error:
            # Whatever goes wrong, the next question must come.
            _LOG.exception("cannot read the alerts of Alertmanager")
            self._failed(f"{type(error).__name__}: {error}")

    def _failed(self, why: str) -> None:
        if why != self.seen.error:
            _LOG.error("Alertmanager cannot be asked for its alerts: %s", why)
        self.seen = replace(self.seen, error=why)

    def _run(self) -> None:
        while not self._ended.is_set():
            self.look()
            self._ended.wait(self._interval)
