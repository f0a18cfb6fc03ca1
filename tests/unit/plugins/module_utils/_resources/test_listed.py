# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cluster holds becomes lists by which the modules would change nothing."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._acls.entries import Binding, parse_entries
from ansible_collections.streamops.kafka.plugins.module_utils._acls.plan import plan_acls
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import partition_of
from ansible_collections.streamops.kafka.plugins.module_utils._configs.values import ConfigValue, TopicValue
from ansible_collections.streamops.kafka.plugins.module_utils._quotas.plan import Entity, parse_specs, plan_quotas
from ansible_collections.streamops.kafka.plugins.module_utils._resources.listed import (
    listed_acls,
    listed_quotas,
    listed_topics,
    listed_users,
    settings_of,
    settings_of_all,
)


def topic(name: str, *replicas: int) -> tuple[str, tuple[object, ...]]:
    """Return a topic whose partitions have so many replicas each."""
    held = (list(range(1, count + 1)) for count in replicas)
    return name, tuple(partition_of(name, at, 1, nodes, nodes, False) for at, nodes in enumerate(held))


def test_topics_have_their_partitions_replicas_and_own_settings() -> None:
    topics = dict(
        [topic("orders", 3, 3), topic("audit", 1), topic("__consumer_offsets", 3), topic("_streamops_state", 1)]
    )
    own = {"orders": {"retention.ms": TopicValue("1000", source="DYNAMIC_TOPIC")}, "audit": {}}
    assert listed_topics(topics, own) == (
        [
            {"name": "audit", "partitions": 1, "replication_factor": 1},
            {"name": "orders", "partitions": 2, "replication_factor": 3, "config": {"retention.ms": "1000"}},
        ],
        [],
    )


def test_a_topic_with_several_numbers_of_replicas_has_none_in_its_entry() -> None:
    topics = dict([topic("mixed", 3, 2), topic("moved", 4)])
    throttle = {"leader.replication.throttled.replicas": TopicValue("0:1", source="DYNAMIC_TOPIC")}
    listed = listed_topics(topics, {"moved": throttle}, moving={"moved"})
    assert listed.entries == [{"name": "mixed", "partitions": 2}, {"name": "moved", "partitions": 1}]
    assert listed.left == [
        "the partitions of topic mixed have 2, 3 replicas, so its replication_factor is left out",
        "topic moved is moved now, so its replication_factor is left out",
    ]


def test_where_moves_may_not_be_read_no_replication_factor_is_told() -> None:
    listed = listed_topics(dict([topic("a", 3), topic("moved", 4)]), {}, moving=None)
    assert listed.entries == [{"name": "a", "partitions": 1}, {"name": "moved", "partitions": 1}]
    assert listed.left == ["which topics are moved now is not known, so the replication_factor of each is left out"]


def test_users_have_no_password() -> None:
    held = listed_users({"b": {"SCRAM-SHA-512": 4096, "SCRAM-SHA-256": 8192}, "a": {"SCRAM-SHA-512": 8192}})
    assert [(entry["name"], entry["mechanism"]) for entry in held.entries] == [
        ("a", "SCRAM-SHA-512"), ("b", "SCRAM-SHA-256"), ("b", "SCRAM-SHA-512"),
    ]  # fmt: skip
    assert all(set(entry) == {"name", "mechanism", "iterations"} for entry in held.entries)


BINDINGS = [
    Binding("User:a", "*", "allow", "read", "topic", "orders", "literal"),
    Binding("User:a", "*", "allow", "describe", "topic", "orders", "literal"),
    Binding("User:a", "10.0.0.1", "deny", "read", "topic", "orders", "prefixed"),
    Binding("User:b", "*", "allow", "alter", "cluster", "kafka-cluster", "literal"),
    Binding("User:c", "0:0:0:0:0:0:0:1", "allow", "all", "group", "*", "literal"),
]


def test_acls_of_a_principal_on_a_resource_are_one_entry_and_mean_the_same() -> None:
    listed = listed_acls(BINDINGS)
    assert listed.entries[0] == {
        "principal": "User:a", "operations": ["describe", "read"], "resource_type": "topic", "resource": "orders",
    }  # fmt: skip
    assert len(listed.entries) == len(BINDINGS) - 1
    assert listed.left == []
    present, absent, wrong = parse_entries(listed.entries)
    plan = plan_acls(BINDINGS, present, absent, authoritative=True)
    assert (wrong, plan.add, plan.remove, plan.unchanged) == ([], (), (), len(BINDINGS))


@pytest.mark.parametrize(
    ("binding", "why"),
    [
        (BINDINGS[0]._replace(operation="15"), "operation 15 means nothing on a topic"),
        (BINDINGS[0]._replace(host="broker.example.com"), "Kafka compares no host names"),
        (BINDINGS[0]._replace(host="::1"), "kafka_acls would write its host otherwise"),
    ],
)
def test_an_acl_that_no_entry_keeps_is_named(binding: Binding, why: str) -> None:
    listed = listed_acls([binding])
    assert listed.entries == []
    assert why in listed.left[0]


QUOTAS: dict[Entity, dict[str, float]] = {
    (("user", None),): {"producer_byte_rate": 1048576.0},
    (("user", "12"), ("client-id", None)): {"request_percentage": 12.5},
    (("ip", "10.0.0.1"),): {"connection_creation_rate": 5.0},
}


def test_quotas_keep_their_limits() -> None:
    listed = listed_quotas(QUOTAS)
    assert listed.left == []
    assert {"user": "12", "client_id": "<default>", "request_percentage": 12.5} in listed.entries
    assert {"user": "<default>", "producer_byte_rate": 1048576} in listed.entries
    specs, wrong = parse_specs(listed.entries)
    plan = plan_quotas(QUOTAS, specs)
    assert (wrong, plan.alterations, plan.unchanged) == ([], {}, 3)


@pytest.mark.parametrize(
    ("entity", "limits", "why"),
    [
        ((("user", "a"),), {"producer_byte_rate": 0.0}, "more than 0 is needed"),
        ((("user", "a"),), {"a_new_rate": 1.0}, "a_new_rate is a limit that kafka_quotas does not know"),
        ((("user", "<default>"),), {"producer_byte_rate": 1.0}, "its name means something else"),
        ((("team", "a"),), {"producer_byte_rate": 1.0}, "no user, client_id or ip"),
    ],
)
def test_a_quota_that_no_entry_keeps_is_named(entity: Entity, limits: dict[str, float], why: str) -> None:
    listed = listed_quotas({entity: limits})
    assert listed.entries == []
    assert why in listed.left[0]


def test_an_address_in_two_spellings_is_left_as_it_is() -> None:
    limits = {"connection_creation_rate": 5.0}
    listed = listed_quotas(
        {(("ip", "10.0.0.1"),): limits, (("ip", "::ffff:10.0.0.1"),): {"connection_creation_rate": 9.0}}
    )
    assert listed.entries == []
    assert len(listed.left) == 2


TOLD = {
    "num.io.threads": ConfigValue(
        "16", "INT", "DYNAMIC_BROKER", by_source={"DYNAMIC_BROKER": "16", "STATIC_BROKER": "9", "DEFAULT": "8"}
    ),
    "log.retention.ms": ConfigValue(
        "5", "LONG", "DYNAMIC_DEFAULT_BROKER", by_source={"DYNAMIC_DEFAULT_BROKER": "5", "STATIC_BROKER": "7"}
    ),
    "super.users": ConfigValue(None),
    "ssl.key.password": ConfigValue(None, "PASSWORD", "DYNAMIC_BROKER", True, {"DYNAMIC_BROKER": None}),
}


def test_what_was_set_live_for_a_broker_stands_apart_from_what_holds() -> None:
    of_broker = settings_of(TOLD)
    assert of_broker.effective == {"num.io.threads": "16", "log.retention.ms": "5", "super.users": None}
    assert of_broker.live == {"num.io.threads": "16", "ssl.key.password": None}


def test_what_holds_without_a_file_is_what_was_set_for_all_else_the_default_of_kafka() -> None:
    of_all = settings_of_all({"log.retention.ms": ConfigValue("5", "LONG", "DYNAMIC_DEFAULT_BROKER")}, TOLD)
    assert of_all.effective == {"num.io.threads": "8", "log.retention.ms": "5", "super.users": None}
    assert of_all.live == {"log.retention.ms": "5"}
