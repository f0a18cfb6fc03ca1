# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Times of records as users write them, and as people read them: in UTC, without any clock. Pure.

Modules run on hosts with any Python, whose datetime.fromisoformat reads less the older it is. So all of them read times
here.
"""

from __future__ import annotations

import calendar
import re

#: Milliseconds of 1973: what is below is a time in seconds, since no record is so old.
_FIRST_MS = 10**11
#: Milliseconds of the year 10000, which has no text of four digits.
_LAST_MS = 253_402_300_800_000
_TEXT = re.compile(
    r"(\d{4})-?(\d\d)-?(\d\d)[Tt ](\d\d)(?::?(\d\d)(?::?(\d\d)(?:[.,](\d{1,9}))?)?)?"
    r"(?P<zone>[Zz]|[+-]\d\d(?::?\d\d)?)?",
    re.ASCII,
)
_DAY = 86_400


class UnclearTimeError(ValueError):
    """A text that is no time; the message names its option and says how to write one."""


def milliseconds(text: str, name: str) -> int:
    """Return the milliseconds since 1970 of a time; UnclearTimeError, which begins with C(name), for anything else."""
    text = text.strip()
    if text.isascii() and text.isdigit() and len(text) < 17:
        wanted = int(text)
        if 0 < wanted < _FIRST_MS:
            raise UnclearTimeError(
                f"{name}: {text} in ms is {_second(wanted)}, before any record; "
                f"in seconds it is {_second(wanted * 1000)}. "
                f"Write {text}000 for that, or the time as text, with its zone."
            )
        return wanted
    found = _TEXT.fullmatch(text)
    seconds = None if found is None else _seconds(found)
    if found is None or seconds is None:
        raise UnclearTimeError(f"{name}: {text!r} is neither ms since 1970 nor a time as 2026-11-24T06:00:00+01:00.")
    if not found["zone"]:
        raise UnclearTimeError(f"{name}: {text} has no time zone. Add one, as in {text}Z or {text}+01:00.")
    return seconds * 1000 + int((found[7] or "0").ljust(3, "0")[:3])


def _seconds(found: re.Match[str]) -> int | None:
    """Return the seconds since 1970; None for a day or an hour that is none."""
    year, month, day, hour, minute, second = (int(one or 0) for one in found.groups()[:6])
    if not (year and 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]):
        return None
    if hour > 23 or minute > 59 or second > 59:
        return None
    digits = re.sub("[^0-9]", "", found["zone"] or "").ljust(4, "0")
    hours, minutes = int(digits[:2]), int(digits[2:])
    if hours > 23 or minutes > 59:
        return None
    offset = (hours * 60 + minutes) * 60
    sign = -1 if (found["zone"] or "").startswith("-") else 1
    return calendar.timegm((year, month, day, hour, minute, second)) - sign * offset


def iso(time: int) -> str | None:
    """Return a time (ms since 1970) in UTC with its milliseconds; None for none, and for one far from ours."""
    if not 0 <= time < _LAST_MS:
        return None
    seconds, rest = divmod(time, 1000)
    days, clock = divmod(seconds, _DAY)
    year = 1970 + days // 366
    while days >= _days_before(year + 1):
        year += 1
    day = days - _days_before(year)
    month = 1
    while day >= calendar.monthrange(year, month)[1]:
        day -= calendar.monthrange(year, month)[1]
        month += 1
    hour, minute, second = clock // 3600, clock // 60 % 60, clock % 60
    return f"{year:04d}-{month:02d}-{day + 1:02d}T{hour:02d}:{minute:02d}:{second:02d}.{rest:03d}Z"


def _second(time: int) -> str:
    """Return a time in UTC, to the second."""
    text = iso(time)
    return str(time) if text is None else f"{text[:-5]}Z"


def _days_before(year: int) -> int:
    """Return the days from 1970 to the begin of a year."""
    return 365 * (year - 1970) + calendar.leapdays(1970, year)
