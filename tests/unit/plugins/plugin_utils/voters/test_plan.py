# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of a change of the voters, in their order, with their arithmetic, and how they read."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Quorum
from ansible_collections.streamops.kafka.plugins.plugin_utils.findings import REFUSE
from ansible_collections.streamops.kafka.plugins.plugin_utils.voters.checks import check, unanswered
from ansible_collections.streamops.kafka.plugins.plugin_utils.voters.model import ClusterFacts
from ansible_collections.streamops.kafka.plugins.plugin_utils.voters.plan import (
    gone,
    left_lines,
    make_steps,
    plan_lines,
    refusal_text,
    silent,
)
from tests.unit.plugins.plugin_utils.voters.voters_data import controller, facts


def steps(found: ClusterFacts) -> list[tuple[str, int, int, int]]:
    """Each step: what, whom, and the voters and the majority behind it."""
    return [(step.kind, step.node_id, step.voters, step.needed) for step in make_steps(found)]


def _subsets(numbers: Sequence[int]) -> list[tuple[int, ...]]:
    return [some for size in range(1, len(numbers) + 1) for some in combinations(numbers, size)]


def lines(found: ClusterFacts) -> list[str]:
    planned = make_steps(found)
    return plan_lines(found, planned, check(found, planned))


def test_one_becomes_three_one_at_a_time() -> None:
    assert steps(facts([1, 2, 3], [1])) == [("add", 2, 2, 2), ("add", 3, 3, 2)]


def test_three_become_five_and_five_become_three() -> None:
    assert steps(facts([1, 2, 3, 4, 5], [1, 2, 3])) == [("add", 4, 4, 3), ("add", 5, 5, 3)]
    down = facts([1, 2, 3], [1, 2, 3, 4, 5], leaving=[4, 5])
    assert steps(down) == [("remove", 4, 4, 3), ("remove", 5, 3, 2)]


def test_on_the_way_to_other_machines_all_come_before_the_first_goes_and_the_leader_goes_last() -> None:
    found = steps(facts([4, 5, 6], [1, 2, 3], leaving=[1, 2, 3]))
    assert [one[:2] for one in found] == [
        ("add", 4),
        ("add", 5),
        ("add", 6),
        ("remove", 2),
        ("remove", 3),
        ("remove", 1),
    ]
    assert [one[2] for one in found] == [4, 5, 6, 5, 4, 3]


def test_a_voter_that_does_not_answer_goes_before_those_that_do() -> None:
    found = facts([1, 2, 3], [1, 2, 3, 4, 5], leaving=[4], down=[5])
    assert [step.node_id for step in make_steps(found)] == [5, 4]


def test_one_whose_machine_is_gone_goes_behind_those_that_come_and_before_the_others_restart() -> None:
    found = facts([1, 2, 4], [1, 2, 3], down=[3])
    assert steps(found) == [("add", 4, 4, 3), ("remove", 3, 3, 2)]
    assert silent(found) == [3]
    said = [line[:12].strip() for line in lines(found)]
    assert said[2:6] == ["Step 1", "Step 2", "Restarts", "In the end"]


def test_one_that_answers_goes_behind_the_restarts() -> None:
    found = facts([1, 2, 4], [1, 2, 3, 5], leaving=[5], down=[3])
    assert silent(found) == [3]
    assert [line[:12].strip() for line in lines(found)][2:6] == ["Step 1", "Step 2", "Restarts", "Step 3"]


def test_what_is_not_refused_can_restart_one_voter_after_the_other() -> None:
    """Behind those that come, and without those that do not answer, a gate must let each voter go for a moment."""
    numbers = range(1, 6)
    for wanted, voting in product(_subsets(numbers), repeat=2):
        for down in _subsets(voting):
            found = facts(wanted, voting, leader=next((one for one in voting if one not in down), None), down=down)
            rolled = [one for one in make_steps(found) if one.kind == "add" or one.node_id in silent(found)]
            if not rolled or any(one.level == REFUSE for one in check(found, make_steps(found))):
                continue
            assert rolled[-1].voters <= 2 or rolled[-1].current - 1 >= rolled[-1].needed, found


def test_a_run_that_was_cut_goes_on_with_what_is_left() -> None:
    assert steps(facts([1, 2, 3], [1, 2])) == [("add", 3, 3, 2)]
    assert steps(facts([1, 2, 3], [1, 2, 3], leaving=[4])) == []


def test_a_step_knows_how_many_voters_are_there() -> None:
    found = facts([1, 2, 3], [1, 2, 3, 4], leaving=[4], down=[4])
    assert [step.current for step in make_steps(found)] == [3]


@pytest.mark.parametrize(
    ("found", "then"),
    [
        (facts([1], [1, 4], leaving=[4]), "it stops"),
        (facts([1], [1, 4]), "it still runs: stop it on its machine yourself"),
        (facts([1], [1, 4], down=[4]), "nothing is left to stop"),
    ],
)
def test_what_becomes_of_a_controller_that_goes(found: ClusterFacts, then: str) -> None:
    assert make_steps(found)[0].then == then


def test_a_combined_node_that_goes_stays_a_broker() -> None:
    nodes = (controller(1), controller(2, leaves=True, is_broker=True))
    assert make_steps(facts([], [1, 2], controllers=nodes))[0].then == "it goes on as a broker"


def test_a_plan_to_grow_reads_on_one_screen() -> None:
    assert lines(facts([1, 2, 3], [1])) == [
        "Voters of c: 1 voter now, 3 wanted",
        "Now          1 (leader 1); a majority is 1, the loss of 0 is survived",
        "Step 1       add controller 2 (k2, k2:9093): voters 1 -> 2, majority 1 -> 2, 2 there",
        "Step 2       add controller 3 (k3, k3:9093): voters 2 -> 3, majority 2 -> 2, 3 there",
        "Restarts     all other nodes one by one: controller.quorum.bootstrap.servers has the new ones",
        "In the end   3 voters; a majority is 2, the loss of 1 is survived",
    ]


def test_a_plan_to_shrink_says_what_is_left_to_do() -> None:
    assert lines(facts([1], [1, 2, 3], leaving=[2, 3])) == [
        "Voters of c: 3 voters now, 1 wanted",
        "Now          1, 2, 3 (leader 1); a majority is 2, the loss of 1 is survived",
        "Step 1       remove controller 2 (k2), then it stops: voters 3 -> 2, majority 2 -> 2, 2 there",
        "Step 2       remove controller 3 (k3), then it stops: voters 2 -> 1, majority 2 -> 1, 1 there",
        "Afterwards   take k2, k3 out of kraft_controllers, and run site.yml: all nodes get the shorter list",
        "In the end   1 voter; a majority is 1, the loss of 0 is survived",
    ]


@pytest.mark.parametrize("down", [[], [3]])
def test_one_that_the_inventory_lacks_leaves_a_shorter_list_for_all(down: list[int]) -> None:
    told = [one.split("  ")[0] for one in lines(facts([1, 2, 4], [1, 2, 3, 4], down=down))]
    assert told[2:4] == (["Step 1", "Restarts"] if down else ["Restarts", "Step 1"])


def test_a_quorum_that_is_as_wanted_has_nothing_to_do() -> None:
    assert lines(facts([1, 2, 3], [1, 2, 3]))[-1].startswith("Nothing to do")


def test_notes_and_refusals_are_behind_the_steps() -> None:
    found = lines(facts([1, 2, 3, 4], [1, 2, 3], down=[2]))
    assert found[-2].startswith("Note         4 voters survive the loss of 1, no more than 3 do. fix: an odd number")
    assert found[-1].startswith("Refused      controller 2 is down or behind: 50 records, caught up last never. fix: ")


def test_a_refusal_names_each_reason_and_nothing_else() -> None:
    found = facts([1, 2], [1], unknown=("k9",))
    text = refusal_text(check(found, make_steps(found)))
    assert [line[:30] for line in text.splitlines()] == [
        "- kafka_controllers_leaving na",
        "- of 2 voters both must run, w",
    ]
    assert refusal_text(check(facts([1], [1]), [])) == ""


def test_what_is_left_is_told_also_while_the_others_elect() -> None:
    gone = facts([1], [1], leaving=[2, 3])
    assert left_lines(gone) == [
        "The voters of c are 1 (leader 1).",
        "Take k2, k3 out of kraft_controllers now, and run site.yml: all nodes get the shorter list.",
    ]
    assert "the quorum elects now" in left_lines(facts([2], [], leaving=[1], leader=None))[0]


@pytest.mark.parametrize(
    ("silent", "why"),
    [
        (facts([1], [], leaving=[2], quorum=None, unasked="silent. Nothing was changed."), "silent"),
        (facts([1], [], leaving=[2], quorum=Quorum.unknown("timed out")), "timed out"),
    ],
)
def test_without_an_answer_nothing_is_called_done_and_nobody_is_called_gone(silent: ClusterFacts, why: str) -> None:
    said = " ".join(left_lines(silent))
    assert f"not known who votes ({why})" in said
    assert "done" not in said
    assert "Take k2" not in said
    assert why in unanswered(silent)
    assert gone(silent) == []


def test_only_who_votes_no_more_is_gone() -> None:
    found = facts([1], [1, 3], leaving=[2, 3])
    assert (gone(found), unanswered(found)) == (["k2"], "")
    assert gone(facts([1], [], leaving=[2], leader=None)) == []
    assert "no leader" in unanswered(facts([1], [], leaving=[2], leader=None))
