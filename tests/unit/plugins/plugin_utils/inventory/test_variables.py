# SPDX-License-Identifier: GPL-3.0-or-later
"""Variables of a host, typed by the argument specs when they are asked for."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.values import UnclearValueError
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.variables import HostVariables, names


def variables(**raw: Any) -> HostVariables:
    return HostVariables(raw, lambda value: value)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("kafka_authorizer", "yes", True),
        ("kafka_gate_timeout", "30", 30),
        ("kafka_resources_move_disk_reserve", "0.2", 0.2),
        ("kafka_cluster_name", "17", "17"),
        ("kafka_listeners", [{"name": "A", "port": "9092"}], [{"name": "A", "port": 9092}]),
        ("somebody_else", "yes", "yes"),
    ],
)
def test_a_value_has_the_type_of_its_spec(name: str, text: Any, value: Any) -> None:
    assert variables(**{name: text})[name] == value


def test_a_value_that_is_not_what_its_variable_holds_is_an_error_where_it_is_read() -> None:
    read = variables(kafka_authorizer="maybe", kafka_gate_timeout="30")
    assert read["kafka_gate_timeout"] == 30
    with pytest.raises(UnclearValueError, match="kafka_authorizer is neither true nor false"):
        read["kafka_authorizer"]


def test_nothing_is_templated_that_nobody_reads_and_nothing_twice() -> None:
    asked: list[str] = []

    def template(value: str) -> str:
        asked.append(value)
        return value.upper()

    read = HostVariables({"a": "one", "b": "two"}, template)
    assert [read["a"], read["a"], read.get("c", "none")] == ["ONE", "ONE", "none"]
    assert "b" in read
    assert asked == ["one"]


@pytest.mark.parametrize("given", [["a", "b.*"], ("a", "b.*"), "a, b.*", '["a", "b.*"]', ' ["a","b.*"] ', "a,b.*,"])
def test_names_are_a_list_however_they_are_given(given: Any) -> None:
    assert names(given) == ["a", "b.*"]


def test_what_is_no_list_of_names_has_none() -> None:
    assert [names(one) for one in (None, {}, 3, "", "[]")] == [[], [], [], [], []]
    assert names("[a") == ["[a"]
