"""The report of a proof, its data, and its lines in the output of a run."""

from __future__ import annotations

import json

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._prove.judge import FAIL, INCONCLUSIVE, PARTIAL, PASS
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.proof_data import (
    PROOF_SCHEMA,
    VERDICTS,
    proof_data,
    proof_lines,
    restart_rows,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.proof_report import proof_report
from tests.support.reports_left import PROOF

WELL = {**PROOF, "verdict": "pass", "why": "", "lost": 0, "wrong": []}


def test_a_run_says_verdict_counts_longest_gap_and_why() -> None:
    assert proof_lines(PROOF) == [
        "Proof        fail: 1,000 idempotent and 500 transactional records acknowledged; 2 lost",
        "Covered      topic __streamops_prove, 2 partitions: 1,500 acknowledged records compared with 1,498 that were "
        "read; restarts of kafka<1>",
        "Longest gap  4.2 s without an acknowledged record, partition 1, while kafka<1> restarted",
        "Why          topic __streamops_prove, partition 1, offsets 7 to 8: 2 records acknowledged and lost",
    ]
    assert proof_lines(WELL)[0].endswith("acknowledged; none lost, repeated or out of order")
    assert len(proof_lines({**WELL, "gaps": []})) == 2


def test_the_data_name_their_form_and_hold_what_was_found() -> None:
    data = json.loads(proof_data(PROOF, "orders", "2026-11-24T10:19:04Z"))
    assert (data["schema"], data["cluster"], data["made"]) == (PROOF_SCHEMA, "orders", "2026-11-24T10:19:04Z")
    assert data["wrong"] == PROOF["wrong"]


def test_the_report_shows_gaps_restarts_and_findings_and_escapes_names() -> None:
    page = proof_report(PROOF, "orders")
    assert "<td>1</td><td>4.25 s</td><td>2026-11-24 10:10:01 UTC</td><td>while kafka&lt;1&gt; restarted</td>" in page
    assert "<td>kafka&lt;1&gt;</td><td>2026-11-24 10:10:00 UTC</td><td>12s</td><td>8s</td>" in page
    assert "<td>lost</td><td>1</td><td>2</td><td>7</td><td>8</td>" in page
    assert "kafka<1>" not in page
    assert "1,500 acknowledged records compared with 1,498 that were read" in page
    assert "Findings" not in proof_report(WELL, "orders")


@pytest.mark.parametrize("word", [PASS, PARTIAL, INCONCLUSIVE, FAIL])
def test_each_verdict_is_shown(word: str) -> None:
    assert word in VERDICTS
    assert proof_report({**WELL, "verdict": word, "gaps": [], "commit_gap": None, "restarts": []}, "orders")


def test_restarts_are_in_the_order_of_their_stops() -> None:
    first, second = ({**PROOF["restarts"][0], "host": host, "stopped": at} for host, at in (("b", 1.0), ("a", 2.0)))
    assert [row[0] for row in restart_rows([second, first])] == ["b", "a"]
