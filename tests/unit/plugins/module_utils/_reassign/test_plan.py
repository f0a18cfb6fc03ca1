"""Each spec: the moves of its closed form, what it leaves alone, and what it refuses."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.model import BrokerSpec, Cluster, Plan, Spec
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.plan import plan_moves
from tests.support.reassign_check import placement_after
from tests.support.reassign_clusters import random_cluster


def cluster_of(racks: str, replicas: Sequence[tuple[int, ...]], topics: int = 1, states: str = "") -> Cluster:
    """Brokers 1, 2, ... in these racks ('-' = none), partitions dealt to topics in turn."""
    words = {"a": "alive", "n": "new", "d": "draining", "x": "excluded", "c": "cordoned", "f": "dead"}
    state = [words[letter] for letter in states] or ["alive"] * len(racks)
    specs = [BrokerSpec(n + 1, None if r == "-" else r, state[n]) for n, r in enumerate(racks)]
    order = sorted(range(len(replicas)), key=lambda p: p % topics)
    return Cluster(
        brokers=tuple(specs),
        topics=[f"t{number}" for number in range(topics)],
        min_insync=[0] * topics,
        topic_of=[p % topics for p in order],
        numbers=[p // topics for p in order],
        replicas=[replicas[p] for p in order],
    )


def around(brokers: int, partitions: int, factor: int) -> list[tuple[int, ...]]:
    """Partition after partition on the next brokers: loads differ by at most one."""
    return [tuple((p * factor + i) % brokers + 1 for i in range(factor)) for p in range(partitions)]


def loads(plan: Plan) -> Counter[int]:
    """Replicas by broker when a plan is done."""
    return Counter(broker for brokers in placement_after(plan) for broker in brokers)


def refused(cluster: Cluster, spec: Spec) -> str:
    """Why a spec is refused."""
    with pytest.raises(RefusedError) as error:
        plan_moves(cluster, spec)
    return "\n".join(error.value.violations)


# -- closed forms ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "partitions", "factor"), [(3, 1, 30, 3), (5, 2, 40, 2), (19, 1, 10, 2), (9, 3, 9, 3)]
)
def test_added_brokers_get_their_share_and_nothing_else_moves(old: int, new: int, partitions: int, factor: int) -> None:
    cluster = cluster_of("-" * (old + new), around(old, partitions, factor))
    plan = plan_moves(cluster, Spec(add=tuple(BrokerSpec(old + n + 1) for n in range(new))))
    share, rest = divmod(partitions * factor, old + new)
    assert plan.moves == new * share + max(0, rest - old)
    assert {broker for change in plan.changes for broker in change.added} <= set(range(old + 1, old + new + 1))
    assert max(loads(plan).values()) - min(loads(plan).values()) <= 1


def test_a_broker_unknown_so_far_can_be_added_to_see_what_would_move() -> None:
    cluster = cluster_of("abc", around(3, 12, 3))
    plan = plan_moves(cluster, Spec(add=(BrokerSpec(9, "a"),)))
    assert plan.moves == 6
    assert loads(plan)[9] == 6, "only replicas of rack a can go there"


@pytest.mark.parametrize("seed", range(40))
def test_a_drain_moves_what_is_drained_and_touches_nothing_else(seed: int) -> None:
    draw = random.Random(seed)
    cluster = random_cluster(seed, draw.randint(6, 40), 60, dead=False)
    gone = draw.sample([broker.id for broker in cluster.brokers], draw.randint(1, len(cluster.brokers) - 5))
    plan = plan_moves(cluster, Spec(drain=tuple(gone), rack_rule="even"))
    held = sum(len(set(brokers) & set(gone)) for brokers in cluster.replicas)
    assert (plan.moves, plan.proof) == (held, "partition")
    for change in plan.changes:
        assert set(change.removed) == set(change.before) & set(gone)
        assert change.before[0] in gone or change.after[0] == change.before[0], "who leads and stays, leads"
    assert not set(gone) & set(loads(plan))


def test_what_a_drain_moves_goes_where_least_is() -> None:
    cluster = cluster_of("------", [(1, 2)] * 4 + [(1, 3)] * 2 + [(2, 3)] * 4)
    plan = plan_moves(cluster, Spec(drain=(1,)))
    assert [loads(plan)[broker] for broker in (4, 5, 6)] == [2, 2, 2]


@pytest.mark.parametrize("seed", range(40))
def test_who_replaces_a_broker_takes_exactly_its_places(seed: int) -> None:
    cluster = random_cluster(seed, 12, 60, dead=False)
    old = cluster.brokers[3]
    spare = BrokerSpec(99, old.rack)
    wider = Cluster(**{**vars(cluster), "brokers": (*cluster.brokers, spare)})
    plan = plan_moves(wider, Spec(replace={old.id: 99}))
    assert plan.moves == sum(old.id in brokers for brokers in cluster.replicas)
    assert all(change.after == tuple(99 if b == old.id else b for b in change.before) for change in plan.changes)


def test_a_dead_broker_can_be_drained_and_replaced() -> None:
    cluster = cluster_of("aabb", [(1, 3), (2, 3), (1, 4)], states="aafa")
    assert plan_moves(cluster, Spec(drain=(3,))).moves == 2
    assert plan_moves(cluster, Spec(replace={3: 4})).moves == 2


@pytest.mark.parametrize("seed", range(40))
def test_a_replication_factor_costs_what_is_missing_and_keeps_leaders(seed: int) -> None:
    draw = random.Random(seed)
    cluster = random_cluster(seed, draw.randint(6, 40), 60, dead=False)
    factors = {topic: draw.randint(1, 5) for topic in draw.sample(cluster.topics, max(1, len(cluster.topics) // 2))}
    plan = plan_moves(cluster, Spec(replication_factor=factors))
    lacking = 0
    for partition, brokers in enumerate(cluster.replicas):
        wanted = factors.get(cluster.topics[cluster.topic_of[partition]], len(brokers))
        lacking += max(0, wanted - len(brokers))
        assert len(placement_after(plan)[partition]) == wanted
        assert placement_after(plan)[partition][0] == brokers[0]
    assert plan.moves == lacking
    assert all(not change.added or not change.removed for change in plan.changes)


@pytest.mark.parametrize("rule", ["strict", "even"])
@pytest.mark.parametrize("seed", range(40))
def test_racks_are_fixed_by_the_moves_of_the_formula(seed: int, rule: str) -> None:
    draw = random.Random(seed)
    racks = draw.randint(2, 6)
    ids = range(racks * 4)
    rack = {broker: f"r{broker % racks}" for broker in ids}
    replicas = [tuple(draw.sample(ids, draw.randint(1, 7))) for _ in range(50)]
    cluster = Cluster(tuple(BrokerSpec(b, rack[b]) for b in ids), ["t"], [0], [0] * 50, list(range(50)), replicas)
    plan = plan_moves(cluster, Spec(fix_racks=True, rack_rule=rule))
    expected = 0
    for brokers in replicas:
        counts = Counter(rack[broker] for broker in brokers)
        floor, ceil = len(brokers) // racks, -(-len(brokers) // racks)
        crowded = sum(max(0, count - ceil) for count in counts.values())
        expected += max(crowded, sum(max(0, floor - counts[f"r{number}"]) for number in range(racks)))
    assert (plan.moves, plan.proof) == (expected, "partition")
    assert (
        plan_moves(
            Cluster(**{**vars(cluster), "replicas": placement_after(plan)}), Spec(fix_racks=True, rack_rule=rule)
        ).changes
        == ()
    )


@pytest.mark.parametrize("rule", ["strict", "even"])
@pytest.mark.parametrize("seed", range(20))
def test_no_partition_loses_a_rack_that_it_could_keep(seed: int, rule: str) -> None:
    draw = random.Random(seed)
    for _cluster in range(15):
        racks, count = draw.randint(2, 4), draw.randint(4, 9)
        rack = {b: f"r{b % racks if draw.random() < 0.7 else draw.randrange(racks)}" for b in range(count)}
        replicas = [tuple(draw.sample(range(count), draw.randint(1, min(5, count)))) for _ in range(6)]
        cluster = Cluster(tuple(BrokerSpec(b, rack[b]) for b in rack), ["t"], [0], [0] * 6, list(range(6)), replicas)
        goal: dict[str, Any] = draw.choice(
            [
                {"rebalance": True},
                {"fix_racks": True},
                {"drain": (0,)},
                {"replication_factor": {"t": draw.randint(1, 4)}},
            ]
        )
        try:
            plan = plan_moves(cluster, Spec(rack_rule=rule, **goal))
        except RefusedError:
            assert "drain" in goal
            continue
        left = Counter(rack[b] for b in rack if b not in goal.get("drain", ()))
        for had, now in zip(replicas, placement_after(plan), strict=True):
            before, after = (Counter(rack[b] for b in brokers) for brokers in (had, now))
            assert len(after) >= min(len(before), len(now), len(left)), (goal, rack, had, now)
            if "rebalance" in goal or "fix_racks" in goal:
                parts = level(left, len(now))
                assert all(parts[name][0] <= after[name] <= parts[name][1] for name in left), (goal, rack, had, now)


def level(sizes: Counter[str], replicas: int) -> dict[str, tuple[int, int]]:
    """At least and at most how many replicas each rack has where they are dealt one by one, and some racks fill up."""
    dealt: Counter[str] = Counter()
    whole = 0
    while dealt.total() < replicas:
        dealt = Counter({name: min(size, whole + 1) for name, size in sizes.items()})
        whole += 1
    return {name: (min(size, whole - 1), min(size, whole)) for name, size in sizes.items()}


def test_racks_that_cannot_be_level_are_level_within() -> None:
    cluster = cluster_of("abbbb", [(1, 2)] * 8)
    plan = plan_moves(cluster, Spec(rebalance=True))
    assert [loads(plan)[broker] for broker in range(1, 6)] == [8, 2, 2, 2, 2]
    assert plan.moves == 6


def test_weights_give_brokers_their_part() -> None:
    replicas = around(4, 30, 2)
    specs = tuple(BrokerSpec(n, None, "alive", weight) for n, weight in ((1, 1), (2, 1), (3, 2), (4, 2)))
    cluster = Cluster(specs, ["t"], [0], [0] * 30, list(range(30)), replicas)
    plan = plan_moves(cluster, Spec(rebalance=True))
    assert [loads(plan)[broker] for broker in (1, 2, 3, 4)] == [10, 10, 20, 20]
    assert plan.moves == 10


@pytest.mark.parametrize("states", ["aaxa", "aaca"])
def test_excluded_and_cordoned_brokers_keep_what_they_have_and_get_nothing(states: str) -> None:
    cluster = cluster_of("----", around(3, 12, 2), states=states)
    plan = plan_moves(cluster, Spec(rebalance=True))
    assert loads(plan)[3] == 8
    assert all(3 not in (*change.added, *change.removed) for change in plan.changes)
    assert sorted(loads(plan)[broker] for broker in (1, 2, 4)) == [5, 5, 6]


def test_a_cordoned_broker_is_named_where_it_would_have_to_take_replicas() -> None:
    cluster = cluster_of("---", [(1, 3)] * 3, states="aac")
    uncordon = "cordoned (cordoned.log.dirs); uncordon it first (module broker_registration, state: uncordoned)"
    for spec, said in (
        (Spec(add=(BrokerSpec(3),)), f"add: broker 3 cannot take replicas: it is {uncordon}"),
        (Spec(replace={1: 3}), f"replace: broker 3 cannot take the place of 1: it is {uncordon}"),
        (Spec(replication_factor={"t0": 3}), "there are 2 (broker 3 is cordoned); set at most 2"),
        (Spec(assignment=(("t0", 0, (1, 2)), ("t0", 1, (3, 1)))), ""),
    ):
        if not said:
            assert plan_moves(cluster, spec).moves == 1
            continue
        with pytest.raises(RefusedError, match=re.escape(said)):
            plan_moves(cluster, spec)
    elsewhere = cluster_of("---", [(1, 2)] * 3, states="aac")
    with pytest.raises(RefusedError, match=re.escape(f"broker 3 takes no new replica: it is {uncordon}")):
        plan_moves(elsewhere, Spec(assignment=(("t0", 0, (1, 3)),)))


def test_a_cordoned_broker_can_be_drained() -> None:
    plan = plan_moves(cluster_of("---", [(1, 3)] * 3, states="aac"), Spec(drain=(3,)))
    assert [change.after for change in plan.changes] == [(1, 2)] * 3


def test_balance_leaves_partitions_of_a_dead_broker_alone() -> None:
    cluster = cluster_of("----", [(1, 2)] * 6 + [(1, 3)] * 3, states="aafa")
    plan = plan_moves(cluster, Spec(rebalance=True))
    assert all(3 not in change.before for change in plan.changes)
    assert sorted(loads(plan)[broker] for broker in (1, 2, 4)) == [5, 5, 5]


def test_a_dead_broker_stands_in_the_way_of_what_is_named_and_not_of_the_racks_that_balance_would_mend() -> None:
    # Broker 5 is dead; its partition has two replicas in one rack.
    cluster = cluster_of("aabbb", [(1, 2, 5), (1, 3), (2, 4), (2, 3)], states="aaaaf")
    for spec in (Spec(rebalance=True), Spec(rebalance=True, drain=(4,))):
        assert placement_after(plan_moves(cluster, spec))[0] == (1, 2, 5)
    assert "not alive" in refused(cluster, Spec(rebalance=True, drain=(1,)))


def test_topics_spread_without_a_move_more() -> None:
    cluster = cluster_of("----", [(1, 2)] * 24, topics=6)
    plan = plan_moves(cluster, Spec(rebalance=True))
    assert plan.moves == 24
    held = Counter((cluster.topic_of[p], b) for p, brokers in enumerate(placement_after(plan)) for b in brokers)
    assert set(held.values()) == {2}, "each topic has 8 replicas on 4 brokers"


def test_leaders_alone_move_no_data() -> None:
    cluster = cluster_of("---", [(1, 2, 3)] * 9)
    plan = plan_moves(cluster, Spec(leaders="balance"))
    assert (plan.moves, plan.leader_changes, plan.leader_bound) == (0, 6, 6)
    assert Counter(brokers[0] for brokers in placement_after(plan)) == {1: 3, 2: 3, 3: 3}


def test_leaders_that_cannot_be_even_have_a_witness() -> None:
    cluster = cluster_of("---", [(1,), (1,), (1,), (2, 3)])
    plan = plan_moves(cluster, Spec(leaders="balance"))
    assert plan.witness is not None
    assert (plan.witness.kind, plan.witness.brokers, plan.witness.partitions, plan.witness.room) == (
        "too_many",
        (1,),
        3,
        2,
    )


def test_every_change_says_why() -> None:
    cluster = cluster_of("aabbcc", [(1, 2, 3), (1, 3, 5), (2, 4, 6)])
    plan = plan_moves(cluster, Spec(drain=(5,), fix_racks=True, replication_factor={"t0": 3}))
    assert {cluster.name(change.partition): change.reasons for change in plan.changes} == {
        "t0-0": ("rack rule strict: 1 of its replicas in the wrong rack",),
        "t0-1": ("broker 5 is drained",),
    }


def test_an_assignment_is_taken_as_it_is() -> None:
    cluster = cluster_of("---", [(1, 2), (2, 3)])
    plan = plan_moves(cluster, Spec(assignment=[("t0", 1, (3, 1)), ("t0", 0, (1, 2))]))
    assert [(change.partition, change.after) for change in plan.changes] == [(1, (3, 1))]
    assert plan.moves == 1


# -- refusals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        (Spec(), "no change is asked for"),
        (Spec(drain=(9,)), "drain: broker 9 is not known to the cluster, which has 1, 2, 3, 4"),
        (Spec(drain=(1, 2, 3, 4)), "no broker is left that may hold replicas"),
        (Spec(drain=(1, 2)), "2 brokers may hold replicas, too few for partitions with 3"),
        (Spec(replication_factor={"t0": 5}), "replication_factor: 5 for topic t0 needs as many brokers"),
        (Spec(replication_factor={"t0": 0}), "must be at least 1"),
        (Spec(replication_factor={"none": 2}), "topic none does not exist"),
        (Spec(replace={1: 9}), "replace: broker 9 is not known"),
        (Spec(replace={1: 4, 2: 4}), "would take the place of 2 brokers"),
        (Spec(replace={1: 2}), "already has 4 partitions of broker 1 (t0-0, t0-1, t0-2, t0-3); drain 1 instead"),
        (Spec(replace={1: 4}, rebalance=True), "cannot go with rebalance"),
        (Spec(replace={1: 4}, drain=(4,)), "it is drained by the same call"),
        (Spec(rebalance=True, rack_rule="strikt"), "rack_rule: 'strikt' is not one of strict, even, none"),
        (Spec(leaders="some"), "leaders: 'some' is not one of"),
        (Spec(fix_racks=True), "fix_racks: no broker has a rack"),
        (Spec(assignment=[], rebalance=True), "assignment: stands alone"),
        (Spec(assignment=[("t0", 7, (1,))]), "t0-7: does not exist"),
        (Spec(assignment=[("t0", 0, (1, 1, 2))]), "names broker 1 more than once"),
        (Spec(assignment=[("t0", 0, (1, 2, 7))]), "broker 7 is not known"),
        (Spec(assignment=[("t0", 0, (1, 2))]), "has 3 replicas and would have 2"),
        (Spec(assignment=[("t0", 0, ())]), "has no replicas"),
        (Spec(assignment=[("t0", 0, (1, 2, 3)), ("t0", 0, (3, 2, 1))]), "given twice"),
    ],
)
def test_what_cannot_be_granted_is_refused_with_the_reason(spec: Spec, why: str) -> None:
    assert why in refused(cluster_of("----", [(1, 2, 3)] * 4), spec)


def test_partitions_that_stay_as_they_are_need_no_brokers() -> None:
    cluster = cluster_of("---", [(1, 2), (1, 2, 3)], topics=2)
    assert "too few for partitions with 3" in refused(cluster, Spec(drain=(3,)))
    assert plan_moves(cluster, Spec(drain=(3,), topics=("t0",))).moves == 0


def test_everything_wrong_is_told_at_once() -> None:
    found = refused(cluster_of("----", [(1, 2, 3)]), Spec(drain=(8, 9), replication_factor={"none": 2}))
    assert found.count("\n") == 2


def test_racks_known_of_some_brokers_only_are_refused() -> None:
    cluster = cluster_of("a-b", [(1, 2)])
    assert "brokers 2 have none while others have one" in refused(cluster, Spec(rebalance=True))
    assert plan_moves(cluster, Spec(rebalance=True, rack_rule="none")).moves == 0


def test_a_drain_that_empties_a_rack_is_refused_unless_racks_may_be_even() -> None:
    cluster = cluster_of("aabbc", [(1, 3, 5), (2, 4, 5)])
    assert "2 partitions (t0-0, t0-1) would be in fewer racks than before: 2 racks are left" in refused(
        cluster, Spec(drain=(5,))
    )
    assert plan_moves(cluster, Spec(drain=(5,), rack_rule="even")).moves == 2


def test_a_replacement_in_another_rack_is_refused_where_it_breaks_the_rule() -> None:
    cluster = cluster_of("abcb", [(1, 2), (1, 3)])
    assert "(rack b) in place of 1 (rack a) 1 partitions (t0-0) would break the strict rack rule" in refused(
        cluster, Spec(replace={1: 4})
    )


def test_a_move_that_would_keep_a_dead_replica_is_refused() -> None:
    cluster = cluster_of("----", [(1, 2), (2, 3)], states="aafa")
    assert "1 partitions (t0-1) must change and would keep a replica on a broker that is not alive (3)" in refused(
        cluster, Spec(drain=(2,))
    )


def test_fewer_replicas_than_min_insync_replicas_are_refused() -> None:
    cluster = cluster_of("---", [(1, 2, 3)])
    cluster.min_insync = [2]
    said = refused(cluster, Spec(replication_factor={"t0": 1}))
    assert "below its min.insync.replicas 2" in said
    assert "an acknowledged record would be on 1 instead of 2" in said
    assert plan_moves(cluster, Spec(replication_factor={"t0": 2})).deletions == 1


def test_a_factor_below_min_insync_replicas_is_refused_only_where_fewer_replicas_would_acknowledge() -> None:
    cluster = cluster_of("---", [(1,)])
    cluster.min_insync = [3]
    assert plan_moves(cluster, Spec(replication_factor={"t0": 2})).moves == 1
    cluster.replicas = [(1, 2)]
    assert "would be on 1 instead of 2" in refused(cluster, Spec(replication_factor={"t0": 1}))
    # Nothing changes: one replica acknowledges as before.
    cluster.replicas = [(1,)]
    assert plan_moves(cluster, Spec(replication_factor={"t0": 1})).changes == ()


def test_weights_too_far_apart_are_refused() -> None:
    specs = (BrokerSpec(1, weight=9), BrokerSpec(2), BrokerSpec(3))
    cluster = Cluster(specs, ["t"], [0], [0, 0], [0, 1], [(1, 2), (2, 3)])
    assert "make the weights of the brokers more alike" in refused(cluster, Spec(rebalance=True))


def test_only_partitions_of_the_named_topics_change() -> None:
    # Everything of both topics is in rack a, and broker 1 leads all of it.
    cluster = cluster_of("aab", [(1, 2)] * 12, topics=2)
    spec = Spec(fix_racks=True, leaders="balance", topics=("t0",))
    plan = plan_moves(cluster, spec)
    assert {cluster.topics[cluster.topic_of[change.partition]] for change in plan.changes} == {"t0"}
    assert len(plan.changes) == 6
    assert all(3 in change.after for change in plan.changes)
    balanced = plan_moves(cluster, Spec(rebalance=True, rack_rule="none", topics=("t1",)))
    assert {cluster.topics[cluster.topic_of[change.partition]] for change in balanced.changes} == {"t1"}
    assert {cluster.topic_of[c.partition] for c in plan_moves(cluster, replace(spec, topics=())).changes} == {0, 1}
    drained = plan_moves(cluster_of("---", [(1, 2)] * 4, topics=2), Spec(drain=(1,), topics=("t0",)))
    assert [set(change.after) for change in drained.changes] == [{2, 3}, {2, 3}]


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        (Spec(rebalance=True, topics=("tt1",)), "topics: topic tt1 does not exist (names like it: t1)"),
        (Spec(replication_factor={"t1": 1}, topics=("t0",)), "topic t1 is not one of topics, so it would stay"),
        (Spec(assignment=[("t0", 0, (1, 2))], topics=("t0",)), "an assignment names its partitions itself"),
        (Spec(replication_factor={"tt0": 1}), "replication_factor: topic tt0 does not exist (names like it: t0)"),
    ],
)
def test_topics_that_cannot_be_meant_are_refused(spec: Spec, why: str) -> None:
    assert why in refused(cluster_of("---", [(1, 2)] * 4, topics=2), spec)


def test_a_dead_broker_does_not_hold_up_topics_that_are_not_meant() -> None:
    cluster = cluster_of("---f", [(1, 2), (1, 4)], topics=2, states="aaaf")
    with pytest.raises(RefusedError):
        plan_moves(cluster, Spec(drain=(1,)))
    plan = plan_moves(cluster, Spec(drain=(1,), topics=("t0",)))
    assert [set(change.after) for change in plan.changes] == [{2, 3}]
