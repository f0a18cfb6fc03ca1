"""Snapshots, wishes and Kafka's own file: what is read is what was written, and every fault is told."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._cluster_info import describe
from ansible_collections.streamops.kafka.plugins.module_utils._errors import RefusedError
from ansible_collections.streamops.kafka.plugins.module_utils._reassign_json import (
    assignment_of,
    cluster_of,
    compact,
    kafka_file,
    wish_of,
)
from ansible_collections.streamops.kafka.plugins.module_utils._reassign_model import BrokerSpec, Wish
from ansible_collections.streamops.kafka.plugins.module_utils._reassign_plan import plan_moves
from ansible_collections.streamops.kafka.plugins.module_utils._snapshot import Broker, Partition, Snapshot

SNAPSHOT: dict[str, Any] = {
    "nodes": [
        {"id": 2, "rack": "b", "fenced": True},
        {"id": 1, "rack": "a", "disk_limit_bytes": 100, "disk_used_bytes": 10},
        {"id": 3, "state": "excluded", "weight": 1.5},
    ],
    "topics": [
        {"name": "b", "partitions": [{"partition": 0, "replicas": [1, 2], "isr": [1], "leader": 1, "size_bytes": 5}]},
        {
            "name": "a",
            "min_insync_replicas": 2,
            "partitions": [{"partition": 1, "replicas": [2]}, {"partition": 0, "replicas": [1]}],
        },
    ],
}


def test_a_snapshot_becomes_ordered_columns() -> None:
    for data in (SNAPSHOT, json.loads(json.dumps(SNAPSHOT), object_hook=compact)):
        cluster = cluster_of(data)
        assert cluster.brokers == (
            BrokerSpec(1, "a", disk_limit=100, disk_used=10),
            BrokerSpec(2, "b", "dead"),
            BrokerSpec(3, None, "excluded", 1.5),
        )
        assert (cluster.topics, cluster.min_insync) == (["a", "b"], [2, 0])
        assert [cluster.name(p) for p in range(3)] == ["a-0", "a-1", "b-0"]
        assert cluster.replicas == [(1,), (2,), (1, 2)]
        assert (cluster.isr, cluster.sizes, cluster.write_rates) == ([(1,), (2,), (1,)], [0, 0, 5], None)


def test_what_cluster_info_returns_is_a_snapshot() -> None:
    seen = Snapshot(
        "id",
        1,
        (Broker(1, "h", 1, "a", False), Broker(2, "h", 2, "b", True)),
        (Partition("t", 0, None, (2, 1), (1,), 2, False),),
        None,
    )
    cluster = cluster_of(json.loads(json.dumps(describe(seen)), object_hook=compact))
    assert [broker.state for broker in cluster.brokers] == ["alive", "dead"]
    assert (cluster.replicas, cluster.isr, cluster.leaders, cluster.min_insync) == ([(2, 1)], [(1,)], [None], [2])


def broken(path: list[Any], value: Any) -> dict[str, Any]:
    """The snapshot with one thing in it replaced."""
    data = copy.deepcopy(SNAPSHOT)
    here: Any = data
    for step in path[:-1]:
        here = here[step]
    here[path[-1]] = value
    return data


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        (["nodes"], 3, "is not an object with nodes and topics"),
        (["nodes", 0, "id"], "1", "has no id that is a whole number"),
        (["nodes", 0, "id"], 1, "broker 1 is listed more than once"),
        (["nodes", 0, "state"], "lost", "state 'lost' is not one of alive, new"),
        (["nodes", 0, "rack"], 7, "rack 7 is not a string"),
        (["nodes", 0, "weight"], "much", "weight 'much' is not a number"),
        (["nodes", 1, "disk_limit_bytes"], -1, "must be whole numbers of bytes"),
        (["topics", 0, "name"], "a", "a topic is listed more than once"),
        (["topics", 0, "name"], None, "topics[0]: has no name"),
        (["topics", 0, "partitions"], None, "topic b: has no partitions; take the snapshot with include_partitions"),
        (["topics", 0, "partitions", 0, "partition"], None, "has no partition number"),
        (["topics", 1, "partitions", 0, "partition"], 0, "topic a: a partition is listed more than once"),
        (["topics", 0, "partitions", 0, "replicas"], [], "replicas [] are not a list of broker ids"),
        (["topics", 0, "partitions", 0, "replicas"], [1, 1], "replicas [1, 1] name a broker more than once"),
        (["topics", 0, "partitions", 0, "isr"], [9], "isr [9] is not a part of its replicas"),
        (["topics", 0, "partitions", 0, "size_bytes"], "5 MB", "size_bytes '5 MB' is not a whole number of bytes"),
        (["topics", 0, "partitions", 0, "write_rate"], -1, "write_rate -1 is not a number of bytes per second"),
        (["topics", 1, "min_insync_replicas"], "2", "min_insync_replicas '2' is not a whole number"),
    ],
)
def test_a_fault_in_a_snapshot_is_told_with_its_place(path: list[Any], value: Any, why: str) -> None:
    for data in (broken(path, value), json.loads(json.dumps(broken(path, value)), object_hook=compact)):
        with pytest.raises(RefusedError) as error:
            cluster_of(data)
        assert why in "\n".join(error.value.violations)


def test_a_wish_is_read() -> None:
    assert wish_of(
        {
            "rebalance": True,
            "drain": [3],
            "add": [4, {"id": 5, "rack": "b"}],
            "replication_factor": {"t": 3},
            "rack_rule": "even",
        }
    ) == Wish(
        rebalance=True,
        drain=(3,),
        add=(BrokerSpec(4), BrokerSpec(5, "b")),
        replication_factor={"t": 3},
        rack_rule="even",
    )
    assert wish_of({"replace": {"3": 7}}).replace == {3: 7}


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ({"rebalanse": True}, "rebalanse: is no wish"),
        ({"drain": ["3"]}, "drain: '3' is not a broker id"),
        ({"replace": {"x": 3}}, "replace: 'x' by 3 are not two broker ids"),
        ({"replication_factor": {"t": "3"}}, "replication_factor: '3' for topic t is not a whole number"),
        ({"assignment": {"version": 2, "partitions": []}}, "is not Kafka's reassignment file"),
        ({"assignment": {"partitions": [{"topic": "t"}]}}, "partitions[0] needs topic, partition and replicas"),
        (
            {"assignment": {"partitions": [{"topic": "t", "partition": 0, "replicas": [1], "log_dirs": ["/d"]}]}},
            "partitions[0] names log_dirs",
        ),
    ],
)
def test_a_fault_in_a_wish_is_told(data: dict[str, Any], why: str) -> None:
    with pytest.raises(RefusedError) as error:
        wish_of(data)
    assert why in error.value.violations[0]


def test_kafkas_file_is_read_as_it_is_written_and_back_undoes_it() -> None:
    data = broken(["nodes", 0, "fenced"], False)
    cluster = cluster_of(data)
    plan = plan_moves(cluster, Wish(assignment=[("b", 0, (2, 1)), ("a", 0, (2,))], rack_rule="none"))
    faults: list[str] = []
    assert assignment_of(kafka_file(cluster, plan.changes), faults) == [("a", 0, (2,)), ("b", 0, (2, 1))]
    assert assignment_of(kafka_file(cluster, plan.changes, back=True), faults) == [("a", 0, (1,)), ("b", 0, (1, 2))]
    assert faults == []
