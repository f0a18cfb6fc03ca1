# SPDX-License-Identifier: GPL-3.0-or-later
"""The model as roles read it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.module import options_of
from ansible_collections.streamops.kafka.plugins.module_utils._node.info import LOOK
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.build import machine_of
from tests.support.inventory_data import view


@pytest.mark.parametrize(
    ("variables", "machine"),
    [
        ({"ansible_connection": "local", "ansible_host": "10.0.0.1"}, "localhost"),
        ({"ansible_host": "10.0.0.1"}, "10.0.0.1"),
        ({}, "a"),
    ],
)
def test_the_machine_is_the_connection_target(variables: dict[str, Any], machine: str) -> None:
    assert machine_of(variables, "a") == machine


@pytest.mark.parametrize(
    ("wishes", "wanted"),
    [
        ([None, None], []),
        ([True, True], ["b1", "b2"]),
        (["false", "true"], ["b2"]),
        (["false", None], []),
    ],
)
def test_the_brokers_of_its_own_cluster_say_whether_they_want_a_proof(wishes: list[Any], wanted: list[str]) -> None:
    own = [{} if wish is None else {"kafka_prove": wish} for wish in wishes]
    hosts: dict[str, dict[str, Any]] = {
        "c1": {"kafka_node_id": 9, "kafka_prove": True},
        "b1": {"kafka_node_id": 1, **own[0]},
        "b2": {"kafka_node_id": 2, **own[1]},
        "b3": {"kafka_node_id": 3, "kafka_cluster_name": "other", "kafka_prove": True},
    }
    made = view(hosts, brokers=["b1", "b2", "b3"], controllers=["c1"], host="c1")
    assert made["provers"] == wanted


def firsts(hosts: dict[str, dict[str, Any]], work: str) -> list[str]:
    """The hosts that do a piece of work on their machines."""
    return [host for host in hosts if view(hosts, brokers=list(hosts), host=host)["first"][work]]


def test_one_host_of_each_machine_does_what_its_hosts_share_across_clusters() -> None:
    hosts = {
        "c": {"ansible_host": "10.0.0.1", "kafka_cluster_name": "other"},
        "b": {"ansible_host": "10.0.0.2"},
        "a": {"ansible_host": "10.0.0.1"},
    }
    assert {work: firsts(hosts, work) for work in ("machine", "release", "firewall")} == {
        "machine": ["b", "a"],
        "release": ["b", "a"],
        "firewall": ["b", "a"],
    }


def test_two_releases_on_one_machine_each_have_a_first_host() -> None:
    versions = {"a": "4.3.1", "b": "3.9.2", "c": "3.9.2"}
    hosts = {name: {"kafka_version": version, "ansible_connection": "local"} for name, version in versions.items()}
    assert firsts(hosts, "release") == ["a", "b"]
    assert firsts(hosts, "machine") == ["a"]


def test_a_mirror_without_a_flow_leaves_the_work_of_its_machine_to_one_that_has_one() -> None:
    clusters = {"m1": "dc_b", "m2": "dc_a"}
    hosts = {host: {"kafka_cluster_name": name, "ansible_connection": "local"} for host, name in clusters.items()}

    def doers(**flow: Any) -> list[str]:
        """The hosts that install the release, with one flow from dc_a to dc_b or back."""
        flows = [{"source": "dc_a", "target": "dc_b", "topics": ["orders"], **flow}]
        views = {host: view(hosts, mirrors=list(hosts), host=host, mirror_flows=flows) for host in hosts}
        return [host for host, seen in views.items() if seen["first"]["release"]]

    assert doers() == ["m1"]
    assert doers(source="dc_b", target="dc_a") == ["m2"]
    # Where no mirror has a flow there still is one.
    assert doers(enabled=False) == ["m2"]


def test_the_hosts_of_one_supervisord_have_one_first_and_know_the_services_of_the_play() -> None:
    hosts = {name: {"ansible_connection": "local"} for name in ("a", "b", "c")}
    hosts["b"]["kafka_user"] = "other"
    hosts["c"]["kafka_run_dir"] = "/elsewhere"
    assert firsts(hosts, "supervisord") == ["a", "c"]
    assert view(hosts, brokers=list(hosts), host="b")["services"] == ["kafka-a", "kafka-b"]


def test_who_says_the_default_shares_with_who_says_nothing() -> None:
    hosts = {"a": {"kafka_user": "kafka"}, "b": {}, "c": {"kafka_user": "other"}}
    local = {name: {**variables, "ansible_connection": "local"} for name, variables in hosts.items()}
    assert firsts(local, "machine") == ["a", "c"]


def test_a_host_sees_its_own_cluster_and_the_places_of_all() -> None:
    hosts = {
        "a": {"kafka_node_id": 1},
        "b": {"kafka_node_id": 1, "kafka_cluster_name": "green"},
        "z": {"zookeeper_id": 1, "kafka_cluster_name": "green"},
    }
    seen = view(hosts, brokers=["a", "b"], zookeepers=["z"], host="b")
    assert [node["host"] for node in seen["nodes"]] == ["b"]
    assert [node["host"] for node in seen["zookeepers"]] == ["z"]
    assert seen["node"] == {**seen["nodes"][0], "metrics": None}
    assert [(place["host"], place["cluster"]) for place in seen["places"]] == [
        ("b", "green"),
        ("a", "kafka"),
        ("z", "green"),
    ]


def test_a_host_that_is_no_node_has_settings_and_no_node() -> None:
    seen = view({"a": {"kafka_node_id": 1}, "desk": {"kafka_gate_timeout": "7"}}, brokers=["a"], host="desk")
    assert seen["settings"]["kafka_gate_timeout"] == 7
    with pytest.raises(ValueError, match=r"desk is in none of the groups kraft_controllers \(controller\), kafka_br"):
        seen["node"]


@pytest.mark.parametrize(
    ("groups", "name"),
    [({"brokers": ["a"]}, "kafka_node_id"), ({"zookeepers": ["a"]}, "zookeeper_id"), ({"controllers": ["a"]}, "kafka")],
)
def test_a_node_without_an_id_has_no_properties(groups: dict[str, Any], name: str) -> None:
    with pytest.raises(ValueError, match=f"a has no {name}"):
        view({"a": {}}, **groups)["properties"]
    assert view({"a": {}}, **groups)["node"]["node_id"] is None


def test_a_listener_without_a_port_is_an_error_and_no_key_that_is_missing() -> None:
    seen = view({"a": {"kafka_node_id": 1, "kafka_listeners": [{"name": "X", "purpose": "clients"}]}}, brokers=["a"])
    with pytest.raises(ValueError, match="a: listener X has no port"):
        seen["nodes"]
    with pytest.raises(KeyError):
        seen["nothing"]


def test_the_copies_in_sync_of_a_cluster_are_those_of_its_brokers() -> None:
    hosts = {name: {"kafka_node_id": number} for number, name in enumerate("cabd")}
    where: dict[str, Any] = {"controllers": ["c"], "brokers": ["a", "b", "d"], "host": "c"}
    assert view(hosts, **where)["copies_in_sync"] == 2
    assert view(hosts, **where, kafka_config={"min.insync.replicas": 3})["copies_in_sync"] == 3
    hosts["a"]["kafka_broker_config"] = {"min.insync.replicas": 1}
    assert view(hosts, **where, kafka_config={"min.insync.replicas": 3})["copies_in_sync"] == 1


def test_the_lock_may_be_on_each_node_in_order_and_outlives_every_restart() -> None:
    times = {
        "kafka_gate_timeout": "1",
        "kafka_stop_timeout": 10,
        "kafka_start_timeout": 100,
        "kafka_sync_timeout": 1000,
    }
    hosts = {"a": {"kafka_config_dir": "/first"}, "b": {"kafka_config_dir": "/second"}}
    seen = view(hosts, brokers=["a", "b"], host="b", kafka_cluster_name="green", **times)
    machines = [{"host": "a", "path": "/first/green.lock"}, {"host": "b", "path": "/second/green.lock"}]
    assert seen["lock"] == {"machines": machines, "seconds": 1 + 10 + 100 + 2 * 1000 + 900}
    assert view({"z": {"kafka_config_dir": "/only"}}, zookeepers=["z"])["lock"]["machines"] == [
        {"host": "z", "path": "/only/kafka.lock"}
    ]


def test_certificates_of_clients_are_issued_where_clients_show_them() -> None:
    node = {
        "kafka_node_id": 1,
        "kafka_tls_client_names": ["app"],
        "kafka_tls_ca_dir": "/ca",
        "kafka_listeners": [{"name": "C", "port": 1, "purpose": "clients", "protocol": "SSL"}],
    }
    issued = view({"a": node}, brokers=["a"])["client_certificates"]
    assert [one["name"] for one in issued] == ["admin", "app"]
    assert (issued[1]["certificate"], issued[1]["key"]) == ("/ca/clients/app.pem", "/ca/clients/app.key")
    node["kafka_listeners"] = [{"name": "C", "port": 1, "purpose": "clients", "protocol": "SASL_SSL"}]
    assert view({"a": node}, brokers=["a"])["client_certificates"] == []


def test_the_administrator_has_credentials_of_every_scram_mechanism() -> None:
    own = {"kafka_node_id": 1, "kafka_admin_user": "admin", "kafka_admin_password": "s3cret", "kafka_log_dirs": ["/d"]}
    both = {**own, "kafka_sasl_mechanisms": ["SCRAM-SHA-512", "PLAIN", "SCRAM-SHA-256"]}
    made = view({"a": both}, brokers=["a"])["admin_credentials"]
    assert [one.partition("=")[0] for one in made] == ["SCRAM-SHA-512", "SCRAM-SHA-256"]
    assert all("admin" in one and "s3cret" not in one for one in made)
    assert made != view({"a": both}, brokers=["a"])["admin_credentials"]


def test_modules_reach_brokers_where_they_run_now_too() -> None:
    """The inventory moves the listener of administration; each broker takes that in its turn."""
    addresses = {f"b{n}": {"kafka_node_id": n, "ansible_host": f"10.0.0.{n}"} for n in (1, 2)}
    now = {"__common_node_info": {"advertised": {"CLIENT": "10.0.0.1:9999", "BROKER": "10.0.0.1:9998"}}}
    made = view({**addresses, "b1": {**addresses["b1"], **now}}, brokers=["b1", "b2"], host="b2")
    wanted = ["10.0.0.1:9092", "10.0.0.2:9092"]
    assert made["bootstrap_servers"] == made["endpoint"]["bootstrap_servers"] == wanted
    assert made["connection"]["bootstrap_servers"] == [*wanted, "10.0.0.1:9999"]


@pytest.mark.parametrize(("group", "is_controller"), [("brokers", False), ("controllers", True)])
def test_where_to_look_at_a_node_is_what_node_info_takes(group: str, is_controller: bool) -> None:
    hosts: dict[str, dict[str, Any]] = {"a": {"kafka_node_id": 1}}
    made = view(hosts, host="a", **{"brokers": [], "controllers": [], group: ["a"]})
    look = options_of(LOOK, "node", made["look"])
    assert look["beside"]["note_file"] == made["paths"]["has_data"]
    assert bool(look["config_dir"]) is is_controller
    assert len(look["ports"]) == len([one for one in made["node"]["listeners"] if one["opens"]])
