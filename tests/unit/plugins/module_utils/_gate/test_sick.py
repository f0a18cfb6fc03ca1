# SPDX-License-Identifier: GPL-3.0-or-later
"""A node that is itself the cause of a shut gate is named, and may be restarted with other files, and nothing more."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.attribution import Look, attributions
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import (
    Broker,
    Partition,
    Quorum,
    Snapshot,
    Voter,
)
from ansible_collections.streamops.kafka.plugins.module_utils._gate.rule import judge
from ansible_collections.streamops.kafka.plugins.module_utils._gate.sick import low_because_of, sick
from ansible_collections.streamops.kafka.plugins.module_utils._gate.stop import Stop
from tests.support.attributed import at_fault

ALL = frozenset((1, 2, 3))


def part(index: int, leader: int | None, isr: tuple[int, ...], minimum: int = 2) -> Partition:
    """Return a partition of topic t on brokers 1, 2 and 3."""
    return Partition("t", index, leader, (1, 2, 3), isr, minimum, False)


#: Broker 1 is cut off: nobody copies from it, and it copies from the others.
CUT_OFF = (part(0, 1, (1,)), part(1, 2, (2, 1, 3)), part(2, 3, (3, 1, 2)))
#: Broker 1 flaps and is fenced just now; broker 2 does so too, and is fenced or has not caught up.
FENCED = (part(0, 3, (3,)), part(1, 3, (3,)), part(2, None, (1,)))


def cluster(partitions: tuple[Partition, ...], fenced: tuple[int, ...] = (), gone: tuple[int, ...] = ()) -> Snapshot:
    """Return three combined nodes, whose quorum is well."""
    brokers = tuple(Broker(n, f"kafka{n}", 9092, None, n in fenced) for n in (1, 2, 3) if n not in gone)
    voters = tuple(Voter(n, None, 100, 0, 0) for n in (1, 2, 3))
    return Snapshot("id", 3, brokers, partitions, Quorum(3, 7, 100, voters, ()))


def refused(snapshot: Snapshot, node: int, correcting: bool) -> list[str]:
    """Return the kinds of what refuses the stop of a node."""
    stop = Stop(frozenset((node,)), expected_brokers=ALL, expected_controllers=ALL, correcting=correcting)
    return [one["kind"] for one in judge(snapshot, (), stop, at_fault(snapshot))["refusals"]]


def test_a_cut_off_broker_keeps_its_gate_shut_until_it_gets_other_files() -> None:
    snapshot = cluster(CUT_OFF)
    assert refused(snapshot, 1, correcting=False) == ["broker_cut_off"]
    assert refused(snapshot, 1, correcting=True) == []
    assert sick(snapshot, at_fault(snapshot)) == {
        1: "broker 2, 3 cannot copy from broker 1: out of the ISR of 1 partition(s) that it leads"
    }


def test_the_healthy_nodes_wait_for_the_sick_one_which_is_named() -> None:
    snapshot = cluster(CUT_OFF)
    for node in (2, 3):
        assert refused(snapshot, node, correcting=True) == ["broker_cut_off"]
    stop = Stop(frozenset((2,)), expected_brokers=ALL, expected_controllers=ALL)
    told = judge(snapshot, (), stop, at_fault(snapshot))["refusals"][0]
    assert "cannot copy from broker 1" in told["what"]
    assert "t-0 (ISR 1, min 2)" in told["found"]
    assert "may restart it although these partitions are low" in told["fix"]


def test_while_one_follower_still_copies_the_stop_is_judged_as_ever() -> None:
    one_way = cluster((part(0, 1, (1, 3)), *CUT_OFF[1:]))
    assert refused(one_way, 1, correcting=True) == ["pair_not_copying"]
    assert sick(one_way, at_fault(one_way)) == {}
    told = judge(one_way, (), Stop(frozenset((1,)), correcting=True), at_fault(one_way))["refusals"][0]
    assert "because broker 2 does not copy from broker 1" in told["what"]
    assert "restart" not in told["fix"]
    assert "firewall" not in told["fix"]


def test_a_follower_at_fault_is_sick_and_its_own_gate_opens_where_others_copy() -> None:
    """Broker 3 copies from nobody: the others need each other, and it is needed by none."""
    partitions = (part(0, 1, (1, 2)), part(1, 2, (2, 1)), part(2, 3, (3, 1, 2)))
    snapshot = cluster(partitions)
    assert list(sick(snapshot, at_fault(snapshot))) == [3]
    assert refused(snapshot, 3, correcting=True) == refused(snapshot, 3, correcting=False) == []
    assert refused(snapshot, 1, correcting=True) == ["broker_not_copying"]
    told = judge(snapshot, (), Stop(frozenset((1,))), at_fault(snapshot))["refusals"][0]
    assert told["what"] == "2 partition(s) are low because broker 3 does not copy"
    assert "firewall" not in told["fix"]


def test_no_word_of_a_fault_falls_of_a_follower_that_catches_up() -> None:
    """The last big partition of a recovery: broker 3 is in sync with all that the others lead."""
    snapshot = cluster((part(0, 1, (1, 2)), part(1, 2, (2, 1, 3)), part(2, 3, (3, 1, 2))))
    held = {(("t", 0), 1): 40_000_000, (("t", 0), 3): 36_000_000}
    before = Look(snapshot.partitions, frozenset((1, 2, 3)), held)
    catching_up = attributions(before, replace(before, held={**held, (("t", 0), 3): 36_200_000}, at=2.0))
    assert sick(snapshot, catching_up) == {}
    (told,) = judge(snapshot, (), Stop(frozenset((1,))), catching_up)["refusals"]
    assert told["kind"] == "catching_up"
    assert told["what"] == "1 partition(s) are low while broker 3 catches up"
    assert told["found"].startswith("broker 3 is catching up, 3.8 MB behind, 0.1 MB/s, ETA 38s: t-0 (ISR 1, 2, min 2)")
    assert "firewall" not in str(told)


def test_several_nodes_at_once_are_never_corrected() -> None:
    stop = Stop(frozenset((1, 2)), expected_brokers=ALL, expected_controllers=ALL, correcting=True)
    assert not judge(cluster(CUT_OFF), (), stop, at_fault(cluster(CUT_OFF)))["allowed"]


def test_with_unclean_election_a_follower_would_lead_without_the_records() -> None:
    unclean = (replace(CUT_OFF[0], unclean=True), *CUT_OFF[1:])
    assert low_because_of(cluster(CUT_OFF), 1, at_fault(cluster(CUT_OFF))) == {("t", 0)}
    assert low_because_of(cluster(unclean), 1, at_fault(cluster(unclean))) == set()
    told = judge(cluster(unclean), (), Stop(ALL - {1, 3}), at_fault(cluster(unclean)))["refusals"][0]
    assert "may restart it" not in told["fix"]
    assert "restarted first" not in told["allowed"]
    assert refused(cluster(unclean), 1, correcting=True) == ["broker_cut_off"]


def test_what_is_low_for_another_reason_too_is_not_spared() -> None:
    """Broker 3 is down, so it would not copy once broker 1 is back."""
    down = cluster((part(0, 1, (1,)), part(1, 2, (2, 1))), fenced=(3,))
    assert "broker_down" in refused(down, 1, correcting=True)


@pytest.mark.parametrize("gone", [(), (2,)])
def test_a_fenced_node_serves_nothing_so_its_stop_takes_nothing_away(gone: tuple[int, ...]) -> None:
    snapshot = cluster(FENCED, fenced=(1,), gone=gone)
    assert refused(snapshot, 1, correcting=True) == []
    assert refused(snapshot, 1, correcting=False) != []
    assert judge(snapshot, (), Stop(frozenset((1,)), correcting=True))["corrects"]


def test_a_fenced_voter_still_counts_for_the_quorum() -> None:
    snapshot = cluster(FENCED, fenced=(1,))
    voters = (Voter(1, None, 100, 0, 0), Voter(2, None, 40, 60, None), Voter(3, None, 100, 0, 0))
    lame = replace(snapshot, quorum=Quorum(3, 7, 100, voters, ()))
    assert "quorum_majority" in refused(lame, 1, correcting=True)


def test_a_node_of_a_pair_is_judged_as_ever_when_its_files_differ() -> None:
    low = cluster((part(0, 1, (1, 2)), part(1, 2, (2, 1, 3))))
    assert refused(low, 1, correcting=True) == refused(low, 1, correcting=False) == ["pair_not_copying"]
    assert not judge(low, (), Stop(frozenset((1,)), correcting=True), at_fault(low))["corrects"]


def test_without_a_second_look_the_partitions_alone_are_told() -> None:
    low = cluster((part(0, 1, (1, 2)), part(1, 2, (2, 1))))
    assert [one["kind"] for one in judge(low, (), Stop(frozenset((1,))))["refusals"]] == ["would_fall_under_min_isr"]


#: Brokers 1 and 2 have each other's address.
EXCHANGED = {1: "at a:1 broker 2 answers there, not broker 1", 2: "at b:1 broker 1 answers there, not broker 2"}
WELL = (part(0, 1, (1, 2, 3)), part(1, 2, (2, 1, 3)), part(2, 3, (3, 1, 2)))


def test_a_broker_at_whose_address_another_one_answers_is_sick_and_named() -> None:
    snapshot = replace(cluster(WELL), elsewhere=EXCHANGED)
    assert sick(snapshot, ()) == {broker: f"broker {broker} is not reached: {why}" for broker, why in EXCHANGED.items()}
    stop = Stop(frozenset((3,)), expected_brokers=ALL, expected_controllers=ALL, correcting=True)
    (refusal,) = judge(snapshot, (), stop)["refusals"]
    assert refusal["kind"] == "broker_elsewhere"
    assert refusal["what"] == "another node answers at the address of broker 1, 2"
    assert refusal["found"] == ", ".join(f"broker {broker}: {why}" for broker, why in EXCHANGED.items())


def test_two_that_have_each_others_address_do_not_wait_for_each_other() -> None:
    snapshot = replace(cluster(WELL), elsewhere=EXCHANGED)
    assert refused(snapshot, 1, correcting=False) == ["broker_elsewhere"]
    assert refused(snapshot, 1, correcting=True) == []
    # When the first one is corrected, the other one alone is sick, and no gate of the rest opens before it is well.
    rest = replace(snapshot, elsewhere={2: EXCHANGED[2]})
    assert refused(rest, 2, correcting=True) == []
    assert refused(rest, 3, correcting=True) == ["broker_elsewhere"]
