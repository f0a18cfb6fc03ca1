# SPDX-License-Identifier: GPL-3.0-or-later
"""What AWX runs for our job templates, argument by argument."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.awx_words import Login, Vault, prompts, variables, words
from tests.support.cluster import ROOT

TEMPLATES: dict[str, dict[str, Any]] = {
    one["name"].removeprefix("Kafka "): one
    for one in json.loads((ROOT / "awx" / "export.json").read_text())["job_templates"]
}
#: Templates that ask Kafka from the control node and touch no machine. What changes a cluster takes its lock on one.
ASKS_KAFKA = {"groups", "validate", "validate, whole audit", "mirror audit", "mirror failover cost", "mirror gaps"}
DEPLOY = Login("deploy")


def test_jobs_escalate_where_their_playbook_touches_machines() -> None:
    assert {name for name, one in TEMPLATES.items() if "--become" not in words(one, DEPLOY)} == ASKS_KAFKA


def test_the_words_of_our_templates() -> None:
    assert words(TEMPLATES["site"], DEPLOY) == ["-u", "deploy", "--become", "--diff"]
    assert words(TEMPLATES["site, plan"], DEPLOY) == ["--check", "-u", "deploy", "--become", "--diff"]
    tags = "kafka_users,kafka_acls,kafka_quotas,kafka_client_bundle"
    assert words(TEMPLATES["users and ACLs"], None) == ["-u", "root", "--become", "--diff", "-t", tags]


def test_the_words_that_a_template_and_its_credentials_may_add() -> None:
    asked = {"forks": 20, "limit": "kafka1:&dc a", "verbosity": 2, "skip_tags": "slow", "force_handlers": True}
    login = Login("deploy", "sudo", "kafka", "planted")
    vaults = (Vault("one"), Vault("two", "prod"))
    assert words({**asked, "become_enabled": True}, login, vaults) == [
        *("-u", "deploy", "--become", "--become-method", "sudo", "--become-user", "kafka", "--ask-become-pass"),
        *("--ask-vault-pass", "--vault-id", "prod@prompt", "--forks=20", "--force-handlers", "-l", "kafka1:&dc a"),
        *("-vv", "--skip-tags=slow"),
    ]
    assert set(prompts(login, vaults).values()) == {"planted", "one", "two"}


@pytest.mark.parametrize("name", ["site", "rebalance, plan"])
def test_a_job_gets_what_a_person_answers_and_of_other_settings_what_the_inventory_says(name: str) -> None:
    given = variables(TEMPLATES[name], {"kafka_ended_run": "anna"}, 7)
    assert given["kafka_ended_run"] == "anna"
    assert given["awx_job_id"] == given["tower_job_id"] == 7
    assert given.get("plan_only") == (True if name.endswith("plan") else None)
    asked = TEMPLATES[name]["related"]["survey_spec"]["spec"]
    assert {one["variable"] for one in asked} & set(given) == {"kafka_ended_run"}


def test_an_audit_of_mirrors_without_an_answer_has_the_settings_of_the_inventory() -> None:
    assert [name for name in variables(TEMPLATES["mirror audit"], {}, 7) if name.startswith("mirror_")] == []
    assert variables(TEMPLATES["mirror audit"], {"mirror_audit_wait": 60}, 7)["mirror_audit_wait"] == 60


def test_a_default_that_breaks_its_own_rule_is_left_out() -> None:
    # A number without a default has an empty one in the survey.
    given = variables(TEMPLATES["grow a topic"], {}, 7)
    assert "kafka_grow_partitions" not in given
    # So has a text that must be answered.
    assert "kafka_grow_topic" not in given
    assert variables(TEMPLATES["replace a node"], {}, 7)["kafka_replace_lost_topics"] == ""
