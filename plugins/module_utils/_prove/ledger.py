# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The ledger of a proof: what a writer was told about each record, one line each, in the order of its answers. Pure.

A record is known by its kind and its number. Those of one kind rise by one; which partition gets one follows from it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

#: Kinds of records: of the idempotent producer, and of the transactional one.
IDEMPOTENT, TRANSACTIONAL = "idempotent", "transactional"
KINDS = (IDEMPOTENT, TRANSACTIONAL)
#: Why a stream ended.
ASKED, TIME_OVER, RUN_ENDED, FAILED = "asked", "time_over", "run_ended", "failed"

_BEGUN, _ACKNOWLEDGED, _ABORTED, _ENDED = "*", "+", "-", "."


class Name(NamedTuple):
    """Which record it is."""

    kind: str
    number: int


class Place(NamedTuple):
    """Where a record was acknowledged, and when (seconds since 1970, on the clock of the writer)."""

    partition: int
    offset: int
    at: float


class Begun(NamedTuple):
    """Which proof a stream is of, when it began (seconds since 1970), and into how many partitions it writes."""

    proof: str
    at: float
    partitions: int


@dataclass
class Ledger:
    """What the writer was told.

    C(acknowledged): the records that must be read. C(aborted): those of aborted transactions, which must not be.
    A record in neither has an unknown fate (its answer never came), and may be there or not.
    C(begun): none where the stream has not begun to write. C(ended): why and when the stream ended, with what it says
    of it; none where its process was killed.
    """

    acknowledged: dict[Name, Place] = field(default_factory=dict)
    aborted: set[Name] = field(default_factory=set)
    ended: tuple[str, float, str] | None = None
    begun: Begun | None = None

    @property
    def partitions(self) -> int:
        """Into how many partitions the stream writes; 0 where it has not begun."""
        return self.begun.partitions if self.begun else 0


def value_of(run: str, name: Name) -> bytes:
    """Return what a record holds."""
    return f"{run} {name.kind} {name.number}".encode()


def name_of(run: str, value: bytes | None) -> Name | None:
    """Return which record a value is of; none of a record that this run did not write."""
    parts = (value or b"").decode(errors="replace").split(" ")
    if len(parts) != 3 or parts[0] != run or parts[1] not in KINDS or not parts[2].isdecimal():
        return None
    return Name(parts[1], int(parts[2]))


def begun_line(begun: Begun) -> str:
    """Return the first line of a stream."""
    return _line(_BEGUN, *begun)


def acknowledged_line(name: Name, place: Place) -> str:
    """Return the line of a record that was acknowledged; one of a transaction is when that was committed."""
    return _line(_ACKNOWLEDGED, *name, *place)


def aborted_line(name: Name) -> str:
    """Return the line of a record whose transaction was aborted."""
    return _line(_ABORTED, *name)


def ended_line(why: str, at: float, said: str = "") -> str:
    """Return the last line of a stream that ended by itself."""
    return _line(_ENDED, why, at, said)


def read_ledger(lines: Iterable[str]) -> Ledger:
    """Return the ledger in these lines; a last line that was cut by the end of its process counts for nothing."""
    ledger = Ledger()
    for line in lines:
        if not line.endswith("\n"):
            break
        what, *rest = json.loads(line)
        if what == _ACKNOWLEDGED:
            ledger.acknowledged[Name(*rest[:2])] = Place(*rest[2:])
        elif what == _ABORTED:
            ledger.aborted.add(Name(*rest))
        elif what == _BEGUN:
            ledger.begun = Begun(*rest)
        else:
            ledger.ended = (rest[0], rest[1], rest[2])
    return ledger


def acknowledged_by(ledger: Ledger) -> Mapping[str, int]:
    """Return how many records of each kind were acknowledged."""
    counts = dict.fromkeys(KINDS, 0)
    for name in ledger.acknowledged:
        counts[name.kind] += 1
    return counts


def last_times(ledger: Ledger, kind: str) -> dict[int, float]:
    """Return when each partition acknowledged its last record of a kind; one that never did is left out."""
    times: dict[int, float] = {}
    for name, place in ledger.acknowledged.items():
        if name.kind == kind:
            times[place.partition] = max(place.at, times.get(place.partition, place.at))
    return times


def silent_since(ledger: Ledger, at: float) -> dict[str, list[int]]:
    """Return by kind the partitions that acknowledged none of its records at C(at) or later; kinds without one are
    left out."""
    found = {}
    for kind in KINDS:
        last = last_times(ledger, kind)
        if silent := [one for one in range(ledger.partitions) if last.get(one, 0.0) < at]:
            found[kind] = silent
    return found


def _line(*fields: object) -> str:
    return json.dumps(fields, separators=(",", ":")) + "\n"
