"""The lag of groups at the last polls: what is kept, what is forgotten, and within which bounds."""

from __future__ import annotations

from typing import Any

import pytest

from page.known import history
from page.known.history import GROUPS, POLLS, History, followed


def seen(**lags: int | None) -> list[dict[str, Any]]:
    return [{"name": name, "behind": lag} for name, lag in lags.items()]


def polled(*polls: tuple[float, list[dict[str, Any]]], is_partial: bool = False) -> History:
    found = History()
    for taken, groups in polls:
        found = followed(found, groups, taken, is_partial)
    return found


def test_a_start_begins_with_nothing_and_an_unknown_lag_is_a_point_without_one() -> None:
    assert History().points("g") == []
    found = polled((10, seen(g=5)), (20, seen(g=None)), (30, seen(g=0)))
    assert found.points("g") == [(10, 5), (20, None), (30, 0)]
    assert found.points("other") == []


def test_a_group_that_comes_later_begins_there_and_one_that_is_gone_is_forgotten() -> None:
    found = polled((10, seen(g=5)), (20, seen(g=6, h=1)), (30, seen(h=2)), (40, seen(g=7, h=3)))
    assert found.points("h") == [(20, 1), (30, 2), (40, 3)]
    assert found.points("g") == [(40, 7)]


def test_a_group_whose_broker_did_not_tell_is_not_gone() -> None:
    found = followed(polled((10, seen(g=5, h=1))), seen(h=2), 20, True)
    assert found.points("g") == [(10, 5), (20, None)]
    assert followed(found, seen(g=7), 30, False).points("g") == [(10, 5), (20, None), (30, 7)]


@pytest.mark.parametrize(("taken", "left"), [(25, [10, 20, 25]), (20, [10, 20]), (5, [5])])
def test_a_clock_that_goes_back_takes_what_would_come_later(taken: float, left: list[float]) -> None:
    before = polled((10, seen(g=1)), (20, seen(g=2, h=1)), (30, seen(g=3, h=2)))
    found = followed(before, seen(g=9, h=9), taken, False)
    assert [one for one, _ in found.points("g")] == left
    assert found.points("g")[-1] == found.points("h")[-1] == (taken, 9)
    assert [one for one, _ in found.points("h")] == [one for one in left if one >= 20 or one == taken]


def test_it_is_bounded_and_the_groups_most_behind_come_in_first(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (POLLS, GROUPS) == (240, 2000)
    found = polled(*((number, seen(g=number)) for number in range(POLLS + 60)))
    assert len(found.times) == len(found.points("g")) == POLLS
    assert found.points("g")[0] == (60, 60)
    monkeypatch.setattr(history, "GROUPS", 2)
    assert set(polled((1, seen(a=1, b=9, c=5))).lags) == {"b", "c"}
    assert set(polled((1, seen(a=1)), (2, seen(a=1, b=9, c=5))).lags) == {"a", "b"}, "what was followed stays"


def test_a_history_that_a_reader_has_does_not_change() -> None:
    before = polled((10, seen(g=5)))
    followed(before, seen(g=6), 20, False)
    assert before.points("g") == [(10, 5)]
