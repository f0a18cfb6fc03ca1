"""Plans that balance by bytes: seeded clusters before a judge that shares no code with the planner, and by hand."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.model import BrokerSpec, Cluster, Plan, Spec
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.plan import plan_moves
from tests.support.hash_seeds import digests
from tests.support.reassign_check import invalid, placement_after
from tests.support.reassign_check_bytes import bytes_of, held, most_to_move, moved, unlevel
from tests.support.reassign_clusters import random_cluster, random_spec, with_sizes, with_weights

#: Clusters in one test, so that a failure names few seeds and progress is seen.
CHUNK = 50
#: Why a seeded cluster may refuse a seeded spec.
REASONS = (
    "would keep a replica on a broker that is not alive",
    "would be in fewer racks than before",
    "may hold replicas, too few",
    "needs as many brokers",
)
BYTES = Spec(rebalance=True, balance_by="bytes")


def drawn(seed: int, partitions: int) -> tuple[Cluster, Spec]:
    """3 to 200 brokers in any state, some weighted, sizes skewed or not, and a spec that balances by bytes."""
    draw = random.Random(seed * 7 + 1)
    brokers = int(3 * (201 / 3) ** draw.random())
    cluster = with_sizes(seed, random_cluster(seed, brokers, int(5 * (partitions / 5) ** draw.random())))
    spec = random_spec(seed, cluster)
    if draw.random() < 0.3:
        cluster, spec = with_weights(seed, cluster, spec)
    return cluster, replace(spec, balance_by="bytes", bytes_tolerance=draw.choice([0, 0.05, 0.1, 0.1, 0.3]))


def planned(cluster: Cluster, spec: Spec) -> Plan | None:
    """The plan, or None where the cluster cannot grant the spec, for one of the reasons that there may be."""
    try:
        return plan_moves(cluster, spec)
    except RefusedError as error:
        refused = error.violations
    assert [line for line in refused if not any(reason in line for reason in REASONS)] == []
    return None


def judge(cluster: Cluster, spec: Spec, plan: Plan) -> None:
    """Valid, level or rightly not, by few bytes, and done with once it is done."""
    found = bytes_of(cluster, spec, plan)
    assert invalid(found.network, found.after) == []
    assert list(unlevel(found, plan)) == []
    assert len({change.partition for change in plan.changes}) == len(plan.changes), "nothing moves twice"
    assert moved(plan) <= most_to_move(found, plan)
    assert plan.bytes is not None
    assert plan.bytes.above or moved(plan) >= plan.bytes.bound, "a bound that is none"
    assert plan.moves >= plan.bound
    assert again(cluster, spec, plan).changes == ()


def again(cluster: Cluster, spec: Spec, plan: Plan) -> Plan:
    """The plan for the same spec when the first one is done."""
    known = {broker.id for broker in cluster.brokers}
    there = cluster.brokers + tuple(broker for broker in spec.add if broker.id not in known)
    return plan_moves(replace(cluster, replicas=placement_after(plan), brokers=there), spec)


@pytest.mark.parametrize("chunk", range(8))
def test_bytes_are_level_or_rightly_not_and_few_are_moved(chunk: int) -> None:
    granted = level = 0
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        cluster, spec = drawn(seed, partitions=400)
        plan = planned(cluster, spec)
        if plan is not None:
            granted += 1
            judge(cluster, spec, plan)
            level += plan.bytes is not None and not plan.bytes.above
    assert granted > CHUNK * 0.8
    assert level > CHUNK * 0.15


@pytest.mark.full
@pytest.mark.parametrize("chunk", range(40))
def test_bytes_of_more_and_bigger_clusters_are_level_or_rightly_not(chunk: int) -> None:
    for seed in range(10_000 + chunk * CHUNK, 10_000 + (chunk + 1) * CHUNK):
        cluster, spec = drawn(seed, partitions=3000)
        plan = planned(cluster, spec)
        if plan is not None:
            judge(cluster, spec, plan)


@pytest.mark.parametrize("seed", range(40))
def test_small_partitions_that_may_go_anywhere_always_level_out(seed: int) -> None:
    draw = random.Random(seed)
    brokers, tolerance = draw.randint(2, 40), draw.choice([0.05, 0.1, 0.4])
    specs = tuple(BrokerSpec(number, weight=draw.choice([1, 2])) for number in range(brokers))
    count = int(brokers * 8 / tolerance)
    replicas = [(int(brokers * draw.random() ** 3),) for _ in range(count)]
    sizes = [draw.randint(0, 1000) for _ in range(count)]
    assert max(sizes) <= tolerance * sum(sizes) / sum(spec.weight for spec in specs), "what small means here"
    cluster = Cluster(specs, ["t"], [0], [0] * count, list(range(count)), replicas, sizes=sizes)
    plan = plan_moves(cluster, replace(BYTES, bytes_tolerance=tolerance))
    assert plan.bytes is not None
    assert plan.bytes.above == ()
    judge(cluster, replace(BYTES, bytes_tolerance=tolerance), plan)


def test_a_big_cluster_is_level_by_a_hundredth_more_than_the_bound() -> None:
    draw = random.Random(1)
    specs = tuple(BrokerSpec(number, f"rack{number % 10}") for number in range(220))
    replicas = [
        tuple(rack + 10 * draw.randrange(22) for rack in draw.sample(range(10), 3)) for _partition in range(20_000)
    ]
    sizes = [int(1e8 * draw.lognormvariate(0, 1)) for _partition in replicas]
    cluster = Cluster(specs, ["t"], [2], [0] * 20_000, list(range(20_000)), replicas, sizes=sizes)
    plan = plan_moves(cluster, replace(BYTES, bytes_tolerance=0.02))
    assert plan.bytes is not None
    assert plan.bytes.above == ()
    assert plan.bytes.bound <= moved(plan) <= 1.01 * plan.bytes.bound


# -- by hand -----------------------------------------------------------------------------------------------------


def cluster_of(racks: str, placed: Sequence[tuple[tuple[int, ...], int]], states: str = "") -> Cluster:
    """Brokers 1, 2, ... in these racks ('-' = none) and partitions of one topic, each with its brokers and its size."""
    words = {"a": "alive", "d": "draining", "x": "excluded", "f": "dead"}
    state = [words[letter] for letter in states] or ["alive"] * len(racks)
    specs = tuple(BrokerSpec(n + 1, None if rack == "-" else rack, state[n]) for n, rack in enumerate(racks))
    count = len(placed)
    sizes = [size for _brokers, size in placed]
    return Cluster(specs, ["t"], [0], [0] * count, list(range(count)), [b for b, _size in placed], sizes=sizes)


def used(plan: Plan) -> list[int]:
    """Bytes of brokers 1, 2, ... when a plan is done."""
    found = held(placement_after(plan), list(plan.cluster.sizes or ()))
    return [found[broker.id] for broker in plan.brokers]


def above(plan: Plan) -> list[tuple[int, str, int | None]]:
    """Who stays above, why, and the partition that is named."""
    assert plan.bytes is not None
    return [(one.broker, one.why, one.partition) for one in plan.bytes.above]


def test_bytes_are_levelled_whatever_that_makes_of_the_number_of_replicas() -> None:
    cluster = cluster_of("--", [((1,), 10)] * 10 + [((2,), 1)] * 20)
    plan = plan_moves(cluster, replace(BYTES, leaders="keep"))
    assert used(plan) == [60, 60]
    assert (plan.moves, plan.bound, plan.proof) == (4, 0, "bytes")
    assert plan.bytes is not None
    assert plan.bytes.bound == 34, "100 are held, 66 are allowed"
    assert {change.reasons for change in plan.changes} == {("broker 1 holds more bytes than its limit",)}


def test_level_bytes_are_left_alone_however_uneven_replicas_are() -> None:
    cluster = cluster_of("--", [((1,), 100)] + [((2,), 1)] * 100)
    plan = plan_moves(cluster, replace(BYTES, leaders="keep"))
    assert (plan.changes, plan.proof) == ((), "partition")
    assert plan_moves(cluster, Spec(rebalance=True)).moves == 49, "by replicas there is much to move"


def test_the_tolerance_says_what_is_level() -> None:
    cluster = cluster_of("--", [((1,), 10)] * 6 + [((2,), 10)] * 4)
    assert used(plan_moves(cluster, replace(BYTES, bytes_tolerance=0.2))) == [60, 40]
    assert used(plan_moves(cluster, BYTES)) == [50, 50]


def test_a_weight_is_a_share_of_the_bytes() -> None:
    cluster = cluster_of("--", [((1,), 10)] * 12)
    cluster.brokers = (BrokerSpec(1), BrokerSpec(2, weight=2))
    assert used(plan_moves(cluster, replace(BYTES, bytes_tolerance=0))) == [40, 80]


def test_added_brokers_get_bytes() -> None:
    cluster = cluster_of("--", [((1, 2), 10)] * 9)
    plan = plan_moves(cluster, Spec(add=(BrokerSpec(3),), balance_by="bytes", bytes_tolerance=0))
    assert used(plan) == [60, 60, 60]


def test_what_is_drained_goes_where_most_room_is() -> None:
    cluster = cluster_of("---", [((1,), 50), ((2,), 10), ((3,), 20), ((3,), 20)])
    plan = plan_moves(cluster, replace(BYTES, drain=(3,)))
    assert used(plan) == [50, 50, 0]
    assert (plan.proof, plan.moves, plan.bound) == ("partition", 2, 2)


def test_where_nothing_fits_one_replica_makes_way() -> None:
    # Broker 1 is 30 above its limit of 110; broker 2 has room for 50.
    cluster = cluster_of("--", [((1,), 70), ((1,), 70), ((2,), 25), ((2,), 35)])
    plan = plan_moves(cluster, replace(BYTES, leaders="keep"))
    assert used(plan) == [95, 105]
    assert [change.reasons for change in plan.changes] == [
        ("broker 1 holds more bytes than its limit",),
        ("broker 2 makes room for another",),
    ]


def test_what_makes_way_is_not_more_than_what_is_above() -> None:
    plan = plan_moves(cluster_of("--", [((1,), 70), ((1,), 70), ((2,), 60)]), replace(BYTES, leaders="keep"))
    assert (plan.changes, above(plan)) == ((), [(1, "room", None)])


def test_a_partition_greater_than_any_limit_stays_and_is_named() -> None:
    plan = plan_moves(cluster_of("---", [((1,), 100), ((1,), 10), ((2,), 5), ((3,), 5)]), BYTES)
    assert sorted(used(plan)) == [5, 15, 100]
    assert above(plan) == [(1, "partition", 0)]


def test_two_of_these_part_where_a_broker_is_empty() -> None:
    cluster = cluster_of("---", [((1,), 100), ((1,), 90), ((2,), 10)])
    plan = plan_moves(cluster, BYTES)
    assert sorted(used(plan)) == [10, 90, 100]
    assert above(plan) == [(1, "partition", 1), (3, "partition", 0)]
    assert again(cluster, BYTES, plan).changes == ()


def test_a_rack_that_must_hold_more_is_level_within_and_named() -> None:
    cluster = cluster_of("abbb", [((1, 2), 10)] * 9)
    plan = plan_moves(cluster, BYTES)
    assert used(plan)[0] == 90
    assert max(used(plan)[1:]) <= 49, "a tenth above 45"
    assert above(plan) == [(1, "racks", None)]


def test_what_a_dead_broker_holds_with_others_stays() -> None:
    cluster = cluster_of("---", [((1, 3), 100), ((1,), 10), ((2,), 10)], states="aaf")
    plan = plan_moves(cluster, BYTES)
    assert used(plan)[:2] == [100, 20]
    assert above(plan) == [(1, "stays", None)]


def test_what_an_excluded_broker_holds_does_not_count() -> None:
    cluster = cluster_of("---", [((1,), 10)] * 4 + [((3,), 100)], states="aax")
    assert used(plan_moves(cluster, BYTES)) == [20, 20, 100]


def test_leaders_are_spread_as_always() -> None:
    plan = plan_moves(cluster_of("--", [((1, 2), 10)] * 6), BYTES)
    assert (plan.moves, plan.leader_changes) == (0, 3)


# -- refusals ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        (replace(BYTES, bytes_tolerance=-0.1), "bytes_tolerance: -0.1 is not a fraction of 0 or more"),
        (replace(BYTES, bytes_tolerance=float("nan")), "bytes_tolerance: nan is not a fraction"),
        (replace(BYTES, bytes_tolerance=float("inf")), "bytes_tolerance: inf is not a fraction"),
        (replace(BYTES, balance_by="size"), "balance_by: 'size' is not one of replicas, bytes"),
        (Spec(drain=(1,), balance_by="bytes"), "balance_by: bytes says how brokers get their share, so it goes with"),
        (Spec(replication_factor={"t": 2}, balance_by="bytes"), "so it goes with rebalance or add"),
        (Spec(assignment=[("t", 0, (2,))], balance_by="bytes"), "so it goes with rebalance or add"),
        (replace(BYTES, replace={1: 2}), "cannot go with rebalance"),
    ],
)
def test_what_contradicts_itself_is_refused(spec: Spec, why: str) -> None:
    with pytest.raises(RefusedError) as error:
        plan_moves(cluster_of("---", [((1,), 10)]), spec)
    assert why in "\n".join(error.value.violations)


def test_sizes_that_are_not_known_are_refused() -> None:
    cluster = cluster_of("---", [((1,), 10), ((1,), 0), ((3,), 0)], states="aaf")
    with pytest.raises(RefusedError, match="needs the sizes of partitions, and none is known"):
        plan_moves(replace(cluster, sizes=None), BYTES)
    with pytest.raises(RefusedError, match=r"and 1 have none \(t-1\); take the snapshot with sizes: true"):
        plan_moves(replace(cluster, unsized=(1, 2)), BYTES)
    assert plan_moves(replace(cluster, unsized=(2,)), BYTES).moves == 0, "of what only dead brokers hold nobody knows"


# -- on any hash seed --------------------------------------------------------------------------------------------


def digest() -> str:
    """A digest of the plans of some clusters, reasons included."""
    seen = hashlib.sha256()
    for seed in range(90_000, 90_015):
        cluster, spec = drawn(seed, partitions=400)
        plan = planned(cluster, spec)
        seen.update(repr(plan and (plan.changes, plan.bytes)).encode())
    return seen.hexdigest()


def test_the_same_input_gives_the_same_plan_on_any_hash_seed() -> None:
    assert digests(__file__) == {digest()}
