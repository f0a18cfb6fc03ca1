# SPDX-License-Identifier: GPL-3.0-or-later
"""Native properties, by table: one mistake in a good inventory gives exactly its own violation."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.definitions import Definition
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.rules.properties import MANAGED, refused_value
from tests.support.preflight_inventories import combined, config, ensemble, expect, isolated, node, only

GOOD: list[dict[str, Any]] = [
    {"num.io.threads": 8, "log.retention.hours": "168", "auto.create.topics.enable": False},
    {"super.users": "User:admin", "allow.everyone.if.no.acl.found": False},
    {"listener.name.client.ssl.client.auth": "required"},
    {"kafka.metrics.reporters": "x", "metric.reporters": "y"},
    {"num.io.threads": " 8 ", "log.retention.ms": -1, "auto.create.topics.enable": "FALSE"},
    {"num.network.threads": "${env:THREADS}", "log.cleanup.policy": "delete, compact"},
    {"listener.name.client.max.connections": 7, "log.cleaner.io.buffer.load.factor": "9e-1"},
]

BAD: list[tuple[dict[str, Any], str, list[str]]] = [
    (
        {"num.io.thread": 8},
        "unknown_property",
        ["kafka_config['num.io.thread']", "perhaps num.io.threads is meant", "silently"],
    ),
    (
        {"num.io.threads": "many"},
        "bad_property_value",
        ["kafka_config['num.io.threads']", "found: 'many'", "allowed: a whole number from 1 to 2147483647"],
    ),
    ({"num.io.threads": 0}, "bad_property_value", ["found: '0'", "from 1 to"]),
    ({"log.retention.ms": 1.0}, "bad_property_value", ["found: '1.0'", "a whole number from -9223372036854775808"]),
    ({"auto.create.topics.enable": "no"}, "bad_property_value", ["found: 'no'", "true or false"]),
    ({"compression.type": "gzipp"}, "bad_property_value", ["found: 'gzipp'", "one of gzip, lz4, producer"]),
    ({"log.cleanup.policy": "compact,drop"}, "bad_property_value", ["of compact, delete, each once"]),
    ({"listener.name.client.max.connections": "-1"}, "bad_property_value", ["client.max.connections", "'-1'"]),
    ({"replica.fetch.max.bytes": ""}, "bad_property_value", ["found: ''"]),
    ({"zzz": 8}, "unknown_property", ["correct it or remove it", "kafka_allow_unknown_config"]),
    ({"zookeeper.connect": "zk:2181"}, "removed_property", ["KRaft has no ZooKeeper", "kraft_controllers"]),
    ({"zookeeper.session.tmeout.ms": 1}, "removed_property", ["KRaft has no ZooKeeper"]),
    (
        {"inter.broker.protocol.version": "3.9"},
        "removed_property",
        ["KRaft does not read this key", "metadata.version"],
    ),
    ({"log.message.format.version": "3.0"}, "removed_property", ["Kafka 4.3.1 does not read this key any more"]),
    ({"leader.imbalance.per.broker.percentage": 5}, "removed_property", ["any more", "remove it"]),
]


#: Rules on a property of any node, each with what breaks it alone.
ANYWHERE: list[tuple[str, dict[str, Any]]] = [
    ("unknown_property", {"num.io.thread": 8}),
    ("managed_property", {"node.id": 7}),
    ("managed_property", {"listeners": "CLIENT://:9092"}),
    ("removed_property", {"zookeeper.connect": "zk:2181"}),
    ("wrong_type", {"num.io.threads": {"a": 1}}),
    ("wrong_type", {"num.io.threads": None}),
    ("bad_property_value", {"num.io.threads": "eight"}),
    ("weak_secret", {"ssl.key.password": "changeme"}),
    ("placeholder", {"ssl.truststore.location": "/CHANGE-ME"}),
    ("open_without_acl", {"allow.everyone.if.no.acl.found": "yes"}),
]
#: The same of what brokers alone read.
ON_BROKERS: list[tuple[str, dict[str, Any]]] = [
    ("more_replicas_than_brokers", {"default.replication.factor": 5}),
    ("more_internal_replicas_than_brokers", {"offsets.topic.replication.factor": 4}),
    ("few_replicas", {"offsets.topic.replication.factor": 2}),
    ("transaction_log_min_isr", {"transaction.state.log.min.isr": 4}),
    ("unclean_election", {"unclean.leader.election.enable": "TRUE"}),
    ("min_isr_above_replicas", {"min.insync.replicas": 4}),
    ("low_min_isr", {"min.insync.replicas": "1"}),
]
BROKERS = ["kafka_config", "kafka_broker_config"]


@pytest.mark.parametrize("variable", ["kafka_config", "kafka_broker_config", "kraft_controller_config"])
@pytest.mark.parametrize(("rule", "properties"), ANYWHERE)
def test_a_rule_judges_every_layer_and_names_the_one_it_found(
    rule: str, properties: dict[str, Any], variable: str
) -> None:
    found = only(isolated(**{variable: {**config(), **properties}}), rule)
    assert found.variable == f"{variable}['{next(iter(properties))}']"
    readers = {"kafka_broker_config": "broker", "kraft_controller_config": "controller"}
    if rule not in ("weak_secret", "placeholder"):
        assert all(host.startswith(readers.get(variable, "")) for host in found.hosts)
        assert len(found.hosts) == (3 if variable in readers else 6)


@pytest.mark.parametrize("inventory", [combined, isolated])
@pytest.mark.parametrize("variable", BROKERS)
@pytest.mark.parametrize(("rule", "properties"), ON_BROKERS)
def test_a_rule_on_brokers_judges_every_layer_of_theirs(
    rule: str, properties: dict[str, Any], variable: str, inventory: Any
) -> None:
    found = only(inventory(kafka_topics=[], **{variable: {**config(), **properties}}), rule)
    assert found.variable == f"{variable}['{next(iter(properties))}']"
    assert len(found.hosts) == 3


def test_a_mirror_and_a_server_of_zookeeper_have_properties_of_one_value_too() -> None:
    server = {"zookeeper_id": 1, "zookeeper_ensemble_config": {"tickTime": {}}, "zookeeper_version": "3.9.5"}
    zk = dataclasses.replace(node("zk1", 7, controller=False, broker=False, **server), zookeeper=True)
    inventory = combined()
    found = check_inventory(dataclasses.replace(inventory, nodes=(*inventory.nodes, zk)))
    assert "zookeeper_ensemble_config['tickTime']" in [one.variable for one in found if one.name == "wrong_type"]
    mirror = dataclasses.replace(
        node("m1", 8, controller=False, broker=False, mirror_maker_config={"a": None}), mirror=True
    )
    found = check_inventory(dataclasses.replace(inventory, mirrors=(mirror,)))
    assert "mirror_maker_config['a']" in [one.variable for one in found if one.name == "wrong_type"]


def test_properties_that_no_node_of_a_cluster_reads_are_named() -> None:
    lost = {"kraft_controller_config": {"metadata.max.idle.interval.ms": 1000}}
    expect(
        combined(**lost),
        "unread_properties",
        "kraft_controller_config",
        "metadata.max.idle.interval.ms",
        "allowed: kafka_config, kafka_broker_config",
        level="warning",
    )
    assert check_inventory(isolated(**lost)) == []


@pytest.mark.parametrize("properties", GOOD)
def test_good_properties_break_no_row(properties: dict[str, Any]) -> None:
    assert check_inventory(combined(kafka_config=properties)) == []


@pytest.mark.parametrize(("properties", "rule", "parts"), BAD)
def test_each_bad_property_is_named_alone(properties: dict[str, Any], rule: str, parts: list[str]) -> None:
    expect(combined(kafka_config=properties), rule, *parts)


@pytest.mark.parametrize("key", [key for key in MANAGED if not key.startswith("zookeeper.")])
def test_what_has_a_typed_variable_is_refused_as_a_property(key: str) -> None:
    expect(combined(kafka_config={key: "x"}), "managed_property", f"kafka_config['{key}']", f"use {MANAGED[key]}")


def test_keys_are_judged_by_the_wanted_version() -> None:
    removed = {"log.message.format.version": "3.0"}
    assert check_inventory(combined(kafka_version="3.9.2", kafka_config=removed)) == []


def test_a_key_that_only_a_newer_version_knows_says_which() -> None:
    newer = {"share.coordinator.threads": 2}
    expect(
        combined(kafka_version="3.9.2", kafka_config=newer),
        "unknown_property",
        "Kafka 3.9.2 does not know",
        "or use Kafka 4.4.0, the newest that knows it",
    )


def test_values_are_judged_by_the_wanted_version() -> None:
    twice = {"metric.reporters": "x,x"}
    assert check_inventory(combined(kafka_version="3.9.2", kafka_config=twice)) == []
    expect(combined(kafka_config=twice), "bad_property_value", "allowed: a list with commas, each once")


def test_a_value_that_a_later_layer_replaces_is_not_judged_and_a_secret_is_not_shown() -> None:
    assert (
        check_inventory(combined(kafka_config={"num.io.threads": 0}, kafka_broker_config={"num.io.threads": 8})) == []
    )
    definition = Definition("STRING", empty=False)
    assert list(refused_value("ssl.key.password", "", definition)) == [("a secret", "text that is not empty")]


def test_a_key_that_the_version_no_longer_reads_can_be_allowed_and_one_of_zookeeper_cannot() -> None:
    old = {"kafka_config": config(**{"share.fetch.max.fetch.records": 9}), "kafka_version": "4.3.1"}
    only(combined(**old), "removed_property")
    assert check_inventory(combined(**old, kafka_allow_unknown_config=["share.fetch.max.fetch.records"])) == []
    gone = {"kafka_config": config(**{"zookeeper.connect": "zk:2181"})}
    only(combined(**gone, kafka_allow_unknown_config=["zookeeper.connect"]), "removed_property")


def test_a_key_of_a_plugin_can_be_allowed_by_name() -> None:
    assert check_inventory(combined(kafka_config={"my.plugin.x": 1}, kafka_allow_unknown_config=["my.plugin.x"])) == []


MODES = [combined, isolated, ensemble]
SWITCHES = ["log.cleaner.enable", "controlled.shutdown.enable"]


@pytest.mark.parametrize("make", MODES)
@pytest.mark.parametrize("key", SWITCHES)
@pytest.mark.parametrize("value", [False, "false", "FALSE"])
def test_what_a_cluster_lives_by_is_on(make: Callable[..., Inventory], key: str, value: Any) -> None:
    expect(make(kafka_config=config(**{key: value})), "switched_off", f"kafka_config['{key}']", "allowed: true")


@pytest.mark.parametrize("key", SWITCHES)
def test_a_switch_may_be_written(key: str) -> None:
    assert check_inventory(combined(kafka_config=config(**{key: "true"}))) == []


def test_in_development_it_is_a_warning() -> None:
    inventory = combined(kafka_profile="development", kafka_config=config(log_cleaner_enable=False))
    expect(inventory, "switched_off", level="warning")
