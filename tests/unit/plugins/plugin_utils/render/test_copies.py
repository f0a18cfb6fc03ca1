# SPDX-License-Identifier: GPL-3.0-or-later
"""Our defaults about copies: never less than the cluster has brokers for, whatever the inventory lost."""

from __future__ import annotations

from typing import Any

from tests.support.inventory_data import view

DEFAULT, OFFSETS, LEAST = "default.replication.factor", "offsets.topic.replication.factor", "min.insync.replicas"
THREE = {"default.replication.factor": "3", "min.insync.replicas": "2"}


def seen(count: int, answer: dict[str, Any] | None = None, started: dict[str, str] | None = None, **common: Any) -> Any:
    """The model of combined nodes k1, k2...; k1 asked the cluster, all were last started with this."""
    hosts: dict[str, dict[str, Any]] = {
        f"k{n}": {"kafka_node_id": n, "__common_node_info": {"copies": started or {}}} for n in range(1, count + 1)
    }
    if answer is not None:
        hosts["k1"]["__common_registered"] = answer
    return view(hosts, brokers=list(hosts), controllers=list(hosts), host=f"k{count}", **common)


def registered(*ids: int) -> dict[str, Any]:
    return {"nodes": [{"id": one} for one in ids]}


def test_without_an_answer_the_inventory_counts() -> None:
    assert seen(2)["properties"][DEFAULT] == 2
    assert seen(3)["properties"][OFFSETS] == 3
    assert seen(3, {"msg": "no answer"})["copies"]["brokers"] == 3


def test_a_broker_that_the_inventory_lost_lowers_nothing() -> None:
    model = seen(2, registered(1, 2, 3))
    assert [model["properties"][key] for key in (DEFAULT, OFFSETS, LEAST)] == [3, 3, 2]
    assert model["copies_in_sync"] == 2
    assert model["copies"]["brokers"] == 3


def test_a_new_broker_of_the_inventory_counts_before_it_is_registered() -> None:
    assert seen(3, registered(1, 2))["properties"][DEFAULT] == 3


def test_a_broker_that_a_playbook_removed_counts_no_more() -> None:
    model = seen(2, registered(1, 2), THREE)
    assert [model["properties"][DEFAULT], model["copies_in_sync"]] == [2, 1]


def test_while_the_cluster_is_down_what_its_nodes_were_started_with_stays() -> None:
    model = seen(2, None, THREE)
    assert [model["properties"][key] for key in (DEFAULT, OFFSETS, LEAST)] == [3, 2, 2]
    # What we would never write by ourselves was written into kafka_config, and no more.
    assert seen(3, None, {DEFAULT: "5", LEAST: "what"})["properties"][DEFAULT] == 3


def test_a_value_of_the_inventory_wins() -> None:
    model = seen(2, registered(1, 2, 3), kafka_config={DEFAULT: 1, LEAST: 1})
    assert [model["properties"][DEFAULT], model["copies_in_sync"]] == [1, 1]
