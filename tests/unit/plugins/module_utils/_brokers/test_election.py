# SPDX-License-Identifier: GPL-3.0-or-later
"""Which partitions need a preferred election, and which of them are waited for."""

from __future__ import annotations

from ansible_collections.streamops.kafka.plugins.module_utils._brokers.election import (
    plan,
    plan_unclean,
    steps,
    unknown_broker,
    unled,
)
from ansible_collections.streamops.kafka.plugins.module_utils._brokers.election_apply import changes
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Partition


def part(index: int, leader: int | None, replicas: tuple[int, ...], isr: tuple[int, ...] | None = None) -> Partition:
    """Return a partition of topic t."""
    return Partition("t", index, leader, replicas, replicas if isr is None else isr, 1, False)


LED = part(0, 1, (1, 2))
AWAY = part(1, 2, (1, 2))
BEHIND = part(2, 2, (3, 2), (2,))
OTHER = part(3, 1, (2, 1))
ALL = (LED, AWAY, BEHIND, OTHER)


def test_all_partitions_that_are_led_by_another_are_elected_or_reported() -> None:
    planned = plan(ALL)
    assert planned.elect == (AWAY, OTHER)
    assert planned.not_in_sync == (BEHIND,)
    assert [(c.name, c.before, c.after) for c in changes(planned.elect)] == [
        ("t-1", {"leader": 2}, {"leader": 1}), ("t-3", {"leader": 1}, {"leader": 2}),
    ]  # fmt: skip


def test_a_broker_gets_back_only_what_prefers_it() -> None:
    assert plan(ALL, broker=2).elect == (OTHER,)
    assert plan(ALL, broker=3) == plan((BEHIND,))


def test_wanted_partitions_only_and_unknown_ones_are_told() -> None:
    planned = plan(ALL, wanted=[("t", 1), ("t", 0), ("t", 9), ("t", 9)])
    assert planned.elect == (AWAY,)
    assert planned.unknown == (("t", 9),)


def test_nothing_to_elect_is_an_empty_plan() -> None:
    assert plan((LED,)).elect == ()


def test_an_election_ends_when_every_preferred_replica_leads() -> None:
    planned = plan(ALL)
    assert unled(planned, {}, {("t", 1): 1, ("t", 3): 2}) == []
    assert unled(planned, {}, {("t", 1): 1, ("t", 3): None}) == ["t-3 on broker 2"]
    assert unled(planned, {}, {}) == ["t-1 on broker 1", "t-3 on broker 2"]


def test_a_refused_election_is_not_waited_for() -> None:
    refused = dict.fromkeys([("t", 1), ("t", 3)], "PREFERRED_LEADER_NOT_AVAILABLE")
    assert unled(plan(ALL), refused, {}) == []


def test_a_broker_that_nobody_knows_is_refused_and_one_that_is_down_is_not() -> None:
    assert unknown_broker(ALL, [1, 2], 4) == [
        "broker 4 is no broker of this cluster; there are 1, 2, 3. Correct the id."
    ]
    assert unknown_broker(ALL, [1, 2], 3) == [], "down, and known by its replicas"
    assert unknown_broker((), [1, 9], 9) == [], "holds nothing yet"
    assert unknown_broker(ALL, [1, 2], None) == []


UNLED = part(4, None, (1, 2), (2,))


def test_an_unclean_election_is_for_named_partitions_that_have_no_leader() -> None:
    planned = plan_unclean((*ALL, UNLED, part(5, None, (1,))), [("t", 1), ("t", 4), ("t", 9)])
    assert (planned.elect, planned.not_in_sync, planned.unknown) == ((UNLED,), (), (("t", 9),))
    assert plan_unclean((UNLED,), []).elect == ()


def test_an_unclean_election_ends_when_any_replica_leads() -> None:
    planned = plan_unclean((UNLED,), [("t", 4)])
    assert unled(planned, {}, {("t", 4): None}) == ["t-4"]
    assert unled(planned, {}, {("t", 4): 2}) == []


def test_the_diff_of_an_unclean_election_names_who_leads_or_that_kafka_chooses() -> None:
    assert [one.after for one in changes([UNLED], {("t", 4): 2})] == [{"leader": 2}]
    assert [one.after for one in changes([UNLED], {})] == [{"leader": "chosen by Kafka"}]


def test_steps_grow_up_to_a_bound_and_hold_everything_once() -> None:
    many = [part(index, 1, (2, 1)) for index in range(1000)]
    found = steps(many, growing=True)
    assert [len(one) for one in found] == [1, 2, 4, 8, 16, 32, 64, 128, 256, 256, 233]
    assert [one for step in found for one in step] == many
    assert steps(many, growing=False) == [many]
    assert steps([], growing=True) == steps([], growing=False) == []
