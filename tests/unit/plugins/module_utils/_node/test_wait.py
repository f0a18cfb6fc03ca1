"""A wait for a node ends when it is up, gone, dead or late, and says which."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.progress import Followed, follow
from ansible_collections.streamops.kafka.plugins.module_utils._node.wait import (
    DIED,
    REACHED,
    SILENT_WORK,
    WAITING,
    Life,
    Tracker,
    judge,
)

ONE, TWO = Life(11, 100), Life(11, 200)
OPTIONS = {"node": "kafka1", "state": "started", "timeout": 60, "interval": 2.0, "start_timeout": 10.0, "steady": 0.0}


@pytest.mark.parametrize(
    ("state", "seen", "now", "missing", "verdict"),
    [
        ("started", None, None, [], WAITING),
        ("started", None, ONE, [9092], WAITING),
        ("started", None, ONE, [], REACHED),
        ("started", ONE, ONE, [], REACHED),
        ("started", ONE, None, [], DIED),
        ("started", ONE, TWO, [], DIED),
        ("stopped", ONE, ONE, [], WAITING),
        ("stopped", ONE, None, [], REACHED),
        ("stopped", None, None, [], REACHED),
    ],
)
def test_judges_one_look(state: str, seen: Life | None, now: Life | None, missing: list[int], verdict: str) -> None:
    assert judge(state, seen, now, missing) == verdict


def test_a_process_that_listens_nowhere_has_to_say_that_it_serves() -> None:
    assert judge("started", None, ONE, [], said=False) == WAITING
    assert judge("started", ONE, ONE, [], said=True) == REACHED
    assert judge("stopped", ONE, None, [], said=False) == REACHED


def test_a_voter_that_is_still_starting_is_told_as_that_and_nothing_of_its_network() -> None:
    line = "[2026-11-29 07:00:01,000] INFO Registered kafka:type=kafka.Log4jController MBean"
    tracker, followed, lines = wait([found(WAITING, ONE, [9092], led=False, starting=line)])
    assert followed.timed_out
    assert "process 11 is starting; it waits for port 9092" in lines[0]
    told = tracker.failure(followed)["msg"]
    assert "It is still starting: after 60 s it does not take part in its quorum yet" in told
    assert f"its log says last: {line}" in told
    assert "raise kafka_start_timeout" in told
    assert "firewall" not in told
    # One that takes part and finds nobody.
    tracker, followed, _lines = wait([found(WAITING, ONE, [9092], led=False)])
    assert "firewall" in tracker.failure(followed)["msg"]


def test_a_controller_whose_quorum_has_no_leader_is_not_up() -> None:
    assert judge("started", ONE, ONE, [], led=False) == WAITING
    assert judge("stopped", ONE, None, [], led=False) == REACHED


def found(verdict: str, life: Life | None, missing: list[int] | None = None, **other: Any) -> dict[str, Any]:
    process = {"running": life is not None, "pid": life and life.pid, "start_time": life and life.start_time}
    plain = {"verdict": verdict, "process": process, "missing_ports": missing or [], "ports": {}, "now": 1000.0}
    return {**plain, "ended_recently": False, "log_lines": [], "log_files": ["server.log"], "loading": "", **other}


def wait(looks: list[dict[str, Any]], **options: Any) -> tuple[Tracker, Followed, list[str]]:
    """Run a wait over these looks, the last one again and again, on a clock that only sleeping moves."""
    tracker, lines, now = Tracker({**OPTIONS, **options}), [], [0.0]
    rest = iter(looks)

    def look(elapsed: float) -> Any:
        return tracker.step(next(rest, looks[-1]), elapsed)

    def sleep(seconds: float) -> None:
        now[0] += seconds

    clock: Callable[[], float] = lambda: now[0]  # noqa: E731
    followed = follow(look, lines.append, clock, sleep, 60, 2.0)
    return tracker, followed, lines


def test_a_node_that_comes_up_is_done() -> None:
    tracker, followed, lines = wait([found(WAITING, None), found(WAITING, ONE, [9092]), found(REACHED, ONE)])
    assert (followed.last.state, followed.timed_out, followed.looks) == ("done", False, 3)
    assert tracker.overrides() == {"seen": {"first_look": 1000.0, "pid": 11, "start_time": 100}}
    assert "waits for port 9092" in lines[1]


def test_a_node_that_dies_fails_at_once_with_its_own_last_lines() -> None:
    tracker, followed, _lines = wait([found(WAITING, ONE, [9092]), found(DIED, None, log_lines=["ERROR bad value"])])
    assert (followed.last.state, followed.timed_out) == ("failed", False)
    failure = tracker.failure(followed)
    assert failure["msg"].startswith("node kafka1: failed: its process ended.")
    assert "ERROR bad value" in failure["msg"]
    assert "All other nodes are untouched" in failure["msg"]
    assert failure["failure"]["kind"] == "NodeDied"


def test_a_node_that_was_dead_before_the_first_look_fails_at_once() -> None:
    tracker, followed, _lines = wait([found(WAITING, None, ended_recently=True, log_lines=["ERROR x"])])
    assert followed.looks == 1
    assert "ended right after its start" in tracker.failure(followed)["msg"]


def test_a_node_that_nothing_starts_fails_after_the_start_timeout() -> None:
    tracker, followed, _lines = wait([found(WAITING, None)])
    assert (followed.last.state, followed.elapsed) == ("failed", 10.0)
    assert "no process was started" in tracker.failure(followed)["msg"]
    assert "no error line" in tracker.failure(followed)["msg"]


def test_a_node_that_never_listens_times_out_and_names_who_holds_the_port() -> None:
    holder = {"9092": {"pid": 77, "command": "nginx", "ours": False, "note": ""}}
    tracker, followed, _lines = wait([found(WAITING, ONE, [9092], ports=holder)])
    failure = tracker.failure(followed)
    assert followed.timed_out
    assert "not started within 60 s: process 11 runs, waits for port 9092." in failure["msg"]
    assert "port 9092 is held by process 77 (nginx)" in failure["msg"]
    assert failure["failure"]["kind"] == "NodeWaitTimeout"
    assert "slow" not in failure["msg"]


def test_a_node_that_says_nothing_may_be_slow_or_frozen() -> None:
    tracker, followed, _lines = wait([found(WAITING, ONE, [9092])])
    assert "it may be slow or frozen; fix: look at the load" in tracker.failure(followed)["failure"]["why"]
    tracker, followed, _lines = wait([found(WAITING, ONE, [9092], log_lines=["ERROR x"])])
    assert "slow" not in tracker.failure(followed)["msg"]


def test_a_controller_without_a_leader_times_out_with_the_cause_that_its_log_tells() -> None:
    cause = "another node refuses the certificate; fix: renew it"
    tracker, followed, lines = wait([found(WAITING, ONE, [], led=False, cause=cause, log_lines=["ERROR x"])])
    assert "process 11 runs, and its quorum has no leader" in lines[0]
    failure = tracker.failure(followed)
    assert (
        "not started within 60 s: process 11 runs, and its quorum has no leader.\nIts log says why: another node"
        in (failure["msg"])
    )
    assert failure["failure"]["cause"] == cause


def test_a_node_that_dies_with_a_leader_is_told_by_its_own_lines_alone() -> None:
    tracker, followed, _lines = wait([found(WAITING, ONE, [9092]), found(DIED, None, cause="refused; fix: renew")])
    assert "says why" not in tracker.failure(followed)["msg"]
    tracker, followed, _lines = wait([found(WAITING, ONE), found(DIED, None, led=False, cause="refused; fix: renew")])
    told = tracker.failure(followed)["msg"]
    assert "failed: its process ended, and its quorum has no leader.\nIts log says why: refused; fix: renew." in told


def test_a_node_that_dies_of_what_ends_a_process_by_itself_is_told_so_with_a_leader_too() -> None:
    looks = [found(WAITING, ONE, [9092]), found(DIED, None, cause="refused; fix: renew", ended_by="full disk; fix: x")]
    tracker, followed, _lines = wait(looks)
    failure = tracker.failure(followed)
    assert "its process ended.\nIts log says why: full disk; fix: x." in failure["msg"]
    assert failure["failure"]["cause"] == "full disk; fix: x"


def test_a_controller_without_a_leader_and_without_an_error_reaches_no_other() -> None:
    tracker, followed, _lines = wait([found(WAITING, ONE, [9092], led=False, cause="")])
    assert "has no leader; it waits for port 9092." in tracker.failure(followed)["msg"]
    assert (
        "it cannot reach a majority of the controllers; fix: see that the others run"
        in (tracker.failure(followed)["msg"])
    )


def test_waiting_for_the_end_shows_what_still_runs() -> None:
    _tracker, followed, lines = wait([found(WAITING, ONE), found(REACHED, None)], state="stopped")
    assert followed.last.state == "done"
    assert "process 11 still runs" in lines[0]


def test_a_node_that_does_not_stop_ends_the_run_before_what_stops_after_it() -> None:
    tracker, followed, _lines = wait([found(WAITING, ONE)], state="stopped")
    assert (followed.last.state, followed.timed_out) == ("going", True)
    said = tracker.failure(followed)["msg"]
    assert "not stopped within 60 s: process 11 still runs" in said
    assert "controllers and servers of ZooKeeper do after brokers, was not asked to stop" in said
    assert "All other nodes are untouched" not in said


def test_a_look_that_fails_ends_the_wait() -> None:
    _tracker, followed, _lines = wait([{"failed": True, "msg": "unreachable"}])
    assert followed.last.state == "failed"


def led(epoch: int, since: float, now: float) -> dict[str, Any]:
    """Return a look at a controller whose quorum has had its leader since then; its process began at 900."""
    quorum = {"leader": 2, "epoch": epoch, "records": True, "changed_at": since}
    process = {"running": True, "pid": ONE.pid, "start_time": ONE.start_time, "since": 900.0}
    return found(REACHED, ONE, quorum=quorum, now=now) | {"process": process}


def test_a_leader_that_has_lasted_long_enough_is_steady_at_the_first_look() -> None:
    tracker, followed, _lines = wait([led(7, 950.0, 1000.0)], steady=10.0)
    assert (followed.last.state, followed.looks) == ("done", 1)
    assert tracker.last["quorum"]["epoch"] == 7


def test_a_leader_from_before_the_process_began_says_nothing() -> None:
    _tracker, followed, _lines = wait([led(7, 100.0, 905.0), led(7, 100.0, 911.0)], steady=10.0)
    assert (followed.last.state, followed.looks) == ("done", 2)


def test_a_quorum_that_elects_one_leader_after_the_other_is_named() -> None:
    looks = [led(4 + 10 * number, 1000.0 + 2 * number, 1001.0 + 2 * number) for number in range(40)]
    tracker, followed, _lines = wait(looks, steady=10.0)
    assert followed.timed_out
    said = tracker.failure(followed)["msg"]
    assert "has leader 2 in epoch" in said
    assert "after epochs 4 to" in said
    assert "elect one leader after the other" in said


def test_a_start_that_logs_ever_new_lines_is_waited_for_and_one_that_repeats_them_is_not() -> None:
    slow = [found(WAITING, ONE, [9092], forms=list(range(1, number + 1))) for number in range(1, 101)]
    tracker, followed, _lines = wait(slow)
    assert (followed.timed_out, followed.elapsed) == (True, 258.0), "60 s behind the last new line, at 198 s"
    assert (
        "lasted 4m18s: its timeout counts from the last progress, which was 1m00s before"
        in (tracker.failure(followed)["msg"])
    )
    loop = [found(WAITING, ONE, [9092], forms=[7 + number % 3]) for number in range(400)]
    _tracker, followed, _lines = wait(loop)
    assert followed.elapsed == 64.0, "the third form was the last new one"


def test_a_process_without_a_line_is_waited_for_while_it_works_and_not_for_ever() -> None:
    def working(seconds_a_look: float) -> float:
        looks = [found(WAITING, ONE, [9092], processor_seconds=seconds_a_look * number) for number in range(3000)]
        return wait(looks)[1].elapsed

    assert working(0.0) == 60.0
    assert working(0.5) == 2 * SILENT_WORK / 0.5 + 60.0, "no longer than it may work without a word"
    assert working(0.01) == 60.0, "one that only waits uses that much too"


def test_work_without_a_line_is_no_progress_once_it_has_logged() -> None:
    looks = [found(WAITING, ONE, [9092], forms=[1], processor_seconds=number) for number in range(100)]
    assert wait(looks)[1].elapsed == 60.0


def test_a_stop_that_logs_new_lines_is_waited_for() -> None:
    looks = [found(WAITING, ONE, forms=list(range(number)), processor_seconds=9.0 * number) for number in range(1, 51)]
    _tracker, followed, _lines = wait(looks, state="stopped")
    assert (followed.timed_out, followed.elapsed) == (True, 158.0)
