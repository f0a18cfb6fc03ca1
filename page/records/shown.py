"""Make what a read found into what a page and its JSON show: masked first, then decoded and cut. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.names import capped
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_cells import visible
from page.records import bounds
from page.records.asked import ALL, COMMITTED, NEWEST, OFFSET, OLDEST, STARTS, TIME, Asked, iso_ms
from page.records.batches import Record, Skipped
from page.records.decoding import FORMS, HIDDEN, Shown, shown
from page.records.masking import HiddenError, Mask
from page.records.trees import NoTreeError, compact, tree_of
from page.shown.sheet import Link

#: Characters of a part that its line in the table has.
_PREVIEW = 240
_HIDDEN_NOTE = "Hidden: fields to mask cannot be found in it, as it is no JSON object or list."
_NOT_LOOKED_AT = "Hidden: it, or what is before it on this page, is too much to look for fields to mask in it."
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
    """A record as readers get it: C(size) is in bytes, C(left_out) headers are not shown."""

    partition: int
    offset: int
    timestamp: str | None
    timestamp_type: str
    size: int
    key: Shown
    value: Shown
    headers: Sequence[ShownHeader]
    left_out: int


@dataclass
class Room:
    """How many bytes of an answer may still be looked at as JSON."""

    left: int = bounds.ALL_JSON

    def takes(self, data: bytes | None) -> bool:
        """Return whether there is room for this, and take it."""
        size = len(data or b"")
        if size > min(self.left, bounds.JSON):
            return False
        self.left -= size
        return True


def shown_records(records: Iterable[Record], mask: Mask, form: str) -> list[ShownRecord]:
    """Return records as readers get them."""
    room = Room()
    return [_record(one, mask, form, room) for one in records]


def matching(records: Iterable[Record], mask: Mask, search: str) -> tuple[list[Record], int]:
    """Return the records whose key or value has a text in it, in any case, and of how many others one is hidden.

    Only what readers may see is looked at: masked fields, and what is hidden for them, match nothing, so no search can
    tell what is in them.
    """
    room, wanted = Room(), search.casefold()
    some, unseen = [], 0
    for record in records:
        texts = [_searched(data, mask, room) for data in (record.key, record.value)]
        if any(wanted in text for text in texts if text):
            some.append(record)
        else:
            unseen += None in texts
    return some, unseen


def _searched(data: bytes | None, mask: Mask, room: Room) -> str | None:
    """Return what a search looks at of a key or a value; None where it is hidden.

    JSON may write a letter as an escape, as many producers do with all that is not ASCII: it is looked at with the
    letter too, as far as there is room.
    """
    is_escaped = b"\\" in (data or b"")
    may_parse = room.takes(data) if mask.names or is_escaped else False
    try:
        text = (mask.value(data, may_parse) or b"").decode("utf-8", "replace")
    except HiddenError:
        return None
    # With masked fields it was written anew, and has no escapes of letters any more.
    if is_escaped and may_parse and not mask.names:
        with suppress(NoTreeError):
            text = f"{text}\n{compact(tree_of(text))}"
    return text.casefold()


def _record(one: Record, mask: Mask, form: str, room: Room) -> ShownRecord:
    parts = ((one.key, bounds.KEY), (one.value, bounds.VALUE))
    key, value = (_part(data, mask.value, form, most, room) for data, most in parts)
    headers = []
    for name, data in one.headers:
        words = name.decode("utf-8", "replace")
        shown_value = _part(data, partial(mask.header, words), form, bounds.HEADER, room)
        headers.append(ShownHeader(words[: bounds.HEADER], shown_value))
    return ShownRecord(
        one.partition,
        one.offset,
        None if one.timestamp is None else iso_ms(one.timestamp),
        one.timestamp_type,
        one.size,
        key,
        value,
        headers,
        max(0, one.header_count - len(headers)),
    )


def _part(
    data: bytes | None, masked: Callable[[bytes | None, bool], bytes | None], form: str, most: int, room: Room
) -> Shown:
    size, may_parse = None if data is None else len(data), room.takes(data)
    try:
        return shown(masked(data, may_parse), size, form, most, may_parse)
    except HiddenError:
        return Shown(HIDDEN, size=size, note=_HIDDEN_NOTE if may_parse else _NOT_LOOKED_AT)


def for_machines(records: Sequence[ShownRecord], skipped: Sequence[Skipped]) -> dict[str, Any]:
    """Return records for the JSON of the page: the same that the page shows, masked and cut as there."""
    return {"records": [asdict(one) for one in records], "not_read": [asdict(one) for one in skipped]}


def lines(text: str) -> str:
    """Return text with its lines, and all else that a screen does not show as escapes."""
    return "\n".join(visible(one.replace("\t", "    ")) for one in text.replace("\r\n", "\n").split("\n"))


def one_line(one: Shown) -> str:
    """Return the beginning of a part in one line, or what stands in place of it."""
    text = " ".join(one.text[:_PREVIEW].split())
    return text + (" ..." if len(one.text) > _PREVIEW else "") if text else one.form


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
            before = max(0, first - asked.most)
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
    return capped(parts, 10)


def facts(asked: Asked, partitions: int, records: int, masked: Collection[str], searched: int) -> list[tuple[str, str]]:
    """Return what the page says of the read over its records; C(searched) is how many a search looked through."""
    hidden = ", ".join(sorted(masked)) or "nothing"
    return [
        ("Records", f"{records:,}" + (f" of {searched:,} that were searched" if asked.search else "")),
        ("Partitions", f"{partitions:,}"),
        ("Read", asked.words),
        ("Masked", hidden),
    ]
