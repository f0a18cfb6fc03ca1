# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is who, by table: one mistake in a good inventory gives exactly its own violation."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.rules.identity import usable_cluster_id
from tests.support.preflight_inventories import UNSET, combined, expect, isolated, node
from tests.support.preflight_mirrors import flow, mirrored

GOOD_ID = "MkU3OEVBNTcwNTJENDM2Qg"

GOOD = [
    combined(),
    isolated(),
    combined(kafka_cluster_id=GOOD_ID),
    combined(hosts={"kafka3": {"kafka_node_id": "3"}}),
    # KRaft has no reserved.broker.max.id.
    combined(hosts={"kafka3": {"kafka_node_id": 5000}}),
    combined(hosts={"kafka3": {"kafka_node_id": 0}}),
    # A broker more beside combined nodes.
    Inventory((*combined().nodes, node("kafka4", 4, controller=False))),
]

BAD: list[tuple[Inventory, str, list[str]]] = [
    (
        combined(hosts={"kafka2": {"kafka_node_id": 1}}),
        "duplicate_node_id",
        ["kafka1, kafka2: kafka_node_id", "same node id", "found: 1"],
    ),
    (
        isolated(kafka_controllers_group="my_controllers"),
        "group_named_by_variable",
        ["kafka_controllers_group", "nothing reads", "kraft_controllers: {children: {my_controllers: {}}}"],
    ),
    (isolated(hosts={"broker4": {"kafka_node_id": 1}}), "duplicate_node_id", ["controller1, broker4", "same node id"]),
    (
        combined(hosts={"kafka2": {"kafka_node_id": UNSET}}),
        "bad_node_id",
        ["kafka2: kafka_node_id", "no id", "found: nothing"],
    ),
    (combined(hosts={"kafka2": {"kafka_node_id": None}}), "bad_node_id", ["kafka2: kafka_node_id", "no id"]),
    (combined(hosts={"kafka2": {"kafka_node_id": -1}}), "bad_node_id", ["found: '-1'", "0 to 2147483647"]),
    (combined(hosts={"kafka2": {"kafka_node_id": 2**31}}), "bad_node_id", ["found: '2147483648'"]),
    (combined(hosts={"kafka2": {"kafka_node_id": "two"}}), "bad_node_id", ["found: 'two'"]),
    (combined(hosts={"kafka2": {"kafka_node_id": True}}), "bad_node_id", ["found: 'True'"]),
    (combined(hosts={"kafka2": {"kafka_node_id": 1.5}}), "bad_node_id", ["found: '1.5'"]),
    (
        combined(kafka_mode="kraft"),
        "wrong_mode",
        ["kafka1, kafka2, kafka3: kafka_mode", "found: 'kraft'", "kraft_isolated"],
    ),
    (
        combined(kafka_accept_missing_nodes="4,kafka5"),
        "bad_missing_nodes",
        ["kafka_accept_missing_nodes: a node that may be missing is named by its id", "found: 'kafka5'", "[4, 5]"],
    ),
    (combined(kafka_mode="kraft"), "wrong_mode", ["the mode is not known", "zookeeper"]),
    (combined(kafka_mode=UNSET), "wrong_mode", ["found: ''"]),
    (
        combined(kafka_mode="kraft_isolated"),
        "wrong_mode",
        ["no host may be controller and broker", "kraft_controllers and kafka_brokers"],
    ),
    (
        combined(kafka_cluster_id="short"),
        "bad_cluster_id",
        ["kafka_cluster_id", "found: 'short'", "22 characters", "random-uuid"],
    ),
    (
        combined(hosts={"kafka3": {"kafka_profile": "development"}}),
        "nodes_disagree",
        ["production on kafka1, kafka2; development on kafka3"],
    ),
    (
        combined(hosts={"kafka3": {"kafka_topics": [{"name": "other"}]}}),
        "nodes_disagree",
        ["kafka_topics", "1 entries on kafka3"],
    ),
]


@pytest.mark.parametrize("inventory", GOOD)
def test_good_inventories_break_no_row(inventory: Inventory) -> None:
    assert check_inventory(inventory) == []


@pytest.mark.parametrize(("inventory", "rule", "parts"), BAD)
def test_each_mistake_is_named_alone(inventory: Inventory, rule: str, parts: list[str]) -> None:
    expect(inventory, rule, *parts)


def test_versions_that_differ_within_a_cluster_are_a_warning() -> None:
    inventory = combined(hosts={"kafka3": {"kafka_version": "3.9.2"}})
    expect(inventory, "nodes_disagree", "kafka_version", "4.3.1 on kafka1, kafka2; 3.9.2 on kafka3", level="warning")


def test_a_controller_alone_is_refused_in_combined_mode() -> None:
    inventory = Inventory((*combined().nodes[:2], node("kafka3", 3, broker=False), node("kafka4", 4, controller=False)))
    expect(inventory, "wrong_mode", "kafka3: kafka_mode", "must also be a broker", "add the host to kafka_brokers")


@pytest.mark.parametrize("leaving", [["kafka1", "kafka2", "kafka3"], "kafka1,kafka2,kafka3"])
def test_on_the_way_to_another_mode_controllers_that_leave_may_be_of_the_other_kind(leaving: Any) -> None:
    run = {"kafka_controllers_leaving": leaving, "_common_changes_voters": True}

    def mistakes(mode: str, **variables: Any) -> list[str]:
        """The rules that three combined nodes with as many controllers of their own break."""
        own = (node(f"controller{at}", at, broker=False, kafka_mode=mode, **variables) for at in (4, 5, 6))
        found = check_inventory(Inventory((*combined(kafka_mode=mode, **variables).nodes, *own)))
        return [one.name for one in found]

    assert mistakes("kraft_isolated", **run) == []
    assert "wrong_mode" in mistakes("kraft_isolated"), "of a run that takes none out"
    assert "wrong_mode" in mistakes("kraft_isolated", **{**run, "kafka_controllers_leaving": ["kafka1"]})
    back = {**run, "kafka_controllers_leaving": ["controller4", "controller5", "controller6"]}
    assert mistakes("kraft_combined", **back) == []


@pytest.mark.parametrize("name", [UNSET, None, "", "  "])
def test_a_host_without_a_cluster_is_named(name: Any) -> None:
    lost = node("lost", 9, kafka_cluster_name=name)
    expect(Inventory((*combined().nodes, lost)), "no_cluster_name", "lost: kafka_cluster_name", "belongs to no cluster")


def test_clusters_have_ids_of_their_own() -> None:
    other = [node(f"green{n}", n, kafka_cluster_name="green", ansible_host=f"10.0.1.{n}") for n in (1, 2, 3)]
    assert check_inventory(Inventory((*combined().nodes, *other))) == []


def test_a_cluster_without_brokers_is_named_as_such() -> None:
    controllers = isolated(kafka_topics=[], kafka_config={}).nodes[:3]
    expect(
        Inventory(controllers),
        "incomplete_cluster",
        "controller1, controller2, controller3",
        "no host in group kafka_brokers",
    )


def test_a_cluster_without_controllers_is_named_as_such() -> None:
    expect(
        Inventory(isolated().nodes[3:]),
        "incomplete_cluster",
        "broker4, broker5, broker6",
        "no host in group kraft_controllers",
    )


@pytest.mark.parametrize(
    ("value", "usable"),
    [
        (GOOD_ID, True),
        ("-_aAzZ09aAzZ09aAzZ09aA", True),
        (GOOD_ID[:-1], False),
        (f"{GOOD_ID}A", False),
        ("MkU3OEVBNTcwNTJENDM2Q+", False),
        ("AAAAAAAAAAAAAAAAAAAAAA", False),
        ("AAAAAAAAAAAAAAAAAAAAAQ", False),
    ],
)
def test_cluster_ids_are_uuids_that_kafka_does_not_keep(value: str, usable: bool) -> None:
    assert usable_cluster_id(value) is usable


NOT_NAMES = ["..", "a/b", "k 1", "-k1", "k;reboot", "k%1", "k$1", "k,1", "\u00fc1", ".k", "k\n"]


@pytest.mark.parametrize("name", NOT_NAMES)
def test_a_host_whose_name_cannot_be_that_of_a_directory_is_refused(name: str) -> None:
    inventory = Inventory((*combined().nodes, node(name, 4, controller=False)))
    expect(inventory, "bad_name", f"{name}: inventory_hostname", f"found: {name!r}", "fix: rename it", "ansible_host")
    alone = mirrored(flow(), mirrors={name: {"kafka_cluster_name": "dc_b"}})
    assert [one.name for one in check_inventory(alone) if one.level == "error"] == ["bad_name"]


@pytest.mark.parametrize("name", [*NOT_NAMES, "../../etc", " blue"])
def test_a_cluster_whose_name_cannot_be_that_of_a_directory_is_refused(name: str) -> None:
    expect(combined(kafka_cluster_name=name), "bad_name", "kafka1, kafka2, kafka3: kafka_cluster_name", f"{name!r}")


@pytest.mark.parametrize("name", ["k", "K1.example.org", "10.0.0.1", "k_1-a", "1"])
def test_host_names_addresses_and_short_names_are_names(name: str) -> None:
    assert check_inventory(Inventory((*combined().nodes, node(name, 4, controller=False)))) == []
    assert check_inventory(combined(kafka_cluster_name=name)) == []
