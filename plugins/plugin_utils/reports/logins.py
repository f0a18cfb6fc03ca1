# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""By which mechanisms clients log in at a cluster, for people: what its brokers have logged since they started."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...module_utils._core.names import capped

#: How many brokers a line names.
SHOWN = 5

Row = Mapping[str, Any]


def at_time(seconds: float) -> str:
    """Return a time in UTC for people; seconds -- since 1970."""
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(seconds))


def login_rows(looks: Mapping[str, Row]) -> list[dict[str, Any]]:
    """Return host, listener, mechanism, count, since and last for each mechanism that a running broker offers.

    looks -- by host what node_info returned. Only of listeners that offer several: of any other no log is needed. Count
    is None where the broker has no log. Since is when the first login there was counted, by whichever mechanism: before
    that nothing is known. It is None where none was, as last is of this mechanism; both are seconds since 1970.
    """
    return [row for host, look in looks.items() for row in _rows(host, look)]


def _rows(host: str, look: Row) -> Iterator[dict[str, Any]]:
    logins: Sequence[Row] | None = look.get("logins")
    for listener, mechanisms in (look.get("mechanisms") or {}).items():
        for mechanism in mechanisms if len(mechanisms) > 1 else ():
            there = [entry for entry in logins or () if str(entry["listener"]).lower() == listener]
            entry = next((entry for entry in there if entry["mechanism"] == mechanism), {"count": 0, "last": None})
            yield {
                "host": host,
                "listener": listener.upper(),
                "mechanism": mechanism,
                "count": None if logins is None else entry["count"],
                "since": min((entry["first"] for entry in there), default=None),
                "last": entry["last"],
            }


def login_lines(rows: Iterable[Row]) -> list[str]:
    """Return a line for each mechanism of each listener, over all brokers; rows -- as C(login_rows) returns them."""
    grouped: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        grouped.setdefault((row["listener"], row["mechanism"]), []).append(row)
    return [f"Logins       {listener} by {mechanism}: {_words(of)}" for (listener, mechanism), of in grouped.items()]


def _words(rows: Sequence[Row]) -> str:
    """Say how often a mechanism was chosen, on which brokers and there since when, and on which it is not known."""
    used = [row for row in rows if row["count"]]
    unknown = [row["host"] for row in rows if row["count"] is None]
    words = []
    if used:
        # Each broker counts from a time of its own: with one of them the sum would be one of no period.
        by_broker = [f"{row['host']} {row['count']} since {at_time(row['since'])}" for row in used]
        last = at_time(max(row["last"] for row in used))
        words.append(f"{sum(row['count'] for row in used)}, the last at {last} ({capped(by_broker, SHOWN)})")
    elif len(unknown) < len(rows):
        begins = [row["since"] for row in rows if row["count"] is not None]
        words.append("none counted yet" if None in begins else f"none since {at_time(max(begins))}")
    if unknown:
        words.append(f"not known on {capped(unknown, SHOWN)}")
    return "; ".join(words)
