# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Read what Kafka's tool DumpLogSegments prints, line by line as it comes. Pure.

A key or a value may have line ends, and lines that look like those of the tool. The sizes that the tool prints before
them say where they end. What is no UTF-8 is printed with U+FFFD, so its sizes are bounds only: it ends where they fit
and the next line is one of the tool.

Of the name of a header no size is printed, and it may hold anything: whole records, batches, files. So all has to fit:
files are those that the tool was given, a batch begins where the one before ends in its file, its records lie in it and
are as many as it says, and the last batch ends with its file. What does not fit is in doubt. So whoever wrote a batch
may show other records in its place, which could have been written as well, and hides no other batch unseen.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

_FILE = re.compile(rb"Dumping (?P<path>.+)\n?")
# Matched on text of records too, which anybody may write: each gap has a bound, or one line could take hours.
_BATCH = re.compile(
    rb"baseOffset: (?P<base>\d+) lastOffset: (?P<last>\d+) count: (?P<count>\d+) "
    rb".{0,400}?isTransactional: (?P<transactional>true|false) "
    rb"(?:.{0,200}?position: (?P<position>\d+) .{0,100}?size: (?P<size>\d+) magic: )?"
)
#: What else the tool says of a file.
_OF_FILE = re.compile(rb"Log starting offset: \d+\n?|Found \d+ invalid bytes at the end of [^\]]*")
_TIMES = rb"(?P<kind>CreateTime|LogAppendTime|NoTimestampType): (?P<time>-?\d+)"
_RECORD = re.compile(
    rb"\| offset: (?P<offset>\d+) " + _TIMES + rb" keySize: (?P<key>-?\d+) valueSize: (?P<value>-?\d+)"
    rb"(?: sequence: -?\d+ headerKeys: \[(?P<headers>.*?)\])?"
    rb"(?P<rest>(?: isValid: .*?)?(?: (?:key|payload|endTxnMarker|controlType): .*| [A-Z]\w+:? \{.*|))",
    re.DOTALL,
)
_OF_TOOL = re.compile(
    rb"\| offset: \d+ (CreateTime|LogAppendTime|NoTimestampType): |baseOffset: \d+ lastOffset: |Dumping /"
)
_KEY, _PAYLOAD, _UNKNOWN = b" key: ", b" payload: ", b"\xef\xbf\xbd"
#: Bytes of one record, above which nothing more is read: the tool would need as much again.
LONGEST = 64 * 2**20


class TooLongError(ValueError):
    """A record that is longer than what this reads."""


@dataclass
class Record:
    """A record as the tool printed it. C(path) is the file, C(time) in ms since 1970; C(control) is of a marker."""

    path: str
    offset: int
    time_type: str
    time: int
    key_size: int
    value_size: int
    headers: list[str] = field(default_factory=list)
    is_transactional: bool = False
    key: str | None = None
    value: str | None = None
    control: str = ""


@dataclass(frozen=True)
class Given:
    """What the tool was given: C(files) are their sizes by path; C(is_cut) is asked at the end whether it was ended."""

    files: Mapping[str, int]
    is_cut: Callable[[], bool]


@dataclass
class _Batch:
    """The batch that is read: what its head says, and up to which offset its records were read.

    C(begin) and C(end) are its place in its file, -1 where the head does not say it.
    """

    base: int
    last: int
    count: int
    transactional: bool = False
    begin: int = -1
    end: int = -1
    seen: int = 0
    before: int = -1
    is_doubtful: bool = False

    def holds(self, offset: int) -> bool:
        """Return whether a record at this offset can be its next one; what cannot be is in doubt."""
        is_next = max(self.base, self.before + 1) <= offset <= self.last
        if is_next:
            self.seen, self.before = self.seen + 1, offset
        self.is_doubtful |= not is_next
        return is_next

    def absorbs(self, line: bytes) -> None:
        """Take note of a line that became the text of a record: the head of this batch, or of the next one, is none."""
        head = _BATCH.match(line) if self.begin >= 0 else None
        if head and head["position"] and int(head["position"]) in (self.begin, self.end):
            self.is_doubtful = True


def records(
    chunks: Iterable[bytes],
    is_decoded: bool,
    doubts: list[tuple[int, int]] | None = None,
    given: Given | None = None,
) -> Iterator[Record]:
    """Read the records in what the tool prints; C(is_decoded): a decoder wrote each on one line.

    doubts -- takes the first and the last offset of each batch whose records cannot be told apart for sure. given --
    what is printed is compared with; without it any file is one, of any size.
    """
    path = ""
    left = dict(given.files) if given else None
    batch: _Batch | None = None
    open_one: _Open | None = None
    for line in lines(chunks):
        if open_one is not None and not open_one.is_whole(line):
            open_one.add(line)
            if batch is not None:
                batch.absorbs(line)
            continue
        if open_one is not None:
            if batch is not None:
                batch.is_doubtful |= open_one.is_too_long
            yield open_one.closed()
            open_one = None
        if found := _RECORD.fullmatch(line.removesuffix(b"\n")):
            if batch is None or batch.holds(int(found["offset"])):
                one = _record(found, path, batch is not None and batch.transactional)
                open_one = _Open(one, found["rest"], is_decoded)
        elif head := _BATCH.match(line):
            batch = _following(batch, head, doubts)
        elif (file := _FILE.fullmatch(line)) and (left is None or _text(file["path"]) in left):
            _end_file(batch, doubts, given, path)
            path, batch = _text(file["path"]), None
            if left is not None:
                del left[path]
        elif batch is not None and _is_doubtful(line, is_decoded):
            batch.is_doubtful = True
    if open_one is not None:
        if batch is not None:
            batch.is_doubtful |= open_one.is_too_long
        yield open_one.closed()
    # The tool may have been ended within it, so it may have fewer.
    if given is None or given.is_cut():
        _end(batch, doubts, is_cut=True)
    else:
        _end_file(batch, doubts, given, path)


def _following(batch: _Batch | None, head: re.Match[bytes], doubts: list[tuple[int, int]] | None) -> _Batch:
    """End a batch, and return the next one; what does not follow the one before was not written by the tool."""
    found = _Batch(int(head["base"]), int(head["last"]), int(head["count"]), head["transactional"] == b"true")
    if head["position"]:
        found.begin = int(head["position"])
        found.end = found.begin + int(head["size"])
    if batch is not None:
        found.is_doubtful = found.base <= batch.last
        if batch.end >= 0 and found.begin != batch.end:
            found.is_doubtful = batch.is_doubtful = True
    _end(batch, doubts)
    return found


def _end_file(batch: _Batch | None, doubts: list[tuple[int, int]] | None, given: Given | None, path: str) -> None:
    """End the last batch of a file, which ends with the file."""
    if batch is not None and given is not None and batch.end >= 0:
        batch.is_doubtful |= batch.end != given.files.get(path, batch.end)
    _end(batch, doubts)


def _end(batch: _Batch | None, doubts: list[tuple[int, int]] | None, is_cut: bool = False) -> None:
    if batch is None or doubts is None:
        return
    if batch.is_doubtful or batch.seen > batch.count or (batch.seen < batch.count and not is_cut):
        doubts.append((batch.base, batch.last))


def _is_doubtful(line: bytes, is_decoded: bool) -> bool:
    """Return whether a line within a batch may be a part of a record whose first line was not known for one."""
    if is_decoded:
        return line.startswith(b"| offset: ")
    return not _OF_FILE.fullmatch(line)


def lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Split what comes into lines with their ends; TooLongError where one does not end."""
    rest = b""
    for chunk in chunks:
        *whole, last = chunk.split(b"\n")
        for one in whole:
            yield rest + one + b"\n"
            rest = b""
        rest += last
        if len(rest) > LONGEST:
            raise TooLongError
    if rest:
        yield rest


def _record(found: re.Match[bytes], path: str, transactional: bool) -> Record:
    headers = _text(found["headers"] or b"")
    return Record(
        path,
        int(found["offset"]),
        _text(found["kind"]),
        int(found["time"]),
        int(found["key"]),
        int(found["value"]),
        headers.split(",") if headers else [],
        transactional,
    )


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


class _Open:
    """A record whose text may go on in the next line."""

    def __init__(self, record: Record, rest: bytes, is_decoded: bool) -> None:
        """C(rest) -- what stands on its first line behind the headers, without the line's end."""
        self._record, self._is_decoded = record, is_decoded
        self._parts, self._size = [rest], len(rest)
        self._is_text = not is_decoded and rest.startswith((_KEY, _PAYLOAD))
        self._least = sum(
            len(name) + size for name, size in ((_KEY, record.key_size), (_PAYLOAD, record.value_size)) if size >= 0
        )
        self._unknown = rest.count(_UNKNOWN)

    @property
    def is_too_long(self) -> bool:
        """Return whether it has more text than its sizes allow: then a part of it is the name of a header."""
        return self._is_text and self._size - 2 * self._unknown > self._least

    def is_whole(self, following: bytes) -> bool:
        """Return whether nothing of it follows. Printed text is never shorter than what it was made of."""
        if not self._is_text:
            return True
        if self._size < self._least:
            return False
        return not self._unknown or bool(_OF_TOOL.match(following))

    def add(self, line: bytes) -> None:
        """Take the next line as a part of it, behind the end of the line before."""
        text = b"\n" + line.removesuffix(b"\n")
        self._parts.append(text)
        self._size += len(text)
        self._unknown += text.count(_UNKNOWN)
        if self._size > LONGEST:
            raise TooLongError

    def closed(self) -> Record:
        """Return the record with its key and its value."""
        text, record = b"".join(self._parts), self._record
        if not text.startswith((_KEY, _PAYLOAD)):
            record.control = _text(text).strip()
            return record
        key, value = self._decoded(text) if self._is_decoded else self._split(text)
        record.key = None if key is None else _text(key)
        record.value = None if value is None else _text(value)
        return record

    def _split(self, text: bytes) -> tuple[bytes | None, bytes | None]:
        if self._record.key_size < 0 or not text.startswith(_KEY):
            return None, text[len(_PAYLOAD) :] if text.startswith(_PAYLOAD) else None
        text = text[len(_KEY) :]
        if self._record.value_size < 0:
            return text, None
        size = self._record.key_size
        at = text.find(_PAYLOAD, size)
        # What is printed for an unknown byte has two more; where these do not reach, they reach no later one either.
        is_there = at >= 0 and at - 2 * text.count(_UNKNOWN, 0, at) <= size
        return (text, None) if not is_there else (text[:at], text[at + len(_PAYLOAD) :])

    @staticmethod
    def _decoded(text: bytes) -> tuple[bytes | None, bytes | None]:
        if text.startswith(_PAYLOAD):
            return None, text[len(_PAYLOAD) :]
        text = text[len(_KEY) :]
        at = text.find(_PAYLOAD)
        while at >= 0 and text.startswith(b"{") and not _is_json(text[:at]):
            at = text.find(_PAYLOAD, at + 1)
        return (text, None) if at < 0 else (text[:at], text[at + len(_PAYLOAD) :])


def _is_json(text: bytes) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
