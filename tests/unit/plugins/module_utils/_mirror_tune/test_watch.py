# SPDX-License-Identifier: GPL-3.0-or-later
"""What the watch of a mirror writes down."""

from __future__ import annotations

from ansible_collections.streamops.kafka.plugins.module_utils._mirror_tune.watch import complaints, samples_of

OWN = "42 (my (odd) java) S 1 42 42 0 -1 4194304 1 0 0 0 250 50 0 0 20 0 30 0 1000 0"


def test_a_sample_is_time_busy_seconds_and_own_seconds() -> None:
    machine = "cpu  1000 100 500 9999 77 10 20 30 400 0"
    assert samples_of(f"12.5|{machine}|{OWN}\n", 100) == [[12.5, 16.6, 3.0]]


def test_lines_that_are_not_whole_are_left_out() -> None:
    whole = f"12.5|cpu  1000 100 500 9999 77 10 20 30|{OWN}"
    text = "\n".join([whole, "13.0|cpu  1000 100 500 9999 77 10 20 30|", "13.5|cpu", whole[:60], ""])
    assert len(samples_of(text, 100)) == 1


def test_complaints_are_the_last_different_errors() -> None:
    log = "[1] WARN x\n[2] ERROR a (b)\n[2] ERROR a (b)\nCaused by: c\n  at d\n[3] ERROR e"
    assert complaints(log) == ["[2] ERROR a (b)", "Caused by: c", "[3] ERROR e"]
    assert complaints("only this\n") == ["only this"]
    assert complaints("") == []
