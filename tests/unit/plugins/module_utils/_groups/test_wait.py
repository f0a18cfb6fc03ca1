"""How a wait for the lag of groups stands."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.progress import DONE, FAILED, GOING
from ansible_collections.streamops.kafka.plugins.module_utils._groups.wait import Tracker, waited_for

OPTIONS = {"groups": ["billing"], "max_lag": 10, "max_lag_seconds": None, "start_timeout": 30}
DOWN = {"failed": True, "msg": "Kafka cluster a:1: no answer", "failure": {"passing": True}}


def group(*positions: dict[str, Any], error: str | None = None) -> dict[str, Any]:
    """A group of group_info with these positions in orders."""
    topics = [{"name": "orders", "partitions": list(positions)}] if positions else []
    return {"name": "billing", "state": "Empty", "member_count": 0, "error": error, "topics": topics}


def info(*groups: dict[str, Any], missing: tuple[str, ...] = (), silent: tuple[int, ...] = ()) -> dict[str, Any]:
    """A result of group_info."""
    told = [{"id": one, "why": "timed out"} for one in silent]
    return {"groups": list(groups), "missing": list(missing), "vanished": [], "silent_brokers": told}


def at(lag: int | None, state: str = "known", **more: Any) -> dict[str, Any]:
    """A position."""
    return {"lag": lag, "state": state, **more}


def looked(
    lag: int, members: int = 1, unknown: tuple[str, ...] = (), missing: tuple[str, ...] = (), seconds: int = 0
) -> dict[str, Any]:
    """What the module returned."""
    one = {"name": "billing", "state": "Stable", "member_count": members, "lag": lag}
    found = {"lag": lag, "lag_seconds": seconds, "groups": [one]}
    return {**found, "unknown": list(unknown), "missing": list(missing)}


def test_the_whole_log_counts_where_nothing_was_committed() -> None:
    found = waited_for(info(group(at(5), at(None, "no_offset", lag_from_earliest=90))), None)
    assert (found["lag"], found["unknown"], found["groups"][0]["lag"]) == (95, [], 95)


@pytest.mark.parametrize("state", ["topic_deleted", "beyond_end"])
def test_nothing_is_left_where_there_is_nothing_to_read(state: str) -> None:
    assert waited_for(info(group(at(None, state))), None)["unknown"] == []


@pytest.mark.parametrize("state", ["no_answer", "not_allowed", "known"])
def test_an_unknown_lag_is_not_none(state: str) -> None:
    assert len(waited_for(info(group(at(None, state))), None)["unknown"]) == 1


def test_silence_and_errors_are_unknown_and_not_missing() -> None:
    found = waited_for(info(group(error="loading"), silent=(2,)), ["orders"])
    assert len(found["unknown"]) == 2


def test_a_topic_that_the_group_does_not_read_yet_is_waited_for() -> None:
    assert waited_for(info(group(at(0))), ["orders", "audit"])["unknown"] == [
        "group billing: has neither offset nor member in audit"
    ]


def test_it_is_done_at_the_lag_that_is_allowed() -> None:
    tracker = Tracker(OPTIONS)
    assert tracker.step(looked(1_011), 0).state == GOING
    step = tracker.step(looked(11), 10)
    assert (step.state, step.text) == (GOING, "group_wait billing: 11 records behind, 100 records/s, ETA 0s")
    assert tracker.step(looked(10), 20).state == DONE


def test_a_group_without_members_says_so() -> None:
    assert "no members in billing" in Tracker(OPTIONS).step(looked(11, members=0), 0).text


def test_an_unknown_lag_is_not_done() -> None:
    assert Tracker(OPTIONS).step(looked(0, unknown=("broker 2 is silent",)), 0).state == GOING


def test_an_unknown_group_fails_at_once_unless_a_broker_is_silent() -> None:
    step = Tracker(OPTIONS).step(looked(0, missing=("billing",)), 0)
    assert (step.state, step.text) == (FAILED, "group_wait: no broker knows group billing. Correct the name.")
    assert Tracker(OPTIONS).step(looked(0, missing=("billing",), unknown=("silent",)), 0).state == GOING


def test_an_unreachable_cluster_is_tolerated_for_a_while_at_first_and_later_always() -> None:
    tracker = Tracker(OPTIONS)
    assert tracker.step(DOWN, 29).state == GOING
    assert tracker.step(DOWN, 30).state == FAILED
    tracker.step(looked(50), 31)
    assert "50 records behind" in tracker.step(DOWN, 90).text
    assert tracker.step({"failed": True, "msg": "denied", "failure": {"passing": False}}, 95).state == FAILED


def test_the_failure_names_who_is_behind() -> None:
    tracker = Tracker(OPTIONS)
    tracker.step(looked(5_000), 0)
    tracker.step(looked(5_000), 10)
    failure = tracker.failure(10)
    assert "5,000 records behind" in failure["msg"]
    assert "- group billing: 5,000 records, state Stable, 1 member(s)" in failure["msg"]
    assert "Lag is not falling" in failure["msg"]
    tracker.step(looked(4_000), 20)
    assert "catching up" in tracker.failure(20)["msg"]
    assert Tracker(OPTIONS).failure(1)["failure"]["lag"] is None


def timed(**bounds: int) -> Tracker:
    """A wait with a bound of time."""
    return Tracker({**OPTIONS, "max_lag": None, **bounds})


def test_a_bound_of_time_holds_however_many_records_are_left() -> None:
    assert timed(max_lag_seconds=60).step(looked(10**6, seconds=60), 0).state == DONE
    late = timed(max_lag_seconds=60)
    step = late.step(looked(3, seconds=61), 0)
    assert (step.state, step.facts["lag_seconds"]) == (GOING, 61)
    assert "3 records behind, the oldest 1m01s old" in step.text
    assert "lag is not at most 1m00s within" in late.failure(5)["msg"]


def test_with_both_bounds_both_must_hold() -> None:
    both = {"max_lag": 10, "max_lag_seconds": 60}
    assert timed(**both).step(looked(11, seconds=1), 0).state == GOING
    assert timed(**both).step(looked(10, seconds=61), 0).state == GOING
    assert timed(**both).step(looked(10, seconds=60), 0).state == DONE


def test_without_a_bound_nothing_may_be_left() -> None:
    assert timed().step(looked(1), 0).state == GOING
    assert timed().step(looked(0), 0).state == DONE


def test_the_age_of_what_was_never_committed_counts_and_an_unknown_one_is_said() -> None:
    behind = at(None, "no_offset", lag_from_earliest=90, lag_seconds=None, lag_seconds_from_earliest=7)
    looked_at = group(at(5, lag_seconds=3), behind, at(0, lag_seconds=0))
    looked_at["topics"][0]["lag_seconds"] = 3
    assert waited_for(info(looked_at), None)["lag_seconds"] == 7
    looked_at["topics"][0]["partitions"].append(at(5, lag_seconds=None))
    assert waited_for(info(looked_at), None)["unknown"] == ["group billing: orders has records of unknown age"]


def test_fewer_records_than_ever_are_progress_and_a_lag_that_is_not_known_is_none() -> None:
    wait = Tracker(OPTIONS)
    looks = [looked(3000, unknown=("a",)), looked(9000), looked(8000), looked(8500), looked(0, unknown=("a",))]
    told = [wait.step(look, 10.0 * n).progress for n, look in enumerate(looks)]
    assert told == ["", "moved 1", "moved 2", "moved 2", "moved 2"]
    assert wait.step(DOWN, 60).progress == "moved 2"
