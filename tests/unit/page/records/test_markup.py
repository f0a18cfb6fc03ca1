"""Records as a page: whatever producers write is text in it, within what readers get."""

from __future__ import annotations

import html
import json
from collections import Counter
from typing import Any

import pytest

from page.records import bounds
from page.records.asked import Asked
from page.records.batches import Found, Record, Skipped
from page.records.decoding import FORMS
from page.records.markup import Trouble, written
from page.records.masking import Mask
from tests.support.markup import Markup
from tests.support.page_seen import HOSTILE


def page(found: Found, asked: Asked | None = None, trouble: Trouble | None = None) -> Markup:
    """A page that is well-formed and runs nothing."""
    text = written("a <b>", "t", asked or Asked(), found, Mask(), trouble)
    found_ = Markup(text.replace("<link ", "<meta ").replace("<input ", "<meta "))
    assert found_.open == []
    assert not found_.tags & {"script", "img", "iframe", "object", "style"}
    assert not [name for _, name, _ in found_.attributes if name.startswith("on") or name in ("style", "src")]
    assert all(one.startswith(("/", "#")) and not one.startswith("//") for one in found_.values("href"))
    assert max(Counter(found_.values("id")).values()) == 1
    return found_


@pytest.mark.parametrize("form", FORMS)
def test_what_is_hostile_is_text_wherever_it_stands(form: str) -> None:
    records = [
        Record(0, at, 0, "CreateTime", data, json.dumps({one: [one]}).encode(), ((data, data), (b"\xff\xfe", None)))
        for at, one in enumerate(HOSTILE)
        for data in [one.encode("utf-8", "surrogatepass")]
    ]
    found = page(Found(1, {}, records), Asked(show=form, partition=0))
    if form in ("auto", "json"):
        assert "<script>alert(1)</script>" in found.text
        assert "\\u202egnp.exe" in found.text
    assert "Earlier records" not in found.text
    assert "Later records" in found.text


def test_a_record_says_what_it_is_and_how_much_of_it_is_shown() -> None:
    one = Record(2, 41, 1795503600123, "LogAppendTime", None, b"x" * 100_000, ((b"h", b"v"),) * 30, 40, 100_080)
    found = page(Found(3, {}, [one], [Skipped(1, 5, 9, "it is odd")], ["A note."]), Asked(partition=2))
    for said in (
        "Offset Time Key Value 41 partition 2 2026-11-24T07:00:00.123Z LogAppendTime null xxx", "100,080 bytes",
        "text, 100,000 bytes, cut", "Key null Value text,", "10 more headers",
        "Partition 1, offsets 5 to 9: the batch was not read, since it is odd.",
        "A note.", "Earlier records", "from newest of partition 2",
    ):  # fmt: skip
        assert said in " ".join(found.text.split()), said
    assert found.text.count("x" * bounds.VALUE) == 1
    assert "x" * (bounds.VALUE + 1) not in found.text


def test_records_are_rows_with_their_parts_in_one_line_and_open_with_a_click() -> None:
    long = b'{"id": 17, "text": "' + b"y" * 400 + b'"}'
    some = [Record(0, 1, None, "CreateTime", b"k", long, ()), Record(0, 2, None, "CreateTime", b"", None, ())]
    text = written("c", "t", Asked(), Found(1, {}, some), Mask(), None)
    assert (text.count("<details"), text.count("</summary>")) == (2, 2)
    lines = [part.partition("</bdi>")[0] for part in text.split('class="line"><bdi>')[1:]]
    assert lines[0] == "k"
    assert html.unescape(lines[1]) == '{ "id": 17, "text": "' + "y" * (240 - 25) + " ..."
    assert lines[2:] == ["empty", "null"]


def test_labels_stand_with_their_fields() -> None:
    text = written("c", "t", Asked(), Found(), Mask(), None)
    fields = text.partition("<form")[2].partition("</form>")[0].split('<div class="field">')[1:]
    assert [one.partition('for="')[2].partition('"')[0] for one in fields] == [
        "from", "show", "isolation", "partition", "offset", "time", "search",
    ]  # fmt: skip
    assert all(one.count("<label") == one.count("<input") + one.count("<select") == 1 for one in fields)


def searched(records: list[Record], search: str, mask: Mask | None = None) -> dict[str, Any]:
    """The JSON of a search among records."""
    found: dict[str, Any] = json.loads(
        written("c", "t", Asked(form="json", search=search), Found(1, {}, records), mask or Mask(), None)
    )
    return found


def test_a_search_finds_a_text_in_keys_and_values_in_any_case_and_says_how_much_it_looked_through() -> None:
    some = [Record(0, at, None, "CreateTime", b"key-%d" % at, b"Stra\xc3\x9fe %d" % at, ()) for at in range(200)]
    assert [one["offset"] for one in searched(some, "KEY-7")["records"]] == [7, *range(70, 80)]
    every = searched(some, "STRASSE")
    assert [one["offset"] for one in every["records"]] == [*range(bounds.RECORDS)]
    assert every["notes"] == [
        "The search looked through 200 records, at most 1,000; others may fit as well.",
        "200 records fit, and the first 50 of them are shown.",
    ]
    assert searched(some, "nothing")["records"] == []


def test_a_search_finds_letters_that_json_writes_as_escapes() -> None:
    values = [b'{"name": "M\\u00fcller"}', b'{"path": "a\\\\u00fcb"}', b"no JSON: \\u00fc", None]
    some = [Record(0, at, None, "CreateTime", None, value, ()) for at, value in enumerate(values)]
    assert [one["offset"] for one in searched(some, "M\u00dcLLER")["records"]] == [0]
    assert [one["offset"] for one in searched(some, "\\u00fc")["records"]] == [0, 1, 2]
    assert [one["offset"] for one in searched(some, "m\u00fcller", Mask(frozenset({"iban"})))["records"]] == [0]


def test_a_search_that_could_not_be_made_says_nothing_of_what_it_looked_through() -> None:
    trouble = Trouble(502, "The cluster gave no records.", "Look there.")
    found = page(Found(), Asked(search="x"), trouble)
    assert "Look there." in found.text
    assert "looked through" not in found.text
    data = json.loads(written("c", "t", Asked(form="json", search="x"), Found(), Mask(), trouble))
    assert (data["error"], data["notes"]) == ("The cluster gave no records.", [])


def test_a_search_tells_nothing_of_what_is_masked() -> None:
    mask = Mask(frozenset({"iban"}))
    values = [b'{"iban": "DE0012", "city": "Ulm"}', b"DE0012, and no JSON", b'{"iban": {"a": "DE0012"}}']
    some = [Record(0, at, None, "CreateTime", None, value, ()) for at, value in enumerate(values)]
    found = searched(some, "DE0012", mask)
    assert found["records"] == []
    assert found["notes"][-1] == "Of 1 records a key or a value is hidden, in which nothing is searched."
    assert [one["offset"] for one in searched(some, "ulm", mask)["records"]] == [0]


def test_its_json_has_the_same_and_no_more() -> None:
    one = Record(0, 1, None, "CreateTime", b"k", b"x" * 100_000, ())
    found = json.loads(written("c", "t", Asked(form="json"), Found(1, {}, [one]), Mask(), None))
    (record,) = found["records"]
    assert (len(record["value"]["text"]), record["value"]["size"], record["value"]["is_cut"]) == (
        bounds.VALUE, 100_000, True,
    )  # fmt: skip
    assert (record["timestamp"], record["key"]["text"], found["not_read"]) == (None, "k", [])


def test_why_there_is_nothing_stands_with_the_next_step() -> None:
    found = page(Found(), trouble=Trouble(403, "You may <not>.", "Ask."))
    assert "You may <not>." in found.text
    assert "Ask." in found.text
    assert "There is no record to show here." in page(Found()).text
    refused = json.loads(written("c", "t", Asked(form="json"), Found(), Mask(), Trouble(403, "No.", "Ask.")))
    assert (refused["error"], refused["next_step"], refused["records"]) == ("No.", "Ask.", [])
