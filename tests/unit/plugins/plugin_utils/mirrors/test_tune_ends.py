# SPDX-License-Identifier: GPL-3.0-or-later
"""Which resource ends a mirror's rate."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors.knee import Point
from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors.tune_ends import (
    Load,
    Machine,
    bound,
    connections,
    end_of,
    machine_of,
)

MB = 1_000_000
IDLE = Machine(cores=8, busy=1.0, own=0.9, round_trip=0.1, receive_bytes=6 * MB)
LOAD = Load(partitions=8, brokers=3, partition_fetch=4 * MB, broker_fetch=16 * MB)


def points(*rates: float) -> list[Point]:
    """A curve over 1, 2, 4 ... tasks with these megabytes a second."""
    return [Point(2**at, (rate * MB,)) for at, rate in enumerate(rates)]


def test_busy_processors_end_it_before_anything_else() -> None:
    found = end_of(points(50, 90, 92), LOAD, replace(IDLE, busy=7.2, own=7.0))
    assert found["resource"] == "cpu"
    assert "7.2 of 8 cores" in found["why"]
    assert "other processes" not in found["why"]


def test_processors_that_others_use_are_told_apart() -> None:
    assert "3.2 of them by other processes" in end_of(points(50), LOAD, replace(IDLE, busy=7.2, own=4.0))["why"]


def test_a_rate_that_stops_growing_at_the_number_of_partitions_is_ended_by_them() -> None:
    found = end_of(points(10, 20, 40, 80, 81), LOAD, IDLE)
    assert found["resource"] == "partitions"
    assert "8 partitions" in found["why"]


def test_one_partition_ends_it_whatever_the_tasks() -> None:
    assert end_of(points(10, 10), replace(LOAD, partitions=1), IDLE)["resource"] == "partitions"


def test_a_small_receive_buffer_over_a_long_way_ends_it() -> None:
    # One connection of 64 KiB at 100 ms: 0.65 MB/s.
    narrow = replace(IDLE, receive_bytes=65536)
    found = end_of(points(0.6), replace(LOAD, partitions=1, brokers=1), narrow)
    assert found["resource"] == "buffers"
    assert "tcp_rmem" in found["why"]


def test_a_small_fetch_over_a_long_way_ends_it() -> None:
    found = end_of(points(9), Load(1, 1, partition_fetch=MB, broker_fetch=16 * MB), IDLE)
    assert found["resource"] == "fetch"
    assert "max.partition.fetch.bytes" in found["why"]


def test_buffers_hold_back_nothing_on_a_near_line() -> None:
    near = replace(IDLE, round_trip=0.0002, receive_bytes=65536)
    assert end_of(points(300, 300), replace(LOAD, brokers=1), near)["resource"] == "line"


def test_a_flat_curve_with_idle_processors_and_room_in_the_buffers_is_the_line_or_a_broker() -> None:
    found = end_of(points(100, 120, 121), LOAD, IDLE)
    assert found["resource"] == "line"
    assert "12.10 MB on their way" in found["why"]


def test_a_curve_that_still_grows_asks_for_more_tasks() -> None:
    assert end_of(points(10, 20, 40), replace(LOAD, partitions=64), IDLE)["resource"] == "more_tasks"


def test_nothing_measured_is_said() -> None:
    assert end_of([], LOAD, IDLE)["resource"] == "unknown"


def test_connections_are_those_of_tasks_that_have_partitions() -> None:
    assert [connections(tasks, LOAD) for tasks in (1, 2, 4, 8, 32)] == [3, 6, 8, 8, 8]


def test_the_bound_is_the_smaller_window_of_each_connection_in_a_round_trip() -> None:
    assert bound(8, LOAD, IDLE) == (8 * 4 * MB / 0.1, "fetch")
    assert bound(8, LOAD, replace(IDLE, receive_bytes=MB)) == (8 * MB / 0.1, "buffers")


def test_the_machine_is_that_of_the_middle_run() -> None:
    rows = [{"busy": busy, "own": busy / 2} for busy in (1.0, 3.0, 2.0)]
    seen = {"cores": 4, "round_trip": 0.05, "receive_bytes": MB}
    assert machine_of(rows, seen) == Machine(4, 2.0, 1.0, 0.05, MB)
