"""Sizes of partitions and disks from what brokers tell of their log directories."""

from __future__ import annotations

from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._cluster_info import describe
from ansible_collections.streamops.kafka.plugins.module_utils._log_sizes import LogDirs, log_dirs_of, partition_sizes
from ansible_collections.streamops.kafka.plugins.module_utils._reassign_snapshot import cluster_of
from ansible_collections.streamops.kafka.plugins.module_utils._snapshot import Broker, Partition, Snapshot


def directory(size: int, future: bool = False, **disk: int) -> dict[str, Any]:
    """A log directory with one replica of t-0."""
    partition = {"partition_index": 0, "partition_size": size, "offset_lag": 0, "is_future_key": future}
    return {"topics": [{"name": "t", "partitions": [partition]}], **disk}


def test_directories_of_a_broker_add_up() -> None:
    found = log_dirs_of(
        [
            directory(5, total_bytes=100, usable_bytes=40),
            directory(9, future=True, total_bytes=50, usable_bytes=50),
        ]
    )
    assert found == LogDirs({("t", 0): 5}, 150, 60)


def test_brokers_that_do_not_tell_of_their_disks_leave_them_unknown() -> None:
    assert log_dirs_of([directory(5)]) == LogDirs({("t", 0): 5}, None, None)
    assert log_dirs_of([directory(5, total_bytes=-1, usable_bytes=-1)]) == LogDirs({("t", 0): 5}, None, None)
    assert log_dirs_of([]) == LogDirs({}, None, None)


def test_the_leaders_log_is_the_size_and_else_the_biggest() -> None:
    held = {1: LogDirs({("t", 0): 3}, None, None), 2: LogDirs({("t", 0): 7}, None, None)}
    led = Partition("t", 0, 1, (1, 2), (1, 2), 1, False)
    assert partition_sizes([led], held) == {("t", 0): 3}
    assert partition_sizes([Partition("t", 0, 3, (1, 2, 3), (3,), 1, False)], held) == {("t", 0): 7}
    assert partition_sizes([Partition("u", 0, 1, (1,), (1,), 1, False)], held) == {}


def test_sizes_reach_the_planner_through_cluster_info() -> None:
    brokers = (Broker(1, "h", 1, None, False), Broker(2, "h", 2, None, True))
    seen = Snapshot("id", 1, brokers, (Partition("t", 0, 1, (1, 2), (1,), 1, False),), None)
    cluster = cluster_of(describe(seen, log_dirs={1: LogDirs({("t", 0): 3}, 100, 60)}))
    assert cluster.sizes == [3]
    assert [(broker.disk_used, broker.disk_limit) for broker in cluster.brokers] == [(60, None), (None, None)]
