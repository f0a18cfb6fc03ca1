"""Whether the brokers were up over the whole run: asked before it, all along and after it, not once.

The cluster itself says who takes part (DescribeCluster, which needs no permission); one that dies and returns before
the cluster misses it was not away as far as clients can tell.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from spark_validation.core.errors import asked
from spark_validation.core.result import FAIL, INCONCLUSIVE, PASS, Check

_EVERY_SECONDS = 1.0


@dataclass
class Absence:
    """When looks missed a broker: epoch seconds of the first and the last of them; `is_back`: a later one found it."""

    since: float
    last: float
    is_back: bool = False


class Presence:
    """What all looks at the brokers `known` saw. Pure."""

    def __init__(self, known: Iterable[int]) -> None:
        self.known = sorted(known)
        self.absences: dict[int, Absence] = {}
        self.looks = 0
        self.is_answered = False

    def saw(self, live: Iterable[int], now: float) -> None:
        """Add a look that found these brokers."""
        found = set(live)
        self.looks, self.is_answered = self.looks + 1, True
        for broker in self.known:
            if broker not in found:
                absence = self.absences.setdefault(broker, Absence(now, now))
                absence.last, absence.is_back = now, False
            elif broker in self.absences:
                self.absences[broker].is_back = True

    def missed(self) -> None:
        """Note a look that nothing answered."""
        self.is_answered = False

    def check(self) -> Check:
        """Judge the whole run."""
        told = [self._told(broker, absence) for broker, absence in sorted(self.absences.items())]
        status = FAIL if told else PASS if self.is_answered else INCONCLUSIVE
        return Check(
            "alive",
            "Every broker is up, before, during and after the run",
            status,
            expected=len(self.known),
            actual=len(self.known) - len(self.absences),
            difference=len(self.absences),
            threshold=0,
            unit="brokers",
            examples=[
                {"broker": broker, "away_seconds": round(absence.last - absence.since, 1), "is_back": absence.is_back}
                for broker, absence in sorted(self.absences.items())
            ],
            examples_total=len(self.absences),
            suggests="; ".join(told) if told else "" if status == PASS else "no broker answered at the end of the run",
        )

    @staticmethod
    def _told(broker: int, absence: Absence) -> str:
        since = time.strftime("%H:%M:%S UTC", time.gmtime(absence.since))
        if absence.is_back:
            seconds = max(1, round(absence.last - absence.since))
            return f"broker {broker} was away for about {seconds} s from {since} on and came back: its log says why"
        return f"broker {broker} went away at {since} and has not come back: start it, then run again"


class Watch:
    """Asks the cluster again and again in a thread of its own, and once more at the end."""

    def __init__(self, presence: Presence, live: Callable[[], list[int]], every: float = _EVERY_SECONDS) -> None:
        self._presence, self._live, self._every = presence, live, every
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._loop, daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
        self._look()

    def _loop(self) -> None:
        while not self._stop.wait(self._every):
            self._look()

    def _look(self) -> None:
        try:
            self._presence.saw(self._live(), time.time())
        except Exception:
            # A cluster that does not answer is no reason to end the job, which finds out itself.
            self._presence.missed()


class Brokers:
    """One admin client that knows the brokers; closed at the end."""

    def __init__(self, java: Any, properties: dict[str, str]) -> None:
        """Connect lazily; `properties` are native client properties."""
        self._java = java
        self._admin = asked("connection", java.org.apache.kafka.clients.admin.AdminClient.create, properties)

    def __enter__(self) -> Brokers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._admin.close(self._java.java.time.Duration.ofSeconds(2))

    def live(self) -> list[int]:
        """The ids of the brokers that take part in the cluster now."""
        nodes = asked("brokers", self._admin.describeCluster().nodes().get)
        # The values of a Java map are no list, and Python cannot go through them.
        return [int(node.id()) for node in self._java.java.util.ArrayList(nodes)]
