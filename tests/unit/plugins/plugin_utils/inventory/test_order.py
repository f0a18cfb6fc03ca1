# SPDX-License-Identifier: GPL-3.0-or-later
"""The order in which plays take hosts."""

from __future__ import annotations

from itertools import permutations

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.order import by_node_id
from tests.support.inventory_data import view


def test_hosts_come_by_cluster_id_and_name_in_whichever_order_they_are_given() -> None:
    hostvars = {
        "b": {"kafka_cluster_name": "one", "kafka_node_id": "10"},
        "c": {"kafka_cluster_name": "one", "kafka_node_id": 9},
        "a": {"kafka_cluster_name": "two", "zookeeper_id": 1},
        "m": {"kafka_cluster_name": "one"},
    }
    for hosts in permutations(hostvars):
        assert by_node_id(hosts, hostvars) == ["c", "b", "m", "a"]


def test_it_is_the_order_of_the_model() -> None:
    hosts = {"b": {"kafka_node_id": "10"}, "c": {"kafka_node_id": 9}, "a": {"kafka_node_id": 11}}
    wanted = by_node_id(hosts, hosts)
    for brokers in permutations(hosts):
        seen = view({host: hosts[host] for host in brokers}, brokers=brokers)
        assert [node["host"] for node in seen["nodes"]] == wanted


def test_hosts_without_variables_come_by_name() -> None:
    assert by_node_id(["b", "a"], {}) == ["a", "b"]
