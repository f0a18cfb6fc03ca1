# SPDX-License-Identifier: GPL-3.0-or-later
"""The lines that a person reads before a move, made from plans of the planner itself."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._reassign.figures import planned
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.move_lines import SHOWN, megabytes, move_lines


def snapshot(partitions: int) -> dict[str, Any]:
    """Three brokers in three racks, and as many partitions of 1 MB with one replica, all on the first broker."""
    rows = [{"partition": n, "replicas": [1], "size_bytes": 1_000_000} for n in range(partitions)]
    nodes = [{"id": number, "rack": f"r{number}"} for number in (1, 2, 3)]
    return {"nodes": nodes, "topics": [{"name": "orders", "partitions": rows}]}


def plan(partitions: int, **wish: Any) -> dict[str, Any]:
    """What the module returns for a wish."""
    return planned(snapshot(partitions), {"concurrency": 5, "throttle": None, **wish}, registered_only=True)


def test_a_plan_says_how_many_move_why_no_fewer_and_what_every_broker_gets() -> None:
    lines = move_lines(plan(6, rebalance=True, throttle=1_000_000))
    assert lines[0].startswith("4 replicas move (4.0 MB), the fewest possible: ")
    assert lines[1] == "1 batch, about 7s under the throttle"
    assert lines[2] == "broker 1 in r1: replicas 6 -> 2, leaders 6 -> 2, 0 in (0 B), 4 out"
    assert sum(line.startswith("orders-") for line in lines) == 4


def test_a_plan_that_copies_nothing_promises_no_time() -> None:
    rows = [{"partition": 0, "replicas": [1, 2], "size_bytes": 5}]
    found = {**snapshot(1), "topics": [{"name": "orders", "partitions": rows}]}
    options = {"concurrency": 5, "throttle": None, "replication_factor": {"orders": 1}}
    assert move_lines(planned(found, options, registered_only=True))[1] == "1 batch, nothing to copy"


def test_a_long_plan_says_how_many_partitions_it_does_not_show() -> None:
    lines = move_lines(plan(60, rebalance=True))
    assert lines[-1] == f"and {40 - SHOWN} partitions more, which --diff shows"


def test_nothing_to_do_is_said() -> None:
    assert move_lines(plan(6, fix_racks=True)) == ["Nothing to move: everything is as specified."]


def test_what_an_earlier_run_began_is_said() -> None:
    changes = [{"topic": "orders", "partition": 0, "from": [1], "to": [2], "reasons": ["an earlier run began it"]}]
    first, second = move_lines({"changes": changes})
    assert "An earlier run began this and has not ended: 1 partitions are left." in first
    assert second == "orders-0: [1] -> [2] (an earlier run began it)"


def test_a_throttle_of_somebody_else_is_named() -> None:
    left = [{"kind": "broker", "name": "1", "key": "leader.replication.throttled.rate", "value": "1"}]
    assert move_lines({**plan(6, rebalance=True), "leftover_throttles": left})[-1] == (
        "Throttle of unknown origin: broker 1 leader.replication.throttled.rate"
    )


@pytest.mark.parametrize(
    ("count", "shown"), [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (2_500_000, "2.5 MB"), (7e12, "7.0 TB")]
)
def test_bytes_as_people_read_them(count: float, shown: str) -> None:
    assert megabytes(count) == shown


def test_a_plan_by_bytes_says_the_least_bytes_and_who_cannot_be_levelled() -> None:
    found = snapshot(3)
    options = {"concurrency": 5, "throttle": None, "rebalance": True, "balance_by": "bytes"}
    lines = move_lines(planned(found, options, registered_only=True))
    assert lines[0].startswith("2 replicas move (2.0 MB), and to keep all limits of bytes at least 1.9 MB must move; ")
    found["topics"][0]["partitions"][0]["size_bytes"] = 9_000_000
    lines = move_lines(planned(found, options, registered_only=True))
    assert lines[0].startswith("2 replicas move (2.0 MB), and not every broker can keep its limit of bytes; ")
    assert "broker 1 stays above its limit of 4.0 MB with 9.0 MB: orders-0 alone is greater" in lines


def test_a_plan_by_bytes_that_moves_nothing_still_says_who_is_above() -> None:
    found = {**snapshot(1), "nodes": [{"id": 1}, {"id": 2}]}
    options = {"concurrency": 5, "throttle": None, "rebalance": True, "balance_by": "bytes"}
    assert move_lines(planned(found, options, registered_only=True)) == [
        "Nothing to move.",
        "broker 1 stays above its limit of 550.0 kB with 1.0 MB: orders-0 alone is greater",
    ]
