# SPDX-License-Identifier: GPL-3.0-or-later
"""The judgement over a wait for a mirror: when it ends, what it tolerates, what it says."""

from __future__ import annotations

from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.progress import DONE, FAILED, GOING
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.wait import Tracker

OPTIONS = {"source": "a", "target": "b", "engine": "mirror_maker_2", "state": "caught_up", "start_timeout": 30}


def found(lag: int, *problems: str) -> dict[str, Any]:
    """What the module returns for four partitions of which one is behind."""
    return {
        "lag": lag,
        "topics": [{"source": "orders", "lag": lag}, {"source": "idle", "lag": 0}],
        "partitions_total": 4,
        "partitions_done": 3 if lag else 4,
        "problems": list(problems),
        "caught_up": not lag and not problems,
        "heartbeat_age_ms": 5,
        "checkpoint_age_ms": None,
    }


def failed(kind: str, message: str = "target b: it failed") -> dict[str, Any]:
    """What a module returns that failed."""
    passing = kind in ("ClusterUnreachableError", "RequestFailedError", "MirrorNotBegunError")
    return {"failed": True, "msg": message, "failure": {"kind": kind, "passing": passing}}


def test_a_mirror_that_has_caught_up_ends_the_wait() -> None:
    step = Tracker(OPTIONS).step(found(0), 0)
    assert (step.state, step.text) == (DONE, "mirror_status a->b: 0 records behind, 4/4 partitions done")
    assert step.facts["lag"] == 0


def test_rate_and_time_left_are_of_what_is_behind() -> None:
    wait = Tracker(OPTIONS)
    wait.step(found(3000), 0)
    step = wait.step(found(2000), 10)
    assert step.state == GOING
    assert step.text.endswith("2,000 records behind, 3/4 partitions done, 100 records/s, ETA 20s")
    assert "It is catching up" in wait.failure(10)["msg"]


def test_problems_stand_in_the_line_and_keep_the_wait_going() -> None:
    step = Tracker(OPTIONS).step(found(0, "not in b: a.idle"), 0)
    assert (step.state, step.text.split(", ")[-1]) == (GOING, "not in b: a.idle")


def test_a_mirror_that_does_not_move_says_the_same_line_again() -> None:
    wait = Tracker(OPTIONS)
    assert wait.step(found(7), 0).text == wait.step({**found(7), "heartbeat_age_ms": 900}, 5).text


def test_a_wait_in_vain_names_topics_problems_and_what_to_look_at() -> None:
    wait = Tracker(OPTIONS)
    wait.step(found(1234, "no heartbeat came through for longer than 30s"), 0)
    told = wait.failure(60)
    assert told["msg"].splitlines()[:3] == [
        "mirror_status a->b: not caught up within 1m00s: 1,234 records behind, 3 of 4 partitions done.",
        "- behind: orders (1,234 records)",
        "- no heartbeat came through for longer than 30s",
    ]
    assert "The mirror makes no progress: check that it runs" in told["msg"]
    assert told["failure"]["lag"] == 1234


def test_the_legacy_engine_has_a_consumer_group_to_look_at() -> None:
    wait = Tracker({**OPTIONS, "engine": "legacy"})
    wait.step(found(1), 0)
    assert "consumer group in the source" in wait.failure(60)["msg"]


def test_what_may_be_starting_is_tolerated_at_the_beginning_only() -> None:
    wait = Tracker(OPTIONS)
    step = wait.step(failed("MirrorNotBegunError"), 29)
    assert step.state == GOING
    assert "not seen yet, MirrorMaker has not made its topic" in step.text
    assert wait.step(failed("ClusterUnreachableError"), 29).text.endswith(
        "target b does not answer (tolerated, it may be starting)"
    )
    assert wait.step(failed("MirrorNotBegunError"), 30).state == FAILED


def test_wrong_options_are_never_tolerated() -> None:
    for kind in ("NothingToMirrorError", "SameClusterError", "OptionsError", "MissingLibraryError"):
        assert Tracker(OPTIONS).step(failed(kind), 0).state == FAILED
    assert Tracker(OPTIONS).step({"failed": True, "msg": "a bug"}, 0).state == FAILED


def test_what_was_seen_once_may_be_away_for_a_while() -> None:
    wait = Tracker(OPTIONS)
    wait.step(found(7), 0)
    for kind in ("RequestFailedError", "NothingToMirrorError"):
        step = wait.step(failed(kind), 200)
        assert step.state == GOING
        assert "7 records behind, 3/4 partitions done when last seen" in step.text
    assert "- target b: it failed" in wait.failure(300)["msg"]
    assert wait.step(failed("SameClusterError"), 210).state == FAILED


def test_a_wait_that_saw_nothing_ends_with_why() -> None:
    wait = Tracker(OPTIONS)
    wait.step(failed("ClusterUnreachableError"), 0)
    assert wait.failure(5)["msg"] == "target b: it failed"


def test_a_flow_that_only_has_to_run_is_told_by_its_heartbeats() -> None:
    wait = Tracker({**OPTIONS, "state": "alive"})
    away = {"heartbeat_age_ms": 9000, "problems": ["no heartbeat came through since 03:30:00 UTC"], "alive": False}
    step = wait.step(away, 0)
    assert (step.state, step.text) == (GOING, "mirror_status a->b: no heartbeat came through since 03:30:00 UTC")
    said = wait.failure(60)
    assert said["msg"].startswith(
        "mirror_status a->b: not alive within 1m00s: no heartbeat came through since 03:30:00"
    )
    assert said["failure"]["problems"] == away["problems"]
    step = wait.step({"heartbeat_age_ms": 10, "problems": [], "alive": True}, 5)
    assert (step.state, step.text) == (DONE, "mirror_status a->b: a heartbeat came through")


def test_fewer_records_than_ever_are_progress_and_producers_that_write_more_are_none() -> None:
    wait = Tracker(OPTIONS)
    told = [wait.step(found(lag), 10.0 * n).progress for n, lag in enumerate((3000, 2000, 2500, 2001, 1999))]
    assert told == ["", "moved 1", "moved 1", "moved 1", "moved 2"]
    assert wait.step(failed("RequestFailedError"), 60).progress == "moved 2"
