# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a reassignment survives JSON, and what cannot be understood is said to be so."""

from __future__ import annotations

import json

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import StreamopsError
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.record import (
    Record,
    Row,
    record_of,
    same_wish,
    wish_kept,
)


def test_a_record_comes_back_from_json_as_it_was() -> None:
    batches = ((Row("a", 0, (1, 2), 10, 1),), (Row("b", 1, (3,), 0, 0), Row("b", 2, (3, 1), 7, 2)))
    record = Record({"drain": [1]}, batches, {"1": {"k": None}}, {"a": {"k": "0:1"}}, {"b-1": "no"})
    assert record_of(json.loads(json.dumps(record.as_data()))) == record
    assert [row.key for row in record.rows] == [("a", 0), ("b", 1), ("b", 2)]


def test_no_record_is_none() -> None:
    assert record_of(None) is None


@pytest.mark.parametrize("kept", [{}, {"version": 2}, [], {"version": 1, "batches": [[["a"]]], "wish": {}}])
def test_a_record_that_cannot_be_understood_is_refused(kept: object) -> None:
    with pytest.raises(StreamopsError, match="cannot be understood"):
        record_of(kept)


def test_a_wish_is_compared_without_what_is_not_asked_for_and_without_how_it_is_carried_out() -> None:
    params = {"drain": [3], "rebalance": False, "add": None, "throttle": 5, "leaders": "auto"}
    assert wish_kept(params, ("drain", "rebalance", "add", "leaders")) == {"drain": [3], "leaders": "auto"}


def test_a_wish_that_an_earlier_version_kept_is_the_same_without_the_options_that_came_since() -> None:
    kept = {"drain": [3], "rack_rule": "strict", "leaders": "auto"}
    assert same_wish(kept, {**kept, "balance_by": "replicas", "bytes_tolerance": 0.1})
    assert not same_wish(kept, {**kept, "balance_by": "bytes"})
    assert not same_wish(kept, {**kept, "rebalance": True})
    assert not same_wish(kept, {**kept, "drain": [4]})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"replication_factor": {"t": "3"}}, {"replication_factor": {"t": 3}}),
        ({"replace": {"4": 5}}, {"replace": {4: "5"}}),
        ({"drain": [3, 2], "topics": ["b", "a"]}, {"drain": ["2", 3], "topics": ["a", "b"]}),
        ({"add": [{"id": 4, "rack": None}, {"id": 5}]}, {"add": [{"id": 5}, {"id": "4"}]}),
        ({"drain": [3], "topics": []}, {"drain": [3]}),
    ],
)
def test_how_a_value_is_written_makes_no_other_wish(one: dict[str, object], other: dict[str, object]) -> None:
    assert same_wish(one, other)


def test_the_order_of_replicas_in_an_assignment_counts() -> None:
    placed = [{"partitions": [{"topic": "t", "partition": 0, "replicas": order}]} for order in ([1, 2], [2, 1])]
    assert not same_wish({"assignment": placed[0]}, {"assignment": placed[1]})


def test_a_number_is_asked_for_even_if_it_is_zero() -> None:
    assert wish_kept({"bytes_tolerance": 0.0, "rebalance": False}, ("bytes_tolerance", "rebalance", "add")) == {
        "bytes_tolerance": 0.0
    }
