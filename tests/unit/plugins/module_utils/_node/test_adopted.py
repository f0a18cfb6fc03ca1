"""Who ran a node before it was taken over: the file, how its process is known, and what is told of it."""

from __future__ import annotations

import json
import os
import stat as modes
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._node import adopted as subject
from ansible_collections.streamops.kafka.plugins.module_utils._node import adopted_look, adopted_service
from ansible_collections.streamops.kafka.plugins.module_utils._node.adopted import (
    CLAIMED,
    NOBODY,
    OLD,
    RETURNED,
    TAKEN,
    Adopted,
    AdoptedFileError,
    Start,
)
from ansible_collections.streamops.kafka.plugins.module_utils._node.adopted_service import (
    Machine,
    OldServiceError,
    start,
    start_of,
    stop,
)
from ansible_collections.streamops.kafka.plugins.module_utils._node.adopted_state import Wish, bring
from ansible_collections.streamops.kafka.plugins.module_utils._node.process import process

CLAIM: subject.Claim = {
    "manager": "systemd",
    "name": "kafka.service",
    "enabled": True,
    "control": "/opt/kafka/kafka.service",
    "main_class": "kafka.Kafka",
    "properties_file": "/opt/kafka/config/server.properties",
    "release_dir": "/opt/kafka/libs",
    "user": "kafka",
    "logs_dir": "/opt/kafka/logs",
    "pid": 77,
}
UNIT = subject.claimed(CLAIM)
PROGRAM = subject.claimed({**CLAIM, "manager": "supervisor", "name": "a:b", "enabled": False, "control": "/etc/s.conf"})
ARGV = ["java", "-Xmx1g", "kafka.Kafka", "/opt/kafka/config/server.properties", "--override", "broker.rack=a"]


class Node:
    """A machine with one old process, of which it is known what is done to it."""

    def __init__(self, pid: int | None, *answers: tuple[int, str, str], ends: bool = True, comes_back: bool = False):
        self.pid, self.answers, self.ends, self.comes_back = pid, list(answers), ends, comes_back
        self.ran: list[str] = []
        self.now = 0.0
        self.machine = Machine(
            run=self.run,
            find=lambda adopted: self.pid,
            kill=self.kill,
            spawn=self.spawn,
            clock=lambda: self.now,
            sleep=self.sleep,
            supervisorctl="/venv/supervisorctl",
        )

    def run(self, argv: list[str], seconds: float) -> tuple[int, str, str]:
        self.ran.append(" ".join(argv))
        if " stop " in f" {self.ran[-1]} " and self.ends:
            self.pid = None
        if " start " in f" {self.ran[-1]} " and self.ends:
            self.pid = 99
        return self.answers.pop(0) if self.answers else (0, "", "")

    def kill(self, pid: int, number: int) -> None:
        self.ran.append(f"signal {number} to {pid}")
        self.pid = None if self.ends else self.pid

    def spawn(self, how: Start, user: str) -> None:
        self.ran.append(f"{how.argv[0]} as {user}")
        self.pid = 99

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        if self.comes_back and self.now > 1:
            self.pid = 101


def test_the_file_says_what_was_written_and_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "kafka1" / subject.FILE
    params: dict[str, Any] = {"path": str(path), "state": "claimed", "claim": CLAIM, "timeout": 1, "watch": 0}
    assert bring(Wish(**params), True, Node(77).machine)["changed"]
    assert not path.exists()
    result = bring(Wish(**params), False, Node(77).machine)
    assert result["adopted"]["service"] == "systemd kafka.service"
    assert (result["adopted"]["phase"], result["adopted"]["runs"]) == (CLAIMED, OLD)
    assert adopted_look.read(str(path)) == UNIT
    assert modes.S_IMODE(path.stat().st_mode) == 0o600
    assert not bring(Wish(**params), False, Node(77).machine)["changed"]
    for state, phase in (("taken", TAKEN), ("returned", RETURNED)):
        assert bring(Wish(**{**params, "state": state, "claim": None}), False, Node(None).machine)["changed"]
        read = adopted_look.read(str(path))
        assert read is not None
        assert read.phase == phase
    assert bring(Wish(**{**params, "state": "absent"}), False, Node(None).machine) == {"changed": True, "adopted": None}
    assert adopted_look.read(str(path)) is None
    assert not bring(Wish(**{**params, "state": "absent"}), False, Node(None).machine)["changed"]


def test_others_pass_through_the_directories_above_it_whatever_the_umask_is(tmp_path: Path) -> None:
    path = tmp_path / "etc" / "kafka" / "kafka1" / subject.FILE
    umask = os.umask(0o077)
    try:
        bring(Wish(str(path), "claimed", CLAIM, 1, 0), False, Node(77).machine)
        assert os.umask(0o077) == 0o077
    finally:
        os.umask(umask)
    own, *above = (modes.S_IMODE(folder.stat().st_mode) for folder in list(path.parents)[:3])
    assert above == [0o755, 0o755]
    # No mode that its files give it: in the plan of a run in check mode it is to be made, and after this to be changed.
    assert own == 0o700


def test_a_service_that_a_cut_run_disabled_is_still_known_as_enabled(tmp_path: Path) -> None:
    path = tmp_path / subject.FILE
    path.write_text(subject.dump(UNIT))
    again: subject.Claim = {**CLAIM, "enabled": False}
    bring(Wish(str(path), "claimed", again, 1, 0), False, Node(77).machine)
    read = adopted_look.read(str(path))
    assert read is not None
    assert read.enabled


OTHER_PHASE = json.dumps({**json.loads(subject.dump(UNIT)), "phase": "x"})


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"phase": "claimed"}', OTHER_PHASE])
def test_a_damaged_file_is_an_error_and_never_a_foreign_node(text: str, tmp_path: Path) -> None:
    path = tmp_path / subject.FILE
    path.write_text(text)
    with pytest.raises(AdoptedFileError, match="Nothing was changed"):
        adopted_look.read(str(path))


def test_without_the_file_nothing_is_stopped(tmp_path: Path) -> None:
    node = Node(77)
    params: dict[str, Any] = {"path": str(tmp_path / "x"), "state": "stopped", "claim": None, "timeout": 1, "watch": 0}
    with pytest.raises(AdoptedFileError, match="nothing tells who ran this node"):
        bring(Wish(**params), False, node.machine)
    assert node.ran == []


@pytest.mark.parametrize(
    ("argv", "directory", "is_old"),
    [
        (ARGV, "", True),
        (["java", "kafka.Kafka", "config/server.properties"], "/opt/kafka", True),
        (["java", "kafka.Kafka", "config/../config/server.properties"], "/opt/kafka/", True),
        (["java", "kafka.Kafka", "/etc/streamops-kafka/kafka1/server.properties"], "/opt/kafka", False),
        (["java", "org.apache.Other", "/opt/kafka/config/server.properties"], "", False),
        (["less", "/opt/kafka/config/server.properties"], "", False),
    ],
)
def test_the_old_process_is_known_by_its_class_and_its_file(argv: list[str], directory: str, is_old: bool) -> None:
    assert subject.is_old(argv, UNIT, directory) is is_old


def test_what_the_command_line_sets_counts() -> None:
    assert subject.overrides([*ARGV, "--override=a.b=c=d"]) == {"broker.rack": "a", "a.b": "c=d"}


def test_nothing_with_which_it_is_started_is_told() -> None:
    secret = Start(("java", "-Dpassword=x"), "/", {"TOKEN": "secret"})
    told = subject.shown(subject.claimed({**CLAIM, "manager": "none"}, secret), OLD)
    assert "secret" not in json.dumps(told)
    assert "password" not in json.dumps(told)


def test_a_unit_is_stopped_then_disabled_and_watched() -> None:
    node = Node(77)
    assert stop(UNIT, 10, 3, node.machine)
    assert node.ran == ["systemctl stop kafka.service", "systemctl disable kafka.service"]
    assert node.now >= 3


def test_a_unit_that_did_not_start_at_boot_is_neither_disabled_nor_enabled() -> None:
    other = subject.claimed({**CLAIM, "enabled": False})
    node = Node(77)
    stop(other, 10, 0, node.machine)
    start(other, node.machine)
    assert node.ran == ["systemctl stop kafka.service", "systemctl start kafka.service"]


def test_a_unit_is_enabled_by_its_file_and_started() -> None:
    node = Node(None)
    assert start(UNIT, node.machine)
    assert node.ran == ["systemctl enable /opt/kafka/kafka.service", "systemctl start kafka.service"]


def test_a_unit_is_told_to_stop_also_while_it_is_about_to_start_again() -> None:
    node = Node(None)
    stop(UNIT, 10, 0, node.machine)
    assert node.ran == ["systemctl stop kafka.service", "systemctl disable kafka.service"]


def test_a_program_is_stopped_and_started_by_its_own_supervisord() -> None:
    node = Node(77)
    stop(PROGRAM, 10, 0, node.machine)
    start(PROGRAM, node.machine)
    assert node.ran == ["/venv/supervisorctl -c /etc/s.conf stop a:b", "/venv/supervisorctl -c /etc/s.conf start a:b"]


@pytest.mark.parametrize("said", ["a:b: ERROR (not running)", "a:b: ERROR (already started)"])
def test_a_program_that_is_as_wanted_is_no_error(said: str) -> None:
    stop(PROGRAM, 10, 0, Node(77, (7, said, "")).machine)


def test_a_service_that_refuses_is_told_with_its_words() -> None:
    with pytest.raises(OldServiceError, match=r"failed with 5: Unit kafka\.service is masked"):
        stop(UNIT, 10, 0, Node(77, (5, "", "Unit kafka.service is masked\n")).machine)


def test_a_process_without_a_service_gets_a_signal_and_is_started_by_its_command_line() -> None:
    bare = subject.claimed({**CLAIM, "manager": "none", "name": "", "enabled": False}, Start(("/jdk/java",), "/", {}))
    node = Node(77)
    stop(bare, 10, 0, node.machine)
    start(bare, node.machine)
    assert node.ran == ["signal 15 to 77", "/jdk/java as kafka"]


def test_a_process_that_does_not_end_is_not_killed_and_its_service_stays_enabled() -> None:
    node = Node(77, ends=False)
    with pytest.raises(OldServiceError, match=r"process 77 .* has not ended within 10 s. It was not killed"):
        stop(UNIT, 10, 3, node.machine)
    assert node.ran == ["systemctl stop kafka.service"]


def test_a_watchdog_that_starts_it_again_is_found_and_the_service_enabled_as_before() -> None:
    node = Node(77, comes_back=True)
    with pytest.raises(OldServiceError, match="something else has started the node again"):
        stop(UNIT, 10, 3, node.machine)
    assert node.ran[-1] == "systemctl enable /opt/kafka/kafka.service"


def test_an_old_service_that_starts_nothing_is_an_error() -> None:
    with pytest.raises(OldServiceError, match=r"no process of it came within 30 s.*/opt/kafka/logs"):
        start(UNIT, Node(None, ends=False).machine)


def test_a_node_that_runs_is_not_started_a_second_time() -> None:
    node = Node(77)
    start(PROGRAM, node.machine)
    assert node.ran == []


@pytest.fixture
def old(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process with the command line of Kafka, started in a directory of its own with a relative path."""
    (tmp_path / "server.properties").write_text("node.id=1\n")
    argv = [sys.executable, "-c", "import time; time.sleep(600)", "kafka.Kafka", "server.properties"]
    output = (tmp_path / "out").open("wb")
    child = subprocess.Popen(argv, cwd=tmp_path, stdout=output, env={"MARK": "x"})
    output.close()
    yield child
    child.kill()
    child.wait()


def test_a_real_process_is_found_stopped_and_started_again(tmp_path: Path, old: subprocess.Popen[bytes]) -> None:
    path = str(tmp_path / subject.FILE)
    claim: subject.Claim = {
        **CLAIM,
        "manager": "none",
        "enabled": False,
        "properties_file": str(tmp_path / "server.properties"),
        "user": "",
        "pid": old.pid,
    }
    params: dict[str, Any] = {"path": path, "state": "claimed", "claim": claim, "timeout": 20, "watch": 0.1}
    assert bring(Wish(**params), False, Machine())["adopted"]["runs"] == OLD
    node = adopted_look.read(path)
    assert node is not None
    assert process({}, "", node)["pid"] == old.pid
    assert process({}, "", node)["recorded"] is False
    assert node.start is not None
    assert (node.start.directory, node.start.environment["MARK"]) == (str(tmp_path), "x")
    assert node.start.output == str(tmp_path / "out")
    assert "NOFILE" in node.start.limits
    stopped = bring(Wish(**{**params, "state": "stopped", "claim": None}), False, Machine())
    assert (stopped["changed"], stopped["adopted"]["runs"]) == (True, NOBODY)
    started = bring(Wish(**{**params, "state": "started", "claim": None}), False, Machine())
    assert (started["changed"], started["adopted"]["runs"]) == (True, OLD)
    again = adopted_look.old_process(node)
    assert again not in (None, old.pid)
    assert adopted_look.directory_of(again or 0) == str(tmp_path)
    bring(Wish(**{**params, "state": "stopped", "claim": None}), False, Machine())


def test_a_process_that_this_user_may_not_see_is_refused() -> None:
    with pytest.raises(OldServiceError, match="may not see how it was started"):
        start_of(2**22 + 1)


def test_of_a_variable_that_is_there_twice_the_first_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    # As it did for the process: getenv(3), and Java's ProcessEnvironment.
    monkeypatch.setattr(adopted_service, "read_text", lambda path: "A=b=c\0A=later\0")
    assert start_of(os.getpid()).environment == {"A": "b=c"}


def test_check_mode_only_tells(tmp_path: Path) -> None:
    path = tmp_path / subject.FILE
    path.write_text(subject.dump(UNIT))
    node = Node(77)
    for state, changed in (("stopped", True), ("started", False), ("absent", True)):
        params: dict[str, Any] = {"path": str(path), "state": state, "claim": None, "timeout": 1, "watch": 0}
        assert bring(Wish(**params), True, node.machine)["changed"] is changed
    assert node.ran == []
    assert path.exists()


def test_the_words_for_who_ran_it() -> None:
    assert (
        Adopted("claimed", "none", "", False, "", "a", "b", user="kafka").service
        == "a process without a service (kafka)"
    )
