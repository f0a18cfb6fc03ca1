# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on native properties: unknown keys, keys with a typed variable, bad values, fatal switches."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from ....module_utils._configs.values import without_listener
from ....module_utils._core.properties import is_secret, value_text
from ....module_utils._release.releases import release, releases
from ...inventory.model import Inventory, Node
from ...inventory.properties import LAYERS, Property, layers
from ...inventory.variables import known
from ...specs import advice
from ..definitions import BROKER_KEYS, TOPIC_KEYS, Definition
from ..in_force import brokers
from ..rule import BY_PROFILE, WARNING, Problem, rule

# What the collection writes itself, with the variable that says it. Nothing is set in two places.
MANAGED = {
    "node.id": "kafka_node_id",
    "broker.id": "kafka_node_id",
    "process.roles": "the groups kraft_controllers and kafka_brokers",
    "listeners": "kafka_listeners",
    "advertised.listeners": "kafka_listeners",
    "listener.security.protocol.map": "kafka_listeners",
    "inter.broker.listener.name": "kafka_listeners (purpose brokers)",
    "security.inter.broker.protocol": "kafka_listeners (purpose brokers)",
    "controller.listener.names": "kafka_listeners (purpose controllers)",
    "log.dirs": "kafka_log_dirs or kafka_data_dir",
    "log.dir": "kafka_log_dirs or kafka_data_dir",
    "metadata.log.dir": "kafka_metadata_log_dir",
    "controller.quorum.voters": "the group kraft_controllers",
    "controller.quorum.bootstrap.servers": "the group kraft_controllers",
    "broker.rack": "kafka_rack",
    "zookeeper.connect": "the group zookeeper and zookeeper_chroot",
}
# Keys that Kafka hands to plugins or reads itself outside of KafkaConfig (authorizer: KIP-801).
PLUGIN_PREFIXES = ("listener.name.", "config.providers.", "rsm.config.", "rlmm.config.", "kafka.csv.metrics.")
PLUGIN_KEYS = ("super.users", "allow.everyone.if.no.acl.found")
# What a configuration provider puts in when Kafka starts, ${file:/etc/secrets:password} (KIP-297).
REFERENCE = re.compile(r"\$\{[^}]*:[^}]*\}")
# Keys that KRaft never reads, with what to do instead. ZooKeeper's have a prefix.
NOT_IN_KRAFT = {
    "inter.broker.protocol.version": "raise the feature metadata.version after an upgrade",
    "control.plane.listener.name": "give kafka_listeners one with purpose controllers",
    "broker.id.generation.enable": "set kafka_node_id on every host",
    "reserved.broker.max.id": "KRaft has no such limit",
}
REPLACEMENTS = {
    "log.message.format.version": "the format follows the feature metadata.version",
    "log.message.timestamp.difference.max.ms": "use log.message.timestamp.before.max.ms and its sibling with after",
    "group.coordinator.new.enable": "the new coordinator is the only one",
    "delegation.token.master.key": "use delegation.token.secret.key",
    "eligible.leader.replicas.enable": "set the feature eligible.leader.replicas.version",
    "auto.include.jmx.reporter": "use metric.reporters",
    "group.share.enable": "set the feature share.version",
}


@rule(fix="remove the property and set the variable")
def managed_property(inventory: Inventory) -> Iterator[Problem]:
    """A native property of a node (`kafka_config`, `kafka_broker_config`, `kraft_controller_config`) is one that the
    collection writes from a variable of its own; the message names it."""
    for node, one in _written(inventory):
        kraft = node.text("kafka_mode").startswith("kraft_")
        if one.key in MANAGED and not (kraft and one.key.startswith("zookeeper.")):
            yield managed(node, one.variable, one.key, MANAGED[one.key])


def managed(where: object, variable: str, key: str, instead: str) -> Problem:
    """The complaint that a raw property stands beside what says the same."""
    what = "the collection writes this property itself"
    return Problem(where, what, key, fix=f"remove it and use {instead}", variable=variable)


@rule(fix="remove it")
def removed_property(inventory: Inventory) -> Iterator[Problem]:
    """A native property of a node has a key that this version or KRaft no longer reads; the message names what
    replaced it. One that only the version no longer reads may be listed in `kafka_allow_unknown_config`."""
    for node, one in _written(inventory):
        reason = _gone(one.key, node)
        if reason is not None and (one.key not in MANAGED or one.key.startswith("zookeeper.")):
            what, instead = reason
            fix = f"remove it; {instead}" if instead else None
            yield Problem(node, what, one.key, fix=fix, variable=one.variable)


@rule(
    allowed="a broker key of this version, or one named in kafka_allow_unknown_config",
    fix="correct the key, or list it in kafka_allow_unknown_config when a plugin reads it",
)
def unknown_property(inventory: Inventory) -> Iterator[Problem]:
    """A native property of a node has a key that this Kafka version does not know and would ignore silently."""
    for node, one in _written(inventory):
        key = one.key
        version = node.text("kafka_version")
        keys = BROKER_KEYS.get(version)
        if keys is None or _is_known(node, key, keys) or _gone(key, node) is not None:
            continue
        plugin = f"{advice(key, keys)}, or list it in kafka_allow_unknown_config when a plugin reads it"
        yield Problem(
            node,
            f"Kafka {version} does not know this key and would ignore it silently",
            found=key,
            fix=_later(key) or plugin,
            variable=one.variable,
        )


@rule(fix="correct the value, or remove the key to get the default")
def bad_property_value(inventory: Inventory) -> Iterator[Problem]:
    """A native property of a node has a value that its Kafka version refuses when it starts: not of the key's type, out
    of its range, or none of its words. Booleans are `true` or `false` there."""
    for node in inventory.kafka:
        keys = BROKER_KEYS.get(node.text("kafka_version"), {})
        for one in node.properties().values():
            if one.key not in MANAGED:
                definition = keys.get(without_listener(one.key))
                for found, allowed in refused_value(one.key, one.value, definition):
                    what = "Kafka refuses this value and would not start"
                    yield Problem(node, what, found, allowed, variable=one.variable)


def refused_value(key: str, value: Any, definition: Definition | None) -> Iterator[tuple[str, str]]:
    """Yield what is found and allowed where Kafka refuses the value of a key; another rule names lists and dicts."""
    if definition is None or value is None or isinstance(value, (list, tuple, Mapping)):
        return
    text = value_text(key, value)
    if not (REFERENCE.search(text) or definition.takes(text)):
        yield "a secret" if is_secret(key) else repr(text), definition.allowed


@rule(level=WARNING, fix="move its properties to a variable that these hosts read, or remove it")
def unread_properties(inventory: Inventory) -> Iterator[Problem]:
    """`kraft_controller_config` is set in a cluster of combined nodes, which are brokers and do not read it."""
    variables = dict.fromkeys(name for kind in ("broker", "controller") for name in LAYERS[kind])
    for cluster in inventory.clusters():
        nodes = [node for node in cluster.nodes if not node.zookeeper]
        read = dict.fromkeys(name for node in nodes for name in layers(node.roles))
        for name in variables if read else ():
            holders = [node for node in nodes if node.get(name)]
            if holders and name not in read:
                found = ", ".join(known(holders[0].get(name)))
                what = f"no node of cluster {cluster.name} reads these native properties"
                yield Problem(holders, what, found, ", ".join(read), variable=name)


def _is_allowed(node: Node, key: str) -> bool:
    return key in node.names("kafka_allow_unknown_config")


def _is_known(node: Node, key: str, keys: Collection[str]) -> bool:
    known = key in keys or key in PLUGIN_KEYS or key in MANAGED or key.startswith(PLUGIN_PREFIXES)
    return known or _is_allowed(node, key)


def _gone(key: str, node: Node) -> tuple[str, str] | None:
    """Return why the node's Kafka no longer reads a key, with what replaced it; None when it does or never did."""
    version, mode = node.text("kafka_version"), node.text("kafka_mode")
    if mode.startswith("kraft_") and key.startswith("zookeeper."):
        return "KRaft has no ZooKeeper", "the controllers are the group kraft_controllers"
    if mode.startswith("kraft_") and key in NOT_IN_KRAFT:
        return "KRaft does not read this key", NOT_IN_KRAFT[key]
    if _is_allowed(node, key):
        return None
    if version in BROKER_KEYS and key not in BROKER_KEYS[version] and _older_know(key, version):
        return f"Kafka {version} does not read this key any more", REPLACEMENTS.get(key, "")
    return None


def _older_know(key: str, version: str) -> bool:
    """Return whether a supported version before this one knows a key."""
    return any(key in BROKER_KEYS[one.version] for one in releases() if one.numbers < release(version).numbers)


def _later(key: str) -> str:
    """The advice for a key that only other supported versions know."""
    having = [one.version for one in releases() if key in BROKER_KEYS[one.version]]
    return f"remove it, or use Kafka {having[0]}, the newest that knows it" if having else ""


def _written(inventory: Inventory) -> Iterator[tuple[Node, Property]]:
    for node in inventory.kafka:
        for one in node.written():
            yield node, one


def refused_by(kind: str, key: str, value: Any, runs: Sequence[str], target: str) -> Iterator[tuple[str, str]]:
    """Say why a release does not take a property, each with its fix; kind is broker or topic, runs what runs now."""
    tables = TOPIC_KEYS if kind == "topic" else BROKER_KEYS
    keys = tables.get(target, {})
    if keys and key not in keys and any(key in tables.get(one, {}) for one in runs):
        instead = f"; {REPLACEMENTS[key]}" if key in REPLACEMENTS else ""
        yield f"Kafka {target} does not read {key}", f"remove it before{instead}"
    for shown, allowed in refused_value(key, value, keys.get(without_listener(key))):
        yield f"Kafka {target} refuses {shown} as {key}", f"set it to {allowed}"


#: What ends with these switched off.
SWITCHES = {
    "log.cleaner.enable": "compacted topics, those of groups and transactions too, grow until the disk is full",
    "controlled.shutdown.enable": "each restart leaves partitions without a leader until the broker is missed",
}


@rule(fix="remove it", allowed="true", level=BY_PROFILE, acceptable=True)
def switched_off(inventory: Inventory) -> Iterator[Problem]:
    """`log.cleaner.enable` or `controlled.shutdown.enable` is false: compacted topics (those of groups and transactions
    too) fill the disk, or each restart leaves partitions without a leader."""
    for node in brokers(inventory):
        own = node.properties()
        for key, what in SWITCHES.items():
            if key in own and str(own[key].value).strip().lower() == "false":
                yield Problem(node, what, f"{key} false", variable=own[key].variable)
