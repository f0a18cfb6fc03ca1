# SPDX-License-Identifier: GPL-3.0-or-later
"""A run is known to be dead only when it was one of this very machine and its process is gone."""

from __future__ import annotations

import os
import subprocess

from ansible_collections.streamops.kafka.plugins.plugin_utils.run_identity import died, place, started


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
