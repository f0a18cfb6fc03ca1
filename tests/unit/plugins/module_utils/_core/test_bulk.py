"""How changes are cut into requests."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.streamops.kafka.plugins.module_utils._core.bulk import (
    MAX_RECORDS,
    batches,
    failures,
    parts,
    refused,
)
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RequestFailedError


def test_parts_hold_all_items_in_order() -> None:
    assert list(parts(range(7), 3)) == [[0, 1, 2], [3, 4, 5], [6]]
    assert list(parts([], 3)) == []


@given(st.lists(st.integers(1, MAX_RECORDS)))
def test_batches_keep_every_name_in_order_within_the_limit(sizes: list[int]) -> None:
    named = [(str(number), size) for number, size in enumerate(sizes)]
    cut = list(batches(named))
    assert [name for batch in cut for name in batch] == [name for name, _size in named]
    assert all(sum(sizes[int(name)] for name in batch) <= MAX_RECORDS for batch in cut)


def test_what_is_well_is_no_failure() -> None:
    assert failures({"a": None, "b": ("POLICY_VIOLATION", "too few")}) == {"b": ("POLICY_VIOLATION", "too few")}


def test_what_kafka_refuses_is_said_of_each() -> None:
    judged = [("topic a", "POLICY_VIOLATION", "too few"), ("topic b", "INVALID_CONFIG", "no number")]
    assert refused(judged) == [
        "topic a: refused by Kafka: too few (POLICY_VIOLATION).",
        "topic b: refused by Kafka: no number (INVALID_CONFIG).",
    ]


@pytest.mark.parametrize("code", ["_TIMED_OUT", "_TRANSPORT", "_ALL_BROKERS_DOWN", "REQUEST_TIMED_OUT", "UNKNOWN"])
def test_no_answer_is_never_called_a_refusal(code: str) -> None:
    with pytest.raises(RequestFailedError) as failed:
        refused([("topic a", "POLICY_VIOLATION", "too few"), ("topic b", code, "no answer")])
    assert failed.value.message == f"no clear answer about topic b: no answer; nothing was changed ({code})"
    assert failed.value.unsent
