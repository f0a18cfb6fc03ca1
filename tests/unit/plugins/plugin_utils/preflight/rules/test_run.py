# SPDX-License-Identifier: GPL-3.0-or-later
"""--limit takes whole clusters only."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from tests.support.preflight_inventories import combined, expect, node

GREEN = tuple(node(f"green{n}", n, kafka_cluster_name="green", ansible_host=f"10.0.1.{n}") for n in (1, 2, 3))


def limited(inventory: Inventory, *hosts: str) -> Inventory:
    """The inventory as a run with --limit to these hosts sees it."""
    return replace(inventory, limit=",".join(hosts), play_hosts=hosts)


def test_a_part_of_a_cluster_is_refused_with_the_hosts_left_out() -> None:
    inventory = limited(combined(), "kafka1")
    expect(
        inventory,
        "limit_splits_cluster",
        "kafka2, kafka3",
        "a part of cluster blue",
        "--limit kafka1",
        "run without --limit",
    )


def test_a_whole_cluster_is_fine() -> None:
    inventory = Inventory((*combined().nodes, *GREEN))
    assert check_inventory(limited(inventory, "kafka1", "kafka2", "kafka3")) == []


def test_a_play_for_single_nodes_can_allow_it() -> None:
    assert check_inventory(limited(combined(preflight_allow_limit=True), "kafka1")) == []


def test_a_play_on_some_hosts_without_limit_is_fine() -> None:
    assert check_inventory(replace(combined(), play_hosts=("kafka1",))) == []
