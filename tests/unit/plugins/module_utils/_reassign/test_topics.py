"""Plans that keep every topic as even as it can be, against a judge that knows what that is and what it must cost."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.model import BrokerSpec, Cluster, Plan, Spec
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.plan import plan_moves
from tests.support.reassign_check import invalid, moves_between, network_of, placement_after
from tests.support.reassign_clusters import random_cluster, random_spec
from tests.support.reassign_topic_check import bounds_of_topics, cheaper_cycle_within, out_of_bounds
from tests.unit.plugins.module_utils._reassign.test_balance import CHUNK, planned


def judge(cluster: Cluster, spec: Spec, plan: Plan) -> bool:
    """Valid, every topic as even as it can be, no placement cheaper, done once it is done; whether it was judged."""
    after, network = placement_after(plan), network_of(cluster, spec)
    assert invalid(network, after) == []
    assert moves_between(network.had, after) == plan.moves == plan.bound
    known = {broker.id for broker in cluster.brokers}
    there = cluster.brokers + tuple(broker for broker in spec.add if broker.id not in known)
    assert plan_moves(replace(cluster, replicas=after, brokers=there), spec).changes == ()
    if any(low for low, _high in network.bounds):
        return False  # The judge sends topics from nothing, which knows no lower bounds of racks.
    bounds = bounds_of_topics(network, cluster.topic_of)
    assert out_of_bounds(network, cluster.topic_of, after, bounds) == []
    assert plan.topic_bound == max(high - low for low, high in bounds.values())
    assert not cheaper_cycle_within(network, cluster.topic_of, after, bounds)
    return True


def drawn(seed: int, brokers: int, partitions: int) -> tuple[Cluster, Spec]:
    """A seeded cluster, and a spec that balances and bounds topics."""
    cluster = random_cluster(seed, brokers, partitions)
    return cluster, replace(random_spec(seed, cluster), topic_spread=True)


def judged(seeds: range, brokers: int, partitions: int) -> int:
    """How many of the clusters of these seeds were judged; of at most so many brokers and partitions."""
    count = 0
    for seed in seeds:
        draw = random.Random(seed)
        cluster, spec = drawn(seed, draw.randint(3, brokers), draw.randint(1, partitions))
        plan = planned(cluster, spec)
        count += plan is not None and judge(cluster, spec, plan)
    return count


@pytest.mark.parametrize("chunk", range(6))
def test_topics_are_as_even_as_each_can_be_and_no_such_placement_needs_fewer_moves(chunk: int) -> None:
    assert judged(range(chunk * CHUNK, (chunk + 1) * CHUNK), 9, 24) > CHUNK * 0.5


def test_topics_of_bigger_clusters_are_as_even_as_each_can_be() -> None:
    assert judged(range(5_000, 5_012), 40, 90) > 5


@pytest.mark.full
@pytest.mark.parametrize("chunk", range(30))
def test_topics_of_more_clusters_are_as_even_as_each_can_be(chunk: int) -> None:
    judged(range(20_000 + chunk * CHUNK, 20_000 + (chunk + 1) * CHUNK), 12, 40)


def lopsided(weights: tuple[float, ...] = (1, 1, 1)) -> Cluster:
    """Two topics of six partitions with one replica: each broker has four of both, but all of a kind."""
    brokers = tuple(BrokerSpec(place + 1, weight=weight) for place, weight in enumerate(weights))
    placed = [(1,)] * 4 + [(2,)] * 2 + [(2,)] * 2 + [(3,)] * 4
    return Cluster(brokers, ["a", "b"], [0, 0], [0] * 6 + [1] * 6, [*range(6), *range(6)], placed)


def held(plan: Plan) -> Counter[tuple[int, int]]:
    """By topic and broker how many replicas there are when a plan is done."""
    return Counter(
        (topic, b) for topic, brokers in zip(plan.cluster.topic_of, placement_after(plan), strict=True) for b in brokers
    )


def test_a_level_cluster_with_lopsided_topics_moves_only_when_topics_are_bounded() -> None:
    assert plan_moves(lopsided(), Spec(rebalance=True)).moves == 0
    plan = plan_moves(lopsided(), Spec(rebalance=True, topic_spread=True))
    assert plan.moves == 4
    assert plan.proof == "count"
    assert set(held(plan).values()) == {2}
    assert plan.topic_bound == 0


def test_with_weights_each_broker_gets_its_share_of_each_topic() -> None:
    plan = plan_moves(lopsided((1, 1, 2)), Spec(rebalance=True, topic_spread=True))
    found = held(plan)
    assert sorted(found[0, b] + found[1, b] for b in (1, 2, 3)) == [3, 3, 6]
    assert all(found[topic, 3] == 3 and {found[topic, 1], found[topic, 2]} == {1, 2} for topic in (0, 1))


@pytest.mark.parametrize("topics", [[], ["t"]])
def test_without_partitions_there_is_nothing_to_bound(topics: list[str]) -> None:
    empty = Cluster((BrokerSpec(1), BrokerSpec(2)), topics, [0] * len(topics), [], [], [])
    plan = plan_moves(empty, Spec(rebalance=True, topic_spread=True))
    assert (plan.changes, plan.moves, plan.topic_bound) == ((), 0, 0)


def test_bounding_topics_alone_is_no_change() -> None:
    with pytest.raises(RefusedError, match="topic_spread: goes with rebalance or add"):
        plan_moves(lopsided(), Spec(drain=(1,), topic_spread=True))


def test_topics_are_bounded_in_replicas_and_not_in_bytes() -> None:
    with pytest.raises(RefusedError, match="choose one"):
        plan_moves(replace(lopsided(), sizes=[1] * 12), Spec(rebalance=True, topic_spread=True, balance_by="bytes"))
