"""Keep account of the events of one partition on one way: what was written, what came, and what did not. Pure.

Two readers fill it: one says what stands before the last flow, one what stands behind it, each in the order of the log.
So nothing is kept in a file: after a restart both logs are read again. All times are seconds of a clock that only goes
forward; the reader says how old what it reads is.

Rules. A mirror keeps the order of a partition. So an event that a later one has overtaken is not on its way any more,
and is missing once C(late) seconds went by. Any other event that did not come is late after C(late) seconds, and
missing only after C(missing) seconds: a mirror that is down for an hour has lost nothing. Both are judged by what was
known when the copy was last read to its end: while it cannot be read, events may come that are not seen.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from canary.event import Place

#: Seconds that an event is remembered, which is how far back figures reach. Topics keep events for twice as long, so
#: no log forgets what the account still asks for.
WINDOW = 86400.0
#: Places of a partition that are remembered at most.
MOST = 20_000


@dataclass(frozen=True)
class Limits:
    """After how many seconds an event is late, and after how many it is missing."""

    late: float
    missing: float


@dataclass(frozen=True)
class Account:
    """What is known of a partition over the window, or of several together. Ages are seconds, None for no event.

    C(waiting) were written and did not come; C(late) of them are, and C(missing) are not counted as waiting any more.
    """

    written: int = 0
    arrived: int = 0
    waiting: int = 0
    late: int = 0
    missing: int = 0
    repeated: int = 0
    out_of_order: int = 0
    oldest_waiting: float | None = None
    last_arrived: float | None = None


@dataclass
class Ledger:
    """The account of one partition."""

    #: Times each event stands before the last flow, and when it was written.
    _written: dict[Place, int] = field(default_factory=dict)
    _since: dict[Place, float] = field(default_factory=dict)
    #: Times each event stands behind the last flow, and when it came first.
    _arrived: dict[Place, int] = field(default_factory=dict)
    _came: dict[Place, float] = field(default_factory=dict)
    #: What did not come, and since when a later one is there.
    _waiting: dict[Place, float] = field(default_factory=dict)
    _overtaken: dict[Place, float] = field(default_factory=dict)
    _disordered: dict[Place, float] = field(default_factory=dict)
    _last: Place | None = None
    #: The greatest place that either side has told, also of what is forgotten since.
    _greatest: Place | None = None
    #: Nothing is asked for that stands before it: the copy has lost its beginning there.
    _floor: Place | None = None

    def written(self, place: Place, now: float, age: float = 0.0) -> None:
        """Take an event that stands before the last flow, C(age) seconds old."""
        self._written[place] = self._written.get(place, 0) + 1
        self._note(place)
        self._since.setdefault(place, now - age)
        if place not in self._arrived and not self._is_before_the_copy(place) and age <= WINDOW:
            self._waiting.setdefault(place, now - age)
            if self._last is not None and place < self._last:
                self._overtaken.setdefault(place, now)

    def arrived(self, place: Place, now: float, age: float = 0.0) -> bool:
        """Take an event that stands behind the last flow; whether it is there for the first time."""
        is_first = place not in self._arrived
        self._arrived[place] = self._arrived.get(place, 0) + 1
        self._note(place)
        if not is_first:
            return False
        self._came[place] = now - age
        self._waiting.pop(place, None)
        self._overtaken.pop(place, None)
        if self._last is not None and place < self._last:
            self._disordered[place] = now - age
            return True
        self._note_skipped(place, now, age)
        for one in self._passed(place):
            self._overtaken.setdefault(one, now - age)
        self._last = place
        return True

    def _note(self, place: Place) -> None:
        self._greatest = place if self._greatest is None else max(self._greatest, place)

    def _note_skipped(self, place: Place, now: float, age: float) -> None:
        """Ask for the events between the last that came and this one, also where the source no longer holds them."""
        last = self._last
        if last is None or last.series != place.series:
            return
        for number in range(max(last.number + 1, place.number - MOST), place.number):
            skipped = Place(place.series, number)
            if skipped not in self._arrived:
                self._waiting.setdefault(skipped, now - age)

    def _passed(self, place: Place) -> list[Place]:
        """Return what waits and is overtaken by this event: what stands from the last that came up to itself.

        What stands before the last was overtaken by that one already. The last may be asked for again, once the window
        has forgotten that it came. After a restart the logs of a day are read at once, so all that waits is looked
        through only where numbers do not tell what stands between.
        """
        last = self._last
        if last is not None and last.series == place.series and place.number - last.number <= len(self._waiting):
            between = (Place(place.series, number) for number in range(last.number, place.number))
            return [one for one in between if one in self._waiting]
        return [one for one in self._waiting if one < place]

    def begin_where_the_copy_does(self) -> None:
        """Ask no more for what stands before the first event that the copy holds, since its log lost its beginning.

        Where it holds none, for nothing that is known by now.
        """
        known = [*self._since, *self._waiting]
        self._floor = min(self._arrived, default=None) or (max(known).next if known else None)
        for one in [one for one in self._waiting if self._is_before_the_copy(one)]:
            del self._waiting[one]
            self._overtaken.pop(one, None)

    def _is_before_the_copy(self, place: Place) -> bool:
        return self._floor is not None and place < self._floor

    def last_place(self) -> Place | None:
        """Return the last place that either side has told; None for none."""
        return self._greatest

    def account(self, now: float, limits: Limits, seen: float | None = None) -> Account:
        """Return the figures, and forget what the window has left behind.

        C(seen) is when the copy was last read to its end, without it now. What happened since then makes no event late
        or missing, and lets none that is missing be called late again.
        """
        seen = now if seen is None else seen
        self.forget(now)
        missing = self._missing(seen, limits)
        waiting = {one: since for one, since in self._waiting.items() if one not in missing}
        return Account(
            written=len(self._since.keys() | self._waiting.keys() | self._came.keys()),
            arrived=len(self._came),
            waiting=len(waiting),
            late=sum(seen - since > limits.late for since in waiting.values()),
            missing=len(missing),
            repeated=sum(max(0, times - self._written.get(one, 1)) for one, times in self._arrived.items()),
            out_of_order=len(self._disordered),
            oldest_waiting=max((max(0.0, seen - since) for since in waiting.values()), default=None),
            last_arrived=now - max(self._came.values()) if self._came else None,
        )

    def _missing(self, seen: float, limits: Limits) -> set[Place]:
        overtaken = {one for one, since in self._overtaken.items() if seen - since > limits.late}
        return overtaken | {one for one, since in self._waiting.items() if seen - since > limits.missing}

    def forget(self, now: float) -> None:
        """Forget what the window has left behind, and the oldest of what is too much."""
        for times, since in ((self._written, self._since), (self._arrived, self._came)):
            for place in _old(since, now):
                del since[place]
                del times[place]
        for one in (self._waiting, self._overtaken, self._disordered):
            for place in _old(one, now):
                del one[place]
        # An event that is asked for no longer has no time at which it was overtaken.
        for place in self._overtaken.keys() - self._waiting.keys():
            del self._overtaken[place]


def _old(since: Mapping[Place, float], now: float) -> list[Place]:
    """Return the places that the window has left, and the oldest of those that are too many."""
    old = [place for place, at in since.items() if now - at > WINDOW]
    left = len(since) - len(old)
    if left > MOST:
        young = sorted((at, place) for place, at in since.items() if now - at <= WINDOW)
        old += [place for _at, place in young[: left - MOST]]
    return old


def together(accounts: list[Account]) -> Account:
    """Return the figures of several partitions as one: the oldest event that waits, the youngest that came."""
    waiting = [one.oldest_waiting for one in accounts if one.oldest_waiting is not None]
    arrived = [one.last_arrived for one in accounts if one.last_arrived is not None]
    counted = ("written", "arrived", "waiting", "late", "missing", "repeated", "out_of_order")
    return Account(
        **{name: sum(getattr(one, name) for one in accounts) for name in counted},
        oldest_waiting=max(waiting, default=None),
        last_arrived=min(arrived, default=None),
    )
