# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is at fault for replicas that are not in sync: every pattern of three and four brokers, and those of five."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from itertools import combinations, permutations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.attribution import (
    CATCHING_UP,
    FOLLOWER,
    FOLLOWER_RATE,
    LEADER,
    PAIR,
    STARTING,
    UNKNOWN,
    Look,
    Throttle,
    attributions,
    stalled_at,
)
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import (
    InFlight,
    Partition,
    behind,
    without_adding,
)
from ansible_collections.streamops.kafka.plugins.module_utils._gate.isr import uncommitted

Edge = tuple[int, int]
#: What a look tells of who is at fault, or catches up: the kind, its followers and its leaders.
Told = tuple[str, tuple[int, ...], tuple[int, ...]]

MB = 1_000_000


def part(index: int, leader: int | None, isr: tuple[int, ...], replicas: tuple[int, ...] = (1, 2, 3)) -> Partition:
    """Return a partition of topic t."""
    return Partition("t", index, leader, replicas, isr, 2, False)


def cluster(brokers: int, stalled: Collection[Edge], copied: Iterable[Edge] = (), at: float = 0.0) -> Look:
    """Return a look at brokers that lead two partitions each, of which all have a replica.

    In a pair (follower, leader) that is C(stalled) the follower lacks 2 MB of each; in one that is C(copied) it lacks
    1 MB, and 0.5 MB less with each second.
    """
    everybody = tuple(range(1, brokers + 1))
    missing = {*stalled, *copied}
    partitions, held = [], {}
    for index in range(2 * brokers):
        leader = index % brokers + 1
        isr = tuple(one for one in everybody if (one, leader) not in missing)
        partitions.append(part(index, leader, isr, everybody))
        held[("t", index), leader] = 5 * MB
        for follower, at_leader in missing:
            if at_leader == leader:
                lacks = 2 * MB if (follower, leader) in stalled else MB - int(at * MB / 2)
                held[("t", index), follower] = 5 * MB - lacks
    return Look(tuple(partitions), frozenset(everybody), held, at=at)


def told(brokers: int, stalled: Collection[Edge], copied: Iterable[Edge] = ()) -> list[Told]:
    """Return who is at fault, by two looks that are one second apart."""
    listed = list(copied)
    found = attributions(cluster(brokers, stalled, listed), cluster(brokers, stalled, listed, at=1.0))
    return [(one.kind, one.followers, one.leaders) for one in found]


def others(brokers: int, *but: int) -> tuple[int, ...]:
    """Return all brokers but these."""
    return tuple(one for one in range(1, brokers + 1) if one not in but)


CASES = [(brokers, broker) for brokers in (3, 4) for broker in range(1, brokers + 1)]
PAIRS = [(brokers, pair) for brokers in (3, 4) for pair in permutations(range(1, brokers + 1), 2)]


@pytest.mark.parametrize(("brokers", "follower"), CASES)
def test_a_follower_that_copies_from_nobody_is_at_fault_and_no_leader_is(brokers: int, follower: int) -> None:
    leaders = others(brokers, follower)
    assert told(brokers, [(follower, leader) for leader in leaders]) == [(FOLLOWER, (follower,), leaders)]


@pytest.mark.parametrize("follower", range(1, 5))
def test_a_follower_that_misses_two_leaders_of_three_is_at_fault(follower: int) -> None:
    leaders = others(4, follower)[:2]
    assert told(4, [(follower, leader) for leader in leaders]) == [(FOLLOWER, (follower,), leaders)]


@pytest.mark.parametrize(("brokers", "leader"), CASES)
def test_a_leader_from_which_nobody_copies_is_at_fault(brokers: int, leader: int) -> None:
    followers = others(brokers, leader)
    assert told(brokers, [(follower, leader) for follower in followers]) == [(LEADER, followers, (leader,))]


@pytest.mark.parametrize(
    ("brokers", "leaders", "followers"),
    [
        (brokers, leaders, followers)
        for brokers in (4, 5)
        for count in range(1, brokers - 2)
        for leaders in combinations(range(1, brokers + 1), count)
        for several in range(2, brokers - count)
        for followers in combinations(others(brokers, *leaders), several)
    ],
)
def test_followers_that_miss_leaders_from_which_another_copies_are_each_at_fault(
    brokers: int, leaders: tuple[int, ...], followers: tuple[int, ...]
) -> None:
    """As those with a long replica.fetch.backoff.ms, behind the restart of these leaders."""
    stalled = [(follower, leader) for follower in followers for leader in leaders]
    expected = [(FOLLOWER, (follower,), leaders) for follower in followers]
    assert told(brokers, stalled) == expected
    # One that catches up copies too.
    catching = [(others(brokers, *leaders, *followers)[0], leader) for leader in leaders]
    assert [fault for fault in told(brokers, stalled, catching) if fault[0] != CATCHING_UP] == expected


@pytest.mark.parametrize("leader", range(1, 5))
def test_a_leader_that_all_who_are_seen_to_need_it_miss_is_at_fault(leader: int) -> None:
    """Who only follows partitions to which nobody writes stays in their ISR without copying."""
    followers, (idle,) = others(4, leader)[:2], others(4, leader)[2:]
    before, now = (cluster(4, [(follower, leader) for follower in followers], at=at) for at in (0.0, 1.0))
    apart = tuple(
        replace(at, replicas=(leader, *followers), isr=(leader,))
        if at.leader == leader and at.index < 4
        else replace(at, replicas=(leader, idle), isr=(leader, idle))
        if at.leader == leader
        else at
        for at in now.partitions
    )
    told_of = attributions(replace(before, partitions=apart), replace(now, partitions=apart))
    assert [(fault.kind, fault.followers, fault.leaders) for fault in told_of] == [(LEADER, followers, (leader,))]


def test_a_leader_is_at_fault_only_where_nobody_is_seen_to_copy_from_it_in_all_patterns_of_four() -> None:
    edges = list(permutations(range(1, 5), 2))
    for chosen in range(2 ** len(edges)):
        stalled = [edge for place, edge in enumerate(edges) if chosen >> place & 1]
        for kind, _followers, leaders in told(4, stalled):
            missed = {leader: sum(edge[1] == leader for edge in stalled) for leader in leaders}
            assert kind != LEADER or missed[leaders[0]] == 3, stalled


@pytest.mark.parametrize(("brokers", "pair"), PAIRS)
def test_a_line_in_one_direction_names_both_and_blames_neither_alone(brokers: int, pair: Edge) -> None:
    follower, leader = pair
    assert told(brokers, [pair]) == [(PAIR, (follower,), (leader,))]
    found = attributions(cluster(brokers, [pair]), cluster(brokers, [pair], at=1.0))
    assert found[0].at_fault == pair
    assert found[0].served == others(brokers, *pair)
    assert f"broker {follower} does not copy from broker {leader}: " in found[0].phrase
    assert [one.kind for one in stalled_at(found, leader)] == [PAIR]
    assert stalled_at(found, follower) == []


@pytest.mark.parametrize(("brokers", "pair"), PAIRS)
def test_a_line_in_both_directions_names_both(brokers: int, pair: Edge) -> None:
    kinds = told(brokers, [pair, pair[::-1]])
    assert sorted(kinds) == sorted([(PAIR, (a,), (b,)) for a, b in (pair, pair[::-1])])


def test_of_two_brokers_nothing_tells_which_is_at_fault() -> None:
    assert told(2, [(1, 2)]) == [(PAIR, (1,), (2,))]
    assert attributions(cluster(2, [(1, 2)]), cluster(2, [(1, 2)], at=1.0))[0].as_dict()["served"] == []


@pytest.mark.parametrize(("brokers", "broker"), CASES)
def test_a_broker_that_neither_copies_nor_is_copied_from_is_at_fault_as_both(brokers: int, broker: int) -> None:
    rest = others(brokers, broker)
    stalled = [*((broker, other) for other in rest), *((other, broker) for other in rest)]
    assert told(brokers, stalled) == [(LEADER, rest, (broker,)), (FOLLOWER, (broker,), rest)]


@pytest.mark.parametrize(
    ("brokers", "pair"), [(brokers, pair) for brokers in (3, 4) for pair in combinations(range(1, brokers + 1), 2)]
)
def test_two_followers_at_fault_are_told_apart_from_the_leaders_that_both_miss(brokers: int, pair: Edge) -> None:
    stalled = [(follower, leader) for follower in pair for leader in others(brokers, follower)]
    assert told(brokers, stalled) == [(FOLLOWER, (follower,), others(brokers, follower)) for follower in pair]


@pytest.mark.parametrize("pair", list(combinations(range(1, 5), 2)))
def test_two_leaders_at_fault_are_told_apart_from_the_followers_that_miss_both(pair: Edge) -> None:
    stalled = [(follower, leader) for leader in pair for follower in others(4, leader)]
    assert told(4, stalled) == [(LEADER, others(4, leader), (leader,)) for leader in pair]


@pytest.mark.parametrize(("brokers", "pair"), PAIRS)
def test_a_follower_and_another_leader_at_fault_are_both_named(brokers: int, pair: Edge) -> None:
    follower, leader = pair
    stalled = {(follower, other) for other in others(brokers, follower)}
    stalled |= {(other, leader) for other in others(brokers, leader)}
    kinds = told(brokers, stalled)
    assert {(kind, broker) for kind, *sides in kinds for broker in sides[kind == LEADER]} == {
        (FOLLOWER, follower), (LEADER, leader),
    }  # fmt: skip


@pytest.mark.parametrize(("brokers", "pair"), PAIRS)
def test_a_follower_that_catches_up_is_never_at_fault_nor_is_its_leader(brokers: int, pair: Edge) -> None:
    assert told(brokers, [], [pair]) == [(CATCHING_UP, pair[:1], pair[1:])]
    leaders = others(brokers, pair[0])
    assert told(brokers, [], [(pair[0], leader) for leader in leaders]) == [(CATCHING_UP, pair[:1], leaders)]


@pytest.mark.parametrize(("brokers", "pair"), PAIRS)
def test_one_that_catches_up_beside_a_line_that_stands_still_does_not_hide_it(brokers: int, pair: Edge) -> None:
    follower, leader = pair
    for other in others(brokers, follower, leader):
        assert told(brokers, [pair], [(other, leader)]) == [
            (PAIR, (follower,), (leader,)), (CATCHING_UP, (other,), (leader,)),
        ]  # fmt: skip


def test_catching_up_is_told_with_bytes_rate_and_time_left() -> None:
    (found,) = attributions(cluster(3, [], [(1, 3)]), cluster(3, [], [(1, 3)], at=1.0))
    assert found.phrase == "broker 1 is catching up, 1.0 MB behind, 1 MB/s, ETA 1s"
    assert found.at_fault == ()


def test_a_follower_that_copies_less_than_is_written_copies_all_the_same() -> None:
    before, now = cluster(3, [], [(1, 3)]), cluster(3, [], [(1, 3)], at=1.0)
    grown = {replica: size + 9 * MB for replica, size in now.held.items() if replica[1] == 3}
    (found,) = attributions(before, replace(now, held={**now.held, **grown}))
    assert (found.kind, found.rate) == (CATCHING_UP, None)
    assert found.phrase == "broker 1 is catching up, 19.0 MB behind"


@pytest.mark.parametrize("broker", [1, 3])
def test_a_throttle_is_named_and_its_replica_copies_in_bursts(broker: int) -> None:
    slow = Throttle(broker, FOLLOWER_RATE, 80_000)
    throttled = {(("t", index), broker): slow for index in range(6)}
    before, now = (replace(cluster(3, [(1, 3)], at=at), throttled=throttled) for at in (0.0, 1.0))
    (found,) = attributions(before, now)
    assert found.kind == CATCHING_UP
    assert found.phrase == (
        f"broker 1 is catching up, 4.0 MB behind, slowed by the throttle {FOLLOWER_RATE}=80000 of broker {broker}"
    )


def test_a_throttle_at_which_two_looks_would_differ_hides_no_fault() -> None:
    fast = {(("t", index), 1): Throttle(1, FOLLOWER_RATE, 100 * MB) for index in range(6)}
    before, now = (replace(cluster(3, [(1, 3), (1, 2)], at=at), throttled=fast) for at in (0.0, 1.0))
    assert [one.kind for one in attributions(before, now)] == [FOLLOWER]


@pytest.mark.parametrize(("brokers", "broker"), CASES)
def test_a_follower_that_was_not_alive_in_the_look_before_has_just_started(brokers: int, broker: int) -> None:
    stalled = [(broker, leader) for leader in others(brokers, broker)]
    before = cluster(brokers, stalled)
    found = attributions(replace(before, alive=before.alive - {broker}), cluster(brokers, stalled, at=1.0))
    assert [(one.kind, one.followers, one.at_fault) for one in found] == [(STARTING, (broker,), ())]


def test_one_look_alone_blames_nobody() -> None:
    found = attributions(None, cluster(3, [(1, 2), (1, 3)]))
    assert [(one.kind, one.at_fault) for one in found] == [(UNKNOWN, ())]


def test_what_was_in_sync_in_the_look_before_is_not_yet_known_to_stand_still() -> None:
    assert [one.kind for one in attributions(cluster(3, []), cluster(3, [(1, 2)], at=1.0))] == [UNKNOWN]


def test_a_follower_that_joined_the_isr_of_some_meanwhile_catches_up() -> None:
    before = cluster(3, [(1, 2)])
    joined = tuple(replace(one, isr=(1, 2, 3)) if one.index == 1 else one for one in before.partitions)
    (found,) = attributions(before, replace(before, partitions=joined, at=1.0))
    assert (found.kind, list(found.missing)) == (CATCHING_UP, [("t", 4)])


def test_brokers_that_told_no_bytes_are_judged_by_the_pattern_alone() -> None:
    stalled = [(2, 1), (3, 1)]
    before, now = (replace(cluster(3, stalled, at=at), held={}) for at in (0.0, 1.0))
    (found,) = attributions(before, now)
    assert (found.kind, found.bytes_behind) == (LEADER, None)
    assert found.phrase == "broker 2, 3 cannot copy from broker 1: out of the ISR of 2 partition(s) that it leads"


@pytest.mark.parametrize("silent", ["before", "now"])
@pytest.mark.parametrize("leaders", [(2, 3), (3,)])
def test_a_follower_that_did_not_tell_its_bytes_in_one_look_is_not_called_one_that_does_not_copy(
    silent: str, leaders: tuple[int, ...]
) -> None:
    """A broker that catches up is busy, and may not answer in time what it has."""
    catching = [(1, leader) for leader in leaders]
    looks = {"before": cluster(3, [], catching), "now": cluster(3, [], catching, at=1.0)}
    left = {replica: size for replica, size in looks[silent].held.items() if replica[1] != 1}
    looks[silent] = replace(looks[silent], held=left)
    (found,) = attributions(looks["before"], looks["now"])
    assert (found.kind, found.at_fault) == (UNKNOWN, ())


@pytest.mark.parametrize("leaders", [(2, 3), (3,)])
def test_a_follower_whose_log_was_cut_or_lost_a_segment_between_two_looks_is_not_called_one_that_does_not_copy(
    leaders: tuple[int, ...],
) -> None:
    stalled = [(1, leader) for leader in leaders]
    before, now = cluster(3, stalled), cluster(3, stalled, at=1.0)
    fell = {replica: size - (MB if replica[1] == 1 else 0) for replica, size in now.held.items()}
    (found,) = attributions(before, replace(now, held=fell))
    assert (found.kind, found.at_fault) == (UNKNOWN, ())
    one_fell = {**now.held, (("t", leaders[0] - 1), 1): 0}
    assert attributions(before, replace(now, held=one_fell))[0].at_fault, "others stand still"


def test_who_is_down_or_without_a_leader_says_nothing() -> None:
    seen = (part(0, 1, (1, 2)), part(1, None, (1,)), part(2, 3, (3,)))
    look = Look(seen, frozenset((1, 2)))
    assert attributions(look, replace(look, at=1.0)) == ()


def test_each_missing_replica_is_in_one_attribution() -> None:
    """Of all patterns of three brokers."""
    edges = list(permutations((1, 2, 3), 2))
    for chosen in range(3 ** len(edges)):
        marks = [chosen // 3**place % 3 for place in range(len(edges))]
        stalled = [edge for edge, mark in zip(edges, marks, strict=True) if mark == 1]
        copied = [edge for edge, mark in zip(edges, marks, strict=True) if mark == 2]
        before, now = cluster(3, stalled, copied), cluster(3, stalled, copied, at=1.0)
        found = attributions(before, now)
        replicas = [(key, one) for each in found for key, followers in each.missing.items() for one in followers]
        lacks = [((p.topic, p.index), r) for p in now.partitions for r in p.replicas if r not in p.isr]
        assert sorted(replicas) == sorted(lacks)
        assert {one.kind for one in found if one.at_fault} <= {FOLLOWER, LEADER, PAIR}
        assert bool([one for one in found if one.at_fault]) == bool(stalled)


def test_a_replica_that_a_move_adds_has_never_been_in_sync() -> None:
    four = (1, 2, 3, 4)
    seen = (part(0, 1, (1, 2, 3), four), part(1, 2, (2, 1, 4, 3), four))
    move = InFlight("t", 0, four, frozenset({4}), frozenset())
    look = Look(without_adding(seen, [move]), frozenset(four))
    assert attributions(look, replace(look, at=1.0)) == ()
    assert without_adding(seen, [move])[1] is seen[1]
    assert behind(seen, four, {1}) == [4]


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
