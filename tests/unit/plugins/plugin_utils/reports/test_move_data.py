# SPDX-License-Identifier: GPL-3.0-or-later
"""The data of a move's report: it says the same as the report, and has nothing else of the module's results in it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.move_data import move_data
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.move_report import move_report
from tests.support.reports_left import DONE, PLAN

MADE = "2026-11-24T10:19:04Z"


def test_it_has_the_costs_of_the_plan_and_how_long_it_took_and_no_option() -> None:
    planned = {**PLAN, "plan_digest": "9-abc", "invocation": {"module_args": {"sasl_password": "planted"}}}
    found = json.loads(move_data(planned, {**DONE, "sasl_password": "planted"}, "Rebalance", "orders", MADE))
    assert found == {
        "schema": "streamops.move/1", "cluster": "orders", "title": "Rebalance", "outcome": "done", "made": MADE,
        "seconds": 244.0, "moves": 4, "deletions": PLAN["deletions"], "bytes": 4_000_000,
        "leader_changes": PLAN["leader_changes"], "plan_digest": "9-abc",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("done", "outcome", "word"),
    [
        ({}, "planned", "Planned"),
        (DONE, "done", "Done"),
        ({**DONE, "verified": {"misplaced_total": 1}}, "failed", "Not done"),
        ({**DONE, "stage": "stopped"}, "failed", "Not done"),
    ],
)
def test_the_outcome_is_that_of_the_report(done: dict[str, Any], outcome: str, word: str) -> None:
    assert json.loads(move_data(PLAN, done, "Rebalance", "orders", MADE))["outcome"] == outcome
    assert f"<title>{word}: Rebalance" in move_report(PLAN, done, "Rebalance", "orders")


def test_of_a_plan_that_an_earlier_run_began_the_costs_are_not_known() -> None:
    found = json.loads(move_data({"changes": [{}]}, DONE, "Drain", "orders", MADE))
    assert [found[key] for key in ("moves", "bytes", "plan_digest")] == [None, None, None]
