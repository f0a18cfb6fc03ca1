# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Voters of the metadata quorum, the deciding half (KIP-853): who is taken out, who comes in, and what speaks against.

A voter is a node with the directory that holds its metadata log. A disk that was replaced has another directory id, so
the same node comes back as an observer, while its former self stays a voter that will never answer again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .._cluster.snapshot import FETCH_TIMEOUT_MS, Quorum, Voter, caught_up

#: The property by which a controller that runs makes itself a voter (KIP-853, Kafka 4.2; false by default).
AUTO_JOIN = "controller.quorum.auto.join.enable"
#: Seconds in which a node that was taken out joins again by itself: after controller.quorum.fetch.timeout.ms, 2 s by
#: default (KafkaRaftClient, KAFKA-19850), and two looks of its fetches.
REJOIN_SECONDS = 6.0
#: What messages and waits name.
SUBJECT = "quorum_voter"
#: Nothing is known of the voters then.
SILENT = "the quorum does not answer who votes"


@dataclass(frozen=True)
class Steps:
    """What is to be done, in this order: directories of the node to take out, the one to add, or what to wait for."""

    remove: tuple[str, ...] = ()
    add: str | None = None
    waiting: str | None = None
    #: How many records of the metadata log the node that is waited for lacks; None where that is not known.
    lag: int | None = None


def named(voters: Sequence[Voter]) -> list[str]:
    """Voters for people: id@directory, by id."""
    return [
        f"{voter.id}@{voter.directory_id}"
        for voter in sorted(voters, key=lambda voter: (voter.id, voter.directory_id or ""))
    ]


def general_violations(quorum: Quorum | None, node: int) -> list[str]:
    """Return why no voter of this cluster can be changed at all."""
    if quorum is None:
        return [f"node {node}: the cluster is one of mode zookeeper, which has no voters"]
    if quorum.error:
        return [
            f"node {node}: the quorum could not be asked, so its voters are not known: {quorum.error}; see that a "
            "majority of its controllers runs and answers, then run again"
        ]
    if quorum.leader_id is None:
        return [f"node {node}: the quorum has no leader, so voters cannot change; start a majority of its controllers"]
    if any(voter.directory_id is None for voter in quorum.voters):
        return [
            f"node {node}: the voters stand in controller.quorum.voters (kraft.version 0) and cannot change while the "
            "cluster runs; make the quorum dynamic first: voters.yml with kafka_dynamic_quorum=true (Kafka 4.1)"
        ]
    return []


def election(quorum: Quorum | None) -> str | None:
    """Say what to wait for while no leader of the quorum answers, as when it was killed; None for nothing."""
    if quorum is None:
        return None
    if quorum.error:
        return f"{SILENT} ({quorum.error})"
    return "the quorum has no leader" if quorum.leader_id is None else None


def join_steps(quorum: Quorum, node: int) -> Steps:
    """Return how a node becomes a voter with its present directory; its former selves leave once it is caught up."""
    mine = [voter for voter in quorum.voters if voter.id == node]
    if any(caught_up(voter, quorum, FETCH_TIMEOUT_MS) for voter in mine):
        return Steps()
    seen = [voter for voter in quorum.observers if voter.id == node and voter.directory_id is not None]
    if not seen:
        waiting = f"node {node} does not fetch the metadata log, as voter or as observer"
        return Steps(waiting=waiting)
    newest = min(
        seen, key=lambda voter: (voter.last_caught_up_ms_ago is None, voter.last_caught_up_ms_ago or 0, voter.lag)
    )
    if not caught_up(newest, quorum, FETCH_TIMEOUT_MS):
        return Steps(waiting=f"node {node} is {newest.lag} records behind in the metadata log", lag=newest.lag)
    return Steps(remove=tuple(voter.directory_id for voter in mine if voter.directory_id), add=newest.directory_id)


def leave_steps(quorum: Quorum, node: int) -> Steps:
    """Return what takes a node out of the voters."""
    return Steps(remove=tuple(voter.directory_id for voter in quorum.voters if voter.id == node and voter.directory_id))


def runs_as_voter(quorum: Quorum, node: int) -> bool:
    """Return whether a node votes and fetches: only such a one may join again by itself."""
    return any(voter.id == node and caught_up(voter, quorum, FETCH_TIMEOUT_MS) for voter in quorum.voters)


def joins_itself_violations(node: int, value: str | None) -> list[str]:
    """Return why a node cannot be taken out for good: C(value) of AUTO_JOIN, None where it is not known."""
    if value is None or value.strip().lower() != "true":
        return []
    return [
        f"node {node}: {AUTO_JOIN} is true there, so it would be a voter again {REJOIN_SECONDS:g} s later at most; set "
        "it to false and restart the node, or stop the node, then run again"
    ]


def came_back(node: int) -> str:
    """Return what is said of a node that was taken out and is a voter again."""
    return (
        f"{SUBJECT}: node {node} was taken out and is a voter again: it joined by itself, as a controller does with "
        f"{AUTO_JOIN}: true. Set it to false in the start files of the node and restart it, or stop the node, then run "
        "again."
    )


def removal_violations(quorum: Quorum, node: int) -> list[str]:
    """Return why a node cannot be taken out: without it the others must have a majority that is there."""
    rest = [voter for voter in quorum.voters if voter.id != node]
    if len(rest) == len(quorum.voters):
        return []
    if not rest:
        return [f"node {node}: is the only voter, without which there is no quorum"]
    there = [voter.id for voter in rest if caught_up(voter, quorum, FETCH_TIMEOUT_MS)]
    needed = len(rest) // 2 + 1
    if len(there) >= needed:
        return []
    return [
        f"node {node}: without it {len(rest)} voters are left, a majority of which is {needed}, and "
        f"{len(there)} of them ({', '.join(map(str, sorted(there))) or 'none'}) are caught up; start the others first"
    ]
