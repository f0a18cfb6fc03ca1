# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a reassignment survives JSON, and what cannot be understood is said to be so."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import InFlight, Partition
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import StreamopsError
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.record import (
    Copy,
    Look,
    Record,
    Row,
    behind,
    cancellation,
    copies,
    judge,
    ours,
    progress,
    record_of,
)


def test_a_record_comes_back_from_json_as_it_was() -> None:
    batches = ((Row("a", 0, (1, 2), 10, 1),), (Row("b", 1, (3,), 0, 0), Row("b", 2, (3, 1), 7, 2)))
    record = Record({"drain": [1]}, batches, {"1": {"k": None}}, {"a": {"k": "0:1"}}, {"b-1": "no"})
    assert record_of(json.loads(json.dumps(record.as_data()))) == record
    assert [row.key for row in record.rows] == [("a", 0), ("b", 1), ("b", 2)]


def test_no_record_is_none() -> None:
    assert record_of(None) is None


@pytest.mark.parametrize("kept", [{}, {"version": 2}, [], {"version": 1, "batches": [[["a"]]], "spec": {}}])
def test_a_record_that_cannot_be_understood_is_refused(kept: object) -> None:
    with pytest.raises(StreamopsError, match="cannot be understood"):
        record_of(kept)


ALIVE = (1, 2, 3)


def row(index: int, *replicas: int) -> Row:
    """A row of topic t."""
    return Row("t", index, replicas, 10, 1)


def at(index: int, replicas: Sequence[int], isr: Sequence[int] | None = None) -> Partition:
    """A partition of topic t."""
    return Partition("t", index, replicas[0], tuple(replicas), tuple(replicas if isr is None else isr), 1, False)


def flying(index: int, replicas: Sequence[int], adding: Sequence[int] = (), removing: Sequence[int] = ()) -> InFlight:
    """A reassignment of topic t."""
    return InFlight("t", index, tuple(replicas), frozenset(adding), frozenset(removing))


def look(partitions: Sequence[Partition], moving: Sequence[InFlight] = (), alive: Sequence[int] = ALIVE) -> Look:
    """One moment."""
    return Look({(p.topic, p.index): p for p in partitions}, {one.key: one for one in moving}, frozenset(alive))


def record(*batches: Sequence[Row]) -> Record:
    """A record of these batches."""
    return Record({}, tuple(tuple(batch) for batch in batches))


@pytest.mark.parametrize(
    ("state", "partition", "moving", "alive"),
    [
        ("submit", at(0, [1]), None, ALIVE),
        ("held", at(0, [1]), None, (1, 3)),
        ("moving", at(0, [1, 2]), flying(0, [1, 2], adding=[2]), ALIVE),
        ("taken", at(0, [1, 3]), flying(0, [1, 3], adding=[3]), ALIVE),
        ("syncing", at(0, [1, 2], isr=[1]), None, ALIVE),
        ("done", at(0, [1, 2]), None, ALIVE),
        ("submit", at(0, [2, 1]), None, ALIVE),  # The order tells who is preferred.
    ],
)
def test_a_partition_is_in_one_state(
    state: str, partition: Partition, moving: InFlight | None, alive: tuple[int, ...]
) -> None:
    standing = judge(record([row(0, 1, 2)]), look([partition], [moving] if moving else [], alive))
    states = ("done", "deleted", "moving", "syncing", "taken", "submit", "held", "later")
    assert [name for name in states if getattr(standing, name)] == [state]
    assert standing.complete == (state == "done")


def test_a_topic_that_is_gone_is_nothing_to_wait_for() -> None:
    standing = judge(record([row(0, 1, 2)]), look([]))
    assert (standing.complete, standing.deleted) == (True, (row(0, 1, 2),))


def test_batches_go_one_after_the_other() -> None:
    three = record([row(0, 1, 2)], [row(1, 1, 2), row(2, 1, 2)], [row(3, 1, 2)])
    standing = judge(three, look([at(0, [1, 2]), at(1, [1, 2]), at(2, [1]), at(3, [1])]))
    assert (standing.number, standing.batch) == (1, (row(1, 1, 2), row(2, 1, 2)))
    assert (standing.submit, standing.later) == ((row(2, 1, 2),), (row(3, 1, 2),))


def test_what_is_under_way_to_elsewhere_is_not_ours() -> None:
    kept = record([row(0, 1, 2), row(1, 1, 2)])
    mine, theirs = flying(0, [1, 2], adding=[2]), flying(1, [1, 3], adding=[3])
    assert ours(kept, look([at(0, [1, 2]), at(1, [1, 3])], [mine, theirs])) == {("t", 0): mine}


def test_copies_come_from_where_the_partition_was_before_the_move() -> None:
    moving = flying(0, [2, 3, 1], adding=[2, 3], removing=[1])
    seen = look([at(0, [2, 3, 1], isr=[1]), at(1, [3, 1]), at(2, [1, 2])], [moving])
    assert copies([row(0, 2, 3), row(1, 1, 2), row(2, 2, 1), row(9, 1)], seen) == [
        Copy("t", 0, (1,), (2, 3)),
        Copy("t", 1, (1, 3), (2,)),
    ]


def test_who_is_behind_is_who_is_not_in_sync() -> None:
    seen = look([at(0, [1, 2, 3], isr=[1, 3]), at(1, [1])])
    assert behind([row(0, 1, 2, 3), row(1, 1, 3)], seen) == {2: [("t", 0)], 3: [("t", 1)]}


@pytest.mark.parametrize(
    ("isr", "least", "cancelled"),
    [
        ([1, 2, 3], 2, True),
        ([1, 3], 2, False),
        ([1, 3], 1, True),
        ([3], 1, False),
        ([1, 2, 3], 5, True),  # More than there are replicas: cancelling makes that no worse.
    ],
)
def test_a_move_is_cancelled_only_when_enough_replicas_of_before_are_in_sync(
    isr: list[int], least: int, cancelled: bool
) -> None:
    moving = flying(0, [1, 3, 2], adding=[3], removing=[2])
    found = cancellation(record([row(0, 1, 3)]), look([at(0, [1, 3, 2], isr=isr)], [moving]), {"t": least})
    assert found.cancel == ((("t", 0),) if cancelled else ())
    assert list(found.unsafe) == ([] if cancelled else [("t", 0)])


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
