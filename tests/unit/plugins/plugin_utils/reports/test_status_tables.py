# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of brokers and groups: each disk once, and the partition in which a group has most to read."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_tables import (
    disk_use,
    disks,
    group_row,
    lag_of,
)
from tests.support.status_seen import group

TB, GB = 10**12, 10**9


def log_dir(used: int, held: int = 5 * GB, total: int = TB) -> dict[str, Any]:
    """A log directory on a file system of which so many bytes are used, with so many bytes of replicas."""
    return {"path": "/d", "total_bytes": total, "usable_bytes": total - used, "replica_count": 9, "replica_bytes": held}


def told(number: int, *dirs: dict[str, Any], host: str = "") -> dict[str, Any]:
    """A broker with these directories, and their sums as cluster_info has them."""
    used = sum(one["total_bytes"] - one["usable_bytes"] for one in dirs)
    return {"id": number, "host": host or f"kafka{number}", "log_dirs": [*dirs], "disk_used_bytes": used,
            "disk_total_bytes": sum(one["total_bytes"] for one in dirs)}  # fmt: skip


def test_directories_of_one_disk_count_once() -> None:
    three = told(1, log_dir(400 * GB), log_dir(400 * GB + 4096), log_dir(400 * GB))
    assert disk_use([three]) == (400 * GB + 4096, TB)
    assert disks(three).text == "400.0 GB of 1.0 TB (40 %)"
    assert disks(three).share == pytest.approx(0.4)


def test_brokers_of_one_host_share_a_disk_and_those_of_others_do_not() -> None:
    same = [told(number, log_dir(400 * GB), host="laptop") for number in (1, 2, 3)]
    assert disk_use(same) == (400 * GB, TB)
    assert disk_use([told(number, log_dir(400 * GB)) for number in (1, 2, 3)]) == (1200 * GB, 3 * TB)


def test_disks_of_one_size_that_are_not_as_full_or_hold_too_much_are_several() -> None:
    assert disk_use([told(1, log_dir(400 * GB), log_dir(300 * GB))]) == (700 * GB, 2 * TB)
    assert disk_use([told(1, *[log_dir(400 * GB, 390 * GB)] * 2)]) == (800 * GB, 2 * TB)


def test_without_directories_the_sums_count_and_without_both_nothing_is_known() -> None:
    assert disk_use([{"id": 1, "disk_total_bytes": 9, "disk_used_bytes": 4, "log_dirs": []}]) == (4, 9)
    assert disk_use([{}, {"id": 2, "disk_total_bytes": None}]) is None
    assert disks({}).text == "not known"


@pytest.mark.parametrize(
    ("rows", "text", "more"),
    [
        ([{"state": "known", "lag": 5}, {"state": "no_offset", "lag": None, "lag_from_earliest": 1827}],
         "orders-1", "1,827 records"),
        ([{"state": "known", "lag": 5}, {"state": "no_offset", "lag": None, "lag_from_earliest": 0}],
         "orders-0", "5 records"),
        ([{"state": "known", "lag": 0}], "none", ""),
        ([{"state": "known", "lag": 0}, {"state": "no_answer", "lag": None}], "not known", ""),
        ([{"state": "topic_deleted", "lag": None}], "none", ""),
    ],
)  # fmt: skip
def test_most_behind_is_where_most_is_to_read_committed_or_not(rows: Any, text: str, more: str) -> None:
    partitions = [{"partition": number, **row} for number, row in enumerate(rows)]
    cell = group_row(group("billing", 5, topics=[{"name": "orders", "partitions": partitions}]))[5]
    assert (cell.text, cell.more) == (text, more)


@pytest.mark.parametrize(
    ("figures", "shown"),
    [
        ({}, ("", "")),
        ({"lag": 0, "lag_unknown": 0}, ("0", "")),
        ({"lag": 1200, "lag_unknown": 3}, ("1,200 or more", "unknown of 3 partitions")),
        ({"lag": 5, "lag_unknown": 0, "behind": 5}, ("5", "")),
        ({"lag": 5, "lag_unknown": 2, "behind": 9}, ("9", "2 partitions without a commit count from their start")),
    ],
)
def test_the_lag_of_a_group_says_what_of_it_is_counted_or_unknown(
    figures: dict[str, int], shown: tuple[str, str]
) -> None:
    assert lag_of(figures) == shown
