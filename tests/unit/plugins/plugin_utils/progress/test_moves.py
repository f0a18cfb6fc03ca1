# SPDX-License-Identifier: GPL-3.0-or-later
"""What people see of a reassignment, and read when it did not end."""

from __future__ import annotations

from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.progress import DONE, FAILED, GOING
from ansible_collections.streamops.kafka.plugins.plugin_utils.progress.moves import (
    FIRST_LOOK,
    STANDSTILL,
    Tracker,
)


def figures(**changed: Any) -> dict[str, Any]:
    """The figures of one call."""
    return {
        "batches_total": 2,
        "batches_done": 0,
        "partitions_total": 4,
        "partitions_done": 1,
        "moves_total": 4,
        "moves_done": 1,
        "bytes_total": 4_000_000,
        "bytes_done": 1_500_000,
        "in_flight": ["t-1"],
        "in_flight_total": 1,
        "not_begun": 2,
        "taken": [],
        "slowest": {"partition": "t-1", "bytes": 1_000_000, "bytes_done": 500_000},
        "behind": [],
        **changed,
    }


def moving(**changed: Any) -> dict[str, Any]:
    """The result of a call while something moves."""
    return {"changed": True, "stage": "moving", "progress": figures(**changed)}


def test_the_line_tells_moves_bytes_rate_and_the_slowest() -> None:
    tracker = Tracker("applied")
    tracker.step(moving(bytes_done=500_000), 0.0)
    step = tracker.step(moving(), 1.0)
    assert (step.state, step.facts["bytes_done"]) == (GOING, 1_500_000)
    assert step.text == (
        "reassignment applied: 1/4 moves, 1.5/4.0 MB, batch 1 of 2, slowest t-1 (0.5/1.0 MB), 1 MB/s, ETA 2s"
    )


def test_a_plan_is_not_said_to_be_applied_or_done() -> None:
    planned = Tracker("applied", check=True).step({"changed": True, "stage": "planned"}, 0.0)
    assert (planned.state, planned.text) == (DONE, "reassignment planned: check mode, nothing was changed")
    nothing = Tracker("applied", check=True).step({"changed": False, "stage": "done"}, 0.0)
    assert (nothing.state, nothing.text) == (DONE, "reassignment planned: nothing to do")
    assert Tracker("applied").step({"changed": False, "stage": "done"}, 0.0).text == "reassignment applied: done"


def test_a_broker_that_is_down_is_named() -> None:
    late = [{"broker": 3, "alive": False, "partitions": ["t-1"], "partitions_total": 1}]
    tracker = Tracker("applied")
    assert tracker.step(moving(behind=late), 0.0).text.endswith("broker 3 is down, 1 partitions wait for it")
    assert "broker 3 (down): 1 partitions (t-1)" in tracker.timed_out(5)
    assert "1 of 4 moves (1500000 of 4000000 bytes) are done. 1 partitions are still moving" in tracker.timed_out(5)


def test_the_plan_of_the_first_call_stays_and_figures_are_those_of_the_last() -> None:
    tracker = Tracker("applied")
    tracker.step({**moving(), "moves": 4, "changes": [1]}, 0.0)
    step = tracker.step({"changed": True, "stage": "done", "progress": figures(moves_done=4), "elected": []}, 1.0)
    assert step.state == DONE
    assert (tracker.result["moves"], tracker.result["changes"], tracker.result["elected"]) == (4, [1], [])
    assert (tracker.result["progress"]["moves_done"], tracker.result["changed"]) == (4, True)


def test_a_cluster_that_does_not_answer_is_tolerated_once_something_has_begun() -> None:
    failure = {"failed": True, "msg": "no", "failure": {"kind": "ClusterUnreachableError", "passing": True}}
    assert Tracker("applied").step(failure, 0.0).state == FAILED
    tracker = Tracker("applied")
    tracker.step(moving(), 0.0)
    assert tracker.step(failure, 1.0).state == GOING
    assert tracker.step({**failure, "failure": {"kind": "RefusedError"}}, 2.0).state == FAILED


def test_refused_partitions_are_listed_with_their_reasons() -> None:
    tracker = Tracker("applied")
    step = tracker.step({"changed": True, "stage": "stopped", "progress": figures(), "refused": {"t-2": "no"}}, 0.0)
    assert step.state == FAILED
    assert "refused 1 partitions, so nothing more was begun:\n- t-2: no\n" in tracker.stopped()


def test_waiting_for_others_changes_nothing_and_says_so() -> None:
    tracker = Tracker("applied")
    step = tracker.step({"changed": False, "stage": "waiting", "foreign": ["x-1"], "foreign_total": 1}, 0.0)
    assert (step.state, tracker.result["changed"]) == (GOING, False)
    assert "Nothing was changed." in tracker.timed_out(2)


def test_what_was_cancelled_adds_up_and_what_cannot_be_is_told_at_the_end() -> None:
    tracker = Tracker("cancelled")
    call = {"changed": True, "stage": "moving", "cancelled": ["t-1"], "not_cancelled": {"t-2": "few"}, "diff": {1: 2}}
    assert tracker.step(call, 0.0).state == GOING
    tracker.step({**call, "cancelled": ["t-3"], "diff": {}}, 1.0)
    assert (tracker.result["cancelled"], tracker.result["diff"]) == (["t-1", "t-3"], {1: 2})
    said = "1 partitions could not be cancelled and go on under their throttles:\n- t-2: few"
    assert said in tracker.timed_out(9)


def unanswered(**stands: Any) -> dict[str, Any]:
    """The result of a call that a dead broker kept from looking."""
    return {
        "changed": False,
        "stage": "unanswered",
        "unanswered": {"3 (kafka3:9092)": "refused"},
        "stands": {"in_flight_total": 2, "throttled": [1, 3], **stands},
        "said": "describe configs: refused",
    }


def test_the_first_look_waits_for_a_broker_that_does_not_answer_and_then_says_what_stands() -> None:
    tracker = Tracker("applied")
    step = tracker.step(unanswered(), 0.0)
    assert (step.state, step.text) == (
        GOING,
        "reassignment applied: waiting for broker 3 (kafka3:9092), which does not answer: refused",
    )
    assert "2 partitions of an earlier run are still moving" in tracker.timed_out(5)
    late = tracker.step(unanswered(), FIRST_LOOK + 1)
    assert late.state == FAILED
    assert (tracker.result["failed"], tracker.result["changed"]) == (True, False)
    assert "Throttles stand on brokers 1, 3, and what they were before is kept" in tracker.result["msg"]
    assert "Start that broker" in tracker.result["msg"]


def test_once_begun_a_broker_that_does_not_answer_is_waited_for_until_the_timeout() -> None:
    tracker = Tracker("applied")
    tracker.step(moving(), 0.0)
    assert tracker.step(unanswered(), FIRST_LOOK + 1).state == GOING
    assert tracker.step(moving(), FIRST_LOOK + 2).state == GOING
    assert "goes on by" not in tracker.timed_out(5)


def test_a_run_that_may_begin_nothing_ends_and_names_what_is_in_its_way() -> None:
    full = {"held": {"t-1": "broker 4 has room for 0 more bytes"}, "held_total": 1, "in_flight_total": 0}
    tracker = Tracker("applied")
    step = tracker.step(moving(**full), 0.0)
    assert step.text.endswith("1 must wait, t-1: broker 4 has room for 0 more bytes")
    assert tracker.step(moving(**{**full, "in_flight_total": 1}), STANDSTILL + 1).state == GOING
    assert tracker.step(moving(**full), STANDSTILL + 2).state == GOING
    assert not tracker.stuck
    assert "1 move cannot start yet:\n- t-1: broker 4 has room for 0 more bytes\nThrottles stay" in tracker.timed_out(5)
    assert tracker.step(moving(**full), 2 * STANDSTILL + 3).state == FAILED
    assert tracker.stuck
    assert "1 move cannot start:\n- t-1: broker 4 has room" in tracker.stood_still()
    assert "Throttles stand, and what they were before is kept" in tracker.stood_still()
