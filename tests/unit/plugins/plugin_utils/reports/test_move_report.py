# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a move: its verdict, its figures, and that no name can break it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._reassign.figures import planned
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.move_report import move_report
from tests.support.markup import Markup

ROWS = [{"partition": n, "replicas": [1], "size_bytes": 1_000_000} for n in range(6)]
SNAPSHOT = {
    "nodes": [{"id": number, "rack": rack} for number, rack in ((1, "<a>"), (2, "b"), (3, "c"))],
    "topics": [{"name": "orders", "partitions": ROWS}],
}
PLAN = planned(SNAPSHOT, {"concurrency": 5, "throttle": None, "rebalance": True}, registered_only=True)
HISTORY = [{"elapsed": at, "bytes_done": at * 1e6, "bytes_total": 4_000_000} for at in (0.0, 2.0, 4.0)]
DONE = {"stage": "done", "elapsed": 4.0, "history": HISTORY, "refused": {}, "throttles_left": []}


def read(plan: Any = PLAN, done: Any = DONE, title: str = "Rebalance") -> Markup:
    found = Markup(move_report(plan, done, title, "blue"))
    assert found.open == []
    assert "script" not in found.tags
    return found


def test_a_move_that_ended_is_done_and_tells_its_figures() -> None:
    text = read().text
    assert "Done: Rebalance" in text
    for figure in ("fewest possible 4", "4.0 MB", "took 4s", "4 of 4", "Timeline"):
        assert figure in text, figure


def test_a_move_by_bytes_has_ended_even_if_what_was_written_meanwhile_asks_for_more() -> None:
    rows = [{**ROWS[0], "size_bytes": 9_000_000}, *ROWS[1:3]]
    snapshot = {**SNAPSHOT, "topics": [{"name": "orders", "partitions": rows}]}
    options = {"concurrency": 5, "throttle": None, "rebalance": True, "balance_by": "bytes"}
    plan = planned(snapshot, options, registered_only=True)
    text = read(plan, {**DONE, "verified": {"misplaced_total": 0, "moves_left": 2, "partitions_left": 2}}).text
    assert "Done: Rebalance" in text
    assert "A new plan for the same goal would still change 2 partitions (2 moves)" in text
    assert "not every broker can keep its limit of bytes" in text
    assert "Broker 1 stays above its limit of 4.0 MB with 9.0 MB: orders-0 alone is greater." in text


@pytest.mark.parametrize(
    ("done", "word"),
    [
        ({}, "Planned"),
        ({**DONE, "verified": {"misplaced_total": 1}}, "Not done"),
        ({**DONE, "stage": "stopped", "refused": {"orders-0": "no"}}, "Not done"),
    ],
)
def test_a_move_that_did_not_end_says_so(done: dict[str, Any], word: str) -> None:
    assert f"{word}: Rebalance" in read(done=done).text


@pytest.mark.parametrize("left", [(0, 0), (None, None), (0, 3)])
def test_what_a_new_plan_would_change_is_a_hint_and_no_fault(left: tuple[int | None, int | None]) -> None:
    seen = {"misplaced_total": 0, "moves_left": left[0], "partitions_left": left[1]}
    found = read(done={**DONE, "verified": seen}).text
    assert "Done: Rebalance" in found
    assert ("would still change 3 partitions (0 moves)" in found) == bool(left[1])


def test_names_are_text_and_never_markup() -> None:
    found = read(title="<b>bold</b>")
    assert "<b>bold</b>" in found.text
    assert "<a>" in found.text, "the rack"
    assert "a" not in found.tags


def test_what_an_earlier_run_began_needs_no_figures() -> None:
    changes = [{"topic": "t", "partition": 0, "from": [1], "to": [2], "bytes": 5, "reasons": ["an earlier run"]}]
    assert "t-0" in read(plan={"changes": changes}).text
