# SPDX-License-Identifier: GPL-3.0-or-later
"""Who the nodes of others are, and what does not fit together."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.adopt.nodes import disagreements
from ansible_collections.streamops.kafka.plugins.plugin_utils.findings import NOTE, REFUSE
from ansible_collections.streamops.kafka.plugins.plugin_utils.guards.foreign import foreign_nodes

CLUSTER = "MkU3OEVBNTcwNTJENDM2Qg"


def told(number: int, **other: Any) -> dict[str, Any]:
    """Return what adoption_info says of a combined node of Apache's release."""
    mark = {"cluster.id": CLUSTER, "node.id": str(number), "version": "1"}
    return {
        "product": "kafka",
        "pid": 100 + number,
        "ours": None,
        "properties": {"process.roles": "controller,broker", "node.id": str(number)},
        "dirs": [{"path": "/data", "meta_properties": mark, "myid": None}],
        "service": {"manager": "systemd", "name": "kafka.service"},
        "release": {"version": "4.3.1", "vendor": "apache", "summary": "4.3.1", "differing": [], "missing": []},
        **other,
    }


def machine(*processes: dict[str, Any], unread: list[dict[str, str]] | None = None) -> dict[str, Any]:
    """Return what a machine tells."""
    return {"processes": list(processes), "unread": unread or []}


def said(machines: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the level and the text of each finding."""
    return [(finding.level, finding.what) for finding in disagreements(machines, foreign_nodes(machines))]


def test_three_nodes_of_one_cluster_fit_together() -> None:
    machines = {f"kafka{number}": machine(told(number)) for number in (2, 1, 3)}
    nodes = foreign_nodes(machines)
    assert [(node.host, node.node_id, node.roles) for node in nodes] == [
        (f"kafka{number}", number, ("broker", "controller")) for number in (1, 2, 3)
    ]
    assert {node.cluster_id for node in nodes} == {CLUSTER}
    assert disagreements(machines, nodes) == []


def test_a_broker_of_zookeeper_whose_id_kafka_chose_is_known_by_its_directory() -> None:
    mark = {"cluster.id": CLUSTER, "broker.id": "1001", "version": "0"}
    broker = told(7, properties={}, dirs=[{"path": "/data", "meta_properties": mark, "myid": None}])
    server = told(8, product="zookeeper", properties={}, dirs=[{"path": "/zk", "meta_properties": None, "myid": "3"}])
    nodes = foreign_nodes({"a": machine(broker, server)})
    assert [(node.product, node.roles, node.node_id) for node in nodes] == [
        ("kafka", ("broker",), 1001),
        ("zookeeper", ("zookeeper",), 3),
    ]


@pytest.mark.parametrize(
    ("change", "level", "words"),
    [
        ({"service": {"manager": "container", "name": "3f2a"}}, REFUSE, "runs in container 3f2a, which is left alone"),
        ({"properties": {}, "dirs": []}, REFUSE, "nothing tells the id of a"),
        (
            {"release": {"version": "7.9.1", "vendor": "confluent", "summary": "7.9.1-ccs of confluent"}},
            REFUSE,
            "runs 7.9.1-ccs of confluent",
        ),
        (
            {
                "release": {
                    "version": "4.3.1",
                    "vendor": "apache",
                    "summary": "4.3.1, but 1 jar differs",
                    "differing": ["kafka-clients-4.3.1.jar"],
                    "missing": [],
                }
            },
            NOTE,
            "runs 4.3.1, but 1 jar differs",
        ),
        (
            {"dirs": [{"path": "/old", "meta_properties": {"cluster.id": CLUSTER, "node.id": "2"}, "myid": None}]},
            REFUSE,
            "/old is that of node 2",
        ),
    ],
    ids=["container", "no id", "vendor", "patched", "another directory"],
)
def test_what_keeps_a_node_from_being_taken_over_is_named(change: dict[str, Any], level: str, words: str) -> None:
    ((found, what),) = said({"a": machine(told(1, **change))})
    assert found == level
    assert words in what


def test_a_container_tells_nothing_but_that_it_is_one() -> None:
    contained = {
        "service": {"manager": "container", "name": "docker 3f2a"},
        "properties": {},
        "dirs": [],
        "release": {},
    }
    machines = {"a": machine(told(1, **contained)), "b": machine(told(2, **contained))}
    assert [(node.version, node.vendor) for node in foreign_nodes(machines)] == [("", "")] * 2
    assert said(machines) == [
        (REFUSE, f"{host} (kafka, process {pid}) runs in container docker 3f2a, which is left alone")
        for host, pid in (("a", 101), ("b", 102))
    ]


def test_directories_of_two_clusters_are_named() -> None:
    marks = [{"cluster.id": CLUSTER, "node.id": "1"}, {"cluster.id": "another", "node.id": "1"}]
    places = [{"path": f"/d{at}", "meta_properties": mark, "myid": None} for at, mark in enumerate(marks)]
    ((_level, what),) = said({"a": machine(told(1, dirs=places))})
    assert f"/d1 is of cluster another, others are of {CLUSTER}" in what


def test_two_nodes_with_one_id_and_two_releases_are_named() -> None:
    older = {"version": "4.1.2", "vendor": "apache", "summary": "4.1.2", "differing": [], "missing": []}
    texts = said({"a": machine(told(1)), "b": machine(told(1, release=older))})
    assert [level for level, _what in texts] == [REFUSE] * 3
    assert sum("has the id of another node of its cluster" in what for _level, what in texts) == 2
    assert (REFUSE, f"cluster {CLUSTER} runs several releases: 4.1.2, 4.3.1") in texts


def test_machines_that_tell_nothing_are_notes() -> None:
    ours = told(1, ours={"product": "kafka", "node_id": "1", "cluster": "blue"})
    unread = [{"path": "/proc/9/environ", "why": "permission denied"}]
    connect = told(9, product="connect", properties={}, dirs=[])
    machines = {"a": machine(), "b": machine(ours, connect), "c": machine(told(2), unread=unread)}
    assert [node.host for node in foreign_nodes(machines)] == ["c"]
    assert said(machines) == [
        (NOTE, "a: no process of Kafka, ZooKeeper or MirrorMaker runs"),
        (NOTE, "b: process 101 (kafka) is one of this collection already"),
        (NOTE, "b: process 109 is a worker of Kafka Connect, which is left alone"),
        (NOTE, "c: /proc/9/environ is not known: permission denied"),
    ]


def test_nodes_of_clusters_whose_ids_are_not_known_are_told_apart_by_what_they_name() -> None:
    def blind(number: int, voters: str) -> dict[str, Any]:
        return told(number, properties={"node.id": str(number), "controller.quorum.voters": voters}, dirs=[])

    def servers(number: int, peer: str) -> dict[str, Any]:
        place = {"path": "/zk", "meta_properties": None, "myid": str(number)}
        return told(number, product="zookeeper", properties={"server.1": f"{peer}:2888:3888"}, dirs=[place])

    assert said({"a": machine(blind(1, "1@a:9093")), "b": machine(blind(1, "1@b:9093"))}) == []
    assert said({"a": machine(blind(1, "1@localhost:9093")), "b": machine(blind(1, "1@localhost:9093"))}) == []
    assert said({"a": machine(servers(1, "a")), "b": machine(servers(1, "b"))}) == []
    alike = said({"a": machine(blind(1, "1@a:9093")), "b": machine(blind(1, "1@a:9093"))})
    assert [level for level, _what in alike] == [REFUSE] * 2
    assert len(said({"a": machine(servers(1, "a")), "b": machine(servers(1, "a"))})) == 2
