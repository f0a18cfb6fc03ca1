# SPDX-License-Identifier: GPL-3.0-or-later
"""The wait loop, its line and its estimates, on a clock made of a list."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.names import capped
from ansible_collections.streamops.kafka.plugins.module_utils._core.progress import (
    DONE,
    FAILED,
    GOING,
    PATIENCE,
    Advance,
    LineFilter,
    Meter,
    Step,
    duration,
    follow,
    pace,
)


class FakeTime:
    """A clock that moves only when somebody sleeps or a look takes time."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (-3, "0s"), (59.4, "59s"), (59.6, "1m00s"), (185, "3m05s"), (3599.9, "1h00m"), (7325, "2h02m")],
)
def test_durations_read_as_people_say_them(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_long_list_of_names_is_capped_and_the_rest_counted() -> None:
    assert capped(["a", "b"], 2) == "a, b"
    assert capped(["a", "b", "c", "d"], 2) == "a, b and 2 more"


def test_the_meter_needs_two_samples_and_measures_over_its_window() -> None:
    meter = Meter(window=10)
    meter.add(0, 0)
    assert meter.rate is None
    assert meter.eta(10) is None
    meter.add(2, 4)
    assert meter.rate == 2.0
    assert meter.eta(10) == 3.0
    for at in range(3, 20):
        meter.add(at, 4)
    assert meter.rate == 0
    assert meter.eta(10) is None


def test_the_meter_never_divides_by_no_time_and_gives_no_estimate_backwards() -> None:
    meter = Meter()
    meter.add(1, 1)
    meter.add(1, 5)
    assert meter.rate is None
    meter.add(2, 0)
    assert meter.rate == -1
    assert pace(meter, 10, "partitions") == ""


def test_a_slow_sampler_still_has_a_rate() -> None:
    meter = Meter(window=1)
    meter.add(0, 0)
    meter.add(100, 50)
    assert meter.rate == 0.5
    assert pace(meter, 60, "partitions") == "0.5 partitions/s, ETA 20s"


def test_an_unchanged_line_is_shown_once_per_heartbeat_and_a_changed_one_at_once() -> None:
    lines = LineFilter(heartbeat=60)
    shown = [at for at in range(0, 200, 10) if lines.passes(at, "same")]
    assert shown == [0, 60, 120, 180]
    assert lines.passes(191, "other")


def test_a_wait_ends_with_the_look_that_says_done() -> None:
    time, shown, states = FakeTime(), [], iter([GOING, GOING, DONE])
    result = follow(
        lambda elapsed: Step(next(states), f"{int(elapsed)} of 10", {"seen": elapsed}),
        shown.append, time.clock, time.sleep, timeout=60, interval=5,
    )  # fmt: skip
    assert (result.last.state, result.timed_out, result.looks, result.elapsed) == (DONE, False, 3, 10.0)
    assert shown[1] == "5 of 10, elapsed 5s of 1m00s"
    assert [row["seen"] for row in result.history] == [0, 5, 10]
    assert result.as_result()["history"][-1]["state"] == DONE


@pytest.mark.parametrize("last", [GOING, FAILED])
def test_a_wait_in_vain_returns_only_its_last_rows(last: str) -> None:
    time = FakeTime()
    result = follow(
        lambda elapsed: Step(last if elapsed >= 50 else GOING, "x", {"seen": elapsed}),
        lambda line: None, time.clock, time.sleep, timeout=50, interval=5,
    )  # fmt: skip
    assert (result.looks, len(result.history)) == (11, 11)
    assert [row["seen"] for row in result.as_result()["history"]] == [40, 45, 50]


def test_a_wait_never_sleeps_past_its_timeout_and_always_looks_once() -> None:
    time = FakeTime()
    result = follow(lambda elapsed: Step(GOING, "x"), lambda line: None, time.clock, time.sleep, timeout=12, interval=5)
    assert result.timed_out
    assert result.elapsed == 12
    assert time.slept == [5, 5, 2]
    once = follow(lambda elapsed: Step(GOING, "x"), lambda line: None, time.clock, time.sleep, timeout=0, interval=5)
    assert (once.looks, once.timed_out) == (1, True)


def test_progress_gives_a_wait_its_whole_time_again_and_standing_still_does_not() -> None:
    time = FakeTime()
    found = follow(
        lambda elapsed: Step(GOING, "x", progress=str(min(int(elapsed / 10), 5))),
        lambda line: None, time.clock, time.sleep, timeout=20, interval=5,
    )  # fmt: skip
    assert (found.timed_out, found.elapsed) == (True, 70.0), "20 s behind the last progress, at 50 s"


def test_a_wait_that_makes_progress_for_ever_ends_all_the_same() -> None:
    time = FakeTime()
    shown: list[str] = []
    found = follow(
        lambda elapsed: Step(GOING, "x", progress=str(elapsed)),
        shown.append,
        time.clock,
        time.sleep,
        timeout=20,
        interval=5,
    )
    assert (found.timed_out, found.elapsed) == (True, 20.0 * PATIENCE)
    assert shown[-1].endswith("of 20m00s")


def test_only_what_is_further_than_ever_is_progress() -> None:
    advance = Advance()
    told = []
    for done, behind in (
        (90, None),
        (60, None),
        (90, None),
        (91, None),
        (91, -500),
        (91, -800),
        (70, -500),
        (70, -499),
    ):
        advance.take(done=done, behind=behind)
        told.append(str(advance))
    assert told == ["", "", "", "moved 1", "moved 1", "moved 1", "moved 1", "moved 2"]


def test_a_wait_that_lasted_longer_than_its_timeout_says_why() -> None:
    time = FakeTime()
    found = follow(
        lambda elapsed: Step(GOING, "x", progress=str(min(int(elapsed / 10), 5))),
        lambda line: None, time.clock, time.sleep, timeout=20, interval=5,
    )  # fmt: skip
    assert "lasted 1m10s: its timeout counts from the last progress, which was 20s before its end" in found.prolonged()
    still = follow(
        lambda elapsed: Step(GOING, "x", progress="as at the first look"),
        lambda line: None, FakeTime().clock, time.sleep, timeout=0, interval=5,
    )  # fmt: skip
    assert still.prolonged() == ""


def test_a_wait_that_is_cut_while_it_makes_progress_does_not_blame_its_timeout() -> None:
    time = FakeTime()
    cut = follow(
        lambda elapsed: Step(GOING, "x", progress=str(elapsed)),
        lambda line: None, time.clock, time.sleep, timeout=10, interval=5,
    )  # fmt: skip
    assert cut.elapsed == 10 * PATIENCE
    assert "lasted 10m00s, 60 times its timeout, and no wait lasts longer. It still made progress 0s" in cut.prolonged()


def test_a_slow_first_look_is_no_progress() -> None:
    time = FakeTime()

    def look(elapsed: float) -> Step:
        time.sleep(0 if elapsed else 4)
        return Step(GOING, "x", progress="where it began")

    assert follow(look, lambda line: None, time.clock, time.sleep, timeout=10, interval=5).prolonged() == ""


def test_a_single_look_is_shown_without_times() -> None:
    time, shown = FakeTime(), list[str]()
    follow(lambda elapsed: Step(GOING, "x"), shown.append, time.clock, time.sleep, timeout=0, interval=5)
    assert shown == ["x"]


def test_a_failed_look_is_not_shown_because_the_error_says_it_in_full() -> None:
    time, shown = FakeTime(), list[str]()
    follow(lambda elapsed: Step(FAILED, "x"), shown.append, time.clock, time.sleep, timeout=9, interval=5)
    assert shown == []


def test_a_failed_look_at_the_end_is_a_failure_and_no_timeout() -> None:
    time = FakeTime()
    result = follow(lambda elapsed: Step(FAILED, "x"), lambda line: None, time.clock, time.sleep, timeout=0, interval=5)
    assert (result.last.state, result.timed_out) == (FAILED, False)


def test_a_look_that_takes_the_whole_interval_is_not_followed_by_a_sleep() -> None:
    time = FakeTime()

    def look(elapsed: float) -> Step:
        time.now += 7
        return Step(GOING, "x")

    follow(look, lambda line: None, time.clock, time.sleep, timeout=20, interval=5)
    assert time.slept == [0.0, 0.0]
