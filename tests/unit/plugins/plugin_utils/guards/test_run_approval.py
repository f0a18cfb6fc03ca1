# SPDX-License-Identifier: GPL-3.0-or-later
"""A step of a workflow that changes a cluster needs a plan before it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.guards.run_approval import unapproved
from tests.support.cluster import ROOT

SITE = "Kafka site, approved"


@pytest.mark.parametrize("workflow", [SITE, "Kafka site, approved @ 12:30:11 PM"])
def test_an_apply_without_a_step_before_it_is_refused(workflow: str) -> None:
    refusal = unapproved({"awx_workflow_job_name": workflow, "kafka_ended_run": ""})
    assert workflow in refusal
    assert "awx.yml" in refusal


@pytest.mark.parametrize(
    "handed_on",
    [
        {"streamops_plan_digest": "1-changes-0"},
        # An apply empties the digest for the steps behind it, and a plan that is a status has a verdict alone.
        {"streamops_plan_digest": ""},
        {"streamops_verdict": "pass"},
    ],
    ids=str,
)
def test_a_step_behind_a_plan_is_not_refused(handed_on: dict[str, Any]) -> None:
    assert unapproved({"awx_workflow_job_name": SITE, **handed_on}) == ""


@pytest.mark.parametrize("extra", [{}, {"awx_job_id": 7}, {"awx_workflow_job_name": "Nightly"}], ids=str)
def test_a_run_outside_of_our_workflows_is_not_refused(extra: dict[str, Any]) -> None:
    assert unapproved(extra) == ""


def test_each_workflow_that_waits_for_an_approval_is_known_by_its_name() -> None:
    flows = json.loads((ROOT / "awx" / "export.json").read_text())["workflow_job_templates"]
    waiting = [
        flow["name"]
        for flow in flows
        if any("create_approval_template" in node["related"] for node in flow["related"]["workflow_nodes"])
    ]
    assert waiting
    assert [name for name in waiting if not unapproved({"awx_workflow_job_name": name})] == []
