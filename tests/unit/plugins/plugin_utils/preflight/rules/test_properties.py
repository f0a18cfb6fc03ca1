# SPDX-License-Identifier: GPL-3.0-or-later
"""kafka_config, by table: one mistake in a good inventory gives exactly its own violation."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.keys import BROKER_KEYS, TOPIC_KEYS
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.rules.properties import MANAGED
from tests.support.preflight_inventories import combined, expect

GOOD: list[dict[str, Any]] = [
    {"num.io.threads": 8, "log.retention.hours": "168", "auto.create.topics.enable": False},
    {"super.users": "User:admin", "allow.everyone.if.no.acl.found": False},
    {"listener.name.client.ssl.client.auth": "required"},
    {"kafka.metrics.reporters": "x", "metric.reporters": "y"},
]

BAD: list[tuple[dict[str, Any], str, list[str]]] = [
    (
        {"num.io.thread": 8},
        "unknown_property",
        ["kafka_config['num.io.thread']", "perhaps num.io.threads is meant", "silently"],
    ),
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
        "or use Kafka 4.3.1",
    )


def test_a_key_of_a_plugin_can_be_allowed_by_name() -> None:
    assert check_inventory(combined(kafka_config={"my.plugin.x": 1}, kafka_allow_unknown_config=["my.plugin.x"])) == []


def test_both_versions_have_their_key_lists() -> None:
    assert BROKER_KEYS.keys() == TOPIC_KEYS.keys() == {"3.9.2", "4.3.1"}
    assert all("num.io.threads" in keys for keys in BROKER_KEYS.values())
    assert all("retention.ms" in keys for keys in TOPIC_KEYS.values())
