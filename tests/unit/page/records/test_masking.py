"""What is masked leaves the process in no way: at any depth, in texts in texts, in headers, in every form."""

from __future__ import annotations

import json
import time

import pytest

from page.records import bounds
from page.records.batches import Record
from page.records.decoding import FORMS, HIDDEN
from page.records.masking import MASK, HiddenError, Mask
from page.records.shown import for_machines, shown_records

MASKED = Mask(frozenset({"password", "iban"}))
LENIENT = Mask(frozenset({"password", "iban"}), show_unmasked=True)
SECRET = "hunter2-4711"
DEEP = '{"password":"' + SECRET + '"}'
for _level in range(4):
    DEEP = json.dumps({"payload": DEEP})


def nested(levels: int) -> str:
    """A list in a list, again and again."""
    return "[" * levels + "]" * levels


@pytest.mark.parametrize(
    "value",
    [
        {"password": SECRET},
        {"PassWord": {"old": SECRET, "new": [SECRET]}},
        {"a": [{"b": {"password": [SECRET]}}, {"iban": 1.5}]},
        [[[{"password": SECRET}]]],
        {"payload": json.dumps({"user": {"password": SECRET}})},
        json.loads(DEEP),
        {"payload": '{"password": "' + SECRET},
        {"payload": ' \ufeff{"password": "' + SECRET + '", "password": 1}'},
    ],
    ids=range(8),
)
@pytest.mark.parametrize("form", FORMS)
def test_the_value_of_a_masked_field_is_in_no_form(value: object, form: str) -> None:
    data = json.dumps(value).encode()
    for mask in (MASKED, LENIENT):
        one = Record(0, 1, 0, "CreateTime", data, data, ((b"h", data), (b"PASSWORD", SECRET.encode())))
        (shown,) = shown_records([one], mask, form)
        found = json.dumps(for_machines([shown], []))
        assert SECRET not in found
        assert SECRET.encode().hex(" ") not in found
        plain = "".join(bytes.fromhex(line[10:58]).decode("latin-1") for line in shown.value.text.split("\n")) if (
            shown.value.form == "hex") else shown.value.text  # fmt: skip
        assert SECRET not in plain
        assert MASK in plain or shown.value.form == HIDDEN


def test_the_mask_tells_neither_kind_nor_length_and_all_else_stays() -> None:
    for value in ("1", '"a"', "null", "{}", "[1,2]"):
        assert MASKED.value(b'{"password":' + value.encode() + b',"n":1.10}') == b'{"password":"***","n":1.10}'
    assert MASKED.value(b'{"note":"[INFO] ok","x":"\\u00e9"}') == '{"note":"[INFO] ok","x":"é"}'.encode()
    assert MASKED.value(b'{"passwords":1}') == b'{"passwords":1}'


@pytest.mark.parametrize(
    "data",
    [
        b"password=" + SECRET.encode(),
        b"\x00\x01\xff" + SECRET.encode(),
        b'"' + SECRET.encode() + b'"',
        b"4711",
        b'{"password":"a","password":"b"}',
        b'{"password":NaN}',
        b'{"password":"x"',
        b'{"password":"x"} {"password":"y"}',
        json.dumps({"password": SECRET}).encode("utf-16"),
        nested(65).encode(),
        nested(100_000).encode(),
        b"[" + b" " * bounds.JSON + b"]",
    ],
    ids=range(12),
)
def test_a_value_in_which_fields_cannot_be_found_is_hidden(data: bytes) -> None:
    with pytest.raises(HiddenError):
        MASKED.value(data)
    (found,) = shown_records([Record(0, 1, 0, "CreateTime", data, data, ())], MASKED, "hex")
    assert (found.key.form, found.value.form, found.value.text) == (HIDDEN, HIDDEN, "")
    assert found.value.size == len(data)


def test_the_setting_shows_what_is_no_json_but_nothing_that_names_a_field() -> None:
    for data in (b"plain", b"\x00\x01\xff", nested(65).encode()):
        assert LENIENT.value(data) == data
    for text in ("password=a", '{"PASSWORD":1', '{"iban":1,"iban":2}'):
        for encoding in ("utf-8", "utf-16", "utf-32"):
            with pytest.raises(HiddenError):
                LENIENT.value(text.encode(encoding))


def test_texts_in_texts_each_as_deep_as_may_be_are_hidden_and_break_nothing() -> None:
    text = SECRET
    for _level in range(12):
        text = "[" * 60 + json.dumps(text) + "]" * 60
    for mask in (MASKED, LENIENT):
        try:
            assert mask.value(text.encode()) is not None
        except HiddenError:
            continue


def test_headers_are_masked_by_name_and_by_what_is_in_them() -> None:
    assert MASKED.header("Password", b"\xff") == MASK.encode()
    assert MASKED.header("trace", b"00-4bf9") == b"00-4bf9"
    assert MASKED.header("body", b'{"password":1}') == b'{"password":"***"}'
    assert MASKED.header("none", None) is None
    for data in (b"\xff\x00", b"password=x", b'{"a":1', b"two\nlines"):
        with pytest.raises(HiddenError):
            MASKED.header("h", data)


TWICE = json.dumps(json.dumps({"password": SECRET}))
ACCENTED = Mask(frozenset({"pr\u00fcfziffer", "a/b", "\U0001f511"}))
ACCENTED_LENIENT = Mask(ACCENTED.names, show_unmasked=True)


@pytest.mark.parametrize(
    "value",
    [
        json.dumps({"payload": TWICE}),
        json.dumps([json.dumps(TWICE)]),
        json.dumps({"payload": '"' + TWICE}),
        json.dumps({"payload": "\x0b" + DEEP}),
        json.dumps({"payload": '{"p\\u0061ssword":"' + SECRET + '","a":1,"a":2}'}),
        json.dumps({"payload": '{"p\\u0061ssword":"' + SECRET + '","a":NaN}'}),
        json.dumps({"payload": '{"p\\u0061ssword":"' + SECRET}),
        json.dumps({json.dumps({"password": SECRET}): 1}),
        json.dumps({TWICE: {"a": 1}}),
        json.dumps({json.dumps({"password": one + SECRET}): one for one in "ab"}),
        '{"p\\u0061ssword":"' + SECRET + '","a":1,"a":2}',
        '{"a":1}\n{"p\\u0061ssword":"' + SECRET + '"}',
        TWICE,
        "\uff50assword=" + SECRET,
        '{"\uff50assword":"' + SECRET + '"}',
    ],
    ids=range(15),
)
def test_no_way_to_write_a_name_or_a_text_leaks_its_value(value: str) -> None:
    _assert_is_hidden(value, MASKED, LENIENT)


@pytest.mark.parametrize(
    "value",
    [
        json.dumps({"pru\u0308fziffer": SECRET}),
        json.dumps({"payload": json.dumps({"PR\u00dcFZIFFER": SECRET, "v": float("nan")})}),
        json.dumps({"a": 1}) + "\n" + json.dumps({"pr\u00fcfziffer": SECRET}),
        json.dumps({"pr\u00fcfziffer": SECRET, "pad": "x" * bounds.JSON}),
        "pru\u0308fziffer=" + SECRET,
        '{"a\\/b":"' + SECRET + '"',
        json.dumps({"\U0001f511": SECRET, "v": float("nan")}),
    ],
    ids=range(7),
)
def test_names_of_other_scripts_are_found_however_they_are_written(value: str) -> None:
    _assert_is_hidden(value, ACCENTED, ACCENTED_LENIENT)


def _assert_is_hidden(value: str, *masks: Mask) -> None:
    data = value.encode()
    for mask in masks:
        one = Record(0, 1, 0, "CreateTime", data, data, ((b"h", data),))
        assert SECRET not in json.dumps(for_machines(shown_records([one], mask, "auto"), []))


def test_texts_of_json_without_a_name_stay_as_they_are() -> None:
    for text in ('"a" and b', json.dumps("a"), json.dumps(json.dumps({"user": 1})), '"cut'):
        data = json.dumps({"note": text, text: 1}).encode()
        assert json.loads(MASKED.value(data) or b"") == json.loads(data)


def test_many_names_and_marks_without_an_end_take_no_minutes() -> None:
    many = Mask(frozenset(f"name{one}" for one in range(500)), show_unmasked=True)
    began = time.process_time()
    many.value(("[" + ",".join(['"{"'] * 60_000) + "]").encode())
    many.value(("a" + "\u0301\u0316" * 60_000).encode())
    many.value(('{"a' + "\u0301\u0316" * 60_000 + '":1}').encode())
    assert time.process_time() - began < 3


def test_without_names_all_is_as_it_is() -> None:
    for data in (None, b"", b"\xff", b'{"password":1}'):
        assert Mask().value(data) == data
        assert Mask().header("password", data) == data
    assert MASKED.value(None) is None
    assert MASKED.value(b"") == b""


def test_what_is_too_much_for_one_page_is_hidden() -> None:
    value = b'{"a":"' + b"x" * 250_000 + b'"}'
    some = [Record(0, at, 0, "CreateTime", None, value) for at in range(10)]
    assert [one.value.form for one in shown_records(some, MASKED, "auto")] == ["json"] * 8 + [HIDDEN] * 2
    assert "too much" in shown_records(some, MASKED, "auto")[9].value.note
    assert [one.value.form for one in shown_records(some, Mask(), "auto")] == ["json"] * 8 + ["text"] * 2
    # With the setting, too, where it names a field.
    named = [Record(0, at, 0, "CreateTime", None, value.replace(b"a", b"iban")) for at in range(10)]
    assert {one.value.form for one in shown_records(named, LENIENT, "auto")[8:]} == {HIDDEN}
