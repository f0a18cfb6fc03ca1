# SPDX-License-Identifier: GPL-3.0-or-later
"""The verdict on a flow of a mirror, from what mirror_status returned."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors.health import mirror_verdict

CASES: list[tuple[dict[str, Any], str, str]] = [
    ({"lag": 100, "problems": []}, "OK", "OK           mirror a->b: 100 records behind"),
    ({"lag": 101, "problems": []}, "DEGRADED", "DEGRADED     mirror a->b: it is 101 records behind"),
    ({"lag": 0, "problems": ["not in b: x"]}, "DEGRADED", "DEGRADED     mirror a->b: not in b: x"),
    (
        {"failed": True, "msg": "m", "failure": {"kind": "MirrorNotBegunError"}},
        "DEGRADED",
        "DEGRADED     mirror a->b: it has never begun",
    ),
    (
        {"failed": True, "msg": "no server", "failure": {"kind": "ClusterUnreachableError"}},
        "DOWN",
        "DOWN         mirror a->b: nothing is known of it: no server",
    ),
    # Its patterns find no topic yet, so nothing is behind.
    (
        {"msg": "m", "failure": {"kind": "NothingToMirrorError"}},
        "OK",
        "OK           mirror a->b: it has no topic yet, so nothing was compared",
    ),
    ({"lag": None, "problems": None, "failure": None}, "OK", "OK           mirror a->b: 0 records behind"),
]


@pytest.mark.parametrize(("look", "status", "line"), CASES)
def test_a_flow_is_judged(look: dict[str, Any], status: str, line: str) -> None:
    found = mirror_verdict("a->b", look, 100, {})
    assert (found["status"], found["line"]) == (status, line)
    assert all(finding["next_step"] for finding in found["findings"])


def test_an_old_drill_is_a_note_and_none_at_all_is_not() -> None:
    for days, kinds in ((None, []), (45, []), (46, ["mirror_drill_old"])):
        verdict = mirror_verdict("a->b", {"lag": 7, "problems": []}, 100, {}, days)
        assert (verdict["status"], verdict["line"]) == ("OK", "OK           mirror a->b: 7 records behind")
        assert [(finding["kind"], finding["severity"]) for finding in verdict["findings"]] == [
            (kind, "note") for kind in kinds
        ]


GAP = {"kind": "purged", "topic": "orders", "partition": 0, "first": 60, "last": 79, "records": 20, "certain": True}


@pytest.mark.parametrize(
    ("gaps", "status", "why"),
    [
        ({}, "OK", "0 records behind"),
        ({"skipped": True}, "OK", "0 records behind"),
        # It never found a topic, so none of its topics can be gone.
        ({"msg": "m", "failure": {"kind": "NothingToMirrorError"}}, "OK", "0 records behind"),
        ({"gaps": [GAP]}, "DEGRADED", "20 records of the source will never be mirrored: orders-0 60 to 79"),
        # What is only possible, and a topic that lost nothing, are lines of the report.
        ({"gaps": [{**GAP, "certain": False}, {**GAP, "records": 0}]}, "OK", "0 records behind"),
        # Of a log that was cut: they were mirrored.
        (
            {"gaps": [{**GAP, "kind": "truncated"}]},
            "DEGRADED",
            "20 records are gone from the source, whose log was cut: orders-0 60 to 79",
        ),
        (
            {"gaps": [GAP, {**GAP, "kind": "truncated", "partition": 1}]},
            "DEGRADED",
            "20 records of the source will never be mirrored: orders-0 60 to 79; "
            "20 records are gone from the source, whose log was cut: orders-1 60 to 79",
        ),
        ({"failed": True, "msg": "no"}, "DEGRADED", "whether records are missing is not known: no"),
        # failed_when of the role's task overwrites what the module said.
        ({"failed": False, "msg": "no"}, "DEGRADED", "whether records are missing is not known: no"),
        ({"failed": False, "gaps": [], "msg": "a word"}, "OK", "0 records behind"),
        ({"failed": False, "skipped": True, "msg": "a word"}, "OK", "0 records behind"),
    ],
)
def test_records_that_can_no_longer_be_mirrored_are_found(gaps: dict[str, Any], status: str, why: str) -> None:
    found = mirror_verdict("a->b", {"lag": 0, "problems": []}, 100, gaps)
    assert (found["status"], found["line"]) == (status, f"{status:<12} mirror a->b: {why}")
