"""A quorum is watched only where its leader is young, and unsteady only where one election does not explain it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._node.quorum_watch import WATCH, watched

NOW = 10_000.0
#: Seconds from the first look on, epoch, leader; each as it was written then.
Course = Sequence[tuple[float, int, int | None]]


class Quorum:
    """What a controller writes over time, and a clock that only a sleep moves."""

    def __init__(self, course: Course) -> None:
        self.course, self.time = course, 0.0

    def look(self) -> dict[str, Any]:
        at, epoch, leader = [one for one in self.course if one[0] <= self.time][-1]
        return {"leader": leader, "epoch": epoch, "records": True, "changed_at": NOW + at}

    def watched(self, age: float | None = 600.0) -> dict[str, Any]:
        since = None if age is None else NOW - age
        found = watched(self.look, since, lambda: NOW + self.time, self._sleep)
        assert found is not None
        return found

    def _sleep(self, seconds: float) -> None:
        self.time += seconds


FLAPPING = [(-3.0, 84, 1), (0.2, 85, None), (0.5, 85, 2), (3.0, 86, None), (3.4, 86, 1), (6.0, 87, 3)]


@pytest.mark.parametrize(
    ("course", "age"),
    [([(-11.0, 4, 1)], 600.0), ([(-1.0, 4, 1)], 19.0), ([(-1.0, 4, None)], None), (FLAPPING, 5.0)],
    ids=["its leader is old", "it has just started", "it does not run", "it has just started among others"],
)
def test_what_is_not_doubtful_costs_no_time(course: Course, age: float | None) -> None:
    seen = Quorum(course)
    assert seen.watched(age)["unsteady"] is False
    assert seen.time == 0.0


@pytest.mark.parametrize(
    "course",
    [
        [(-1.0, 4, 1)],
        [(-1.0, 4, 1), (1.0, 5, None), (1.4, 5, 2)],
        [(-1.0, 4, None), (1.4, 4, 2)],
    ],
    ids=["one election before", "one more election", "an election that ends"],
)
def test_an_election_is_watched_until_its_leader_stands_and_no_longer_than_that(course: Course) -> None:
    seen = Quorum(course)
    assert seen.watched()["unsteady"] is False
    assert 8.0 < seen.time <= WATCH + 0.3


def test_two_more_epochs_are_no_stable_leader_and_end_the_watch() -> None:
    seen = Quorum(FLAPPING)
    found = seen.watched()
    assert (found["unsteady"], found["first_epoch"], found["last_epoch"]) == (True, 84, 86)
    assert (found["epoch"], found["records"]) == (86, True)
    assert 3.0 <= seen.time < 3.5


def test_no_leader_in_any_look_is_no_stable_leader_even_without_new_epochs() -> None:
    """With pre-votes (KIP-996) a candidate that nobody elects stays in its epoch."""
    found = Quorum([(-500.0, 4, None)]).watched()
    assert (found["unsteady"], found["first_epoch"], found["last_epoch"]) == (True, 4, 4)


def test_a_disk_that_says_nothing_is_not_judged() -> None:
    assert watched(lambda: None, NOW - 600, lambda: NOW, lambda seconds: None) is None
