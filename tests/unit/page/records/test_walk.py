"""Through a log whose offsets have gaps, forward and back, with answers that are cut anywhere."""

from __future__ import annotations

import random

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._logs.model import Log
from page.records import bounds
from page.records.asked import NEWEST, OLDEST, Asked
from page.records.batches import Part, Record
from page.records.walk import Walk, order, share, take_all, walk_of

CHANCE = random.Random(5)


def record(offset: int, partition: int = 0, time: int = 0) -> Record:
    return Record(partition, offset, time, "CreateTime", None, None)


def walked(walk: Walk, there: list[int], limit: int, room: int) -> tuple[list[int], int]:
    """What a walk finds in a log with these offsets, of which an answer has C(room), and after how many answers."""
    answers = 0
    while not walk.is_done:
        answers += 1
        assert answers < 500
        sent = [one for one in there if walk.at <= one][: CHANCE.randrange(room + 1)]
        end = min(walk.end, limit)
        some = [record(one) for one in sent if one < end]
        walk.take(Part(some, [], sent[-1] + 1 if sent else None), limit)
    return [one.offset for one in walk.records], answers


@pytest.mark.parametrize("kept", [1.0, 0.5, 0.02, 0.0])
@pytest.mark.parametrize("limit", [5000, 4000])
def test_back_finds_the_last_ones_before_what_may_be_shown(kept: float, limit: int) -> None:
    there = [one for one in range(100, 5000) if CHANCE.random() < kept]
    walk = walk_of(0, Log(100, 5000), None, True, 50)
    # Without an answer that has nothing, which ends a walk after some.
    found = []
    while not walk.is_done:
        sent = [one for one in there if walk.at <= one][:200]
        some = [record(one) for one in sent if one < min(walk.end, limit)]
        walk.take(Part(some, [], sent[-1] + 1 if sent else None), limit)
    found = [one.offset for one in walk.records]
    assert found == [one for one in there if one < limit][-50:]


def test_forward_begins_where_it_is_told_and_ends_with_enough() -> None:
    there = list(range(100, 5000, 3))
    assert walked(walk_of(0, Log(100, 5000), 200, False, 50), there, 5000, 500)[0][:2] == [202, 205]
    assert len(walked(walk_of(0, Log(100, 5000), 0, False, 50), there, 5000, 500)[0]) <= 50
    assert walk_of(0, Log(100, 5000), 5000, False, 50).is_done
    assert walk_of(0, Log(100, 100), None, True, 50).is_done


def test_answers_without_anything_end_a_walk_after_some() -> None:
    for is_back in (False, True):
        walk = walk_of(0, Log(0, 10_000_000), None, is_back, 50)
        assert walked(walk, [], 10_000_000, 0)[1] <= 40


def test_what_was_not_read_to_its_end_is_no_newest_record() -> None:
    walk = walk_of(0, Log(0, 1000), None, True, 50)
    walk.take(Part([record(one) for one in range(995, 1000)], [], 1000), 1000)
    walk.take(Part([record(one) for one in range(walk.at, walk.at + 10)], [], walk.at + 10), 1000)
    walk.give_up()
    assert [one.offset for one in walk.records] == list(range(995, 1000))


def test_the_second_window_has_what_is_wanted_and_not_much_more() -> None:
    # What is read of a window that is too large are its oldest records, and the room is gone before the newest.
    walk = walk_of(0, Log(0, 10_000), None, True, 50)
    walk.take(Part([record(one) for one in range(9995, 10_000)], [], 10_000), 10_000)
    assert (walk.at, walk.end) == (9945, 9995)


def test_records_of_several_partitions_are_in_the_order_of_their_times() -> None:
    some = [record(5, 0, 30), record(1, 1, 10), record(2, 1, 40), record(6, 0, 20)]
    assert [one.timestamp for one in order(some, Asked(NEWEST))] == [40, 30, 20, 10]
    assert [one.timestamp for one in order(some, Asked(OLDEST))] == [10, 20, 30, 40]
    assert [one.offset for one in order(some[:1] + some[3:], Asked(OLDEST, partition=0))] == [5, 6]
    assert len(order([record(one) for one in range(99)], Asked())) == bounds.RECORDS
    searched = order([record(one) for one in range(2000)], Asked(search="x"))
    assert (len(searched), searched[0].offset, share(3, 1000)) == (1000, 1999, 334)
    assert [share(one) for one in (0, 1, 3, 50)] == [50, 50, 17, 1]


@pytest.mark.parametrize("is_back", [False, True])
def test_a_partition_that_gets_no_room_beside_others_is_no_empty_one(is_back: bool) -> None:
    walks = [walk_of(one, Log(0, 100), None, is_back, 20) for one in range(6)]
    for turn in range(2000):
        left = [one for one in walks if not one.is_done]
        if not left:
            break
        # An answer has room for one record of the partition that is first.
        left = left[turn % len(left) :] + left[: turn % len(left)]
        first, *others = left
        sent = Part([record(first.at, first.partition)] if first.at < first.end else [], [], first.at + 1)
        take_all([(first, sent, 100), *((one, Part(), 100) for one in others)])
    offsets = [*range(80, 100)] if is_back else [*range(20)]
    assert [[one.offset for one in walk.records] for walk in walks] == [offsets] * 6


def test_a_search_back_from_the_end_begins_with_the_newest_and_grows_to_what_is_missing() -> None:
    # Of records of 1 MiB a window of a hundred has no room, and the newest of them would never be read.
    walk, windows = walk_of(0, Log(0, 10_000), None, True, bounds.SEARCHED), []
    while not walk.is_done:
        windows.append((walk.at, walk.end))
        walk.take(Part([record(one) for one in range(walk.at, walk.end)], [], walk.end), 10_000)
    assert windows == [(9995, 10_000), (9945, 9995), (9545, 9945), (9000, 9545)]
    assert [one.offset for one in walk.records] == [*range(9000, 10_000)]


@pytest.mark.parametrize("kept", [1.0, 0.6, 0.3, 0.01, 0.0])
def test_a_search_back_finds_the_last_ones_whatever_compaction_removed(kept: float) -> None:
    there = [one for one in range(100, 30_000) if CHANCE.random() < kept]
    walk, answers = walk_of(0, Log(100, 30_000), None, True, bounds.SEARCHED), 0
    while not walk.is_done:
        sent = [one for one in there if walk.at <= one][:1000]
        walk.take(Part([record(one) for one in sent if one < walk.end], [], sent[-1] + 1 if sent else None), 30_000)
        answers += 1
    assert [one.offset for one in walk.records] == there[-bounds.SEARCHED :]
    assert answers < bounds.ROUNDS
