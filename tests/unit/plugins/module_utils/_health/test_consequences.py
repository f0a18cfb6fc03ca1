# SPDX-License-Identifier: GPL-3.0-or-later
"""One cause is one finding: what a broker that is down or cut off explains, what stands alone, and that nothing gets
better by it."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.attribution import Look, attributions
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.info import describe
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import (
    Broker,
    Partition,
    Quorum,
    Snapshot,
    Voter,
)
from ansible_collections.streamops.kafka.plugins.module_utils._health import model, rules
from ansible_collections.streamops.kafka.plugins.module_utils._health.consequences import (
    Consequences,
    Lacking,
    awaited,
    consequences,
    down_brokers,
)
from ansible_collections.streamops.kafka.plugins.module_utils._health.model import HealthFinding, Limits, State
from tests.support.attributed import standing_still

NODES = [{"host": f"kafka{one}", "node_id": one, "roles": ["broker"]} for one in (1, 2, 3, 4)]
ABOUT = {"broker_down", "broker_cut_off", "ghost_broker", "partitions_offline", "under_min_isr", "under_replicated"}
ABOUT |= {"at_min_isr", "broker_not_copying", "pair_not_copying", "catching_up"}


def part(isr: tuple[int, ...], replicas: tuple[int, ...] = (1, 2, 3), **values: Any) -> dict[str, Any]:
    """Return the values of a partition that its first replica in sync leads."""
    leader = isr[0] if isr else None
    about = {"leader": leader, "replicas": replicas, "isr": isr, "min_insync": 2, "internal": False}
    return {**about, **values}


def state(*parts: dict[str, Any], fenced: tuple[int, ...] = (3,), nodes: Any = NODES, **values: Any) -> State:
    """Return a cluster of four brokers with these partitions, of which some are fenced."""
    brokers = tuple(Broker(one, f"kafka{one}", 9092, None, one in fenced) for one in (1, 2, 3, 4))
    partitions = tuple(Partition("t", index, **one) for index, one in enumerate(parts))
    quorum = Quorum(1, 7, 99, (Voter(9, None, 99, 0, 0),), ())
    return State(describe(Snapshot("c", 1, brokers, partitions, quorum), partitions=False), nodes=nodes, **values)


def findings(looked: State) -> list[HealthFinding]:
    """Return the findings on brokers and partitions."""
    return [one for one in rules.findings(looked, Limits(max_imbalance_percent=100)) if one.kind in ABOUT]


def found(looked: State) -> list[tuple[str, str]]:
    """Return kind and phrase of these findings."""
    return [(one.kind, one.what) for one in findings(looked)]


def test_a_broker_that_is_down_is_one_finding_with_the_partitions_that_lack_its_replica() -> None:
    looked = state(*[part((1, 2))] * 9, part((1, 2), (1, 2, 3), min_insync=1), part((1,), (1, 3)))
    (one,) = findings(looked)
    assert (one.kind, one.found) == ("broker_down", "fenced")
    assert one.what == (
        "broker kafka3 (id 3) is down: 11 partitions lack this replica, 1 of them refuses acks=all, "
        "9 would refuse acks=all with one replica less"
    )
    assert one.next_step.startswith("restart no other broker; look at the log of this broker, then: ")


@pytest.mark.parametrize(
    ("lacking", "phrase"),
    [
        (Lacking(), ""),
        (Lacking(1), "1 partition lacks this replica"),
        (Lacking(1200, 3), "1,200 partitions lack this replica, 3 of them refuse acks=all"),
        (Lacking(2, 0, 1), "2 partitions lack this replica, 1 would refuse acks=all with one replica less"),
    ],
)
def test_what_follows_is_said_in_words(lacking: Lacking, phrase: str) -> None:
    assert lacking.phrase == phrase


def test_a_broker_without_replicas_that_is_down_explains_nothing() -> None:
    looked = state(part((1, 2, 3)), fenced=(4,))
    assert found(looked) == [("broker_down", "broker kafka4 (id 4) is down")]
    assert "restart no other" not in findings(looked)[0].next_step


def test_a_partition_counts_with_each_broker_that_it_lacks() -> None:
    assert found(state(part((1,)), part((1, 4), (1, 3, 4)), fenced=(2, 3))) == [
        ("broker_down", "broker kafka2 (id 2) is down: 1 partition lacks this replica, 1 of them refuses acks=all"),
        (
            "broker_down",
            "broker kafka3 (id 3) is down: 2 partitions lack this replica, 1 of them refuses acks=all, "
            "1 would refuse acks=all with one replica less",
        ),
    ]


def test_what_no_finding_explains_stands_alone() -> None:
    # Broker 2 lives and is out of sync: that it also lacks broker 3 does not explain it.
    assert found(state(part((1, 2)), part((1,)), part((1, 4), (1, 2, 4)))) == [
        (
            "broker_down",
            "broker kafka3 (id 3) is down: 1 partition lacks this replica, "
            "1 would refuse acks=all with one replica less",
        ),
        ("under_min_isr", "1 more of 3 partitions below min.insync.replicas"),
        ("under_replicated", "2 more of 3 partitions under-replicated"),
        ("at_min_isr", "1 more of 3 partitions at min.insync.replicas"),
    ]
    assert found(state(part((1, 4), (1, 2, 4)), fenced=())) == [
        ("under_replicated", "1 of 1 partitions under-replicated"),
        ("at_min_isr", "1 of 1 partitions at min.insync.replicas"),
    ]


def test_a_broker_that_is_not_registered_and_a_stranger_that_is_fenced_explain_theirs() -> None:
    away = state(part((1, 2), (1, 2, 7)), fenced=(), nodes=[*NODES, {**NODES[0], "host": "kafka7", "node_id": 7}])
    assert [kind for kind, _what in found(away)] == ["broker_down"]
    assert "not registered" in findings(away)[0].found
    (stranger,) = found(state(part((1, 2)), nodes=[one for one in NODES if one["node_id"] != 3]))
    assert stranger[0] == "ghost_broker"
    assert stranger[1].startswith("broker 3 is registered and not in the inventory: 1 partition lacks this replica")


def test_without_an_inventory_what_is_fenced_is_down() -> None:
    ((kind, what),) = found(state(part((1, 2)), nodes=()))
    assert (kind, what.split(":")[0]) == ("broker_down", "broker 3 is down")


def blamed(*parts: dict[str, Any], fenced: tuple[int, ...] = ()) -> State:
    """Return a cluster with these partitions, in which nobody catches up."""
    alive = {1, 2, 3, 4}.difference(fenced)
    listed = [Partition("t", index, **one) for index, one in enumerate(parts)]
    return state(*parts, fenced=fenced, attributions=standing_still(listed, alive))


def test_partitions_of_a_leader_that_is_cut_off_follow_from_it() -> None:
    phrase = "broker 1, 2 cannot copy from broker 4: out of the ISR of 2 partition(s) that it leads"
    assert found(blamed(part((4,), (4, 1, 2)), part((4, 1), (4, 1, 2)))) == [
        (
            "broker_cut_off",
            f"{phrase} (kafka4): 1 of them refuses acks=all, 1 would refuse acks=all with one replica less",
        )
    ]
    # One that lacks a dead and a live replica follows from both.
    both = blamed(part((4,), (4, 1, 2, 3)), fenced=(3,))
    assert [kind for kind, _what in found(both)] == ["broker_down", "broker_cut_off"]


def test_partitions_that_one_follower_does_not_copy_follow_from_it_and_no_leader_is_named_as_the_cause() -> None:
    looked = blamed(part((1, 2)), part((2, 1), (2, 1, 3)))
    (one,) = findings(looked)
    assert one.kind == "broker_not_copying"
    assert one.what == (
        "broker 3 does not copy from broker 1, 2, from which others copy: out of the ISR of 2 partition(s) (kafka3): "
        "2 would refuse acks=all with one replica less"
    )
    assert "firewall" not in one.next_step


def test_a_pair_names_both_and_what_changed_last_on_them() -> None:
    looked = blamed(part((2, 3), (2, 1, 3)), part((3, 1, 2), (3, 1, 2)))
    change = {"since": "20261129T080000Z", "changes": ["replica.fetch.backoff.ms: 200 -> 300000"]}
    about: dict[str, Any] = {"failed": None, "why_failed": "", "staged": None, "edited": [], "last_change": change}
    (one,) = findings(replace(looked, start_files={"kafka1": about, "kafka3": about}))
    assert one.kind == "pair_not_copying"
    assert "broker 1 does not copy from broker 2" in one.what
    assert "(kafka1, kafka2)" in one.what
    assert one.found == "changed last on kafka1: replica.fetch.backoff.ms: 200 -> 300000"


def test_a_follower_that_catches_up_is_told_as_that() -> None:
    parts = [part((1, 2)), part((2, 1, 3), (2, 1, 3))]
    listed = tuple(Partition("t", index, **one) for index, one in enumerate(parts))
    before = Look(listed, frozenset((1, 2, 3, 4)), {(("t", 0), 1): 9_000_000, (("t", 0), 3): 4_000_000})
    now = replace(before, held={**before.held, (("t", 0), 3): 5_000_000}, at=2.0)
    (one,) = findings(state(*parts, fenced=(), attributions=attributions(before, now)))
    assert one.kind == "catching_up"
    assert one.what.startswith("broker 3 is catching up, 4.0 MB behind, 0.5 MB/s, ETA 8s (kafka3): 1 would refuse")
    assert "firewall" not in one.next_step
    # One look alone tells nothing of anybody.
    assert [kind for kind, _what in found(state(*parts, fenced=(), attributions=attributions(None, now)))] == [
        "under_replicated", "at_min_isr",
    ]  # fmt: skip


def test_partitions_without_a_leader_stay_a_finding_and_say_whom_they_wait_for() -> None:
    gone = part((3,), (1, 3), leader=None)
    listed = findings(state(gone, part((1, 2))))
    assert [(one.kind, one.what) for one in listed] == [
        (
            "broker_down",
            "broker kafka3 (id 3) is down: 1 partition lacks this replica, "
            "1 would refuse acks=all with one replica less",
        ),
        ("partitions_offline", "1 of 2 partitions without a leader: they wait for kafka3"),
    ]
    assert model.status_of(listed) == "DOWN"


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"isr": [3], "replicas": [1, 3]}, [3]),
        ({"isr": [], "eligible_leaders": [2], "last_known_leaders": [1], "replicas": [1, 2, 3]}, [2]),
        ({"isr": [], "eligible_leaders": [], "last_known_leaders": [1], "replicas": [1, 2, 3]}, [1]),
        ({"isr": [], "eligible_leaders": None, "last_known_leaders": None, "replicas": [1, 2]}, [1, 2]),
        ({}, []),
    ],
)
def test_who_is_awaited_is_who_may_lead(row: dict[str, Any], expected: list[int]) -> None:
    assert awaited([row]) == expected


def test_counts_without_lists_stand_alone_and_nothing_known_explains_nothing() -> None:
    counts = {"partitions": 12, "offline": 1, "under_min_isr": 2, "under_replicated": 3}
    looked = State({"nodes": [{"id": 3, "fenced": True}], "controller_id": 1, "quorum": None, "counts": counts})
    assert [one.what for one in findings(looked)] == [
        "broker 3 is down",
        "1 of 12 partitions without a leader",
        "2 of 12 partitions below min.insync.replicas",
        "3 of 12 partitions under-replicated",
    ]
    assert consequences({}, [3]) == Consequences()
    assert down_brokers([], []) == {}


def test_no_status_gets_better_and_no_partition_is_lost_or_counted_twice() -> None:
    chance = random.Random(7)
    for _round in range(400):
        parts = []
        for _one in range(chance.randrange(1, 8)):
            replicas = tuple(chance.sample((1, 2, 3, 4), chance.randrange(1, 5)))
            isr = tuple(chance.sample(replicas, chance.randrange(0, len(replicas) + 1)))
            parts.append(part(isr, replicas, min_insync=chance.randrange(0, 4)))
        fenced = tuple(one for one in (1, 2, 3, 4) if chance.random() < 0.3)
        looked = blamed(*parts, fenced=fenced) if chance.random() < 0.5 else state(*parts, fenced=fenced)
        info, follows, listed = looked.seen, looked.consequences, findings(looked)
        hurt = [one for one in info["under_replicated"] if one["leader"] is not None]
        assert model.status_of(listed) == ("DOWN" if info["offline"] else "DEGRADED" if hurt or fenced else "OK")
        # Each is within a finding on brokers, or in the finding of its own kind.
        alone = follows.left(hurt)
        assert follows.of.keys() <= {*fenced}
        assert follows.attributed.keys() <= {*range(len(looked.attributions))}
        within = {(one["topic"], one["partition"]) for one in hurt} & follows.explained
        assert len(within) + len(alone) == len(hurt)
        told = [int(one.found) for one in listed if one.kind == "under_replicated"]
        assert sum(told) == len(alone)
