# SPDX-License-Identifier: GPL-3.0-or-later
"""IPv6 addresses in every place that names a node: in brackets before a port, without them elsewhere."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.directory_id import directory_id
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.nodes import initial_controllers
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.view import View
from tests.support.inventory_data import view

#: The same three addresses, as people write them.
FORMS = (
    {"k1": "fd00::1", "k2": "fd00::2", "k3": "fd00::3"},
    {"k1": "[fd00::1]", "k2": "[fd00::2]", "k3": "[fd00::3]"},
    {"k1": "FD00:0:0::1", "k2": "fd00:0::2", "k3": "[FD00::3]"},
)
CLIENTS = ["[fd00::1]:9092", "[fd00::2]:9092", "[fd00::3]:9092"]


def combined(addresses: dict[str, str], **common: Any) -> View:
    """Three combined nodes with these addresses, as the first sees them."""
    hosts = {name: {"kafka_node_id": n, "ansible_host": addresses[name]} for n, name in enumerate(addresses, 1)}
    settings = {"kafka_mode": "kraft_combined", "kafka_firewall": True, "zookeeper_tls": False, **common}
    return view(hosts, brokers=list(hosts), controllers=list(hosts), **settings)


@pytest.mark.parametrize("addresses", FORMS)
def test_nodes_are_named_in_brackets_before_a_port(addresses: dict[str, str]) -> None:
    model = combined(addresses)
    properties = model["properties"]
    assert model["bootstrap_servers"] == model["endpoint"]["mirror_bootstrap_servers"] == CLIENTS
    assert model["connection"]["bootstrap_servers"] == CLIENTS
    assert properties["advertised.listeners"] == [
        "CLIENT://[fd00::1]:9092",
        "BROKER://[fd00::1]:9094",
        "CONTROLLER://[fd00::1]:9093",
    ]
    assert properties["controller.quorum.bootstrap.servers"] == [f"[fd00::{n}]:9093" for n in (1, 2, 3)]
    voters = [f"{n}@[fd00::{n}]:9093:{directory_id('c', n)}" for n in (1, 2, 3)]
    assert initial_controllers(model["nodes"], "c") == ",".join(voters)


@pytest.mark.parametrize("addresses", FORMS)
def test_addresses_stand_alone_without_brackets(addresses: dict[str, str]) -> None:
    model = combined(addresses)
    assert model["certificate_names"] == ["IP:fd00::1", "DNS:k1"]
    assert model["peer_names"] == []
    assert model["voter_listeners"] == [{"name": "CONTROLLER", "host": "fd00::1", "port": 9093}]
    assert model["properties"]["max.connections.per.ip.overrides"] == [f"fd00::{n}:2147483647" for n in (1, 2, 3)]
    brokers = next(rule for rule in model["firewall_rules"] if rule["port"] == 9094)
    assert brokers["sources"] == ["fd00::1", "fd00::2", "fd00::3"]


@pytest.mark.parametrize("host", ["::1", "[::1]"])
def test_a_listener_binds_to_an_address_in_any_form(host: str) -> None:
    listeners = [
        {"name": "ALL", "port": 9092, "purpose": "clients", "host": host, "advertised_host": "kafka1"},
        {"name": "CONTROLLER", "port": 9093, "purpose": "controllers"},
    ]
    properties = combined(FORMS[0], kafka_listeners=listeners)["properties"]
    assert properties["listeners"] == ["ALL://[::1]:9092", "CONTROLLER://:9093"]
    assert properties["advertised.listeners"][0] == "ALL://kafka1:9092"


@pytest.mark.parametrize("host", ["fd00::9", "[fd00::9]"])
def test_servers_of_zookeeper_and_mirrors_are_named_alike(host: str) -> None:
    hosts = {
        "zk1": {"zookeeper_id": 1, "ansible_host": host, "zookeeper_host": "[::1]"},
        "k1": {"kafka_node_id": 1, "ansible_host": host},
        "m1": {"ansible_host": host},
    }
    groups: dict[str, Any] = {"brokers": ["k1"], "zookeepers": ["zk1"], "mirrors": ["m1"]}
    common = {"kafka_mode": "zookeeper", "kafka_version": "3.9.2"}
    assert view(hosts, host="k1", **groups, **common)["properties"]["zookeeper.connect"].startswith("[fd00::9]:2181")
    server = view(hosts, host="zk1", **groups, **common)["properties"]
    assert server["server.1"] == "[fd00::9]:2888:3888"
    assert server["clientPortAddress"] == "::1"
    assert view(hosts, host="m1", **groups, **common)["rest_url"] == "http://[fd00::9]:8443"
