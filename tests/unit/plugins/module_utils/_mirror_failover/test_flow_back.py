# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a flow back begins once clients have moved."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover.flow_back import (
    flow_back,
    flow_back_lines,
    needs_positions,
    reverse,
)
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover.model import PartitionPlan

FLOW = Flow("a", "b", (".*",), policy="identity")
ROWS = [PartitionPlan("orders", number, 100, 90 + number, 0, 0, False) for number in range(3)]


def test_a_flow_back_that_has_never_run_begins_at_the_ends_of_its_source() -> None:
    back = flow_back(FLOW, ROWS, {})
    assert back.written == {("orders", 0): 90, ("orders", 1): 91, ("orders", 2): 92}
    assert back.records() == {
        b'["MirrorSourceConnector",{"cluster":"b","partition":0,"topic":"orders"}]': b'{"offset":89}',
        b'["MirrorSourceConnector",{"cluster":"b","partition":1,"topic":"orders"}]': b'{"offset":90}',
        b'["MirrorSourceConnector",{"cluster":"b","partition":2,"topic":"orders"}]': b'{"offset":91}',
    }
    assert flow_back_lines(back) == ["Flow back    b->a begins at the ends of now: 3 partitions"]


def test_a_flow_back_that_has_run_is_moved_forward_and_never_set_back() -> None:
    back = flow_back(FLOW, ROWS, {("orders", 0): 7, ("orders", 1): 91, ("orders", 2): 500})
    assert back.written == {("orders", 0): 90}
    assert back.begins == {("orders", 0): 90, ("orders", 1): 91}
    begins, note = flow_back_lines(back)
    assert begins.endswith("2 partitions")
    assert "b->a stands behind the end of orders-2 500 of 92" in note


def test_an_empty_partition_needs_no_position() -> None:
    back = flow_back(FLOW, [replace(ROWS[0], target_end=0)], {})
    assert (back.begins, back.written) == ({("orders", 0): 0}, {})
    assert flow_back_lines(back) == ["Flow back    b->a begins at the ends of now: 1 partition"]


def test_a_copy_that_others_write_is_named_and_left_out() -> None:
    back = flow_back(FLOW, [ROWS[0], replace(ROWS[1], grown_there=1200)], {})
    assert back.written == {("orders", 0): 90}
    assert "clients write into b already (orders-1 1,200)" in flow_back_lines(back)[1]


def test_partitions_of_which_no_broker_tells_the_end_and_renamed_topics_get_no_position() -> None:
    rows = [replace(ROWS[0], target_end=None), replace(ROWS[1], topic="my_heartbeats")]
    assert flow_back(FLOW, rows, {}).written == {}


def test_positions_that_are_not_as_they_were_set_are_named() -> None:
    back = flow_back(FLOW, ROWS[:2], {})
    assert back.missing({("orders", 0): 90, ("orders", 1): 91}) == []
    (reason,) = back.missing({("orders", 0): 89})
    assert "b->a are not as they were set: orders-0 (89, not 90), orders-1 (none, not 91)" in reason


@pytest.mark.parametrize(
    ("flow", "needed"),
    [
        (FLOW, True),
        (replace(FLOW, policy="default"), False),
        # Nothing is written into it.
        (replace(FLOW, untouched_source=True), False),
    ],
)
def test_only_names_that_are_kept_need_positions(flow: Flow, needed: bool) -> None:
    assert needs_positions(flow) is needed
    assert reverse(flow).pair == "b->a"
