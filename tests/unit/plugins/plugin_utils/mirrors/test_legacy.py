"""The legacy engine: its two files, the words of its command, the topics it needs, and what it cannot do."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import (
    Flow,
    matches,
)
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.reading import (
    read_flows,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors import legacy
from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors.legacy_topics import legacy_topics

SASL = {"security.protocol": "SASL_PLAINTEXT", "sasl.jaas.config": "${file:/etc/m/secrets.properties:a}"}
CLUSTERS = {
    "a": {"bootstrap_servers": ["a1:9092", "a2:9092"], "properties": SASL, "brokers": 3},
    "b": {"bootstrap_servers": ["b1:9092"], "properties": {}, "brokers": 1},
}
OPTIONS = {"refresh_seconds": 60, "offset_flush_seconds": 10, "secrets_dir": "/etc/m", "config_dir": "/etc/m"}


def flow(**changes: Any) -> Flow:
    raw = {"source": "a", "target": "b", "topics": ["orders", "audit[.].*"], "engine": "legacy", **changes}
    return read_flows([raw])[0]


def process(**changes: Any) -> dict[str, Any]:
    return legacy.legacy_process(flow(**changes), CLUSTERS, OPTIONS)


def test_the_consumer_reads_the_source_as_a_group_that_commits_only_what_arrived() -> None:
    consumer = process()["consumer"]
    assert consumer["bootstrap.servers"] == ["a1:9092", "a2:9092"]
    assert consumer["sasl.jaas.config"] == SASL["sasl.jaas.config"]
    assert consumer["config.providers.file.param.allowed.paths"] == "/etc/m"
    assert consumer["group.id"] == "streamops-mirror-a-b"
    assert consumer["auto.offset.reset"] == "earliest"
    assert consumer["enable.auto.commit"] is False
    assert consumer["isolation.level"] == "read_committed"
    assert consumer["partition.assignment.strategy"].endswith("RoundRobinAssignor")
    assert consumer["metadata.max.age.ms"] == 60000


def test_the_producer_keeps_order_and_waits_for_all_copies() -> None:
    producer = process()["producer"]
    assert producer["bootstrap.servers"] == ["b1:9092"]
    assert "sasl.jaas.config" not in producer
    assert (producer["acks"], producer["enable.idempotence"]) == ("all", True)
    assert producer["max.in.flight.requests.per.connection"] == 1
    assert producer["retries"] == 2147483647
    assert producer["compression.type"] == "lz4"


def test_a_mirror_that_waits_for_its_target_is_not_taken_for_dead() -> None:
    found = process()
    consumer, producer = found["consumer"], found["producer"]
    assert consumer["max.poll.interval.ms"] > producer["delivery.timeout.ms"] + producer["max.block.ms"]
    assert producer["delivery.timeout.ms"] >= 600_000


def test_native_properties_of_a_flow_win() -> None:
    found = process(consumer_config={"isolation.level": "read_uncommitted"}, producer_config={"linger.ms": 5})
    assert found["consumer"]["isolation.level"] == "read_uncommitted"
    assert found["producer"]["linger.ms"] == 5


NAMES = ["orders", "orders2", "audit.eu", "audit.", "auditxeu", "audit.internal", "audit.x-internal", "audit.secret"]
NAMES += ["__consumer_offsets", "_streamops_state", "heartbeats", "a.heartbeats", "mm2-offsets.a.internal", "ORDERS"]


def test_the_words_of_the_command() -> None:
    words = process(streams=4)["words"]
    assert dict(zip(words[::2], words[1::2], strict=True)) == {
        "--consumer.config": "/etc/m/consumer.properties",
        "--producer.config": "/etc/m/producer.properties",
        "--num.streams": "4",
        "--include": legacy.include_expression(flow()),
        "--abort.on.send.failure": "true",
        "--offset.commit.interval.ms": "10000",
    }


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("topics", [["orders", "audit[.].*"], [".*"], ["(?i)orders", "pay|audit.eu"]])
def test_the_expression_covers_what_the_flow_covers(topics: list[str], name: str) -> None:
    one = flow(topics=topics, topics_exclude=["audit[.]secret"])
    # Python takes flags only at the begin of a whole expression, Java within each group.
    expression = legacy.include_expression(one).replace("(?:(?i)orders)", "(?i:orders)")
    assert bool(re.fullmatch(expression, name)) == matches(one, name)


def test_the_expression_survives_what_kafka_does_to_it() -> None:
    """TopicFilter of 3.9 turns commas into bars, drops blanks, and quotes at the ends."""
    expression = legacy.include_expression(flow())
    assert expression.strip("\"'") == expression
    assert not set(expression) & {",", " "}


def topic(name: str, partitions: int = 6, copies: int = 3, **config: str) -> dict[str, Any]:
    return {
        "name": name,
        "partition_count": partitions,
        "replication_factor": copies,
        "replication_factors": [copies],
        "config": config,
    }


SOURCE = [topic("payments"), topic("orders", policy="compact", bytes="1"), topic("audit.eu", 2)]


def test_new_topics_are_as_in_the_source_with_as_many_copies_as_there_are_brokers() -> None:
    assert legacy_topics(flow(), SOURCE, [], [], 2) == [
        {"name": "audit.eu", "partitions": 2, "replication_factor": 2, "config": {}},
        {"name": "orders", "partitions": 6, "replication_factor": 2, "config": {"policy": "compact", "bytes": "1"}},
    ]


def test_topics_that_are_there_keep_their_copies_and_grow() -> None:
    found = legacy_topics(flow(topics=["orders"]), SOURCE, [topic("orders", 3, 1)], [], 3)
    assert found == [{"name": "orders", "partitions": 6, "config": {"policy": "compact", "bytes": "1"}}]


def test_what_the_inventory_says_of_a_topic_wins() -> None:
    declared = [{"name": "orders", "partitions": 6, "config": {"bytes": 9}}]
    found = legacy_topics(flow(topics=["orders"]), SOURCE, [topic("orders")], declared, 3)
    assert found[0]["config"] == {"policy": "compact"}


def test_a_flow_that_does_not_sync_configurations_gives_them_to_new_topics_only() -> None:
    one = flow(sync_topic_configs=False, topics=["orders"])
    assert legacy_topics(one, SOURCE, [topic("orders")], [], 3)[0]["config"] == {}
    assert legacy_topics(one, SOURCE, [], [], 3)[0]["config"] == {"policy": "compact", "bytes": "1"}


@pytest.mark.parametrize(
    ("known", "declared", "told"),
    [
        ([topic("orders", 8)], [], "has 6 partitions in a and 8 in b"),
        ([], [{"name": "orders", "partitions": 3}], "has 6 partitions in a, and kafka_topics of b wants 3"),
        ([], [{"name": "orders", "state": "absent"}], "kafka_topics of b wants it absent"),
    ],
)
def test_topics_that_can_never_be_equal_are_told(
    known: list[dict[str, Any]], declared: list[dict[str, Any]], told: str
) -> None:
    with pytest.raises(ValueError, match=f"{told}.*No topic was changed"):
        legacy_topics(flow(), SOURCE, known, declared, 3)
