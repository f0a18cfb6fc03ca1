"""Records out of batches as a broker sends them: from the middle, cut, of aborted transactions, broken."""

from __future__ import annotations

import random
import struct
from typing import Any

import pytest
from kafka.record.default_records import DefaultRecordBatchBuilder
from kafka.record.legacy_records import LegacyRecordBatchBuilder

from page.records import bounds
from page.records.batches import APPENDED, CREATED, Part, Wanted, part_of

MOST = 1 << 20
CHANCE = random.Random(11)


def batch(base: int, values: list[bytes | None], codec: int = 0, producer: int = -1, **more: Any) -> bytes:
    """A batch as a producer makes it, with the offset that a leader gives it."""
    is_transactional = producer >= 0
    builder = DefaultRecordBatchBuilder(2, codec, is_transactional, producer, 0, 0 if is_transactional else -1, 1 << 20)
    for at, value in enumerate(values):
        assert builder.append(at, 1000 + at, b"k", value, [("h", b"v"), ("n", None)])
    made = bytearray(builder.build())
    struct.pack_into(">q", made, 0, base)
    for place, form, number in more.get("patches", ()):
        struct.pack_into(form, made, place, number)
    return bytes(made)


def marker(offset: int, producer: int, commits: bool) -> bytes:
    """The end of a transaction: a control batch of one record."""
    key = struct.pack(">hh", 0, int(commits))
    record = b"\0\0\0" + bytes([len(key) * 2]) + key + b"\1" + b"\0"
    body = bytes([len(record) * 2]) + record
    head = struct.pack(">qiibIhiqqqhii", offset, 49 + len(body), 0, 2, 0, 0x30, 0, 5, 5, producer, 0, -1, 1)
    return head + body


def part(data: bytes, start: int = 0, end: int = 1000, aborted: Any = (), count: int = 1000, **more: Any) -> Part:
    return part_of(data, aborted, Wanted(3, start, end, count, more.get("most", MOST), more.get("is_last", False)))


def offsets(data: bytes, start: int = 0, end: int = 1000, aborted: Any = ()) -> list[int]:
    return [one.offset for one in part(data, start, end, aborted).records]


@pytest.mark.parametrize("codec", [0, 1, 2, 3])
def test_a_record_has_all_that_was_written(codec: int) -> None:
    found = part(batch(40, [b"a", None, b""], codec))
    assert [(one.offset, one.value) for one in found.records] == [(40, b"a"), (41, None), (42, b"")]
    (first, *_more) = found.records
    assert (first.partition, first.timestamp, first.timestamp_type, first.key) == (3, 1000, CREATED, b"k")
    assert first.headers == ((b"h", b"v"), (b"n", None))
    assert (found.next, found.skipped) == (43, [])
    assert "value" not in repr(first)


def test_the_time_of_the_broker_is_that_of_the_batch() -> None:
    found = part(batch(0, [b"a", b"b"], patches=[(21, ">h", 0x08), (35, ">q", 7777)]))
    assert {(one.timestamp, one.timestamp_type) for one in found.records} == {(7777, APPENDED)}


def test_only_what_was_asked_for_comes_out_of_whole_batches() -> None:
    data = batch(10, [b"v"] * 10) + batch(30, [b"v"] * 10) + batch(40, [b"v"] * 10)[:-3]
    found = part(data, 15, 35)
    assert [one.offset for one in found.records] == [*range(15, 20), *range(30, 35)]
    assert found.next == 40
    assert part(data[:30]).next is None
    assert part(b"").next is None


def test_records_of_aborted_transactions_and_markers_are_none() -> None:
    data = (
        batch(0, [b"a"], producer=7) + batch(1, [b"b"], producer=8) + batch(2, [b"plain"])
        + batch(3, [b"a"], producer=7) + marker(4, 7, commits=False) + batch(5, [b"again"], producer=7)
        + marker(6, 8, commits=True)
        + marker(7, 7, commits=True) + batch(8, [b"a"], producer=7) + marker(9, 7, commits=False)
    )  # fmt: skip
    assert offsets(data, aborted=[(7, 8), (7, 0)]) == [1, 2, 5]
    assert offsets(data) == [0, 1, 2, 3, 5, 8]
    # A transaction that began before what was sent.
    assert offsets(data, aborted=[(8, -50)]) == [0, 2, 3, 5, 8]
    assert part(data).next == 10


def test_what_cannot_be_read_is_named_and_all_else_is_read() -> None:
    legacy = LegacyRecordBatchBuilder(1, 0, 1000)
    legacy.append(1, 1000, b"k", b"v")
    broken = batch(3, [b"v"] * 3)
    data = (
        large(0) + bytes(legacy.build()) + batch(2, [b"v"], patches=[(21, ">h", 4)]) + broken[:-1] + b"\xff"
        + batch(60, [b"v"])
    )  # fmt: skip
    found = part(data, most=bounds.UNPACKED)
    assert [one.offset for one in found.records] == [60]
    assert [(one.first, one.last, one.why.split(",")[0]) for one in found.skipped] == [
        (0, 0, "it has more than the 16"),
        (1, 1, "it has the format 1 of brokers before Kafka 0.11"),
        (2, 2, "it is not compressed as it says"),
        (3, 5, "its records are not written as the protocol says"),
    ]


def large(base: int) -> bytes:
    """A batch that has more bytes than one read may make, and few as it is sent."""
    builder = DefaultRecordBatchBuilder(2, 1, False, -1, 0, -1, 1 << 26)
    assert builder.append(0, 1000, b"k", b"v" * (bounds.UNPACKED + 1), [])
    made = bytearray(builder.build())
    struct.pack_into(">q", made, 0, base)
    return bytes(made)


def test_behind_a_batch_that_has_no_room_any_more_nothing_is_read() -> None:
    data = batch(0, [b"v" * 1000] * 3, codec=1) + batch(3, [b"v" * 1000] * 3, codec=1) + batch(6, [b"v"])
    for is_last in (False, True):
        found = part(data, most=5000, is_last=is_last)
        assert [one.offset for one in found.records] == [0, 1, 2]
        assert (found.next, found.is_full, found.skipped) == (3, True, [])


def test_batches_that_are_too_large_count_as_well() -> None:
    found = part(large(0) + large(1) + batch(2, [b"v"]), most=bounds.UNPACKED)
    assert [(one.first, one.last) for one in found.skipped] == [(0, 0)]
    assert (found.next, found.is_full, found.records) == (1, True, [])
    assert found.unpacked == bounds.UNPACKED // 4


def test_bytes_at_random_break_nothing() -> None:
    good = batch(0, [b"v" * 20] * 5) + batch(5, [b"w"] * 3, codec=3) + marker(8, 7, commits=False)
    for _one in range(5_000):
        bad = bytearray(good)
        for _change in range(CHANCE.randrange(1, 8)):
            bad[CHANCE.randrange(len(bad))] = CHANCE.randrange(256)
        found = part(bytes(bad), 0, 99, [(7, 0)], most=10_000)
        assert len(found.records) <= 200
        assert all(0 <= one.offset < 99 for one in found.records)


def test_no_more_records_are_made_than_are_wanted() -> None:
    data = batch(0, [b"v"] * 500) + batch(500, [b"v"] * 500)
    first = part(data, 10, count=20)
    assert ([one.offset for one in first.records], first.next) == ([*range(10, 30)], 30)
    last = part(data, 10, 700, count=20, is_last=True)
    assert ([one.offset for one in last.records], last.next) == ([*range(680, 700)], 1000)


def test_of_a_million_headers_some_are_read_and_all_are_counted() -> None:
    plain = DefaultRecordBatchBuilder(2, 0, False, -1, -1, -1, 1 << 24)
    assert plain.append(0, 1000, b"k", b"v", [("", b"")] * 300_000)
    assert plain.append(1, 1000, b"k", b"w", [])
    one, other = part(bytes(plain.build())).records
    assert (len(one.headers), one.header_count, other.value, other.header_count) == (30, 300_000, b"w", 0)
    assert one.size > 600_000
