"""Plans of seeded clusters against a judge that shares no code with the planner: never a move more than need be."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from dataclasses import replace

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.model import BrokerSpec, Cluster, Plan, Spec
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.plan import plan_moves
from tests.support.hash_seeds import digests
from tests.support.reassign_check import (
    best_of_all,
    cheaper_cycle,
    cheaper_leaders,
    fewest_changes,
    fewest_moves,
    invalid,
    moves_between,
    network_of,
    parts_possible,
    placement_after,
    unevenness,
    unfair_leaders,
    without_late,
)
from tests.support.reassign_clusters import random_cluster, random_spec, with_thin_isrs, with_weights

#: Clusters in one test, so that a failure names few seeds and progress is seen.
CHUNK = 50
#: Why a seeded cluster may refuse a seeded spec.
REASONS = (
    "would keep a replica on a broker that is not alive",
    "would be in fewer racks than before",
    "may hold replicas, too few",
    "needs as many brokers",
)
#: Why one with weights may: a broker's part is more replicas than there are partitions, for example.
UNLIKE = "no placement gives every broker its share; make the weights of the brokers more alike"


def medium(seed: int, partitions: int = 120) -> tuple[Cluster, Spec]:
    """3 to 200 brokers, evenly on a logarithmic scale, and a spec that balances."""
    draw = random.Random(seed * 7 + 1)
    brokers = int(3 * (201 / 3) ** draw.random())
    cluster = random_cluster(seed, brokers, int(5 * (partitions / 5) ** draw.random()))
    return cluster, random_spec(seed, cluster)


def planned(cluster: Cluster, spec: Spec, reasons: tuple[str, ...] = REASONS) -> Plan | None:
    """The plan, or None where the cluster cannot grant the spec, for one of the reasons that there may be."""
    try:
        return plan_moves(cluster, spec)
    except RefusedError as error:
        refused = error.violations
    strange = [line for line in refused if not any(reason in line for reason in reasons)]
    assert strange == []
    return None


def judge(cluster: Cluster, spec: Spec, plan: Plan) -> None:
    """Valid, as counted, as even and as cheap as can be, and done with once it is done."""
    after, network = placement_after(plan), network_of(cluster, spec)
    assert invalid(network, after) == []
    assert moves_between(network.had, after) == plan.moves == plan.bound
    assert not cheaper_cycle(network, after)
    led = [brokers[0] for brokers in cluster.replicas]
    assert not cheaper_leaders(led, after, network.may_take, network.open)
    assert sum(brokers[0] != leader for brokers, leader in zip(after, led, strict=True)) == plan.leader_changes
    assert plan.leader_changes == plan.leader_bound
    known = {broker.id for broker in cluster.brokers}
    there = cluster.brokers + tuple(broker for broker in spec.add if broker.id not in known)
    again = plan_moves(replace(cluster, replicas=after, brokers=there), spec)
    assert again.changes == ()


@pytest.mark.parametrize("chunk", range(22))
def test_no_placement_is_more_even_or_needs_fewer_moves(chunk: int) -> None:
    granted = 0
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        cluster, spec = medium(seed)
        plan = planned(cluster, spec)
        if plan is not None:
            granted += 1
            judge(cluster, spec, plan)
    assert granted > CHUNK * 0.7


@pytest.mark.full
@pytest.mark.parametrize("chunk", range(100))
def test_no_placement_of_more_and_bigger_clusters_is_better(chunk: int) -> None:
    for seed in range(10_000 + chunk * CHUNK, 10_000 + (chunk + 1) * CHUNK):
        cluster, spec = medium(seed, partitions=600)
        plan = planned(cluster, spec)
        if plan is not None:
            judge(cluster, spec, plan)


@pytest.mark.parametrize("chunk", range(5))
def test_moves_are_those_of_a_minimum_cost_flow_from_nothing(chunk: int) -> None:
    compared = 0
    for seed in range(50_000 + chunk * CHUNK, 50_000 + (chunk + 1) * CHUNK):
        draw = random.Random(seed)
        cluster = random_cluster(seed, draw.randint(3, 8), draw.randint(1, 20))
        spec = random_spec(seed, cluster)
        plan, network = planned(cluster, spec), network_of(cluster, spec)
        if plan is None or any(low for low, _high in network.bounds):
            continue  # The flow from nothing has no lower bounds; the proof by cycles covers them.
        compared += 1
        loads = Counter(broker for brokers in placement_after(plan) for broker in brokers)
        assert (unevenness(network, loads), plan.moves) == fewest_moves(network), seed
    assert compared > CHUNK * 0.6


def thin(seed: int, brokers: tuple[int, int], partitions: int) -> tuple[Cluster, Spec, Plan] | None:
    """A cluster in which replicas are behind, and its plan where there is one; a plan that loses copies is refused."""
    draw = random.Random(seed)
    cluster = random_cluster(seed, draw.randint(*brokers), draw.randint(1, partitions))
    spec, cluster = random_spec(seed, cluster), with_thin_isrs(seed, cluster)
    plan = planned(cluster, spec, (*REASONS, "in sync", "below its min.insync.replicas"))
    return None if plan is None else (cluster, spec, plan)


@pytest.mark.parametrize("chunk", range(10))
def test_no_placement_is_better_where_replicas_are_behind(chunk: int) -> None:
    granted = 0
    for seed in range(100_000 + chunk * CHUNK, 100_000 + (chunk + 1) * CHUNK):
        found = thin(seed, (3, 30), 90)
        if found is None:
            continue
        granted += 1
        cluster, spec, plan = found
        after = placement_after(plan)
        network = network_of(cluster, spec)
        assert invalid(network, after) == []
        assert moves_between(network.had, after) == plan.moves == plan.bound
        if plan.proof == "in_sync" or spec.replication_factor:
            network = without_late(network, cluster, after)
        assert not cheaper_cycle(network, after), seed
    assert granted > CHUNK * 0.6


@pytest.mark.parametrize("chunk", range(4))
def test_where_replicas_are_behind_moves_are_those_of_a_search_of_all_placements(chunk: int) -> None:
    compared = 0
    for seed in range(110_000 + chunk * CHUNK, 110_000 + (chunk + 1) * CHUNK):
        found = thin(seed, (3, 4), 5)
        if found is None:
            continue
        cluster, spec, plan = found
        after, network = placement_after(plan), network_of(cluster, spec)
        if spec.replication_factor:
            network = without_late(network, cluster, after)
        compared += 1
        loads = Counter(broker for brokers in after for broker in brokers)
        assert (unevenness(network, loads), plan.moves) == best_of_all(network), seed
    assert compared > CHUNK * 0.6


def test_a_replica_that_is_behind_costs_no_move_more() -> None:
    brokers = tuple(BrokerSpec(number, rack) for number, rack in ((1, "a"), (2, "a"), (3, "b")))
    cluster = Cluster(brokers, ["p", "q"], [1, 1], [0, 1], [0, 0], [(1, 2), (1,)], [1, 1], [(1,), (1,)])
    plan = plan_moves(cluster, Spec(rebalance=True))
    assert (plan.moves, [set(change.after) for change in plan.changes]) == (1, [{2, 3}])


def weighted(seed: int, partitions: int = 120) -> tuple[Cluster, Spec]:
    """As C(medium), with brokers of weights 0.5, 1, 2 and 4, all of them alive: with others weights are refused."""
    draw = random.Random(seed * 7 + 1)
    brokers = int(3 * (201 / 3) ** draw.random())
    cluster = random_cluster(seed, brokers, int(5 * (partitions / 5) ** draw.random()), dead=False)
    return with_weights(seed, cluster, random_spec(seed, cluster))


def judge_parts(cluster: Cluster, spec: Spec) -> bool:
    """Judge a plan with weights; whether there is one."""
    plan = planned(cluster, spec, (*REASONS, UNLIKE))
    if plan is None:
        return False
    judge(cluster, spec, plan)
    network = network_of(cluster, spec)
    loads = Counter(broker for brokers in placement_after(plan) for broker in brokers)
    for broker, (low, high, _number) in network.parts.items():
        assert low <= loads[broker] <= high
    return True


@pytest.mark.parametrize("chunk", range(6))
def test_weighted_brokers_have_their_part_rounded_down_or_up_by_the_fewest_moves(chunk: int) -> None:
    seeds = range(100_000 + chunk * CHUNK, 100_000 + (chunk + 1) * CHUNK)
    assert sum(judge_parts(*weighted(seed)) for seed in seeds) > CHUNK * 0.7


@pytest.mark.full
@pytest.mark.parametrize("chunk", range(40))
def test_weighted_brokers_of_more_and_bigger_clusters_have_their_part(chunk: int) -> None:
    seeds = range(110_000 + chunk * CHUNK, 110_000 + (chunk + 1) * CHUNK)
    assert sum(judge_parts(*weighted(seed, partitions=600)) for seed in seeds) > CHUNK * 0.7


@pytest.mark.parametrize("chunk", range(5))
def test_moves_with_weights_are_those_of_a_minimum_cost_flow_and_are_refused_only_where_there_is_none(
    chunk: int,
) -> None:
    compared = 0
    for seed in range(120_000 + chunk * CHUNK, 120_000 + (chunk + 1) * CHUNK):
        draw = random.Random(seed)
        cluster = random_cluster(seed, draw.randint(3, 8), draw.randint(1, 20), dead=False)
        cluster, spec = with_weights(seed, cluster, random_spec(seed, cluster))
        plan, network = planned(cluster, spec, (*REASONS, UNLIKE)), network_of(cluster, spec)
        if any(low for low, _high in network.bounds):
            continue  # The flow from nothing has no lower bounds; the proof by cycles covers them.
        if plan is None:
            # Fewer racks than before are refused too, whatever the weights.
            assert not parts_possible(network) or "fewer racks" in refused(cluster, spec), seed
            continue
        compared += 1
        loads = Counter(broker for brokers in placement_after(plan) for broker in brokers)
        assert (unevenness(network, loads), plan.moves) == fewest_moves(network), seed
    assert compared > CHUNK * 0.5


def refused(cluster: Cluster, spec: Spec) -> str:
    """Why a spec is refused."""
    with pytest.raises(RefusedError) as error:
        plan_moves(cluster, spec)
    return "\n".join(error.value.violations)


@pytest.mark.parametrize("chunk", range(4))
def test_leaders_are_within_one_of_each_other_or_a_witness_says_why_not(chunk: int) -> None:
    for seed in range(70_000 + chunk * CHUNK, 70_000 + (chunk + 1) * CHUNK):
        draw = random.Random(seed)
        cluster = random_cluster(seed, draw.randint(3, 30), draw.randint(1, 90), dead=False)
        plan = planned(cluster, Spec(rebalance=True, rack_rule=draw.choice(["strict", "even", "none"])))
        assert plan is not None
        after = placement_after(plan)
        assert unfair_leaders(after, {broker.id for broker in cluster.brokers}, plan) is None, seed
        assert plan.leader_bound <= plan.leader_changes
        assert plan.leader_changes == sum(a[0] != b[0] for a, b in zip(cluster.replicas, after, strict=True))


@pytest.mark.parametrize("chunk", range(4))
def test_leaders_change_as_little_as_any_choice_of_leaders_does(chunk: int) -> None:
    for seed in range(80_000 + chunk * CHUNK, 80_000 + (chunk + 1) * CHUNK):
        draw = random.Random(seed)
        cluster = random_cluster(seed, draw.randint(3, 6), draw.randint(1, 7), dead=False)
        plan = planned(cluster, Spec(rebalance=draw.random() < 0.5, leaders="balance", rack_rule="none"))
        assert plan is not None
        after, led = placement_after(plan), [brokers[0] for brokers in cluster.replicas]
        evenness = sum(count**2 for count in Counter(brokers[0] for brokers in after).values())
        assert (evenness, plan.leader_changes) == fewest_changes(led, after), seed


def digest() -> str:
    """A digest of the plans of some clusters, reasons included."""
    seen = hashlib.sha256()
    for seed in range(90_000, 90_015):
        cluster, spec = medium(seed)
        plan = planned(cluster, spec)
        seen.update(repr(plan and (plan.changes, plan.witness)).encode())
    return seen.hexdigest()


def test_the_same_input_gives_the_same_plan_on_any_hash_seed() -> None:
    assert digests(__file__) == {digest()}
