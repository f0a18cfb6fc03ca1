# SPDX-License-Identifier: GPL-3.0-or-later
"""What awx/ says of AWX holds together, and with the argument specs of the roles."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import ansible_collections.awx.awx.plugins.modules as awx_modules
import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

from ansible_collections.streamops.kafka.plugins.plugin_utils.specs import role_options
from tests.support.awx_data import MAKE_AWX, awx_data
from tests.support.awx_kinds import answer_error, rule_error, survey_error
from tests.support.cluster import ROOT

TOOL = MAKE_AWX
DATA = awx_data()
SURVEYS: dict[str, Any] = TOOL["surveys"](DATA["awx_questions"])
QUESTIONS = [(key, asked) for key, survey in SURVEYS.items() for asked in survey["spec"]]
MODULES = Path(str(awx_modules.__file__)).parent
TEMPLATES = {one["name"]: one for one in DATA["controller_templates"]}


def test_generated_files_are_those_of_the_data() -> None:
    assert TOOL["SURVEYS"].read_text() == TOOL["surveys_text"](DATA["awx_questions"]), "run tools/make_awx"
    assert TOOL["EXPORT"].read_text() == TOOL["export_text"](DATA), "run tools/make_awx"
    for folder, made in (("PROJECT", "project"), ("CONFIGURATION", "configuration_files")):
        for path, text in TOOL[made](DATA).items():
            assert (TOOL[folder] / path).read_text() == text, f"{path}: run tools/make_awx"
    assert {path.name for path in TOOL["CONFIGURATION"].iterdir()} == set(TOOL["configuration_files"](DATA))


#: What infra.aap_configuration reads, as Ansible reads its files.
CONFIGURATION: dict[str, Any] = {
    name: objects
    for path in TOOL["CONFIGURATION"].glob("*.yml")
    for name, objects in DataLoader().load_from_file(str(path)).items()
}
#: By list of infra.aap_configuration the module that its role calls, and the kind of the export.
OF = {
    "aap_organizations": ("organization", "organizations"),
    "controller_execution_environments": ("execution_environment", "execution_environments"),
    "controller_projects": ("project", "projects"),
    "controller_inventories": ("inventory", "inventory"),
    "controller_inventory_sources": ("inventory_source", "inventory_sources"),
    "controller_credential_types": ("credential_type", "credential_types"),
    "controller_labels": ("label", ""),
    "controller_templates": ("job_template", "job_templates"),
    "controller_workflows": ("workflow_job_template", "workflow_job_templates"),
    "controller_schedules": ("schedule", "schedules"),
}


def plain(value: Any) -> Any:
    """A value of the export with the names of what it refers to, and extra variables as they were before JSON."""
    if isinstance(value, dict) and "natural_key" not in value and {"name", "type"} <= set(value):
        return value["name"]
    return json.loads(value) if isinstance(value, str) and value.startswith("{") else value


@pytest.mark.parametrize("name", OF)
def test_the_variables_of_aap_configuration_are_the_objects_of_the_export(name: str) -> None:
    module, kind = OF[name]
    page = (MODULES / f"{module}.py").read_text().partition("DOCUMENTATION = '''")[2].partition("'''")[0]
    options = {*yaml.safe_load(page)["options"], "simplified_workflow_nodes"}
    assert not {key for one in CONFIGURATION[name] for key in one} - options
    exported = {one["name"]: one for one in TOOL["export"](DATA).get(kind, [])}
    for one in CONFIGURATION[name] if kind else ():
        other = exported.pop(one["name"])
        other |= {"survey_spec": other["related"]["survey_spec"]} if "survey_spec" in other.get("related", {}) else {}
        for key in set(one) & set(other):
            assert one[key] == plain(other[key]), f"{one['name']}: {key}"
        nodes = {node["identifier"]: node for node in other.get("related", {}).get("workflow_nodes", [])}
        assert [node["identifier"] for node in one.get("simplified_workflow_nodes", [])] == list(nodes)
    assert exported == {}


@pytest.mark.parametrize("key", SURVEYS)
def test_awx_takes_the_survey_with_its_defaults(key: str) -> None:
    assert survey_error(SURVEYS[key]) is None


@pytest.mark.parametrize(("key", "asked"), QUESTIONS)
def test_a_question_is_what_the_argument_spec_says(key: str, asked: dict[str, Any]) -> None:
    option = role_options()[asked["variable"]]
    assert not option.get("no_log")
    assert asked["question_description"]
    assert asked["required"] or not option.get("required")
    if "range" in option:
        assert [asked["min"], asked["max"]] == option["range"]
    if "choices" in option:
        # AWX drops an empty choice; a text that is not given has one of its own.
        assert asked["choices"].split("\n") == [one for one in option["choices"] if one]
    # The answer that AWX gives without a person, by the spec itself.
    if asked["default"] != "":
        checked = {name: value for name, value in option.items() if name != "range"}
        result = ArgumentSpecValidator({asked["variable"]: checked}).validate({asked["variable"]: asked["default"]})
        assert not result.error_messages


@pytest.mark.parametrize(("key", "asked"), QUESTIONS)
def test_a_question_that_is_not_answered_leaves_what_the_inventory_says(key: str, asked: dict[str, Any]) -> None:
    usual = role_options()[asked["variable"]].get("default")
    if usual in (None, "", []):
        return  # It belongs to one run: no inventory has a value of it that a role would use without being asked.
    assert (asked["default"], asked["required"]) == ("", False)
    assert answer_error(asked, "") is not None, "AWX would hand the empty answer to the job"
    written = str(usual).lower() if isinstance(usual, bool) else usual
    assert asked["question_description"].endswith(f"or {written} where the inventory has none.")


def test_a_choice_that_awx_makes_by_itself_consents_to_nothing() -> None:
    kinds = {asked["choices"] for _key, asked in QUESTIONS if "true" in asked.get("choices", "").split("\n")}
    assert kinds == {"false\ntrue"}


def test_what_a_playbook_needs_is_asked_and_must_be_answered() -> None:
    needed = {"drain": "kafka_remove_broker", "replace": "kafka_replace_node", "grow": "kafka_grow_partitions"}
    for key, variable in needed.items():
        (asked,) = (one for one in SURVEYS[key]["spec"] if one["variable"] == variable)
        assert asked["required"]


@pytest.mark.parametrize(("key", "asked"), [one for one in QUESTIONS if one[1]["required"]])
def test_an_answer_that_is_required_is_not_empty(key: str, asked: dict[str, Any]) -> None:
    assert answer_error(asked, "") is not None


def test_a_group_is_deleted_by_a_choice_and_by_no_slip() -> None:
    (asked,) = (one for one in SURVEYS["groups"]["spec"] if one["variable"] == "kafka_consumer_group_to")
    assert answer_error(asked, "absent") is None
    assert answer_error(asked, "abesnt") is not None
    assert asked["default"] == "stay"


def test_a_step_without_a_way_back_is_confirmed_by_a_phase_that_a_person_types() -> None:
    """AWX takes no empty answer where there are choices, and some releases choose the first one by themselves."""
    (asked,) = (one for one in SURVEYS["migration_step"]["spec"] if one["variable"] == "kafka_migration_confirmed")
    assert (asked["type"], asked["default"], asked["required"]) == ("text", "", False)
    assert [answer_error(asked, answer) for answer in ("", "finalised")] == [None, None]


def test_a_migration_is_shown_by_a_job_and_its_next_step_taken_by_another() -> None:
    given = {name: one.get("extra_vars") for name, one in TEMPLATES.items() if "migrate_to_kraft" in one["playbook"]}
    step = {"kafka_migration": "next"}
    assert given == {
        "Kafka migration to KRaft": None,
        "Kafka migration step, plan": step,
        "Kafka migration step": step,
    }


def test_a_step_of_a_failover_has_a_plan_and_an_approval_and_its_words_are_typed() -> None:
    given = {name: one.get("survey") for name, one in TEMPLATES.items() if one["playbook"] == "mirror_failover.yml"}
    assert given == {
        "Kafka mirror failover cost": "mirror_failover",
        "Kafka mirror failover step, plan": "mirror_failover_step",
        "Kafka mirror failover step": "mirror_failover_step",
    }
    asked = {one["variable"]: one for one in SURVEYS["mirror_failover_step"]["spec"]}
    needed = {name for name, one in asked.items() if one["required"]}
    assert needed == {"kafka_failover", "kafka_failover_step", "kafka_failover_operator"}
    assert {one["type"] for one in asked.values()} == {"text", "textarea"}
    # What the plan hands on is no answer.
    assert "kafka_failover_stage" not in asked


def test_a_cluster_is_looked_at_without_a_word_and_each_word_of_adoption_is_a_job_of_its_own() -> None:
    given = {name: one.get("extra_vars") for name, one in TEMPLATES.items() if one["playbook"] == "adopt.yml"}
    take, back = {"kafka_adopt": "take"}, {"kafka_adopt": "back"}
    assert given == {
        "Kafka adoption, look": None,
        "Kafka adoption, take over, plan": take,
        "Kafka adoption, give back, plan": back,
        "Kafka adoption, take over": take,
        "Kafka adoption, give back": back,
        "Kafka adoption, finish": {"kafka_adopt": "finish"},
    }
    flows = {one["name"] for one in DATA["controller_workflows"] if "adoption" in one["name"]}
    assert flows == {"Kafka adoption, take over, approved", "Kafka adoption, give back, approved"}


def test_forgetting_who_ran_the_nodes_is_confirmed_by_a_word_that_a_person_types() -> None:
    (asked,) = (one for one in SURVEYS["adoption_finish"]["spec"] if one["variable"] == "kafka_adopt_confirmed")
    assert (asked["type"], asked["default"], asked["required"]) == ("text", "", True)
    assert TEMPLATES["Kafka adoption, finish"]["survey"] == "adoption_finish"


def test_two_jobs_in_a_row_fetch_the_project_and_read_the_inventory_once() -> None:
    assert DATA["controller_projects"][0]["scm_update_cache_timeout"] == 60
    assert DATA["controller_inventory_sources"][0]["update_cache_timeout"] == 60


def test_a_number_out_of_its_range_and_text_in_place_of_a_number_are_refused() -> None:
    (asked,) = (one for one in SURVEYS["grow"]["spec"] if one["variable"] == "kafka_grow_partitions")
    assert answer_error(asked, 24) is None
    assert answer_error(asked, 0) == "'kafka_grow_partitions' value 0 is too small (must be at least 1)."
    assert answer_error(asked, "24") is not None


def test_every_survey_is_asked_and_every_playbook_exists() -> None:
    given = [*TEMPLATES.values(), *DATA["controller_workflows"]]
    assert {one["survey"] for one in given if "survey" in one} == set(SURVEYS)
    assert all((ROOT / "playbooks" / one["playbook"]).is_file() for one in TEMPLATES.values())


@pytest.mark.parametrize("flow", DATA["controller_workflows"], ids=lambda one: one["name"])
def test_nothing_is_applied_without_plan_and_approval(flow: dict[str, Any]) -> None:
    nodes = {one["identifier"]: one for one in flow["simplified_workflow_nodes"]}
    following = [to for one in nodes.values() for to in one.get("success_nodes", []) + one.get("failure_nodes", [])]
    assert set(nodes) - set(following) == {"plan"}
    assert [name for name, one in nodes.items() if "apply" in one.get("success_nodes", [])] == ["approve"]
    assert "approval_node" in nodes["approve"]
    assert nodes["apply"]["failure_nodes"] == ["look"]
    plan, apply = (TEMPLATES[nodes[one]["unified_job_template"]] for one in ("plan", "apply"))
    assert apply["label"] == "changes"
    assert plan.get("job_type") == "check" or plan["playbook"] == "status.yml" or plan["extra_vars"]["plan_only"]
    assert plan["label"] == "looks"


def test_awx_is_changed_from_inside_only_by_a_credential_that_a_setting_names_and_after_an_approval() -> None:
    plan, change = DATA["awx_own_templates"]
    assert not {plan["name"], change["name"]} & set(TEMPLATES)
    assert (plan["job_type"], plan["label"], change["label"]) == ("check", "looks", "changes")
    (flow,) = DATA["awx_own_workflows"]
    assert flow["name"] not in [one["name"] for one in DATA["controller_workflows"]]
    nodes = {one["identifier"]: one for one in flow["simplified_workflow_nodes"]}
    assert nodes["plan"] == {"identifier": "plan", "unified_job_template": plan["name"], "success_nodes": ["approve"]}
    assert nodes["approve"]["success_nodes"] == ["apply"]
    # Nothing behind it: a step after a failed one would have AWX count the workflow as successful.
    assert nodes["apply"] == {"identifier": "apply", "unified_job_template": change["name"]}


@pytest.mark.parametrize("one", [*TEMPLATES.values(), *DATA["awx_own_templates"]], ids=lambda one: one["name"])
def test_the_label_of_a_template_says_what_its_jobs_do(one: dict[str, Any]) -> None:
    looks = one["description"].endswith("Changes nothing.")
    if one.get("job_type") == "check" or one.get("extra_vars", {}).get("plan_only"):
        assert looks
    # The proof writes records into a topic of its own, and a look does not.
    assert one["label"] == ("looks" if looks else "proofs" if one["playbook"] == "validate.yml" else "changes")
    assert not looks or one["playbook"] != "validate.yml"
    assert f"Kafka {one['label']}" in {label["name"] for label in DATA["controller_labels"]}


def test_each_template_of_aap_configuration_has_its_label() -> None:
    made = {one["name"]: one["labels"] for one in CONFIGURATION["controller_templates"]}
    assert made == {name: [f"Kafka {one['label']}"] for name, one in TEMPLATES.items()}


@pytest.mark.parametrize("name", [name for name in TEMPLATES if name.endswith(", plan")])
def test_a_plan_is_of_its_change_and_changes_nothing(name: str) -> None:
    plan, change = TEMPLATES[name], TEMPLATES[name.removesuffix(", plan")]
    assert (plan["playbook"], plan.get("survey")) == (change["playbook"], change.get("survey"))
    assert plan.get("extra_vars") == {"plan_only": True} or plan["job_type"] == "check"


def rights(team: str, role: str) -> set[str]:
    """The templates and workflows that a team has a role of."""
    found = [one for one in DATA["awx_rights"] if (one["team"], one["role"]) == (team, role)]
    return {name for one in found for kind in ("job_templates", "workflows") for name in one.get(kind, [])}


def test_no_team_launches_a_change_without_its_plan_and_who_approves_sees_every_job() -> None:
    changes = {name for name, one in TEMPLATES.items() if one["label"] == "changes"}
    flows = {one["name"] for one in DATA["controller_workflows"]}
    launched = {team: rights(team, "execute") for team in ("looker", "operator", "approver")}
    assert not changes & set.union(*launched.values())
    assert (launched["looker"] & flows, launched["operator"] & flows, launched["approver"]) == (set(), flows, set())
    assert "Kafka validate" not in launched["looker"]
    assert rights("approver", "approval") == flows
    assert rights("approver", "read") == set(TEMPLATES) == (launched["operator"] - flows) | rights("operator", "read")


def test_nothing_that_is_described_is_dropped_too() -> None:
    kinds = {"schedules": "schedules", "workflow_job_templates": "workflows", "job_templates": "templates"}
    for one in DATA["controller_dropped"]:
        assert one["name"] not in [each["name"] for each in DATA[f"controller_{kinds[one['kind']]}"]]
        assert ("unified_job_template" in one) == (one["kind"] == "schedules")


def test_awx_takes_the_rules_of_schedules() -> None:
    assert [rule_error(one["rrule"]) for one in DATA["controller_schedules"]] == [None, None]


def added_schedules(**settings: Any) -> list[dict[str, Any]]:
    """Return the schedules that these settings add to those that are always made."""
    loader, read = DataLoader(), {}
    for name in ("settings", "schedules"):
        read |= loader.load_from_file(str(ROOT / "awx" / "data" / f"{name}.yml"), trusted_as_template=True)
    filled = json.loads(json.dumps(Templar(loader, {**read, **settings}).template(read["controller_schedules"])))
    always = DATA["controller_schedules"]
    assert filled[: len(always)] == always
    return list(filled[len(always) :])


@pytest.mark.parametrize("given", [True, "true"])
def test_mirrors_are_compared_from_their_start_each_week_where_a_setting_says_so(given: Any) -> None:
    (weekly,) = added_schedules(awx_whole_audit_weekly=given)
    assert (rule_error(weekly["rrule"]), weekly["enabled"]) == (None, False)
    assert "FREQ=WEEKLY" in weekly["rrule"]
    whole = TEMPLATES[weekly["unified_job_template"]]
    assert (whole["playbook"], whole["extra_vars"]) == ("validate.yml", {"mirror_audit_incremental": False})
    # An answer, an unchanged default too, would go before the other variables of the audit in the inventory.
    assert "survey" not in whole
    # As the one of each day, it tells of failures.
    assert whole["notify"]
    daily = TEMPLATES["Kafka validate"]
    asked = {question["variable"] for question in SURVEYS[daily["survey"]]["spec"]}
    assert "mirror_audit_incremental" not in asked | daily.get("extra_vars", {}).keys()


def test_no_whole_audit_is_scheduled_beside_one_that_reads_all_each_day() -> None:
    assert added_schedules() == added_schedules(awx_whole_audit_weekly="false") == []


@pytest.mark.parametrize("given", [["dc_a->dc_b", "dc_b->dc_a"], "dc_a->dc_b, dc_b->dc_a"])
def test_each_flow_that_is_named_gets_a_monthly_schedule_that_answers_which_failover(given: Any) -> None:
    first, second = added_schedules(awx_drill_flows=given)
    assert (first["name"], second["name"]) == (
        "Kafka mirror failover drill every month, dc_a->dc_b",
        "Kafka mirror failover drill every month, dc_b->dc_a",
    )
    assert first["extra_data"] == {"kafka_failover": "dc_a->dc_b"}
    assert (rule_error(first["rrule"]), first["enabled"]) == (None, False)
    (flow,) = [one for one in DATA["controller_workflows"] if one["name"] == first["unified_job_template"]]
    # What AWX has no answer to is no question that must be answered.
    asked = {one["variable"] for one in SURVEYS[flow["survey"]]["spec"] if one["required"] and one["default"] == ""}
    assert asked == set(first["extra_data"])
    assert {"approve", "apply"} <= {node["identifier"] for node in flow["simplified_workflow_nodes"]}


#: What stands after the name of a secret and is none.
PLAIN = ("true", "false", "CHANGE-ME")


def secrets(text: str) -> list[str]:
    """Values of keys that hold secrets, but for expressions that AWX fills in."""
    found = re.findall(r'"?\b\w*(?:password|token|secret|key)"?: *"?([^",}\n]+)', text, re.I)
    return [one for one in found if one.strip() and not one.lstrip('"').startswith(("{", "[")) and one not in PLAIN]


def test_no_file_of_awx_holds_a_secret() -> None:
    for path in (ROOT / "awx").rglob("*.*"):
        assert "BEGIN " not in path.read_text(), path
        assert secrets(path.read_text().replace("!unsafe ", "")) == [], path


def test_a_secret_would_be_found() -> None:
    assert secrets('{"kafka_admin_password": "hunter2-planted"}') == ["hunter2-planted"]
    assert secrets("oauth_token: planted-here") == ["planted-here"]


def test_the_export_is_json_without_labels() -> None:
    export = json.loads((ROOT / "awx" / "export.json").read_text())
    assert not any("labels" in one.get("related", {}) for one in export["job_templates"])
    assert yaml.safe_load((ROOT / "awx" / "data" / "settings.yml").read_text())["awx_schedules_enabled"] is False
