# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a reassignment is, in moves and bytes."""

from __future__ import annotations

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.moving import InFlight
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Partition
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.record import Record, Row
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.figures import progress
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.step import Look, judge


def test_bytes_on_their_way_count_up_to_what_was_planned_and_the_rest_names_the_slowest() -> None:
    rows = (Row("t", 0, (1, 2), 100, 1), Row("t", 1, (1, 2), 100, 1), Row("t", 2, (1, 2), 100, 1))
    later = (Row("t", 3, (3, 1), 100, 1),)
    partitions = [
        Partition("t", 0, 1, (1, 2), (1, 2), 1, False),
        Partition("t", 1, 1, (1, 2), (1,), 1, False),
        Partition("t", 2, 1, (1, 2), (1,), 1, False),
        Partition("t", 3, 1, (1,), (1,), 1, False),
    ]
    moving = {("t", n): InFlight("t", n, (1, 2), frozenset([2]), frozenset()) for n in (1, 2)}
    look = Look({("t", p.index): p for p in partitions}, moving, frozenset([1, 2, 3]))
    record = Record({}, (rows, later))
    found = progress(record, look, judge(record, look), {2: {("t", 1): 130, ("t", 2): 30}})
    assert (found["bytes_done"], found["bytes_total"]) == (230, 400)
    assert (found["moves_done"], found["moves_total"], found["partitions_done"]) == (1, 4, 1)
    assert (found["batches_done"], found["batches_total"], found["not_begun"]) == (0, 2, 1)
    assert found["slowest"] == {"partition": "t-2", "bytes": 100, "bytes_done": 30}
    assert found["behind"] == [{"broker": 2, "alive": True, "partitions": ["t-1", "t-2"], "partitions_total": 2}]
