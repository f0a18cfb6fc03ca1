"""The whole file of MirrorMaker 2: what stands in it for each shape of flows and each version, and who wins."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.properties import parse, to_text
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.reading import (
    read_flows,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors.properties import mirror_properties, tasks_max

OPTIONS = {"tasks_max": 0, "nodes": 1, "refresh_seconds": 60, "offset_flush_seconds": 10, "rebalance_delay_seconds": 30}
CLUSTERS = {
    "a": {"bootstrap_servers": ["a1:9092", "a2:9092"], "properties": {"security.protocol": "SASL_SSL"}, "brokers": 2},
    "b": {"bootstrap_servers": ["b1:9092"], "properties": {}, "brokers": 5},
    "c": {"bootstrap_servers": ["c1:9092"], "brokers": 1},
}


def one(source: str = "a", target: str = "b", **changes: Any) -> dict[str, Any]:
    return {"source": source, "target": target, "topics": ["orders"], **changes}


def made(*raw: dict[str, Any], target: str = "b", version: str = "4.3.1", **options: Any) -> dict[str, Any]:
    return mirror_properties(read_flows(raw), target, CLUSTERS, {**OPTIONS, **options}, version)


def starting(found: dict[str, Any], prefix: str) -> dict[str, Any]:
    return {key[len(prefix) :]: value for key, value in found.items() if key.startswith(prefix)}


def test_clusters_and_how_to_reach_them() -> None:
    found = made(one())
    assert found["clusters"] == ["b", "a"]
    assert found["a.bootstrap.servers"] == ["a1:9092", "a2:9092"]
    assert found["a.security.protocol"] == "SASL_SSL"
    assert "c.bootstrap.servers" not in found


def test_it_prints_as_a_file() -> None:
    printed = parse(to_text(made(one(topics=["audit[.].*", r"x\.y"]))))
    assert printed["a->b.topics"] == r"audit[.].*,x\.y"
    assert printed["a->b.enabled"] == "true"
    assert printed["a->b.topics.exclude"] == r".*[\-.]internal,.*\.replica,__.*,_streamops_.*"


def test_secrets_come_from_files_of_one_directory() -> None:
    found = made(one(), secrets_dir="/etc/kafka/m1")
    assert found["config.providers"] == "file"
    assert found["config.providers.file.class"].endswith(".FileConfigProvider")
    assert found["config.providers.file.param.allowed.paths"] == "/etc/kafka/m1"
    assert "config.providers.file.param.allowed.paths" not in made(one())


def test_what_a_flow_says() -> None:
    pair = starting(
        made(one(topics_exclude=["tmp", "__.*"], groups=["app"], groups_exclude=["old"], sync_topic_acls=True)), "a->b."
    )
    assert (pair["topics"], pair["groups"]) == (["orders"], ["app"])
    assert pair["topics.exclude"][-1] == "tmp"
    assert len(pair["topics.exclude"]) == 5
    assert pair["groups.exclude"] == ["console-consumer-.*", "connect-.*", "__.*", "old"]
    assert pair["sync.topic.acls.enabled"] is True
    assert pair["replication.policy.class"].endswith(".DefaultReplicationPolicy")
    identity = made(one(policy="identity"))["a->b.replication.policy.class"]
    assert identity.endswith(".IdentityReplicationPolicy")


def test_every_topic_has_as_many_copies_as_its_own_cluster_can_hold() -> None:
    found = made(one())
    assert found["replication.factor"] == found["checkpoints.topic.replication.factor"] == 3
    assert found["a->b.offset-syncs.topic.replication.factor"] == 2
    assert found["a->b.heartbeats.topic.replication.factor"] == 3
    assert found["b->a.heartbeats.topic.replication.factor"] == 2
    for kind in ("config", "offset", "status"):
        assert found[f"b.{kind}.storage.replication.factor"] == 3
        assert found[f"a.{kind}.storage.replication.factor"] == 2
    assert made(one("a", "c"), target="c")["replication.factor"] == 1


def test_what_is_read_at_each_start_stays_small() -> None:
    assert made(one())["b.offset.storage.segment.bytes"] == 50 * 1024 * 1024


def test_one_way_runs_a_herder_back_for_heartbeats_and_no_other() -> None:
    found = made(one(), one("c", "b"))
    assert found["emit.heartbeats.enabled"] is False
    assert {key for key, value in found.items() if key.endswith("->b.enabled") and value} == {
        "a->b.enabled",
        "c->b.enabled",
    }
    assert starting(found, "b->a.") == {
        "enabled": False,
        "emit.heartbeats.enabled": True,
        "heartbeats.topic.replication.factor": 2,
    }
    assert not starting(found, "a->c.")
    assert not starting(found, "c->a.")
    assert found["a->b.emit.heartbeats.enabled"] is False


def test_active_active_runs_its_own_herder_only() -> None:
    found = made(one(), one("b", "a"))
    assert not starting(found, "b->a.")
    assert found["a->b.emit.heartbeats.enabled"] is True
    assert "a.config.storage.replication.factor" not in found


def test_an_untouched_source_gets_nothing() -> None:
    found = made(one(untouched_source=True))
    assert not starting(found, "b->a.")
    assert "a.config.storage.replication.factor" not in found
    assert found["a->b.offset-syncs.topic.location"] == "target"
    assert found["a->b.offset-syncs.topic.replication.factor"] == 3


@pytest.mark.parametrize("word", ["disabled", "preparing", "enabled"])
def test_exactly_once_belongs_to_the_workers_of_the_target(word: str) -> None:
    found = made(one(exactly_once=word))
    assert found["b.exactly.once.source.support"] == word
    assert found["a->b.consumer.isolation.level"] == "read_committed"
    assert "a.exactly.once.source.support" not in found


def test_workers_of_both_ends() -> None:
    found = made(one())
    assert found["b.offset.flush.interval.ms"] == 10_000
    assert found["b.scheduled.rebalance.max.delay.ms"] == found["a.scheduled.rebalance.max.delay.ms"] == 30_000


def test_clients_are_made_for_the_long_way() -> None:
    found = made(one())
    assert found["b.producer.acks"] == "all"
    assert found["b.producer.max.request.size"] == 32 * 1024 * 1024
    assert found["b.producer.buffer.memory"] > found["b.producer.max.request.size"]
    assert found["a->b.consumer.receive.buffer.bytes"] == -1
    assert not starting(found, "a.producer.")


def test_several_nodes_talk_to_each_other() -> None:
    found = made(one(), nodes=2, rest_url="https://m1:8443")
    assert found["dedicated.mode.enable.internal.rest"] is True
    assert found["listeners"] == "https://m1:8443"
    with pytest.raises(ValueError, match=r"b has 2 mirrors and options has no rest_url"):
        made(one(), nodes=2)
    assert "listeners" not in made(one())


def test_keys_of_other_versions_are_not_written() -> None:
    old, new = made(one(), version="3.9.2"), made(one())
    later = {"metric.names.formats", "a->b.heartbeats.replication.enabled"}
    assert set(new) - set(old) == later
    assert set(old) <= set(new)
    gone = ("blacklist", "use.incremental.alter.configs", "add.source.alias.to.metrics")
    assert not [key for key in old if any(word in key for word in gone)]
    assert made(one(heartbeats=False))["a->b.heartbeats.replication.enabled"] is False


def test_users_win() -> None:
    found = made(
        one(config={"consumer.max.poll.records": 7, "tasks.max": 9, "sync.topic.acls.enabled": True}),
        one("c", "b"),
        config={"tasks.max": 2, "sync.group.offsets.enabled": False, "b.producer.linger.ms": 0},
    )
    assert (found["a->b.consumer.max.poll.records"], found["a->b.tasks.max"], found["tasks.max"]) == (7, 9, 2)
    assert found["a->b.sync.topic.acls.enabled"] is True
    # MirrorMaker ranks a bare key below that of a pair, so ours is not written.
    assert found["sync.group.offsets.enabled"] is False
    assert not [key for key in found if key.endswith("->b.sync.group.offsets.enabled")]
    assert found["b.producer.linger.ms"] == 0


def test_what_mirror_maker_would_not_hear_replaces_nothing() -> None:
    found = made(one(), config={"consumer.isolation.level": "read_uncommitted"})
    assert found["a->b.consumer.isolation.level"] == "read_committed"


def test_only_flows_of_mirror_maker_2_that_are_enabled() -> None:
    found = made(one(), one("c", "b", enabled=False), one("c", "b", engine="legacy"))
    assert found["clusters"] == ["b", "a"]
    with pytest.raises(ValueError, match="no flow of MirrorMaker 2 into b is enabled"):
        made(one(engine="legacy"))


def test_a_cluster_that_is_not_described_is_named() -> None:
    with pytest.raises(ValueError, match="cluster d of mirror_flows is not described; known are a, b, c"):
        made(one("d", "b"))


@pytest.mark.parametrize(
    ("options", "tasks"),
    [({}, 4), ({"tasks_max": 7, "nodes": 3}, 7), ({"nodes": 3}, 12)],
)
def test_tasks(options: dict[str, int], tasks: int) -> None:
    assert tasks_max(options) == tasks
