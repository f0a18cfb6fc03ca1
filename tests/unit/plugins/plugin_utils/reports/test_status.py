"""The verdict on a cluster, and what a run changed."""

from __future__ import annotations

from typing import Any, cast

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._node.adopted import Told
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status import (
    adopted_lines,
    change_lines,
    cluster_lines,
    ensemble_lines,
    feature_lines,
    finding_lines,
    metadata_lines,
    node_lines,
    running_versions,
    short_list,
    verdict_line,
)

NODES = [{"host": f"kafka{one}", "node_id": one, "roles": ["broker", "controller"]} for one in (1, 2, 3)]


def finding(what: str, severity: str, **values: str) -> dict[str, str]:
    """A finding as cluster_health returns it."""
    return {"kind": "k", "severity": severity, "what": what, "next_step": "look", **values}


def info(**values: Any) -> dict[str, Any]:
    """A cluster that is well, but for what is given."""
    return {
        "nodes": [{"id": one, "fenced": False} for one in (1, 2, 3)],
        "controller_id": 1,
        "quorum": {"leader_id": 1, "voters": []},
        "counts": {"nodes": 3, "partitions": 12, "offline": 0, "under_min_isr": 0, "under_replicated": 0},
        **values,
    }


def test_a_verdict_says_why() -> None:
    well = {"status": "OK", "cluster": info(), "findings": []}
    assert verdict_line("local", well) == "OK           local: 3 brokers up, 12 partitions in sync"
    found = [finding("a", "degraded"), finding("b", "note"), finding("c", "down")]
    assert verdict_line("local", {**well, "status": "DEGRADED", "findings": found}) == "DEGRADED     local: a; c"
    away = {"status": "DOWN", "cluster": None, "findings": [finding("no answer", "down")]}
    assert verdict_line("local", away) == "DOWN         local: no answer"


def test_next_steps_are_told_once_and_notes_are_told() -> None:
    found = [finding("a", "degraded"), finding("b", "note"), finding("c", "down", kind="x", next_step="wait")]
    assert finding_lines(found) == ["Note         b", "Next         k: look", "Next         x: wait"]
    assert finding_lines([]) == []


def test_a_quorum_that_could_not_be_asked_has_no_controller_that_is_known() -> None:
    quorum = {"leader_id": None, "leader_epoch": -1, "voters": [], "observers": [], "error": "no answer within 30 s"}
    found = info(controller_id=None, quorum=quorum, cluster_id="c", topics=[])
    assert "Controller   unknown" in cluster_lines("local", "4.3.1", found, NODES, ["a:1"])


def test_a_run_says_what_it_changed() -> None:
    changes = {
        "topics": {"created": ["orders", "payments"], "grown": [], "unchanged": 3},
        "ACLs": {"added": 2, "removed": 0},
        "settings": {"settings": {"cluster default": {"min.insync.replicas": "2"}}},
        "users": {"skipped": True},
    }
    assert change_lines(changes, ["b1"], ["kafka1", "kafka2"]) == [
        "Changed      topics created: orders, payments; ACLs added: 2; settings set on cluster default; files of b1",
        "Restarted    kafka1, kafka2",
    ]
    assert change_lines({"topics": {}}, [], []) == []
    assert change_lines({}, ["b1"], [], check=True) == ["Would change files of b1"]


def test_a_thousand_topics_are_counted() -> None:
    assert short_list([f"topic{one}" for one in range(1000)]).startswith("1000 (topic0, topic1, ")
    assert short_list([]) == "none"


def test_a_node_is_described_with_its_roles_and_what_is_wrong_with_it() -> None:
    roles = (["controller"], ["broker"], ["broker"], ["broker", "controller"])
    nodes = [{"host": f"k{id_}", "node_id": id_, "roles": one} for id_, one in enumerate(roles)]
    assert node_lines(nodes, [{"id": 1, "fenced": False}, {"id": 2, "fenced": True}]) == [
        "k0 (id 0, controller)",
        "k1 (id 1, broker)",
        "k2 (id 2, broker, fenced)",
        "k3 (id 3, broker and controller, not registered)",
    ]


@pytest.mark.parametrize(("quorum", "epoch"), [({"leader_id": 1, "leader_epoch": 7}, " in epoch 7"), (None, "")])
def test_a_cluster_is_told_in_six_lines(quorum: dict[str, Any] | None, epoch: str) -> None:
    topics = [{"name": name, "internal": name.startswith("__")} for name in ("b", "__offsets", "a")]
    found = info(quorum=quorum, topics=topics, cluster_id="x")
    assert cluster_lines("blue", "4.3.1", found, NODES[:1], ["h:1", "i:1"]) == [
        "Cluster      blue, Kafka 4.3.1, id x",
        "Bootstrap    h:1,i:1",
        "Nodes        kafka1 (id 1, broker and controller)",
        f"Controller   node 1{epoch}",
        "Topics       2 (a, b)",
        "Replication  12 partitions, 0 under-replicated, 0 offline",
    ]


@pytest.mark.parametrize(
    ("versions", "said"),
    [
        ({"a": "4.3.1", "b": "4.3.1"}, "4.3.1"),
        ({"a": "4.3.1", "b": None}, "4.3.1, unknown on b"),
        ({"a": "3.9.2", "b": "4.3.1", "c": "4.3.1"}, "3.9.2 on 1 of 3 nodes (a), 4.3.1 on 2 of 3 nodes (b, c)"),
        ({"a": None}, "of unknown version"),
        ({}, "of unknown version"),
    ],
)
def test_the_version_is_the_one_that_runs(versions: dict[str, str | None], said: str) -> None:
    assert running_versions(versions) == said


def server(node_id: int, state: str, error: str = "") -> dict[str, Any]:
    """A server as zookeeper_info lists it."""
    version = "" if error else "3.9.5"
    return {"id": node_id, "address": f"h{node_id}:2181", "state": state, "version": version, "error": error}


def test_an_ensemble_is_told_with_its_servers() -> None:
    names = {1: "zk1", 2: "zk2"}
    found = {"servers": [server(1, "leader"), server(2, "follower")], "leader_id": 1, "problems": []}
    assert ensemble_lines("blue", found, names) == [
        "OK           ensemble of blue: 2 servers up, zk1 leads",
        "ZooKeeper    zk1 (id 1, leader, version 3.9.5); zk2 (id 2, follower, version 3.9.5)",
    ]
    away = {**found, "servers": [server(3, "unreachable", "connection refused")], "problems": ["no server leads"]}
    assert ensemble_lines("blue", away, names) == [
        "DEGRADED     ensemble of blue: no server leads",
        "ZooKeeper    h3:2181 (id 3, unreachable, connection refused)",
    ]


def test_features_that_are_below_are_told_with_what_could_be_had_and_kraft_version_is_no_such_thing() -> None:
    metadata = {
        "name": "metadata.version",
        "finalized": 25,
        "finalized_name": "4.0-IV3",
        "max": 30,
        "max_name": "4.3-IV0",
        "below": True,
    }
    group = {"name": "group.version", "finalized": 0, "finalized_name": None, "max": 1, "max_name": None, "below": True}
    level = {**group, "name": "share.version", "finalized": 1, "below": False}
    found = {"features": [metadata, group, level, {**group, "name": "kraft.version"}], "unknown": []}
    assert feature_lines(found) == [
        "Features     metadata.version 4.0-IV3 although all nodes could run 4.3-IV0",
        "Features     group.version 0 although all nodes could run 1",
    ]
    silent = {**found, "unknown": ["controller 9"]}
    assert feature_lines(silent)[1] == "Features     group.version 0 although all nodes that answered could run 1"
    assert feature_lines({"failed": True, "msg": "no answer"}) == []


def test_the_metadata_has_one_line_where_all_agree_and_a_line_for_each_trouble_where_not() -> None:
    rest = "acls not compared at broker 1: the cluster has no authorizer"
    well = {"agree": True, "lines": ["all 3 nodes agree at offset 512", rest]}
    assert metadata_lines(well) == ["Metadata     all 3 nodes agree at offset 512"]
    ill = {
        "agree": False,
        "lines": ["2 of 3 nodes agree at offset 512: broker 3 differs in topics", "topics: broker 3"],
    }
    assert metadata_lines(ill) == [f"Metadata     {line}" for line in ill["lines"]]
    assert metadata_lines({"failed": True, "msg": "no answer\nmore"}) == ["Metadata     not compared: no answer"]
    assert metadata_lines({}) == metadata_lines({"skipped": True, "msg": "x"}) == []


def test_the_status_says_who_has_nodes_that_something_else_ran() -> None:
    def node(phase: str, runs: str) -> Told:
        own = {"manager": "systemd", "name": "kafka.service", "version": "", "logs_dir": ""}
        return cast("Told", {"phase": phase, "runs": runs, "service": "systemd kafka.service", **own})

    take = "(adopt.yml -e kafka_adopt=take goes on)"

    back = "(adopt.yml -e kafka_adopt=back goes on)"
    known = {"a": node("taken", "ours"), "b": node("taken", "ours"), "c": node("claimed", "old")}
    assert adopted_lines(known) == [
        "Adopted      a, b: taken over from systemd kafka.service, can be given back (adopt.yml -e kafka_adopt=back)",
        "Adopted      c: still run by systemd kafka.service (adopt.yml -e kafka_adopt=take goes on)",
    ]
    known = {"a": node("returned", "old"), "b": node("returned", "ours"), "c": node("returned", "nobody")}
    assert adopted_lines(known) == [
        "Adopted      a: given back to systemd kafka.service",
        f"Adopted      b: not given back yet to systemd kafka.service {back}",
        f"Adopted      c: does not run; to be given back to systemd kafka.service {back}",
    ]
    assert adopted_lines({"a": node("claimed", "ours")})[0].endswith("kafka_adopt=take goes on)")
    assert adopted_lines({"a": node("claimed", "nobody")}) == [
        f"Adopted      a: does not run; to be taken over from systemd kafka.service {take}"
    ]
    assert adopted_lines({}) == []
