# SPDX-License-Identifier: GPL-3.0-or-later
"""The loss of a rack by the inventory: who votes where, and how many copies are elsewhere."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.rules.racks import most_in_a_rack
from tests.support.preflight_inventories import CLUSTER, combined, config, expect, isolated, node, topic

SURVIVES = {"kafka_survive_rack_loss": "true"}
COPIES = (
    "default_replication_factor",
    "offsets_topic_replication_factor",
    "transaction_state_log_replication_factor",
    "share_coordinator_state_topic_replication_factor",
)


def racks(*names: str) -> dict[str, dict[str, Any]]:
    """Return the racks of kafka1, kafka2 and so on."""
    return {f"kafka{n}": {"kafka_rack": name} for n, name in enumerate(names, 1)}


def half(factor: int, third: str = "c") -> Inventory:
    """Return two sites of two brokers and a voter each, and a third one that has a voter alone."""
    more = {
        **CLUSTER, **SURVIVES, "kafka_mode": "kraft_isolated",
        "kafka_config": config(**dict.fromkeys(COPIES, factor)),
        "kafka_topics": [topic(replication_factor=factor)],
    }  # fmt: skip
    voters = [node(f"c{n}", n, broker=False, **more, kafka_rack=rack) for n, rack in ((1, "a"), (2, "b"), (3, third))]
    places = ((4, "a"), (5, "a"), (6, "b"), (7, "b"))
    return Inventory((*voters, *(node(f"b{n}", n, controller=False, **more, kafka_rack=rack) for n, rack in places)))


def test_three_sites_with_a_voter_and_a_broker_each_survive() -> None:
    assert check_inventory(combined(racks("a", "b", "c"), **SURVIVES)) == []


def test_what_some_nodes_want_alone_is_no_wish_of_the_cluster() -> None:
    hosts = racks("a", "b", "c")
    hosts["kafka2"] |= SURVIVES
    inventory = combined(hosts, kafka_survive_rack_loss=False)
    expect(inventory, "nodes_disagree", "kafka_survive_rack_loss", "False on kafka1, kafka3; True on kafka2")


def test_two_and_a_half_sites_survive_with_four_copies_and_not_with_three() -> None:
    assert check_inventory(half(4)) == []
    expect(
        half(3), "rack_loss_ends_writes", "leaves 1 of 3 copies: acks=all would be refused", "orders",
        "2 racks with brokers (a, b), replication factor 3, min.insync.replicas 2",
    )  # fmt: skip


def test_a_third_site_must_have_the_third_voter() -> None:
    expect(half(4, third="a"), "rack_loss_ends_quorum", "the loss of rack a leaves 1 of 3 controllers", "needs 2")


def test_one_copy_has_no_leader_without_its_rack() -> None:
    alone = topic(replication_factor=1, config={"min.insync.replicas": 1})
    inventory = combined(racks("a", "b", "c"), **SURVIVES, kafka_topics=[alone], kafka_profile="development")
    found = {one.name: one.sentence() for one in check_inventory(inventory)}
    assert "leaves 0 of 1 copies: no leader is left for topic orders" in found["rack_loss_ends_writes"]


def test_a_record_that_one_copy_has_is_not_acknowledged() -> None:
    """The loss of its rack would lose it, however many copies there are to be."""
    least = {"kafka_topics": [topic(config={"min.insync.replicas": 1})], "kafka_profile": "development"}
    inventory = combined(racks("a", "b", "c"), **SURVIVES, **least)
    expect(inventory, "rack_loss_loses_records", "acks=all acknowledged, for topic orders", "min.insync.replicas 1")
    assert [one.name for one in check_inventory(combined(racks("a", "b", "c"), **least))] == []


def test_topics_and_what_brokers_make_are_named_side_by_side() -> None:
    least = {"min_insync_replicas": 1, "transaction_state_log_min_isr": 1}
    inventory = combined(racks("a", "b", "c"), **SURVIVES, kafka_config=config(**least), kafka_profile="development")
    (told,) = [one.sentence() for one in check_inventory(inventory) if one.name == "rack_loss_loses_records"]
    assert "for topic orders, topics without numbers of their own, __consumer_offsets, __transaction_state" in told


def test_no_way_out_is_a_single_copy_in_sync() -> None:
    (told,) = [one.sentence() for one in check_inventory(half(3)) if one.name == "rack_loss_ends_writes"]
    assert "topics topics" not in told
    assert "lower min.insync.replicas only to 2" in told


def test_controllers_without_a_rack_are_named() -> None:
    brokers = {f"broker{n}": {"kafka_rack": rack} for n, rack in ((4, "a"), (5, "b"), (6, "c"))}
    expect(isolated(brokers, **SURVIVES), "rack_loss_without_racks", "controller1, controller2, controller3", "no rack")
    assert check_inventory(isolated(brokers)) == []


def test_without_the_wish_racks_may_be_as_they_are() -> None:
    found = check_inventory(combined(racks("a", "b", "b")))
    assert [(one.name, one.level) for one in found] == [("few_racks", "warning")]


@pytest.mark.parametrize(
    ("factor", "brokers", "most"),
    [(3, [1, 1, 1], 1), (3, [2, 2], 2), (4, [2, 2], 2), (3, [5, 1], 2), (4, [5, 1], 3), (3, [1], 1), (1, [2, 2], 1)],
)
def test_copies_are_spread_as_evenly_as_brokers_allow(factor: int, brokers: list[int], most: int) -> None:
    assert most_in_a_rack(factor, brokers) == most
