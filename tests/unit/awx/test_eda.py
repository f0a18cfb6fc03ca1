# SPDX-License-Identifier: GPL-3.0-or-later
"""What alerts start by Event-Driven Ansible: looks, and workflows that wait for an approval; no alert twice."""

from __future__ import annotations

import runpy
from typing import Any

import pytest
import yaml

from ansible_collections.streamops.kafka.plugins.plugin_utils.monitoring.rules import Alert, table
from tests.support.awx_data import awx_data
from tests.support.cluster import ROOT

TOOL = runpy.run_path(str(ROOT / "tools" / "make_eda"))
AWX = awx_data()
PREFIX = AWX["awx_prefix"]
TEMPLATES = {one["name"]: one for one in AWX["controller_templates"]}
WORKFLOWS = {one["name"]: one for one in AWX["controller_workflows"]}
RULEBOOKS = {name: yaml.safe_load(text)[0] for name, text in TOOL["rulebooks"]().items()}
RULES = [(name, rule) for name, book in RULEBOOKS.items() for rule in book["rules"]]
ASKS = [(name, rule) for name, rule in RULES if "actions" in rule]
STARTS = [(name, rule) for name, rule in RULES if "action" in rule]
#: What the first step of a runbook is by hand, and which template it is in AWX.
BY_HAND = {"ansible-playbook streamops.kafka.status": "status", "kafka-consumer-groups.sh": "groups"}


def named(name: str) -> str:
    """Return the name of a template as AWX has it, without settings."""
    return f"{PREFIX} {name}"


@pytest.mark.parametrize("alert", [one for one in table() if one.looks], ids=lambda one: one.name)
def test_an_alert_starts_what_its_runbook_names_and_what_changes_nothing(alert: Alert) -> None:
    template = TEMPLATES[named(alert.looks)]
    assert template["label"] == "looks"
    assert template["description"].endswith("Changes nothing.")
    assert template["playbook"] == "status.yml" or template["extra_vars"] == {"plan_only": True}
    first = next((look for words, look in BY_HAND.items() if alert.first.startswith(words)), None)
    # The proof of data writes into the cluster, so it is for a person to start.
    assert first == alert.looks or alert.first.startswith("ansible-playbook streamops.kafka.validate")


def test_each_runbook_that_begins_with_a_look_has_it_started() -> None:
    for alert in table():
        if any(alert.first.startswith(words) for words in BY_HAND):
            assert alert.looks, alert.name


@pytest.mark.parametrize("alert", [one for one in table() if one.proposes], ids=lambda one: one.name)
def test_a_change_is_proposed_by_its_workflow_which_asks_nothing_and_has_an_approval(alert: Alert) -> None:
    assert alert.looks
    assert alert.proposes in alert.then
    workflow = WORKFLOWS[named(f"{alert.proposes}, approved")]
    assert not any(one.get("required") for one in AWX["awx_questions"][workflow["survey"]]["questions"])
    nodes = {one["identifier"]: one for one in workflow["simplified_workflow_nodes"]}
    assert [name for name, one in nodes.items() if "apply" in one.get("success_nodes", [])] == ["approve"]
    assert "approval_node" in nodes["approve"]


def test_the_rulebook_of_looks_starts_no_workflow() -> None:
    actions = {name: [next(iter(rule["action"])) for book, rule in STARTS if book == name] for name in RULEBOOKS}
    assert set(actions["look.yml"]) == {"run_job_template"}
    assert set(actions["look_and_propose.yml"]) == {"run_job_template", "run_workflow_template"}


@pytest.mark.parametrize(("name", "rule"), STARTS)
def test_what_is_started_is_a_look_or_has_an_approval(name: str, rule: dict[str, Any]) -> None:
    ((kind, action),) = rule["action"].items()
    template = action["name"].removeprefix("{{ kafka_eda_prefix | default('Kafka') }} ")
    known = {"run_job_template": TEMPLATES, "run_workflow_template": WORKFLOWS}[kind]
    # A workflow has no label of its own: it makes its plan and waits.
    assert known[named(template)].get("label", "looks") == "looks"


@pytest.mark.parametrize(("name", "rule"), STARTS)
def test_nothing_of_an_alert_reaches_a_job(name: str, rule: dict[str, Any]) -> None:
    (action,) = rule["action"].values()
    assert "event" not in yaml.safe_dump({**action, "include_events": None}).replace("include_events", "")
    assert action["include_events"] is False
    assert action["job_args"] == {"limit": ""}
    # A second start after a failure would be a second job for one alert.
    assert not {"retry", "retries"} & set(action)


def alerts_of(rule: dict[str, Any]) -> list[str]:
    """Return the names of the alerts that a rule hears."""
    words, _bracket, listed = rule["condition"].partition("[")
    assert words == 'event.status == "firing" and event.labels.alertname in '
    return [name.strip().strip('"') for name in listed.rstrip("]").split(",")]


def templates_of(rule: dict[str, Any]) -> list[str]:
    """Return the templates that a rule asks for, without their prefix."""
    return [action["post_event"]["event"]["kafka_starts"] for action in rule["actions"]]


@pytest.mark.parametrize("name", RULEBOOKS)
def test_an_alert_is_taken_once_while_it_fires_and_a_cluster_once_in_a_while(name: str) -> None:
    asks = [rule for book, rule in ASKS if book == name]
    starts = [rule for book, rule in STARTS if book == name]
    for rule in asks:
        assert rule["throttle"]["group_by_attributes"] == ["event.fingerprint", "event.startsAt"]
    for rule in starts:
        assert rule["condition"].startswith("event.kafka_starts == ")
        assert rule["throttle"]["group_by_attributes"] == ["event.cluster"]
    asked = {template for rule in asks for template in templates_of(rule)}
    assert sorted(asked) == sorted(rule["condition"].split('"')[1] for rule in starts)


@pytest.mark.parametrize("name", RULEBOOKS)
def test_one_rule_alone_hears_an_alert_and_asks_for_all_that_it_starts(name: str) -> None:
    """Of two rules with a throttle ansible-rulebook 1.3.2 fires the first alone, so a second one is never heard."""
    heard = [(alert, templates_of(rule)) for book, rule in ASKS if book == name for alert in alerts_of(rule)]
    proposes = name == "look_and_propose.yml"
    wanted = [
        (alert.name, [alert.looks, *([f"{alert.proposes}, approved"] if proposes and alert.proposes else [])])
        for alert in table()
        if alert.looks
    ]
    assert sorted(heard) == sorted(wanted)
    assert "match_multiple_rules" not in RULEBOOKS[name]


@pytest.mark.parametrize("book", RULEBOOKS.values(), ids=RULEBOOKS)
def test_a_rulebook_listens_to_who_has_the_token_on_this_machine(book: dict[str, Any]) -> None:
    (source,) = book["sources"]
    assert source["eda.builtin.webhook"]["token"] == "{{ kafka_eda_token }}"
    assert "127.0.0.1" in source["eda.builtin.webhook"]["host"]
