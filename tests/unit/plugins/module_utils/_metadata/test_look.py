# SPDX-License-Identifier: GPL-3.0-or-later
"""Which nodes are asked, and what the leader of the quorum says of those that are not."""

from __future__ import annotations

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Quorum, Voter
from ansible_collections.streamops.kafka.plugins.module_utils._metadata.look import controllers_of, heard_of


def member(node: int, ago: int | None) -> Voter:
    """A node that had all of the log so many milliseconds ago."""
    return Voter(node, None, 100, 0, ago)


def test_a_node_runs_that_had_all_of_the_log_within_ten_seconds_and_so_does_the_leader() -> None:
    voters = (member(1, None), member(2, 400), member(3, 10_000))
    assert heard_of(Quorum(1, 5, 100, voters, (member(4, 9_999), member(5, None)))) == {1, 2, 4}
    assert heard_of(Quorum(None, 5, 100, voters, ())) == {2}


def test_the_controllers_are_the_voters_and_observers_with_an_address_as_one() -> None:
    at = {node: [("CONTROLLER", f"c{node}:9093")] for node in (1, 2, 4)}
    running = (member(4, 100), member(11, 100), member(12, 100))
    observers = (*running, member(13, 60_000), member(14, None))
    quorum = Quorum(1, 5, 100, (member(1, 0), member(2, 100), member(3, 100)), observers)
    # 12 is about to start; 13 froze or was stopped a minute ago, 14 never had all of the log.
    found = controllers_of(quorum, {11}, at)
    assert found == (
        {1: "c1:9093", 2: "c2:9093", 3: "", 4: "c4:9093"},
        (
            "node 12: observer, not registered",
            "node 13: observer, has not caught up for 1m00s",
            "node 14: observer, never caught up",
        ),
    )


def test_of_a_quorum_that_does_not_answer_no_controller_is_known() -> None:
    assert controllers_of(Quorum.unknown("no answer"), {1, 2}, {}) == ({}, ())
