# SPDX-License-Identifier: GPL-3.0-or-later
"""What text means as a boolean or a number, whoever reads it."""

from __future__ import annotations

from typing import Any

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.streamops.kafka.plugins.filter.values import FilterModule
from ansible_collections.streamops.kafka.plugins.module_utils._core import values
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import (
    BOOLEANS,
)
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.reading import (
    flow_problems,
    read_flows,
)
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.json_form import spec_of
from tests.support.inventory_data import view
from tests.support.preflight_inventories import node

TRUE = (True, "true", "True", "TRUE", " yes ", "on", "1", "y", "t", 1)
FALSE = (False, "false", "False", "FALSE", " no ", "off", "0", "n", "f", 0)
NEITHER: tuple[Any, ...] = ("", " ", "maybe", "none", "null", "2", 2, None, [], {}, ["true"], "tru")
# 1e999999999 has a thousand million digits: whoever computes them waits for hours.
NO_WHOLE_NUMBER = (
    *("", "many", "0x10", "3.5", 3.5, "3 s", True, None, [3], {}, "inf", "nan", "-", "1e3", "1e999999999"),
    *("1_000", "\uff11\uff12", "\u0663"),
    float("inf"),
)
LISTENERS = [{"name": "A", "port": " 9092 ", "purpose": "clients"}]
FLOW = {"source": "a", "target": "b", "topics": ["x"]}


@pytest.mark.parametrize("value", TRUE)
def test_words_for_true(value: Any) -> None:
    assert values.to_boolean(value, "kafka_firewall") is True


@pytest.mark.parametrize("value", FALSE)
def test_words_for_false(value: Any) -> None:
    assert values.to_boolean(value, "kafka_firewall") is False


@pytest.mark.parametrize("value", NEITHER)
def test_what_is_neither_is_refused_by_name(value: Any) -> None:
    with pytest.raises(values.UnclearValueError, match="kafka_firewall is neither true nor false"):
        values.to_boolean(value, "kafka_firewall")


@pytest.mark.parametrize(("value", "number"), [(3, 3), ("3", 3), (" 3 ", 3), ("-1", -1), ("007", 7), (3.0, 3)])
def test_whole_numbers(value: Any, number: int) -> None:
    found = values.to_integer(value, "kafka_gate_timeout")
    assert found == number
    assert type(found) is int


@pytest.mark.parametrize("value", NO_WHOLE_NUMBER)
def test_what_is_no_whole_number_is_refused_by_name(value: Any) -> None:
    with pytest.raises(values.UnclearValueError, match="kafka_gate_timeout is no whole number"):
        values.to_integer(value, "kafka_gate_timeout")


@pytest.mark.parametrize(
    ("value", "number"), [(0.1, 0.1), ("0.1", 0.1), ("1", 1.0), (2, 2.0), ("-.5", -0.5), (" 1e-1 ", 0.1)]
)
def test_numbers(value: Any, number: float) -> None:
    assert values.to_number(value, "share") == number


@pytest.mark.parametrize(
    "value",
    ["", "a tenth", "inf", "nan", float("inf"), True, None, [0.1], "1_000", "1_0.5", "\uff11\uff12", "\u0663", "."],
)
def test_what_is_no_number_is_refused_by_name(value: Any) -> None:
    with pytest.raises(values.UnclearValueError, match="share is no number"):
        values.to_number(value, "share")


@pytest.mark.parametrize(
    ("limits", "good", "far", "allowed"),
    [
        ((1, 65535), (1, 65535, "80"), (0, "-1", 65536, "99999999999"), "a whole number in digits, from 1 to 65535"),
        ((0, None), (0, 10**30), (-1, "-7"), "a whole number in digits, 0 or more"),
    ],
)
def test_a_number_outside_of_its_range_is_refused_with_what_is_allowed(
    limits: values.Limits, good: tuple[Any, ...], far: tuple[Any, ...], allowed: str
) -> None:
    assert [values.to_integer(value, "x", limits) for value in good] == [int(value) for value in good]
    for value in far:
        with pytest.raises(values.UnclearValueError, match="x is out of its range") as error:
            values.to_integer(value, "x", limits)
        assert error.value.allowed == allowed
    with pytest.raises(values.UnclearValueError, match="allowed: a number in digits, from 0 to 1"):
        values.to_number("1.1", "x", (0, 1))


def test_filters_fail_with_the_name_of_the_variable() -> None:
    filters = FilterModule().filters()
    assert filters["boolean"]("off", "kafka_authorizer") is False
    assert filters["integer"]("12", "x") == 12
    with pytest.raises(AnsibleFilterError, match="kafka_authorizer is neither true nor false"):
        filters["boolean"]("maybe", "kafka_authorizer")


@pytest.mark.parametrize("text", ["on", "Yes", "1", "TRUE", "true", "off", "No", "0", "FALSE", "false"])
def test_rules_roles_and_firewall_read_the_same_word_alike(text: str) -> None:
    is_on = values.to_boolean(text, "")
    variables = {"zookeeper_tls": text, "zookeeper_id": "1", "kafka_firewall": text}
    seen_by_roles = view({"zk1": variables}, zookeepers=["zk1"])
    seen_by_rules = node("zk1", 1, controller=False, broker=False, **variables)
    assert {port["protocol"] for port in seen_by_roles["node"]["listeners"]} == {"SSL" if is_on else "PLAINTEXT"}
    assert seen_by_roles["settings"]["zookeeper_tls"] is seen_by_rules.get("zookeeper_tls") is is_on
    assert [place["firewall"] for place in seen_by_roles["places"]] == [is_on]


def test_an_unclear_word_is_no_plaintext_but_an_error() -> None:
    with pytest.raises(ValueError, match="zookeeper_tls is neither true nor false"):
        view({"zk1": {"zookeeper_tls": "maybe", "zookeeper_id": 1}}, zookeepers=["zk1"])["node"]


def test_ids_and_ports_that_are_text_are_numbers_for_the_roles() -> None:
    # An id is compared with what the cluster answers: as text it is never among the brokers that live.
    hosts = {
        "b1": {"kafka_node_id": "11", "kafka_listeners": LISTENERS},
        "z1": {"zookeeper_id": "3", "zookeeper_client_port": "2182"},
        "m1": {"mirror_maker_rest_port": "8443"},
    }
    seen = view(hosts, brokers=["b1"], zookeepers=["z1"], mirrors=["m1"])
    (broker,), (server,), (mirror,) = seen["nodes"], seen["zookeepers"], seen["mirrors"]
    assert (broker["node_id"], broker["listeners"][0]["port"]) == (11, 9092)
    assert (server["node_id"], server["listeners"][0]["port"]) == (3, 2182)
    assert mirror["listeners"][0]["port"] == 8443
    with pytest.raises(ValueError, match="kafka_node_id is no whole number"):
        view({"b1": {"kafka_node_id": "one"}}, brokers=["b1"])["nodes"]


@pytest.mark.parametrize("key", BOOLEANS)
def test_booleans_of_flows_may_be_text_and_unclear_ones_are_named(key: str) -> None:
    assert [getattr(read_flows([{**FLOW, key: text}])[0], key) for text in ("false", "on")] == [False, True]
    assert flow_problems([{**FLOW, key: "maybe"}]) == [(f"mirror_flows[0].{key}", "is true or false, found 'maybe'")]


def test_a_flow_that_is_switched_off_by_text_is_off_for_the_nodes_too() -> None:
    legacy, other = {**FLOW, "engine": "legacy"}, {**FLOW, "enabled": "false"}
    hosts = {"m1": {"kafka_cluster_name": "b", "mirror_flows": [legacy, other]}}
    assert (
        view(hosts, mirrors=["m1"])["node"]["listeners"] == []
    )  # only the legacy engine is left, and that listens nowhere
    assert read_flows([{**legacy, "streams": "2"}])[0].streams == 2
    assert flow_problems([{**legacy, "streams": "many"}]) != []


def test_numbers_of_specs_may_be_text() -> None:
    spec = spec_of({"replication_factor": {"orders": "3"}, "replace": {"12": "14"}})
    assert (spec.replication_factor, spec.replace) == ({"orders": 3}, {12: 14})
    with pytest.raises(Exception, match="'0x3' for topic orders is not a whole number"):
        spec_of({"replication_factor": {"orders": "0x3"}})
