# SPDX-License-Identifier: GPL-3.0-or-later
"""What people know a run by that holds the restart lock."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.run_names import died, owner, place, purpose, started

HERE = socket.gethostname()
#: A user of the range that no distribution gives out (systemd's UIDS-GIDS page).
NAMELESS = 63999
ASK = "from ansible_collections.streamops.kafka.plugins.plugin_utils.run_names import owner; print(owner(7, {}))"


def test_a_job_of_awx_is_known_by_its_number() -> None:
    assert owner(7, {"AWX_HOST": "https://awx.example.com", "JOB_ID": "12"}) == f"AWX job 12 on {HERE} (process 7)"


@pytest.mark.parametrize("environment", [{}, {"JOB_ID": "12"}, {"AWX_HOST": "https://awx.example.com"}])
def test_another_run_is_known_by_its_user(environment: dict[str, str]) -> None:
    assert owner(7, environment).endswith(f"@{HERE} (process 7)")
    assert "AWX" not in owner(7, environment)


@pytest.mark.parametrize(
    ("playbooks", "words"),
    [
        (("playbooks/stop.yml",), "stop.yml"),
        (("/opt/kafka/playbooks/site.yml", "after.yml"), "site.yml, after.yml"),
        (("streamops.kafka.rebalance",), "streamops.kafka.rebalance"),
        ((), ""),
    ],
)
def test_a_run_says_its_playbooks(playbooks: tuple[str, ...], words: str) -> None:
    assert purpose(playbooks) == words


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs a process as another user")
def test_a_user_without_a_name_is_known_by_its_number() -> None:
    code = f"import os; {ASK.partition(';')[0]}; os.setuid({NAMELESS});{ASK.partition(';')[2]}"
    bare = {name: value for name, value in os.environ.items() if name not in ("LOGNAME", "USER", "LNAME", "USERNAME")}
    bare["PYTHONPATH"] = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", code], env=bare, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.strip() == f"{NAMELESS}@{HERE} (process 7)", done.stderr


def test_this_process_lives() -> None:
    assert not died(f"{place()} {os.getpid()} {started(os.getpid())}")


def test_a_process_that_ended_is_dead() -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        run = f"{place()} {process.pid} {started(process.pid)}"
        assert not died(run)
        process.kill()
    assert died(run)


def test_a_process_number_that_was_given_away_again_is_another_run() -> None:
    assert died(f"{place()} {os.getpid()} 1")


def test_of_other_machines_nothing_is_known() -> None:
    assert not died(f"elsewhere/pid:[1] {os.getpid()} 1")
    assert not died("")
    assert not died(f"{place()} {os.getpid()} ")
