# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast a run was, from looks at what is in its copy."""

from __future__ import annotations

from ansible_collections.streamops.kafka.plugins.module_utils._mirror_tune.plan import Look, is_over, rate_of


def test_the_rate_is_that_between_the_first_look_with_records_and_the_first_with_all() -> None:
    looks = [Look(0, 0), Look(8, 0), Look(10, 500), Look(12, 2500), Look(14, 4500), Look(15, 4500)]
    assert rate_of(looks, 4500, 1000) == {
        "records": 4500,
        "seconds": 4,
        "first_at": 10,
        "last_at": 14,
        "bytes_per_second": 1_000_000,
    }


def test_time_in_which_nothing_came_counts_while_records_are_missing() -> None:
    # A task that failed, or a mirror that died: without its standstill it would be as fast as a good one.
    looks = [Look(0, 0), Look(10, 500), Look(14, 4500), Look(18, 4500)]
    found = rate_of(looks, 9000, 1000)
    assert (found["seconds"], found["last_at"], found["bytes_per_second"]) == (8, 18, 500_000)


def test_a_run_that_was_over_too_quickly_has_no_rate() -> None:
    found = rate_of([Look(0, 0), Look(1, 10), Look(2, 5000)], 5000, 1000)
    assert (found["records"], found["bytes_per_second"]) == (5000, None)


def test_a_run_in_which_nothing_arrived_or_went_on_has_no_rate() -> None:
    assert rate_of([Look(0, 0), Look(9, 0)], 9, 1000)["bytes_per_second"] is None
    assert rate_of([Look(0, 7), Look(9, 7)], 9, 1000)["bytes_per_second"] is None
    assert rate_of([], 9, 1000)["records"] == 0


def test_a_run_is_over_with_all_records_or_with_its_time() -> None:
    bounds = {"records": 100, "run_seconds": 10.0, "start_seconds": 60.0}
    assert not is_over([], now=1.0, **bounds)
    assert not is_over([Look(0, 0)], now=59.0, **bounds)
    assert is_over([Look(0, 0)], now=60.0, **bounds)
    assert not is_over([Look(0, 0), Look(50, 1)], now=59.0, **bounds)
    assert is_over([Look(0, 0), Look(50, 1)], now=60.0, **bounds)
    assert is_over([Look(0, 0), Look(50, 100)], now=50.0, **bounds)
