# SPDX-License-Identifier: GPL-3.0-or-later
"""The shape of variables, by table, and names with a typing error."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from tests.support.preflight_inventories import CLUSTER, LISTENERS, combined, expect, topic

BAD: list[tuple[dict[str, Any], str, list[str]]] = [
    ({"kafka_topics": "orders"}, "wrong_type", ["kafka_topics", "found: text", "a list"]),
    ({"kafka_config": ["a"]}, "wrong_type", ["kafka_config", "found: a list", "allowed: a dict"]),
    ({"kafka_jvm_options": "-Xss1m"}, "wrong_type", ["kafka_jvm_options", "found: text"]),
    (
        {"kafka_config": {"num.io.threads": [8]}},
        "wrong_type",
        ["kafka_config['num.io.threads']", "a list", "with commas"],
    ),
    ({"kafka_config": {"num.io.threads": None}}, "wrong_type", ["kafka_config['num.io.threads']", "found: null"]),
    ({"kafka_topics": ["orders"]}, "bad_entry", ["kafka_topics[0]", "found: text", "a dict"]),
    ({"kafka_topics": [{"partitions": 3}]}, "bad_entry", ["kafka_topics[0]", "missing required arguments: name"]),
    (
        {"kafka_topics": [{"name": "a", "partition": 3}]},
        "bad_entry",
        ["found: partition", "perhaps partitions is meant"],
    ),
    (
        {"kafka_topics": [topic(partitions="many")]},
        "bad_entry",
        ["kafka_topics[0].partitions", "no whole number", "found: 'many'"],
    ),
    (
        {"kafka_topics": [topic(state="gone")]},
        "bad_entry",
        ["value of state must be one of: present, absent, got: gone"],
    ),
    (
        {"kafka_topics": [topic(config="x=1")]},
        "bad_entry",
        ["config has the wrong type", "found: text, allowed: a dict"],
    ),
    (
        {"kafka_listeners": [*LISTENERS, {"name": "X", "port": 1234}]},
        "bad_entry",
        ["kafka_listeners[3]", "missing required arguments: purpose"],
    ),
    (
        {"kafka_users": [{"name": "a", "password": {"p": "planted"}}]},
        "bad_entry",
        ["kafka_users[0]: password has the wrong type", "found: a dict, allowed: text"],
    ),
    (
        {"kafka_users": [{"name": "a", "password": ["planted"]}]},
        "bad_entry",
        ["kafka_users[0]: password has the wrong type", "found: a list"],
    ),
    (
        {"kafka_listeners": [{**LISTENERS[0], "host": ["a"]}, *LISTENERS[1:]]},
        "bad_entry",
        ["kafka_listeners[0]: host has the wrong type", "found: a list, allowed: text"],
    ),
    (
        {"kafka_admin_password": {"p": "planted"}},
        "wrong_type",
        ["kafka_admin_password", "found: a dict, allowed: text"],
    ),
    ({"kafka_log_dirs": {"/d": 1}}, "wrong_type", ["kafka_log_dirs", "found: a dict", "allowed: a list of paths"]),
    ({"kafka_user": ["kafka"]}, "wrong_type", ["kafka_user", "found: a list"]),
    ({"kafka_listeners": [{**LISTENERS[0], "adress": "x"}, *LISTENERS[1:]]}, "bad_entry", ["found: adress"]),
]


@pytest.mark.parametrize(("variables", "name", "parts"), BAD)
def test_each_bad_shape_is_named_alone(variables: dict[str, Any], name: str, parts: list[str]) -> None:
    expect(combined(**variables), name, *parts)


@pytest.mark.parametrize("variables", [variables for variables, _name, _parts in BAD])
def test_a_value_that_may_be_a_secret_is_never_shown(variables: dict[str, Any]) -> None:
    assert [one for one in check_inventory(combined(**variables)) if "planted" in one.sentence()] == []


def test_a_name_with_a_typing_error_is_a_warning_with_the_right_name() -> None:
    inventory = replace(combined(kafka_profil="production"), known_variables=("kafka_profile",))
    expect(inventory, "misspelt_variable", "kafka_profil:", "perhaps kafka_profile is meant", level="warning")


@pytest.mark.parametrize("name", ["kafka_port_base", "kafka_my_own_thing", "other_profil"])
def test_own_names_of_users_are_no_warning(name: str) -> None:
    inventory = replace(combined(**{name: "x"}), known_variables=("kafka_profile", "kafka_log_dir"))
    assert check_inventory(inventory) == []


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=200)
@given(variable=st.sampled_from([*CLUSTER, "kafka_node_id", "kafka_log_dirs", "kafka_rack"]), value=JUNK)
def test_no_value_whatsoever_makes_the_rules_crash(variable: str, value: Any) -> None:
    check_inventory(combined(hosts={"kafka2": {variable: value}}))
    check_inventory(combined(**{variable: value}))


@settings(max_examples=200)
@given(entry=st.dictionaries(st.sampled_from(["name", "port", "config", "purpose", "state", "partitions"]), JUNK))
def test_no_entry_whatsoever_makes_the_rules_crash(entry: dict[str, Any]) -> None:
    check_inventory(combined(kafka_topics=[entry], kafka_listeners=[entry]))
