# SPDX-License-Identifier: GPL-3.0-or-later
"""The lock of a run: one holder whoever asks at once, given back, and not kept by the dead."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._node import lock as _lock
from ansible_collections.streamops.kafka.plugins.module_utils._node.lock import (
    Held,
    LockHeldError,
    LockStuckError,
    look,
    release,
    take,
)


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Where the lock is kept."""
    return str(tmp_path / "orders.lock")


def older(path: str, seconds: float) -> None:
    """Give the lock an age."""
    then = time.time() - seconds
    os.utime(path, (then, then))


def test_the_first_gets_it_and_the_second_is_told_by_whom_it_is_held(path: str) -> None:
    assert look(path, "1", 60) is None
    assert take(path, "1", "anna@north", 60) == (True, None)
    mine, found = take(path, "2", "bert@south", 60)
    assert not mine
    assert found is not None
    assert (found.run, found.owner) == ("1", "anna@north")
    assert look(path, "2", 60) is not None


def test_its_own_lock_a_run_may_take_again_and_does_not_see(path: str) -> None:
    take(path, "1", "anna@north", 60)
    assert take(path, "1", "anna@north", 60) == (True, None)
    assert look(path, "1", 60) is None


def test_a_lock_that_was_given_back_is_free(path: str) -> None:
    take(path, "1", "anna@north", 60)
    assert release(path, "1")
    assert look(path, "2", 60) is None
    assert take(path, "2", "bert@south", 60) == (True, None)


def test_nobody_gives_back_what_another_holds(path: str) -> None:
    assert not release(path, "2")
    take(path, "1", "anna@north", 60)
    assert not release(path, "2")
    assert not take(path, "3", "carl@west", 60)[0]


def test_a_lock_ends_by_its_age_and_starts_anew_with_its_next_holder(path: str) -> None:
    take(path, "1", "anna@north", 60)
    older(path, 100)
    assert look(path, "2", 60) is None
    mine, ended = take(path, "2", "bert@south", 60)
    assert mine
    assert ended is not None
    assert ended.owner == "anna@north"
    assert not take(path, "3", "carl@west", 60)[0]
    assert not release(path, "1")


def test_the_lock_of_a_run_known_to_be_dead_ends_at_once_and_no_other(path: str) -> None:
    take(path, "1", "anna@north", 60)
    assert not take(path, "2", "bert@south", 60, dead="0")[0]
    assert look(path, "2", 60, dead="1") is None
    assert take(path, "2", "bert@south", 60, dead="1")[0]


def test_a_lock_ends_at_the_age_that_its_holder_said_and_not_at_that_of_who_asks(path: str) -> None:
    take(path, "1", "anna@north", 5000)
    older(path, 1000)
    assert look(path, "2", 60) is not None
    older(path, 6000)
    assert look(path, "2", 100000) is None


def test_who_takes_it_anew_starts_its_age_and_says_another_time(path: str) -> None:
    take(path, "1", "anna@north", 60)
    older(path, 50)
    assert take(path, "1", "anna@north", 500) == (True, None)
    older(path, 400)
    assert not take(path, "2", "bert@south", 60)[0]


def test_a_run_whose_lock_was_taken_over_meanwhile_does_not_get_it_back(path: str) -> None:
    take(path, "1", "anna@north", 60)
    older(path, 100)
    assert take(path, "2", "bert@south", 60)[0]
    assert not take(path, "1", "anna@north", 60)[0]


def test_a_lock_that_says_no_time_of_its_own_ends_at_that_of_who_asks(path: str) -> None:
    Path(path).write_text('{"run": "1", "owner": "anna@north"}')
    assert look(path, "2", 60) == Held("1", "anna@north", pytest.approx(0, abs=30))
    older(path, 100)
    assert look(path, "2", 60) is None


def test_the_first_installation_has_no_directory_yet(tmp_path: Path) -> None:
    path = str(tmp_path / "etc" / "kafka" / "orders.lock")
    assert look(path, "1", 60) is None
    assert take(path, "1", "anna@north", 60)[0]
    assert not take(path, "2", "bert@south", 60)[0]


@pytest.mark.parametrize("text", ["[1]", '"words"', "{}", '{"run": "1", "owner": "a", "seconds": "long"}', "null"])
def test_what_another_program_wrote_is_held_by_a_run_without_a_name(path: str, text: str) -> None:
    Path(path).write_text(text)
    found = look(path, "2", 60)
    assert found is not None
    assert found.owner == "a run that cannot be named"


def test_what_cannot_be_read_is_held_by_somebody(path: str) -> None:
    Path(path).write_text("{")
    mine, found = take(path, "2", "bert@south", 60)
    assert not mine
    assert found is not None
    assert found.owner == "a run that cannot be named"


def test_an_empty_file_left_long_ago_gives_a_lock_of_age_zero(path: str) -> None:
    Path(path).write_text("")
    older(path, 1000)
    take(path, "1", "anna@north", 60)
    assert not take(path, "2", "bert@south", 60)[0]


def contend(arguments: tuple[str, int]) -> bool:
    """Ask for the lock as one of many."""
    path, number = arguments
    return take(path, str(number), f"run {number}", 60)[0]


def test_of_many_who_ask_at_once_one_gets_it(tmp_path: Path) -> None:
    with ProcessPoolExecutor(8) as pool:
        for attempt in range(20):
            asked = [(str(tmp_path / f"{attempt}.lock"), number) for number in range(8)]
            assert sum(pool.map(contend, asked)) == 1


def test_the_refusal_says_who_since_when_and_how_it_ends() -> None:
    problem = LockHeldError("orders", "/etc/kafka/orders.lock", Held("1", "anna@north (process 7)", 45.2), 1800)
    for part in ("cluster orders", "anna@north (process 7), since 45 s", "ends by itself after 1800 s", "orders.lock"):
        assert part in problem.message
    assert "kafka_ended_run 'anna@north (process 7)'" in problem.message


def test_the_refusal_says_the_playbook_and_the_time_that_the_holder_said() -> None:
    held = Held("1", "anna@north (process 7)", 45.2, purpose="rebalance.yml", seconds=17000)
    problem = LockHeldError("orders", "/etc/kafka/orders.lock", held, 1800)
    assert "another run is changing it (rebalance.yml), anna@north (process 7), since 45 s" in problem.message
    assert "ends by itself after 17000 s" in problem.message
    assert problem.failure["purpose"] == "rebalance.yml"


def test_the_lock_of_a_run_that_has_ended_gives_way_to_whom_names_it(path: str) -> None:
    take(path, "1", "AWX job 7 on pod (process 22)", 60)
    assert look(path, "2", 60, ended="AWX job 7 on pod (process 22)") is None
    mine, found = take(path, "2", "AWX job 8 on pod (process 22)", 60, ended="AWX job 7 on pod (process 22)")
    assert mine
    assert found is not None
    assert found.owner == "AWX job 7 on pod (process 22)"


@pytest.mark.parametrize("ended", ["", "AWX job 7", "AWX job 8 on pod (process 22)"])
def test_the_lock_of_a_run_that_is_not_named_in_full_holds(path: str, ended: str) -> None:
    take(path, "1", "AWX job 7 on pod (process 22)", 60)
    assert look(path, "2", 60, ended=ended) is not None
    assert not take(path, "2", "bert@south", 60, ended=ended)[0]


HOLDS = """
import fcntl, sys, time
file = open(sys.argv[1])
fcntl.flock(file, fcntl.LOCK_EX)
print(flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("ask", [lambda path: take(path, "2", "bert@south", 60), lambda path: release(path, "1")])
def test_a_process_that_is_frozen_with_the_file_is_named_in_bounded_time(
    path: str, ask: Callable[[str], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    take(path, "1", "anna@north", 60)
    monkeypatch.setattr(_lock, "SECONDS", 0.3)
    with subprocess.Popen([sys.executable, "-c", HOLDS, path], stdout=subprocess.PIPE) as frozen:
        assert frozen.stdout is not None
        frozen.stdout.readline()
        frozen.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        try:
            with pytest.raises(LockStuckError) as stuck:
                ask(path)
        finally:
            frozen.kill()
    assert time.monotonic() - began < 5
    assert f"process {frozen.pid} (" in stuck.value.message
    assert "whose lock in it is that of anna@north" in stuck.value.message
    assert not take(path, "2", "bert@south", 60)[0], "it is as it was"


def test_somebody_who_holds_the_file_for_a_moment_is_waited_for(path: str) -> None:
    Path(path).touch()
    with subprocess.Popen([sys.executable, "-c", HOLDS.replace("60", "0.5"), path], stdout=subprocess.PIPE) as short:
        assert short.stdout is not None
        short.stdout.readline()
        assert take(path, "1", "anna@north", 60)[0]
