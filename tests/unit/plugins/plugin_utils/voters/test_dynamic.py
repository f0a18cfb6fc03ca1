# SPDX-License-Identifier: GPL-3.0-or-later
"""The way from a static quorum to a dynamic one: its plan, what refuses it, and that nothing else is judged."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.voters.checks import check, unanswered
from ansible_collections.streamops.kafka.plugins.plugin_utils.voters.model import ClusterFacts, Gate, Node
from ansible_collections.streamops.kafka.plugins.plugin_utils.voters.plan import make_steps, plan_lines
from tests.unit.plugins.plugin_utils.voters.voters_data import TAKEN, facts, refused, voter

NODES = (Node("b11", 11, False, True, "4.3.1"), *(Node(f"k{one}", one, True, True, "4.3.1") for one in (1, 2, 3)))


def static(*, down: int = 0, controllers: tuple[int, ...] = (1, 2, 3), **other: Any) -> ClusterFacts:
    """Three voters without a directory that anybody knows, of which one may be down, and what the inventory has."""
    voters = [voter(one, None if one == down else 10, directory=None) for one in (1, 2, 3)]
    known = {"goes_dynamic": True, "nodes": NODES, "version": "4.3.1", "raising": TAKEN, "brokers": frozenset({11})}
    known["gates"] = (Gate("b11"),)
    return facts(controllers, voters, **{**known, **other})


def lines(found: ClusterFacts) -> list[str]:
    return plan_lines(found, make_steps(found), check(found, make_steps(found)))


def changed(host: str, **fields: Any) -> tuple[Node, ...]:
    """The nodes, of which one is another."""
    return tuple(replace(one, **fields) if one.host == host else one for one in NODES)


def test_the_plan_is_one_screen_controllers_first() -> None:
    assert refused(static()) == []
    assert lines(static()) == [
        "Voters of c: 3 voters now, 3 wanted",
        "Now          1, 2, 3 (leader 1); a majority is 2, the loss of 1 is survived; static (kraft.version 0)",
        "Raise        kraft.version 0 -> 1. It brings voters of the metadata quorum that come and go while the cluster "
        "runs (KIP-853).",
        "             Kafka never takes kraft.version back.",
        "Restarts     one by one: controller.quorum.bootstrap.servers takes the place of controller.quorum.voters on "
        "k1, k2, k3, b11",
        "In the end   a dynamic quorum (kraft.version 1) of the same 3 voters",
    ]


def test_nothing_becomes_dynamic_unless_it_is_asked_for() -> None:
    found = static(goes_dynamic=False)
    assert [one.fix for one in check(found, [])] == [
        "run voters.yml with kafka_dynamic_quorum=true first (Kafka 4.1 and later), then run again"
    ]
    assert not any(one.startswith(("Raise", "Step", "Nothing to do")) for one in lines(found))


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (
            static(nodes=changed("b11", version="3.9.2")),
            "b11 runs Kafka 3.9.2, and kraft.version goes from 0 to 1 from",
        ),
        (static(nodes=changed("k2", version="4.0.0")), "k2 runs Kafka 4.0.0, and kraft.version goes from 0 to 1 from"),
        (static(nodes=changed("k2", version="4.1.1")), "k2 runs Kafka 4.1.1, and kafka_version is 4.3.1"),
        (static(nodes=changed("b11", running=False)), "b11 is stopped"),
        (static(nodes=changed("k3", version="")), "k3 does not tell which release it runs"),
        (static(down=2), "controller 2 is down or behind"),
        (static(controllers=(1, 2, 3, 4)), "k4 (4) is no voter, and the quorum is static still"),
        (static(controllers=(1, 2), leaving=[3]), "k3 is to leave a quorum that is static still"),
        (static(controllers=(1, 2)), "controller 3 votes, and is not in the inventory"),
        (static(unknown=("k9",)), "kafka_controllers_leaving names k9"),
        (
            static(raising={"failed": True, "failure": {"violations": ["broker 12: 0 to 0."]}, "msg": "long"}),
            "kraft.version 1 is refused: broker 12: 0 to 0",
        ),
        (
            static(raising={"failed": True, "msg": "no answer\nin time."}),
            "kraft.version 1 is refused: no answer in time",
        ),
        (static(raising={}), "kraft.version 1 is refused: the cluster did not say whether it takes it"),
    ],
)
def test_each_refusal_names_what_is_wrong_and_its_fix(found: ClusterFacts, why: str) -> None:
    assert [one for one in refused(found) if one.startswith(why)], refused(found)
    assert len(refused(found)) == 1
    assert all(one.fix for one in check(found, []))


def test_an_even_number_of_voters_may_become_dynamic_since_nobody_comes_or_goes() -> None:
    voters = [voter(one, directory=None) for one in (1, 2)]
    nodes = tuple(one for one in NODES if one.node_id != 3)
    found = facts([1, 2], voters, goes_dynamic=True, nodes=nodes, version="4.3.1", raising=TAKEN)
    assert refused(found) == []


def test_a_quorum_that_is_dynamic_already_is_told_and_judged_as_ever() -> None:
    found = facts([1, 2, 3], [1, 2, 3], goes_dynamic=True)
    assert (refused(found), unanswered(found)) == ([], "")
    assert (
        lines(found)[-1] == "Note         the quorum is dynamic (kraft.version 1); nodes that still name voters restart"
    )
    assert len(make_steps(facts([1, 2, 3], [1], goes_dynamic=True))) == 2


def test_a_disk_of_another_cluster_is_refused_of_a_static_quorum_too() -> None:
    found = static()
    other = tuple(replace(one, cluster_id="other", directory_id="d") for one in found.controllers[:1])
    assert "k1 has a disk of cluster other" in refused(replace(found, controllers=other + found.controllers[1:]))[0]
