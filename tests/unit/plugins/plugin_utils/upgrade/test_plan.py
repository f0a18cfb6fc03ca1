# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of an upgrade: rows, their order, what is done, and the lines of one screen."""

from __future__ import annotations

from ansible_collections.streamops.kafka.plugins.plugin_utils.findings import NOTE, REFUSE, Finding
from ansible_collections.streamops.kafka.plugins.plugin_utils.upgrade.model import BACK, ClusterFacts, Outcome
from ansible_collections.streamops.kafka.plugins.plugin_utils.upgrade.plan import (
    DONE,
    REFUSED,
    RESTARTS,
    STARTS,
    left_lines,
    make_plan,
    plan_lines,
    progress,
    refusal_text,
)
from tests.unit.plugins.plugin_utils.upgrade.upgrade_data import NEW, OLD, cluster, info, node

KNOWN = (OLD, NEW)


def order(facts: ClusterFacts) -> list[str]:
    return [row.host for row in make_plan(facts, []).left]


def test_the_active_controller_comes_last_of_combined_nodes() -> None:
    rows = make_plan(cluster(), []).rows
    assert [(row.place, row.host, row.before, row.after, row.does) for row in rows] == [
        (1, "k2", OLD, NEW, RESTARTS),
        (2, "k3", OLD, NEW, RESTARTS),
        (3, "k1", OLD, NEW, RESTARTS),
    ]


def test_servers_of_zookeeper_and_controllers_come_before_brokers_as_in_the_roll() -> None:
    isolated = [node(number, ("controller",)) for number in (1, 2, 3)] + [node(4, ("broker",)), node(5, ("broker",))]
    assert order(cluster(*isolated)) == ["k2", "k3", "k4", "k5", "k1"]
    server = node(9, ("zookeeper",), runs="3.8.6", target="3.9.5")
    with_zookeeper = cluster(node(1, ("broker",)), node(2, ("broker",)), server)
    assert order(with_zookeeper) == ["k9", "k2", "k1"]


def test_after_a_half_done_upgrade_the_plan_has_the_other_half() -> None:
    facts = cluster(node(1), node(2, runs=NEW), node(3, running=False))
    plan = make_plan(facts, [])
    assert [(row.host, row.does) for row in plan.rows] == [("k2", DONE), ("k3", STARTS), ("k1", RESTARTS)]
    assert facts.begun
    assert progress(plan.rows) == "1 of 3 nodes has 4.3.1"
    assert plan_lines(plan)[0] == "Upgrade      local: 3.9.2 -> 4.3.1 (1 of 3 nodes has 4.3.1)"


def test_a_node_whose_files_are_refused_does_not_restart_in_the_plan() -> None:
    facts = cluster(node(1, gave_up="x"), node(2, gave_up="No space left"), node(3, running=False, gave_up="y"))
    plan = make_plan(facts, [])
    assert [(row.host, row.does) for row in plan.rows] == [("k3", REFUSED), ("k2", REFUSED), ("k1", REFUSED)]
    assert plan_lines(plan)[3] == (
        "Node 3.      k1 (id 1, broker and controller) 3.9.2 -> 4.3.1, refused: it did not come back with its last "
        "files of 4.3.1; change them, or add -e kafka_retry_generation=true"
    )
    done = make_plan(cluster(node(1, runs=NEW, gave_up="x")), [])
    assert [row.does for row in done.rows] == [DONE]


def test_an_ensemble_that_stays_as_it_is_makes_no_half_done_upgrade() -> None:
    servers = [node(number, ("zookeeper",), runs="3.9.5", target="3.9.5") for number in (7, 8, 9)]
    brokers = [node(number, ("broker",), runs="3.9.1", target="3.9.2") for number in (1, 2)]
    assert not cluster(*brokers, *servers).begun


def proof_lines(facts: ClusterFacts) -> list[str]:
    return [line for line in plan_lines(make_plan(facts, [])) if line.startswith("Proof")]


def test_the_plan_says_whether_the_roll_is_proven_and_why_not() -> None:
    (proven,) = proof_lines(cluster(proven=True))
    assert proven == "Proof        records are written while nodes restart, and read again"
    assert proof_lines(cluster()) == ["Proof        none: kafka_prove is false"]
    single = cluster(node(1, ("controller",)), node(2, ("broker",)))
    assert proof_lines(single) == ["Proof        none: the cluster has one broker, which is down while it restarts"]


def test_the_plan_has_no_word_on_a_proof_where_no_node_of_kafka_restarts() -> None:
    assert proof_lines(cluster(*(node(number, runs=NEW) for number in (1, 2, 3)), proven=True)) == []
    server = node(9, ("zookeeper",), runs="3.8.6", target="3.9.5")
    assert proof_lines(cluster(node(1, ("broker",), runs=NEW), server, proven=True)) == []


def test_after_a_whole_upgrade_nothing_is_left() -> None:
    facts = cluster(*(node(number, runs=NEW) for number in (1, 2, 3)))
    plan = make_plan(facts, [])
    assert not plan.left
    assert not facts.begun
    assert plan_lines(plan)[0] == "Upgrade      local: 4.3.1 (3 of 3 nodes have 4.3.1)"


def test_the_plan_is_a_line_for_each_node_check_and_finding() -> None:
    found = (Finding(REFUSE, "k1 has Java 11", "install 17"), Finding(NOTE, "k2 is stopped"))
    plan = make_plan(cluster(), [Outcome("Java", "17", found), Outcome("Moves", "none under way")])
    assert plan_lines(plan) == [
        "Upgrade      local: 3.9.2 -> 4.3.1 (0 of 3 nodes have 4.3.1)",
        "Node 1.      k2 (id 2, broker and controller) 3.9.2 -> 4.3.1, restarts",
        "Node 2.      k3 (id 3, broker and controller) 3.9.2 -> 4.3.1, restarts",
        "Node 3.      k1 (id 1, broker and controller) 3.9.2 -> 4.3.1, restarts, leads now, so last",
        "Check        Java: 1 refused, 1 noted",
        "Check        Moves: none under way",
        "Proof        none: kafka_prove is false",
        "Features     kraft.version 1, metadata.version 21; they stay as they are",
        "Note         k2 is stopped",
        "Refused      k1 has Java 11. fix: install 17",
    ]
    assert refusal_text(plan.cluster, plan.action, plan.outcomes) == (
        "Cluster local cannot be upgraded now, for 1 reason. Nothing was changed.\n- k1 has Java 11. fix: install 17"
    )


def test_a_large_plan_stays_on_one_screen() -> None:
    facts = cluster(*(node(number, ("broker",)) for number in range(200)))
    lines = plan_lines(make_plan(facts, [Outcome("Java", "17", (Finding(NOTE, "old"),) * 50)]))
    assert len(lines) < 50
    assert "             and 170 more nodes" in lines
    assert lines[-1] == "             and 38 more"


def test_ensemble_and_brokers_are_counted_by_themselves() -> None:
    facts = cluster(
        node(1, ("broker",), target="3.9.2", runs="3.9.1"), node(9, ("zookeeper",), target="3.9.5", runs="3.8.6")
    )
    assert plan_lines(make_plan(facts, []))[0] == (
        "Upgrade      local: 3.9.1 -> 3.9.2 (0 of 1 nodes have 3.9.2); "
        "ZooKeeper 3.8.6 -> 3.9.5 (0 of 1 servers have 3.9.5)"
    )


def test_what_is_left_names_features_and_the_way_back() -> None:
    done = cluster(*(node(number, runs=NEW) for number in (1, 2, 3)))
    lines = left_lines(make_plan(done, []), OLD, KNOWN)
    assert lines[0] == "Upgrade      local: 3 of 3 nodes have 4.3.1"
    assert "metadata.version 21" in lines[1]
    assert "kafka_version: 3.9.2" in lines[2]
    assert left_lines(make_plan(cluster(action=BACK), []), NEW, KNOWN) == [
        "Upgrade      local: 0 of 3 nodes have 4.3.1"
    ]
    assert left_lines(make_plan(done, []), "", KNOWN) == lines[:2], "a run that finds all done says what is left too"
    assert left_lines(make_plan(done, []), "4.3.0", KNOWN)[2] == (
        "Way back     none: this collection does not have Kafka 4.3.0"
    )
    without = cluster(info=info(1, 2, 3, features=None))
    assert len(left_lines(make_plan(without, []), OLD, KNOWN)) == 1


def test_what_is_left_counts_the_servers_of_an_ensemble() -> None:
    brokers = [node(number, ("broker",), target=OLD) for number in (1, 2)]
    servers = [node(number, ("zookeeper",), runs="3.9.5", target="3.9.5") for number in (8, 9)]
    facts = cluster(*brokers, *servers, info=info(1, 2, features=None))
    assert left_lines(make_plan(facts, []), "", KNOWN) == [
        "Upgrade      local: 2 of 2 nodes have 3.9.2; ZooKeeper 2 of 2 servers have 3.9.5"
    ]
