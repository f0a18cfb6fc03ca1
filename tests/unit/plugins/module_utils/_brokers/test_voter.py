# SPDX-License-Identifier: GPL-3.0-or-later
"""Who becomes a voter, who is taken out, and when neither may happen."""

from __future__ import annotations

from ansible_collections.streamops.kafka.plugins.module_utils._brokers.voter import (
    Steps,
    general_violations,
    join_steps,
    leave_steps,
    named,
    removal_violations,
)
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Quorum, Voter


def member(node: int, directory: str | None, ago: int | None = 0, lag: int = 0) -> Voter:
    """A member of a quorum that was caught up so many milliseconds ago."""
    return Voter(node, directory, 100 - lag, lag, ago)


def quorum(*third: Voter, observers: tuple[Voter, ...] = (), leader: int | None = 1) -> Quorum:
    """Voters 1 (the leader) and 2, and others."""
    return Quorum(leader, 5, 100, (member(1, "a"), member(2, "b"), *third), observers)


def test_a_replaced_disk_votes_once_it_has_caught_up_and_its_former_self_leaves_first() -> None:
    dead, new = member(3, "old", 60_000, 90), member(3, "new")
    assert join_steps(quorum(dead, observers=(new,)), 3) == Steps(remove=("old",), add="new")


def test_an_observer_that_is_behind_is_waited_for() -> None:
    found = join_steps(quorum(member(3, "old", None), observers=(member(3, "new", 9000, 70),)), 3)
    assert found == Steps(waiting="node 3 is 70 records behind in the metadata log", lag=70)


def test_a_node_that_does_not_fetch_is_waited_for() -> None:
    assert "does not fetch" in (join_steps(quorum(member(3, "old", None)), 3).waiting or "")


def test_the_newest_of_several_observers_of_a_node_is_the_one_that_runs() -> None:
    observers = (member(3, "older", 500_000), member(3, "new"), member(3, "never", None))
    assert join_steps(quorum(observers=observers), 3).add == "new"


def test_a_voter_that_is_there_stays_as_it_is() -> None:
    assert join_steps(quorum(member(3, "c")), 3) == Steps()
    assert leave_steps(quorum(), 3) == Steps()


def test_a_voter_leaves_only_while_the_others_have_a_majority() -> None:
    assert leave_steps(quorum(member(3, "c")), 3) == Steps(remove=("c",))
    assert removal_violations(quorum(member(3, "c")), 3) == []
    lonely = Quorum(1, 5, 100, (member(1, "a"), member(2, "b", 60_000), member(3, "c", 60_000)), ())
    assert "2 voters are left, a majority of which is 2, and 1 of them (1)" in removal_violations(lonely, 3)[0]
    assert "is the only voter" in removal_violations(Quorum(1, 5, 100, (member(1, "a"),), ()), 1)[0]
    assert removal_violations(lonely, 9) == [], "who is no voter takes nothing away"


def test_what_has_no_voters_or_fixed_ones_is_refused() -> None:
    assert "mode zookeeper" in general_violations(None, 3)[0]
    assert "no leader" in general_violations(quorum(leader=None), 3)[0]
    assert "kraft.version 0" in general_violations(quorum(member(3, None)), 3)[0]
    assert general_violations(quorum(), 3) == []


def test_voters_are_named_by_id_and_directory() -> None:
    assert named(quorum(member(3, "c")).voters) == ["1@a", "2@b", "3@c"]


def test_a_quorum_that_could_not_be_asked_is_not_called_one_without_a_leader() -> None:
    (said,) = general_violations(Quorum.unknown("no answer within 10 s"), 3)
    assert "could not be asked, so its voters are not known: no answer within 10 s" in said
    assert "no leader" not in said
