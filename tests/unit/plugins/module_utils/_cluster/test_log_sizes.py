"""Sizes of partitions and disks from what brokers tell of their log directories."""

from __future__ import annotations

from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.info import describe
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.log_sizes import (
    Disk,
    LogDirs,
    log_dirs_of,
    partition_sizes,
)
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Broker, Partition, Snapshot
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.snapshot import cluster_of


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
    disks = (Disk(100, 40, 1, {("t", 0): 5}), Disk(50, 50, 1, {}))
    assert found == LogDirs({("t", 0): 5}, 150, 60, disks)


def test_a_directory_that_has_failed_takes_nothing_and_hides_no_other() -> None:
    failed = {"topics": [], "error_code": 56, "total_bytes": -1, "usable_bytes": -1}
    found = log_dirs_of([failed, directory(5, total_bytes=100, usable_bytes=40)])
    assert (found.total_bytes, found.used_bytes, len(found.disks)) == (100, 60, 1)


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
    held = LogDirs({("t", 0): 3}, 100, 60, (Disk(100, 40, 1, {("t", 0): 3}),))
    cluster = cluster_of(describe(seen, log_dirs={1: held}))
    assert cluster.sizes == [3]
    assert [(broker.disk_used, broker.disk_limit) for broker in cluster.brokers] == [(60, 85), (None, None)]
    assert [broker.disk_unknown for broker in cluster.brokers] == [False, True]


def test_several_directories_reach_the_planner_one_by_one() -> None:
    brokers = (Broker(1, "h", 1, None, False),)
    seen = Snapshot("id", 1, brokers, (Partition("t", 0, 1, (1,), (1,), 1, False),), None)
    held = LogDirs({("t", 0): 3}, 300, 90, (Disk(100, 40, 7), Disk(200, 170, 2)))
    (broker,) = cluster_of(describe(seen, log_dirs={1: held}), 0.1).brokers
    assert broker.disk_limit == 270
    assert [(one.limit, one.used, one.replicas) for one in broker.dirs] == [(90, 60, 7), (180, 30, 2)]
