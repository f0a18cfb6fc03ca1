# SPDX-License-Identifier: GPL-3.0-or-later
"""The order in which plays take hosts."""

from __future__ import annotations

from itertools import permutations
from typing import Any

from ansible.errors import AnsibleUndefinedVariable

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.order import by_node_id
from tests.support.inventory_data import view


def test_hosts_come_by_cluster_id_and_name_in_whichever_order_they_are_given() -> None:
    hostvars = {
        "b": {"kafka_cluster_name": "one", "kafka_node_id": "10"},
        "c": {"kafka_cluster_name": "one", "kafka_node_id": 9},
        "a": {"kafka_cluster_name": "two", "kafka_node_id": 1},
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


def test_servers_of_zookeeper_come_by_their_own_ids() -> None:
    hosts = {f"z{n}": {"zookeeper_id": n, "kafka_node_id": 40 - 10 * n} for n in (1, 2, 3)}
    assert by_node_id(reversed(hosts), hosts, "zookeeper_id") == ["z1", "z2", "z3"]


def test_what_a_play_cannot_read_ends_no_run() -> None:
    class Unread(dict[str, Any]):
        """The variables of a host whose id rests on a variable of the play."""

        def get(self, name: str, default: Any = None) -> Any:
            """Fail as a template does."""
            if name == "kafka_node_id":
                raise AnsibleUndefinedVariable("'id_base' is undefined")
            return super().get(name, default)

    hosts = {"b": Unread(kafka_cluster_name="one"), "a": Unread(kafka_cluster_name="one")}
    assert by_node_id(["b", "a"], hosts) == ["a", "b"]


def test_a_host_of_another_cluster_whose_id_cannot_be_read_matters_to_none() -> None:
    hosts = {
        "a1": {"kafka_cluster_name": "a", "kafka_node_id": 1},
        "b1": {"kafka_cluster_name": "b", "kafka_node_id": "{{ missing }}"},
    }
    seen = view(hosts, brokers=list(hosts))
    assert [node["host"] for node in seen["nodes"]] == ["a1"]


def test_hosts_without_variables_come_by_name() -> None:
    assert by_node_id(["b", "a"], {}) == ["a", "b"]
