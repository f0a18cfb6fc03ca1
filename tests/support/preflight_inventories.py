# SPDX-License-Identifier: GPL-3.0-or-later
"""Inventories for the tests of preflight: a good one of each mode, to be broken in one place at a time."""

from __future__ import annotations

from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.values import all_typed
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.build import build_node
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory, Node
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.variables import UNDEFINED
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.rule import Violation
from ansible_collections.streamops.kafka.plugins.plugin_utils.specs import role_options

LISTENERS = [
    {"name": "CLIENT", "port": 9092, "protocol": "PLAINTEXT", "purpose": "clients"},
    {"name": "BROKER", "port": 9094, "protocol": "PLAINTEXT", "purpose": "brokers"},
    {"name": "CONTROLLER", "port": 9093, "protocol": "PLAINTEXT", "purpose": "controllers"},
]
CLUSTER: dict[str, Any] = {
    "kafka_cluster_name": "blue",
    "kafka_cluster_id": "",
    "kafka_mode": "kraft_combined",
    "kafka_version": "4.3.1",
    "kafka_profile": "production",
    "kafka_listeners": LISTENERS,
    "kafka_config": {"min.insync.replicas": 2, "default.replication.factor": 3},
    "kafka_topics": [{"name": "orders", "partitions": 6, "replication_factor": 3}],
    "kafka_service_manager": "systemd",
    "kafka_install_source": "maven",
    "kafka_data_dir": "/var/lib/kafka",
    "kafka_heap_size": "1g",
    # No version is free of known vulnerabilities, and advice is not for small tests: these rules have their own.
    "preflight_accept": [
        "known_vulnerabilities",
        "many_brokers",
        "many_partitions",
        "large_partitions",
        "no_retention",
    ],
}
ZOOKEEPER_PORTS = {"zookeeper_client_port": 2181, "zookeeper_quorum_port": 2888, "zookeeper_election_port": 3888}
ZOOKEEPER = {"kafka_mode": "zookeeper", "kafka_version": "3.9.2", "kafka_listeners": LISTENERS[:2]}
UNSET = object()

#: The rules of prudence about what a cluster holds.
ADVICE = [
    "many_brokers",
    "many_partitions",
    "large_partitions",
    "no_retention",
    "busy_network",
]
#: The rules about certificates and their stores.
CERTIFICATE_RULES = {
    "bad_certificate",
    "expired_certificate",
    "certificate_expires_soon",
    "certificate_names",
    "certificate_usage",
    "certificate_principal",
    "no_tls_source",
    "unreadable_stores",
    "incomplete_ca",
    "different_ca",
    "unfinished_ca_change",
}
#: The rules about how mirrors log in.
MIRROR_LOGIN_RULES = {
    "no_mirror_login",
    "mirror_is_super_user",
    "mirror_user_listed_differently",
    "mirror_mechanism",
    "mirror_logins_disagree",
    "mirror_realms",
    "acls_with_two_owners",
    "mirror_without_certificate",
    "mirrors_share_certificate",
    "mirror_principal",
}


def node(name: str, node_id: int, *, controller: bool = True, broker: bool = True, **variables: Any) -> Node:
    """A node of cluster blue on a machine of its own; variables replace those of the cluster, UNSET takes one out."""
    merged = {**CLUSTER, "kafka_node_id": node_id, "ansible_host": f"10.0.0.{node_id}", **variables}
    known, unclear = all_typed({k: v for k, v in merged.items() if v is not UNSET}, role_options(), UNDEFINED)
    return build_node(name, controller=controller, broker=broker, variables=known, undefined={}, unclear=unclear)


def combined(hosts: dict[str, dict[str, Any]] | None = None, count: int = 3, **cluster: Any) -> Inventory:
    """Combined nodes kafka1 to kafkaN; hosts holds variables of single ones, cluster those of all."""
    own = hosts or {}
    nodes = [node(f"kafka{n}", n, **{**cluster, **own.get(f"kafka{n}", {})}) for n in range(1, count + 1)]
    return Inventory(tuple(nodes))


def isolated(hosts: dict[str, dict[str, Any]] | None = None, **cluster: Any) -> Inventory:
    """Controllers controller1 to 3 and brokers broker4 to 6, each process alone."""
    own = hosts or {}
    common = {"kafka_mode": "kraft_isolated", **cluster}
    nodes = [
        node(name, n, **{"controller": n < 4, "broker": n > 3, **common, **own.get(name, {})})
        for n, name in enumerate(["controller1", "controller2", "controller3", "broker4", "broker5", "broker6"], 1)
    ]
    return Inventory(tuple(nodes))


def ensemble(
    servers: int = 3, brokers: int = 3, hosts: dict[str, dict[str, Any]] | None = None, **cluster: Any
) -> Inventory:
    """Brokers broker11 to 1N and servers zk1 to zkN, each on a machine of its own."""
    own = hosts or {}
    common = {**ZOOKEEPER, **cluster}
    nodes = [
        node(f"broker{n}", n, controller=False, **{**common, **own.get(f"broker{n}", {})})
        for n in range(11, 11 + brokers)
    ]
    for n in range(1, servers + 1):
        paths = {"kafka_data_dir": "/var/lib/zookeeper", "zookeeper_data_log_dir": f"/var/lib/zookeeper/zk{n}-txlog"}
        base = {**CLUSTER, **ZOOKEEPER_PORTS, **paths, "zookeeper_version": "3.9.5", "zookeeper_id": n}
        variables = {**base, "ansible_host": f"10.0.1.{n}", **common, **own.get(f"zk{n}", {})}
        known = {"controller": False, "broker": False, "zookeeper": True}
        nodes.append(build_node(f"zk{n}", variables=variables, undefined={}, **known))
    return Inventory(tuple(nodes))


def config(**properties: Any) -> dict[str, Any]:
    """The good kafka_config with some properties more; underscores in their names stand for dots."""
    extra = {name.replace("_", "."): value for name, value in properties.items()}
    return {**CLUSTER["kafka_config"], **extra}


def topic(name: str = "orders", partitions: Any = 6, replication_factor: Any = 3, **more: Any) -> dict[str, Any]:
    """One entry of kafka_topics."""
    return {"name": name, "partitions": partitions, "replication_factor": replication_factor, **more}


def only(inventory: Inventory, rule: str, level: str = "error") -> Violation:
    """The one violation of an inventory, which must be of this rule and level."""
    violations = check_inventory(inventory)
    assert [(one.name, one.level) for one in violations] == [(rule, level)], [one.sentence() for one in violations]
    return violations[0]


def expect(inventory: Inventory, rule: str, *parts: str, level: str = "error") -> None:
    """The inventory breaks this rule alone, with a sentence that has all these parts."""
    sentence = only(inventory, rule, level).sentence()
    missing = [part for part in parts if part not in sentence]
    assert not missing, f"{missing} not in: {sentence}"
