# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""How fast one run was, from looks at the ends of the copy's logs. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

#: A run that copied for a shorter time says nothing: a look comes four times a second.
LEAST_SECONDS = 2.0


class Look(NamedTuple):
    """When (seconds since 1970, by the clock of the control node) and how many records were in the copy."""

    at: float
    records: int


def rate_of(looks: Sequence[Look], expected: int, record_bytes: int) -> dict[str, Any]:
    """Return {records, seconds, first_at, last_at, bytes_per_second} from the first record to the last one seen.

    What was there at the first look with records does not count, since its time is not known. While some of the
    expected records are missing, time counts up to the last look: a task that failed, or a mirror that died, is no
    faster for that. bytes_per_second is None where the run copied for less than LEAST_SECONDS.
    """
    arrived = [look for look in looks if look.records]
    if not arrived:
        return {"records": 0, "seconds": 0.0, "first_at": None, "last_at": None, "bytes_per_second": None}
    first, last = arrived[0], arrived[-1]
    if last.records >= expected:
        last = next(look for look in arrived if look.records == last.records)
    seconds, records = last.at - first.at, last.records - first.records
    enough = seconds >= LEAST_SECONDS and records > 0
    return {
        "records": last.records,
        "seconds": round(seconds, 3),
        "first_at": first.at,
        "last_at": last.at,
        "bytes_per_second": round(records * record_bytes / seconds) if enough else None,
    }


def is_over(looks: Sequence[Look], records: int, run_seconds: float, start_seconds: float, now: float) -> bool:
    """Say whether a run has nothing more to show: all has arrived, or its time is over (by the clock of the looks)."""
    arrived = [look for look in looks if look.records]
    if not arrived:
        return bool(looks) and now - looks[0].at >= start_seconds
    return arrived[-1].records >= records or now - arrived[0].at >= run_seconds
