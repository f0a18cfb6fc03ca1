# SPDX-License-Identifier: GPL-3.0-or-later
"""What DumpLogSegments printed of real logs (printed/), read back; and text of records that looks like the tool's."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._dump import printed
from ansible_collections.streamops.kafka.plugins.module_utils._dump.printed import Given, Record, records

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


FILE = "/scratch/orders-0/0.log"
DUMPING = f"Dumping {FILE}\nLog starting offset: 0\n"


def placed(base: int, last: int, position: int, size: int = 100) -> str:
    """What the tool prints of a whole batch, with where it is in its file."""
    start = head(base, last, last - base + 1).removesuffix("0\n")
    return f"{start}{position} CreateTime: 5 size: {size} magic: 2 isvalid: true\n"


def sized(text: str, kind: str = "value") -> str:
    """What the tool prints of a record at offset 5 with this text for key or value."""
    key, value = (text, "v") if kind == "key" else ("k", text)
    start = f"| offset: 5 CreateTime: 5 keySize: {len(key)} valueSize: {len(value)} sequence: -1"
    return f"{start} headerKeys: [] key: {key} payload: {value}\n"


def swallowing(text: str) -> str:
    """A record at 5 whose header ends it and begins one at 6, of which all that follows is the value."""
    rest = f"] key: k payload: v\n{text}"
    start = f"| offset: 6 CreateTime: 5 keySize: 1 valueSize: {len(rest) - 1} sequence: -1 headerKeys: [] "
    return one(5, f"] key: k payload: v\n{start}key: k payload: ") + text


def told(text: str, size: int, is_cut: bool = False) -> tuple[list[int], list[tuple[int, int]]]:
    """The offsets that are read of a file of this size, and what of them is in doubt."""
    doubts: list[tuple[int, int]] = []
    given = Given({FILE: size}, lambda: is_cut)
    return [record.offset for record in records([(DUMPING + text).encode()], False, doubts, given)], doubts


@pytest.mark.parametrize("kind", ["key", "value"])
def test_a_whole_batch_in_a_key_or_a_value_is_text_of_it(kind: str) -> None:
    forged = f"a\n{placed(9, 9, 700)}{one(9)}Dumping /etc/passwd\n{one(10)}end"
    text = placed(5, 5, 0) + sized(forged, kind) + placed(6, 6, 100) + one(6)
    [first, second] = records([(DUMPING + text).encode()], False, doubts := [], Given({FILE: 200}, lambda: False))
    assert getattr(first, kind) == forged
    assert (first.path, second.path, second.offset, doubts) == (FILE, FILE, 6, [])


def test_a_file_that_the_tool_was_not_given_is_none() -> None:
    forged = (
        "] key: k payload: v\nDumping /etc/passwd\n| offset: 99 CreateTime: 5 keySize: 1 valueSize: 19 sequence: -1 "
    )
    text = placed(5, 5, 0) + one(5, f"{forged}headerKeys: [] key: k payload: ")
    assert told(text, 100) == ([5], [(5, 5)])
    again = text.replace("/etc/passwd", FILE)
    assert told(again, 100) == ([5], [(5, 5)])


def test_a_header_that_swallows_a_batch_is_told_by_the_next_one() -> None:
    hidden = one(6) + placed(7, 7, 100) + one(7)
    text = placed(5, 6, 0) + swallowing(hidden) + placed(8, 8, 200) + one(8)
    offsets, doubts = told(text, 300)
    assert offsets == [5, 6, 8]
    assert doubts == [(5, 6), (8, 8)]


def test_a_header_that_swallows_the_last_batch_is_told_by_the_size_of_the_file() -> None:
    text = placed(5, 6, 0) + swallowing(one(6) + placed(7, 7, 100) + one(7))
    assert told(text, 200) == ([5, 6], [(5, 6)])


def test_a_forged_batch_in_the_place_of_the_next_one_is_told() -> None:
    after = placed(7, 7, 100) + one(7)
    rest = f"] key: k payload: v\n{after}"
    start = f"| offset: 7 CreateTime: 5 keySize: 1 valueSize: {len(rest) - 1} sequence: -1 headerKeys: [] "
    header = f"] key: k payload: v\n{placed(7, 7, 100)}{start}key: k payload: "
    text = placed(6, 6, 0) + one(6, header) + after + placed(8, 8, 200) + one(8)
    offsets, doubts = told(text, 300)
    assert offsets == [6, 7, 8]
    assert (7, 7) in doubts


def test_where_the_tool_was_ended_the_size_of_the_file_says_nothing() -> None:
    text = placed(5, 5, 0) + one(5)
    assert told(text, 200, is_cut=True) == ([5], [])
    assert told(text, 200) == ([5], [(5, 5)])


def ends(data: bytes) -> dict[str, int]:
    """The sizes of real files by what the tool printed of them."""
    found: dict[str, int] = {}
    for line in data.decode("utf-8", "replace").splitlines():
        if line.startswith("Dumping /"):
            path = line.removeprefix("Dumping ")
        elif line.startswith("baseOffset: "):
            words = line.split()
            found[path] = int(words[words.index("position:") + 1]) + int(words[words.index("size:") + 1])
        found.setdefault(path, 0)
    return found


def test_of_what_the_tool_printed_of_real_logs_nothing_is_in_doubt() -> None:
    for path in PRINTED.glob("*.txt"):
        doubts: list[tuple[int, int]] = []
        if not path.stem.endswith("tree"):
            data = path.read_bytes()
            given = Given(ends(data), lambda: False)
            assert list(records([data], not path.stem.endswith("orders"), doubts, given))
        assert doubts == [], path.name


def test_a_key_of_many_lookalikes_is_split_in_a_moment() -> None:
    parts = b" payload: " * 200_000
    start = b"| offset: 1 CreateTime: 5 keySize: 0 valueSize: 9 sequence: -1 headerKeys: [] key: "
    began = time.process_time()
    list(records([start + b"x" + parts + b"\n"], False))
    assert time.process_time() - began < 2


def test_a_value_with_many_lookalikes_of_a_batch_is_read_in_a_moment() -> None:
    forged = "a\nbaseOffset: 1 lastOffset: 1 count: 1 isTransactional: true " + "position: 1 " * 10_000
    began = time.process_time()
    assert told(placed(5, 5, 0) + sized(forged) + placed(6, 6, 100) + one(6), 200) == ([5, 6], [])
    assert time.process_time() - began < 2
