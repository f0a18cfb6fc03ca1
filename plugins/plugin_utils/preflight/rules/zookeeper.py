# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on ensembles of ZooKeeper and on the brokers that use them: ids, sizes, versions, groups."""

from __future__ import annotations

from collections.abc import Iterator

from ....module_utils._migration.troubles import RELEASE
from ....module_utils._release.releases import WITH_ZOOKEEPER, like, newest_that_runs
from ...inventory.model import ZOOKEEPER_GROUP, Cluster, Inventory, Node
from ...inventory.nodes import ZOOKEEPER_MODE
from ...inventory.variables import UNDEFINED, as_bool, as_int, names
from ..by_value import by_value
from ..ensemble_disks import MAX_ID
from ..rule import BY_PROFILE, WARNING, Problem, rule
from .properties import managed
from .replication import is_weak_quorum, survives

SUPPORTED = ("3.9.5", "3.8.6")
# What the role writes itself, with the variable that says it.
MANAGED = {
    "dataDir": "zookeeper_data_dir",
    "dataLogDir": "zookeeper_data_log_dir",
    "clientPortAddress": "zookeeper_host",
    "clientPort": "zookeeper_client_port",
    "secureClientPort": "zookeeper_client_port and zookeeper_tls",
    "reconfigEnabled": "the group zookeeper: members change by playbooks/zookeeper_members.yml",
}
_SECURE = "set zookeeper_tls and zookeeper_password (from the vault)"


@rule(
    variable="zookeeper_id",
    allowed=f"a whole number from 1 to {MAX_ID}",
    fix="set zookeeper_id as a host variable and never change it",
)
def bad_zookeeper_id(inventory: Inventory) -> Iterator[Problem]:
    """`zookeeper_id` is missing or outside 1 to 255."""
    for node in inventory.nodes:
        value = node.variables.get("zookeeper_id")
        number = as_int(value)
        if node.zookeeper and value is not UNDEFINED and not (number is not None and 1 <= number <= MAX_ID):
            yield Problem(node, "the server has no usable id", "nothing" if value is None else repr(str(value)))


@rule(variable="zookeeper_id", fix="give the newer one an unused id; never change that of a server with data")
def duplicate_zookeeper_id(inventory: Inventory) -> Iterator[Problem]:
    """Two servers of one ensemble have the same `zookeeper_id`."""
    for cluster in inventory.clusters():
        by_id: dict[int, list[Node]] = {}
        for node in cluster.zookeepers:
            number = as_int(node.get("zookeeper_id"))
            if number is not None:
                by_id.setdefault(number, []).append(node)
        for number, nodes in sorted(by_id.items()):
            if len(nodes) > 1:
                yield Problem(nodes, "several servers of one ensemble have the same id", number)


@rule(
    variable=ZOOKEEPER_GROUP,
    allowed="an odd number from 3 on",
    fix="run 3 servers, or 5 to survive the loss of two; one alone is for kafka_profile development",
    level=BY_PROFILE,
    acceptable=True,
)
def even_ensemble(inventory: Inventory) -> Iterator[Problem]:
    """An ensemble has an even number of servers, which survives no more than one fewer, or fewer than 3."""
    for cluster in inventory.clusters():
        count = len(cluster.zookeepers)
        resizing = any(as_bool(node.get("zookeeper_resizing")) for node in cluster.zookeepers)
        if is_weak_quorum(count) and not resizing:
            what = f"the ensemble of cluster {cluster.name} {survives(count, ' servers')}"
            yield Problem(cluster.zookeepers, what, f"{count} servers")


@rule(variable="zookeeper_leaving", fix="correct the name, or remove it")
def unknown_leaving_server(inventory: Inventory) -> Iterator[Problem]:
    """`zookeeper_leaving` names a host that is not in the ensemble, so no server would leave."""
    servers = [node.name for node in inventory.nodes if node.zookeeper]
    for listed, nodes in by_value(inventory.nodes, "zookeeper_leaving"):
        for name in names(listed):
            if name not in servers:
                what = "zookeeper_leaving names a host that is not in the ensemble"
                yield Problem(nodes, what, repr(name), ", ".join(servers) or "no host, since there is no ensemble")


@rule(variable=ZOOKEEPER_GROUP, fix="name a second host with the same ansible_host for the other process")
def zookeeper_and_kafka_on_one_host(inventory: Inventory) -> Iterator[Problem]:
    """A host is a server of ZooKeeper and a node of Kafka."""
    for node in inventory.nodes:
        if node.zookeeper and (node.broker or node.controller):
            yield Problem(node, "the host is a server of ZooKeeper and a node of Kafka", "in both groups")


def _brokers(cluster: Cluster) -> list[Node]:
    """The brokers of a cluster that use ZooKeeper."""
    return [node for node in cluster.brokers if node.get("kafka_mode") == ZOOKEEPER_MODE]


@rule(
    variable="kafka_mode",
    fix=(
        "take them out of the group, or choose a mode of KRaft for a cluster that has no data yet; a migration has "
        f"controllers on hosts of their own, and Kafka {RELEASE} on every node (docs/migrate-to-kraft.md)"
    ),
)
def zookeeper_mode_with_controllers(inventory: Inventory) -> Iterator[Problem]:
    """A cluster in mode `zookeeper` has controllers of KRaft, as on its way to KRaft, but one of them is a broker too
    (KIP-866), or its Kafka is not 3.9.2, the only release that this collection migrates with."""
    for cluster in inventory.clusters():
        if not _brokers(cluster) or not cluster.controllers:
            continue
        combined = [node for node in cluster.controllers if node.broker]
        if combined:
            what = "mode zookeeper has no combined nodes, during a migration to KRaft either"
            yield Problem(combined, what, "hosts in kraft_controllers and kafka_brokers")
        others = [node for node in cluster.nodes if not node.zookeeper and node.text("kafka_version") != RELEASE]
        if others:
            what = "controllers come to a cluster in mode zookeeper by a migration, which this release has no part in"
            yield Problem(others, what, others[0].text("kafka_version"), RELEASE)


@rule(
    variable="kafka_version",
    fix=f"set kafka_version to {newest_that_runs(WITH_ZOOKEEPER).version}, the last line with ZooKeeper, or use KRaft",
)
def zookeeper_mode_without_support(inventory: Inventory) -> Iterator[Problem]:
    """A cluster in mode `zookeeper` has a Kafka version that cannot use ZooKeeper."""
    for cluster in inventory.clusters():
        for node in _brokers(cluster):
            version = node.text("kafka_version")
            known = like(version)
            if known is None or WITH_ZOOKEEPER not in known.runs:
                yield Problem(node, "this Kafka version cannot use ZooKeeper", version)


@rule(
    variable="kafka_mode",
    fix="set kafka_mode to zookeeper, or remove the servers from the inventory",
    level=WARNING,
)
def unused_ensemble(inventory: Inventory) -> Iterator[Problem]:
    """A cluster has servers of ZooKeeper, but its brokers are not in mode `zookeeper`."""
    for cluster in inventory.clusters():
        if cluster.zookeepers and cluster.brokers and not _brokers(cluster):
            what = "the brokers of this cluster do not use its ensemble"
            yield Problem(cluster.zookeepers, what, cluster.brokers[0].text("kafka_mode"))


@rule(
    variable="zookeeper_version",
    allowed=f"one of {', '.join(SUPPORTED)}",
    fix="choose one of them; older ones have known vulnerabilities",
)
def unsupported_zookeeper_version(inventory: Inventory) -> Iterator[Problem]:
    """This collection does not support the `zookeeper_version`."""
    for node in inventory.nodes:
        value = node.text("zookeeper_version")
        if node.zookeeper and value and value not in SUPPORTED:
            yield Problem(node, "this ZooKeeper version is not supported", repr(value))


@rule(fix="remove the property and set the variable")
def managed_zookeeper_property(inventory: Inventory) -> Iterator[Problem]:
    """`zookeeper_ensemble_config` has a property that the collection writes from a variable of its own."""
    for node in inventory.nodes:
        for one in node.written() if node.zookeeper else ():
            if one.key in MANAGED or one.key.startswith("server."):
                yield managed(node, one.variable, one.key, MANAGED.get(one.key, "the group zookeeper"))


@rule(variable="zookeeper_tls", fix=_SECURE)
def half_secured_zookeeper(inventory: Inventory) -> Iterator[Problem]:
    """Only one of `zookeeper_tls` and `zookeeper_password` is set: a login needs TLS, TLS alone asks for no login."""
    for node in _parties(inventory):
        tls, password = as_bool(node.get("zookeeper_tls")), bool(node.text("zookeeper_password"))
        if tls != password:
            found = "TLS without a login" if tls else "a login without TLS"
            yield Problem(node, "one half of securing ZooKeeper is missing", found)


@rule(variable="kafka_authorizer", fix=_SECURE, acceptable=True)
def unprotected_acls(inventory: Inventory) -> Iterator[Problem]:
    """The cluster has an authorizer, but its ZooKeeper is not secured, so any client may write the ACLs."""
    for node in _parties(inventory):
        secured = as_bool(node.get("zookeeper_tls")) or node.text("zookeeper_password")
        if not secured and as_bool(node.get("kafka_authorizer")):
            what = "any client may write the ACLs, since ZooKeeper asks for no login"
            yield Problem(node, what, "kafka_authorizer without zookeeper_tls")


@rule(fix="set the variable once, in the group_vars of the cluster")
def zookeeper_sessions_disagree(inventory: Inventory) -> Iterator[Problem]:
    """The brokers, the controllers of a migration and the servers of a cluster have different `zookeeper_tls`,
    `zookeeper_user` or `zookeeper_password`, or its brokers and controllers different `zookeeper_chroot`: who may not
    change what brokers wrote fails in the middle of a migration (NoAuthException), and who looks below another path
    migrates another cluster."""
    for cluster in inventory.clusters():
        users = _users(cluster)
        for variable in ("zookeeper_chroot", "zookeeper_tls", "zookeeper_user", "zookeeper_password"):
            nodes = users if variable == "zookeeper_chroot" or not users else [*users, *cluster.zookeepers]
            known = [node for node in nodes if node.variables.get(variable) is not UNDEFINED]
            values = [(node, _as_compared(node, variable)) for node in known]
            differing = [node.name for node, value in values if value != values[0][1]]
            if differing:
                where = f"another value on {', '.join(differing)} than on {values[0][0].name}"
                yield Problem(cluster, "the nodes of the cluster disagree", where, variable=variable)


def _as_compared(node: Node, variable: str) -> str | bool | None:
    if variable == "zookeeper_tls":
        return as_bool(node.get(variable))
    return node.text(variable).strip("/") if variable == "zookeeper_chroot" else node.text(variable)


def _users(cluster: Cluster) -> list[Node]:
    """The brokers that use ZooKeeper, and the controllers that come to them."""
    brokers = _brokers(cluster)
    others = [node for node in cluster.controllers if not node.broker] if brokers else []
    return [*brokers, *others]


def _parties(inventory: Inventory) -> Iterator[Node]:
    """The servers of ZooKeeper and the nodes that use them."""
    for cluster in inventory.clusters():
        yield from _users(cluster)
        yield from cluster.zookeepers
