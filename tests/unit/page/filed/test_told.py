"""What a report tells of itself: the forms that runs write, and whatever else may stand in its JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.move_data import move_data
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.proof_data import proof_data
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_data import as_json, status_data
from page.filed.told import SPARK_SCHEMA, UNKNOWN, Told, told_of
from spark_validation.core.result import EXIT_CODES, SCHEMA
from tests.support.reports_left import DONE, PLAN, PROOF, result
from tests.support.status_seen import MADE, everything, well

MOVE = json.loads(move_data(PLAN, DONE, "Rebalance", "orders", "2026-11-24T10:19:04Z"))
STATUS = json.loads(as_json(everything()))


def told(given: Any) -> Told:
    return told_of(json.dumps(given))


def test_a_move_tells_how_it_ended_what_it_cost_and_when_it_began() -> None:
    found = told(MOVE)
    assert (found.kind, found.result, found.tone, found.clusters) == ("move", "done", "pass", ("orders",))
    assert found.said == "Rebalance: 4 replicas, 4.0 MB in 4m04s."
    assert found.began == 1_795_515_300, "the end, 10:19:04, less 244 s"


def test_a_proof_tells_what_was_acknowledged_what_is_wrong_and_when_the_first_node_stopped() -> None:
    found = told_of(proof_data(PROOF, "orders", MADE))
    assert (found.kind, found.result, found.tone, found.clusters) == ("proof of a roll", "fail", "fail", ("orders",))
    assert found.said == "1 node restarted; 1,500 records acknowledged, 2 lost, 0 repeated, 0 out of order."
    assert found.began == 1_795_515_000


def test_a_move_that_was_only_planned_or_has_not_ended_says_so() -> None:
    planned = told_of(move_data(PLAN, {}, "Rebalance", "orders", "2026-11-24T10:19:04Z"))
    assert (planned.result, planned.tone, planned.said) == ("planned", "info", "Rebalance: 4 replicas, 4.0 MB.")
    failed = told_of(move_data(PLAN, {**DONE, "stage": "stopped"}, "Rebalance", "orders", MADE))
    assert (failed.result, failed.tone) == ("failed", "fail")
    # The plan of an earlier run, which goes on, tells no costs.
    resumed = told_of(move_data({"changes": [1]}, DONE, "Drain", "orders", MADE))
    assert resumed.said == "Drain in 4m04s."


def test_a_status_tells_its_word_its_clusters_and_how_grave_its_findings_are() -> None:
    found = told(STATUS)
    assert (found.kind, found.result, found.tone) == ("status", STATUS["status"], "fail")
    assert found.clusters == tuple(one["name"] for one in STATUS["clusters"])
    parts = [*STATUS["clusters"], *STATUS["mirrors"]]
    grave = sum(one["severity"] == "down" for part in parts for one in part["findings"])
    assert f"findings: {grave} down, " in found.said
    quiet = told(status_data([well()], [], MADE))
    assert (quiet.result, quiet.tone, quiet.said) == ("OK", "pass", "1 cluster; no finding.")
    assert told(status_data([], [], MADE)).said == "No cluster; no finding."


@pytest.mark.parametrize("verdict", EXIT_CODES)
def test_a_spark_job_tells_its_verdict(verdict: str) -> None:
    found = told(result(status=verdict))
    assert (found.kind, found.result, found.began, found.clusters) == ("validation", verdict, 1_795_600_000, ())
    assert found.said == f"{2 if verdict == 'pass' else 1} of 2 checks passed in 1m02s."
    assert SPARK_SCHEMA == SCHEMA


def test_an_audit_of_a_mirror_names_both_clusters() -> None:
    sides = {"source": {"alias": "east"}, "target": {"alias": "west"}}
    found = told(result("mirror_audit", "fail", settings=sides, message="topic orders is gone"))
    assert (found.kind, found.clusters) == ("mirror audit", ("east", "west"))
    assert found.said.endswith(" topic orders is gone")


def test_a_second_reading_of_a_proof_has_a_name_of_its_own() -> None:
    found = told(result("proof", "inconclusive"))
    assert (found.kind, found.result, found.clusters) == ("second reading of a proof", "inconclusive", ())


@pytest.mark.parametrize("text", ["", "{", "[" * 200_000, "null", "[]", '"x"', "1", "\0", "{}", '{"schema": 2}',
                                  '{"schema": true}', '{"schema": [1]}', '{"schema": {}}', "1" * 5000,
                                  '{"schema": "streamops.move/1"}', '{"schema": 1}'])  # fmt: skip
def test_what_is_no_report_is_unknown_and_says_why(text: str) -> None:
    found = told_of(text)
    assert (found.kind, found.result, found.tone, found.began, found.clusters) == (UNKNOWN, UNKNOWN, "info", None, ())
    assert found.said.startswith(("The JSON beside it", "The file beside it"))


READ = [
    (MOVE, ("outcome", "title", "cluster", "made", "seconds", "moves", "bytes")),
    (STATUS, ("status", "made", "clusters", "mirrors")),
    (result(), ("job", "verdict", "checks", "started_ms", "seconds")),
]


@pytest.mark.parametrize(("given", "key"), [(form, key) for form, keys in READ for key in keys])
@pytest.mark.parametrize("value", [[], {}, "none of these", -1, True, float("nan"), 10**400, [1], ["x"], [{}]])
def test_a_value_that_is_wrong_makes_it_unknown(given: dict[str, Any], key: str, value: Any) -> None:
    found = told({**given, key: value})
    is_right = (
        key in ("title", "cluster")
        if isinstance(value, str)
        else value == [] and key in ("clusters", "mirrors", "checks")
    )
    assert (found.kind == UNKNOWN) is not is_right
    assert found.said.startswith("The JSON beside it is not as it must be: ") is not is_right
    assert len(found.said) < 200


@pytest.mark.parametrize("made", ["", "2026-11-24", "2026-11-24T10:00:00", "0001-01-01T00:00:00Z", "yesterday",
                                  "9999-12-31T23:59:59-12:00", "1969-12-31T23:59:59Z"])  # fmt: skip
def test_a_time_without_a_zone_or_before_1970_or_beyond_all_calendars_is_none(made: str) -> None:
    assert told({**MOVE, "made": made}).kind == UNKNOWN


def test_long_texts_are_cut_and_long_lists_are_not_read() -> None:
    assert len(told({**MOVE, "title": "t" * 10_000}).said) < 300
    assert told({**STATUS, "clusters": [STATUS["clusters"][0]] * 10_001}).kind == UNKNOWN
