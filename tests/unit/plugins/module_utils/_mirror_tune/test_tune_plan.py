# SPDX-License-Identifier: GPL-3.0-or-later
"""What a tuning does at most, and when it must not begin."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._mirror_tune.plan import (
    COPIES_ON_DISK,
    Asked,
    Disk,
    Seen,
    lines,
    plan_of,
    refusals,
)

GB = 10**9
ASKED = Asked(load_bytes=GB, tasks=(1, 2), options=(), rounds=2, run_seconds=60)
SEEN = Seen(
    flow_partitions=6,
    brokers={"source": 3, "target": 2},
    disks=[Disk("source", 1, 100 * GB, 50 * GB), Disk("target", 1, 100 * GB, 50 * GB)],
    left={"source": [], "target": []},
    foreign={"source": [], "target": []},
)


def test_the_plan_bounds_bytes_by_replicas_and_by_copies_that_are_deleted_but_still_on_disk() -> None:
    plan = plan_of(ASKED, SEEN)
    assert (plan.partitions, plan.records, plan.runs) == (6, 1_000_000, 4)
    # Each record has its key and its own head beside its value: 40 bytes.
    assert plan.bytes == {"source": 3 * 1.04 * GB, "target": 2 * 1.04 * GB * 4}
    assert plan.seconds == 60 + 4 * (120 + 60 + 30)
    many = plan_of(replace(ASKED, rounds=10), SEEN)
    assert many.bytes["target"] == 2 * 1.04 * GB * COPIES_ON_DISK


def test_small_records_take_more_of_the_disks_than_their_values() -> None:
    small = plan_of(replace(ASKED, record_bytes=16), SEEN)
    assert small.bytes["source"] == 3 * GB // 16 * (16 + 40)


@pytest.mark.parametrize(
    ("partitions", "brokers", "share"),
    [
        (6, 3, 1.0),  # three replicas of each on three brokers
        (6, 6, 0.5),
        (1, 12, 1.0),  # a broker holds all of it or nothing
        (4, 12, 0.25),
        (5, 12, 0.4),  # 15 replicas: two on three of the brokers
        (3, 1, 1.0),
    ],
)
def test_the_fullest_broker_counts_with_whole_partitions(partitions: int, brokers: int, share: float) -> None:
    seen = replace(SEEN, brokers={"source": brokers, "target": brokers})
    plan = plan_of(replace(ASKED, partitions=partitions), seen)
    # Each of the four copies of the target may have its fullest broker in the same place.
    assert plan.broker_bytes == {"source": round(share * 1.04 * GB), "target": round(share * 1.04 * GB * 4)}


def test_partitions_that_are_asked_for_win_over_those_of_the_flow() -> None:
    assert plan_of(replace(ASKED, partitions=12), SEEN).partitions == 12
    assert plan_of(ASKED, replace(SEEN, flow_partitions=5000)).partitions == 64
    assert plan_of(ASKED, replace(SEEN, flow_partitions=0)).partitions == 1


def test_a_tuning_with_room_may_begin() -> None:
    assert refusals(ASKED, SEEN) == []


def test_a_tuning_without_room_on_one_disk_is_refused_with_the_figures() -> None:
    # 2 replicas of 4 copies of 1.04 GB on 2 brokers, and a fifth more: 5 GB; 5 GB of 100 stay free.
    tight = [Disk("source", 1, 100 * GB, 50 * GB), Disk("target", 2, 100 * GB, 9 * GB)]
    (found,) = refusals(ASKED, replace(SEEN, disks=tight))
    assert "broker 2 of the target has 9.0 GB free" in found
    assert "needs 5.0 GB there" in found
    assert refusals(ASKED, replace(SEEN, disks=[Disk("target", 2, 100 * GB, 10 * GB)])) == []


def test_a_disk_of_unknown_size_is_refused() -> None:
    (found,) = refusals(ASKED, replace(SEEN, disks=[Disk("source", 3, None, None)]))
    assert "broker 3 of the source does not report its disk size" in found


def test_topics_with_records_of_others_are_refused_by_name() -> None:
    (found,) = refusals(ASKED, replace(SEEN, foreign={"source": ["_streamops_tune_load"], "target": []}))
    assert "records that no tuning wrote: _streamops_tune_load" in found


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"load_bytes": 10}, "mirror_tune_bytes"),
        ({"load_bytes": 10**15}, "mirror_tune_bytes"),
        ({"record_bytes": 1}, "mirror_tune_record_bytes"),
        ({"partitions": 65}, "mirror_tune_partitions"),
        ({"run_seconds": 1}, "mirror_tune_seconds"),
        ({"rounds": 0}, "mirror_tune_rounds"),
        ({"tasks": ()}, "mirror_tune_tasks"),
        ({"tasks": (0, 1)}, "mirror_tune_tasks"),
        ({"options": ("linger", "luck")}, "mirror_tune_options has luck"),
    ],
)
def test_values_out_of_bounds_are_refused_by_name(change: dict[str, Any], said: str) -> None:
    asked = replace(ASKED, **change)
    # A plan of an unknown option cannot be made, so disks are not looked at.
    assert any(said in one for one in refusals(asked, replace(SEEN, disks=[])))


def test_the_lines_tell_the_bounds_and_what_an_earlier_tuning_left() -> None:
    seen = replace(SEEN, left={"source": ["_streamops_tune_load"], "target": []})
    said = "\n".join(lines(ASKED, seen, plan_of(ASKED, seen), "dc_a->dc_b"))
    assert "4 runs" in said
    assert "3.12 GB on the disks of the source" in said
    assert "1 topics of an earlier tuning" in said
