# SPDX-License-Identifier: GPL-3.0-or-later
"""The native properties of a node: identity, listeners, security, our defaults, and the inventory above all of them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.inventory_data import view

LISTENERS = [
    {"name": "CLIENT", "port": "9092", "purpose": "clients", "protocol": "SASL_SSL"},
    {"name": "BROKER", "port": "9094", "purpose": "brokers", "protocol": "SSL"},
    {"name": "CONTROLLER", "port": "9093", "purpose": "controllers", "protocol": "SSL"},
]


def cluster(host: str, **common: Any) -> dict[str, Any]:
    """The properties of one of a controller and three brokers."""
    hosts = {name: {"kafka_node_id": str(n), "ansible_host": f"10.0.0.{n}"} for n, name in enumerate("cabd", 1)}
    known = {"kafka_listeners": LISTENERS, "kafka_log_dirs": ["/d"], **common}
    seen = view(hosts, controllers=["c"], brokers=["a", "b", "d"], host=host, **known)
    return dict(seen["properties"])


def test_a_broker_has_three_copies_two_of_them_in_sync_and_bounds_for_clients() -> None:
    found = cluster("a", kafka_rack="r1")
    assert (found["node.id"], found["process.roles"], found["broker.rack"]) == (2, ["broker"], "r1")
    assert (found["default.replication.factor"], found["min.insync.replicas"]) == (3, 2)
    assert found["replica.fetch.backoff.ms"] == 200
    assert found["listeners"] == ["CLIENT://:9092", "BROKER://:9094"]
    assert found["controller.quorum.bootstrap.servers"] == ["10.0.0.1:9093"]
    assert found["max.connections.per.ip.overrides"][0] == "10.0.0.1:2147483647"


def test_a_controller_has_none_of_what_brokers_have() -> None:
    found = cluster("c", kafka_metadata_log_dir="/m")
    assert (found["node.id"], found["process.roles"], found["metadata.log.dir"]) == (1, ["controller"], "/m")
    assert "default.replication.factor" not in found
    assert "broker.rack" not in found
    assert found["max.connections.per.ip"] == 500


@pytest.mark.parametrize(("host", "own"), [("a", "kafka_broker_config"), ("c", "kraft_controller_config")])
def test_the_inventory_wins_and_what_it_says_of_a_kind_of_node_wins_over_all(host: str, own: str) -> None:
    both = {"kafka_config": {"max.connections.per.ip": 1, "a": 1}, own: {"a": 2}}
    found = cluster(host, **both)
    assert (found["max.connections.per.ip"], found["a"]) == (1, 2)


def test_security_follows_the_protocols_and_the_authorizer_as_text_is_one() -> None:
    common = {"kafka_super_users": ["ops", "a"], "kafka_config_dir": "/etc/kafka", "kafka_tls_source": "files"}
    found = cluster("a", kafka_authorizer="yes", **common)
    assert found["super.users"] == "User:c;User:a;User:b;User:d;User:admin;User:ops"
    assert found["ssl.keystore.location"] == "/etc/kafka/a/tls/keystore.pem"
    assert "authorizer.class.name" not in cluster("a", kafka_authorizer="no")


def test_without_a_source_of_certificates_no_stores_are_named_that_nobody_writes() -> None:
    found = cluster("a", kafka_config={"ssl.keystore.key": "k", "ssl.keystore.certificate.chain": "c"})
    assert [key for key in found if key.endswith("store.location")] == []
    assert (found["ssl.keystore.type"], found["ssl.keystore.key"]) == ("PEM", "k")


def ensemble(host: str, **common: Any) -> dict[str, Any]:
    """The properties of one of two brokers and three servers of ZooKeeper."""
    hosts: dict[str, dict[str, Any]] = {f"b{n}": {"kafka_node_id": n, "ansible_host": f"10.0.1.{n}"} for n in (1, 2)}
    hosts |= {f"z{n}": {"zookeeper_id": n, "ansible_host": f"10.0.0.{n}"} for n in (1, 2, 3)}
    known = {"kafka_mode": "zookeeper", "kafka_data_dir": "/d", "kafka_config_dir": "/c", "zookeeper_chroot": "/k"}
    brokers, servers = ["b1", "b2"], ["z1", "z2", "z3"]
    seen = view(hosts, brokers=brokers, zookeepers=servers, host=host, **{**known, **common})
    return dict(seen["properties"])


def test_a_broker_with_zookeeper_knows_all_members_and_no_quorum() -> None:
    found = ensemble("b2", zookeeper_tls="on")
    assert found["broker.id"] == 2
    assert found["zookeeper.connect"] == "10.0.0.1:2181,10.0.0.2:2181,10.0.0.3:2181/k"
    assert found["zookeeper.ssl.keystore.location"] == "/c/b2/tls/keystore.pem"
    assert (found["default.replication.factor"], found["min.insync.replicas"]) == (2, 1)
    assert not [key for key in found if key.startswith(("share.", "controller.", "process."))]


def test_a_server_of_zookeeper_knows_the_members_of_its_ensemble() -> None:
    found = ensemble("z2", zookeeper_members=["z1", "z2"], zookeeper_ensemble_config={"tickTime": 3000})
    assert [key for key in found if key.startswith("server.")] == ["server.1", "server.2"]
    assert (found["dataDir"], found["tickTime"], found["clientPort"]) == ("/d/z2", 3000, 2181)
    assert ensemble("z2", zookeeper_data_dir="/zk")["dataDir"] == "/zk"
    assert found["standaloneEnabled"] is False
    assert ensemble("z1", zookeeper_members=["z1"])["standaloneEnabled"] is True
