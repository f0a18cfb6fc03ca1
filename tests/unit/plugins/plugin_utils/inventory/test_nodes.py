"""The inventory as data: which node is where, what it listens on, and how others reach it."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from ansible.errors import AnsibleUndefinedVariable

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory import nodes as _nodes
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.nodes import by_node_id
from tests.support.inventory_data import view

LISTENERS = [
    {"name": "CLIENT", "port": 9092, "purpose": "clients"},
    {"name": "BROKER", "port": "9094", "purpose": "brokers", "protocol": "SSL"},
    {"name": "CONTROLLER", "port": 9093, "purpose": "controllers", "host": "10.0.0.9"},
]


def host(node_id: int, **more: Any) -> dict[str, Any]:
    return {"kafka_node_id": node_id, "ansible_host": f"10.0.0.{node_id}", **more}


def nodes_of(hostvars: dict[str, Any], brokers: list[str], controllers: list[str], cluster: str = "kafka") -> list[Any]:
    asking = {"asking": {"kafka_cluster_name": cluster}, **hostvars}
    seen = view(asking, brokers=brokers, controllers=controllers, kafka_listeners=LISTENERS)["nodes"]
    return list(seen)


def test_controllers_come_first_and_a_host_in_both_groups_is_one_combined_node() -> None:
    hostvars = {"a": host(1), "b": host(2), "c": host(3)}
    nodes = nodes_of(hostvars, brokers=["a", "b"], controllers=["b", "c"])
    assert [(node["host"], node["roles"]) for node in nodes] == [
        ("b", ["broker", "controller"]),
        ("c", ["controller"]),
        ("a", ["broker"]),
    ]


def test_a_cluster_sees_only_its_own_nodes() -> None:
    hostvars = {"a": host(1), "b": host(1, kafka_cluster_name="other")}
    assert [node["host"] for node in nodes_of(hostvars, ["a", "b"], [])] == ["a"]
    assert [node["host"] for node in nodes_of(hostvars, ["a", "b"], [], "other")] == ["b"]


def test_a_node_resolves_those_whom_it_connects_to_on_other_machines() -> None:
    hostvars = {
        "a": host(1, ansible_host="a.example"),
        "b": host(2, ansible_host="b.example"),
        "c": host(3, ansible_host="c.example"),
        "d": host(4, ansible_host="d.example"),
        "e": host(5),  # known by its address
        "f": host(6, ansible_host="a.example"),  # a second node on a's machine
    }
    nodes = nodes_of(hostvars, brokers=["a", "b", "e", "f"], controllers=["c", "d"])
    assert _nodes.peer_names(nodes, "a") == ["c.example", "d.example", "b.example"]
    assert _nodes.peer_names(nodes, "c") == ["d.example"]


def test_an_isolated_controller_opens_only_its_listener_and_names_no_inter_broker_listener() -> None:
    (node,) = nodes_of({"c": host(3)}, [], ["c"])
    properties = _nodes.listener_properties(node, ["10.0.0.3:9093"])
    assert properties["listeners"] == ["CONTROLLER://10.0.0.9:9093"]
    assert properties["advertised.listeners"] == ["CONTROLLER://10.0.0.3:9093"]
    assert "inter.broker.listener.name" not in properties
    assert properties["listener.security.protocol.map"] == ["CLIENT:PLAINTEXT", "BROKER:SSL", "CONTROLLER:PLAINTEXT"]


def test_a_broker_knows_the_controllers_listener_without_opening_it() -> None:
    (node,) = nodes_of({"a": host(1)}, ["a"], [])
    properties = _nodes.listener_properties(node, ["10.0.0.3:9093"])
    assert properties["listeners"] == ["CLIENT://:9092", "BROKER://:9094"]
    assert properties["controller.listener.names"] == "CONTROLLER"
    assert properties["inter.broker.listener.name"] == "BROKER"
    assert properties["controller.quorum.bootstrap.servers"] == ["10.0.0.3:9093"]


def test_brokers_without_a_listener_of_their_own_talk_over_the_clients_one() -> None:
    one = [LISTENERS[0], LISTENERS[2]]
    (node,) = nodes_of({"a": host(1, kafka_listeners=one)}, ["a"], [])
    assert _nodes.listener_properties(node, [])["inter.broker.listener.name"] == "CLIENT"


def test_a_missing_listener_is_named_with_the_host_and_the_purpose() -> None:
    (node,) = nodes_of({"a": host(1, kafka_listeners=LISTENERS[:1])}, ["a"], [])
    with pytest.raises(ValueError, match=r"a has no listener for controllers.*purpose 'controllers'"):
        _nodes.listener_properties(node, ["c:9093"])


def test_a_broker_without_controllers_names_only_what_it_opens() -> None:
    (node,) = nodes_of({"a": host(1)}, ["a"], [])
    properties = _nodes.listener_properties(node, [])
    assert not [key for key in properties if key.startswith("controller.")]
    assert "CONTROLLER" not in "".join(properties["listener.security.protocol.map"])


def test_endpoints_are_the_advertised_addresses_of_the_nodes_that_open_the_listener() -> None:
    hostvars = {"a": host(1), "c": host(3)}
    nodes = nodes_of(hostvars, ["a"], ["c"])
    assert _nodes.endpoints(nodes, "clients") == ["10.0.0.1:9092"]
    assert _nodes.endpoints(nodes, "controllers") == ["10.0.0.3:9093"]


def test_a_port_that_is_translated_is_opened_here_and_told_to_others() -> None:
    listeners = [{**LISTENERS[0], "advertised_port": 19092}, {**LISTENERS[2], "advertised_port": "19093"}]
    (node,) = nodes_of({"a": host(1, kafka_listeners=listeners)}, ["a"], ["a"])
    properties = _nodes.listener_properties(node, _nodes.endpoints([node], "controllers"))
    assert properties["listeners"] == ["CLIENT://:9092", "CONTROLLER://10.0.0.9:9093"]
    assert properties["advertised.listeners"] == ["CLIENT://10.0.0.1:19092", "CONTROLLER://10.0.0.1:19093"]
    assert properties["controller.quorum.bootstrap.servers"] == ["10.0.0.1:19093"]
    assert _nodes.awaited_ports(node, 0) == [9092, 9093]
    assert _nodes.voter_listeners(node) == [{"name": "CONTROLLER", "host": "10.0.0.1", "port": 19093}]
    assert _nodes.initial_controllers([node], "J7k2bXk1TqOSm0Gq1x2y3A").startswith("1@10.0.0.1:19093:")


def test_initial_controllers_are_sorted_by_id_and_the_same_whoever_asks() -> None:
    hostvars = {"a": host(12), "b": host(3)}
    nodes = nodes_of(hostvars, [], ["a", "b"])
    text = _nodes.initial_controllers(nodes, "J7k2bXk1TqOSm0Gq1x2y3A")
    assert [part.split(":")[0] for part in text.split(",")] == ["3@10.0.0.3", "12@10.0.0.12"]
    assert text == _nodes.initial_controllers(list(reversed(nodes)), "J7k2bXk1TqOSm0Gq1x2y3A")


def test_one_server_of_zookeeper_alone_holds_no_election() -> None:
    purposes = {2181: "zookeeper", 2888: "zookeeper_quorum", 3888: "zookeeper_election"}
    node = {"listeners": [{"port": port, "opens": True, "purpose": purpose} for port, purpose in purposes.items()]}
    assert _nodes.awaited_ports(node, 1) == [2181]
    assert _nodes.awaited_ports(node, 3) == [2181, 3888]


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
