"""A run is waited for while it prints, and ended with its last words when it falls silent."""

from __future__ import annotations

import pytest

from tests.support.runs import heard


def test_its_status_and_all_that_it_printed_are_given() -> None:
    run = heard(["sh", "-c", "echo one; echo two >&2; exit 3"])
    assert (run.returncode, run.stdout) == (3, "one\ntwo\n")


def test_it_may_take_longer_than_it_may_be_silent() -> None:
    assert heard(["sh", "-c", "for step in 1 2 3 4; do sleep 0.3; echo $step; done"], silence=0.9).returncode == 0


def test_one_that_falls_silent_is_killed_and_its_last_words_are_told() -> None:
    with pytest.raises(AssertionError, match=r"no word for 0\.2 s:\nbegins"):
        heard(["sh", "-c", "echo begins; exec sleep 60"], silence=0.2)
