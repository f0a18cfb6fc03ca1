# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of a run that cannot be read, and empty text of surveys."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.guards.run_values import (
    ill_named,
    missing,
    unclear,
    unknown,
    unread,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.specs import role_options

OPTIONS = role_options("preflight", "kafka_resources")


def why(name: str, value: Any) -> list[str]:
    """What is said of one value on one host."""
    return unclear({"kafka1": {name: value}}, OPTIONS)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("preflight_allow_limit", "-", "preflight_allow_limit is neither true nor false (found: '-'"),
        ("preflight_allow_limit", "", "preflight_allow_limit is neither true nor false"),
        ("plan_only", "maybe", "plan_only is neither true nor false"),
        ("kafka_grow_partitions", "many", "kafka_grow_partitions is no whole number"),
        ("kafka_replication_factor", "orders", "is no dict of topics (found: 'orders', allowed: numbers by topic"),
        ("kafka_replication_factor", None, "is no dict of topics"),
        ("kafka_replication_factor", ["orders"], "is no dict of topics"),
        ("kafka_replication_factor", {"orders": "many"}, "kafka_replication_factor.orders is no whole number"),
        ("kafka_replication_factor", {"orders": 0}, "kafka_replication_factor.orders is out of its range"),
    ],
)
def test_a_value_that_cannot_be_read_is_named(name: str, value: Any, said: str) -> None:
    (found,) = why(name, value)
    assert said in found
    assert found.endswith("on kafka1. fix: correct it, or leave it out to get the default.")


@pytest.mark.parametrize("value", ["", "  ", {"orders": 3}, {"orders": "3"}, '{"orders": 3}', "orders=3"])
def test_replication_factors_are_a_dict_or_text_of_one_or_not_given(value: Any) -> None:
    assert why("kafka_replication_factor", value) == []


def test_an_empty_answer_for_a_number_is_left_to_the_playbook_that_needs_it() -> None:
    assert why("kafka_replaced_id", "") == why("kafka_grow_partitions", " ") == []
    needed = ["kafka_grow_topic", "kafka_grow_partitions"]
    assert missing({"kafka_grow_topic": "orders", "kafka_grow_partitions": 9}, needed) == []
    assert missing({"kafka_grow_topic": "", "kafka_grow_partitions": "  "}, needed) == [
        "kafka_grow_topic is not set, or empty. fix: give it with -e kafka_grow_topic=VALUE.",
        "kafka_grow_partitions is not set, or empty. fix: give it with -e kafka_grow_partitions=VALUE.",
    ]
    assert missing({}, needed[:1]) != []


def test_hosts_with_the_same_value_are_one_sentence() -> None:
    hosts = {f"kafka{number}": {"preflight_allow_limit": "-"} for number in range(1, 9)}
    (found,) = unclear(hosts, OPTIONS)
    assert "on kafka1, kafka2, kafka3, kafka4, kafka5 and 3 more" in found


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("kafka_resources_move_throtle", "kafka_resources_move_throttle"),
        ("kafka_remove_brokr", "kafka_remove_broker"),
        ("plan-only", "plan_only"),
        ("spark_validation_record", "spark_validation_records"),
    ],
)
def test_a_slip_of_an_extra_variable_is_refused_with_the_name_that_is_meant(name: str, meant: str) -> None:
    said = f"nothing reads the extra variable {name}. fix: perhaps {meant} is meant."
    assert unread({name: "1", "plan_only": True}, role_options()) == [said]


def test_extra_variables_of_others_and_known_ones_are_left_alone() -> None:
    given = ("admin_password", "awx_job_id", "kafka_env", "kafka_local_dir", "streamops_verdict", *role_options())
    assert unread(given, role_options()) == []


def test_an_unknown_name_with_the_prefix_of_a_playbook_is_refused_and_what_awx_gives_is_not() -> None:
    known = ["awx_prefix", "awx_project", "awx_only"]
    given = ["awx_prefx", "awx_zzz", "awx_only", "awx_job_id", "awx_project_revision", "awx_project_scm_branch", "env"]
    assert unknown(given, known, "awx_") == [
        "nothing reads the extra variable awx_prefx. fix: perhaps awx_prefix is meant.",
        "nothing reads the extra variable awx_zzz. fix: correct it or remove it.",
    ]


@pytest.mark.parametrize(
    ("given", "named", "fix"),
    [
        ({"kafka_grow_topic": " orders"}, "' orders'", "take the blanks at its ends away"),
        ({"kafka_grow_topic": "my orders"}, "'my orders'", "correct the name"),
        ({"kafka_replication_factor": {"orders": 3, "a b": 2}}, "'a b'", "correct the name"),
        ({"kafka_replication_factor": '{"orders ": 3}'}, "'orders '", "take the blanks at its ends away"),
    ],
    ids=str,
)
def test_a_name_that_no_topic_can_have_is_refused_with_its_variable(
    given: dict[str, Any], named: str, fix: str
) -> None:
    (refusal,) = ill_named(given)
    assert refusal.startswith(f"{next(iter(given))}: no topic can have the name {named}")
    assert fix in refusal


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"kafka_grow_topic": "orders.v1", "kafka_replication_factor": {"orders": 3}},
        # A survey without an answer; and what is judged elsewhere.
        {"kafka_grow_topic": "", "kafka_replication_factor": " "},
        {"kafka_replication_factor": "orders"},
        {"kafka_replication_factor": ["orders"]},
    ],
    ids=str,
)
def test_what_names_no_topic_wrongly_is_not_refused_for_its_name(given: dict[str, Any]) -> None:
    assert ill_named(given) == []
