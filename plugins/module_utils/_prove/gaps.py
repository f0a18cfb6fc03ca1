# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The times without an acknowledged record, and which node was restarting then. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from .ledger import IDEMPOTENT, TRANSACTIONAL, Ledger


class Restart(NamedTuple):
    """A restart of a node: when it was stopped, when it listened again, when it was in sync (seconds since 1970)."""

    host: str
    stopped: float
    listening: float
    in_sync: float


class Gap(NamedTuple):
    """The longest time of a partition without an acknowledged record, and who was restarting in it."""

    partition: int
    seconds: float
    begin: float
    hosts: tuple[str, ...]


def longest_gaps(ledger: Ledger, restarts: Sequence[Restart]) -> list[Gap]:
    """Return the longest gap of each partition, by partition, from the records of the idempotent producer.

    One lasts to the end of the stream where nothing was acknowledged after it, and from its begin to its end where
    nothing was at all.
    """
    times: dict[int, list[float]] = {one: [] for one in range(ledger.partitions)}
    for name, place in ledger.acknowledged.items():
        if name.kind == IDEMPOTENT:
            times.setdefault(place.partition, []).append(place.at)
    found = ((partition, _longest(_to_the_end(ledger, some))) for partition, some in sorted(times.items()))
    return [Gap(at, long, begin, restarting(begin, begin + long, restarts)) for at, (long, begin) in found]


def longest_commit_gap(ledger: Ledger, restarts: Sequence[Restart]) -> Gap | None:
    """Return the longest time between two commits, which are of all partitions (-1); none without a commit."""
    times = {place.at for name, place in ledger.acknowledged.items() if name.kind == TRANSACTIONAL}
    if not times:
        return None
    long, begin = _longest(_to_the_end(ledger, times))
    return Gap(-1, long, begin, restarting(begin, begin + long, restarts))


def restarting(begin: float, end: float, restarts: Sequence[Restart]) -> tuple[str, ...]:
    """Return the nodes that were stopped or not yet in sync at some time between these."""
    return tuple(one.host for one in restarts if one.stopped <= end and begin <= one.in_sync)


def _to_the_end(ledger: Ledger, times: Collection[float]) -> list[float]:
    """Return the times of records with the end of the stream, where none came at it or later."""
    begun = [] if times or not ledger.begun else [ledger.begun.at]
    ended = [ledger.ended[1]] if ledger.ended and ledger.ended[1] > max(times, default=0.0) else []
    return [*begun, *times, *ended]


def _longest(times: Iterable[float]) -> tuple[float, float]:
    """Return the longest time between two neighbours, and the first of them."""
    ordered = sorted(times)
    gaps = ((ordered[at] - ordered[at - 1], ordered[at - 1]) for at in range(1, len(ordered)))
    return max(gaps, default=(0.0, ordered[0] if ordered else 0.0))
