# SPDX-License-Identifier: GPL-3.0-or-later
"""What the restarts behind a change of the voters would be refused for is said before the first change."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import (
    Broker,
    Partition,
    Quorum,
    Snapshot,
)
from ansible_collections.streamops.kafka.plugins.module_utils._gate.rule import judge
from ansible_collections.streamops.kafka.plugins.module_utils._gate.stop import Stop
from ansible_collections.streamops.kafka.plugins.plugin_utils.findings import NOTE, REFUSE
from ansible_collections.streamops.kafka.plugins.plugin_utils.voters.checks import check
from ansible_collections.streamops.kafka.plugins.plugin_utils.voters.model import ClusterFacts, Gate, Node
from ansible_collections.streamops.kafka.plugins.plugin_utils.voters.plan import make_steps
from ansible_collections.streamops.kafka.plugins.plugin_utils.voters.read import read_gate
from ansible_collections.streamops.kafka.plugins.plugin_utils.voters.restarts import registered, restarting
from tests.unit.plugins.plugin_utils.voters.voters_data import TAKEN, facts, refused, voter

CONTROLLERS = tuple(Node(f"k{one}", one, True, True, "4.3.1") for one in (1, 2, 3))
BROKERS = tuple(Node(f"b{one}", one, False, True, "4.3.1") for one in (11, 12))
ALL = {"nodes": (*CONTROLLERS, *BROKERS), "brokers": frozenset({11, 12})}


def gate_of(host: str, node: int, *partitions: Partition, quorum: Quorum | None = None, **stop: Any) -> Gate:
    """What the gate's own rule says to the restart of a broker of a cluster with these partitions."""
    brokers = tuple(Broker(one, "b", 9092, None, fenced=one == stop.get("fenced")) for one in (11, 12))
    known = {"nodes": frozenset({node}), "expected_brokers": frozenset({11, 12})}
    asked = Stop(**{**known, "allow_unavailable_topics": frozenset(stop.get("consent", ()))})
    snapshot = Snapshot("c", 1, brokers, partitions, quorum)
    return read_gate(host, judge(snapshot, (), asked))


def alone(topic: str = "orders", broker: int = 11) -> Partition:
    """A partition with one copy."""
    return Partition(topic, 0, broker, (broker,), (broker,), 1, False)


OPEN = (gate_of("b11", 11), gate_of("b12", 12))


def dynamic(gates: tuple[Gate, ...], **other: Any) -> ClusterFacts:
    """A static quorum that is to become dynamic."""
    voters = [voter(one, directory=None) for one in (1, 2, 3)]
    known = {"goes_dynamic": True, "version": "4.3.1", "raising": TAKEN, **ALL}
    return facts([1, 2, 3], voters, gates=gates, **{**known, **other})


def grown(gates: tuple[Gate, ...], **other: Any) -> ClusterFacts:
    """One voter that becomes three."""
    return facts([1, 2, 3], [1], gates=gates, **ALL, **other)


@pytest.mark.parametrize("change", [dynamic, grown])
def test_a_topic_with_one_copy_refuses_the_change_with_its_name_and_the_fix(change: Any) -> None:
    assert refused(change(OPEN)) == []
    found = change((gate_of("b11", 11, alone()), OPEN[1]))
    (finding,) = [one for one in check(found, make_steps(found)) if one.level == REFUSE]
    assert finding.what == (
        "b11 could not restart at the end of this run: 1 topic(s) on node 11 cannot lose a replica (replication factor "
        "with min.insync.replicas: orders 1 with 1)"
    )
    assert "kafka_gate_allow_unavailable_topics" in finding.fix
    assert refused(change((gate_of("b11", 11, alone(), consent=["orders"]), OPEN[1]))) == []


def test_what_keeps_all_gates_shut_is_said_once_with_all_nodes() -> None:
    low = Partition("orders", 0, 11, (11, 12, 13), (11,), 2, False)
    (what,) = refused(dynamic((gate_of("b11", 11, low), gate_of("b12", 12, low))))
    assert what.startswith("b11, b12 could not restart at the end of this run: 1 partition(s) are already below min")
    assert "orders-0 (ISR 11, min 2)" in what


def test_of_the_quorum_the_plan_judges_by_what_it_will_be_and_not_the_gate() -> None:
    # Of three voters one is gone for good: a gate of now would be shut for any other, that of the end is not.
    voters = (voter(1), voter(2), voter(3, None))
    quorum = Quorum(1, 5, 100, voters, (voter(11), voter(12)))
    shut = judge(Snapshot("c", 1, (), (), quorum), (), Stop(frozenset({2})))
    assert [one["kind"] for one in shut["refusals"]] == ["quorum_majority"]
    found = facts([1, 2, 4], [1, 2, voter(3, None)], gates=(read_gate("k2", shut), *OPEN), **ALL)
    assert refused(found) == []


def test_a_voter_that_is_gone_is_replaced_although_nodes_could_not_restart() -> None:
    gates = (gate_of("b11", 11, alone()), OPEN[1])
    found = facts([1, 2, 4], [1, 2, voter(3, None)], gates=gates, **ALL)
    findings = check(found, make_steps(found))
    assert [one.level for one in findings if "could not restart" in one.what] == [NOTE]
    assert refused(found) == []


def test_a_gate_that_did_not_answer_or_was_not_asked_refuses() -> None:
    silent = read_gate("b11", {"failed": True, "msg": "no broker\nanswered. Nothing was changed."})
    assert refused(grown((silent, OPEN[1]))) == [
        "it is not known whether b11 could restart at the end of this run (no broker answered)"
    ]
    assert refused(grown((OPEN[1],))) == [
        "it is not known whether b11 could restart at the end of this run (not asked)"
    ]


def test_only_brokers_of_a_change_behind_which_nodes_restart_are_asked() -> None:
    def asked(found: ClusterFacts) -> list[str]:
        return restarting(found, make_steps(found))

    assert asked(grown(())) == ["b11", "b12"]
    assert asked(dynamic(())) == ["b11", "b12"]
    assert asked(dynamic((), goes_dynamic=False)) == []
    assert asked(facts([1, 2, 3], [1, 2, 3], **ALL)) == []
    assert asked(facts([1], [1, 2, 3], leaving=[2, 3], **ALL)) == [], "all keep the list until site.yml runs"
    assert asked(facts([1], [1, 2, 3], **ALL)) == ["b11", "b12"], "the list of all nodes gets shorter"
    new = (*ALL["nodes"], Node("b13", 13, False))  # type: ignore[misc]
    assert asked(facts([1, 2, 3], [1], **{**ALL, "nodes": new})) == ["b11", "b12"], "what is new does not restart"
    assert registered(facts([1, 2, 3], [1], **{**ALL, "nodes": new})) == [11, 12], "and no gate misses it"


def test_a_gate_that_stays_shut_tells_why_and_one_that_was_not_seen_at_last_does_not() -> None:
    refusals = [{"kind": "under_min_isr", "what": "low", "found": "orders-0", "fix": "wait"}]
    shut = {"failed": True, "allowed": False, "refusals": refusals, "msg": "refused for 30 s"}
    assert (read_gate("b11", shut).refusals, read_gate("b11", shut).failure) == (tuple(refusals), "")
    unseen = {"failed": True, "refusals": refusals, "msg": "no broker answered"}
    assert (read_gate("b11", unseen).refusals, read_gate("b11", unseen).failure) == ((), "no broker answered")
    unsteady = {"failed": True, "allowed": False, "refusals": [], "msg": "leaders come and go."}
    assert read_gate("b11", unsteady).failure == "leaders come and go"
