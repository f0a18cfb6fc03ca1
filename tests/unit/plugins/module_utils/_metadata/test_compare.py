# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes that say different things of the metadata: what counts as a difference, and how it is told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._metadata.compare import (
    Verdict,
    carried,
    described,
    judged,
    lines,
    slim,
)
from ansible_collections.streamops.kafka.plugins.module_utils._metadata.model import (
    ASKED,
    BROKER,
    CONTROLLER,
    SUBJECTS,
    Facts,
    Look,
    digest,
)

VALUES = {
    "leader": {"leader": "1"},
    "epoch": {"epoch": "5"},
    "features": {"metadata.version": "30"},
    "brokers": {"1": "a:9092", "2": "b:9092"},
    "controllers": {"1": "a:9094", "2": "b:9094"},
    "topics": {"orders": "id-of-orders"},
    "partitions": {"orders-0": "leader 1 epoch 3 replicas 1,2,3 isr 1,2,3"},
    "topic_configs": {"orders retention.ms": "60000"},
    "broker_configs": {"log.retention.ms": "1000"},
    "acls": {"User:a allow read on topic literal orders from *": "present"},
    "users": {"alice": "SCRAM-SHA-512"},
    "quotas": {"user alice": "consumer_byte_rate=1024"},
}


def node(number: int, kind: str = BROKER, applied: int | None = 100, **values: dict[str, str]) -> Facts:
    """A node that says what all others say, but for these values."""
    own = {subject: said for subject, said in VALUES.items() if kind in ASKED[subject]}
    return Facts(number, kind, f"n{number}:9092", applied=applied if kind == BROKER else None, values={**own, **values})


def three(kind: str = BROKER, **values: dict[str, str]) -> tuple[Facts, ...]:
    """Three nodes of a kind, of which the third one has these values."""
    return node(1, kind), node(2, kind), node(3, kind, **values)


def looks(*of_nodes: tuple[Facts, ...], high_watermark: int = 100) -> list[Look]:
    """Looks of these nodes, three seconds apart."""
    ends = {1: 100, 2: 100, 3: 100}
    return [Look(1000.0 + 3 * at, high_watermark, nodes, ends) for at, nodes in enumerate(of_nodes)]


def stood(nodes: tuple[Facts, ...]) -> Verdict:
    """The verdict on nodes that say the same three times."""
    return judged(looks(nodes, nodes, nodes))


def test_every_subject_is_in_these_tests() -> None:
    assert tuple(VALUES) == SUBJECTS


def test_nodes_that_say_the_same_agree_after_one_look() -> None:
    verdict = judged(looks((*three(), *three(CONTROLLER))))
    assert (verdict.agree, verdict.open) == (True, False)
    assert described(verdict, 5)["lines"] == ["all 3 nodes agree at offset 100"]


@pytest.mark.parametrize("kind", [BROKER, CONTROLLER])
@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_value_that_one_node_has_otherwise_is_named_with_both(subject: str, kind: str) -> None:
    if kind not in ASKED[subject]:
        return
    ((name, value),) = list(VALUES[subject].items())[:1]
    found = described(stood(three(kind, **{subject: {**VALUES[subject], name: "other"}})), 5)
    assert found["agree"] is False
    (one,) = found["differences"]
    assert (one["subject"], one["agreeing"], one["apart"]) == (subject, [f"{kind} 1", f"{kind} 2"], [f"{kind} 3"])
    assert (one["count"], one["total"], one["looks"], one["seen_since"]) == (1, len(VALUES[subject]), 3, 1000.0)
    assert one["names"] == [
        {
            "name": name,
            "values": [
                {"value": value, "nodes": [f"{kind} 1", f"{kind} 2"]},
                {"value": "other", "nodes": [f"{kind} 3"]},
            ],
        }
    ]
    assert found["lines"][0] == f"2 of 3 nodes agree at offset 100: {kind} 3 differs in {subject}"


def test_what_a_node_lacks_and_what_it_has_alone_are_absent_elsewhere() -> None:
    found = described(stood(three(topics={"payments": "id"})), 5)
    (one,) = found["differences"]
    assert [(each["name"], [value["value"] for value in each["values"]]) for each in one["names"]] == [
        ("orders", ["id-of-orders", "absent"]),
        ("payments", ["absent", "id"]),
    ]
    assert found["lines"][1] == (
        "topics: broker 3 differs in 2 of 2 names for at least 6s: "
        "orders (id-of-orders at broker 1, broker 2, absent at broker 3) and 1 more"
    )


def test_names_are_capped_and_counts_are_not() -> None:
    many = {f"t{number:02}": "id" for number in range(30)}
    (one,) = described(stood(three(topics=many)), 5)["differences"]
    assert (one["count"], one["total"], len(one["names"])) == (31, 31, 5)


def test_the_groups_have_the_most_nodes_first_and_of_as_many_the_lowest_id() -> None:
    nodes = (node(1, topics={"a": "x"}), node(2), node(3))
    (one,) = described(stood(nodes), 5)["differences"]
    assert [group["nodes"] for group in one["groups"]] == [["broker 2", "broker 3"], ["broker 1"]]
    assert one["groups"][0]["digest"] == digest(VALUES["topics"])
    (tie,) = described(stood((node(1), node(2, topics={}))), 5)["differences"]
    assert tie["apart"] == ["broker 2"]


def test_a_difference_that_passes_is_none() -> None:
    odd = three(topics={})
    assert judged(looks(odd)).open
    assert judged(looks(odd, three())).agree


def test_each_look_another_name_is_a_cluster_at_work_and_no_difference() -> None:
    first = three(topics={**VALUES["topics"], "new1": "x"})
    second = three(topics={**VALUES["topics"], "new2": "y"})
    assert judged(looks(first, second)).agree


def test_a_name_whose_value_goes_on_elsewhere_stands() -> None:
    def at(epoch: int) -> tuple[Facts, ...]:
        """Two brokers that go on, and one that does not."""
        going = {"orders-0": f"leader 1 epoch {epoch} replicas 1,2,3 isr 1,2,3"}
        return node(1, partitions=going), node(2, partitions=going), node(3)

    (one,) = described(judged(looks(at(4), at(5), at(6))), 5)["differences"]
    assert (one["subject"], one["apart"]) == ("partitions", ["broker 3"])


def test_a_node_behind_is_told_by_its_offset_and_not_by_what_it_does_not_know() -> None:
    nodes = (node(1), node(2), node(3, applied=40, topics={}))
    found = described(stood(nodes), 5)
    assert (found["agree"], found["lagging"], found["differences"]) == (False, {"broker 3": 60}, [])
    assert found["lines"] == [
        "2 of 3 nodes agree at offset 100: broker 3 is 60 records behind",
        "broker 3 is 60 records of the metadata log behind, for at least 6s",
    ]


def test_a_node_that_comes_as_far_as_the_first_look_is_not_behind_however_far_the_log_has_grown() -> None:
    (first,) = looks((node(1), node(2, applied=90)))
    last = replace(first, at=1003.0, high_watermark=5000, nodes=(node(1, applied=5000), node(2, applied=100)))
    assert judged([first]).late == {"broker 2": 10}
    assert judged([first, last]).agree


def test_a_controller_is_behind_by_the_end_of_its_log_as_the_leader_knows_it() -> None:
    (look,) = looks(three(CONTROLLER))
    assert judged([replace(look, log_ends={1: 100, 2: 100, 3: 70})]).late == {"controller 3": 30}


def test_a_node_that_does_not_answer_is_named_and_nothing_is_agreed() -> None:
    silent = Facts(3, BROKER, "n3:9092", why="n3:9092: connection refused")
    found = described(judged(looks((node(1), node(2), silent))), 5)
    assert (found["agree"], found["silent"], found["differences"]) == (False, ["broker 3"], [])
    assert found["lines"] == [
        "2 of 3 nodes agree at offset 100: broker 3 does not answer",
        "broker 3 does not answer: n3:9092: connection refused",
    ]


def test_what_a_node_did_not_answer_is_neither_the_same_nor_a_difference() -> None:
    told = {subject: said for subject, said in VALUES.items() if subject in ASKED and subject != "acls"}
    unasked = Facts(2, BROKER, applied=100, values=told, unanswered={"acls": "the cluster has no authorizer"})
    verdict = judged(looks((node(1), unasked, node(3))))
    assert verdict.agree
    assert lines(verdict, []) == ["acls not compared at broker 2: the cluster has no authorizer"]
    found = described(verdict, 5)
    assert "acls" not in found["nodes"][1]["digests"]


def test_a_node_that_lets_nobody_in_is_not_counted_among_those_that_agree() -> None:
    closed = Facts(4, CONTROLLER, "n4:9094", unanswered={"leader": "it refuses our certificate"})
    found = described(judged(looks((*three(), closed))), 5)
    assert (found["agree"], found["not_compared"]) == (True, ["controller 4"])
    assert found["lines"] == [
        "3 of 4 nodes agree at offset 100: controller 4 was not compared",
        "leader not compared at controller 4: it refuses our certificate",
    ]
    beside = replace(closed, id=3)
    line = "all 3 nodes agree at offset 100: controller 3 was not compared"
    assert described(judged(looks((*three(), beside))), 5)["lines"][0] == line


def test_without_an_active_controller_nothing_is_agreed() -> None:
    found = described(judged([Look(1000.0, None, three(), why="no broker got an answer")]), 5)
    assert found["agree"] is False
    assert found["lines"] == [
        "3 of 3 nodes say the same: the active controller does not answer",
        "the active controller does not answer: no broker got an answer",
    ]


def test_nodes_that_hang_after_their_first_answer_do_not_agree() -> None:
    late = dict.fromkeys(("topics", "partitions"), "no answer in time")
    features = {"features": VALUES["features"]}
    hung = [Facts(one, BROKER, "n:1", values=features, unanswered=late, broken="n:1: no answer") for one in (1, 2, 3)]
    verdict = judged(looks(tuple(hung)))
    found = described(verdict, 5)
    assert (found["agree"], found["silent"]) == (False, ["broker 1", "broker 2", "broker 3"])
    assert found["lines"][0] == (
        "0 of 3 nodes agree at offset 100: broker 1, broker 2, broker 3 do not answer; "
        "topics, partitions were not compared"
    )
    assert found["lines"][1] == "broker 1 does not answer: n:1: no answer"
    assert len(found["lines"]) == 4
    # In the next look they are not asked, and what they said before is not held against anybody.
    again = carried(verdict)["broker 1"]
    assert (again.why, again.values) == ("n:1: no answer", {})


def test_where_no_node_tells_more_than_features_nothing_is_agreed() -> None:
    features = {"features": VALUES["features"]}
    shut = tuple(Facts(one, BROKER, values=features, unanswered={"topics": "it refuses us"}) for one in (1, 2))
    found = described(judged(looks(shut)), 5)
    assert (found["agree"], found["subjects_not_compared"]) == (False, ["topics"])
    assert found["lines"][0] == (
        "0 of 2 nodes agree at offset 100: topics was not compared; too little was told to compare"
    )
    only = tuple(replace(one, unanswered={}) for one in shut)
    assert judged(looks(only)).agree


def test_a_subject_that_no_node_tells_is_not_passed_for_compared() -> None:
    some = tuple(replace(node(one, BROKER), unanswered={"users": "denied"}) for one in (1, 2))
    some = tuple(replace(one, values={"topics": VALUES["topics"]}) for one in some)
    found = described(judged(looks(some)), 5)
    assert (found["agree"], found["subjects_not_compared"]) == (True, ["users"])
    assert found["lines"][0] == "all 2 nodes agree at offset 100: users was not compared"


def behind_a_firewall(*ids: int) -> tuple[Facts, ...]:
    """Controllers to which no connection could be made."""
    return tuple(Facts(one, CONTROLLER, "n:1", why="n:1: connection timed out", is_unreached=True) for one in ids)


def test_combined_nodes_agree_whose_controllers_only_the_nodes_reach() -> None:
    (look,) = looks((*three(), *behind_a_firewall(1, 2, 3)))
    found = described(judged([replace(look, alive=frozenset({1, 2, 3}))]), 5)
    assert (found["agree"], found["silent"]) == (True, [])
    assert found["not_compared"] == ["controller 1", "controller 2", "controller 3"]
    who = "controller 1, controller 2, controller 3"
    assert found["lines"] == [
        f"all 3 nodes agree at offset 100: {who} were not compared",
        f"{who} not compared: its port cannot be reached from here, and the active controller says that it keeps up",
    ]


def test_controllers_of_their_own_that_only_nodes_reach_are_not_counted() -> None:
    (look,) = looks((*three(), *behind_a_firewall(4, 5)))
    look = replace(look, alive=frozenset({1, 2, 3, 4, 5}), log_ends={**look.log_ends, 4: 100, 5: 100})
    found = described(judged([look]), 5)
    assert found["agree"]
    assert found["lines"][0] == (
        "all 3 nodes that can be reached from here agree at offset 100: controller 4, controller 5 were not compared"
    )
    late = described(judged([replace(look, log_ends={**look.log_ends, 5: 40})] * 3), 5)
    assert (late["agree"], late["lagging"]) == (False, {"controller 5": 60})


def test_a_controller_without_a_connection_that_the_leader_misses_too_does_not_answer() -> None:
    (look,) = looks((*three(), *behind_a_firewall(1, 3)))
    found = described(judged([replace(look, alive=frozenset({1, 2}))]), 5)
    assert (found["agree"], found["silent"], found["not_compared"]) == (False, ["controller 3"], ["controller 1"])
    assert found["lines"][0].startswith("2 of 3 nodes agree at offset 100: controller 3 does not answer")


def test_a_broker_without_a_connection_does_not_answer_whatever_the_leader_says() -> None:
    (look,) = looks((node(1), node(2), replace(behind_a_firewall(3)[0], kind=BROKER)))
    assert described(judged([replace(look, alive=frozenset({1, 2, 3}))]), 5)["silent"] == ["broker 3"]


def test_where_nothing_could_be_reached_nothing_is_agreed() -> None:
    (look,) = looks(behind_a_firewall(1, 2, 3))
    assert not judged([replace(look, alive=frozenset({1, 2, 3}))]).agree


def test_an_observer_that_is_not_registered_is_a_note_and_no_disagreement() -> None:
    (look,) = looks(three())
    found = described(judged([replace(look, notes=("node 9: observer, not registered",))]), 5)
    assert found["agree"]
    assert found["lines"] == ["all 3 nodes agree at offset 100", "node 9: observer, not registered"]


def test_of_an_earlier_look_is_kept_what_the_verdict_needs() -> None:
    many = {f"t{number}": "id" for number in range(1000)}
    nodes = (node(1, topics=many), node(2, topics=many), node(3, topics={**many, "t1": "other"}))
    full = looks(nodes, nodes, nodes)
    slimmed = [slim(full[0]), slim(full[1]), full[2]]
    assert [len(one.values["topics"]) for one in slimmed[0].nodes] == [1, 1, 1]
    assert described(judged(slimmed), 5) == described(judged(full), 5)
    # A node that is left out later, as one behind is, changes who are most; not what is kept.
    late = (node(1, applied=40, topics={}), node(2), node(3, topics={}))
    assert judged([slim(one) for one in looks(late, late)]).stands == judged(looks(late, late)).stands
