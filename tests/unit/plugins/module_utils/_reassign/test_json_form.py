"""Options as plain data, and Kafka's own file: what is read is what was written, and every fault is told."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.figures import kafka_file
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.json_form import (
    OPTIONS,
    same_spec,
    spec_kept,
    spec_of,
)
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.model import BrokerSpec, Cluster, Spec
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.plan import plan_moves
from tests.support.reassign_clusters import STRANGE


def test_a_spec_is_read() -> None:
    assert spec_of(
        {
            "rebalance": True,
            "drain": [3],
            "add": [4, {"id": 5, "rack": "b"}],
            "replication_factor": {"t": 3},
            "rack_rule": "even",
        }
    ) == Spec(
        rebalance=True,
        drain=(3,),
        add=(BrokerSpec(4), BrokerSpec(5, "b")),
        replication_factor={"t": 3},
        rack_rule="even",
    )
    assert spec_of({"replace": {"3": 7}}).replace == {3: 7}


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ({"rebalanse": True}, "rebalanse: is not an option; known are add,"),
        (["drain"], "['drain'] is not an object with options; known are add, assignment, balance_by,"),
        ({"rebalance": "no"}, "rebalance: 'no' is not true or false"),
        ({"rack_rule": ["even"]}, "rack_rule: ['even'] is not a word"),
        ({"balance_by": 3}, "balance_by: 3 is not a word"),
        ({"bytes_tolerance": "0.1"}, "bytes_tolerance: '0.1' is not a number"),
        ({"bytes_tolerance": True}, "bytes_tolerance: True is not a number"),
        ({"drain": 3}, "drain: 3 is not a list of broker ids"),
        ({"drain": [-3]}, "drain: -3 is not a broker id"),
        ({"add": 3}, "add: 3 is not a list of brokers"),
        ({"add": ["3"]}, "add: '3' has no id"),
        ({"add": [4, {"id": 4, "rack": "b"}]}, "add: broker 4 is given twice"),
        ({"add": [{"id": 4, "weight": 0}]}, "add: broker 4: weight 0 is not a number above 0"),
        ({"replace": [3, 7]}, "replace: [3, 7] is not an object from broker ids to broker ids"),
        ({"replace": {"²": 3}}, "replace: '²' by 3 are not two broker ids"),
        ({"replace": {"3": 7, "03": 8}}, "replace: broker 3 is given twice"),
        ({"replication_factor": 3}, "replication_factor: 3 is not an object from topics to whole numbers"),
        ({"drain": ["3"]}, "drain: '3' is not a broker id"),
        ({"replace": {"x": 3}}, "replace: 'x' by 3 are not two broker ids"),
        ({"replication_factor": {"t": "x"}}, "replication_factor: 'x' for topic t is not a whole number"),
        ({"assignment": {"version": 2, "partitions": []}}, "is not Kafka's reassignment file"),
        ({"assignment": []}, "is not Kafka's reassignment file"),
        (
            {"assignment": {"partitions": [{"topic": "t", "partition": 0, "replicas": [1], "log_dirs": 1}]}},
            "partitions[0] names log_dirs",
        ),
        ({"assignment": {"partitions": [{"topic": "t"}]}}, "partitions[0] needs topic, partition and replicas"),
        (
            {"assignment": {"partitions": [{"topic": "t", "partition": 0, "replicas": [1], "log_dirs": ["/d"]}]}},
            "partitions[0] names log_dirs",
        ),
    ],
)
def test_a_fault_in_a_spec_is_told(data: Any, why: str) -> None:
    with pytest.raises(RefusedError) as error:
        spec_of(data)
    assert why in error.value.violations[0]


@pytest.mark.parametrize("name", OPTIONS)
def test_whatever_is_asked_for_is_read_or_refused(name: str) -> None:
    inner = [{"partitions": value} for value in STRANGE] + [[{"id": value}] for value in STRANGE]
    for value in [*STRANGE, *inner]:
        with contextlib.suppress(RefusedError):
            spec_of({name: value})


def test_what_is_null_is_not_asked_for() -> None:
    assert spec_of(dict.fromkeys(OPTIONS)) == Spec()


def test_kafkas_file_is_read_as_it_is_written_and_back_undoes_it() -> None:
    brokers = (BrokerSpec(1), BrokerSpec(2))
    cluster = Cluster(brokers, ["a", "b"], [0, 0], [0, 0, 1], [0, 1, 0], [(1,), (2,), (1, 2)])
    plan = plan_moves(cluster, Spec(assignment=[("b", 0, (2, 1)), ("a", 0, (2,))]))
    forward = spec_of({"assignment": kafka_file(cluster, plan.changes)})
    assert forward.assignment == [("a", 0, (2,)), ("b", 0, (2, 1))]
    back = spec_of({"assignment": kafka_file(cluster, plan.changes, back=True)})
    assert back.assignment == [("a", 0, (1,)), ("b", 0, (1, 2))]


def test_a_spec_is_compared_without_what_is_not_asked_for_and_without_how_it_is_carried_out() -> None:
    params = {"drain": [3], "rebalance": False, "add": None, "throttle": 5, "leaders": "auto"}
    assert spec_kept(params) == {"drain": [3], "leaders": "auto"}


def test_a_spec_that_an_earlier_version_kept_is_the_same_without_the_options_that_came_since() -> None:
    kept = {"drain": [3], "rack_rule": "strict", "leaders": "auto"}
    assert same_spec(kept, {**kept, "balance_by": "replicas", "bytes_tolerance": 0.1})
    assert not same_spec(kept, {**kept, "balance_by": "bytes"})
    assert not same_spec(kept, {**kept, "rebalance": True})
    assert not same_spec(kept, {**kept, "drain": [4]})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"replication_factor": {"t": "3"}}, {"replication_factor": {"t": 3}}),
        ({"replace": {"4": 5}}, {"replace": {4: "5"}}),
        ({"drain": [3, 2], "topics": ["b", "a"]}, {"drain": ["2", 3], "topics": ["a", "b"]}),
        ({"add": [{"id": 4, "rack": None}, {"id": 5}]}, {"add": [{"id": 5}, {"id": "4"}]}),
        ({"drain": [3], "topics": []}, {"drain": [3]}),
    ],
)
def test_how_a_value_is_written_makes_no_other_spec(one: dict[str, object], other: dict[str, object]) -> None:
    assert same_spec(one, other)


def test_the_order_of_replicas_in_an_assignment_counts() -> None:
    placed = [{"partitions": [{"topic": "t", "partition": 0, "replicas": order}]} for order in ([1, 2], [2, 1])]
    assert not same_spec({"assignment": placed[0]}, {"assignment": placed[1]})


def test_a_number_is_asked_for_even_if_it_is_zero() -> None:
    assert spec_kept({"bytes_tolerance": 0.0, "rebalance": False}) == {"bytes_tolerance": 0.0}
