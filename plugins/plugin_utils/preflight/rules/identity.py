# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on who is who: clusters, node ids, modes, and what the nodes of a cluster must agree on."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from ...inventory.model import BROKER_GROUP, CONTROLLER_GROUP, GROUPS, NO_CLUSTER, ZOOKEEPER_GROUP, Inventory, Node
from ...inventory.nodes import ZOOKEEPER_MODE
from ...inventory.variables import UNDEFINED, as_int, entries
from ..by_value import by_value, disagreement
from ..rule import ERROR, WARNING, Problem, rule
from .replication import leaves

MODES = ("kraft_combined", "kraft_isolated", ZOOKEEPER_MODE)
# Node ids are Java ints on the wire.
MAX_NODE_ID = 2**31 - 1
# Kafka keeps these for itself: Uuid.ZERO_UUID, and Uuid.ONE_UUID = Uuid.METADATA_TOPIC_ID.
RESERVED_CLUSTER_IDS = ("AAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAQ")
# Names of directories, of units, and of entries in lists with commas.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
# What would name a group of the inventory: kafka_brokers_group.
GROUP_VARIABLE = re.compile(r"(kafka|kraft|preflight)_(brokers|controllers|zookeeper|mirror_makers)_group")
# What makes one cluster of several nodes: variable -> level of a disagreement. Versions differ while one node is
# tried first with a new one.
SHARED = {
    "kafka_mode": ERROR,
    "kafka_cluster_id": ERROR,
    "kafka_profile": ERROR,
    "kafka_topics": ERROR,
    "kafka_survive_rack_loss": ERROR,
    "kafka_version": WARNING,
}


@rule(
    variable="kafka_cluster_name",
    allowed="a name, the same on all nodes of a cluster",
    fix="set kafka_cluster_name in the group_vars of the cluster",
)
def no_cluster_name(inventory: Inventory) -> Iterator[Problem]:
    """A host has no `kafka_cluster_name` (of a mirror: the cluster that it mirrors into)."""
    for node in inventory.processes:
        if node.cluster == NO_CLUSTER and node.variables.get("kafka_cluster_name") is not UNDEFINED:
            yield Problem(node, "the host belongs to no cluster", "nothing")


@rule(allowed="letters, digits, dot, hyphen and underscore, the first a letter or a digit", fix="choose another name")
def bad_name(inventory: Inventory) -> Iterator[Problem]:
    """The name of a host, or `kafka_cluster_name`, cannot be the name of a directory, of a unit and of an entry in a
    list: `..`, `a/b`, `-k1`, `k,1`, `k 1`."""
    for node in inventory.processes:
        if not NAME.fullmatch(node.name):
            what = "the host's name cannot be the name of a directory and a unit"
            fix = "rename it in the inventory and write its address as ansible_host"
            yield Problem(node, what, repr(node.name), variable="inventory_hostname", fix=fix)
        cluster = node.get("kafka_cluster_name")
        if node.cluster != NO_CLUSTER and not NAME.fullmatch(str(cluster)):
            what = "the cluster's name cannot be the name of a directory"
            yield Problem(node, what, repr(str(cluster)), variable="kafka_cluster_name")


def _group_of(variable: str) -> str:
    """Return the fixed name of the group that a GROUP_VARIABLE means."""
    return next(name for name in GROUPS.values() if name.endswith(variable.split("_", 1)[1].removesuffix("_group")))


@rule(fix="remove the variable, and make your group a child of the allowed one")
def group_named_by_variable(inventory: Inventory) -> Iterator[Problem]:
    """A variable such as `kafka_brokers_group` names a group of the inventory. The names of the groups are fixed, since
    Ansible chooses the hosts of a play before it knows their variables; a group of your own is a child of one of
    them."""
    for node in inventory.processes:
        for variable in filter(GROUP_VARIABLE.fullmatch, node.variables):
            group = _group_of(variable)
            yield Problem(
                node,
                "the names of the groups are fixed, and nothing reads this variable",
                found=node.get(variable),
                allowed=f"{group}: {{children: {{{node.get(variable)}: {{}}}}}}",
                variable=variable,
            )


@rule(
    variable="kafka_cluster_name",
    fix="add hosts of this cluster to the group, or correct kafka_cluster_name",
)
def incomplete_cluster(inventory: Inventory) -> Iterator[Problem]:
    """A cluster has no brokers, or no controllers (in mode `zookeeper`: no servers of ZooKeeper)."""
    for cluster in inventory.clusters():
        if cluster.zookeepers and not cluster.brokers and not cluster.controllers:
            continue  # An ensemble alone, for clients that are none of ours.
        quorum = (CONTROLLER_GROUP, cluster.controllers)
        if cluster.nodes[0].get("kafka_mode") == ZOOKEEPER_MODE:
            quorum = (ZOOKEEPER_GROUP, cluster.zookeepers)
        for group, nodes in (quorum, (BROKER_GROUP, cluster.brokers)):
            if not nodes:
                yield Problem(cluster, f"cluster {cluster.name} has no host in group {group}", "0 hosts")


@rule(
    variable="kafka_node_id",
    allowed=f"a whole number from 0 to {MAX_NODE_ID}",
    fix="set kafka_node_id as a host variable and never change it",
)
def bad_node_id(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_node_id` is missing, no whole number, or negative."""
    for node in inventory.kafka:
        value = node.variables.get("kafka_node_id")
        number = as_int(value)
        if value is UNDEFINED or (number is not None and 0 <= number <= MAX_NODE_ID):
            continue
        if value is None:
            yield Problem(node, "the node has no id", "nothing")
        else:
            yield Problem(node, "the node id is not a usable number", repr(str(value)))


@rule(
    variable="kafka_node_id",
    allowed="an id that no other broker or controller of the cluster has",
    fix="give the newer node an unused id; never change the id of a node that holds data",
)
def duplicate_node_id(inventory: Inventory) -> Iterator[Problem]:
    """Two nodes of a cluster have the same `kafka_node_id`; controllers and brokers share one range of ids."""
    for cluster in inventory.clusters():
        by_id: dict[int, list[Node]] = {}
        for node in (*cluster.controllers, *(one for one in cluster.brokers if not one.controller)):
            number = as_int(node.get("kafka_node_id"))
            if number is not None:
                by_id.setdefault(number, []).append(node)
        for number, nodes in sorted(by_id.items()):
            if len(nodes) > 1:
                yield Problem(nodes, f"{len(nodes)} nodes of cluster {cluster.name} have the same node id", number)


@rule(
    variable="kafka_accept_missing_nodes",
    allowed="ids of nodes, as their kafka_node_id has them",
    fix="write each id, such as [4, 5], or remove the variable",
)
def bad_missing_nodes(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_accept_missing_nodes` names what is no node id, such as the name of a host."""
    for given, nodes in by_value(inventory.kafka, "kafka_accept_missing_nodes"):
        bad = [one for one in entries(given) if as_int(one) is None]
        if bad:
            yield Problem(nodes, "a node that may be missing is named by its id", ", ".join(map(repr, bad)))


@rule(variable="kafka_mode", fix=f"set it to one of {', '.join(MODES)}")
def wrong_mode(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_mode` is unknown, or the groups of a host contradict it. Controllers that a run of voters.yml takes out
    may be of the other kind: on the way from one mode to the other both are there."""
    for node in inventory.nodes:
        value = node.variables.get("kafka_mode")
        if value is UNDEFINED:
            continue
        if value not in MODES:
            yield Problem(node, "the mode is not known", repr(str(value or "")), f"one of {', '.join(MODES)}")
        elif leaves(node):
            continue
        elif value == "kraft_isolated" and node.controller and node.broker:
            yield Problem(
                node,
                "kraft_isolated: no host may be controller and broker at once",
                found=f"in {CONTROLLER_GROUP} and {BROKER_GROUP}",
                allowed="each host in one of the two groups",
                fix="remove the host from one group, or use kraft_combined",
            )
        elif value == "kraft_combined" and node.controller and not node.broker:
            yield Problem(
                node,
                "kraft_combined: every controller must also be a broker",
                found=f"in {CONTROLLER_GROUP} only",
                allowed="every controller in both groups",
                fix=f"add the host to {BROKER_GROUP}, or use kraft_isolated",
            )


@rule(
    variable="kafka_cluster_id",
    allowed="empty, or 16 bytes in URL-safe base64 without padding (22 characters)",
    fix="make one with 'kafka-storage random-uuid', or leave it empty for a new cluster",
)
def bad_cluster_id(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_cluster_id` is no Kafka Uuid (22 characters of URL-safe base64, 16 bytes), or one Kafka reserves."""
    for node in inventory.nodes:
        value = node.text("kafka_cluster_id")
        if value and not usable_cluster_id(value):
            yield Problem(node, "the cluster id has the wrong form", repr(value))


def usable_cluster_id(value: str) -> bool:
    """True for the text form of a Kafka Uuid that Kafka does not keep for itself (org.apache.kafka.common.Uuid)."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{22}", value) or value in RESERVED_CLUSTER_IDS:
        return False
    try:
        return len(base64.urlsafe_b64decode(f"{value}==")) == 16
    except (ValueError, binascii.Error):
        return False


@rule(fix="set the variable once, in the group_vars of the cluster")
def nodes_disagree(inventory: Inventory) -> Iterator[Problem]:
    """The nodes of a cluster have different modes, ids, profiles or topics, or not all want `kafka_survive_rack_loss`.
    Different versions are a warning."""
    for cluster in inventory.clusters():
        for variable, level in SHARED.items():
            nodes = [node for node in cluster.nodes if not (node.zookeeper and variable == "kafka_version")]
            found = disagreement(nodes, variable)
            if found is not None:
                what = f"the nodes of cluster {cluster.name} disagree"
                yield Problem(cluster, what, found, variable=variable, level=level)
