# SPDX-License-Identifier: GPL-3.0-or-later
"""What DumpLogSegments printed of real logs (printed/), read back; and text of records that looks like the tool's."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._dump import printed
from ansible_collections.streamops.kafka.plugins.module_utils._dump.printed import Record, records

PRINTED = Path(__file__).with_name("printed")
FORGED = "a\n| offset: 99 CreateTime: 1 keySize: 1 valueSize: 1 sequence: -1 headerKeys: [] key: x payload: y\nend"


def read(name: str, is_decoded: bool, size: int = 65536) -> list[Record]:
    """The records of a file, which comes in chunks of this size."""
    data = (PRINTED / f"{name}.txt").read_bytes()
    return list(records((data[at : at + size] for at in range(0, len(data), size)), is_decoded))


@pytest.mark.parametrize("release", ["3.9.2", "4.3.1", "4.4.0"])
@pytest.mark.parametrize("size", [1, 7, 65536])
def test_records_of_users_are_read_as_they_were_written(release: str, size: int) -> None:
    found = read(f"{release}-orders", False, size)
    assert [one.offset for one in found[:7]] == [0, 1, 2, 3, 4, 5, 6]
    assert [(one.key, one.value) for one in found[:3]] == [(f"k{n}", f'{{"n": {n}}}') for n in range(3)]
    assert found[0].headers == ["trace", "source"]
    assert (found[3].key, found[3].value) == ("two\nlines payload: x", FORGED)
    assert (found[4].key, found[4].value, found[4].value_size) == ("gone", None, -1)
    assert (found[5].key, found[5].value) == (None, "no key")
    # Bytes that are no UTF-8.
    assert found[6].key == "\ufffd\ufffd\0b"
    assert found[6].value == "\ufffd\n\ufffd \ufffd"
    assert {one.path for one in found} == {found[0].path}


def test_transactions_and_their_markers_are_told() -> None:
    [sent] = read("4.3.1-orders", False)[7:]
    end = b"endTxnMarker: COMMIT coordinatorEpoch: 0"
    head = b"| offset: 8 CreateTime: 5 keySize: 4 valueSize: 6 sequence: -1 headerKeys: [] "
    [marker] = records([head + end + b"\n"], False)
    assert (sent.is_transactional, sent.value, sent.control) == (True, "in transaction", "")
    assert marker.control == end.decode()
    assert marker.key is None


def test_decoded_records_have_key_and_value() -> None:
    commit = read("4.3.1-offsets", True)[2]
    assert commit.key == '{"type":"1","data":{"group":"billing","topic":"orders","partition":1}}'
    assert commit.value is not None
    assert commit.value.startswith('{"version":"4","data":{"offset":3,')
    assert "pay-1" in str(read("4.3.1-transactions", True)[0].key)


def test_records_of_metadata_have_no_key_and_control_records_say_what_they_are() -> None:
    for name in ("3.9.2-snapshot", "4.3.1-metadata"):
        found = read(name, True)
        assert [one.key for one in found] == [None] * len(found)
        assert any('"USER_SCRAM_CREDENTIAL_RECORD"' in str(one.value) for one in found)
    assert found[0].control.startswith('LeaderChange: {"version":0,"leaderId":1')
    assert read("3.9.2-snapshot", True)[0].control.startswith("SnapshotHeader {")


def test_a_key_that_holds_what_parts_key_and_value_is_read_by_its_json() -> None:
    head = b"| offset: 1 CreateTime: 5 keySize: 9 valueSize: 9 sequence: -1 headerKeys: [] "
    line = head + b'key: {"group":"a payload: b"} payload: {}\n'
    [one] = records([line], True)
    assert (one.key, one.value) == ('{"group":"a payload: b"}', "{}")


def test_nothing_is_held_but_the_record_that_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []

    def endless() -> Iterator[bytes]:
        for number in range(10**9):
            taken.append(number)
            yield (
                b"| offset: %d CreateTime: 5 keySize: 1 valueSize: 1 sequence: -1 headerKeys: [] key: k payload: v\n"
                % number
            )

    found = records(endless(), False)
    assert [next(found).offset for _ in range(3)] == [0, 1, 2]
    assert len(taken) < 10
    monkeypatch.setattr(printed, "LONGEST", 100)
    with pytest.raises(printed.TooLongError):
        list(records([b"x" * 101], False))


def test_lines_that_are_none_of_a_record_are_passed_by() -> None:
    assert list(records([b"Log starting offset: 0\nFound 5 invalid bytes at the end of x.log\n"], False)) == []


def head(base: int, last: int, count: int) -> str:
    """What the tool prints of a batch."""
    return (
        f"baseOffset: {base} lastOffset: {last} count: {count} baseSequence: -1 lastSequence: -1 producerId: -1 "
        "producerEpoch: -1 partitionLeaderEpoch: 0 isTransactional: false isControl: false position: 0\n"
    )


def one(offset: int, headers: str = "") -> str:
    """What the tool prints of a record with one byte of key and of value."""
    start = f"| offset: {offset} CreateTime: 5 keySize: 1 valueSize: 1 sequence: -1"
    return f"{start} headerKeys: [{headers}] key: k payload: v\n"


@pytest.mark.parametrize(
    ("text", "offsets", "doubts"),
    [
        (head(5, 6, 2) + one(5) + one(6) + head(7, 7, 1) + one(7), [5, 6, 7], []),
        # One hides its record.
        (head(5, 6, 2) + one(5, "a\nb") + one(6) + head(7, 7, 1) + one(7), [6, 7], [(5, 6)]),
        (head(5, 5, 1) + one(5, "a\nb"), [], [(5, 5)]),
        # One has the text of a key and a value.
        (head(5, 5, 1) + one(5, "] key: x payload: y"), [5], [(5, 5)]),
        # One has the text of a record behind the batch, of one in it, and of a batch.
        (head(5, 5, 1) + one(5, "] key: k payload: v\n" + one(9)), [5], [(5, 5)]),
        (head(5, 6, 2) + one(5, "] key: k payload: v\n" + one(6)) + one(6), [5, 6], [(5, 6)]),
        (
            head(5, 5, 1) + one(5, "] key: k payload: v\n" + head(6, 6, 1) + one(6)) + head(6, 6, 1) + one(6),
            [5, 6, 6],
            [(6, 6), (6, 6)],
        ),
    ],
)
def test_a_line_end_in_the_name_of_a_header_is_told(text: str, offsets: list[int], doubts: list[object]) -> None:
    found: list[tuple[int, int]] = []
    assert [record.offset for record in records([text.encode()], False, found)] == offsets
    assert found == doubts


def test_of_what_the_tool_printed_of_real_logs_nothing_is_in_doubt() -> None:
    for path in PRINTED.glob("*.txt"):
        doubts: list[tuple[int, int]] = []
        if not path.stem.endswith("tree"):
            assert list(records([path.read_bytes()], not path.stem.endswith("orders"), doubts))
        assert doubts == [], path.name


def test_a_key_of_many_lookalikes_is_split_in_a_moment() -> None:
    parts = b" payload: " * 200_000
    start = b"| offset: 1 CreateTime: 5 keySize: 0 valueSize: 9 sequence: -1 headerKeys: [] key: "
    began = time.monotonic()
    list(records([start + b"x" + parts + b"\n"], False))
    assert time.monotonic() - began < 2
