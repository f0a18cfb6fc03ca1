# SPDX-License-Identifier: GPL-3.0-or-later
"""What each node of a real cluster believes of its metadata, compared: all agree, one is frozen, and agrees again."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from ansible_collections.streamops.kafka.plugins.module_utils._metadata.model import ASKED
from tests.support.cluster import Cluster
from tests.support.modules import run_module


def compare(servers: list[str], check: bool = False, **options: Any) -> dict[str, Any]:
    """Compare, through the action plugin."""
    return run_module("streamops.kafka.metadata_compare", {"bootstrap_servers": servers, **options}, check=check)


@pytest.fixture
def topic(combined: Cluster) -> Iterator[str]:
    """The name of a topic that is gone after the test, at every broker."""
    name = f"compared-{uuid.uuid4().hex[:8]}"
    yield name
    admin = AdminClient({"bootstrap.servers": ",".join(combined.bootstrap_servers)})
    for future in admin.delete_topics([name], request_timeout=20).values():
        future.result(30)
    left = compare(combined.bootstrap_servers, subjects=["topics"])
    assert left["agree"]
    assert {node["kind"] for node in left["nodes"]} == {"broker"}
    # A machine that is busy may have frozen the node for so long that it was fenced.
    back = {"bootstrap_servers": combined.bootstrap_servers, "scope": "cluster", "timeout": 120}
    assert run_module("streamops.kafka.isr_wait", back)["in_sync"]


def test_all_agree_and_a_frozen_node_is_named_until_it_has_caught_up(combined: Cluster, topic: str) -> None:
    found = compare(combined.bootstrap_servers, check=True)
    assert found["agree"], found
    assert found["lines"][0] == f"all 3 nodes agree at offset {found['offset']}"
    assert [node["name"] for node in found["nodes"]] == [
        f"{kind} {combined.identities[node]}" for kind in ("broker", "controller") for node in combined.nodes
    ]
    for node in found["nodes"]:
        asked = {subject for subject, kinds in ASKED.items() if node["kind"] in kinds}
        assert {*node["digests"], *node["unanswered"]} == asked
        assert node["log_end"] > 0
    told = {why for node in found["nodes"] for why in node["unanswered"].values()}
    assert told == {"the cluster has no authorizer", "only the active controller tells the epoch"}

    frozen = next(node for node in reversed(combined.nodes) if combined.identities[node] != leader_of(found))
    others = [f"127.0.0.1:{combined.port(node)}" for node in combined.nodes if node != frozen]
    broker, controller = (f"{kind} {combined.identities[frozen]}" for kind in ("broker", "controller"))
    with combined.frozen(frozen):
        make(topic, others, next(combined.identities[node] for node in combined.nodes if node != frozen))
        held = compare(others, timeout=0, node_timeout=1.5)
    assert held["failed"]
    assert held["failure"]["kind"] == "MetadataCompareTimeout"
    assert held["silent"] == [broker, controller]
    assert f"{broker}, {controller} do not answer" in held["lines"][0]
    assert held["lines"][0].startswith("2 of 3 nodes agree at offset ")
    assert held["differences"] == []

    again = compare(combined.bootstrap_servers, timeout=60, interval=1)
    assert again["agree"], again
    assert again["offset"] > found["offset"]
    assert again["nodes"][0]["digests"]["topics"] != found["nodes"][0]["digests"]["topics"]


def leader_of(found: dict[str, Any]) -> int:
    """Return the active controller: the one that tells the epoch."""
    (leader,) = [one["id"] for one in found["nodes"] if one["kind"] == "controller" and "epoch" in one["digests"]]
    return int(leader)


def make(topic: str, servers: list[str], broker: int) -> None:
    """Make a topic with one copy on this broker."""
    admin = AdminClient({"bootstrap.servers": ",".join(servers)})
    wanted = NewTopic(topic, 1, replica_assignment=[[broker]], config={"retention.ms": "60000"})
    admin.create_topics([wanted], request_timeout=20)[topic].result(30)
