# SPDX-License-Identifier: GPL-3.0-or-later
"""What rules judge is what is rendered: every variable that reaches a node's properties is among its layers."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.properties import value_text
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.build import build_inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.properties import LAYERS, copies
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.definitions import BROKER_KEYS
from ansible_collections.streamops.kafka.plugins.plugin_utils.specs import role_options
from tests.support.inventory_data import DataReader, view
from tests.support.preflight_inventories import combined

LISTENERS = [
    {"name": "CLIENT", "port": 9092, "purpose": "clients"},
    {"name": "BROKER", "port": 9094, "purpose": "brokers"},
    {"name": "CONTROLLER", "port": 9093, "purpose": "controllers"},
]
#: Each dict that the roles know holds a key of its own.
DICTS = [name for name, option in role_options().items() if option["type"] == "dict"]
MARKED: dict[str, Any] = {name: {f"mark.{name}": name} for name in DICTS}
ROLES = {
    "controllers": ["controller", "combined"],
    "brokers": ["combined", "broker"],
    "zookeepers": ["server"],
    "mirrors": ["mirror"],
}
GROUPS = {
    "kraft_controllers": ROLES["controllers"],
    "kafka_brokers": ROLES["brokers"],
    "zookeeper": ROLES["zookeepers"],
    "mirror_makers": ROLES["mirrors"],
}
HOSTS: dict[str, dict[str, Any]] = {
    name: {"kafka_node_id": number, "zookeeper_id": number}
    for number, name in enumerate(["controller", "combined", "broker", "server", "mirror"], 1)
}
ENDPOINT = {
    "bootstrap_servers": ["a:9092"],
    "protocol": "PLAINTEXT",
    "mirror_bootstrap_servers": ["a:9092"],
    "mirror_protocol": "PLAINTEXT",
    "ca_file": "",
    "mechanism": "PLAIN",
    "user": "",
    "password": "",
    "brokers": 1,
}


def rendered(host: str) -> dict[str, Any]:
    """The properties that are written for a host whose dicts all have a key of their own."""
    common = {
        **MARKED,
        "kafka_cluster_name": "blue",
        "kafka_listeners": LISTENERS,
        "kafka_log_dirs": ["/d"],
        "mirror_flows": [{"source": "green", "target": "blue", "topics": ["orders"]}],
    }
    told = {**HOSTS, "combined": {**HOSTS["combined"], "__kafka_endpoint": {**ENDPOINT, "cluster": "blue"}}}
    told["other"] = {"kafka_cluster_name": "green", "__kafka_endpoint": {**ENDPOINT, "cluster": "green"}}
    seen = view(told, host=host, **ROLES, **common)
    return dict(seen["mirroring"]["properties"] if host == "mirror" else seen["properties"])


@pytest.mark.parametrize("host", HOSTS)
def test_the_rules_judge_what_is_rendered(host: str) -> None:
    reader = DataReader(HOSTS, {}, kafka_cluster_name="blue", **MARKED)
    (node,) = [one for one in build_inventory(reader.read, GROUPS).processes if one.name == host]
    judged = {one.key: one.origin for one in node.written()}
    assert judged
    assert judged == {key: value for key, value in rendered(host).items() if key.startswith("mark.")}


@pytest.mark.parametrize("version", BROKER_KEYS)
@pytest.mark.parametrize("host", ["controller", "combined", "broker"])
def test_kafka_takes_every_value_that_we_write(host: str, version: str) -> None:
    keys = BROKER_KEYS[version]
    found = {key: value_text(key, value) for key, value in rendered(host).items() if key in keys}
    assert found
    assert [(key, text) for key, text in found.items() if not keys[key].takes(text)] == []


def test_every_layer_is_a_variable_of_a_role() -> None:
    assert {name for kind in LAYERS.values() for name in kind} <= set(DICTS)


def test_a_later_layer_wins_and_both_are_written() -> None:
    both = {"kafka_config": {"a": 1, "b": 1}, "kafka_broker_config": {"a": 2}}
    cluster = combined(**both).clusters()[0]
    node = cluster.nodes[0]
    assert [(one.variable, one.value) for one in node.written()] == [
        ("kafka_config['a']", 1),
        ("kafka_config['b']", 1),
        ("kafka_broker_config['a']", 2),
    ]
    assert (node.value("a"), node.value("b"), node.value("c")) == (2, 1, None)
    assert cluster.properties(node)["min.insync.replicas"].value == 2
    assert cluster.properties(node)["min.insync.replicas"].origin == ""


@pytest.mark.parametrize(("brokers", "expected"), [(0, (0, 1)), (1, (1, 1)), (2, (2, 1)), (3, (3, 2)), (9, (3, 2))])
def test_copies(brokers: int, expected: tuple[int, int]) -> None:
    assert copies(brokers) == expected
