# SPDX-License-Identifier: GPL-3.0-or-later
"""The judgement over a wait: when it ends, what it calls its state, and what it says."""

from __future__ import annotations

from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.progress import DONE, FAILED, GOING, Hold
from ansible_collections.streamops.kafka.plugins.module_utils._gate.isr import Goal, Observation
from ansible_collections.streamops.kafka.plugins.plugin_utils.progress.isr import Tracker

GOOD = Observation(total=10, done=10)
ERROR = Observation(error="no bootstrap server answered")


def behind(count: int, state: str = "registered", size: int | None = None) -> Observation:
    """Return a look at 10 partitions of which the replicas of broker 3 miss in some."""
    listed = [
        {"topic": "a", "partition": n, "leader": 1, "isr": [1], "replicas": [1, 3], "missing": [3], "why": "reason"}
        for n in range(count)
    ]
    return Observation(
        total=10, done=10 - count, missing_replicas=count, bytes_behind=size,
        brokers={"3": state}, missing_by_broker={"3": count}, partitions=listed,
    )  # fmt: skip


def result(*seen: Observation) -> dict[str, Any]:
    """Return what the module returns for these observations."""
    return {"observations": [one.as_dict() for one in seen]}


def tracker(consecutive: int = 3) -> Tracker:
    """Return a tracker of a wait for broker 3."""
    return Tracker(Goal("own", 3), Hold(looks=consecutive), stuck_after=60, start_timeout=10)


def test_good_observations_in_a_row_count_across_intervals() -> None:
    wait = tracker()
    assert wait.step(result(GOOD, GOOD), 0).state == GOING
    assert wait.step(result(GOOD), 5).state == DONE
    assert wait.in_sync


def test_a_bad_observation_or_an_error_starts_the_count_again() -> None:
    for interruption in (behind(1), ERROR):
        wait = tracker()
        wait.step(result(GOOD, GOOD, interruption), 0)
        assert wait.step(result(GOOD, GOOD), 5).state == GOING
        assert wait.step(result(GOOD), 9).state == DONE


def test_replicas_that_come_back_are_catching_up_however_long_it_takes() -> None:
    wait = tracker()
    for step in range(10):
        wait.step(result(behind(10 - step)), 50.0 * step)
    assert wait.state == "catching_up"


def test_bytes_that_shrink_are_progress_even_while_no_partition_is_done() -> None:
    wait = tracker()
    for step in range(10):
        line = wait.step(result(behind(1, size=10_000_000 - step * 1_000_000)), 50.0 * step).text
    assert wait.state == "catching_up"
    assert "1.0 MB behind, 0.02 MB/s, ETA 50s" in line


def test_no_progress_for_the_stated_time_is_stuck_and_says_why() -> None:
    wait = tracker()
    wait.step(result(behind(4)), 0)
    wait.step(result(behind(4)), 59)
    assert wait.state == "catching_up"
    wait.step(result(behind(4)), 60)
    assert wait.state == "stuck"
    assert wait.why() == "broker 3 is registered and misses 4 replicas"


def test_a_broker_that_is_away_is_waited_for_and_then_stuck() -> None:
    wait = tracker()
    wait.step(result(behind(10, "not registered")), 0)
    assert (wait.state, wait.why()) == ("waiting", "broker 3 is not registered")
    wait.step(result(behind(10, "not registered")), 61)
    assert wait.state == "stuck"
    wait.step(result(behind(10, "fenced")), 65)
    assert wait.state == "waiting"
    assert "broker 3 is fenced" in wait.why()


def test_nothing_moving_gives_the_same_line_so_that_it_can_be_collapsed() -> None:
    wait = tracker()
    lines = {wait.step(result(behind(10, "fenced")), at).text for at in (0.0, 5.0, 10.0)}
    assert len(lines) == 1


def test_a_moving_wait_shows_partitions_rate_and_time_left() -> None:
    wait = tracker()
    wait.step(result(behind(10)), 0)
    line = wait.step(result(behind(5)), 10).text
    assert line.startswith("isr_wait broker 3: 5/10 partitions in sync, catching up: broker 3 is registered")
    assert line.endswith("0.5 partitions/s, ETA 10s")


def test_a_cluster_unreachable_from_the_beginning_fails_after_the_start_timeout() -> None:
    wait = tracker()
    assert wait.step(result(ERROR), 0).state == GOING
    assert wait.step(result(ERROR), 10).state == FAILED
    assert "no bootstrap server answered" in wait.failure(300)


def test_a_cluster_that_stops_answering_later_is_tolerated_and_shown() -> None:
    wait = tracker()
    wait.step(result(behind(2)), 0)
    step = wait.step(result(ERROR), 100)
    assert step.state == GOING
    assert "8/10 partitions in sync when last seen, the cluster does not answer (tolerated" in step.text
    assert not wait.in_sync


def test_a_module_that_fails_ends_the_wait() -> None:
    assert tracker().step({"failed": True, "msg": "bad option"}, 0).state == FAILED


def test_the_failure_groups_partitions_by_reason_and_counts_those_not_listed() -> None:
    wait = tracker()
    seen = behind(3)
    wait.step(result(Observation(**{**seen.__dict__, "total": 100, "done": 60})), 0)
    message = wait.failure(300)
    assert "not reached within 5m00s: 40 of 100 partitions" in message
    assert "- reason: a-0 (leader 1, ISR [1] of [1, 3]), a-1" in message
    assert "- and 37 more partitions" in message
    assert message.endswith("This wait changed nothing.")


def test_the_result_carries_the_last_picture() -> None:
    wait = tracker()
    wait.step(result(behind(3, "fenced")), 0)
    found = wait.result()
    assert (found["changed"], found["in_sync"], found["partitions_not_done"]) == (False, False, 3)
    assert found["brokers"] == {"3": "fenced"}


def test_a_wait_for_leaders_names_each_partition_without_one_and_both_ways_out() -> None:
    wait = Tracker(Goal(led_only=True), Hold(looks=3), stuck_after=60, start_timeout=10)
    listed = [
        {"topic": "a", "partition": n, "leader": None, "isr": [2], "replicas": [2], "missing": [], "why": "no leader"}
        for n in range(25)
    ]
    step = wait.step(result(Observation(total=40, done=15, offline=25, partitions=listed)), 1)
    assert "15/40 partitions have a leader" in step.text
    said = wait.failure(30)
    assert "25 of 40 partitions have no leader" in said
    assert all(f"a-{n} (" in said for n in range(25))
    assert "leader_election with type unclean" in said


def flapping(hold: float = 10.0) -> Tracker:
    """Return a tracker of a wait for broker 3 that holds for some seconds."""
    return Tracker(Goal("own", 3, serves=True), Hold(hold, 3), stuck_after=60, start_timeout=10)


FENCED = Observation(total=10, done=10, unmet=["broker 3 is fenced: stopped, or not yet caught up"], away=True)


def test_good_looks_must_go_on_for_the_whole_time() -> None:
    wait = flapping()
    for second in range(10):
        assert wait.step(result(GOOD), float(second)).state == GOING
    assert wait.step(result(GOOD), 10.0).state == DONE
    assert wait.result()["wait_state"] == "in_sync"


def test_a_broker_that_is_fenced_between_its_heartbeats_is_named_as_flapping() -> None:
    wait = flapping()
    for start in (0.0, 20.0):
        wait.step(result(GOOD, GOOD, GOOD), start)
        assert wait.step(result(FENCED), start + 9).state == GOING
    wait.step(result(GOOD), 40.0)
    last = wait.step(result(FENCED), 49.0)
    assert last.state == FAILED
    assert wait.state == "flapping"
    said = wait.failure(600)
    assert "It was reached and lost 3 time(s), last by: broker 3 is fenced" in said
    assert "The broker comes and goes" in said


def test_followers_that_come_and_go_are_waited_for_until_the_timeout() -> None:
    wait = flapping()
    lost = Observation(total=10, done=10, unmet=["broker 2 cannot copy from broker 3"])
    for start in range(0, 50, 10):
        wait.step(result(GOOD), float(start))
        assert wait.step(result(lost), start + 5.0).state == GOING
    assert wait.state == "flapping"


def test_the_time_since_when_the_whole_cluster_is_well_is_kept() -> None:
    wait = flapping()
    settled = Observation(total=10, done=10, settled=True)
    wait.step(result(GOOD), 0.0)
    wait.step(result(settled), 5.0)
    wait.step(result(settled), 12.0)
    assert (wait.settled.count, wait.settled.held) == (2, 12.0)
    wait.step(result(GOOD), 13.0)
    assert wait.settled.count == 0


def test_a_broker_that_leads_nothing_any_more_is_not_waited_for() -> None:
    wait = flapping()
    unled = Observation(total=10, done=10, unmet=["broker 3 leads none of the partitions"], leads_none=True)
    for second in range(5):
        assert wait.step(result(unled), float(second)).state == GOING
    assert wait.step(result(unled), 6.0).state == FAILED
    assert wait.result()["leads_none"]


def test_catching_up_is_progress_as_long_as_less_is_behind_than_ever() -> None:
    wait = tracker()
    looks = [(3, 900), (3, 800), (3, 850), (3, 800), (3, 799), (2, 5000), (3, 5000), (2, 5000)]
    told = [wait.step(result(behind(count, size=size)), 10.0 * n).progress for n, (count, size) in enumerate(looks)]
    assert told == ["", "moved 1", "moved 1", "moved 1", "moved 2", "moved 3", "moved 3", "moved 3"]
    assert wait.step(result(ERROR), 90).progress == "moved 3"
