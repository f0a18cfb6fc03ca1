# SPDX-License-Identifier: GPL-3.0-or-later
"""restart_gate against real brokers: open when all is well, shut with every reason when it is not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.cluster import Cluster, free_port_base
from tests.support.modules import run_module

SAFE, SINGLE = "gate-safe", "gate-single"


def ask(cluster: Cluster, node: str, check: bool = False, **options: Any) -> dict[str, Any]:
    """Return the gate's answer for a node, in a roll of all nodes."""
    everybody = list(cluster.identities.values())
    arguments = {
        "bootstrap_servers": cluster.bootstrap_servers,
        "node_id": cluster.identities[node],
        "expected_brokers": everybody,
        "expected_controllers": everybody,
        "timeout": 60,
        "interval": 1,
        **options,
    }
    return run_module("streamops.kafka.restart_gate", arguments, check=check)


def change(cluster: Cluster, *topics: dict[str, Any]) -> None:
    """Make topics as wished."""
    arguments = {"bootstrap_servers": cluster.bootstrap_servers, "topics": list(topics), "allow_delete": True}
    answer = run_module("streamops.kafka.topics", arguments)
    assert not answer["failed"], answer


@pytest.fixture(scope="module")
def roomy(combined: Cluster) -> Iterator[Cluster]:
    """The cluster with a topic that can spare a replica."""
    change(combined, {"name": SAFE, "partitions": 6, "replication_factor": 3, "config": {"min.insync.replicas": "2"}})
    yield combined
    change(combined, {"name": SAFE, "state": "absent"})


@pytest.fixture
def single(roomy: Cluster) -> Iterator[Cluster]:
    """The cluster with a topic of one replica for each partition."""
    change(roomy, {"name": SINGLE, "partitions": 3, "replication_factor": 1})
    yield roomy
    change(roomy, {"name": SINGLE, "state": "absent"})


def test_every_node_of_a_healthy_cluster_may_be_stopped_and_one_is_the_active_controller(roomy: Cluster) -> None:
    answers = {node: ask(roomy, node) for node in roomy.nodes}
    assert all(answer["allowed"] and answer["refusals"] == [] for answer in answers.values()), answers
    assert sum(answer["is_active_controller"] for answer in answers.values()) == 1


def test_dead_bootstrap_servers_do_not_matter_while_one_answers(roomy: Cluster) -> None:
    servers = [f"127.0.0.1:{free_port_base()}", *roomy.bootstrap_servers]
    assert ask(roomy, "kafka2", bootstrap_servers=servers)["allowed"]


def test_two_of_three_nodes_at_once_are_refused(roomy: Cluster) -> None:
    both = [roomy.identities["kafka2"], roomy.identities["kafka3"]]
    arguments = {"bootstrap_servers": roomy.bootstrap_servers, "node_ids": both, "timeout": 1}
    answer = run_module("streamops.kafka.restart_gate", arguments)
    assert {"would_fall_under_min_isr", "quorum_majority"} <= {refusal["kind"] for refusal in answer["refusals"]}


@pytest.mark.full
def test_another_broker_that_is_down_refuses_the_roll_with_every_reason(roomy: Cluster) -> None:
    roomy.stop("kafka3")
    try:
        answer = ask(roomy, "kafka2", timeout=4)
        looked = ask(roomy, "kafka2", check=True)
    finally:
        roomy.start("kafka3")
    down = roomy.identities["kafka3"]
    kinds = {refusal["kind"] for refusal in answer["refusals"]}
    assert answer["failed"]
    assert not answer["allowed"]
    assert {"broker_down", "would_fall_under_min_isr", "quorum_majority", "controller_down"} <= kinds
    assert f"broker {down} is fenced" in answer["msg"]
    # Which partitions are shown of many depends on what else the cluster holds.
    assert re.search(r"would fall below min\.insync\.replicas without node \d: found \S+-\d+ \(ISR", answer["msg"])
    assert "nothing was stopped" in answer["msg"]
    assert len(answer["history"]) == min(3, answer["looks"])
    assert (looked["failed"], looked["allowed"], looked["looks"]) == (False, False, 1)
    # The gate itself waits for what passes: the broker returns, catches up, and the roll may go on.
    assert ask(roomy, "kafka2", timeout=120)["allowed"]


def test_a_topic_without_a_spare_replica_needs_its_name_as_consent(single: Cluster) -> None:
    refused = ask(single, "kafka2")
    assert [refusal["kind"] for refusal in refused["refusals"]] == ["no_spare_replica"]
    assert refused["looks"] == 1, "waiting makes no sense"
    assert SINGLE in refused["msg"]
    assert "allow_unavailable_topics" in refused["msg"]
    assert not ask(single, "kafka2", allow_unavailable_topics=["another"])["allowed"]
    assert ask(single, "kafka2", allow_unavailable_topics=[SINGLE])["allowed"]
    assert ask(single, "kafka2", allow_unavailable_topics=["*"])["allowed"]


@pytest.mark.full
def test_an_unreachable_cluster_keeps_the_gate_shut(roomy: Cluster) -> None:
    answer = ask(roomy, "kafka2", bootstrap_servers=[f"127.0.0.1:{free_port_base()}"])
    assert answer["failed"]
    assert answer["looks"] == 1
    assert "nothing was stopped" in answer["msg"]
