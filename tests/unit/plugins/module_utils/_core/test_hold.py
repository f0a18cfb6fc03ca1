# SPDX-License-Identifier: GPL-3.0-or-later
"""Good looks that must go on for a time, and what is lost between them."""

from __future__ import annotations

from ansible_collections.streamops.kafka.plugins.module_utils._core.progress import Hold, held


def test_without_a_time_it_counts_looks() -> None:
    hold = Hold(looks=3)
    for at in (0.0, 1.0):
        hold.good(at)
        assert not hold.reached
    hold.good(2.0)
    assert hold.reached


def test_a_time_passes_since_the_beginning_or_the_last_bad_look() -> None:
    hold = Hold(10.0)
    hold.good(0.5)
    assert not hold.reached
    hold.bad(9.0, "broker 1 is fenced")
    hold.good(12.0)
    hold.good(18.9)
    assert not hold.reached
    hold.good(19.0)
    assert hold.reached
    assert hold.lost == ["broker 1 is fenced"]


def test_one_good_look_that_lasts_is_not_enough_after_a_bad_one_or_without_an_earlier_wait() -> None:
    earlier = held(10.0, since=5.0, now=1000.0)
    earlier.bad(0.0, "broker 1 is fenced")
    for hold in (earlier, Hold(10.0)):
        for at, reached in ((1.0, False), (20.0, False), (21.0, True)):
            hold.good(at)
            assert hold.reached is reached


def test_what_was_never_good_is_not_lost() -> None:
    hold = Hold(1.0)
    hold.bad(0.0, "not yet")
    hold.bad(1.0, "not yet")
    hold.good(2.0)
    hold.bad(3.0)
    assert hold.lost == []


def test_the_time_of_an_earlier_wait_counts_until_a_look_is_bad() -> None:
    hold = held(10.0, since=100.0, now=107.0)
    hold.good(0.0)
    assert not hold.reached
    hold.good(3.0)
    assert hold.reached
    hold.bad(4.0, "gone")
    hold.good(5.0)
    assert not hold.reached


def test_a_time_long_ago_or_none_gives_no_more_than_the_whole_hold() -> None:
    long_ago, unknown = held(10.0, since=5.0, now=1000.0, looks=2), held(10.0, since=0.0, now=1000.0)
    long_ago.good(0.0)
    assert not long_ago.reached
    long_ago.good(1.0)
    unknown.good(1.0)
    assert long_ago.reached
    assert not unknown.reached
    assert str(unknown) == "1 of 3 good observations, for 1 of 10 s"
