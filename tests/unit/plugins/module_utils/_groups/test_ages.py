"""The lag of groups as time."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._groups.ages import unread, with_ages


def at(index: int, state: str, lag: int | None, committed: int | None, start: int = 0, end: int = 9) -> dict[str, Any]:
    """A position of group_info."""
    return {"partition": index, "state": state, "lag": lag, "committed": committed, "start": start, "end": end}


def group(*positions: dict[str, Any], error: str | None = None) -> dict[str, Any]:
    """A group of group_info that reads orders."""
    return {"name": "billing", "error": error, "topics": [{"name": "orders", "partitions": list(positions)}]}


@pytest.mark.parametrize(
    ("position", "offset"),
    [
        (at(0, "known", 4, 5), 5),
        (at(0, "known", 0, 9), None),
        (at(0, "known", None, 5), 5),
        (at(0, "before_start", 9, 1, start=3), 3),
        (at(0, "no_offset", None, None, start=2), 2),
        (at(0, "no_offset", None, None, start=9), None),
        (at(0, "beyond_end", None, 12), None),
        (at(0, "no_answer", None, 4), None),
        (at(0, "topic_deleted", None, 4), None),
    ],
)
def test_the_oldest_record_that_is_left(position: dict[str, Any], offset: int | None) -> None:
    assert list(unread([group(position)])) == ([] if offset is None else [(("orders", 0), offset)])


def test_the_oldest_of_all_counts_and_what_is_unknown_is_not_zero() -> None:
    some = [at(0, "known", 4, 5), at(1, "known", 2, 7), at(2, "known", 0, 9), at(3, "no_answer", None, 1)]
    found = with_ages(group(*some, at(4, "no_offset", None, None)), {(("orders", 0), 5): 60, (("orders", 1), 7): None})
    topic = found["topics"][0]
    assert [one["lag_seconds"] for one in topic["partitions"]] == [60, None, 0, None, None]
    assert topic["partitions"][4]["lag_seconds_from_earliest"] is None
    assert (topic["lag_seconds"], found["lag_seconds"]) == (60, 60)


def test_a_group_that_could_not_be_looked_at_has_no_age() -> None:
    assert with_ages(group(at(0, "known", 0, 9), error="loading"), {})["lag_seconds"] is None
