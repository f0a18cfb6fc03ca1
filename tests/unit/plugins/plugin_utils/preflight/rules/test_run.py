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


def test_a_new_ca_that_would_be_lost_is_refused_once_with_all_its_nodes() -> None:
    inventory = combined({})
    names = [node.name for node in inventory.nodes]
    lost = replace(inventory, unkept=dict.fromkeys(names, ("/root/ca/east", "AWX_HOST is set")))
    (found,) = [one for one in check_inventory(lost) if one.name == "ca_not_kept"]
    assert sorted(found.hosts) == sorted(names)
    assert found.found == "/root/ca/east has no CA and ends with the control node (AWX_HOST is set)"
    assert "set streamops_artifacts" in found.fix


def test_nothing_is_said_where_nothing_is_lost() -> None:
    assert not [one for one in check_inventory(combined({})) if one.name == "ca_not_kept"]
