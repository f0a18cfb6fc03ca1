"""Who may connect: for every inventory, source and port the answer that the purposes of the listeners give."""

from __future__ import annotations

import copy
import ipaddress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.streamops.kafka.plugins.module_utils._firewall.connections import allowed
from ansible_collections.streamops.kafka.plugins.module_utils._firewall.text import digest_of, table_text
from ansible_collections.streamops.kafka.plugins.plugin_utils.render import firewall, firewall_trial
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.view import View
from tests.support.inventory_data import DataReader

LISTENERS = [
    {"name": "CLIENT", "port": 9092, "purpose": "clients"},
    {"name": "BROKER", "port": 9094, "purpose": "brokers"},
    {"name": "CONTROLLER", "port": 9093, "purpose": "controllers"},
]


def host(address: str, **more: Any) -> dict[str, Any]:
    return {"ansible_host": address, "kafka_firewall": True, "kafka_firewall_admin_addresses": ["10.9.0.1"], **more}


def isolated() -> tuple[dict[str, Any], dict[str, list[str]]]:
    """One controller, two brokers, a host that submits Spark jobs and a mirror."""
    hostvars = {
        "controller1": host("10.0.0.1"),
        "broker1": host("10.0.0.11"),
        "broker2": host("10.0.0.12", kafka_firewall_networks={"clients": ["10.5.0.0/16"]}),
        "gateway": {"ansible_host": "10.0.0.21"},
        "mirror": {"ansible_host": "10.0.0.31"},
    }
    groups = {
        "kraft_controllers": ["controller1"],
        "kafka_brokers": ["broker1", "broker2"],
        "spark_gateway": ["gateway"],
        "mirror_makers": ["mirror"],
    }
    return hostvars, groups


def rules_of(hostvars: Any, groups: Any, name: str, resolved: Any = ()) -> list[dict[str, Any]]:
    return firewall.rules(places_of(hostvars, groups), name, dict(resolved))


def places_of(hostvars: Any, groups: Any) -> list[dict[str, Any]]:
    return list(View(DataReader(hostvars, groups, kafka_listeners=LISTENERS))["places"])


def sources(hostvars: Any, groups: Any, name: str, port: int) -> list[str]:
    (found,) = [rule["sources"] for rule in rules_of(hostvars, groups, name) if rule["port"] == port]
    return list(found)


def test_clients_are_brokers_gateways_mirrors_administrators_and_named_networks() -> None:
    assert sources(*isolated(), "broker1", 9092) == ["10.0.0.11", "10.0.0.12", "10.0.0.21", "10.0.0.31", "10.9.0.1"]
    assert "10.5.0.0/16" in sources(*isolated(), "broker2", 9092)


def test_the_firewall_filters_the_port_that_the_node_opens() -> None:
    hostvars, groups = isolated()
    hostvars["broker1"]["kafka_listeners"] = [{**LISTENERS[0], "advertised_port": 19092}, *LISTENERS[1:]]
    ports = [rule["port"] for rule in rules_of(hostvars, groups, "broker1")]
    assert (9092 in ports, 19092 in ports) == (True, False)


def test_only_brokers_reach_brokers_and_only_nodes_reach_controllers() -> None:
    assert sources(*isolated(), "broker1", 9094) == ["10.0.0.11", "10.0.0.12"]
    assert sources(*isolated(), "controller1", 9093) == ["10.0.0.1", "10.0.0.11", "10.0.0.12"]
    assert [rule["port"] for rule in rules_of(*isolated(), "controller1")] == [9093]


def migrating(**listeners: Any) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """The same with two servers of ZooKeeper, as on the way to KRaft."""
    hostvars, groups = isolated()
    hostvars |= {"zk1": host("10.0.0.41", zookeeper_id=1), "zk2": host("10.0.0.42", zookeeper_id=2)}
    return {name: {**variables, **listeners} for name, variables in hostvars.items()}, {
        **groups,
        "zookeeper": ["zk1", "zk2"],
    }


def test_controllers_that_migrate_reach_zookeeper_and_its_brokers() -> None:
    assert sources(*migrating(), "zk1", 2181) == ["10.0.0.1", "10.0.0.11", "10.0.0.12", "10.9.0.1"]
    assert sources(*migrating(), "broker1", 9094) == ["10.0.0.1", "10.0.0.11", "10.0.0.12"]
    assert "10.0.0.1" not in sources(*migrating(), "broker1", 9092), "brokers have a listener of their own"
    shared = {"kafka_listeners": [one for one in LISTENERS if one["purpose"] != "brokers"]}
    assert "10.0.0.1" in sources(*migrating(**shared), "broker1", 9092)


def test_controllers_that_migrate_try_what_they_are_let_in_to() -> None:
    found = firewall_trial.tries(places_of(*migrating()), {"zk1": [2181, 2888, 3888], "broker1": [9092, 9094]})
    assert [(one["host"], one["port"]) for one in found["10.0.0.1"]] == [("zk1", 2181), ("broker1", 9094)]


def test_only_brokers_reach_zookeeper_and_only_servers_reach_each_other() -> None:
    hostvars, groups = migrating()
    del groups["kraft_controllers"]
    assert sources(hostvars, groups, "zk1", 2181) == ["10.0.0.11", "10.0.0.12", "10.9.0.1"]
    assert sources(hostvars, groups, "zk1", 2888) == ["10.0.0.41", "10.0.0.42"]
    assert sources(hostvars, groups, "zk1", 3888) == ["10.0.0.41", "10.0.0.42"]
    assert "10.0.0.41" not in sources(hostvars, groups, "broker1", 9092)


def two_data_centres() -> tuple[dict[str, Any], dict[str, list[str]]]:
    """Clusters a and b with a broker each, two mirrors next to b, one next to a."""
    inside = {"name": "MIRROR", "port": 9097, "purpose": "clients"}
    hostvars = {
        "a1": host("10.1.0.1", kafka_cluster_name="a", kafka_listeners=[*LISTENERS, inside], mirror_listener="MIRROR"),
        "b1": host("10.2.0.1", kafka_cluster_name="b"),
        "b-mirror1": host("10.2.0.31", kafka_cluster_name="b"),
        "b-mirror2": host("10.2.0.32", kafka_cluster_name="b", kafka_firewall_addresses=["10.2.9.32"]),
        "a-mirror1": host("10.1.0.31", kafka_cluster_name="a", mirror_maker_rest_port=8444),
    }
    groups = {"kafka_brokers": ["a1", "b1"], "mirror_makers": ["b-mirror1", "b-mirror2", "a-mirror1"]}
    return hostvars, groups


def test_a_mirror_reaches_its_target_and_its_source() -> None:
    for name, port in (("a1", 9092), ("a1", 9097), ("b1", 9092)):
        found = sources(*two_data_centres(), name, port)
        assert {"10.2.0.31", "10.2.9.32", "10.1.0.31"} <= set(found)
    assert sources(*two_data_centres(), "a1", 9094) == ["10.1.0.1"]


def test_only_mirrors_of_one_target_reach_each_other() -> None:
    assert sources(*two_data_centres(), "b-mirror1", 8443) == ["10.2.0.31", "10.2.9.32"]
    assert sources(*two_data_centres(), "a-mirror1", 8444) == ["10.1.0.31"]
    assert [rule["port"] for rule in rules_of(*two_data_centres(), "b-mirror2")] == [8443]


def test_networks_of_a_listener_hold_for_that_listener_alone() -> None:
    hostvars, groups = isolated()
    outside = {"name": "OUTSIDE", "port": 9095, "purpose": "clients", "networks": ["192.0.2.0/24", "2001:db8::/32"]}
    hostvars["broker1"]["kafka_listeners"] = [*LISTENERS, outside]
    assert "192.0.2.0/24" in sources(hostvars, groups, "broker1", 9095)
    assert "2001:db8::/32" in sources(hostvars, groups, "broker1", 9095)
    assert "192.0.2.0/24" not in sources(hostvars, groups, "broker1", 9092)


def test_a_host_that_leaves_the_inventory_loses_its_access_everywhere() -> None:
    hostvars, groups = isolated()
    del hostvars["broker2"]
    groups["kafka_brokers"].remove("broker2")
    for name in ("controller1", "broker1"):
        assert all("10.0.0.12" not in rule["sources"] for rule in rules_of(hostvars, groups, name))


def test_a_machine_has_the_ports_of_all_its_nodes_of_all_clusters_each_with_its_own_sources() -> None:
    hostvars, groups = isolated()
    green = {"kafka_cluster_name": "green", "kafka_firewall_admin_addresses": ["10.9.0.2"]}
    other = [{**one, "port": int(one["port"]) + 1000} for one in LISTENERS]  # type: ignore[call-overload]
    hostvars["green1"] = host("10.0.0.11", **green, kafka_listeners=other)
    hostvars["green2"] = host("10.0.0.99", **green)
    groups["kafka_brokers"] += ["green1", "green2"]
    assert [rule["port"] for rule in rules_of(hostvars, groups, "broker1")] == [9092, 9094, 10092, 10094]
    assert rules_of(hostvars, groups, "broker1") == rules_of(hostvars, groups, "green1")
    assert sources(hostvars, groups, "broker1", 10094) == ["10.0.0.11", "10.0.0.99"]
    assert "10.9.0.2" in sources(hostvars, groups, "broker1", 10092)
    assert "10.9.0.2" not in sources(hostvars, groups, "broker1", 9092)


def test_nodes_that_share_a_port_are_told_apart_by_the_address_they_bind_to() -> None:
    hostvars, groups = isolated()
    first, second = ([{**one, "host": address} for one in LISTENERS] for address in ("10.0.0.11", "10.0.1.11"))
    hostvars["broker1"]["kafka_listeners"] = first
    hostvars["green1"] = host("10.0.0.11", kafka_cluster_name="green", kafka_listeners=second)
    groups["kafka_brokers"].append("green1")
    found = rules_of(hostvars, groups, "green1")
    assert [(rule["port"], rule["address"]) for rule in found][:2] == [(9092, "10.0.0.11"), (9092, "10.0.1.11")]
    assert allowed(found, "10.0.0.12", 9094, "10.0.0.11")
    assert not allowed(found, "10.0.0.12", 9094, "10.0.1.11")
    hostvars["green1"]["kafka_listeners"] = LISTENERS
    with pytest.raises(firewall.FirewallError, match=r"port 9092 of machine 10\.0\.0\.11 is shared"):
        rules_of(hostvars, groups, "broker1")


def test_nodes_without_a_firewall_are_not_filtered_though_they_share_a_machine() -> None:
    hostvars, groups = isolated()
    hostvars["broker1"]["kafka_firewall"] = False
    assert rules_of(hostvars, groups, "broker1") == []


@pytest.mark.parametrize("more", [{}, {"ansible_port": 9092}, {"ansible_port": "9092"}])
def test_the_administration_port_of_a_machine_is_refused(more: dict[str, Any]) -> None:
    hostvars, groups = isolated()
    port = 9092 if more else 22
    hostvars["broker1"].update(kafka_listeners=[{"name": "CLIENT", "port": port, "purpose": "clients"}], **more)
    with pytest.raises(firewall.FirewallError, match=f"port {port} .* is the administration port"):
        rules_of(hostvars, groups, "broker1")


def test_names_are_resolved_once_and_a_name_without_address_is_refused() -> None:
    hostvars, groups = isolated()
    hostvars["broker1"]["ansible_host"] = "kafka1.example"
    hostvars["bastion"] = {"ansible_host": "bastion.example"}
    hostvars["broker1"]["kafka_firewall_admin_addresses"] = ["bastion", "2001:db8::5", "desk.example"]
    places = places_of(hostvars, groups)
    assert firewall.unresolved(places) == ["bastion.example", "desk.example", "kafka1.example"]
    known = {"bastion.example": ["10.1.0.1"], "desk.example": ["10.1.0.2", "127.0.0.1"], "kafka1.example": ["fd00::1"]}
    (clients,) = [rule for rule in firewall.rules(places, "broker1", known) if rule["port"] == 9092]
    assert {"10.1.0.1", "10.1.0.2", "2001:db8::5", "fd00::1"} <= set(clients["sources"])
    assert "127.0.0.1" not in clients["sources"]
    with pytest.raises(firewall.FirewallError, match=r"kafka1\.example has no address"):
        firewall.rules(places, "broker1", {**known, "kafka1.example": []})


def test_named_addresses_stand_in_for_the_address_of_administration() -> None:
    hostvars, groups = isolated()
    hostvars["broker2"]["kafka_firewall_addresses"] = ["10.2.0.12", "fd00::12"]
    assert sources(hostvars, groups, "broker1", 9094) == ["10.0.0.11", "10.2.0.12", "fd00::12"]


def test_a_client_that_is_the_control_node_itself_is_covered_by_its_administrators() -> None:
    hostvars, groups = isolated()
    hostvars["gateway"] = {"ansible_connection": "local"}
    assert sources(hostvars, groups, "broker1", 9092) == ["10.0.0.11", "10.0.0.12", "10.0.0.31", "10.9.0.1"]


def test_a_network_inside_another_is_left_out() -> None:
    words = ["10.0.0.0/8", "10.1.2.3", "10.0.0.0/16", "fd00::1", "fd00::/8", "11.0.0.1", "127.0.0.1", "::1"]
    networks = [firewall.network(word) for word in words]
    assert firewall.outermost([one for one in networks if one]) == ["10.0.0.0/8", "11.0.0.1", "fd00::/8"]


# ---- for every inventory

ADDRESSES = st.integers(1, 40).map(lambda number: f"10.0.0.{number}")
NODES = st.lists(
    st.tuples(ADDRESSES, st.sampled_from(["broker", "controller", "both"]), st.sampled_from(["blue", "green"])),
    min_size=1,
    max_size=8,
    unique_by=lambda node: node[0],
)
OTHERS = st.lists(ADDRESSES, max_size=3, unique=True)


@given(NODES, OTHERS, OTHERS, OTHERS, st.sampled_from(["10.0.0.32/29", "10.0.0.7", "0.0.0.0/0"]))
def test_each_source_reaches_each_port_exactly_when_a_purpose_says_so(
    nodes: list[tuple[str, str, str]], gateways: list[str], mirrors: list[str], administrators: list[str], net: str
) -> None:
    hostvars: dict[str, Any] = {
        f"n{index}": host(
            address,
            kafka_cluster_name=cluster,
            kafka_firewall_admin_addresses=administrators,
            kafka_firewall_networks={"clients": [net]},
        )
        for index, (address, _role, cluster) in enumerate(nodes)
    }
    hostvars.update({f"g{address}": {"ansible_host": address} for address in (*gateways, *mirrors)})
    groups = {
        "kafka_brokers": [f"n{index}" for index, node in enumerate(nodes) if node[1] != "controller"],
        "kraft_controllers": [f"n{index}" for index, node in enumerate(nodes) if node[1] != "broker"],
        "spark_gateway": [f"g{address}" for address in gateways],
        "mirror_makers": [f"g{address}" for address in mirrors],
    }
    for index, (_address, role, cluster) in enumerate(nodes):
        found = rules_of(hostvars, groups, f"n{index}")
        brokers = {node[0] for node in nodes if node[2] == cluster and node[1] != "controller"}
        members = {node[0] for node in nodes if node[2] == cluster}
        clients = brokers | {*gateways, *mirrors, *administrators}
        opened = {9092, 9094} if role == "broker" else {9093} if role == "controller" else {9092, 9093, 9094}
        for number in range(1, 42):
            source = f"10.0.0.{number}"
            in_net = ipaddress.ip_address(source) in ipaddress.ip_network(net)
            expected = {9092: source in clients or in_net, 9093: source in members, 9094: source in brokers}
            for port in (9092, 9093, 9094, 22, 9095):
                wanted = expected[port] if port in opened else True
                assert allowed(found, source, port) == wanted, (source, port)
        assert allowed(found, "127.0.0.1", 9092)


@given(NODES)
def test_the_text_looks_at_our_ports_only_and_does_not_depend_on_the_order(nodes: list[tuple[str, str, str]]) -> None:
    rules = [
        {"port": 9000 + index, "address": "", "sources": [node[0]], "purpose": "clients", "comment": f"n{index}"}
        for index, node in enumerate(nodes)
    ]
    text = table_text(rules)
    assert text == table_text(list(reversed(copy.deepcopy(rules))))
    assert text.count("policy accept;") == text.count("hook") == 1
    jumps = [line for line in text.splitlines() if "dport" in line]
    assert len(jumps) == 1
    assert jumps[0].count("jump") == len(rules)
    assert digest_of(text)
    assert digest_of(table_text(rules[1:])) != digest_of(text)


def test_the_file_replaces_our_table_alone_in_one_transaction() -> None:
    lines = [line for line in table_text([]).splitlines() if not line.startswith("#")]
    assert lines[:2] == ["table inet streamops_kafka", "delete table inet streamops_kafka"]
    assert "flush" not in table_text([])
    assert "dport" not in table_text([])


def test_words_of_the_inventory_cannot_leave_their_comment() -> None:
    rule = {"port": 9092, "address": "", "sources": [], "comment": 'n1" ; flush ruleset ; #' + "x" * 200}
    text = table_text([rule])
    assert '"n1_ _ flush ruleset _ _xxx' in text
    assert max(len(line) for line in text.splitlines()) < 220
