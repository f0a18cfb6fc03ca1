"""Make what a read found into what a page and its JSON show: masked first, then decoded and cut. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_cells import visible
from page.records import bounds
from page.records.asked import ALL, COMMITTED, NEWEST, OFFSET, OLDEST, STARTS, TIME, Asked, iso_ms
from page.records.batches import Record, Skipped
from page.records.decoding import FORMS, HIDDEN, Shown, shown
from page.records.masking import HiddenError, Mask
from page.shown.sheet import Link

_HIDDEN_NOTE = "Hidden: fields to mask cannot be found in it, as it is no JSON object or list."
_START_WORDS = {NEWEST: "the newest", OLDEST: "the oldest", OFFSET: "an offset", TIME: "a time"}
_SHOW_WORDS = {"auto": "as it looks", "json": "JSON", "text": "text (UTF-8)", "hex": "hexadecimal"}
_ISOLATION_WORDS = {COMMITTED: "committed records", ALL: "also open and aborted transactions"}


@dataclass(frozen=True)
class ShownHeader:
    """A header of a record: its name as text, and its value."""

    name: str
    value: Shown


@dataclass(frozen=True)
class ShownRecord:
    """A record as readers get it: C(size) is that of key, value and headers in bytes, C(left_out) headers not shown."""

    partition: int
    offset: int
    timestamp: str | None
    timestamp_type: str
    size: int
    key: Shown
    value: Shown
    headers: Sequence[ShownHeader]
    left_out: int


def shown_record(one: Record, mask: Mask, form: str) -> ShownRecord:
    """Return a record as readers get it."""
    key, value = (_shown(data, mask, form, most) for data, most in ((one.key, bounds.KEY), (one.value, bounds.VALUE)))
    headers = []
    for name, data in one.headers[: bounds.HEADERS]:
        words = name.decode("utf-8", "replace")
        headers.append(ShownHeader(words[: bounds.HEADER], _header(words, data, mask, form)))
    return ShownRecord(
        one.partition,
        one.offset,
        None if one.timestamp is None else iso_ms(one.timestamp),
        one.timestamp_type,
        _size(one),
        key,
        value,
        headers,
        max(0, len(one.headers) - bounds.HEADERS),
    )


def _shown(data: bytes | None, mask: Mask, form: str, most: int) -> Shown:
    size = None if data is None else len(data)
    try:
        return shown(mask.value(data), size, form, most)
    except HiddenError:
        return Shown(HIDDEN, size=size, note=_HIDDEN_NOTE)


def _header(name: str, data: bytes | None, mask: Mask, form: str) -> Shown:
    size = None if data is None else len(data)
    try:
        return shown(mask.header(name, data), size, form, bounds.HEADER)
    except HiddenError:
        return Shown(HIDDEN, size=size, note=_HIDDEN_NOTE)


def _size(one: Record) -> int:
    inner = [one.key, one.value, *(part for header in one.headers for part in header)]
    return sum(len(part) for part in inner if part is not None)


def for_machines(records: Sequence[ShownRecord], skipped: Sequence[Skipped]) -> dict[str, Any]:
    """Return records for the JSON of the page: the same that the page shows, masked and cut as there."""
    return {"records": [asdict(one) for one in records], "not_read": [asdict(one) for one in skipped]}


def lines(text: str) -> str:
    """Return text with its lines, and all else that a screen does not show as escapes."""
    return "\n".join(visible(one.replace("\t", "    ")) for one in text.replace("\r\n", "\n").split("\n"))


def sizes(one: Shown) -> str:
    """Return how large a part is, and whether it is shown whole."""
    cut = ", cut here" if one.is_cut else ""
    return f"{one.size or 0:,} bytes{cut}"


def turns(own: str, asked: Asked, records: Sequence[Record]) -> list[Link]:
    """Return links to the records of one partition before and behind those that are shown, and to other forms."""
    found = []
    if asked.partition is not None and records:
        first, last = min(one.offset for one in records), max(one.offset for one in records)
        if first:
            before = max(0, first - bounds.RECORDS)
            found.append(Link("Earlier records", f"{own}{asked.query(start=OFFSET, offset=before, time=None)}"))
        found.append(Link("Later records", f"{own}{asked.query(start=OFFSET, offset=last + 1, time=None)}"))
    return found


def choices(asked: Asked) -> list[tuple[str, str, Sequence[tuple[str, str, bool]]]]:
    """Return the lists of the form: name, label, and values with their words and whether they are chosen."""
    return [
        ("from", "From", [(one, _START_WORDS[one], one == asked.start) for one in STARTS]),
        ("show", "Shown as", [(one, _SHOW_WORDS[one], one == asked.show) for one in FORMS]),
        ("isolation", "Of", [(one, words, one == asked.isolation) for one, words in _ISOLATION_WORDS.items()]),
    ]


def skipped_words(skipped: Sequence[Skipped]) -> list[str]:
    """Return sentences on batches that were not read."""
    said = [
        f"Partition {one.partition}, offsets {one.first:,} to {one.last:,}: the batch was not read, since {one.why}."
        for one in skipped[:10]
    ]
    return [*said, f"So it is with {len(skipped) - 10:,} more."] if len(skipped) > 10 else said


def ranges(records: Sequence[Record]) -> str:
    """Return which offsets were shown, for the log: that of each partition, of the first ten."""
    by_partition: dict[int, list[int]] = {}
    for one in records:
        by_partition.setdefault(one.partition, []).append(one.offset)
    parts = [f"{index}: {min(some)}-{max(some)}" for index, some in sorted(by_partition.items())]
    return ", ".join(parts[:10]) + (f" and {len(parts) - 10} more partitions" if len(parts) > 10 else "")


def facts(asked: Asked, partitions: int, records: int, masked: Collection[str]) -> list[tuple[str, str]]:
    """Return what the page says of the read over its records."""
    hidden = ", ".join(sorted(masked)) or "nothing"
    return [
        ("Records", f"{records:,}"),
        ("Partitions", f"{partitions:,}"),
        ("Read", asked.words),
        ("Masked", hidden),
    ]
