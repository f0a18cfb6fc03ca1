# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The lines of a log that say why a process ended."""

from __future__ import annotations

import calendar
import os
import re
import time
import zlib
from collections.abc import Iterable

from .._core.properties import is_secret

# Read from the end of each file: more than any start writes after its first error.
TAIL_BYTES = 256 * 1024
# So much is searched for what a process must have said once: a mirror logs all properties of each task when it starts,
# and a client that reaches nobody some thousand lines a minute.
SAID_BYTES = 4 * 1024 * 1024
LIMIT = 20
WIDTH = 500

_TELLING = re.compile(
    r"\b(ERROR|FATAL)\b|Exception\b|^Caused by:|^Error: |^Error occurred|OutOfMemory|Unrecognized"
    # Clients warn of a login that a broker refuses, and go on trying (NetworkClient).
    r"|(failed|terminated during) authentication"
    # What Java throws besides exceptions, such as InternalError where a mapped file cannot be written: a full tmpfs.
    r"|^[\w.$]+Error(: |$)"
    # Java's own words before it runs anything, and those of its unified logging (JEP 158).
    r"|^Invalid (-X|maximum heap|initial heap)|\[error\]\["
    r"|Could not (create|find|open)|Address already in use|No space left|Too many open files"
)
_ASSIGNED = re.compile(r"([\w.-]+)\s*=")
# "RequestHeader(apiKey=VOTE, ...": to Kafka this is the kind of a request.
_REQUEST = re.compile(r"\(apiKey=([A-Z_]+|\d+),")
# What differs in lines of one form: quoted parts, words with a digit (times, numbers, offsets, most ids), ids of Kafka
# without one (Uuid: 22 characters of Base64), and hexadecimal ones.
_VARIES = re.compile(r"\"[^\"]*\"|'[^']*'|(?<!\S)\S*\d\S*|\b[\w-]{22}\b|\b[0-9a-f]{8,}\b")
_FRAME = re.compile(r"^\s+at |^\s+\.\.\. \d+ (more|common)")
# "[2026-11-21 01:03:54,986] ERROR" (Kafka's pattern, local time), "2026-11-21T01:03:54.98Z main ERROR" (log4j2's own).
_TIME = re.compile(r"^\[?(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)[.,]?\d*(Z?)")


def last_errors(paths: Iterable[str], since: float | None, limit: int = LIMIT) -> list[str]:
    """Return the last lines, at most `limit`, that tell of errors in these files since a time (seconds since 1970).

    A line without a time of its own belongs to the last one before it that has one. Files that cannot be read, or were
    not written since, give nothing. Frames of stack traces are left out, and a line is shown once.
    """
    found: list[str] = []
    for path in paths:
        text, changed = _tail(path)
        # A second of grace: start times are rounded, file systems too.
        if since is None or changed >= since - 1:
            found += telling_lines(text, since)
    once = list(dict.fromkeys(reversed(found)))
    return once[:limit][::-1]


def says(paths: Iterable[str], pattern: str, since: float | None) -> bool:
    """Tell whether a line in the last part of these files, written since then (seconds since 1970), has the pattern."""
    return bool(last_said(paths, pattern, since))


def last_said(paths: Iterable[str], pattern: str, since: float | None) -> list[str]:
    """Return of each of these files the last line since then (seconds since 1970) that has the pattern, if one has.

    A line without a time of its own belongs to the last one before it that has one.
    """
    found = [every_said([path], pattern, since) for path in paths]
    return [said[-1] for said in found if said]


def every_said(paths: Iterable[str], pattern: str, since: float | None) -> list[str]:
    """Return all lines that C(last_said) chooses from, in order."""
    wanted = re.compile(pattern)
    found = []
    for path in paths:
        lines = _tail(path, SAID_BYTES)[0].splitlines()
        recent, read = True, 0
        for number, line in enumerate(lines):
            if wanted.search(line):
                # Few lines have the pattern, so only times before these are read, from the nearest on.
                times = (_seconds(lines[before]) for before in range(number, read - 1, -1))
                at = next((time for time in times if time is not None), None)
                # A second of grace: start times are rounded.
                recent = recent if at is None or since is None else at >= since - 1
                read = number + 1
                found += [line] if recent else []
    return found


def forms(paths: Iterable[str], since: float | None) -> list[int]:
    """Return the forms of the lines in the last part of these files since then, each as a number that is its own.

    Lines have one form where they differ in times, numbers, ids and quoted parts only: a start writes ever new forms,
    and what is tried again and again writes the same. Errors and their stack traces are no sign that work goes on.
    """
    shapes: set[int] = set()
    for path in paths:
        text, changed = _tail(path)
        if since is not None and changed < since - 1:
            continue
        recent = True
        for line in text.splitlines():
            at = _seconds(line)
            if at is not None:
                # A second of grace: start times are rounded.
                recent = since is None or at >= since - 1
            if recent and line.strip() and not _FRAME.match(line) and not _TELLING.search(line):
                shapes.add(zlib.crc32(_VARIES.sub("", line[:WIDTH]).encode("utf-8", "replace")))
    return sorted(shapes)


def last_line(paths: Iterable[str], since: float | None) -> str:
    """Return the line that was written last to any of these files since then, as people may see it; empty without one.

    since -- seconds since 1970; a line without a time of its own belongs to the last one before it that has one.
    """
    newest: tuple[float, str] = (0.0, "")
    for path in paths:
        text, changed = _tail(path)
        lines = [line for line in text.splitlines() if line.strip() and not _FRAME.match(line)]
        times = (at for line in reversed(lines) if (at := _seconds(line)) is not None)
        at = next(times, changed)
        # A second of grace: start times are rounded.
        if lines and (since is None or at >= since - 1) and at >= newest[0]:
            newest = at, masked(lines[-1])
    return newest[1]


def telling_lines(text: str, since: float | None) -> list[str]:
    """Return the lines of a log text that tell of errors, each cut to a width, none from before `since`."""
    shown = []
    recent = True
    for line in text.splitlines():
        at = _seconds(line)
        if at is not None:
            recent = since is None or at >= since - 1
        if recent and not _FRAME.match(line) and _TELLING.search(line):
            shown.append(masked(line))
    return shown


def masked(line: str) -> str:
    """Return a line of a log as people may see it: cut to a width, and cut off where a secret is assigned."""
    # Kafka itself masks what it knows to be a password; a JAAS entry with a typing error it may quote in full.
    for assigned in _ASSIGNED.finditer(line):
        if is_secret(assigned.group(1)) and not _REQUEST.match(line, max(0, assigned.start(1) - 1)):
            return line[: assigned.end(1)][:WIDTH] + "=(not shown: may hold a secret)"
    return line.rstrip()[:WIDTH]


def _seconds(line: str) -> float | None:
    found = _TIME.match(line)
    if not found:
        return None
    try:
        parts = time.strptime(f"{found.group(1)} {found.group(2)}", "%Y-%m-%d %H:%M:%S")
    except ValueError:
        return None
    return calendar.timegm(parts) if found.group(3) else time.mktime(parts)


def _tail(path: str, length: int = TAIL_BYTES) -> tuple[str, float]:
    """Return (last part of a file, when it was last written); ("", 0) when it cannot be read."""
    try:
        with open(path, "rb") as file:
            state = os.fstat(file.fileno())
            start = max(0, state.st_size - length)
            file.seek(start)
            data = file.read()
    except OSError:
        return "", 0
    text = data.decode("utf-8", "replace")
    return (_from_a_time_on(text) if start else text), state.st_mtime


def _from_a_time_on(text: str) -> str:
    """The text from its first line with a time on: of what stands before nobody knows when it was written."""
    lines = text.splitlines(keepends=True)[1:]
    first = next((number for number, line in enumerate(lines) if _seconds(line) is not None), 0)
    return "".join(lines[first:])
