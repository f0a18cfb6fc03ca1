# SPDX-License-Identifier: GPL-3.0-or-later
"""What the model and results of tasks say about the controllers and the quorum."""

from __future__ import annotations

from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.voters.read import read_facts

LISTENER = {"purpose": "controllers", "name": "CONTROLLER", "socket": "k1:9093", "port": 9093}
MEMBER = {"id": 1, "directory_id": "dir1", "log_end_offset": 9, "lag": 0, "last_caught_up_ms_ago": 1}
QUORUM = {"leader_id": 1, "leader_epoch": 2, "high_watermark": 9, "voters": [MEMBER], "observers": [], "error": None}
ASKED = {"nodes": [{"id": 11}], "cluster_id": "c1", "quorum": QUORUM}


def node(host: str, number: Any, *roles: str) -> dict[str, Any]:
    return {"host": host, "node_id": number, "roles": list(roles), "listeners": [LISTENER]}


NODES = [node("k1", 1, "controller"), node("k2", "2", "broker", "controller"), node("b1", 11, "broker")]


def info(host: str) -> dict[str, Any]:
    """k1 runs with a disk; of k2 nothing was seen yet."""
    if host != "k1":
        return {}
    disks = [
        {"metadata": False, "meta_properties": {"directory.id": "data", "cluster.id": "c1"}},
        {"metadata": True, "meta_properties": {"directory.id": "dir1", "cluster.id": "c1"}},
    ]
    return {"disks": disks, "ports": {"9093": 0.01}, "process": {"running": True}}


def test_controllers_are_read_with_what_their_machines_told() -> None:
    found = read_facts("c", NODES, ASKED, info, ["k2"])
    first, second = found.controllers
    assert (first.directory_id, first.cluster_id, first.running, first.listens) == ("dir1", "c1", True, True)
    assert (first.listener, first.leaves, first.is_broker) == ("k1:9093", False, False)
    assert (second.directory_id, second.running, second.listens) == ("", False, False)
    assert (second.node_id, second.leaves, second.is_broker) == (2, True, True)


def test_the_quorum_is_read_as_it_answered() -> None:
    found = read_facts("c", NODES, ASKED, info, ["b1", "k9"])
    assert found.quorum is not None
    assert [one.directory_id for one in found.voters] == ["dir1"]
    assert (found.cluster_id, found.brokers, found.unasked) == ("c1", frozenset({11}), "")
    assert found.unknown == ("b1", "k9"), "a broker is no controller"


def test_a_cluster_that_did_not_answer_says_why() -> None:
    assert read_facts("c", NODES, {"failed": True, "msg": "timed out"}, info, []).unasked == "timed out"
    assert read_facts("c", NODES, {}, info, []).unasked == "no answer"
