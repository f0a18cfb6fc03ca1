# SPDX-License-Identifier: GPL-3.0-or-later
"""Listeners, by table: one mistake in a good inventory gives exactly its own violation."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from tests.support.preflight_inventories import LISTENERS, combined, expect, isolated, node

CLIENT, BROKER, CONTROLLER = LISTENERS


def with_client(**changes: Any) -> list[dict[str, Any]]:
    """The good list with a changed CLIENT entry."""
    return [{**CLIENT, **changes}, BROKER, CONTROLLER]


def on_one_machine(base: int, count: int = 3, **variables: Any) -> Inventory:
    """Combined nodes on loopback of one machine, each with ports of its own."""
    hosts = {
        f"kafka{n}": {
            "ansible_host": "127.0.0.1",
            "ansible_connection": "local",
            "kafka_listeners": [
                {**entry, "port": base + 10 * n + index, "host": "127.0.0.1"} for index, entry in enumerate(LISTENERS)
            ],
            **variables,
        }
        for n in range(1, count + 1)
    }
    return combined(hosts=hosts, count=count)


GOOD = [
    combined(kafka_listeners=[CLIENT, CONTROLLER]),
    combined(kafka_listeners=[BROKER, CONTROLLER]),
    combined(kafka_listeners=with_client(host="0.0.0.0")),
    combined(
        kafka_listeners=with_client(protocol="SASL_SSL", advertised_host=""),
        kafka_tls_source="files",
        kafka_admin_password="long-and-random",
    ),
    on_one_machine(19000),
    # Controllers do not open the brokers' listener and the other way round.
    isolated(kafka_listeners=[{**CLIENT, "port": 9092}, BROKER, {**CONTROLLER, "port": 9092}]),
    # One port on two addresses of a machine.
    combined(
        hosts={
            f"kafka{n}": {
                "ansible_host": "machine",
                "kafka_listeners": [
                    {**entry, "host": f"10.0.0.{n}", "advertised_host": f"10.0.0.{n}"} for entry in LISTENERS
                ],
            }
            for n in (1, 2, 3)
        }
    ),
]

BAD: list[tuple[list[dict[str, Any]], str, list[str]]] = [
    (
        with_client(protocol="TLS"),
        "bad_entry",
        ["kafka1, kafka2, kafka3: kafka_listeners[0]", "value of protocol must be one of", "SASL_SSL, got: TLS"],
    ),
    (with_client(port=0), "unclear_value", ["kafka_listeners[0].port", "found: 0", "from 1 to 65535"]),
    (with_client(port=70000), "unclear_value", ["out of its range", "found: 70000"]),
    (with_client(name="CLI ENT"), "bad_listener", ["unusable name", "'CLI ENT'"]),
    (
        with_client(purpose="client"),
        "bad_entry",
        ["value of purpose must be one of: clients, brokers, controllers, got: client"],
    ),
    (with_client(name="broker"), "duplicate_listener_name", ["same name", "BROKER 2 times"]),
    (
        with_client(advertised_host="0.0.0.0"),
        "advertised_wildcard",
        ["no client can connect to", "advertised_host 0.0.0.0", "leave host empty"],
    ),
    (with_client(advertised_host="::"), "advertised_wildcard", ["advertised_host ::"]),
    (
        with_client(advertised_host="kafka.example.org"),
        "advertised_twice",
        ["several nodes advertise", "kafka.example.org:9092"],
    ),
    (
        [CLIENT, BROKER],
        "missing_listener",
        ["a controller needs a listener for controllers", "found: brokers, clients"],
    ),
    ([CONTROLLER], "missing_listener", ["a broker needs a listener for clients or brokers", "found: controllers"]),
    (with_client(port=9094), "port_twice_on_node", ["listeners CLIENT and BROKER have the same port", "found: 9094"]),
]


@pytest.mark.parametrize("inventory", GOOD)
def test_good_listeners_break_no_row(inventory: Inventory) -> None:
    assert check_inventory(inventory) == []


@pytest.mark.parametrize(("listeners", "rule", "parts"), BAD)
def test_each_bad_listener_is_named_alone(listeners: list[dict[str, Any]], rule: str, parts: list[str]) -> None:
    expect(combined(kafka_listeners=listeners), rule, *parts)


def test_loopback_is_refused_where_nodes_are_on_several_machines() -> None:
    inventory = combined(hosts={"kafka2": {"kafka_listeners": with_client(advertised_host="localhost")}})
    expect(inventory, "advertised_loopback", "kafka2: kafka_listeners", "loopback", "localhost on 3 machines")


def test_loopback_on_all_of_several_machines_is_named_once() -> None:
    inventory = combined(kafka_listeners=with_client(advertised_host="localhost"))
    expect(inventory, "advertised_loopback", "kafka1, kafka2, kafka3", "loopback", "localhost on 3 machines")


def test_two_nodes_of_one_machine_with_the_default_ports_are_named_with_all_ports() -> None:
    hosts = {"kafka2": {"ansible_host": "10.0.0.1"}}
    expect(combined(hosts=hosts), "port_twice_on_machine", "kafka1, kafka2", "machine 10.0.0.1", "9092, 9094, 9093")


def test_two_clusters_on_one_machine_must_not_share_ports() -> None:
    blue = on_one_machine(19000)
    green = on_one_machine(19000, kafka_cluster_name="green", kafka_data_dir="/var/lib/green")
    nodes = [node(f"green{n.variables['kafka_node_id']}", 0, **n.variables) for n in green.nodes]
    violations = check_inventory(Inventory((*blue.nodes, *nodes)))
    assert {(one.name, one.hosts) for one in violations} == {
        ("port_twice_on_machine", (f"kafka{n}", f"green{n}")) for n in (1, 2, 3)
    }


def test_two_clusters_on_one_machine_with_their_own_ports_are_fine() -> None:
    blue = on_one_machine(19000)
    green = on_one_machine(29000, kafka_cluster_name="green")
    nodes = [node(f"green{n.variables['kafka_node_id']}", 0, **n.variables) for n in green.nodes]
    assert check_inventory(Inventory((*blue.nodes, *nodes))) == []


def test_two_clusters_that_never_meet_may_advertise_the_same_private_address() -> None:
    green = [
        node(
            f"green{n}",
            n,
            kafka_cluster_name="green",
            ansible_host=f"bastion-{n}",
            kafka_listeners=[{**entry, "advertised_host": f"10.0.0.{n}"} for entry in LISTENERS],
        )
        for n in (1, 2, 3)
    ]
    assert check_inventory(Inventory((*combined().nodes, *green))) == []


def test_brokers_must_know_the_listener_of_isolated_controllers() -> None:
    hosts = {"broker5": {"kafka_listeners": [CLIENT, BROKER]}}
    expect(
        isolated(hosts=hosts),
        "no_controller_listener",
        "broker5",
        "does not know the listener of the controllers",
        "CONTROLLER",
    )
