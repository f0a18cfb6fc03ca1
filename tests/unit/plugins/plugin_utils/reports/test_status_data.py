# SPDX-License-Identifier: GPL-3.0-or-later
"""The report of a status as data: what is kept of results, what is not known, and nothing of connections."""

from __future__ import annotations

import json

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_data import (
    as_json,
    cluster_part,
    mirror_part,
    status_data,
    worst,
)
from tests.support.status_seen import GROUPS, LOOK, MADE, behind, everything, hurt, info, nodes, refused, silent, well

SECRET = "planted-secret"


def test_the_file_for_machines_has_every_partition_group_and_finding() -> None:
    found = json.loads(as_json(everything()))
    assert (found["schema"], found["made"], found["status"]) == (1, MADE, "DOWN")
    assert [one["name"] for one in found["clusters"]] == ["audit", "billing", "orders", "quiet"]
    orders = found["clusters"][2]
    assert [len(one["partitions"] or ()) for one in orders["topics"]] == [3, 0, 0]
    assert [one["name"] for one in orders["groups"]["groups"]] == ["billing", "search-index", "audit"]
    assert len(orders["findings"]) == 3
    assert found["mirrors"][0]["flow"] == "dc_a->dc_b"


@pytest.mark.parametrize(
    ("part", "status", "answered"),
    [(hurt(), "DOWN", True), (silent(), "DOWN", False), (refused(), "UNKNOWN", False), (well(), "OK", True)],
)
def test_a_part_says_what_is_known(part: dict[str, object], status: str, answered: bool) -> None:
    assert (part["status"], part["answered"]) == (status, answered)


def test_the_whole_is_as_bad_as_its_worst_part() -> None:
    assert worst(["OK", "DEGRADED", "OK"]) == "DEGRADED"
    assert worst(["UNKNOWN", "DEGRADED"]) == "UNKNOWN"
    assert worst(["UNKNOWN", "DOWN"]) == "DOWN"
    assert status_data([], [], MADE)["status"] == "UNKNOWN"
    assert status_data([well()], [behind()], MADE)["status"] == "DEGRADED"


def test_results_of_tasks_that_failed_or_were_left_out_are_not_known() -> None:
    health = {"status": "OK", "findings": [], "cluster": info()}
    failed = cluster_part("a", [], nodes(1), health, {"msg": "no"}, {"msg": "not authorized"})
    assert (failed["groups"]["known"], failed["groups"]["error"]) == (False, "not authorized")
    assert [one["partitions"] for one in failed["topics"]] == [None, None, None]
    skipped = cluster_part("a", [], nodes(1), health, {}, {"skipped": True}, {"skipped": True})
    assert (skipped["groups"]["known"], skipped["ensemble"]) == (False, None)


@pytest.mark.parametrize(
    ("ensemble", "status"),
    [
        ({"servers": [{"id": 1}], "problems": [], "leader_id": 1}, "OK"),
        ({"servers": [{"id": 1}], "problems": ["no server leads"], "leader_id": None}, "DEGRADED"),
        ({"failed": True, "msg": "the login was refused"}, "UNKNOWN"),
    ],
)
def test_an_ensemble_without_a_cluster_is_judged_by_itself(ensemble: dict[str, object], status: str) -> None:
    part = cluster_part("a", [], [], {}, ensemble=ensemble)
    assert part["status"] == status
    assert [one["what"] for one in part["findings"]] == ensemble.get("problems", [])


def test_nothing_of_a_connection_gets_into_the_file() -> None:
    asked = {"invocation": {"module_args": {"sasl_password": SECRET}}, "sasl_password": SECRET}
    health = {"status": "OK", "findings": [], "cluster": {**info(), **asked}, **asked}
    part = cluster_part("a", [], nodes(1), health, asked, {**GROUPS, **asked}, {"servers": [], **asked})
    flow = {"flow": "a->b", **mirror_part({"status": "OK", "findings": [], **asked}, {**LOOK, **asked})}
    assert SECRET not in as_json(status_data([part], [flow], MADE))
