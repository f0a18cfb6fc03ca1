# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes that are on their machines under another name, and leftovers that are nobody's of this cluster."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.guards.renamed import Named, Renamed, renamed

ID, OTHER_ID = "AAAAAAAAAAAAAAAAAAAAAw", "AAAAAAAAAAAAAAAAAAAABA"


def trace(kind: str, name: str = "broker4", **more: Any) -> dict[str, Any]:
    unsaid = dict.fromkeys(("product", "node_id", "cluster", "cluster_id", "config_dir"))
    return {"kind": kind, "path": f"/{kind}/{name}", "name": name, **unsaid, **more}


def note(node_id: int = 4, cluster: str = "blue", **more: Any) -> dict[str, Any]:
    return trace("note", **{"product": "kafka", "node_id": str(node_id), "cluster": cluster, **more})


def service(node_id: int = 4, cluster: str = "blue", **more: Any) -> dict[str, Any]:
    return {**note(node_id, cluster, **more), "kind": "service"}


def data(node_id: int = 4, cluster_id: str = ID, **more: Any) -> dict[str, Any]:
    return trace("data", **{"product": "kafka", "node_id": str(node_id), "cluster_id": cluster_id, **more})


def node(*beside: dict[str, Any], host: str = "brk4", node_id: int = 4, **more: Any) -> Named:
    known = {"machine": "m4", "product": "kafka", "has_data": False, "emptied": False, **more}
    return Named(host=host, node_id=node_id, beside=beside, **known)


def other(**more: Any) -> Named:
    """A node of the same cluster that has its data."""
    return Named("broker1", "m1", "kafka", 1, True, False, (), **more)


def names(found: list[Renamed]) -> list[tuple[str, str, bool]]:
    return [(one.host, one.old, one.is_same) for one in found]


@pytest.mark.parametrize("left", [(note(),), (data(),), (service(),), (note(), service(), data())])
@pytest.mark.parametrize("others", [[], [other()]])
def test_the_same_node_under_another_name_is_found_by_each_trace(left: Any, others: list[Named]) -> None:
    assert names(renamed([node(*left), *others], "blue")) == [("brk4", "broker4", True)]


def test_only_what_names_the_cluster_is_sure_of_it() -> None:
    assert [one.is_sure for one in renamed([node(data())], "blue")] == [False]
    assert [one.is_sure for one in renamed([node(data())], "blue", [ID])] == [True]
    assert [one.is_sure for one in renamed([node(data(), note())], "blue")] == [True]


@pytest.mark.parametrize(
    "left",
    [
        (note(cluster="red"), service(cluster="red"), data()),
        (service(cluster="red"),),
        (note(product="zookeeper"),),
        (trace("data", product="zookeeper", node_id="4"),),
    ],
)
def test_nodes_of_another_cluster_or_product_on_the_machine_are_nothing(left: Any) -> None:
    assert renamed([node(*left)], "blue") == []


def test_data_of_another_cluster_id_is_another_clusters() -> None:
    assert renamed([node(data(cluster_id=OTHER_ID))], "blue", [ID]) == []
    assert names(renamed([node(data(cluster_id=OTHER_ID))], "blue")) == [("brk4", "broker4", True)]


def test_a_removed_broker_with_another_id_keeps_no_new_one_from_its_machine() -> None:
    left = (note(9), service(9), data(9))
    assert renamed([node(*left), other()], "blue", [ID]) == []


def test_a_whole_cluster_that_begins_anew_finds_data_of_its_name_whatever_the_id() -> None:
    assert names(renamed([node(note(9), service(9), data(9))], "blue")) == [("brk4", "broker4", False)]
    assert names(renamed([node(data(9))], "blue", [ID])) == [("brk4", "broker4", False)]
    assert renamed([node(data(9))], "blue") == []
    assert renamed([node(service(9))], "blue") == []
    assert names(renamed([node(trace("note"))], "blue")) == [("brk4", "broker4", False)]
    assert renamed([node(trace("note")), other()], "blue") == []


def test_several_nodes_of_one_machine_each_find_their_own() -> None:
    left = [one for n in (1, 2) for one in (note(n, name=f"kafka{n}"), data(n, name=f"kafka{n}"))]
    nodes = [node(*left, host=f"k{n}", node_id=n, machine="m") for n in (2, 1)]
    assert sorted(names(renamed(nodes, "blue"))) == [("k1", "kafka1", True), ("k2", "kafka2", True)]


def test_names_that_were_exchanged_are_found_before_the_cluster_begins_anew() -> None:
    nodes = [node(note(n, name=f"kafka{n}"), host=f"kafka{3 - n}", node_id=3 - n, machine=f"m{n}") for n in (1, 2)]
    assert names(renamed(nodes, "blue")) == [("kafka2", "kafka1", False), ("kafka1", "kafka2", False)]


def test_a_copy_of_its_data_beside_a_node_is_nothing_and_a_second_service_is_refused() -> None:
    assert renamed([node(data(name="brk4.old"), note(name="brk4.old"), has_data=True)], "blue", [ID]) == []
    assert renamed([node(data(name="brk4.bad"), emptied=True), other()], "blue", [ID]) == []
    found = renamed([node(service(), note(), has_data=True)], "blue", [ID])
    assert names(found) == [("brk4", "broker4", True)]
    assert names(renamed([node(service(), has_data=True)], "blue")) == [("brk4", "broker4", True)]


def test_a_server_of_zookeeper_is_found_by_myid_and_note() -> None:
    left = trace("data", name="zk1", product="zookeeper", node_id="1")
    server = node(left, host="zoo1", node_id=1, product="zookeeper")
    assert names(renamed([server], "blue")) == [("zoo1", "zk1", True)]
    assert names(renamed([server, other()], "blue")) == [("zoo1", "zk1", True)]
    assert renamed([node(left, host="zoo2", node_id=2, product="zookeeper"), other()], "blue") == []
