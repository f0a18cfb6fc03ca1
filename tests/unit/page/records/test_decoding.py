"""Bytes for people: what they look like, or as the reader wants it, and never more than fits."""

from __future__ import annotations

import pytest

from page.records import bounds
from page.records.decoding import AUTO, EMPTY, HEX, JSON, NULL, TEXT, shown
from page.records.shown import lines


def form(data: bytes | None, wanted: str = AUTO) -> tuple[str, str]:
    found = shown(data, None if data is None else len(data), wanted, 1000)
    return found.form, found.text


def test_what_it_looks_like_is_how_it_is_shown() -> None:
    assert form(None) == (NULL, "")
    assert form(b"") == (EMPTY, "")
    assert form("grüße\n\u4f60".encode()) == (TEXT, "grüße\n\u4f60")
    assert form(b'{"a":[1,{"b":1e400}],"c":{}}') == (
        JSON,
        '{\n  "a": [\n    1,\n    {\n      "b": 1e400\n    }\n  ],\n  "c": {}\n}',
    )
    assert form(b"12345678901234567890.10") == (TEXT, "12345678901234567890.10")
    assert form(b"\x00\x01Az") == (HEX, f"00000000  {'00 01 41 7a':<48} ..Az")
    assert form(b"\xff")[0] == form(b"\x01\x02ab")[0] == HEX


def test_a_number_keeps_its_digits_and_a_text_its_letters() -> None:
    number = "9" * 5000
    assert shown(f"[{number}]".encode(), 5002, JSON, 10_000).text == f"[\n  {number}\n]"
    assert form(b'["0.1000000000000000055", 0.1000000000000000055, -0]')[1].split()[1:4] == [
        '"0.1000000000000000055",', "0.1000000000000000055,", "-0",
    ]  # fmt: skip
    assert form(b'["\\ud800"]')[0] == JSON


@pytest.mark.parametrize("data", [b"{", b'{"a":1,"a":2}', b"[NaN]", b"[" * 100_000, b"\xff{}", b"1"])
def test_what_is_no_json_says_so_where_json_is_wanted(data: bytes) -> None:
    found = shown(data, len(data), JSON, 1000)
    assert found.form in (TEXT, HEX)
    assert found.note == "It is no JSON object or list."


def test_a_reader_chooses_another_form() -> None:
    assert form(b'{"a":1}', TEXT) == (TEXT, '{"a":1}')
    assert form(b"ab", HEX)[1].startswith("00000000  61 62 ")
    found = shown(b"a\xff", 2, TEXT, 1000)
    assert (found.text, found.note) == ("a\ufffd", "It is not UTF-8: hex shows its bytes.")


@pytest.mark.parametrize("wanted", [AUTO, JSON, TEXT, HEX])
@pytest.mark.parametrize(
    "data", [b"x" * 5000, "ß€\U0001f4a5".encode() * 900, b"\xff" * 5000, b"[" + b"[1]," * 1000 + b"1]",
             b"[" * 60 + b"1," * 400_000 + b"1" + b"]" * 60],
    ids=["ascii", "utf8", "binary", "json", "spaces"],
)  # fmt: skip
def test_no_form_is_longer_than_it_may_be(data: bytes, wanted: str) -> None:
    found = shown(data, len(data), wanted, 1000)
    assert found.is_cut
    assert found.size == len(data)
    assert len(found.text) <= (1000 if found.form != HEX else 1300)
    assert "\ufffd" not in found.text or data[0] == 0xFF


def test_what_is_too_long_to_be_looked_at_as_json_is_a_text() -> None:
    assert shown(b"[" + b" " * bounds.JSON + b"]", 0, AUTO, 100).form == TEXT


def test_what_a_screen_does_not_show_is_an_escape_and_lines_stay() -> None:
    assert lines("a\r\nb\tc\x1b[31m\u202e\u2028\x00") == "a\nb    c\\x1b[31m\\u202e\\u2028\\x00"
