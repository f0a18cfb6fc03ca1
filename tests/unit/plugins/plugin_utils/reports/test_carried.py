# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run hands to the next node of a workflow."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.carried import (
    MOST,
    Left,
    joined_digests,
    outcome,
    plans_text,
    shortened,
    worst,
)

NOTHING: dict[str, Any] = {"changes": [], "plan_digest": "0-0-a"}


def left(count: int) -> dict[str, Any]:
    """What an earlier run began and is left of it."""
    row = {"topic": "t", "from": [1], "to": [2], "reasons": ["an earlier run began it"]}
    return {"changes": [{**row, "partition": n} for n in range(count)], "plan_digest": "9-9-b"}


def test_the_plans_of_all_clusters_are_told_under_their_names() -> None:
    text = plans_text({"west": left(1), "east": NOTHING})
    assert text.splitlines() == [
        "east:",
        "  Nothing to move: everything is as specified.",
        "west:",
        "  An earlier run began this and has not ended: 1 partitions are left.",
        "  t-0: [1] -> [2] (an earlier run began it)",
    ]


def test_a_plan_of_many_clusters_is_bounded_and_says_what_is_left_out() -> None:
    text = plans_text({f"cluster{n}": left(1000) for n in range(40)})
    assert len(text) <= MOST
    shown = text.splitlines()
    assert shown[-1] == f"({40 * 13 - len(shown) + 1} lines more; see the output of the job)"


@pytest.mark.parametrize("lines", [[], ["a"], ["a" * 100], ["a" * 101, "b"], ["ä" * 60] * 3])
def test_no_text_is_longer_than_it_may_be(lines: list[str]) -> None:
    assert len(shortened(lines, 100)) <= 100


def test_a_plan_that_changes_nothing_has_a_digest_too() -> None:
    assert joined_digests({"west": left(1), "east": NOTHING}) == "0-0-a,9-9-b"
    assert joined_digests({}) == joined_digests({"west": {"changes": [1], "plan_digest": ""}}) == ""


@pytest.mark.parametrize(
    ("verdicts", "whole"),
    [
        ([], ""),
        (["pass", "pass"], "pass"),
        (["pass", "inconclusive"], "inconclusive"),
        (["inconclusive", "fail", "pass"], "fail"),
        (["error", "fail"], "error"),
        (["pass", "what"], "error"),
    ],
)
def test_the_verdict_of_a_run_is_the_worst_of_its_proofs(verdicts: list[str], whole: str) -> None:
    assert worst(verdicts) == whole


def test_verdict_and_reports_of_all_hosts_are_one_outcome() -> None:
    passed, failed = (
        {"verdict": "pass", "report": "/r/1/report.html"},
        {"verdict": "fail", "report": "/r/2/report.html"},
    )
    died = {"verdict": "error", "report": ""}
    assert outcome([Left([passed]), Left(status="pass", report="/r/move.html"), Left()]) == {
        "streamops_verdict": "pass",
        "streamops_reports": ["/r/1/report.html", "/r/move.html"],
    }
    assert outcome([Left([passed, failed]), Left([passed])]) == {
        "streamops_verdict": "fail",
        "streamops_reports": ["/r/1/report.html", "/r/2/report.html"],
    }
    assert outcome([Left([died])]) == {"streamops_verdict": "error", "streamops_reports": []}
    assert outcome([Left(status="fail")])["streamops_verdict"] == "fail"


def test_the_verdict_of_an_earlier_node_of_a_workflow_is_never_improved() -> None:
    good, bad = [Left(status="pass")], [Left(status="error")]
    assert outcome(good, "fail")["streamops_verdict"] == "fail"
    assert outcome(good, "pass")["streamops_verdict"] == "pass"
    assert outcome(bad, "fail")["streamops_verdict"] == "error"
    assert outcome(good, "PASS?")["streamops_verdict"] == "error"
    # What proves nothing leaves it as AWX has it.
    assert outcome([Left(report="/r")], "fail") == {"streamops_reports": ["/r"]}


def test_a_run_that_proved_nothing_says_nothing_of_a_verdict() -> None:
    assert outcome([Left(report="/r")]) == {"streamops_reports": ["/r"]}
    assert outcome([]) == {"streamops_reports": []}
