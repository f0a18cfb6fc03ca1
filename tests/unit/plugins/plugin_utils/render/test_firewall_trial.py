"""Which peers prove a changed firewall, on which ports, and which host of the play asks them."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.render.firewall_trial import (
    OUTSIDE,
    machines,
    shares,
    tries,
)
from tests.support.inventory_data import DataReader, View, view

LISTENERS = [
    {"name": "CLIENT", "port": 9092, "purpose": "clients", "advertised_host": "kafka.example.org"},
    {"name": "BROKER", "port": 9094, "purpose": "brokers"},
    {"name": "CONTROLLER", "port": 9093, "purpose": "controllers"},
]
PORTS = [9092, 9093, 9094]


def host(address: str, **more: Any) -> dict[str, Any]:
    return {"ansible_host": address, "kafka_firewall": True, "kafka_listeners": LISTENERS, **more}


def isolated() -> dict[str, dict[str, Any]]:
    """A controller and three brokers, of which broker2 is on the machine of the controller."""
    addresses = {"controller1": "10.0.0.1", "broker1": "10.0.0.11", "broker2": "10.0.0.1", "broker3": "10.0.0.13"}
    return {name: host(address) for name, address in addresses.items()}


def places(hosts: dict[str, dict[str, Any]], **groups: list[str]) -> list[dict[str, Any]]:
    given = groups or {"kraft_controllers": ["controller1"], "kafka_brokers": ["broker1", "broker2", "broker3"]}
    return list(View(DataReader(hosts, given))["places"])


def ports(found: dict[str, list[dict[str, Any]]]) -> dict[str, list[int]]:
    return {machine: sorted(one["port"] for one in listed) for machine, listed in found.items()}


def test_each_peer_tries_what_its_purpose_lets_it_use_on_all_nodes_of_the_machine() -> None:
    found = tries(places(isolated()), {"controller1": PORTS})
    assert ports(found) == {"10.0.0.11": [9093, 9094], "10.0.0.13": [9093, 9094]}
    assert found["10.0.0.11"][0] == {
        "host": "controller1",
        "address": "10.0.0.1",
        "port": 9093,
        "purpose": "controllers",
    }


def test_controllers_try_no_port_of_brokers() -> None:
    found = tries(places({**isolated(), "broker2": host("10.0.0.12")}), {"broker1": PORTS})
    assert ports(found) == {"10.0.0.12": [9094], "10.0.0.13": [9094]}


def test_peers_try_the_port_that_is_advertised_of_what_listens_here() -> None:
    listeners = [LISTENERS[0], {**LISTENERS[1], "advertised_port": 19094}, LISTENERS[2]]
    hosts = {**isolated(), "broker1": host("10.0.0.11", kafka_listeners=listeners)}
    assert ports(tries(places(hosts), {"broker1": PORTS})) == {"10.0.0.1": [19094], "10.0.0.13": [19094]}
    assert ports(tries(places(hosts), {"broker1": [19094]})) == {}


def test_ports_that_nothing_listens_on_are_not_tried() -> None:
    assert ports(tries(places(isolated()), {"broker1": [9092, 22]})) == {}
    assert tries(places(isolated()), {"broker1": []}) == {}


def test_brokers_without_a_listener_of_their_own_try_the_one_for_clients() -> None:
    shared = [one for one in LISTENERS if one["purpose"] != "brokers"]
    hosts = {name: {**its, "kafka_listeners": shared} for name, its in isolated().items()}
    found = tries(places(hosts), {"broker1": PORTS})
    assert found["10.0.0.13"] == [
        {"host": "broker1", "address": "kafka.example.org", "port": 9092, "purpose": "clients"}
    ]


def test_machines_of_other_clusters_and_nodes_without_a_firewall_are_left_out() -> None:
    hosts = isolated()
    hosts["broker3"]["kafka_cluster_name"] = "other"
    assert ports(tries(places(hosts), {"controller1": PORTS})) == {"10.0.0.11": [9093, 9094]}
    hosts["controller1"]["kafka_firewall"] = False
    assert ports(tries(places(hosts), {"controller1": PORTS})) == {"10.0.0.11": [9094]}


def test_servers_of_zookeeper_try_the_ports_of_the_ensemble() -> None:
    hosts = {f"zookeeper{number}": host(f"10.0.0.{number}", zookeeper_id=number) for number in (1, 2)}
    hosts["broker1"] = host("10.0.0.11", kafka_mode="zookeeper")
    given = places(hosts, zookeeper=["zookeeper1", "zookeeper2"], kafka_brokers=["broker1"])
    found = tries(given, {"zookeeper1": [2181, 2888, 3888]})
    assert ports(found) == {"10.0.0.2": [2888, 3888], "10.0.0.11": [2181]}


WANTED = {f"m{number}": [{"port": number}] for number in range(1, 5)}
WHERE = {"a": "m1", "b": "m2", "b2": "m2", "c": "m3", "d": "m4"}


def test_each_host_of_the_play_tries_for_itself_and_asks_its_part_of_the_others() -> None:
    found = shares(WANTED, WHERE, ["a", "b"])
    assert {worker: [one["peer"] for one in its] for worker, its in found.items()} == {"a": ["a", "c"], "b": ["b", "d"]}
    assert found["a"][1]["tries"] == [{"port": 3}]


def test_a_host_that_shares_its_machine_tries_for_it() -> None:
    assert [one["peer"] for one in shares(WANTED, WHERE, ["b2"])["b2"]] == ["b2", "a", "c", "d"]


@pytest.mark.parametrize("workers", [1, 3])
def test_no_host_asks_more_peers_than_the_time_of_a_trial_allows(workers: int) -> None:
    where = {f"h{number}": f"m{number}" for number in range(100)}
    wanted = {machine: [{"port": 1}] for machine in where.values()}
    found = shares(wanted, where, list(where)[:workers])
    assert {len(its) for its in found.values()} == {OUTSIDE + 1}


def test_without_a_host_or_a_try_there_is_nothing_to_do() -> None:
    assert shares({}, WHERE, ["a"]) == {"a": []}
    assert shares(WANTED, WHERE, []) == {}
    assert machines([]) == {}


def seen(**first: Any) -> View:
    """The model of broker1, which gets its table in this round, with what the tasks left."""
    hosts = isolated()
    one_round = {"__common_firewall_round": ["broker1"]}
    tried = {
        "__common_firewall_share": {"peer": "broker3"},
        "unreached": [{"host": "broker1", "address": "10.0.0.11", "port": 9094, "purpose": "brokers", "error": "no"}],
    }
    hosts["broker1"].update(one_round, __common_firewall_waits=True, __common_firewall_loaded={"listening": PORTS})
    hosts["broker2"].update(one_round, __common_firewall_waits=False)
    hosts["broker3"].update({**one_round, "__common_firewall_waits": True, **first})
    hosts["broker3"]["__common_firewall_tried"] = {"results": [tried, {"unreachable": True}]}
    brokers = ["broker1", "broker2", "broker3"]
    return view(hosts, controllers=["controller1"], brokers=brokers, host="broker1")


def test_hosts_wait_until_their_table_is_confirmed() -> None:
    assert seen()["firewall_trial"]["waiting"] == ["broker1", "broker3"]


def test_what_the_peers_of_a_round_could_not_reach_is_told_to_the_host_that_has_it() -> None:
    told = ["broker3 cannot connect to port 9094 (brokers) at 10.0.0.11: no"]
    assert seen()["firewall_trial"]["unreached"] == told
    assert seen(__common_firewall_round=["controller1"])["firewall_trial"]["unreached"] == []


def test_hosts_of_another_round_are_asked_like_those_outside_of_the_play() -> None:
    peers = [one["peer"] for one in seen(__common_firewall_round=["x"])["firewall_trial"]["shares"]]
    assert peers == ["broker3"]
    assert seen()["firewall_trial"]["shares"] == []
