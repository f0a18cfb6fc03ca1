# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits of connections, at and around what the nodes of a cluster need to each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from tests.support.preflight_inventories import LISTENERS, combined, config, ensemble, expect, isolated, only
from tests.support.preflight_mirrors import flow, mirrored

LIMIT = "max.connections"
ADDRESS = "max.connections.per.ip"
OVERRIDES = f"{ADDRESS}.overrides"
RULE, ADDRESS_RULE = "connections_below_nodes", "address_limit_below_nodes"

#: What holds a limit, with the key and the least that the nodes need there: three brokers hold 5 connections each to a
#: controller, two other controllers 2 each, two other brokers 3 each, the administrator one.
LEAST: list[tuple[Callable[..., Inventory], str, str, int]] = [
    (isolated, "kraft_controller_config", LIMIT, 19),
    (isolated, "kraft_controller_config", "listener.name.controller.max.connections", 19),
    (isolated, "kafka_broker_config", LIMIT, 7),
    (isolated, "kafka_broker_config", "listener.name.broker.max.connections", 6),
    (isolated, "kafka_broker_config", "listener.name.client.max.connections", 1),
    (combined, "kafka_broker_config", LIMIT, 26),
    (combined, "kafka_broker_config", "listener.name.controller.max.connections", 19),
    (combined, "kafka_broker_config", "listener.name.broker.max.connections", 6),
    (ensemble, "kafka_broker_config", LIMIT, 11),
    (ensemble, "kafka_broker_config", "listener.name.broker.max.connections", 10),
]


@pytest.mark.parametrize(("make", "variable", "key", "least"), LEAST)
def test_the_nodes_need_so_many(make: Callable[..., Inventory], variable: str, key: str, least: int) -> None:
    assert check_inventory(make(**{variable: {key: str(least)}})) == []
    for value in (least - 1, str(least - 1), 0):
        found = [f"{variable}['{key}']", f"found: {key} {value}", f"allowed: at least {least}"]
        expect(make(**{variable: {key: value}}), RULE, *found)


def test_two_connections_for_all_nodes_are_refused_on_each() -> None:
    found = check_inventory(isolated(kafka_config=config(max_connections=2)))
    assert {one.name for one in found} == {RULE}
    assert sorted(host for one in found for host in one.hosts) == [
        *("broker4", "broker5", "broker6", "controller1", "controller2", "controller3")
    ]


def test_more_fetchers_need_more() -> None:
    limits = {"num.replica.fetchers": 4, "listener.name.broker.max.connections": 11}
    expect(isolated(kafka_broker_config=limits), RULE, "at least 12")


def test_a_listener_for_clients_may_be_that_of_the_brokers() -> None:
    own = {
        "kafka_listeners": [LISTENERS[0], LISTENERS[2]],
        "kafka_broker_config": {"listener.name.client.max.connections": 6},
    }
    expect(isolated(**own), RULE, "at least 7")


def test_one_node_of_its_own_is_named_alone() -> None:
    inventory = isolated(hosts={"controller2": {"kraft_controller_config": {LIMIT: 5}}})
    assert only(inventory, RULE).hosts == ("controller2",)


def test_what_is_unclear_is_not_judged() -> None:
    assert check_inventory(isolated(kafka_broker_config={LIMIT: "${env:LIMIT}"})) == []


@pytest.mark.parametrize("value", [4, "4"])
def test_an_address_of_a_controller_has_its_limit(value: Any) -> None:
    good = isolated(kraft_controller_config={ADDRESS: 5})
    assert check_inventory(good) == []
    found = check_inventory(isolated(kraft_controller_config={ADDRESS: value}))
    assert {(one.name, one.allowed) for one in found} == {(ADDRESS_RULE, "at least 5")}


def test_brokers_exempt_their_nodes_by_themselves() -> None:
    assert check_inventory(isolated(kafka_broker_config={ADDRESS: 1})) == []
    assert check_inventory(combined(kafka_config=config(**{ADDRESS: 1}))) == []


def test_overrides_of_the_inventory_take_the_place_of_that() -> None:
    own = {ADDRESS: 2, OVERRIDES: "10.0.0.4:100, 10.0.0.5:100"}
    found = check_inventory(isolated(kafka_broker_config=own))
    assert {one.name for one in found} == {ADDRESS_RULE}
    # Broker 6 itself needs nothing from its own machine, which holds no other node.
    assert sorted({host for one in found for host in one.hosts}) == ["broker4", "broker5"]
    assert "2 for the address of 10.0.0.6" in found[0].sentence()
    own[OVERRIDES] += ",10.0.0.6:3"
    assert check_inventory(isolated(kafka_broker_config=own)) == []
    own[OVERRIDES] = own[OVERRIDES].replace("10.0.0.6:3", "10.0.0.6:2")
    assert [one.name for one in check_inventory(isolated(kafka_broker_config=own))] == [ADDRESS_RULE]


def test_a_name_may_be_an_address() -> None:
    own = {ADDRESS: 2, OVERRIDES: "k4.example:100, k5.example:100, k6.example:100"}
    assert check_inventory(isolated(kafka_broker_config=own)) == []


def test_overrides_that_kafka_refuses_are_left_to_it() -> None:
    assert check_inventory(isolated(kafka_broker_config={ADDRESS: 2, OVERRIDES: "10.0.0.4"})) == []


def on_one_machine(limit: Any) -> Inventory:
    """Controllers that limit one address, on which all nodes are."""
    names = ["controller1", "controller2", "controller3", "broker4", "broker5", "broker6"]
    hosts = {
        name: {
            "ansible_connection": "local",
            "ansible_host": "127.0.0.1",
            "kafka_listeners": [{**one, "port": 19000 + 10 * n + place} for place, one in enumerate(LISTENERS)],
        }
        for n, name in enumerate(names)
    }
    return isolated(hosts=hosts, kraft_controller_config={ADDRESS: limit})


def test_all_nodes_on_one_machine_share_the_limit() -> None:
    rules = {one.name for one in check_inventory(on_one_machine("19"))}
    assert ADDRESS_RULE not in rules
    found = [one for one in check_inventory(on_one_machine(18)) if one.name == ADDRESS_RULE]
    assert [(one.hosts, one.allowed) for one in found] == [
        (("controller1", "controller2", "controller3"), "at least 19")
    ]


def test_each_mirror_needs_one() -> None:
    limits = {"dc_b": {"kafka_broker_config": {"listener.name.client.max.connections": 1}}}
    found = [one for one in check_inventory(mirrored(flow(), hosts=limits)) if one.name == RULE]
    assert [(one.hosts, one.allowed) for one in found] == [(("dc_b1", "dc_b2", "dc_b3"), "at least 2")]


@pytest.mark.parametrize(("key", "least"), [("maxClientCnxns", 1), ("maxCnxns", 3)])
def test_a_server_of_zookeeper_has_room_for_the_brokers(key: str, least: int) -> None:
    for value in (0, least, str(least)):
        assert check_inventory(ensemble(zookeeper_ensemble_config={key: value})) == []
    together = {f"broker{n}": {"ansible_host": "10.0.0.11", **ports(n)} for n in (11, 12, 13)}
    inventory = ensemble(hosts=together, zookeeper_ensemble_config={key: "2"})
    rules = [(one.name, one.allowed) for one in check_inventory(inventory) if one.name == "ensemble_below_brokers"]
    assert rules == [("ensemble_below_brokers", "0, or at least 3")]


def ports(number: int) -> dict[str, Any]:
    """Listeners with ports of their own, for nodes that share a machine."""
    return {"kafka_listeners": [{**one, "port": one["port"] + 10 * number} for one in LISTENERS[:2]]}
