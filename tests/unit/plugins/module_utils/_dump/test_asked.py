# SPDX-License-Identifier: GPL-3.0-or-later
"""What may be asked for, and what is said of the rest: by the name that the user gave it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._dump.asked import Asked, read


def test_texts_and_numbers_mean_the_same() -> None:
    as_text = {"what": "orders-3", "records": "5", "bytes": "100", "offset_from": "-10", "payload": "yes", "key": ""}
    found, wrong = read(as_text)
    assert wrong == []
    assert found == Asked("orders-3", "orders", 3, records=5, bytes=100, offset_from=-10, payload=True)
    assert read({**as_text, "records": 5, "bytes": 100, "offset_from": -10, "payload": True})[0] == found
    assert read({"what": "a-b-7", "payload": "false", "time_from": " "})[0] == Asked("a-b-7", "a-b", 7)


@pytest.mark.parametrize(
    ("what", "topic", "partition"),
    [
        ("metadata", "__cluster_metadata", 0),
        ("snapshot", "__cluster_metadata", 0),
        ("offsets", "__consumer_offsets", None),
        ("__consumer_offsets-12", "__consumer_offsets", 12),
        ("transactions", "__transaction_state", None),
        ("shares", "__share_group_state", None),
    ],
)
def test_words_mean_topics_of_kafka(what: str, topic: str, partition: int | None) -> None:
    found, _wrong = read({"what": what})
    assert found is not None
    assert (found.topic, found.partition, found.is_internal, found.has_payload) == (topic, partition, True, True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"what": ""}, "kafka_dump_what: '' is nothing that can be dumped"),
        ({"what": "orders"}, "For partition 0 of the topic orders write orders-0"),
        ({"what": "or/ders-1"}, "kafka_dump_what: 'or/ders' is no name of a topic"),
        ({"records": "many"}, "kafka_dump_records is no whole number (found: 'many'"),
        ({"records": 0}, "kafka_dump_records is out of its range"),
        ({"bytes": "1e12"}, "kafka_dump_bytes is no whole number"),
        ({"seconds": 601}, "kafka_dump_seconds is out of its range"),
        ({"offset_to": "-1"}, "kafka_dump_offset_to is out of its range"),
        ({"offset_from": 9, "offset_to": 8}, "kafka_dump_offset_from is above kafka_dump_offset_to"),
        ({"time_from": "yesterday"}, "kafka_dump_time_from: 'yesterday' is neither ms since 1970"),
        ({"time_to": "2026-11-24T06:00:00"}, "kafka_dump_time_to: 2026-11-24T06:00:00 has no time zone"),
        ({"time_to": "1700000000"}, "Write 1700000000000 for that"),
        ({"key": "regex:("}, "kafka_dump_key: 'regex:(' is no regular expression"),
        ({"payload": "maybe"}, "kafka_dump_payload is neither true nor false"),
        ({"what": "snapshot", "offset_from": 1}, "kafka_dump_offset_from is given, but a snapshot is one state"),
    ],
)
def test_what_cannot_be_is_refused_by_name(options: dict[str, Any], said: str) -> None:
    found, wrong = read({"what": "orders-0", **options}, "kafka_dump_")
    assert found is None
    assert said in " ".join(wrong)


def test_all_that_is_wrong_is_said_at_once() -> None:
    assert len(read({"what": "", "records": "x", "time_to": "y", "payload": "z"})[1]) == 4


def test_keys_are_compared_whole_or_searched() -> None:
    assert read({"what": "a-1", "key": "k1"})[0].matches(["k1"])  # type: ignore[union-attr]
    assert not read({"what": "a-1", "key": "k"})[0].matches(["k1"])  # type: ignore[union-attr]
    assert read({"what": "a-1", "key": "regex:^k[0-9]"})[0].matches(["x", "k1"])  # type: ignore[union-attr]
    assert not read({"what": "a-1", "key": "regex:^k"})[0].matches([])  # type: ignore[union-attr]


def test_ranges_hold_their_ends() -> None:
    asked = Asked("a-1", "a", 1, offset_to=5, time_from=10, time_to=20)
    assert [asked.holds(5, 10, 2), asked.holds(2, 20, 2)] == [True, True]
    assert [asked.holds(6, 15, 2), asked.holds(1, 15, 2), asked.holds(5, 9, 2), asked.holds(5, 21, 2)] == [False] * 4
