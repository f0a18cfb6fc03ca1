"""Preflight of the firewall: what would not hold, lock somebody out, or let nobody in."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.variables import UNDEFINED
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.rules.firewall import names_to_resolve
from tests.support.preflight_inventories import ADVICE, LISTENERS, UNSET, combined, expect, isolated, node

ON: dict[str, Any] = {"kafka_firewall": True, "kafka_firewall_admin_addresses": ["10.9.0.1"]}


def listeners(**changes: Any) -> list[dict[str, Any]]:
    """The good listeners, the clients' one changed."""
    return [{**LISTENERS[0], **changes}, *LISTENERS[1:]]


def test_a_good_firewall_passes_and_none_asks_for_nothing() -> None:
    assert check_inventory(combined(**ON)) == []
    assert check_inventory(isolated(**ON)) == []
    assert (
        check_inventory(
            combined(ansible_host="nowhere", count=1, preflight_accept=["even_quorum", "few_brokers", "few_replicas"])
        )
        != []
    )
    assert names_to_resolve(combined({"kafka1": {"ansible_host": "kafka1.example"}})) == []


def test_the_firewall_needs_systemd() -> None:
    inventory = combined(**ON, kafka_service_manager="supervisor")
    expect(inventory, "firewall_without_systemd", "kafka_service_manager supervisor", "set kafka_firewall to false")


@pytest.mark.parametrize(("port", "more"), [(22, {}), (2222, {"ansible_port": 2222}), (22, {"ansible_port": "2222"})])
def test_a_listener_on_the_administration_port_is_refused(port: int, more: dict[str, Any]) -> None:
    inventory = combined(**ON, **more, kafka_listeners=listeners(port=port))
    expect(inventory, "listener_on_ssh_port", "listener CLIENT has the administration port", f"port {port}")


def test_another_node_of_the_machine_may_tell_the_administration_port() -> None:
    hosts = {
        "kafka1": {"ansible_host": "10.0.0.1", "ansible_port": 9092, "kafka_listeners": listeners(port=9095)},
        "kafka2": {
            "ansible_host": "10.0.0.1",
            "kafka_listeners": [{**one, "port": one["port"] + 0} for one in LISTENERS],
        },
    }
    hosts["kafka1"]["kafka_listeners"] = [{**one, "port": one["port"] + 100} for one in LISTENERS]
    expect(combined(hosts, **ON), "listener_on_ssh_port", "kafka2", "port 9092")


@pytest.mark.parametrize(
    ("networks", "part"),
    [
        (["10.0.0.0/33"], "write an address or a network such as"),
        (["kafka.example"], "names are not resolved here"),
        (["10.1.2.3/16"], "write 10.1.0.0/16, or the one address"),
        ("10.0.0.0/8", "make it a list"),
    ],
)
def test_badly_written_networks_are_refused(networks: Any, part: str) -> None:
    expect(combined(**ON, kafka_firewall_networks={"clients": networks}), "bad_network", "['clients']", part)
    expect(combined(**ON, kafka_listeners=listeners(networks=networks)), "bad_network", "networks of CLIENT", part)
    rule = "bad_network" if isinstance(networks, list) else "wrong_type"
    named = part if isinstance(networks, list) else "allowed: a list"
    expect(combined(**ON, kafka_firewall_accept_cuts=networks), rule, "kafka_firewall_accept_cuts", named)


def test_networks_are_for_purposes_that_exist_and_at_listeners_for_clients() -> None:
    expect(
        combined(**ON, kafka_firewall_networks={"client": []}),
        "unknown_network_purpose",
        "no listener has this purpose",
    )
    expect(combined(**ON, kafka_firewall_networks=["10.0.0.0/8"]), "wrong_type", "kafka_firewall_networks", "a dict")
    inner = [LISTENERS[0], {**LISTENERS[1], "networks": ["10.0.0.0/8"]}, LISTENERS[2]]
    expect(combined(**ON, kafka_listeners=inner), "networks_at_inner_listener", "networks of BROKER", "purpose brokers")
    fine = {"clients": ["10.0.0.0/8", "fd00::/8", "10.1.1.1"], "brokers": [], "controllers": ["10.2.2.2", UNDEFINED]}
    assert check_inventory(combined(**ON, kafka_firewall_networks=fine)) == []


def test_names_that_the_control_node_cannot_resolve_are_named() -> None:
    inventory = combined({"kafka1": {"ansible_host": "kafka1.example"}}, **ON)
    assert names_to_resolve(inventory) == ["kafka1.example"]
    expect(inventory, "unresolvable_address", "kafka1: ansible_host", "finds no address of kafka1.example")
    assert check_inventory(replace(inventory, addresses={"kafka1.example": ("10.0.0.1",)})) == []


def test_hosts_of_client_groups_and_named_administrators_are_resolved_too() -> None:
    gateway = node("gateway", 9, controller=False, broker=False, ansible_host="gateway.example")
    bastion = node("bastion", 8, controller=False, broker=False, ansible_host=UNSET)
    admins = {**ON, "kafka_firewall_admin_addresses": ["bastion", "desk.example", "10.0.0.0/30"]}
    inventory = replace(combined(**admins), peers=(gateway, bastion))
    assert names_to_resolve(inventory) == ["bastion", "desk.example", "gateway.example"]
    known = {"bastion": ("10.9.0.1",), "gateway.example": ("10.9.0.2",)}
    expect(
        replace(inventory, addresses=known),
        "unresolvable_address",
        "kafka_firewall_admin_addresses",
        "no address of desk.example",
    )


def test_what_is_not_filled_in_yet_is_named_once() -> None:
    hosts = {f"kafka{n}": {"ansible_host": f"CHANGE-ME-{n}"} for n in (1, 2, 3)}
    left = {"kafka_firewall_admin_addresses": ["CHANGE-ME"], "kafka_firewall_networks": {"clients": ["CHANGE-ME"]}}
    found = check_inventory(combined(hosts, **{**ON, **left}))
    assert {one.name for one in found} == {"placeholder"}
    assert names_to_resolve(combined(hosts, **{**ON, **left})) == []


def test_a_node_that_others_would_know_by_a_loopback_address_is_refused() -> None:
    hosts = {"kafka1": {"ansible_host": "kafka1.example", "kafka_listeners": listeners(advertised_host="10.0.0.1")}}
    inventory = replace(combined(hosts, **ON), addresses={"kafka1.example": ("127.0.1.1",)})
    expect(inventory, "only_loopback_address", "kafka1: kafka_firewall_addresses", "127.0.1.1")
    hosts["kafka1"]["kafka_firewall_addresses"] = ["10.0.0.1"]
    assert check_inventory(replace(combined(hosts, **ON), addresses={"kafka1.example": ("127.0.1.1",)})) == []


def test_one_machine_under_two_names_is_refused() -> None:
    hosts = {"kafka1": {"ansible_host": "kafka1.example"}}
    inventory = replace(combined(hosts, **ON), addresses={"kafka1.example": ("10.0.0.2",)})
    expect(inventory, "machine_with_two_names", "kafka1, kafka2", "are one machine")


def test_nodes_that_share_a_port_bind_to_addresses() -> None:
    ours, theirs = ([{**one, "host": host} for one in LISTENERS] for host in ("front", "10.0.0.9"))
    hosts = {
        "kafka1": {"ansible_host": "10.0.0.1", "kafka_listeners": [{**one, "advertised_host": "a"} for one in ours]},
        "kafka2": {"ansible_host": "10.0.0.1", "kafka_listeners": [{**one, "advertised_host": "b"} for one in theirs]},
    }
    found = [one for one in check_inventory(combined(hosts, **ON)) if one.name == "shared_port_by_name"]
    assert {one.hosts for one in found} == {("kafka1",)}
    assert "shares its port with kafka2" in found[0].what


def test_a_firewall_lets_an_administrator_in_unless_that_is_accepted_by_name() -> None:
    closed = {**ON, "kafka_firewall_admin_addresses": []}
    expect(combined(**closed), "no_administrator_address", "no address may administer the cluster from outside")
    expect(
        combined(**closed, preflight_accept=["no_administrator_address", "known_vulnerabilities", *ADVICE]),
        "no_administrator_address",
        "accepted",
        level="warning",
    )
    local = Inventory(tuple(node(f"kafka{n}", n, **closed, ansible_connection="local") for n in (1, 2, 3)))
    assert [one.name for one in check_inventory(local) if one.name == "no_administrator_address"] == []
