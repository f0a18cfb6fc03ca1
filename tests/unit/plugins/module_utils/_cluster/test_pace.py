# SPDX-License-Identifier: GPL-3.0-or-later
"""When a cluster changes its metadata slower than before a roll, and how it is timed."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._cluster import pace_look
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.pace import (
    BEYOND,
    BEYOND_ONCE,
    PATIENCE,
    fastest,
    is_timed,
    longest,
    slower,
)
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.pace_look import change_seconds, require_pace
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RequestFailedError


@pytest.mark.parametrize(
    ("before", "after", "beyond", "is_slower"),
    [
        (0.03, 1.0, BEYOND, True),
        (0.03, 0.5, BEYOND, False),  # Ten times as long, but not by the floor.
        (0.3, 2.9, BEYOND, False),
        (0.3, 3.1, BEYOND, True),
        (1.0, 0.03, BEYOND, False),
        (0.03, 3.0, BEYOND_ONCE, False),
        (0.03, 30.0, BEYOND_ONCE, True),
        (0.0, 0.5, BEYOND, False),
    ],
)
def test_slower_is_more_than_a_factor_and_more_than_a_floor(
    before: float, after: float, beyond: float, is_slower: bool
) -> None:
    assert bool(slower("an election", before, after, beyond)) is is_slower


def test_the_sentence_has_both_figures() -> None:
    assert (
        slower("a change of metadata", 0.0312, 29.98, BEYOND)
        == "slower than before: a change of metadata takes 30 s instead of 0.0312 s"
    )


def test_the_first_change_counts_only_where_it_is_alone() -> None:
    assert fastest([0.01, 1.0, 0.9]) == 0.9
    assert fastest([30.0]) == 30.0


def test_changes_are_timed_until_one_is_fast_or_patience_ends() -> None:
    assert [is_timed([0.1] * count, None, 99.0) for count in (0, 3, 4)] == [False, False, True]
    assert not is_timed([], 0.03, PATIENCE)
    assert not is_timed([0.01], 0.03, 1.0)
    assert is_timed([2.0, 0.04], 0.03, 1.0)
    assert not is_timed([0.01, 0.9, 0.8], 0.03, 3.0)
    assert is_timed([0.01, 0.9, 0.8], 0.03, PATIENCE)


class World:
    """A cluster that takes so many seconds for each change, or fails, with a clock of its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *answers: float | tuple[str, str] | Exception) -> None:
        self.now, self.values = 0.0, list[Any]()
        self._answers = answers
        monkeypatch.setattr(pace_look.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(pace_look.time, "sleep", self.slept)
        monkeypatch.setattr(pace_look, "alter_configs", self.altered)
        monkeypatch.setattr(pace_look, "describe_quorum", lambda _session: None)

    def slept(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds

    def altered(self, _session: Any, _kind: int, changes: dict[str, dict[str, Any]]) -> dict[str, Any]:
        """Take a change; the last answer stands for all behind it."""
        answer = self._answers[min(len(self.values), len(self._answers) - 1)]
        self.values += changes["_streamops_state"].values()
        if isinstance(answer, Exception):
            self.now += 30.0
            raise answer
        self.now += answer if isinstance(answer, float) else 0.01
        return {"_streamops_state": answer if isinstance(answer, tuple) else None}


SESSION: Any = None


def test_what_was_set_is_set_back(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch, 0.5, 0.03, 0.02)
    assert change_seconds(SESSION) == (pytest.approx(0.02), "")
    assert [value is None for value in world.values] == [False, True, False, True]
    assert all(60_000 <= int(value) < 61_000 for value in world.values[::2])


def test_one_slow_change_of_a_busy_machine_fails_no_node(monkeypatch: pytest.MonkeyPatch) -> None:
    World(monkeypatch, 2.0, 2.0, 2.0, 0.1)
    assert require_pace(SESSION, 1, 0.03) == (pytest.approx(0.1), "")


def test_changes_that_are_all_slow_fail_the_node(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch, 1.0)
    with pytest.raises(RequestFailedError, match=r"takes 1 s instead of 0\.03 s"):
        require_pace(SESSION, 1, 0.03)
    assert PATIENCE <= world.now < 2 * PATIENCE
    assert world.values[-1] is None


def test_a_change_that_is_not_answered_in_time_is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    World(monkeypatch, RequestFailedError("alter configs", "of k:1", "REQUEST_TIMED_OUT", "no answer"))
    with pytest.raises(RequestFailedError, match=r"takes 30 s instead of 0\.03 s"):
        require_pace(SESSION, None, 0.03)
    world = World(monkeypatch, RequestFailedError("alter configs", "of k:1", "REQUEST_TIMED_OUT", "no answer"))
    seconds, why = change_seconds(SESSION)
    assert world.values[-1] is None
    assert (seconds, "no answer" in why) == (None, True)


@pytest.mark.parametrize("before", [None, 0.03])
def test_what_cannot_be_timed_says_why(monkeypatch: pytest.MonkeyPatch, before: float | None) -> None:
    World(monkeypatch, ("UNKNOWN_TOPIC_OR_PARTITION", "x"))
    assert change_seconds(SESSION, before) == (None, "topic _streamops_state does not exist")
    World(monkeypatch, ("TOPIC_AUTHORIZATION_FAILED", "no right"))
    assert change_seconds(SESSION, before) == (None, "no right")


def test_a_failure_that_passes_quickly_is_no_fast_change(monkeypatch: pytest.MonkeyPatch) -> None:
    World(monkeypatch, ("NOT_CONTROLLER", "x"), ("NOT_CONTROLLER", "x"), 0.02)
    assert change_seconds(SESSION, 0.03) == (pytest.approx(0.02), "")
    World(monkeypatch, ("NOT_CONTROLLER", "x"))
    assert change_seconds(SESSION, 0.03) == (None, "x")
    assert longest(0.03, BEYOND_ONCE) > 5
