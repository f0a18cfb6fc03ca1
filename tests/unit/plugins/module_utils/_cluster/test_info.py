# SPDX-License-Identifier: GPL-3.0-or-later
"""A snapshot as a module returns it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.info import describe
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.log_sizes import Disk, LogDirs
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import (
    Broker,
    InFlight,
    Partition,
    Quorum,
    Snapshot,
    Voter,
)

BROKERS = tuple(Broker(n, f"kafka{n}", 9092, f"r{n}", n == 3) for n in (1, 2, 3))
QUORUM = Quorum(1, 7, 99, (Voter(1, "dir", 99, 0, 0), Voter(2, None, 90, 9, 500)), (Voter(9, None, 99, 0, 1),))
PARTITIONS = (
    Partition("full", 0, 1, (1, 2), (1, 2), 1, False),
    Partition("low", 0, 2, (3, 2, 1), (2, 1), 2, False),
    Partition("low", 1, 2, (3, 2, 1), (2,), 2, False),
    Partition("__off", 0, None, (3,), (3,), 1, True),
)
CLUSTER = Snapshot("cid", 1, BROKERS, PARTITIONS, QUORUM)


def names(found: list[dict[str, object]]) -> list[str]:
    """Return partitions as topic-number."""
    return [f"{p['topic']}-{p['partition']}" for p in found]


def test_findings_use_the_terms_of_kafka() -> None:
    info = describe(CLUSTER)
    assert names(info["under_replicated"]) == ["low-0", "low-1"]
    assert names(info["under_min_isr"]) == ["low-1"]
    assert names(info["at_min_isr"]) == ["low-0", "__off-0"]
    assert names(info["offline"]) == ["__off-0"]
    assert names(info["not_preferred_leader"]) == ["low-0", "low-1", "__off-0"]
    assert info["counts"] == {
        "nodes": 3, "fenced_nodes": 1, "topics": 3, "partitions": 4, "under_replicated": 2, "under_min_isr": 1,
        "at_min_isr": 2, "offline": 1, "not_preferred_leader": 3,
    }  # fmt: skip


def test_an_offline_partition_says_who_may_lead_it_where_the_cluster_tells() -> None:
    told = replace(PARTITIONS[3], eligible=(3,), last_known=())
    assert [(one["eligible_leaders"], one["last_known_leaders"]) for one in describe(CLUSTER)["offline"]] == [
        (None, None)
    ]
    found = describe(replace(CLUSTER, partitions=(*PARTITIONS[:3], told)))["offline"]
    assert [(one["eligible_leaders"], one["last_known_leaders"]) for one in found] == [([3], [])]


def test_nodes_carry_their_load_and_imbalance() -> None:
    by_id = {node["id"]: node for node in describe(CLUSTER)["nodes"]}
    assert (by_id[2]["leaders"], by_id[2]["replicas"], by_id[2]["preferred_leaders"]) == (2, 3, 0)
    assert (by_id[1]["imbalance_percent"], by_id[3]["imbalance_percent"]) == (0.0, 100.0)
    assert by_id[3]["fenced"]


def test_topics_limit_what_is_described_and_not_the_load_of_nodes() -> None:
    info = describe(CLUSTER, ["full", "ghost"])
    assert [topic["name"] for topic in info["topics"]] == ["full"]
    assert info["under_replicated"] == []
    assert sum(node["leaders"] for node in info["nodes"]) == 3
    assert describe(CLUSTER, [])["topics"] == []


def test_partitions_are_left_out_when_asked() -> None:
    info = describe(CLUSTER, partitions=False)
    low = next(topic for topic in info["topics"] if topic["name"] == "low")
    assert low == {
        "name": "low", "partition_count": 2, "replication_factor": 3, "replication_factors": [3],
        "min_insync_replicas": 2, "internal": False,
    }  # fmt: skip
    assert describe(CLUSTER)["topics"][1]["partitions"][0]["isr"] == [1, 2]


def test_sizes_name_the_largest_partition_of_each_topic_with_and_without_its_partitions() -> None:
    held = {2: LogDirs({("low", 0): 5, ("low", 1): 9, ("full", 0): 7}, 100, 30)}
    for partitions in (True, False):
        info = describe(CLUSTER, partitions=partitions, log_dirs=held)
        assert {topic["name"]: topic["largest_partition"] for topic in info["topics"]} == {
            "__off": None,
            "full": {"partition": 0, "size_bytes": 7},
            "low": {"partition": 1, "size_bytes": 9},
        }


def test_topics_carry_the_values_that_were_asked_for() -> None:
    found = describe(CLUSTER, configs={"low": {"retention.ms": "5"}})["topics"]
    assert {topic["name"]: topic["config"] for topic in found} == {
        "__off": {},
        "full": {},
        "low": {"retention.ms": "5"},
    }
    assert "config" not in describe(CLUSTER)["topics"][0]


def test_the_quorum_is_told_with_its_lag_and_is_none_in_zookeeper_mode() -> None:
    found = describe(CLUSTER)["quorum"]
    assert found["voters"][1] == {
        "id": 2, "directory_id": None, "log_end_offset": 90, "lag": 9, "last_caught_up_ms_ago": 500,
    }  # fmt: skip
    assert found["observers"][0]["id"] == 9
    assert describe(Snapshot("c", 1, BROKERS, (), None))["quorum"] is None


def test_without_min_insync_nothing_is_under_or_at_it() -> None:
    info = describe(Snapshot("c", 1, BROKERS, (Partition("t", 0, 1, (1,), (), 0, False),), None))
    assert (info["under_min_isr"], info["at_min_isr"]) == ([], [])


@pytest.mark.parametrize(
    ("replicas", "isr", "least", "expected"),
    [
        # Kafka takes min(min.insync.replicas, replicas): one of one in sync serves acks=all, and has none to spare.
        ((1,), (1,), 2, ("at_min_isr",)),
        ((1, 2), (1, 2), 3, ("at_min_isr",)),
        ((1, 2), (1,), 3, ("under_min_isr",)),
        ((1,), (), 2, ("under_min_isr",)),
        ((1, 2, 3), (1, 2, 3), 2, ()),
        ((1, 2, 3), (1, 2), 2, ("at_min_isr",)),
    ],
)
def test_no_more_replicas_must_be_in_sync_than_there_are(
    replicas: tuple[int, ...], isr: tuple[int, ...], least: int, expected: tuple[str, ...]
) -> None:
    info = describe(Snapshot("c", 1, BROKERS, (Partition("t", 0, 1, replicas, isr, least, False),), None))
    assert tuple(kind for kind in ("under_min_isr", "at_min_isr") if info[kind]) == expected


def test_it_is_json() -> None:
    info = describe(CLUSTER)
    assert json.loads(json.dumps(info)) == info


def test_partitions_with_different_numbers_of_replicas_show_all_numbers_and_the_fewest() -> None:
    held = [(1, 2, 3), (2,), (3, 1)]
    uneven = tuple(Partition("a", number, 1, one, one, 1, False) for number, one in enumerate(held))
    (topic,) = describe(replace(CLUSTER, partitions=uneven))["topics"]
    assert (topic["replication_factor"], topic["replication_factors"]) == (1, [1, 2, 3])


def test_a_replica_that_a_move_adds_does_not_count_until_it_is_there() -> None:
    moving = (Partition("a", 0, 1, (1, 3, 2), (1, 2), 1, False), Partition("a", 1, 1, (1, 2), (1, 2), 1, False))
    move = InFlight("a", 0, (1, 3, 2), frozenset({3}), frozenset({2}))
    (topic,) = describe(replace(CLUSTER, partitions=moving), moving={move.key: move})["topics"]
    assert topic["replication_factors"] == [2]


def test_a_broker_is_cordoned_when_all_its_log_directories_are() -> None:
    def dirs(*cordoned: bool) -> LogDirs:
        """Return log directories."""
        return LogDirs({}, 2, 1, tuple(Disk(1, 1, path=f"/{n}", cordoned=one) for n, one in enumerate(cordoned)))

    nodes = describe(CLUSTER, log_dirs={1: dirs(True, False), 2: dirs(True, True)})["nodes"]
    assert [(node["id"], node["cordoned"]) for node in nodes] == [(1, False), (2, True), (3, None)]
    assert [disk["cordoned"] for disk in nodes[0]["log_dirs"]] == [True, False]
