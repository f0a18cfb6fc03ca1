# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of an unclean election over its attempts: what it says, when it ends, and what it returns."""

from __future__ import annotations

from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.progress import DONE, FAILED, GOING
from ansible_collections.streamops.kafka.plugins.plugin_utils.progress.election import Elections, unproven

WHY = "ELIGIBLE_LEADERS_NOT_AVAILABLE"


def attempt(elected: tuple[int, ...] = (), waiting: tuple[int, ...] = (), **more: Any) -> dict[str, Any]:
    """Return what the module returns for partitions of topic t."""
    return {
        "changed": bool(elected),
        "elected": [{"topic": "t", "partition": number} for number in elected],
        "not_elected": [{"topic": "t", "partition": number, "why": WHY} for number in waiting],
        "diff": {
            "before": {f"t-{number}": {"leader": None} for number in elected},
            "after": {f"t-{number}": {"leader": 3} for number in elected},
        },
        **more,
    }


def test_attempts_go_on_until_nothing_waits_and_are_summed_up() -> None:
    elections = Elections()
    first = elections.step(attempt((0,), (1, 2)))
    assert (first.state, first.text) == (GOING, f"leader_election: no leader yet: t-1, t-2 ({WHY})")
    last = elections.step(attempt((1, 2)))
    assert (last.state, last.text) == (DONE, "leader_election: a live replica now leads t-0, t-1, t-2")
    result = elections.result()
    assert result["changed"]
    assert [one["partition"] for one in result["elected"]] == [0, 1, 2]
    assert sorted(result["diff"]["after"]) == ["t-0", "t-1", "t-2"]


def test_a_change_of_an_earlier_attempt_stays_one() -> None:
    elections = Elections()
    elections.step(attempt((0,), (1,)))
    assert elections.step(attempt()).state == DONE
    assert elections.result()["changed"]


def test_check_mode_says_what_it_would_elect_and_nothing_to_elect_is_said() -> None:
    assert Elections(check=True).step(attempt((4,))).text.endswith("would elect any live replica as leader of t-4")
    assert Elections().step(attempt()).text.endswith("all listed partitions have a leader; no election needed")


def test_a_failure_names_each_partition_and_what_was_elected() -> None:
    elections = Elections()
    elections.step(attempt((0,), tuple(range(1, 30))))
    said = elections.failure(60)
    assert "29 partition(s) have no leader after 60 s" in said
    assert all(f"t-{number}" in said for number in range(1, 30))
    assert said.endswith("Elected were t-0.")
    assert Elections().step({"failed": True, "msg": "no"}).state == FAILED


def test_what_a_preferred_election_could_not_prove_is_shown() -> None:
    assert unproven({"not_proven": "", "not_timed": ""}) == []
    assert unproven({"failed": True, "msg": "x"}) == []
    first, second = unproven({"not_proven": "broker 1 prefers none", "not_timed": "no topic"})
    assert first.endswith(": broker 1 prefers none")
    assert second.endswith(": no topic")
