# SPDX-License-Identifier: GPL-3.0-or-later
"""What keeps a planned reassignment from being begun, and how one ends."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError, RequestFailedError
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.record import Look, Record
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run import walk
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.walk import refuse_too_long


def test_a_plan_that_outlasts_the_timeout_is_refused_with_both_numbers() -> None:
    with pytest.raises(RefusedError) as error:
        refuse_too_long(62_509.5, 14_400, 50_000_000)
    said = error.value.violations[0]
    assert "about 62510 s at a throttle of 50000000 bytes/s, and timeout is 14400 s" in said
    assert "Raise timeout (kafka_resources_move_timeout) above 62510" in said
    assert "run the same again, which goes on where it was" in said


@pytest.mark.parametrize("seconds", [None, 0.0, 14_400.0])
def test_one_that_ends_in_time_or_of_which_nobody_knows_is_begun(seconds: float | None) -> None:
    refuse_too_long(seconds, 14_400, 50_000_000)


@pytest.mark.parametrize("answers", [True, False])
def test_what_has_ended_has_ended_even_if_the_cluster_does_not_answer_the_last_look(
    answers: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The record is gone by then: an error would have the next interval plan anew, and begin more moves."""
    asked: list[str] = []

    def look_at(_session: Any) -> Look:
        asked.append("look")
        if len(asked) > 1 and not answers:
            raise RequestFailedError("metadata", "", "REQUEST_TIMED_OUT", "no answer")
        return Look({}, {}, frozenset())

    monkeypatch.setattr(walk, "look_at", look_at)
    monkeypatch.setattr(walk, "end", lambda *_given: {"changed": True, "stage": "done"})
    monkeypatch.setattr(walk, "leftover_throttles", lambda *_given: [])
    monkeypatch.setattr(walk, "verified", lambda *_given: {"misplaced_total": 0})
    params = {"interval": 1, "disk_reserve": 0.15, "foreign": "refuse", "throttle": 0}
    found = walk.drive(None, Record({}, ()), params)  # type: ignore[arg-type]
    assert found["stage"] == "done"
    assert found.get("verified") == ({"misplaced_total": 0} if answers else None)
