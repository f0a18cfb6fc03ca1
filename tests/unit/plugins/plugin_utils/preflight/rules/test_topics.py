# SPDX-License-Identifier: GPL-3.0-or-later
"""Topics, by table: one mistake in a good inventory gives exactly its own violation."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from tests.support.preflight_inventories import combined, expect, topic

GOOD: list[list[dict[str, Any]]] = [
    [],
    [topic("a.b"), topic("a-b"), topic("A_b")],
    [topic("x" * 249)],
    [topic("...")],
    [topic("_private")],
    # The old name goes before the new one comes: no collision.
    [topic("a.b", state="absent"), topic("a_b")],
    [topic(config={"retention.ms": 1, "cleanup.policy": "compact"})],
    [topic(partitions=None, replication_factor=None)],
]

BAD: list[tuple[list[dict[str, Any]], str, list[str]]] = [
    ([topic(partitions=0)], "topic_numbers", ["kafka_topics", "topic orders", "partitions 0", "1 or more"]),
    ([topic(partitions="-3")], "topic_numbers", ["partitions -3"]),
    ([topic(replication_factor=0)], "topic_numbers", ["replication_factor 0"]),
    ([topic("a.b"), topic("a_b")], "colliding_topics", ["collide", "'a.b' and 'a_b'"]),
    ([topic("a..b"), topic("a__b"), topic("a._b")], "colliding_topics", ["'a..b' and 'a__b' and 'a._b'"]),
    ([topic("orders"), topic("orders")], "duplicate_topic", ["listed more than once", "'orders' 2 times"]),
    ([topic("orders"), topic("orders", state="absent")], "duplicate_topic", ["listed more than once"]),
    ([topic("with space")], "bad_topic_name", ["found: 'with space'", "letters, digits"]),
    ([topic("größe")], "bad_topic_name", ["found: 'größe'", "ASCII"]),
    ([topic("new\nline")], "bad_topic_name", ["found: 'new"]),
    ([topic("x" * 250)], "bad_topic_name", ["at most 249 characters (this one has 250)"]),
    ([topic(".")], "bad_topic_name", ["found: '.'"]),
    ([topic("..")], "bad_topic_name", ["found: '..'"]),
    ([topic("__consumer_offsets")], "bad_topic_name", ["Kafka keeps for itself"]),
    ([topic("__cluster_metadata", state="absent")], "bad_topic_name", ["Kafka keeps for itself"]),
    ([topic("_streamops_smoke")], "bad_topic_name", ["this collection keeps for itself"]),
    (
        [topic(config={"retention.msec": 1})],
        "unknown_topic_key",
        ["retention.msec", "perhaps retention.ms is meant", "Kafka 4.3.1"],
    ),
    (
        [topic(config={"cleanup.policy": "compacted"})],
        "bad_topic_value",
        ["kafka_topics", "cleanup.policy of topic orders", "found: 'compacted'", "of compact, delete"],
    ),
    ([topic(config={"retention.ms": "7 days"})], "bad_topic_value", ["'7 days'", "a whole number from -1 to"]),
    ([topic(config={"min.cleanable.dirty.ratio": 1.5})], "bad_topic_value", ["'1.5'", "a number from 0 to 1"]),
    ([topic(config={"message.format.version": "3.0"})], "unknown_topic_key", ["message.format.version"]),
]


@pytest.mark.parametrize("topics", GOOD)
def test_good_topics_break_no_row(topics: list[dict[str, Any]]) -> None:
    assert check_inventory(combined(kafka_topics=topics)) == []


@pytest.mark.parametrize(("topics", "rule", "parts"), BAD)
def test_each_bad_topic_is_named_alone(topics: list[dict[str, Any]], rule: str, parts: list[str]) -> None:
    expect(combined(kafka_topics=topics), rule, *parts)


def test_keys_are_judged_by_the_wanted_version() -> None:
    topics = [topic(config={"message.format.version": "3.0"})]
    assert check_inventory(combined(kafka_version="3.9.2", kafka_topics=topics)) == []


def test_all_mistakes_are_found_at_once() -> None:
    topics = [topic("a.b", partitions=0), topic("a_b", replication_factor=9), topic("bad name")]
    assert {one.name for one in check_inventory(combined(kafka_topics=topics))} == {
        "topic_numbers",
        "bad_topic_name",
        "colliding_topics",
        "more_replicas_than_brokers",
    }


@pytest.mark.parametrize("given", ["orders,payments", "[]", ["orders"], None])
def test_topics_that_may_be_lost_are_listed_with_commas(given: Any) -> None:
    assert check_inventory(combined(kafka_replace_lost_topics=given)) == []


@pytest.mark.parametrize("given", ["*", "null", "orders;payments", "orders payments", '{"a":1}', ["*"], {"a": 1}, 3])
def test_what_is_no_list_of_topics_may_not_be_lost(given: Any) -> None:
    parts = ["kafka1, kafka2, kafka3: kafka_replace_lost_topics", "orders,payments, with commas between the names"]
    expect(combined(kafka_replace_lost_topics=given), "bad_lost_topics", *parts)
