# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether others can use a broker that leads, as their replicas tell."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import (
    InFlight,
    Partition,
    behind,
    cut_off,
    cut_off_phrase,
    without_adding,
)
from ansible_collections.streamops.kafka.plugins.module_utils._gate.isr import uncommitted


def part(index: int, leader: int | None, isr: tuple[int, ...], replicas: tuple[int, ...] = (1, 2, 3)) -> Partition:
    """Return a partition of topic t."""
    return Partition("t", index, leader, replicas, isr, 2, False)


def test_a_leader_from_which_nobody_can_copy_is_seen_and_no_other_one() -> None:
    seen = [part(0, 1, (1,)), part(1, 2, (2, 1, 3)), part(2, 3, (3, 1, 2))]
    assert cut_off(seen, (1, 2, 3)) == {1: {("t", 0): [2, 3]}}


def test_one_follower_of_two_that_cannot_copy_is_named() -> None:
    seen = [part(0, 1, (1, 3)), part(1, 2, (2, 1, 3)), part(2, 3, (3, 1, 2))]
    found = cut_off(seen, (1, 2, 3))
    assert found == {1: {("t", 0): [2]}}
    phrase = cut_off_phrase(1, found[1])
    assert phrase == "broker 2 cannot copy from broker 1: out of the ISR of 1 partition(s) that it leads"


def test_a_follower_that_catches_up_is_not_held_against_a_leader() -> None:
    both = [part(0, 1, (1, 2)), part(1, 2, (2, 1)), part(2, 1, (1, 2))]
    assert cut_off(both, (1, 2, 3)) == {}
    # It has all of an idle leader at once, and not yet what the others lead.
    four = (1, 2, 3, 4)
    some = [part(0, 1, (1, 2, 4), four), part(1, 2, (2, 1, 4), four), part(2, 4, (4, 1, 2, 3), four)]
    assert cut_off(some, four) == {}
    assert behind(some, four, {2, 4}) == [3]


def test_a_follower_that_is_down_is_not_held_against_its_leader() -> None:
    seen = [part(0, 1, (1, 2)), part(1, 2, (2, 1, 3))]
    assert cut_off(seen, (1, 2)) == {}


def test_two_sick_leaders_are_told_apart_by_a_third() -> None:
    four = (1, 2, 3, 4)
    seen = [
        part(0, 1, (1,), four),
        part(1, 2, (2,), four),
        part(2, 3, (3, 1, 2, 4), four),
        part(3, 4, (4, 1, 2, 3), four),
    ]
    assert set(cut_off(seen, four)) == {1, 2}


def test_of_two_brokers_nothing_tells_who_is_the_cause() -> None:
    assert cut_off([part(0, 1, (1,), (1, 2))], (1, 2)) == {}


def test_partitions_without_a_leader_say_nothing() -> None:
    assert cut_off([part(0, None, (1,)), part(1, 2, (2, 1, 3))], (1, 2, 3)) == {}


def test_a_replica_that_a_move_adds_has_never_been_in_sync() -> None:
    four = (1, 2, 3, 4)
    seen = [part(0, 1, (1, 2, 3), four), part(1, 2, (2, 1, 4, 3), four)]
    move = InFlight("t", 0, four, frozenset({4}), frozenset())
    assert cut_off(seen, four) == {1: {("t", 0): [4]}}
    assert cut_off(without_adding(seen, [move]), four) == {}
    assert without_adding(seen, [move])[1] is seen[1]


@pytest.mark.parametrize(
    ("before", "now", "found"),
    [
        ({("t", 0): (10, 10)}, {("t", 0): 10}, []),
        ({("t", 0): (10, 7)}, {("t", 0): 7}, [("t", 0)]),
        ({("t", 0): (10, 7)}, {("t", 0): 8}, []),
        ({("t", 0): (10, 7), ("t", 1): (4, 3)}, {("t", 1): 3}, [("t", 1)]),
        ({}, {("t", 0): 3}, []),
    ],
)
def test_records_are_stuck_where_nothing_was_committed_since_an_earlier_look(
    before: dict[tuple[str, int], tuple[int, int]], now: dict[tuple[str, int], int], found: list[tuple[str, int]]
) -> None:
    assert uncommitted(before, now) == found
