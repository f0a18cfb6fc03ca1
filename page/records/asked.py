"""Read which records a reader asks for. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any
from urllib.parse import parse_qsl, urlencode

from page.records import bounds
from page.records.decoding import AUTO, FORMS
from page.shown.wanted import HTML, JSON, LONGEST_QUERY, WrongQueryError

NEWEST, OLDEST, OFFSET, TIME = "newest", "oldest", "offset", "time"
STARTS = (NEWEST, OLDEST, OFFSET, TIME)
COMMITTED, ALL = "read_committed", "read_uncommitted"
#: The largest offset and partition there is (int64, int32).
_MOST_OFFSET, _MOST_PARTITION = 2**63 - 1, 2**31 - 1
#: Times that are read, in ms: what is below is one of a day in 1973 or a number of seconds, and the year 9999 the end.
_TIMES = (100_000_000_000, 253_402_300_799_000)
#: The years 2000 to 2099 in ms since 1970, which tell the unit of a number that is none of milliseconds.
_CENTURY = (946_684_800_000, 4_102_444_800_000)
#: Other units of times, and what makes milliseconds of them.
_UNITS = (("seconds", Fraction(1000)), ("microseconds", Fraction(1, 1000)), ("nanoseconds", Fraction(1, 1_000_000)))
#: Characters of a search.
LONGEST_SEARCH = 200
_DEFAULTS = {"from": NEWEST, "partition": "all", "show": AUTO, "isolation": COMMITTED, "format": HTML}


@dataclass(frozen=True)
class Asked:
    """Which records: where they begin, of which partition (None: all), how they are shown, and in which format.

    C(offset) and C(time) (ms since 1970) are set where they are the start. With C(search) more records are read, and
    those are shown whose key or value has this text in it.
    """

    start: str = NEWEST
    offset: int | None = None
    time: int | None = None
    partition: int | None = None
    show: str = AUTO
    isolation: str = COMMITTED
    form: str = HTML
    search: str = ""

    @property
    def most(self) -> int:
        """How many records are read at most."""
        return bounds.SEARCHED if self.search else bounds.RECORDS

    def query(self, **changed: Any) -> str:
        """Return the query of the same with some parts changed, without what is as by default."""
        one = replace(self, **changed)
        given = {
            "from": one.start,
            "offset": one.offset,
            "time": None if one.time is None else iso_ms(one.time),
            "partition": "all" if one.partition is None else str(one.partition),
            "show": one.show,
            "isolation": one.isolation,
            "search": one.search or None,
            "format": one.form,
        }
        found = {name: value for name, value in given.items() if value is not None and value != _DEFAULTS.get(name)}
        return f"?{urlencode(found, errors='replace')}" if found else ""

    @property
    def words(self) -> str:
        """The range for the log; never what is searched for, which may be what nobody is to write down."""
        start = {OFFSET: f"offset {self.offset}", TIME: f"time {iso_ms(self.time or 0)}"}.get(self.start, self.start)
        where = "all partitions" if self.partition is None else f"partition {self.partition}"
        searched = f", a search of at most {self.most:,} records" if self.search else ""
        return f"from {start} of {where}, {self.isolation}{searched}"


def asked_of(query: bytes) -> Asked:
    """Return what a query asks for; of a part that stands twice the last one counts. Raises WrongQueryError."""
    if len(query) > LONGEST_QUERY:
        raise WrongQueryError(f"The query has {len(query):,} bytes, at most {LONGEST_QUERY:,} are read. Shorten it.")
    try:
        pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True, max_num_fields=20)
    except ValueError:
        raise WrongQueryError("The query has more than 20 parts. Leave out those that no page has.") from None
    # A form sends its fields also where they are empty.
    given = {**_DEFAULTS, **{name: value.strip() for name, value in pairs if value.strip()}}
    start = _one(given, "from", STARTS)
    partition = None if given["partition"] == "all" else _number(given["partition"], "partition", _MOST_PARTITION)
    offset = time = None
    if start == OFFSET:
        if partition is None:
            raise WrongQueryError("An offset is one of a partition. Set partition to its number.")
        offset = _number(given.get("offset", ""), "offset", _MOST_OFFSET)
    if start == TIME:
        time = _time(given.get("time", ""))
    return Asked(
        start,
        offset,
        time,
        partition,
        _one(given, "show", FORMS),
        _one(given, "isolation", (COMMITTED, ALL)),
        _one(given, "format", (HTML, JSON)),
        _search(given.get("search", "")),
    )


def _search(text: str) -> str:
    if len(text) > LONGEST_SEARCH:
        raise WrongQueryError(f"The search has {len(text)} characters, at most {LONGEST_SEARCH} are read. Shorten it.")
    return text


def _one(given: dict[str, str], name: str, allowed: tuple[str, ...]) -> str:
    if given[name] not in allowed:
        raise WrongQueryError(f"{name} is none of {', '.join(allowed)}. Set one of them.")
    return given[name]


def _number(text: str, name: str, most: int) -> int:
    # isdecimal alone takes digits of all scripts.
    if not (text.isascii() and text.isdecimal() and len(text) <= 19 and int(text) <= most):
        raise WrongQueryError(f"{name} is no whole number from 0 to {most:,}. Correct it.")
    return int(text)


def _time(text: str) -> int:
    """Return a time in ms since 1970 out of such a number, or out of a text as 2026-11-24T06:00:00+01:00."""
    wrong = "time is no time as 2026-11-24T06:00:00Z, and no number of milliseconds since 1970. Correct it."
    if text.isascii() and text.isdecimal() and len(text) <= 19:
        found = int(text)
        wrong += _unit(found)
    else:
        try:
            when = datetime.fromisoformat(text)
        except ValueError:
            raise WrongQueryError(wrong) from None
        # The page tells all times in UTC.
        found = round((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() * 1000)
    if not _TIMES[0] <= found <= _TIMES[1]:
        raise WrongQueryError(wrong)
    return found


def _unit(number: int) -> str:
    """Return what a number would be that is one of another unit since 1970; empty where it is none of this century."""
    for unit, to_ms in _UNITS:
        milliseconds = int(number * to_ms)
        if _CENTURY[0] <= milliseconds < _CENTURY[1]:
            return f" It looks like {unit}; in milliseconds it is {milliseconds}, which is {iso_ms(milliseconds)}."
    return ""


def iso_ms(milliseconds: int) -> str:
    """Return a time in ms since 1970 as text, as 2026-11-24T06:00:00.123Z; the number where it is no date."""
    try:
        found = datetime.fromtimestamp(milliseconds // 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return f"{milliseconds} ms"
    return f"{found:%Y-%m-%dT%H:%M:%S}.{milliseconds % 1000:03}Z"
