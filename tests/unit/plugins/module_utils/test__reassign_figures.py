"""Figures of a plan: what brokers, racks and topics have before and after."""

from __future__ import annotations

from ansible_collections.streamops.kafka.plugins.module_utils._reassign_figures import plan_figures
from ansible_collections.streamops.kafka.plugins.module_utils._reassign_model import BrokerSpec, Cluster, Wish
from ansible_collections.streamops.kafka.plugins.module_utils._reassign_plan import plan_moves


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
