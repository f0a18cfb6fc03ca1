# SPDX-License-Identifier: GPL-3.0-or-later
"""What a tuning found, from the rows of its runs."""

from __future__ import annotations

from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._mirror_tune.grid import Run
from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors import tune_result
from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors.tune_result import (
    better_settings,
    chosen_settings,
    cores_used,
    inventory_lines,
    lines,
    option_curve,
    tasks_curve,
)

MB = 1_000_000


def row(kind: str, tasks: int, rate: float | None, option: str = "", **settings: Any) -> dict[str, Any]:
    """The row of a run with this rate in MB/s."""
    run = Run(1, kind, 1, tasks, option, settings)
    return {**run.as_dict(), "bytes_per_second": None if rate is None else rate * MB}


TASKS = [row("tasks", 4, 100), row("tasks", 1, 40), row("tasks", 4, 100), row("tasks", 1, 42), row("tasks", 8, 102)]


def linger(value: int, rate: float) -> dict[str, Any]:
    """A run of another linger."""
    return row("option", 4, rate, "linger", linger=value)


def batch(value: int, rate: float) -> dict[str, Any]:
    """A run of another batch."""
    return row("option", 4, rate, "batch", batch=value)


def test_the_curve_over_tasks_goes_from_few_to_many() -> None:
    assert [point.value for point in tasks_curve(TASKS)] == [1, 4, 8]


def test_the_role_s_own_value_stands_in_the_curve_of_an_option_with_the_rates_of_the_knee() -> None:
    found = option_curve([*TASKS, linger(0, 90), linger(100, 120)], "linger")
    assert [(point.value, point.median / MB) for point in found] == [(0, 90), (20, 100), (100, 120)]
    assert option_curve(TASKS, "linger") == []


def test_only_better_values_are_proposed() -> None:
    rows = [*TASKS, linger(0, 90), linger(100, 103), batch(1048576, 130)]
    assert better_settings(rows) == {"batch": 1048576}
    assert inventory_lines("dc_a->dc_b", rows, "line", 2) == [
        "# variables of the mirrors next to dc_b",
        "mirror_maker_tasks_max: 4",
        "mirror_maker_config:",
        '  "dc_b.producer.batch.size": 1048576',
    ]


def test_values_that_lose_together_leave_the_best_one_alone() -> None:
    alone = [*TASKS, linger(100, 120), batch(1048576, 130)]
    both = {"linger": 100, "batch": 1048576}
    assert chosen_settings([*alone, row("together", 4, 140, **both)]) == both
    assert chosen_settings([*alone, row("together", 4, 110, **both)]) == {"batch": 1048576}


def test_values_of_the_consumer_go_into_the_flow() -> None:
    rows = [*TASKS, row("option", 4, 150, "fetch", fetch=16777216)]
    assert inventory_lines("dc_a->dc_b", rows, "fetch", 1)[2:] == [
        "# in the flow dc_a->dc_b of mirror_flows",
        "config:",
        "  consumer.max.partition.fetch.bytes: 16777216",
        "  consumer.fetch.max.bytes: 67108864",
    ]


def test_where_processors_end_it_each_mirror_takes_as_many_tasks() -> None:
    assert "mirror_maker_tasks_max: 12" in inventory_lines("dc_a->dc_b", TASKS, "cpu", 3)
    assert "mirror_maker_tasks_max: 4" in inventory_lines("dc_a->dc_b", TASKS, "line", 3)


def test_nothing_measured_proposes_nothing_and_says_what_to_do() -> None:
    rows = [row("tasks", 1, None)]
    assert inventory_lines("dc_a->dc_b", rows, "unknown", 1) == []
    (said,) = lines("dc_a->dc_b", rows, {"resource": "unknown", "why": ""}, 1)
    assert "Raise mirror_tune_bytes" in said


def test_runs_that_failed_are_told() -> None:
    failed = {**row("tasks", 8, None), "number": 9, "problem": "its mirror ended by itself"}
    said = "\n".join(lines("dc_a->dc_b", [*TASKS, failed], {"resource": "line", "why": ""}, 1))
    assert "Not measured run 9 (8 tasks): its mirror ended by itself" in said
    found = lines("dc_a->dc_b", [failed], {"resource": "unknown", "why": ""}, 1)
    assert found == [
        "Knee         dc_a->dc_b: not found, since every run failed",
        "Not measured run 9 (8 tasks): its mirror ended by itself",
    ]


def test_a_tuning_that_was_cut_says_how_many_runs_are_missing() -> None:
    said = lines("dc_a->dc_b", TASKS, {"resource": "line", "why": ""}, 1, missing=3)
    assert said[0] == "Not finished 3 runs or more are missing, so this holds for the runs before the failure only"
    assert said[1].startswith("Knee ")
    assert not any("Not finished" in line for line in lines("dc_a->dc_b", TASKS, {"resource": "line", "why": ""}, 1))


def test_the_lines_tell_knee_end_curve_and_doubt() -> None:
    said = "\n".join(lines("dc_a->dc_b", TASKS, {"resource": "line", "why": "so it is."}, 1))
    assert "dc_a->dc_b: 4 tasks, 100.0 MB/s ±0 % (best 102.0 MB/s with 8)" in said
    assert "line: so it is." in said
    # 8 tasks ran once.
    assert "not certain" in said


def test_cores_are_counted_between_the_first_and_the_last_record_only() -> None:
    samples = [(0, 10, 0), (10, 20, 5), (12, 23, 8), (14, 26, 11), (20, 26, 11)]
    assert cores_used(samples, 10, 14) == {"busy": 1.5, "own": 1.5}
    assert cores_used(samples, 10, 11) == {"busy": 0.0, "own": 0.0}
    assert cores_used(samples, None, None) == {"busy": 0.0, "own": 0.0}


def test_the_rates_are_those_of_the_module() -> None:
    assert tune_result.rate(tasks_curve(TASKS)[2]) == "102.0 MB/s"
