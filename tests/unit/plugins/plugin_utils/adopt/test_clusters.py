# SPDX-License-Identifier: GPL-3.0-or-later
"""Which nodes of others form a cluster, and what it is."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.adopt.clusters import clusters_of
from ansible_collections.streamops.kafka.plugins.plugin_utils.guards.foreign import foreign_nodes
from tests.unit.plugins.plugin_utils.adopt.machines import CLUSTER, CONTAINED, machine, node, server, three

BROKER, CONTROLLER = {"process.roles": "broker"}, {"process.roles": "controller"}
STATIC = {"controller.quorum.voters": "1@kafka1:9093"}


def formed(*processes: dict[str, Any]) -> list[tuple[str, str, str, int]]:
    """Return mode, quorum, id and size of the clusters that processes form, each on a machine of its own."""
    nodes = foreign_nodes({f"host{at}": machine(process) for at, process in enumerate(processes)})
    return [(known.mode, known.quorum, known.cluster_id, len(known.nodes)) for known in clusters_of(nodes)]


@pytest.mark.parametrize(
    ("properties", "mode", "quorum"),
    [
        ([{}, {}], "kraft, combined", "dynamic quorum"),
        ([CONTROLLER, BROKER], "kraft, isolated", "dynamic quorum"),
        ([{}, BROKER], "kraft, combined and isolated nodes", "dynamic quorum"),
        ([STATIC, STATIC], "kraft, combined", "static quorum"),
        ([STATIC, {}], "kraft, combined", "static quorum on some nodes and dynamic on others"),
        ([{"process.roles": None}, {"process.roles": None}], "zookeeper", ""),
        ([{"process.roles": None}, CONTROLLER], "zookeeper, and controllers of KRaft beside it", "dynamic quorum"),
    ],
)
def test_a_cluster_is_what_its_properties_say(properties: list[dict[str, Any]], mode: str, quorum: str) -> None:
    processes = [node(number, properties=given) for number, given in enumerate(properties, 1)]
    assert formed(*processes) == [(mode, quorum, CLUSTER, len(properties))]


def test_a_node_whose_directories_are_not_read_belongs_to_those_with_its_controllers() -> None:
    assert formed(node(1), node(2, dirs=[])) == [("kraft, combined", "dynamic quorum", CLUSTER, 2)]


def test_loopback_means_another_machine_on_each() -> None:
    local = {"controller.quorum.bootstrap.servers": "localhost:9093"}
    assert len(formed(node(1, properties=local, dirs=[]), node(1, properties=local, dirs=[]))) == 2


def test_two_clusters_with_the_same_words_are_not_mixed() -> None:
    other = [{"path": "/d", "meta_properties": {"cluster.id": "another", "node.id": "2"}, "myid": None}]
    ids = [cluster_id for _mode, _quorum, cluster_id, _size in formed(node(1), node(2, dirs=other), node(3, dirs=[]))]
    assert ids == ["", CLUSTER, "another"]


def test_clusters_of_kafka_come_first_and_a_container_is_in_none() -> None:
    nodes = foreign_nodes({"a": machine(server(1), CONTAINED), **three()})
    assert [(known.product, len(known.nodes)) for known in clusters_of(nodes)] == [("kafka", 3), ("zookeeper", 1)]
    assert [known.broker_ids for known in clusters_of(nodes)] == [{1, 2, 3}, set()]
    assert clusters_of(nodes)[0].controller_ids == {1, 2, 3}
