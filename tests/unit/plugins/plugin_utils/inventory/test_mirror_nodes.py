"""Mirrors as nodes, and by which listeners they reach the clusters they stand between."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory import mirror_nodes
from tests.support.inventory_data import view

LISTENERS = [
    {"name": "CLIENT", "port": 9092, "protocol": "SASL_SSL", "purpose": "clients"},
    {"name": "FAR", "port": 9095, "protocol": "SSL", "purpose": "clients", "advertised_host": "line"},
    {"name": "BROKER", "port": 9094, "purpose": "brokers"},
]


def brokers() -> list[dict[str, Any]]:
    hosts = {name: {"kafka_node_id": number, "kafka_listeners": LISTENERS} for number, name in enumerate(("b1", "b2"))}
    return list(view(hosts, brokers=list(hosts))["nodes"])


def test_a_mirror_belongs_to_the_cluster_it_stands_next_to() -> None:
    hosts = {
        "m1": {"kafka_cluster_name": "b", "kafka_tls_source": "files", "ansible_host": "10.0.0.1"},
        "m2": {"kafka_cluster_name": "c"},
        "m3": {"kafka_cluster_name": "b", "mirror_maker_rest_port": 9000},
    }
    nodes = view(hosts, mirrors=list(hosts))["mirrors"]
    assert [(node["host"], node["listeners"][0]["port"]) for node in nodes] == [("m1", 8443), ("m3", 9000)]
    assert [mirror_nodes.rest_url(node) for node in nodes] == ["https://10.0.0.1:8443", "http://m3:9000"]


@pytest.mark.parametrize(
    ("flows", "ports"),
    [
        ([{"target": "b", "engine": "legacy"}], 0),
        ([{"target": "b", "engine": "legacy"}, {"target": "b", "enabled": False}, {"target": "c"}], 0),
        ([{"target": "b", "engine": "legacy"}, {"target": "b"}], 1),
        ([{"target": "c", "engine": "legacy"}], 1),
        (["nonsense"], 1),
        ("nonsense", 1),
        (None, 1),
    ],
)
def test_a_mirror_with_the_legacy_engine_listens_nowhere(flows: Any, ports: int) -> None:
    hosts = {"m1": {"kafka_cluster_name": "b", "mirror_flows": flows}}
    assert len(view(hosts, mirrors=["m1"])["node"]["listeners"]) == ports


def test_a_cluster_is_reached_by_the_first_listener_for_clients_or_by_name() -> None:
    near = mirror_nodes.mirror_reach(brokers())
    assert near == {"bootstrap_servers": ["b1:9092", "b2:9092"], "protocol": "SASL_SSL"}
    far = mirror_nodes.mirror_reach(brokers(), "FAR")
    assert far == {"bootstrap_servers": ["line:9095", "line:9095"], "protocol": "SSL"}


def test_a_listener_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(ValueError, match=r"opens no listener WAN.*CLIENT, FAR, BROKER"):
        mirror_nodes.mirror_reach(brokers(), "WAN")
