# SPDX-License-Identifier: GPL-3.0-or-later
"""Which nodes are asked, and what the leader of the quorum says of those that are not."""

from __future__ import annotations

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Quorum, Voter
from ansible_collections.streamops.kafka.plugins.module_utils._metadata.look import heard_of


def member(node: int, ago: int | None) -> Voter:
    """A node that had all of the log so many milliseconds ago."""
    return Voter(node, None, 100, 0, ago)


def test_a_node_runs_that_had_all_of_the_log_within_ten_seconds_and_so_does_the_leader() -> None:
    voters = (member(1, None), member(2, 400), member(3, 10_000))
    assert heard_of(Quorum(1, 5, 100, voters, (member(4, 9_999), member(5, None)))) == {1, 2, 4}
    assert heard_of(Quorum(None, 5, 100, voters, ())) == {2}
