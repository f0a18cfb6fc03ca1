# SPDX-License-Identifier: GPL-3.0-or-later
"""What people did by hand in AWX: what comes back, what stays, which steps must not stay."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.awx.review import awx_review, differing, ignored, is_same
from tests.support.awx_data import awx_data
from tests.support.awx_kinds import KINDS

DATA = awx_data()
FIELDS: dict[str, Any] = DATA["awx_fields"]
FLOW = "Kafka stop, approved"
#: Ids of what a step may run; the approval has the id 90.
RUNS = {"Kafka status": 10, "Kafka stop": 11, "Kafka look after a failure": 12, "Copy of stop": 13, "Chat": 14}
SIDES = ("success_nodes", "failure_nodes", "always_nodes")


def job(name: str, **more: Any) -> dict[str, Any]:
    project = "Elsewhere" if name == "Chat" else "Kafka"
    shown = {"project": {"name": project}}
    return {"id": RUNS[name], "name": name, "url": f"/{RUNS[name]}/", "summary_fields": shown, **more}


def step(
    number: int, identifier: str, runs: int | None, kind: str = "job_templates", **ways: list[int]
) -> dict[str, Any]:
    names = {value: name for name, value in RUNS.items()}
    shown = {"unified_job_template": {"name": names.get(runs or 0, "Other")}} if runs else {}
    related = {"unified_job_template": f"/api/v2/{kind}/{runs}/"} if runs else {}
    return {
        "id": number,
        "identifier": identifier,
        "workflow_job_template": 50,
        "url": f"/nodes/{number}/",
        "unified_job_template": runs,
        "summary_fields": shown,
        "related": related,
        **{side: ways.get(side, []) for side in SIDES},
    }


def ours() -> list[dict[str, Any]]:
    """The steps of the workflow as a run makes them."""
    return [
        step(1, "plan", 10, success_nodes=[2]),
        step(2, "approve", 90, "workflow_approval_templates", success_nodes=[3]),
        step(3, "apply", 11, failure_nodes=[4]),
        step(4, "look", 12),
    ]


def review(
    steps: list[dict[str, Any]],
    jobs: list[dict[str, Any]] | None = None,
    described: dict[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    there = {
        "job_templates": jobs if jobs is not None else [job(name) for name in RUNS],
        "workflow_job_templates": [{"id": 50, "name": FLOW, "url": "/50/", "summary_fields": {}}],
        "workflow_job_template_nodes": steps,
        "schedules": [],
        **more,
    }
    wanted = {
        "fields": FIELDS,
        "templates": DATA["controller_templates"],
        "workflows": DATA["controller_workflows"],
        "schedules": DATA["controller_schedules"],
        "dropped": [{"kind": "schedules", "name": "Kafka stop every night", "unified_job_template": "Kafka stop"}],
        "surveys": {"stop": {"spec": [{"variable": "kafka_ended_run"}]}},
        "names": [FLOW, "Kafka stop", "Kafka stop every night"],
        "project": "Kafka",
        "labels": ["Kafka looks", "Kafka proofs", "Kafka changes"],
        "credentials": ["Machines"],
        **(described or {}),
    }
    return awx_review(there, wanted)


def changed(steps: list[dict[str, Any]], identifier: str, **ways: list[int]) -> list[dict[str, Any]]:
    return [{**one, **ways} if one["identifier"] == identifier else one for one in steps]


def test_what_we_made_ourselves_is_neither_brought_back_nor_refused_nor_listed() -> None:
    found = review(ours())
    assert (found["changes"], found["left"], found["refused"], found["narrowed"]) == ([], [], [], [])


def test_every_field_that_awx_has_is_ours_or_theirs_or_in_the_tasks() -> None:
    for kind in FIELDS:
        named = {*FIELDS[kind]["ours"], *FIELDS[kind]["theirs"]}
        assert named <= set(KINDS[kind].fields)
        defaults = {name: field.default for name, field in KINDS[kind].fields.items() if name in named}
        given = {**FIELDS[kind]["ours"], **FIELDS[kind]["theirs"]}
        assert {name for name in named if not is_same(defaults[name], given[name])} == set()
    flags = [name for name in KINDS["job_templates"].fields if name.startswith("ask_")]
    assert set(flags) <= {*FIELDS["job_templates"]["ours"], *FIELDS["job_templates"]["theirs"]}


@pytest.mark.parametrize(("now", "wanted"), [(None, ""), ("---", "{}"), ({}, None), ("", "{}"), (5, 5), (False, False)])
def test_nothing_has_several_forms(now: Any, wanted: Any) -> None:
    assert is_same(now, wanted)


@pytest.mark.parametrize(
    ("now", "wanted"), [(5, 0), ("a: 1", "{}"), (True, False), (False, None), (0, None), ("x", "")]
)
def test_zero_and_false_are_values(now: Any, wanted: Any) -> None:
    assert not is_same(now, wanted)


def test_a_field_that_this_awx_does_not_have_is_left_out() -> None:
    assert differing({"timeout": 5}, {"timeout": 0, "new_in_another_release": 1}) == {"timeout": 0}


def test_ours_comes_back_and_theirs_is_listed() -> None:
    labels = {"labels": {"results": [{"name": "Kafka changes"}, {"name": "night"}]}}
    shown = {**job("Kafka stop")["summary_fields"], **labels, "credentials": [{"name": "Machines"}, {"name": "Store"}]}
    hand = job("Kafka stop", timeout=5, host_config_key="planted", forks=20, verbosity=0, summary_fields=shown)
    schedule = {"unified_job_template": 11, "name": "every night"}
    found = review(ours(), [hand], schedules=[schedule])
    (change,) = found["changes"]
    assert (change["url"], change["body"]) == ("/11/", {"timeout": 0, "host_config_key": ""})
    assert change["said"] == "job template Kafka stop: timeout 5, host_config_key"
    assert found["left"] == [
        "job template Kafka stop: forks 20, label night, credential Store",
        "job template Kafka stop: schedule every night",
    ]


def test_an_object_that_awx_only_leaves_out_is_not_touched() -> None:
    found = review([], [job("Kafka status", timeout=5, forks=20)])
    assert (found["changes"], found["left"]) == ([], [])


@pytest.mark.parametrize("runs", ["Chat", "Kafka status", "Kafka stop"])
def test_a_root_that_we_did_not_make_is_refused_whatever_it_runs(runs: str) -> None:
    (said,) = review([*ours(), step(9, "mine", RUNS[runs])])["refused"]
    assert said == f"workflow {FLOW}: {runs} (identifier mine) comes after no step, so it starts with the workflow"


@pytest.mark.parametrize("runs", ["Kafka stop", "Copy of stop"])
@pytest.mark.parametrize(("behind", "side"), [("plan", "success_nodes"), ("approve", "failure_nodes")])
def test_a_change_without_the_approval_in_front_is_refused(runs: str, behind: str, side: str) -> None:
    steps = changed(ours(), behind, **{side: [9]})
    (said,) = review([*steps, step(9, "mine", RUNS[runs])])["refused"]
    assert said.endswith("(identifier mine) may change clusters, and starts without the approval")


def test_a_change_behind_a_message_that_is_behind_the_plan_is_refused_too() -> None:
    steps = [*changed(ours(), "plan", always_nodes=[8]), step(8, "chat", 14, success_nodes=[9]), step(9, "mine", 11)]
    (said,) = review(steps)["refused"]
    assert "Kafka stop (identifier mine) may change clusters" in said


def test_a_workflow_of_theirs_may_change_clusters_and_one_of_ours_asks_itself() -> None:
    steps = changed(ours(), "plan", failure_nodes=[9])
    assert len(review([*steps, step(9, "mine", 77, "workflow_job_templates")])["refused"]) == 1
    assert review([*steps, step(9, "mine", 50, "workflow_job_templates")])["refused"] == []


def test_a_way_into_our_steps_is_refused() -> None:
    steps = changed(ours(), "plan", always_nodes=[9])
    (said,) = review([*steps, step(9, "mine", 14, success_nodes=[3])])["refused"]
    assert said.endswith("Chat (identifier mine) leads to our apply, which would start by it")


def test_a_step_that_stands_where_the_approval_was_is_refused() -> None:
    steps = [one if one["identifier"] != "approve" else step(2, "approve", 10, success_nodes=[3]) for one in ours()]
    (said,) = review(steps)["refused"]
    assert said.endswith("Kafka status (identifier approve) stands where our approval was")


@pytest.mark.parametrize("runs", ["Chat", "Kafka status", "Kafka stop"])
def test_a_step_behind_our_last_one_stays_connected_and_is_listed(runs: str) -> None:
    found = review([*changed(ours(), "look", always_nodes=[9]), step(9, "mine", RUNS[runs])])
    assert found["refused"] == []
    assert found["left"] == [f"workflow {FLOW}: step {runs} (identifier mine)"]
    (flow,) = found["workflows"]
    look = next(one for one in flow["simplified_workflow_nodes"] if one["identifier"] == "look")
    assert (look["success_nodes"], look["always_nodes"]) == ([], ["mine"])


def test_a_way_of_our_own_steps_round_the_approval_is_not_kept() -> None:
    found = review(changed(ours(), "plan", success_nodes=[2, 3]))
    (flow,) = found["workflows"]
    assert flow["simplified_workflow_nodes"][0]["success_nodes"] == ["approve"]
    assert found["refused"] == []


#: By flag of a template what a schedule or a step gives for it.
GIVEN: dict[str, tuple[str, Any]] = {
    **{f"ask_{name}_on_launch": (name, "rack-a") for name in ("limit", "skip_tags", "scm_branch", "job_type")},
    "ask_tags_on_launch": ("job_tags", "kafka_configure"),
    "ask_variables_on_launch": ("extra_data", {"kafka_cluster_name": "orders"}),
    "ask_diff_mode_on_launch": ("diff_mode", False),
    **{f"ask_{name}_on_launch": (name, 7) for name in ("inventory", "execution_environment", "job_slice_count")},
    "ask_timeout_on_launch": ("timeout", 60),
}


@pytest.mark.parametrize("flag", GIVEN)
def test_what_a_schedule_or_a_step_would_lose_is_said_before_it_runs_with_all_hosts(flag: str) -> None:
    field, value = GIVEN[flag]
    given = {field: value}
    schedule = {"id": 70, "unified_job_template": 11, "name": "rack a", **given}
    behind = {**step(9, "mine", 11), **given}
    elsewhere = {**step(8, "only", 11), **given, "workflow_job_template": 60}
    elsewhere["summary_fields"] = {**elsewhere["summary_fields"], "workflow_job_template": {"name": "By hand"}}
    steps = [*changed(ours(), "look", always_nodes=[9]), behind, elsewhere]
    said = field if field == "extra_data" else f"{field} {value}"
    assert review(steps, [job("Kafka stop", **{flag: True})], schedules=[schedule])["narrowed"] == [
        f"schedule rack a gives {said} to job template Kafka stop",
        f"workflow {FLOW}: step Kafka stop (identifier mine) gives {said} to job template Kafka stop",
        f"workflow By hand: step Kafka stop (identifier only) gives {said} to job template Kafka stop",
    ]
    assert review(steps, [job("Kafka stop", **{flag: False})], schedules=[schedule])["narrowed"] == []


def test_what_gives_nothing_or_what_our_step_gives_or_the_survey_asks_is_not_said() -> None:
    flags = dict.fromkeys(GIVEN, True)
    schedule = {"id": 70, "unified_job_template": 11, "name": "all", "limit": "", "extra_data": {}, "diff_mode": None}
    apply = [{**one, "limit": "rack-a"} if one["identifier"] == "apply" else one for one in ours()]
    assert review(apply, [job("Kafka stop", **flags)], schedules=[schedule])["narrowed"] == []
    answers = {"extra_data": {"kafka_ended_run": "job 12"}}
    assert ignored(answers, ["extra_data"], {"kafka_ended_run"}) == {}
    assert ignored(answers, ["extra_data"], {"kafka_topic"}) == answers


def test_a_schedule_that_this_run_removes_is_not_listed_as_left() -> None:
    schedule = {"id": 70, "unified_job_template": 11, "name": "Kafka stop every night", "limit": "rack-a"}
    found = review(ours(), [job("Kafka stop", ask_limit_on_launch=True)], schedules=[schedule])
    assert (found["left"], found["narrowed"]) == ([], [])


WATCH = DATA["controller_schedules"][0]


def schedule_review(setting: Any = False, **now: Any) -> dict[str, Any]:
    """What is said of our schedule that AWX has so."""
    there = {"id": 70, **WATCH, "unified_job_template": 20, **now}
    watch = {"id": 20, "name": WATCH["unified_job_template"], "url": "/20/", "summary_fields": {}}
    found = review(
        ours(),
        [*(job(name) for name in RUNS), watch],
        schedules=[there],
        described={"schedules": [{**WATCH, "enabled": setting}], "names": [FLOW, WATCH["name"]]},
    )
    return {key: found[key] for key in ("left", "switched_on", "schedules")}


@pytest.mark.parametrize("setting", [False, "false"])
def test_when_a_schedule_of_ours_runs_and_that_it_runs_stays_and_is_told(setting: Any) -> None:
    rule = "DTSTART:20260101T000500Z RRULE:FREQ=MINUTELY;INTERVAL=15"
    found = schedule_review(setting, enabled=True, rrule=rule)
    assert found["schedules"] == [{**WATCH, "enabled": True, "rrule": rule}]
    assert found["left"] == [f"schedule {WATCH['name']}: rrule {rule}, enabled True"]
    assert found["switched_on"] == []


def test_answers_that_people_gave_beside_ours_stay_and_ours_come_back() -> None:
    ours = {**WATCH, "extra_data": {"kafka_failover": "a->b"}, "enabled": False}
    there = {**ours, "id": 70, "unified_job_template": 20, "extra_data": {"kafka_failover": "x", "by": "alice"}}
    watch = {"id": 20, "name": WATCH["unified_job_template"], "url": "/20/", "summary_fields": {}}
    described = {"schedules": [ours], "names": [WATCH["name"]]}
    found = review([], [watch], schedules=[there], described=described)
    assert found["schedules"] == [{**ours, "extra_data": {"kafka_failover": "a->b", "by": "alice"}}]
    assert found["left"] == [f"schedule {WATCH['name']}: extra_data"]
    missing = review([], [watch], schedules=[], described=described)
    assert missing["schedules"] == [ours]


def test_a_schedule_that_is_as_described_is_not_told_of() -> None:
    assert schedule_review() == {"left": [], "switched_on": [], "schedules": [{**WATCH, "enabled": False}]}


@pytest.mark.parametrize("setting", [True, "true"])
def test_the_setting_switches_on_what_is_off_and_says_so(setting: Any) -> None:
    found = schedule_review(setting)
    assert found == {
        "left": [],
        "switched_on": [WATCH["name"]],
        "schedules": [{**WATCH, "enabled": True}],
    }
    assert schedule_review(setting, enabled=True)["switched_on"] == []


def test_a_schedule_of_the_same_name_on_another_template_is_not_ours() -> None:
    found = schedule_review(unified_job_template=11, enabled=True)
    assert found["schedules"] == [{**WATCH, "enabled": False}]
