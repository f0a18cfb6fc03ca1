"""Figures of a plan: what brokers, racks and topics have before and after."""

from __future__ import annotations

from dataclasses import replace

from ansible_collections.streamops.kafka.plugins.module_utils._reassign.figures import plan_figures
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.model import BrokerSpec, Cluster, Wish
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.plan import plan_moves


def cluster(*replicas: tuple[int, ...]) -> Cluster:
    """Three brokers and the partitions of one topic."""
    brokers = tuple(BrokerSpec(number) for number in (1, 2, 3))
    count = len(replicas)
    return Cluster(brokers, ["t"], [0], [0] * count, list(range(count)), list(replicas))


def test_a_broker_that_an_assignment_empties_counts_in_the_spread() -> None:
    plan = plan_moves(cluster((1,), (2,), (3,)), Wish(assignment=[("t", 0, (2,))]))
    assert plan_figures(plan)["spread"] == {
        "from": {"replicas": 0, "leaders": 0, "topic": 0},
        "to": {"replicas": 2, "leaders": 2, "topic": 2},
    }


def test_a_drained_broker_that_is_empty_already_does_not_count_in_the_spread() -> None:
    plan = plan_moves(cluster((1,), (2,), (1,), (2,)), Wish(drain=(3,)))
    assert plan_figures(plan)["spread"]["to"] == {"replicas": 0, "leaders": 0, "topic": 0}


def test_bytes_are_told_beside_the_share_that_each_broker_has() -> None:
    found = replace(cluster((1,), (1,), (2,)), sizes=[10, 40, 10])
    plan = plan_moves(found, Wish(rebalance=True, balance_by="bytes", drain=(3,)))
    figures = plan_figures(plan)
    assert figures["bytes_spread"] == {"from": 1.6667, "to": 1.3333}
    assert figures["bytes_bound"] == 17
    assert figures["bytes_above"] == [
        {"broker": 1, "bytes": 40, "limit_bytes": 33, "why": "partition", "partition": "t-1"}
    ]


def test_without_sizes_nothing_is_told_of_bytes() -> None:
    figures = plan_figures(plan_moves(cluster((1,), (2,)), Wish(rebalance=True)))
    assert (figures["bytes_spread"], figures["bytes_bound"], figures["bytes_above"]) == (None, None, [])
