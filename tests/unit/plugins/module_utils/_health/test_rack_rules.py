# SPDX-License-Identifier: GPL-3.0-or-later
"""The loss of a rack: voters and partitions that are left, over three sites, two and a half sites, and two sites."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Partition
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import StreamopsError
from ansible_collections.streamops.kafka.plugins.module_utils._health.look import _by_id
from ansible_collections.streamops.kafka.plugins.module_utils._health.model import HealthFinding, Limits, State
from ansible_collections.streamops.kafka.plugins.module_utils._health.rack_rules import losses, rack_loss, rack_losses

THREE = {1: "a", 2: "b", 3: "c"}
#: Two sites with two brokers each, and a third one that has a voter and no broker.
HALF = {1: "a", 2: "a", 3: "b", 4: "b", 11: "a", 12: "b", 13: "c"}
HALF_VOTERS = {11: True, 12: True, 13: True}


def part(replicas: tuple[int, ...], isr: tuple[int, ...] | None = None, least: int = 2, index: int = 0) -> Partition:
    """Return a partition whose first replica in sync leads."""
    isr = replicas if isr is None else isr
    return Partition("orders", index, isr[0] if isr else None, replicas, isr, least, False)


def lost(racks: dict[int, str], partitions: list[Partition], voters: Any = None, away: tuple[int, ...] = ()) -> Any:
    """Return by rack what is not survived: voters left, partitions that refuse, and those without a leader."""
    alive = [broker for broker in racks if broker not in away]
    found = rack_losses(racks, alive, voters, partitions)
    return {one.rack: (one.voters_left, one.refusing, one.leaderless) for one in found if not one.survives}


@pytest.mark.parametrize(
    ("partition", "expected"),
    [
        (part((1, 2, 3)), {}),
        # One copy is not in sync: either of the others is needed.
        (part((1, 2, 3), (1, 2)), {"a": (None, 1, 0), "b": (None, 1, 0)}),
        (part((1, 2, 3), (1, 2), least=1), {}),
        # Refused already, or without a leader: no rack can take it.
        (part((1, 2, 3), (1,)), {}),
        (part((1, 2, 3), ()), {}),
        # Kafka asks for no more than there are replicas.
        (part((1,)), {"a": (None, 1, 1)}),
        (part((1, 3), least=1), {}),
        # Without min.insync.replicas one replica is enough.
        (part((1, 2), least=0), {}),
    ],
)
def test_three_sites_with_a_copy_each(partition: Partition, expected: Any) -> None:
    assert lost(THREE, [partition]) == expected


def test_a_broker_that_died_just_now_is_in_sync_no_more() -> None:
    assert lost(THREE, [part((1, 2, 3))], away=(3,)) == {"a": (None, 1, 0), "b": (None, 1, 0)}


def test_two_and_a_half_sites_need_four_copies() -> None:
    three_copies = [part((1, 2, 3)), part((3, 4, 1), index=1)]
    assert lost(HALF, three_copies, HALF_VOTERS) == {"a": (2, 1, 0), "b": (2, 1, 0)}
    assert lost(HALF, [part((1, 2, 3, 4))], HALF_VOTERS) == {}
    # With one broker down the other site has both copies that are left.
    assert lost(HALF, [part((1, 2, 3, 4), (1, 3, 4))], HALF_VOTERS, away=(2,)) == {"b": (2, 1, 0)}


@pytest.mark.parametrize(
    ("voters", "racks", "expected"),
    [
        ({1: True, 2: True, 3: True}, THREE, {}),
        ({1: True, 2: True, 3: False}, THREE, {"a": (1, 0, 0), "b": (1, 0, 0)}),
        # Two sites: the one with two of three voters must not be lost.
        ({1: True, 2: True, 3: True}, {1: "a", 2: "a", 3: "b"}, {"a": (1, 0, 0)}),
        # Without a majority now nothing is left to lose.
        ({1: True, 2: False, 3: False}, THREE, {}),
        (None, THREE, {}),
    ],
)
def test_a_majority_of_all_voters_must_be_alive_elsewhere(voters: Any, racks: Any, expected: Any) -> None:
    assert lost(racks, [], voters) == expected


def state(partitions: list[Partition], racks: dict[int, str], **given: Any) -> State:
    """Return a cluster with one voter and broker on each node."""
    nodes = [{"id": one, "rack": rack, "fenced": False} for one, rack in racks.items()]
    voters = [{"id": one, "last_caught_up_ms_ago": 10} for one in (11, 12, 13)]
    info = {"nodes": nodes, "quorum": {"voters": voters, "error": None}}
    return State(info, partitions=partitions, **{"survive_rack_loss": True, **given})


def found(looked: State) -> list[HealthFinding]:
    """Return the findings on racks."""
    return list(rack_loss(looked, Limits()))


def test_a_finding_names_partitions_and_what_to_do() -> None:
    many = [part((1, 2, 3), index=index) for index in range(7)]
    looked = state(many, {1: "a", 2: "a", 3: "b"}, voter_racks={11: "a", 12: "b", 13: "c"})
    assert [one.what for one in found(looked)] == [
        "the cluster does not survive the loss of rack a: 7 partitions would refuse acks=all "
        "(orders-0, orders-1, orders-2, orders-3, orders-4 and 2 more)"
    ]
    assert "rebalance" in found(looked)[0].next_step


def test_what_is_down_comes_back_first() -> None:
    looked = state([], THREE, voter_racks={11: "a", 12: "b", 13: "c"})
    assert looked.info is not None
    looked.info["quorum"]["voters"][0]["last_caught_up_ms_ago"] = None
    assert [one.next_step[:26] for one in found(looked)] == ["bring back what is down an"] * 2
    assert [one.voters_left for one in losses(looked, Limits())] == [2, 1, 1]


def test_without_the_wish_nothing_is_found_and_the_figures_are_there() -> None:
    looked = state([part((1, 2, 3), (1, 2))], THREE, survive_rack_loss=False)
    assert found(looked) == []
    assert [(one.rack, one.refusing) for one in losses(looked, Limits())] == [("a", 1), ("b", 1), ("c", 0)]


def test_a_voter_whose_rack_is_unknown_is_told_and_one_rack_is_none() -> None:
    looked = state([], THREE, voter_racks={11: "a", 12: "b"})
    assert [one.what for one in found(looked)] == [
        "unknown rack: broker 13 (id 13); what is lost with a rack leaves them out"
    ]
    alone = state([], {1: "a"}, voter_racks=dict.fromkeys((11, 12, 13), "a"))
    assert [(one.kind, one.what) for one in found(alone)] == [
        ("rack_unknown", "all nodes are in one rack, so its loss is the loss of the cluster")
    ]


def test_racks_of_voters_are_given_by_id_as_text_too() -> None:
    assert _by_id("voter_racks", {"11": "a", 12: 1}) == {11: "a", 12: "1"}
    with pytest.raises(StreamopsError, match="voter_racks has a key that is no node id"):
        _by_id("voter_racks", {"kafka1": "a"})
