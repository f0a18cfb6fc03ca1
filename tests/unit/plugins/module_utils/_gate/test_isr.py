# SPDX-License-Identifier: GPL-3.0-or-later
"""What one snapshot says about a goal, and how a module observes for one interval."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.attribution import Look, attributions
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Broker, Partition, Snapshot
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import ClusterUnreachableError
from ansible_collections.streamops.kafka.plugins.module_utils._gate.isr import (
    Goal,
    Observation,
    bytes_behind,
    lagging,
    observe,
    watch,
)
from tests.support.attributed import at_fault


def cluster(*partitions: Partition, fenced: tuple[int, ...] = (), gone: tuple[int, ...] = ()) -> Snapshot:
    """Return brokers 1 to 3 with these partitions."""
    brokers = tuple(Broker(n, f"kafka{n}", 9092, None, n in fenced) for n in (1, 2, 3) if n not in gone)
    return Snapshot("id", 1, brokers, partitions, None)


def part(topic: str, index: int, isr: tuple[int, ...], leader: int | None = -1) -> Partition:
    """Return a partition on brokers 1, 2 and 3, led by the first of its ISR."""
    return Partition(topic, index, isr[0] if leader == -1 else leader, (1, 2, 3), isr, 2, False)


def test_a_cluster_in_sync_is_good_for_every_goal() -> None:
    snapshot = cluster(part("a", 0, (1, 2, 3)), part("b", 0, (3, 1, 2), leader=1))
    for goal in (Goal(), Goal("own", 3), Goal("topics", topics=("a", "b")), Goal(leaders=True)):
        seen = observe(snapshot, goal)
        assert seen.good
        assert seen.done == seen.total == 2


def test_own_looks_at_the_replicas_of_its_broker_only() -> None:
    snapshot = cluster(part("a", 0, (1, 3)), part("a", 1, (1, 2)), fenced=(2,))
    seen = observe(snapshot, Goal("own", 3))
    assert (seen.total, seen.done, seen.missing_replicas) == (2, 1, 1)
    assert [p["partition"] for p in seen.partitions] == [1]
    assert seen.partitions[0]["missing"] == [3]
    assert seen.brokers == {"3": "registered"}


def test_topics_looks_at_its_topics_only_and_misses_those_that_do_not_exist() -> None:
    snapshot = cluster(part("a", 0, (1, 2, 3)), part("b", 0, (1,)))
    assert observe(snapshot, Goal("topics", topics=("a",))).good
    seen = observe(snapshot, Goal("topics", topics=("a", "ghost")))
    assert not seen.good
    assert seen.unmet == ["topic ghost does not exist"]


def test_leaders_alone_may_be_wanted_and_each_partition_without_one_is_named() -> None:
    unled = [part("b", number, (2, 3), leader=None) for number in range(30)]
    seen = observe(cluster(part("a", 0, (1,)), *unled, fenced=(2,)), Goal(led_only=True))
    assert (seen.total, seen.done, seen.offline, seen.missing_replicas) == (31, 1, 30, 0)
    assert len(seen.partitions) == 30
    assert {one["why"] for one in seen.partitions} == {"no leader; broker 2 has the data and is down"}
    assert observe(cluster(part("a", 0, (1,)), fenced=(2,)), Goal(led_only=True)).good


def test_what_nobody_alive_may_lead_is_left_out_where_that_is_wanted() -> None:
    lost, waits = part("a", 0, (1,), leader=None), part("a", 1, (3,), leader=None)
    snapshot = cluster(lost, part("a", 2, (2, 3)), part("a", 3, (), leader=None), fenced=(1,))
    assert not observe(snapshot, Goal("own", 3)).good
    seen = observe(snapshot, Goal("own", 3, leave_unled=True))
    assert (seen.good, seen.total, seen.left_out, seen.offline) == (True, 1, 2, 0)
    # The one that comes back is in the ISR itself: it leads in a moment.
    assert not observe(cluster(lost, waits, fenced=(1,)), Goal("own", 3, leave_unled=True)).good
    eligible = replace(lost, isr=(), eligible=(2,))
    assert not observe(cluster(eligible), Goal("own", 3, leave_unled=True)).good


@pytest.mark.parametrize(
    ("snapshot", "why"),
    [
        (cluster(part("a", 0, (1, 2)), gone=(3,)), "broker 3 is not registered"),
        (cluster(part("a", 0, (1, 2)), fenced=(3,)), "broker 3 is fenced"),
        (cluster(part("a", 0, (1, 2))), "broker 3 is registered and has not caught up"),
    ],
)
def test_a_missing_replica_is_told_with_the_state_of_its_broker(snapshot: Snapshot, why: str) -> None:
    assert observe(snapshot, Goal()).partitions[0]["why"].startswith(why)


def test_a_broker_without_any_replica_must_still_be_there() -> None:
    assert observe(cluster(), Goal("own", 3)).good
    assert observe(cluster(gone=(3,)), Goal("own", 3)).unmet == ["broker 3 is not registered"]
    assert not observe(cluster(fenced=(3,)), Goal("own", 3)).good


def test_leaders_wants_the_preferred_replica_to_lead_and_own_only_its_own() -> None:
    snapshot = cluster(part("a", 0, (1, 2, 3), leader=2))
    assert observe(snapshot, Goal()).good
    seen = observe(snapshot, Goal(leaders=True))
    assert (seen.not_led, seen.done) == (1, 0)
    assert seen.partitions[0]["why"] == "led by 2 and not by its preferred replica 1"
    assert not observe(snapshot, Goal("own", 1, leaders=True)).good
    assert observe(snapshot, Goal("own", 3, leaders=True)).good


def test_a_partition_without_a_leader_is_never_good() -> None:
    seen = observe(cluster(part("a", 0, (1, 2, 3), leader=None)), Goal())
    assert (seen.good, seen.offline) == (False, 1)
    assert seen.partitions[0]["why"] == "no leader"


def test_partitions_are_listed_up_to_twenty_and_counted_in_full() -> None:
    seen = observe(cluster(*(part("a", n, (1, 2)) for n in range(50))), Goal())
    assert (len(seen.partitions), seen.total - seen.done, seen.missing_by_broker) == (20, 50, {"3": 50})


def test_an_observation_survives_json() -> None:
    seen = observe(cluster(part("a", 0, (1, 2)), fenced=(3,)), Goal())
    assert Observation.from_dict(json.loads(json.dumps(seen.as_dict()))) == seen


def test_bytes_behind_compares_catching_up_replicas_with_their_leaders() -> None:
    snapshot = cluster(
        part("a", 0, (1, 2)), part("a", 1, (2, 1)), part("a", 2, (1, 2, 3)), part("b", 0, (1,), leader=None), fenced=()
    )
    held = {(("a", 0), 1): 100, (("a", 1), 2): 50, (("a", 0), 3): 30, (("a", 1), 3): 70}
    late = lagging(snapshot, Goal())
    assert bytes_behind(late, Look(snapshot.partitions, frozenset((1, 2, 3)), held)) == 70
    assert bytes_behind([], Look(snapshot.partitions, frozenset((1, 2, 3)), held)) is None
    # One broker that did not tell costs the figure.
    some = {replica: size for replica, size in held.items() if replica[1] != 2}
    assert bytes_behind(late, Look(snapshot.partitions, frozenset((1, 2, 3)), some)) is None


def test_replicas_on_brokers_that_are_away_are_not_catching_up() -> None:
    assert lagging(cluster(part("a", 0, (1, 2)), fenced=(3,)), Goal()) == []


class FakeTime:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def observed(looks: list[Observation | Exception], interval: float = 5, consecutive: int = 3) -> list[Observation]:
    """Watch for one interval, getting these looks."""
    time, left = FakeTime(), iter(looks)

    def take() -> Observation:
        found = next(left)
        if isinstance(found, Exception):
            raise found
        return found

    return watch(take, time.clock, time.sleep, interval=interval, sample_interval=1, consecutive=consecutive)


GOOD, BAD = Observation(total=1, done=1), Observation(total=1, done=0)


def test_watching_ends_after_enough_good_observations_in_a_row() -> None:
    assert [one.good for one in observed([GOOD, BAD, GOOD, GOOD, GOOD, GOOD], interval=30)] == [
        True, False, True, True, True,
    ]  # fmt: skip


def test_watching_ends_with_its_interval() -> None:
    seen = observed([BAD] * 10)
    assert [one.at for one in seen] == [0, 1, 2, 3, 4, 5]
    assert len(observed([BAD] * 10, interval=0)) == 1


def test_a_cluster_that_does_not_answer_is_an_observation() -> None:
    seen = observed([ClusterUnreachableError({"k:1": "refused"}), GOOD, GOOD, GOOD])
    assert [one.good for one in seen] == [False, True, True, True]
    assert "refused" in (seen[0].error or "")


def test_a_broker_that_leads_and_from_which_no_other_copies_is_not_whole() -> None:
    """All replicas of its own are in sync: only what it leads shows it."""
    snapshot = cluster(part("a", 0, (1,)), part("a", 1, (2, 1, 3)), part("a", 2, (3, 1, 2)))
    assert observe(snapshot, Goal("own", 1)).good
    seen = observe(snapshot, Goal("own", 1, serves=True), at_fault(snapshot))
    assert not seen.good
    assert seen.unmet[0].startswith("broker 2, 3 cannot copy from broker 1")
    assert seen.attributions[0]["at_fault"] == [1]
    assert not seen.away


def test_a_follower_that_was_behind_before_is_not_held_against_the_broker() -> None:
    late = cluster(part("a", 0, (1, 2)), part("a", 1, (2, 1, 3)))
    assert observe(late, Goal("own", 1, serves=True), at_fault(late)).unmet
    assert observe(late, Goal("own", 1, serves=True, behind=(3,)), at_fault(late)).good
    assert observe(cluster(part("a", 0, (1, 2)), part("a", 1, (2, 1))), Goal("own", 1)).behind == [3]


def test_a_follower_that_stops_copying_from_all_is_named_and_the_broker_is_not_whole() -> None:
    late = cluster(part("a", 0, (1, 2)), part("a", 1, (2, 1)))
    seen = observe(late, Goal("own", 1, serves=True), at_fault(late))
    assert [one["at_fault"] for one in seen.attributions] == [[3]]
    assert seen.unmet == [
        "broker 3 does not copy from broker 1, 2, from which others copy: out of the ISR of 2 partition(s)"
    ]


def test_a_follower_that_catches_up_copies_from_the_broker() -> None:
    late = cluster(part("a", 0, (1, 2)), part("a", 1, (2, 1, 3)))
    held = {(("a", 0), 1): 100, (("a", 0), 3): 10}
    before = Look(late.partitions, frozenset((1, 2, 3)), held)
    now = replace(before, held={**held, (("a", 0), 3): 40}, at=2.0)
    seen = observe(late, Goal("own", 1, serves=True), attributions(before, now))
    assert seen.good
    assert [one["kind"] for one in seen.attributions] == ["catching_up"]
    # One look alone does not tell that.
    assert observe(late, Goal("own", 1, serves=True), attributions(None, now)).unmet


def test_a_broker_that_was_fenced_between_two_looks_leads_nothing_and_is_not_whole() -> None:
    fenced = cluster(part("a", 0, (2, 3, 1)), part("a", 1, (3, 1, 2)))
    assert observe(fenced, Goal("own", 1)).good
    assert observe(fenced, Goal("own", 1, serves=True)).unmet == [
        "broker 1 leads none of the partitions that prefer it"
    ]
    # Another tool moved one of its leaders meanwhile.
    moved = cluster(part("a", 0, (2, 3, 1)), part("a", 1, (1, 2, 3)))
    assert observe(moved, Goal("own", 1, serves=True)).good


def test_a_cluster_is_settled_when_no_broker_is_fenced_and_every_replica_in_sync() -> None:
    whole = part("a", 0, (1, 2, 3))
    assert observe(cluster(whole), Goal("own", 1)).settled
    assert not observe(cluster(whole, fenced=(3,)), Goal("own", 1)).settled
    assert not observe(cluster(whole, part("b", 0, (2, 3))), Goal("own", 2)).settled
