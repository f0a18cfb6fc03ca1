"""The age of a record, found by the offsets of times."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._logs.age import ages

NOW = 1_800_000_000_000
DAY = 86_400_000
KEY = ("orders", 0)


class Log:
    """Answers for the first offset at or after a time, as a leader does; C(times) are by offset."""

    def __init__(self, *times: int) -> None:
        self.times, self.asked = times, 0

    def __call__(self, when: Mapping[Any, int]) -> dict[Any, int | str | None]:
        self.asked += 1
        return {key: next((n for n, one in enumerate(self.times) if one >= time), None) for key, time in when.items()}


@pytest.mark.parametrize("age", [1, 999, 1000, 1001, 59_000, 3_600_000, 7 * DAY, 400 * DAY, NOW])
def test_an_age_is_never_too_small_and_at_most_a_second_or_two_percent_too_large(age: int) -> None:
    log = Log(*(NOW - one for one in sorted({age, age + 1, age // 2}, reverse=True)))
    place = (KEY, log.times.index(NOW - age))
    found = ages([place], NOW, log)[place]
    assert found is not None
    assert age <= found * 1000 <= max(age + 2000, age * 1.03)
    assert log.asked <= 25


def test_a_record_of_the_future_is_of_now() -> None:
    assert ages([(KEY, 0)], NOW, Log(NOW + DAY)) == {(KEY, 0): 1}


def test_records_without_a_time_have_no_age() -> None:
    assert ages([(KEY, 0)], NOW, Log(-1, -1)) == {(KEY, 0): None}


@pytest.mark.parametrize("answer", [{KEY: "no_answer"}, {}])
def test_what_no_leader_answers_is_unknown_and_ends(answer: dict[Any, Any]) -> None:
    assert ages([(KEY, 0)], NOW, lambda _when: answer) == {(KEY, 0): None}


def test_groups_at_different_offsets_of_one_partition_are_told_apart() -> None:
    log = Log(*(NOW - one * 1000 for one in range(1000, 0, -1)))
    found = ages([(KEY, offset) for offset in (0, 500, 900, 999)], NOW, log)
    for (_key, offset), age in found.items():
        assert age is not None
        assert 1000 - offset <= age <= (1000 - offset) * 1.03 + 1
    assert all(older > younger for older, younger in pairwise(age or 0 for _place, age in sorted(found.items())))


def test_many_partitions_cost_no_more_requests_than_one() -> None:
    one, many = Log(NOW - DAY), Log(NOW - DAY)
    ages([(KEY, 0)], NOW, one)
    ages([(("orders", index), 0) for index in range(1000)], NOW, many)
    assert many.asked == one.asked


def test_without_places_nothing_is_asked() -> None:
    log = Log()
    assert (ages([], NOW, log), log.asked) == ({}, 0)
