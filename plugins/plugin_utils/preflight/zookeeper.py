# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on ensembles of ZooKeeper and on the brokers that use them: ids, sizes, versions, groups."""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.streamops.kafka.plugins.plugin_utils.guards.zookeeper import MAX_ID
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import (
    UNDEFINED,
    ZOOKEEPER_GROUP,
    Inventory,
    Node,
    as_bool,
    as_int,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.nodes import ZOOKEEPER_MODE
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.violation import ERROR, WARNING, Violation

SUPPORTED = ("3.9.5", "3.8.6")
# What the role writes itself, with the variable that says it.
MANAGED = {
    "dataDir": "kafka_data_dir",
    "dataLogDir": "zookeeper_data_log_dir",
    "clientPortAddress": "zookeeper_host",
    "clientPort": "zookeeper_client_port",
    "secureClientPort": "zookeeper_client_port and zookeeper_tls",
    "reconfigEnabled": "the group zookeeper: members change by playbooks/zookeeper_members.yml",
}


def ids(inventory: Inventory) -> Iterator[Violation]:
    """B6: zookeeper_id is a whole number from 1 to 255, and no other server of the ensemble has it."""
    for node in inventory.nodes:
        value = node.variables.get("zookeeper_id")
        number = as_int(value)
        if node.zookeeper and value is not UNDEFINED and not (number is not None and 1 <= number <= MAX_ID):
            yield _violation(
                "B6", (node.name,), "zookeeper_id", "the server has no usable id",
                "nothing" if value is None else repr(str(value)), f"a whole number from 1 to {MAX_ID}",
                "set zookeeper_id as a host variable and never change it",
            )  # fmt: skip
    for cluster in inventory.clusters():
        for number in sorted({one for one in map(_id, cluster.zookeepers) if one is not None}):
            hosts = tuple(node.name for node in cluster.zookeepers if _id(node) == number)
            if len(hosts) > 1:
                yield _violation(
                    "B6", hosts, "zookeeper_id", "several servers of one ensemble have the same id", str(number),
                    "an id of its own", "give the newer one an unused id; never change that of a server with data",
                )  # fmt: skip


def _id(node: Node) -> int | None:
    return as_int(node.get("zookeeper_id"))


def size(inventory: Inventory) -> Iterator[Violation]:
    """B5: 3 or 5 servers; an even number costs a machine and tolerates no more."""
    for cluster in inventory.clusters():
        count = len(cluster.zookeepers)
        resizing = any(as_bool(node.get("zookeeper_resizing")) for node in cluster.zookeepers)
        if count == 0 or resizing or (count >= 3 and count % 2 == 1):
            continue
        majority = count // 2 + 1
        yield Violation(
            "B5", ERROR if cluster.production else WARNING, tuple(node.name for node in cluster.zookeepers),
            ZOOKEEPER_GROUP,
            f"the ensemble of cluster {cluster.name} needs {majority} of {count} servers"
            f" and survives the loss of {count - majority}",
            f"{count} servers", "an odd number from 3 on",
            "run 3 servers, or 5 to survive the loss of two; one alone is for kafka_profile development",
            policy=True,
        )  # fmt: skip


def one_process(inventory: Inventory) -> Iterator[Violation]:
    """C3: a host is one process: a server of ZooKeeper or a node of Kafka."""
    for node in inventory.nodes:
        if node.zookeeper and (node.broker or node.controller):
            yield _violation(
                "C3", (node.name,), ZOOKEEPER_GROUP, "the host is a server of ZooKeeper and a node of Kafka",
                "in both groups", "one inventory host for each process",
                "name a second host with the same ansible_host for the other process",
            )  # fmt: skip


def mode(inventory: Inventory) -> Iterator[Violation]:
    """C3: mode zookeeper has an ensemble, no controllers and a Kafka that knows ZooKeeper; the others have none."""
    for cluster in inventory.clusters():
        brokers = [node for node in cluster.brokers if node.get("kafka_mode") == ZOOKEEPER_MODE]
        if brokers and cluster.controllers:
            yield _violation(
                "C3", tuple(node.name for node in cluster.controllers), "kafka_mode",
                "mode zookeeper has no controllers", "hosts in kraft_controllers", "none",
                "take them out of the group, or choose a mode of KRaft",
            )  # fmt: skip
        for node in brokers:
            if not node.text("kafka_version").startswith("3.9"):
                yield _violation(
                    "C3", (node.name,), "kafka_version", "this Kafka knows no ZooKeeper", node.text("kafka_version"),
                    "3.9.2", "set kafka_version to 3.9.2, the last line with ZooKeeper, or use KRaft",
                )  # fmt: skip
        if cluster.zookeepers and cluster.brokers and not brokers:
            yield Violation(
                "C3", WARNING, tuple(node.name for node in cluster.zookeepers), "kafka_mode",
                "the brokers of this cluster do not use its ensemble", cluster.brokers[0].text("kafka_mode"),
                ZOOKEEPER_MODE,
                "set kafka_mode to zookeeper, or take the servers out of the inventory",
            )  # fmt: skip


def version(inventory: Inventory) -> Iterator[Violation]:
    """B30: a ZooKeeper version this collection has the jars of."""
    for node in inventory.nodes:
        value = node.text("zookeeper_version")
        if node.zookeeper and value and value not in SUPPORTED:
            yield _violation(
                "B30", (node.name,), "zookeeper_version", "this ZooKeeper version is not supported", repr(value),
                f"one of {', '.join(SUPPORTED)}", "choose one of them; older ones have known vulnerabilities",
            )  # fmt: skip


def typed_variable(inventory: Inventory) -> Iterator[Violation]:
    """C10: a typed variable and a raw property for the same thing is an error, not a race."""
    for node in inventory.nodes:
        given = node.get("zookeeper_ensemble_config", {})
        for key in given if node.zookeeper and isinstance(given, dict) else ():
            if key in MANAGED or str(key).startswith("server."):
                yield _violation(
                    "C10", (node.name,), f"zookeeper_ensemble_config['{key}']",
                    "the collection writes this property itself from a variable of its own", str(key),
                    "properties that have no variable of their own",
                    f"take it out and say it through {MANAGED.get(str(key), 'the group zookeeper')}",
                )  # fmt: skip


def secured(inventory: Inventory) -> Iterator[Violation]:
    """B33: who logs in at ZooKeeper does so inside TLS; and an authorizer whose ACLs anybody may write is none."""
    for cluster in inventory.clusters():
        brokers = [node for node in cluster.brokers if node.get("kafka_mode") == ZOOKEEPER_MODE]
        for node in (*brokers, *cluster.zookeepers):
            tls, password = as_bool(node.get("zookeeper_tls")), bool(node.text("zookeeper_password"))
            if tls != password:
                yield _violation(
                    "B33", (node.name,), "zookeeper_tls", "one half of securing ZooKeeper is missing",
                    "TLS without a login" if tls else "a login without TLS", "both or none",
                    "set zookeeper_tls and zookeeper_password (from the vault)",
                )  # fmt: skip
            elif not tls and as_bool(node.get("kafka_authorizer")):
                yield _violation(
                    "B33", (node.name,), "kafka_authorizer", "anybody may write the ACLs, since ZooKeeper asks nobody",
                    "kafka_authorizer without zookeeper_tls", "a ZooKeeper that knows who writes",
                    "set zookeeper_tls and zookeeper_password (from the vault)",
                )  # fmt: skip


def _violation(
    rule: str, hosts: tuple[str, ...], variable: str, what: str, found: str, allowed: str, way_out: str
) -> Violation:
    return Violation(rule, ERROR, hosts, variable, what, found, allowed, way_out)


RULES = (ids, size, one_process, mode, version, typed_variable, secured)
