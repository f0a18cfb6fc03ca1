# SPDX-License-Identifier: GPL-3.0-or-later
"""What forbids a change of the voters, each with its fix, and what is only told."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Quorum
from ansible_collections.streamops.kafka.plugins.plugin_utils.findings import NOTE
from ansible_collections.streamops.kafka.plugins.plugin_utils.voters.checks import check
from ansible_collections.streamops.kafka.plugins.plugin_utils.voters.model import ClusterFacts
from ansible_collections.streamops.kafka.plugins.plugin_utils.voters.plan import make_steps
from tests.unit.plugins.plugin_utils.voters.voters_data import controller, facts, refused, voter


@pytest.mark.parametrize(
    "found",
    [
        facts([1, 2, 3], [1]),
        facts([1, 2, 3, 4, 5], [1, 2, 3]),
        facts([1, 2, 3], [1, 2, 3, 4, 5], leaving=[4, 5]),
        facts([1], [1, 2, 3], leaving=[2, 3]),
        facts([4, 5, 6], [1, 2, 3], leaving=[1, 2, 3]),
        facts([1, 2, 3], [1, 2, 3, 4], down=[4]),
        facts([1, 2, 3], [1, 2, 4], down=[4]),
    ],
    ids=["1-3", "3-5", "5-3", "3-1", "other machines", "a dead one goes", "one comes for a dead one"],
)
def test_what_is_safe_is_not_refused(found: ClusterFacts) -> None:
    assert refused(found) == []


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (facts([1], [1], unasked="silent. Nothing was changed."), "the cluster did not answer who votes (silent)"),
        (facts([1], [1], quorum=None), "the cluster is one of mode zookeeper"),
        (facts([1], [1], quorum=Quorum.unknown("timed out")), "the quorum did not answer who votes (timed out)"),
        (facts([1], [1], leader=None), "the quorum has no leader"),
        (
            facts([1, 2, 3], [voter(1, directory=None)]),
            "the voters stand in controller.quorum.voters (kraft.ver",
        ),
        (facts([], [1], leaving=[1]), "no controller would be left"),
        (facts([1, 2], [1]), "of 2 voters both must run"),
        (facts([1, 2], [1, 2, 3], leaving=[3]), "of 2 voters both must run"),
        (facts([1], [1], unknown=("k9",)), "kafka_controllers_leaving names k9, no controller of c"),
        (facts([1, 2, 3, 4, 5], [1, 2, 3], down=[2]), "controller 2 is down or behind"),
        (facts([1], [1, 2, 3], leaving=[2, 3], joins_itself=True), "controller.quorum.auto.join.enable is on"),
        (facts([1, 2, 3], [1, voter(2), voter(2, None, "old"), 3]), "controller 2 votes with two disks"),
    ],
)
def test_what_is_refused(found: ClusterFacts, why: str) -> None:
    assert any(one.startswith(why) for one in refused(found)), refused(found)


def test_every_refusal_has_a_fix() -> None:
    cases = [
        facts([1, 2], [1], unknown=("k9",), joins_itself=True, leaving=[3]),
        facts([1], [1], leader=None),
        facts([1], [1], quorum=None),
        facts([1, 2, 3], [1, 2, 3, 4, 5], down=[3, 4, 5]),
    ]
    assert all(one.fix for found in cases for one in check(found, make_steps(found)) if one.level != NOTE)


def test_an_even_number_from_four_on_is_told() -> None:
    found = facts([1, 2, 3, 4], [1, 2, 3])
    assert refused(found) == []
    assert [one.what for one in check(found, make_steps(found))] == [
        "4 voters survive the loss of 1, no more than 3 do"
    ]


def test_voters_that_are_there_keep_the_majority_at_each_step() -> None:
    # Two of five are down and a third one goes: 2 of 4 are there, and 3 decide.
    found = facts([1, 2], [1, 2, 3, 4, 5], leaving=[3], down=[4, 5], controllers=(*map(controller, (1, 2, 4, 5)),))
    assert "when controller 3 is removed, a majority of 4 voters is 3, and 2 are there" in refused(found)


def test_the_dead_go_first_so_that_the_others_stay_a_majority() -> None:
    assert refused(facts([1, 2, 3], [1, 2, 3, 4, 5], down=[4, 5])) == []


def test_a_disk_of_another_cluster_is_refused() -> None:
    nodes = (controller(1, cluster_id="other"),)
    assert "k1 has a disk of cluster other" in refused(facts([], [1], controllers=nodes))[0]


def test_a_voter_with_another_disk_is_for_replace_node() -> None:
    nodes = tuple(controller(one, directory_id="new" if one == 2 else f"dir{one}") for one in (1, 2, 3))
    found = check(facts([], [1, 2, 3], controllers=nodes), [])
    assert [one.what for one in found] == ["controller 2 votes with another disk than k2 has (new)"]
    assert "replace_node.yml with kafka_replace_node=k2" in found[0].fix


def test_a_controller_with_the_id_of_a_broker_is_refused() -> None:
    found = facts([1, 2, 3], [1], brokers=frozenset({2, 11}))
    assert refused(found) == ["k2 is to be controller 2, and the cluster has a broker with this id"]


def test_a_running_broker_does_not_become_a_controller_in_place() -> None:
    def combined(number: int, **other: bool) -> ClusterFacts:
        nodes = (controller(1), controller(2, is_broker=True, running=True, **other), controller(number))
        return facts([], [1], controllers=nodes, brokers=frozenset({2}))

    assert refused(combined(3)) == ["k2 runs as broker 2 and does not listen for controllers"]
    assert refused(combined(3, listens=True)) == []


@pytest.mark.parametrize(
    ("down", "said"), [((), "runs, and has to be stopped on its machine by you"), ([4], "does not answer")]
)
def test_a_voter_that_the_inventory_lacks_is_told(down: list[int], said: str) -> None:
    found = facts([1, 2, 3], [1, 2, 3, 4], down=down)
    notes = [one.what for one in check(found, make_steps(found))]
    assert notes == [f"controller 4 is not in the inventory, so it leaves the quorum. It {said}"]


def test_the_fix_of_a_voter_that_comes_back_names_variables_that_exist() -> None:
    found = facts([1], [1, 2, 3], leaving=[2, 3], joins_itself=True)
    fixes = [one.fix for one in check(found, make_steps(found)) if "auto.join" in one.what]
    assert ["kafka_config or kraft_controller_config" in one for one in fixes] == [True]


@pytest.mark.parametrize("down", [(), (3,)], ids=["alive", "dead"])
def test_a_voter_that_the_inventory_lacks_and_that_is_a_broker_too_is_refused(down: tuple[int, ...]) -> None:
    found = facts([1, 2, 4], [1, 2, 3], down=down, brokers=frozenset({3, 11}))
    assert refused(found) == ["controller 3 is not in the inventory, and the cluster has a broker with this id"]
    accepted = facts([1, 2, 4], [1, 2, 3], down=down, brokers=frozenset({3, 11}), accepted=frozenset({3}))
    assert refused(accepted) == []
