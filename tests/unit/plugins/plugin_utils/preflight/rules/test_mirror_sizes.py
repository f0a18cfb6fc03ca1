# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages that a source takes and a mirror cannot write, at and around the limits."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from tests.support.preflight_inventories import expect, topic
from tests.support.preflight_mirrors import flow, mirrored

MIB = 1024 * 1024
RULE = "mirror_below_message"
PRODUCER = "producer.override.max.request.size"


def brokers(size: Any) -> dict[str, Any]:
    """The brokers of a cluster take messages of this size."""
    return {"kafka_broker_config": {"message.max.bytes": size}}


def topics(size: Any, name: str = "orders") -> dict[str, Any]:
    """A topic of a cluster takes messages of this size."""
    return {"kafka_topics": [topic(name, config={"max.message.bytes": size})]}


@pytest.mark.parametrize(
    ("given", "source", "target"),
    [
        ({}, brokers(2 * MIB), brokers(2 * MIB)),
        ({}, brokers(1000), {}),
        # What a topic sets is copied.
        ({}, topics(32 * MIB), {}),
        ({}, {**topics(2 * MIB), **brokers(3 * MIB)}, {}),
        ({"topics": ["other"]}, topics(40 * MIB), {}),
        ({"config": {PRODUCER: 8 * MIB}}, topics(8 * MIB), {}),
        ({"sync_topic_configs": False}, topics(8 * MIB), {}),
        ({"sync_topic_configs": False}, topics(8 * MIB), topics(8 * MIB, "dc_a.orders")),
        ({"enabled": False}, brokers(2 * MIB), {}),
    ],
)
def test_what_goes_together_is_taken(given: dict[str, Any], source: dict[str, Any], target: dict[str, Any]) -> None:
    found = check_inventory(mirrored(flow(**given), hosts={"dc_a": source, "dc_b": target}))
    assert [one for one in found if one.name == RULE] == []


@pytest.mark.parametrize(
    ("given", "source", "target", "found"),
    [
        ({}, brokers(2 * MIB), {}, "dc_b: message.max.bytes 1048588 (default)"),
        ({"topics": ["ord.*"]}, brokers(2 * MIB), brokers(2 * MIB - 1), "dc_b: message.max.bytes 2097151"),
        ({}, topics(32 * MIB + 1), {}, "max.request.size of the mirror 33554432"),
        ({"config": {PRODUCER: str(MIB)}}, topics(MIB + 1), {}, "max.request.size of the mirror 1048576"),
        ({"sync_topic_configs": False}, topics(2 * MIB), topics(MIB, "dc_a.orders"), "of topic dc_a.orders 1048576"),
        (
            {"sync_topic_configs": False},
            topics(2 * MIB),
            {"kafka_topics": [topic("dc_a.orders")]},
            "dc_b: message.max.bytes 1048588 (default)",
        ),
        (
            {"engine": "legacy", "producer_config": {"max.request.size": MIB}},
            topics(2 * MIB),
            {},
            "max.request.size of the mirror 1048576",
        ),
    ],
)
def test_a_message_that_the_mirror_cannot_write_is_named(
    given: dict[str, Any], source: dict[str, Any], target: dict[str, Any], found: str
) -> None:
    inventory = mirrored(flow(**given), hosts={"dc_a": source, "dc_b": target})
    named = [one for one in check_inventory(inventory) if one.name == RULE]
    assert [(one.level, found in one.sentence()) for one in named] == [("warning", True)]
    assert "dc_a->dc_b stops at a message that dc_a takes" in named[0].sentence()


def test_the_producer_of_all_flows_into_a_target_counts_below_that_of_a_flow() -> None:
    mirrors = {"m1": {"kafka_cluster_name": "dc_b", "mirror_maker_config": {"dc_b.producer.max.request.size": MIB}}}
    source = {"dc_a": topics(2 * MIB)}
    expect(mirrored(flow(), mirrors=mirrors, hosts=source), RULE, "mirror 1048576", level="warning")
    raised = flow(config={PRODUCER: 2 * MIB})
    assert not [one for one in check_inventory(mirrored(raised, mirrors=mirrors, hosts=source)) if one.name == RULE]


def test_one_broker_of_the_source_is_enough() -> None:
    inventory = mirrored(flow(), hosts={"dc_a2": brokers(2 * MIB)})
    found = [one for one in check_inventory(inventory) if one.name == RULE]
    assert len(found) == 1
