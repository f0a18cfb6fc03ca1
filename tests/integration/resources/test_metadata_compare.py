# SPDX-License-Identifier: GPL-3.0-or-later
"""What each node of a real cluster believes of its metadata, compared: all agree, one is frozen, and agrees again."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._configs.api import BROKER as BROKER_CONFIG
from ansible_collections.streamops.kafka.plugins.module_utils._configs.api import alter_configs
from ansible_collections.streamops.kafka.plugins.module_utils._metadata.compare import described, judged
from ansible_collections.streamops.kafka.plugins.module_utils._metadata.look import Question, verdict_on
from ansible_collections.streamops.kafka.plugins.module_utils._metadata.model import ASKED
from ansible_collections.streamops.kafka.plugins.module_utils._quotas.api import alter_quotas
from ansible_collections.streamops.kafka.plugins.module_utils._users.api import alter_credentials
from tests.support.cluster import Cluster, until
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


def test_a_frozen_active_controller_makes_no_other_node_silent(combined: Cluster) -> None:
    """Who leads is asked of the active controller by the broker, which serves on whatever becomes of the answer."""
    frozen = next(
        node for node in combined.nodes if combined.identities[node] == leader_of(compare(combined.bootstrap_servers))
    )
    others = [f"127.0.0.1:{combined.port(node)}" for node in combined.nodes if node != frozen]
    with combined.frozen(frozen):
        held = compare(others, timeout=0, node_timeout=1.5)
    number = combined.identities[frozen]
    assert f"broker {number}" in held["silent"], held["lines"]
    assert {*held["silent"]} <= {f"broker {number}", f"controller {number}"}, held["lines"]
    back = {"bootstrap_servers": combined.bootstrap_servers, "scope": "cluster", "timeout": 120}
    assert run_module("streamops.kafka.isr_wait", back)["in_sync"]


def leader_of(found: dict[str, Any]) -> int:
    """Return the active controller: the one that tells the epoch."""
    (leader,) = [one["id"] for one in found["nodes"] if one["kind"] == "controller" and "epoch" in one["digests"]]
    return int(leader)


def make(topic: str, servers: list[str], broker: int) -> None:
    """Make a topic with one copy on this broker.

    With KRaft a broker names any live broker as the controller (KIP-590), a frozen one too until it is fenced, and a
    client waits for that one in vain. So each try asks anew.
    """
    wanted = NewTopic(topic, 1, replica_assignment=[[broker]], config={"retention.ms": "60000"})

    def is_made() -> bool:
        """Try once; a try without an answer may have made it."""
        admin = AdminClient({"bootstrap.servers": ",".join(servers)})
        try:
            admin.create_topics([wanted], request_timeout=10)[topic].result(30)
        except KafkaException as error:
            code = error.args[0].code()
            if code not in (KafkaError._TIMED_OUT, KafkaError.TOPIC_ALREADY_EXISTS):
                raise
            return bool(code == KafkaError.TOPIC_ALREADY_EXISTS)
        return True

    until(is_made, f"topic {topic}", 120)


@contextmanager
def changed(session: Session, name: str) -> Iterator[None]:
    """A user and a quota of this name, and a setting of all brokers."""
    entity, setting = (("user", name),), "log.cleaner.backoff.ms"
    key = hashlib.pbkdf2_hmac("sha256", b"of-a-test", b"s" * 16, 8192)
    alter_credentials(session, [(name, "SCRAM-SHA-256", 8192, b"s" * 16, key)], [])
    alter_quotas(session, {entity: {"producer_byte_rate": 1000.0}})
    alter_configs(session, BROKER_CONFIG, {"": {setting: "16000"}})
    try:
        yield
    finally:
        alter_credentials(session, [], [(name, "SCRAM-SHA-256")])
        alter_quotas(session, {entity: {"producer_byte_rate": None}})
        alter_configs(session, BROKER_CONFIG, {"": {setting: None}})


@pytest.mark.full
def test_what_a_node_answered_before_a_change_differs_in_every_subject_of_it(combined: Cluster, topic: str) -> None:
    servers = combined.bootstrap_servers
    stale = f"broker {combined.identities[combined.nodes[-1]]}"
    with Session(Connection(tuple(servers))) as session:
        before = {node.name: node for node in verdict_on(session, Question()).last.nodes}
        make(topic, servers, combined.identities[combined.nodes[0]])
        with changed(session, topic):
            verdict = verdict_on(session, Question())
    assert verdict.agree
    # A node that took no record of the change would say that it has all of the log, and answer as before.
    after = verdict.last
    nodes = [replace(before[one.name], applied=one.applied) if one.name == stale else one for one in after.nodes]
    looks = [replace(after, at=after.at + 3 * number, nodes=tuple(nodes)) for number in range(3)]
    found = described(judged(looks), 50)
    names = {one["subject"]: {each["name"] for each in one["names"]} for one in found["differences"]}
    assert found["agree"] is False
    assert {subject: {name for name in some if topic in name or subject == "broker_configs"}
            for subject, some in names.items()} == {
        "topics": {topic},
        "partitions": {f"{topic}-0"},
        "topic_configs": {f"{topic} retention.ms"},
        "broker_configs": {"log.cleaner.backoff.ms"},
        "users": {topic},
        "quotas": {f"user {topic}"},
    }  # fmt: skip
    assert {tuple(one["apart"]) for one in found["differences"]} == {(stale,)}
    assert f"{stale} differs in topics, partitions, topic_configs, broker_configs, users, quotas" in found["lines"][0]
