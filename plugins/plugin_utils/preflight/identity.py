# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on who is who: clusters, node ids, modes, racks and what the nodes of a cluster must agree on."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator
from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import (
    BROKER_GROUP,
    CONTROLLER_GROUP,
    NO_CLUSTER,
    UNDEFINED,
    ZOOKEEPER_GROUP,
    Inventory,
    Node,
    as_int,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.nodes import ZOOKEEPER_MODE
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.violation import ERROR, WARNING, Violation

MODES = ("kraft_combined", "kraft_isolated", ZOOKEEPER_MODE)
# Node ids are Java ints on the wire.
MAX_NODE_ID = 2**31 - 1
# Kafka keeps these for itself: Uuid.ZERO_UUID, and Uuid.ONE_UUID = Uuid.METADATA_TOPIC_ID.
RESERVED_CLUSTER_IDS = ("AAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAQ")
# What makes one cluster of several nodes: value variable -> level of a disagreement. Versions differ while one node
# is tried first with a new one.
SHARED = {
    "kafka_mode": ERROR,
    "kafka_cluster_id": ERROR,
    "kafka_profile": ERROR,
    "kafka_topics": ERROR,
    "kafka_version": WARNING,
}


def cluster_name(inventory: Inventory) -> Iterator[Violation]:
    """C1: every host says which cluster it belongs to, a mirror which one it mirrors into."""
    for node in inventory.processes:
        if node.cluster == NO_CLUSTER and node.variables.get("kafka_cluster_name") is not UNDEFINED:
            yield Violation(
                "C1", ERROR, (node.name,), "kafka_cluster_name", "the host belongs to no cluster", "nothing",
                "a name, the same on all nodes of a cluster", "set kafka_cluster_name in the group_vars of the cluster",
            )  # fmt: skip


def members(inventory: Inventory) -> Iterator[Violation]:
    """C2: a cluster has at least one controller, or in mode zookeeper one server of ZooKeeper, and one broker."""
    for cluster in inventory.clusters():
        if cluster.zookeepers and not cluster.brokers and not cluster.controllers:
            continue  # An ensemble alone, for clients that are none of ours.
        quorum = (CONTROLLER_GROUP, cluster.controllers)
        if cluster.nodes[0].get("kafka_mode") == ZOOKEEPER_MODE:
            quorum = (ZOOKEEPER_GROUP, cluster.zookeepers)
        for group, nodes in (quorum, (BROKER_GROUP, cluster.brokers)):
            if not nodes:
                yield Violation(
                    "C2", ERROR, cluster.hosts, "kafka_cluster_name",
                    f"cluster {cluster.name} has no host in group {group}", "0 hosts", "at least 1",
                    f"add hosts of this cluster to {group}, or correct kafka_cluster_name",
                )  # fmt: skip


def node_id_missing_or_bad(inventory: Inventory) -> Iterator[Violation]:
    """B1: kafka_node_id is a whole number from 0 on; KRaft has no reserved.broker.max.id."""
    for node in inventory.kafka:
        value = node.variables.get("kafka_node_id")
        number = as_int(value)
        if value is UNDEFINED or (number is not None and 0 <= number <= MAX_NODE_ID):
            continue
        yield Violation(
            "B1", ERROR, (node.name,), "kafka_node_id",
            "the node has no id" if value is None else "the node id is no usable number",
            "nothing" if value is None else repr(str(value)), f"a whole number from 0 to {MAX_NODE_ID}",
            "set kafka_node_id as a host variable and never change it",
        )  # fmt: skip


def node_id_twice(inventory: Inventory) -> Iterator[Violation]:
    """B1: brokers and controllers of a cluster share one space of ids."""
    for cluster in inventory.clusters():
        by_id: dict[int, list[Node]] = {}
        for node in (*cluster.controllers, *(one for one in cluster.brokers if not one.controller)):
            number = as_int(node.get("kafka_node_id"))
            if number is not None:
                by_id.setdefault(number, []).append(node)
        for number, nodes in sorted(by_id.items()):
            if len(nodes) > 1:
                yield Violation(
                    "B1", ERROR, tuple(node.name for node in nodes), "kafka_node_id",
                    f"{len(nodes)} nodes of cluster {cluster.name} have the same node id", str(number),
                    "an id that no other broker or controller of the cluster has",
                    "give the newer node an unused id; never change the id of a node that holds data",
                )  # fmt: skip


def mode(inventory: Inventory) -> Iterator[Violation]:
    """C3: kafka_mode is known and the groups agree with it."""
    for node in inventory.nodes:
        value = node.variables.get("kafka_mode")
        if value is UNDEFINED:
            continue
        way_out = f"set it to one of {', '.join(MODES)}"
        if value not in MODES:
            yield _mode(node, "the mode is not known", repr(str(value or "")), f"one of {', '.join(MODES)}", way_out)
        elif value == "kraft_isolated" and node.controller and node.broker:
            yield _mode(
                node, "mode kraft_isolated has no combined nodes", f"in {CONTROLLER_GROUP} and {BROKER_GROUP}",
                "each host in one of the two groups", "take the host out of one group, or use kraft_combined",
            )  # fmt: skip
        elif value == "kraft_combined" and node.controller and not node.broker:
            yield _mode(
                node, "mode kraft_combined has no controller that is not a broker", f"in {CONTROLLER_GROUP} only",
                "every controller in both groups", f"add the host to {BROKER_GROUP}, or use kraft_isolated",
            )  # fmt: skip


def _mode(node: Node, what: str, found: str, allowed: str, way_out: str) -> Violation:
    return Violation("C3", ERROR, (node.name,), "kafka_mode", what, found, allowed, way_out)


def cluster_id(inventory: Inventory) -> Iterator[Violation]:
    """C5: kafka_cluster_id is empty (drawn at the first installation) or 16 bytes in URL-safe base64."""
    for node in inventory.nodes:
        value = node.text("kafka_cluster_id")
        if value and not usable_cluster_id(value):
            yield Violation(
                "C5", ERROR, (node.name,), "kafka_cluster_id", "the cluster id has the wrong form", repr(value),
                "empty, or 16 bytes in URL-safe base64 without padding (22 characters)",
                "make one with 'kafka-storage random-uuid', or leave it empty for a new cluster",
            )  # fmt: skip


def usable_cluster_id(value: str) -> bool:
    """True for the text form of a Kafka Uuid that Kafka does not keep for itself (org.apache.kafka.common.Uuid)."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{22}", value) or value in RESERVED_CLUSTER_IDS:
        return False
    try:
        return len(base64.urlsafe_b64decode(f"{value}==")) == 16
    except (ValueError, binascii.Error):
        return False


def cluster_agrees(inventory: Inventory) -> Iterator[Violation]:
    """C11: what belongs to the cluster has one value on all its nodes."""
    for cluster in inventory.clusters():
        for variable, level in SHARED.items():
            found = disagreement(cluster.nodes, variable)
            if found is not None:
                yield Violation(
                    "C11", level, cluster.hosts, variable, f"the nodes of cluster {cluster.name} disagree", found,
                    "one value for the whole cluster", f"set {variable} once, in the group_vars of the cluster",
                )  # fmt: skip


def disagreement(nodes: Iterable[Node], variable: str) -> str | None:
    """Who says what, when not all nodes that have the variable say the same; None when they agree.

    Of lists and dicts only the length is told: they may hold secrets.
    """
    said: list[Any] = []
    hosts: list[list[str]] = []
    for node in nodes:
        value = node.get(variable) if not (node.zookeeper and variable == "kafka_version") else None
        if value is None:
            continue
        if value not in said:
            said.append(value)
            hosts.append([])
        hosts[said.index(value)].append(node.name)
    if len(said) < 2:
        return None
    return "; ".join(
        f"{len(value)} entries on {', '.join(names)}"
        if isinstance(value, (list, dict))
        else f"{value} on {', '.join(names)}"
        for value, names in zip(said, hosts)  # noqa: B905  (strict= is newer than Python 3.8)
    )


RULES = (cluster_name, members, node_id_missing_or_bad, node_id_twice, mode, cluster_id, cluster_agrees)
