# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""How old the records at some offsets are, found by asking for the offsets of times only. Pure.

A record itself can be read only by who has Read on its topic, and costs a fetch for each partition. ListOffsets
(KIP-79) wants Describe, and one request to each leader answers for all its partitions; it gives the first offset at or
after a time, so the age of a record is found by halving. Where producers set times out of order, a younger record in
front of the one that was asked for makes it look younger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from .._cluster.snapshot import Key

#: A place in a log: its partition, and the offset of a record.
Place = tuple[Key, int]
#: The youngest age that is told apart, in ms, and how much too old an age may be, as a part of it.
_LEAST, _INEXACT = 1000, 0.02
#: An age that is too young is tried this many times older: ten rounds reach twelve days.
_STRIDE = 4


def ages(
    places: Iterable[Place], now: int, ask: Callable[[Mapping[Key, int]], Mapping[Key, int | str | None]]
) -> dict[Place, int | None]:
    """Return the age in whole seconds of the record at each place, at least 1 and at most 2 % or 1 s too old.

    C(ask) gives for times (ms since 1970) by partition the first offset at or after it, None where no record is that
    young, and a text where it is unknown; C(now) is such a time too. None where an answer was unknown, and where
    records have no time (before KIP-32).
    """
    found: dict[Place, int | None] = {}
    # By place an age that is too young, and one that is old enough (None: not known yet), both in ms.
    open_: dict[Place, tuple[int, int | None]] = dict.fromkeys(set(places), (0, None))
    while open_:
        tried = {place: _next(bounds, now) for place, bounds in open_.items()}
        answers = _answers({place: now - age for place, age in tried.items()}, ask)
        for place, answer in answers.items():
            young, old = open_.pop(place)
            age = tried[place]
            if isinstance(answer, str):
                found[place] = None
                continue
            reached = answer is not None and answer <= place[1]
            young, old = (young, age) if reached else (age, old)
            if old is None and young >= now:
                found[place] = None
            elif old is not None and old - young <= max(_LEAST, old * _INEXACT):
                found[place] = -(-old // 1000)
            else:
                open_[place] = young, old
    return found


def _next(bounds: tuple[int, int | None], now: int) -> int:
    young, old = bounds
    return min(now, max(_LEAST, young * _STRIDE)) if old is None else (young + old) // 2


def _answers(
    times: Mapping[Place, int], ask: Callable[[Mapping[Key, int]], Mapping[Key, int | str | None]]
) -> dict[Place, int | str | None]:
    """Ask for all places; a request has one time for each partition, so places in the same one come in turns."""
    found: dict[Place, int | str | None] = {}
    for turn in _turns(times):
        answered = ask({key: times[key, offset] for key, offset in turn.items()})
        found |= {(key, offset): answered.get(key, "no answer") for key, offset in turn.items()}
    return found


def _turns(places: Iterable[Place]) -> Iterator[dict[Key, int]]:
    left = list(places)
    while left:
        turn: dict[Key, int] = {}
        later = []
        for key, offset in left:
            if key in turn:
                later.append((key, offset))
            else:
                turn[key] = offset
        yield turn
        left = later
