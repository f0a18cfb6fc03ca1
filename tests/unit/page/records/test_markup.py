"""Records as a page: whatever producers write is text in it, within what readers get."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from page.records import bounds
from page.records.asked import Asked
from page.records.batches import Record, Skipped
from page.records.decoding import FORMS
from page.records.found import Found
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
        "Partition 2, offset 41", "2026-11-24T07:00:00.123Z (LogAppendTime)", "100,080 bytes",
        "text, 100,000 bytes, cut", "Key null Value text,", "10 more headers",
        "Partition 1, offsets 5 to 9: the batch was not read, since it is odd.",
        "A note.", "Earlier records", "from newest of partition 2",
    ):  # fmt: skip
        assert said in " ".join(found.text.split()), said
    assert found.text.count("x" * bounds.VALUE) == 1
    assert "x" * (bounds.VALUE + 1) not in found.text


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
