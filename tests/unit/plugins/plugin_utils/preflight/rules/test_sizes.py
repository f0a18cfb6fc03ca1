# SPDX-License-Identifier: GPL-3.0-or-later
"""Sizes of messages, requests and segments, at and around their boundaries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from tests.support.preflight_inventories import combined, config, ensemble, expect, isolated, only, topic

REQUEST, MESSAGE = "socket.request.max.bytes", "message.max.bytes"
FETCH, RESPONSE = "replica.fetch.max.bytes", "replica.fetch.response.max.bytes"
SEGMENT = "log.segment.bytes"
MIB = 1024 * 1024
MODES = [combined, isolated, ensemble]
GOOD: list[dict[str, Any]] = [
    {"kafka_config": config(**{REQUEST: 1048588 + 1024})},
    {"kafka_config": config(**{REQUEST: str(4 * MIB + 1024), MESSAGE: 4 * MIB})},
    {"kafka_config": config(**{MESSAGE: 10 * MIB})},
    # No follower stops for these (KIP-74).
    {"kafka_config": config(**{MESSAGE: 2 * MIB, FETCH: 1024})},
    {"kafka_config": config(**{SEGMENT: 2 * MIB, MESSAGE: str(2 * MIB)})},
    {"kafka_config": config(**{SEGMENT: MIB})},
    {"kafka_topics": [topic(config={"segment.bytes": MIB})]},
    {"kafka_topics": [topic(config={"segment.bytes": 4 * MIB, "max.message.bytes": str(4 * MIB)})]},
    {"kafka_topics": [topic(config={"max.message.bytes": 10 * MIB})]},
    {"kafka_topics": [topic(config={"max.message.bytes": 500 * MIB}, state="absent")]},
]


@pytest.mark.parametrize("make", MODES)
@pytest.mark.parametrize("variables", GOOD)
def test_what_goes_together_is_taken(make: Callable[..., Inventory], variables: dict[str, Any]) -> None:
    assert check_inventory(make(**variables)) == []


@pytest.mark.parametrize("make", MODES)
@pytest.mark.parametrize("value", [1048588 + 1023, 1048588, "65536"])
def test_a_request_has_room_for_a_message(make: Callable[..., Inventory], value: Any) -> None:
    inventory = make(kafka_broker_config={REQUEST: value})
    parts = [f"kafka_broker_config['{REQUEST}']", f"{REQUEST} {value}, {MESSAGE} 1048588 (default)", "at least 1049612"]
    expect(inventory, "request_below_message", *parts)


@pytest.mark.parametrize("size", [100 * MIB - 1023, str(200 * MIB)])
def test_a_request_has_room_for_the_message_of_a_topic(size: Any) -> None:
    found = check_inventory(combined(kafka_topics=[topic(config={"max.message.bytes": size})]))
    named = {one.name: one for one in found}
    assert named.keys() == {"request_below_message", "response_below_message"}
    assert "max.message.bytes of topic orders" in named["request_below_message"].sentence()
    assert named["request_below_message"].variable == "kafka_topics"


def test_one_broker_of_its_own_is_named_alone() -> None:
    inventory = isolated(hosts={"broker6": {"kafka_broker_config": {REQUEST: 1000000}}})
    assert only(inventory, "request_below_message").hosts == ("broker6",)


@pytest.mark.parametrize("make", MODES)
def test_an_answer_to_a_follower_has_room_for_a_message(make: Callable[..., Inventory]) -> None:
    inventory = make(kafka_config=config(**{MESSAGE: 10 * MIB + 1}))
    expect(inventory, "response_below_message", f"{RESPONSE} {10 * MIB} (default)", level="warning")
    inventory = make(kafka_config=config(**{RESPONSE: "1048587"}))
    expect(inventory, "response_below_message", f"{RESPONSE} 1048587", level="warning")


@pytest.mark.parametrize("make", [combined, isolated])
def test_a_segment_has_room_for_a_message(make: Callable[..., Inventory]) -> None:
    inventory = make(kafka_config=config(**{SEGMENT: 2 * MIB, MESSAGE: 2 * MIB + 1}))
    expect(inventory, "segment_below_message", f"{SEGMENT} {2 * MIB}", f"at least {2 * MIB + 1}", level="warning")
    topics = [topic(config={"segment.bytes": str(MIB), "max.message.bytes": MIB + 1})]
    expect(make(kafka_topics=topics), "segment_below_message", "segment.bytes of topic orders", level="warning")
    topics = [topic(config={"max.message.bytes": 3 * MIB})]
    inventory = make(kafka_topics=topics, kafka_config=config(**{SEGMENT: 2 * MIB}))
    expect(inventory, "segment_below_message", "max.message.bytes of topic orders", level="warning")
    topics = [topic(config={"segment.bytes": MIB})]
    inventory = make(kafka_topics=topics, kafka_config=config(**{MESSAGE: 2 * MIB}))
    expect(inventory, "segment_below_message", f"{MESSAGE} {2 * MIB}", level="warning")


def test_a_follower_has_segments_for_what_it_fetches() -> None:
    own = {FETCH: 8 * MIB, SEGMENT: 4 * MIB}
    assert check_inventory(isolated(kafka_broker_config=own)) == []
    smaller = {"broker5": {"kafka_broker_config": {**own, SEGMENT: str(4 * MIB - 1)}}}
    inventory = isolated(kafka_broker_config=own, hosts=smaller)
    found = ["broker5: kafka_broker_config", f"{SEGMENT} {4 * MIB - 1}, {4 * MIB} on another broker"]
    expect(inventory, "segments_of_different_size", *found)
    # What is fetched at once fits in.
    smaller["broker5"]["kafka_broker_config"][FETCH] = 2 * MIB
    assert check_inventory(isolated(kafka_broker_config=own, hosts=smaller)) == []


@pytest.mark.parametrize("make", MODES)
def test_brokers_do_the_same_with_topics(make: Callable[..., Inventory]) -> None:
    one = make().nodes[3 if make is isolated else 0].name
    inventory = make(hosts={one: {"kafka_broker_config": {MESSAGE: 2 * MIB}}})
    expect(inventory, "brokers_differ", f"{MESSAGE}: ", f"{2 * MIB} on {one}", level="warning")
    same = make(hosts={one: {"kafka_broker_config": {"min.insync.replicas": "2"}}})
    assert check_inventory(same) == []
