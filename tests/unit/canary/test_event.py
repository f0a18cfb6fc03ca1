"""An event is a record that says which one it is, and nothing else passes for one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from canary.event import LONGEST, Event, Place, event_of

EVENT = Event("dc_a->dc_b", 2, Place(1000, 7), 1234)


def changed(**values: Any) -> bytes:
    return json.dumps({**json.loads(EVENT.value), **values}).encode()


def test_an_event_is_read_as_it_was_written() -> None:
    assert event_of(EVENT.value, "dc_a->dc_b") == EVENT


def test_the_key_is_one_for_each_partition() -> None:
    assert EVENT.key == EVENT._replace(place=Place(1000, 8)).key
    assert EVENT.key != EVENT._replace(partition=3).key


@pytest.mark.parametrize(
    "value",
    [
        None,
        b"",
        b"\xff\xfe",
        b"[]",
        b"[" * 4000,
        b"{}",
        changed(form=2),
        changed(flow="dc_a->dc_c"),
        changed(number=-1),
        changed(number=True),
        changed(number="7"),
        changed(at=1.5),
        changed(more=1),
        b" " * LONGEST + EVENT.value,
    ],
)
def test_what_is_no_event_of_the_flow_is_none(value: bytes | None) -> None:
    assert event_of(value, "dc_a->dc_b") is None


def test_a_later_series_is_later_whatever_the_number() -> None:
    assert Place(1000, 999) < Place(1001, 0)
    assert Place(1000, 7).next == Place(1000, 8)
