# SPDX-License-Identifier: GPL-3.0-or-later
"""The knee: the smallest setting within 5 % of the best, and whether repeats leave a doubt."""

from __future__ import annotations

from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors.knee import Point, better, curve, knee_of


def test_the_knee_is_the_smallest_setting_within_five_percent_of_the_best() -> None:
    points = [Point(1, (40, 41)), Point(2, (80, 81)), Point(4, (96, 97)), Point(8, (100, 99)), Point(16, (90, 91))]
    found = knee_of(points)
    assert found is not None
    assert (found.point.value, found.best.value, found.certain) == (4, 8, True)


def test_six_percent_below_the_best_is_not_near() -> None:
    found = knee_of([Point(1, (94, 94)), Point(2, (100, 100))])
    assert found is not None
    assert found.point.value == 2


def test_a_repeat_of_a_smaller_setting_that_comes_near_leaves_a_doubt() -> None:
    found = knee_of([Point(1, (80, 85, 97)), Point(2, (100, 100, 100))])
    assert found is not None
    assert (found.point.value, found.certain) == (2, False)


def test_one_round_leaves_a_doubt_too() -> None:
    found = knee_of([Point(1, (50,)), Point(2, (100,))])
    assert found is not None
    assert (found.point.value, found.certain) == (2, False)


def test_no_points_have_no_knee() -> None:
    assert knee_of([]) is None


def test_a_point_tells_how_far_its_repeats_lie_from_the_middle() -> None:
    assert Point(1, (90, 100, 105)).spread == 0.1


def test_rows_without_a_rate_are_left_out_of_a_curve() -> None:
    rows = [{"tasks": n, "bytes_per_second": rate} for n, rate in ((1, 10), (2, None), (1, 12), (4, 20))]
    assert curve(rows, "tasks") == [Point(1, (10.0, 12.0)), Point(4, (20.0,))]


def test_a_value_is_better_only_beyond_five_percent_and_both_spreads() -> None:
    assert better([Point(0, (104, 104)), Point(20, (100, 100))], 20) == 20
    assert better([Point(0, (107, 107)), Point(20, (100, 100))], 20) == 0
    assert better([Point(0, (100, 107, 114)), Point(20, (95, 100, 105))], 20) == 20
    assert better([Point(0, (200, 200))], 20) == 20
