"""Snapshots: how answers of the cluster become plain data."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import (
    Broker,
    brokers_of,
    in_flight_of,
    named,
    partition_of,
    quorum_of,
)


def member(replica: int, end: int, seen: int, directory: str | None = None) -> dict[str, Any]:
    """A voter or observer of an answer to DescribeQuorum."""
    return {
        "replica_id": replica,
        "replica_directory_id": directory,
        "log_end_offset": end,
        "last_caught_up_timestamp": seen,
    }


def test_lag_and_age_are_measured_against_the_leader() -> None:
    voters = [member(1, 90, 4_000), member(2, 100, 5_000), member(3, -1, -1)]
    found = {"leader_id": 2, "leader_epoch": 7, "high_watermark": 99, "current_voters": voters, "observers": []}
    quorum = quorum_of(found)
    assert quorum.leader_id == 2
    assert [(voter.lag, voter.last_caught_up_ms_ago) for voter in quorum.voters] == [(10, 1000), (0, 0), (101, None)]


def test_a_directory_id_reads_as_kafka_prints_it() -> None:
    known = member(1, 0, 0, "b1cadab5-c85d-8abd-34d3-4d34d34d34d4")
    unknown = member(2, 0, 0, "00000000-0000-0000-0000-000000000000")
    found = {"leader_id": -1, "leader_epoch": 1, "high_watermark": 0, "current_voters": [known], "observers": [unknown]}
    quorum = quorum_of(found)
    assert quorum.leader_id is None
    assert (quorum.voters[0].directory_id, quorum.observers[0].directory_id) == ("scratchdir00000000001A", None)


def test_brokers_that_only_hold_replicas_count_as_fenced() -> None:
    listed = [{"broker_id": 1, "host": "h", "port": 9092, "rack": None}]
    partition = partition_of("a", 0, -1, [1, 2], [1])
    assert partition.leader is None
    assert brokers_of(listed, [partition]) == (Broker(1, "h", 9092, None, False), Broker(2, "", -1, None, True))


@pytest.mark.parametrize(
    ("name", "said", "internal"),
    [
        ("__consumer_offsets", None, True),
        ("__share_group_state", None, True),
        ("__transaction_state", False, False),
        ("__of_a_user", None, False),
        ("__remote_log_metadata", None, False),
        ("_streamops_state", None, False),
        ("new_of_kafka", True, True),
    ],
)
def test_a_topic_is_internal_when_the_broker_says_so_and_not_by_two_underscores(
    name: str, said: bool | None, internal: bool
) -> None:
    assert partition_of(name, 0, 1, [1], [1], said).internal is internal


def test_target_and_original_are_what_is_left_without_removing_and_without_adding() -> None:
    moved = SimpleNamespace(partition_index=3, replicas=[4, 1, 2], adding_replicas=[4], removing_replicas=[2])
    found = in_flight_of([SimpleNamespace(name="t", partitions=[moved])])["t", 3]
    assert (found.target, found.original, found.key) == ((4, 1), (1, 2), ("t", 3))
    assert found.touched == {1, 2, 4}


def test_partitions_are_named_in_order() -> None:
    assert named([("b", 2), ("a", 10), ("a", 9)]) == ["a-9", "a-10", "b-2"]
