# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The pure half of every long wait: rate, estimate, line, loop. Clock, sleep and display are passed in."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

# A silent job is killed by AWX's idle timeout and worries people: an unchanged line is repeated this often (seconds).
HEARTBEAT = 60.0
# Rows of history that a result carries; the latest ones are kept.
HISTORY_LIMIT = 500
# Of a wait that failed, so that the error is not far above the end of what Ansible prints of a failed task. Each row
# was shown as a line when it came.
HISTORY_OF_FAILED = 3

# So many times its timeout a wait may last while it makes progress: 2 hours with the 120 s of a start.
PATIENCE = 60

# Good looks that a wait needs at least where they must go on for some seconds: on a busy machine two looks are as far
# apart as the whole wait is long, and say nothing of the time between them.
HOLD_LOOKS = 3

GOING, DONE, FAILED = "going", "done", "failed"


def duration(seconds: float) -> str:
    """Return seconds as people read them: ``45s``, ``3m05s``, ``1h02m``."""
    whole = round(max(0.0, seconds))
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02d}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02d}m"


class Meter:
    """Rate and time left of work that is counted, from the samples of the last ``window`` seconds."""

    def __init__(self, window: float = 60.0) -> None:
        self._window = window
        self._samples: deque[tuple[float, float]] = deque()

    def add(self, at: float, done: float) -> None:
        """Take one sample: ``done`` units were finished at ``at`` seconds."""
        self._samples.append((at, done))
        # The last sample from before the window stays: without it a slow sampler would never have two.
        while len(self._samples) > 2 and self._samples[1][0] <= at - self._window:
            self._samples.popleft()

    @property
    def rate(self) -> float | None:
        """Units a second over the window; None before two samples; negative when work is lost again."""
        if len(self._samples) < 2 or self._samples[-1][0] <= self._samples[0][0]:
            return None
        (first_at, first), (last_at, last) = self._samples[0], self._samples[-1]
        return (last - first) / (last_at - first_at)

    def eta(self, total: float) -> float | None:
        """Seconds until ``total`` is reached at this rate; None when nothing moves forward."""
        rate = self.rate
        if not rate or rate <= 0 or not self._samples:
            return None
        return max(0.0, total - self._samples[-1][1]) / rate


def pace(meter: Meter, total: float, unit: str) -> str:
    """Return ``2.1 partitions/s, ETA 9s``, or an empty string while nothing moves."""
    rate, eta = meter.rate, meter.eta(total)
    if rate is None or eta is None:
        return ""
    return f"{rate:.0f} {unit}/s, ETA {duration(eta)}" if rate >= 10 else f"{rate:.2g} {unit}/s, ETA {duration(eta)}"


class Hold:
    """Looks without a bad one between them: one good look says little of what comes and goes.

    ``seconds`` is how long they must go on, of which ``held`` have passed before this wait; ``looks`` is the least
    number of them, HOLD_LOOKS where no earlier wait has seen any. A bad look starts both anew.
    """

    def __init__(self, seconds: float = 0.0, looks: int = 1, held: float = 0.0) -> None:
        self._seconds = seconds
        self._looks = looks if held or not seconds else max(looks, HOLD_LOOKS)
        self._since = -held
        self._at = 0.0
        #: Good looks in a row.
        self.count = 0
        #: Why it was lost, once for each time that a bad look followed a good one.
        self.lost: list[str] = []

    def good(self, at: float) -> None:
        """Take a good look at C(at) seconds since the wait began."""
        self._at = at
        self.count += 1

    def bad(self, at: float, why: str = "") -> None:
        """Take a bad look; without C(why) it was none, as when nothing answered, and what was good is not lost."""
        if self.count and why:
            self.lost.append(why)
        self.count, self._since, self._at = 0, at, at
        if self._seconds:
            self._looks = max(self._looks, HOLD_LOOKS)

    @property
    def held(self) -> float:
        """Seconds since the last bad look, or since the beginning."""
        return self._at - self._since if self.count else 0.0

    @property
    def reached(self) -> bool:
        """Return whether enough looks were good for long enough."""
        return self.count >= self._looks and self.held >= self._seconds

    def __str__(self) -> str:
        lasted = f", for {self.held:.0f} of {self._seconds:.0f} s" if self._seconds else ""
        return f"{min(self.count, self._looks)} of {self._looks} good observations{lasted}"


def held(seconds: float, since: float, now: float, looks: int = 1) -> Hold:
    """Return the hold of a wait that begins now; C(since) is when an earlier one found the same good, 0 without one."""
    return Hold(seconds, looks, min(max(0.0, now - since), seconds) if since else 0.0)


class Advance:
    """Counts how often work under way was further than ever: what goes back and comes again is no progress."""

    def __init__(self) -> None:
        self._best: dict[str, float] = {}
        self._count = 0

    def take(self, **figures: float | None) -> None:
        """Take figures of which more is better, None where one is not known; the first of each is where it begins."""
        known = {name: value for name, value in figures.items() if value is not None}
        self._count += any(value > self._best.get(name, value) for name, value in known.items())
        self._best.update({name: max(value, self._best.get(name, value)) for name, value in known.items()})

    def __str__(self) -> str:
        """Return what Step takes as progress: empty until something moved."""
        return f"moved {self._count}" if self._count else ""


class LineFilter:
    """Lets a line through when it says something new, and an unchanged one once per heartbeat (seconds)."""

    def __init__(self, heartbeat: float = HEARTBEAT) -> None:
        self._heartbeat = heartbeat
        self._last: tuple[float, str] | None = None

    def passes(self, at: float, text: str) -> bool:
        """Tell whether ``text`` is to be shown at ``at`` seconds."""
        if self._last is not None and self._last[1] == text and at - self._last[0] < self._heartbeat:
            return False
        self._last = (at, text)
        return True


@dataclass(frozen=True)
class Step:
    """What one look found: ``state`` is going, done or failed; ``text`` the line for people; ``facts`` for history.

    ``progress`` is the last that is known of work under way, empty without any: where it changes, the wait has its
    whole time again.
    """

    state: str
    text: str
    facts: dict[str, Any] = field(default_factory=dict)
    progress: str = ""


@dataclass(frozen=True)
class Followed:
    """How a wait ended. ``elapsed`` in seconds; ``timed_out`` only when the last step was still going.

    ``moved_at`` is when it last made progress, in seconds since it began; 0 where it made none. ``cut``: progress went
    on, and the wait had lasted PATIENCE times its timeout.
    """

    last: Step
    timed_out: bool
    elapsed: float
    looks: int
    history: list[dict[str, Any]]
    moved_at: float = 0.0
    cut: bool = False

    def prolonged(self) -> str:
        """Return the line of a message that says why a wait lasted longer than its timeout; empty where it did not."""
        if not self.timed_out or not self.moved_at:
            return ""
        lasted, since = duration(self.elapsed), duration(self.elapsed - self.moved_at)
        if self.cut:
            return (
                f"\nThe wait lasted {lasted}, {PATIENCE} times its timeout, and no wait lasts longer. It still made "
                f"progress {since} before its end: run again, or raise the timeout."
            )
        return (
            f"\nThe wait lasted {lasted}: its timeout counts from the last progress, which was {since} before its end."
        )

    def as_result(self) -> dict[str, Any]:
        """Return the fields that every waiting action puts into its result."""
        in_vain = self.timed_out or self.last.state == FAILED
        history = self.history[-HISTORY_OF_FAILED:] if in_vain else self.history
        return {"elapsed": round(self.elapsed, 1), "looks": self.looks, "history": history}


def follow(
    look: Callable[[float], Step],
    show: Callable[[str], None],
    clock: Callable[[], float],
    sleep: Callable[[float], None],
    timeout: float,
    interval: float,
    heartbeat: float = HEARTBEAT,
) -> Followed:
    """Look again and again until a look says done or failed, or ``timeout`` seconds have passed.

    Progress gives it ``timeout`` seconds more from then on, up to PATIENCE times as long in all.

    ``look`` gets the seconds since the start. It may itself take about one ``interval`` (a module that observes);
    what it leaves of the interval is slept. There is at least one look, and no sleep reaches past the timeout.
    """
    started, lines, looks = clock(), LineFilter(heartbeat), 0
    deadline, progress, moved_at = timeout, "", 0.0
    history: deque[dict[str, Any]] = deque(maxlen=HISTORY_LIMIT)
    while True:
        began = clock()
        step = look(began - started)
        looks += 1
        elapsed = clock() - started
        if step.progress != progress:
            deadline, progress = max(deadline, min(elapsed + timeout, PATIENCE * timeout)), step.progress
            # What was seen of it at the first look is where it began.
            moved_at = elapsed if looks > 1 else 0.0
        history.append(dict(step.facts, elapsed=round(elapsed, 1), state=step.state))
        # A failed step is not shown: the error that follows says it in full. Without a timeout it was one look only.
        if step.state != FAILED and lines.passes(elapsed, step.text):
            show(f"{step.text}, elapsed {duration(elapsed)} of {duration(deadline)}" if timeout else step.text)
        if step.state != GOING or elapsed >= deadline:
            cut = elapsed - moved_at < timeout
            return Followed(step, step.state == GOING, elapsed, looks, list(history), moved_at, cut)
        sleep(max(0.0, min(interval - (clock() - began), deadline - elapsed)))
