"""Schedules: the fewest rounds, disks that never run full, throttles that let a move end."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.figures import plan_figures
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.model import BrokerSpec, Cluster, Plan, Spec
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.plan import plan_moves
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.schedule import Limits, Schedule, schedule
from tests.support.reassign_check import placement_after
from tests.support.reassign_clusters import random_cluster


def sized(cluster: Cluster, seed: int) -> Cluster:
    """The same cluster with sizes drawn from a seed."""
    draw = random.Random(seed)
    cluster.sizes = [draw.randint(1, 1_000_000) for _ in cluster.replicas]
    return cluster


def plan_of(seed: int, factor: bool = False) -> Plan:
    """A plan with moves: a broker drained, or one more replica for every partition."""
    cluster = sized(random_cluster(seed, 12, 150, dead=False), seed)
    if factor:
        return plan_moves(cluster, Spec(replication_factor=dict.fromkeys(cluster.topics, 5), rack_rule="even"))
    return plan_moves(cluster, Spec(drain=(cluster.brokers[0].id,), rack_rule="even"))


def judge(plan: Plan, found: Schedule, most: int, several: bool) -> None:
    """Everything once and in its order, no broker beyond its concurrency, peaks as they are when replayed."""
    batches = [batch.changes for batch in found.batches]
    listed = [change.partition for changes in batches for change in changes]
    assert sorted(listed) == [change.partition for change in plan.changes]
    sizes, used = plan.cluster, Counter[int]()
    for partition, brokers in enumerate(plan.cluster.replicas):
        used.update(dict.fromkeys(brokers, sizes.size(partition)))
    peaks = Counter(used)
    for changes in batches:
        gets = Counter(broker for change in changes for broker in change.added)
        sends = Counter(change.before[0] for change in changes for _broker in change.added)
        assert max(gets.values(), default=0) <= most
        if not several:
            assert max(sends.values(), default=0) <= most
        for change in changes:
            used.update(dict.fromkeys(change.added, sizes.size(change.partition)))
        peaks |= used
        for change in changes:
            used.subtract(dict.fromkeys(change.removed, sizes.size(change.partition)))
    assert {broker: most for broker, most in found.peaks.items() if most} == dict(+peaks)


@pytest.mark.parametrize("most", [1, 2, 5])
@pytest.mark.parametrize("seed", range(15))
def test_single_moves_take_the_fewest_rounds_that_there_can_be(seed: int, most: int) -> None:
    plan = plan_of(seed)
    if any(len(change.added) > 1 for change in plan.changes):
        pytest.fail("a drain of one broker moves one replica of a partition")
    found = schedule(plan, Limits(most))
    judge(plan, found, most, several=False)
    assert len([batch for batch in found.batches if batch.bytes]) == found.rounds_bound


@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize("seed", range(10))
def test_partitions_that_get_several_replicas_keep_the_concurrency(seed: int, most: int) -> None:
    plan = plan_of(seed, factor=True)
    found = schedule(plan, Limits(most))
    judge(plan, found, most, several=True)
    assert found.rounds_bound <= len(found.batches) <= 2 * found.rounds_bound + 1


def test_no_request_asks_for_more_than_the_controller_takes() -> None:
    count = 25_000
    replicas = [(1, 2)] * count
    cluster = Cluster((BrokerSpec(1), BrokerSpec(2)), ["t"], [0], [0] * count, list(range(count)), replicas)
    found = schedule(plan_moves(cluster, Spec(leaders="balance")), Limits())
    assert [len(batch.changes) for batch in found.batches] == [10_000, 2_500]


def swap_of(limits: tuple[int | None, ...], concurrency: int = 5) -> Schedule:
    """Brokers 1 and 2 exchange partitions of 60 and 40 bytes, under disk limits."""
    brokers = tuple(BrokerSpec(n + 1, disk_limit=limit) for n, limit in enumerate(limits))
    cluster = Cluster(brokers, ["t"], [0], [0, 0], [0, 1], [(1,), (2,)], sizes=[60, 40])
    plan = plan_moves(cluster, Spec(assignment=[("t", 0, (2,)), ("t", 1, (1,))]))
    return schedule(plan, Limits(concurrency))


def test_disks_decide_what_goes_first() -> None:
    assert [len(batch.changes) for batch in swap_of((None, None)).batches] == [2]
    tight = swap_of((60, 100))
    assert [[change.partition for change in batch.changes] for batch in tight.batches] == [[0], [1]]
    assert tight.peaks == {1: 60, 2: 100}


def test_disks_that_never_have_room_are_refused_before_anything_starts() -> None:
    with pytest.raises(RefusedError) as error:
        swap_of((99, 99))
    assert error.value.violations[0].startswith("broker 1: would hold 100 bytes with the next new replica")


def beside_a_move(
    coming: int | None, used: int | None = None, limit: int | None = 100
) -> tuple[Schedule, list[dict[str, Any]]]:
    """Broker 2 gets 50 bytes while a move under way brings it so many (None: not known); the figures of brokers too."""
    brokers = (BrokerSpec(1), BrokerSpec(2, disk_limit=limit, disk_used=used))
    unsized = (0,) if coming is None else ()
    sizes, on_its_way = [coming or 0, 50], {0: (2,)}
    cluster = Cluster(
        brokers, ["a", "b"], [0, 0], [0, 1], [0, 0], [(2,), (1,)], sizes=sizes, unsized=unsized, coming=on_its_way
    )
    plan = plan_moves(cluster, Spec(assignment=[("b", 0, (2,))]))
    return schedule(plan, Limits()), plan_figures(plan)["brokers"]


@pytest.mark.parametrize(("used", "most"), [(None, 90), (10, 100)])
def test_what_a_move_under_way_brings_is_counted_once(used: int | None, most: int) -> None:
    found, brokers = beside_a_move(40, used)
    assert found.peaks == {1: 50, 2: most}
    assert [broker["peak_bytes"] for broker in brokers] == [50, most]
    with pytest.raises(RefusedError, match=f"would hold {most} bytes .* its limit is {most - 1};"):
        beside_a_move(40, used, most - 1)


def test_a_peak_is_unknown_beside_a_move_of_unknown_size() -> None:
    brokers = beside_a_move(None, 10, None)[1]
    assert [(broker["bytes_in"], broker["peak_bytes"]) for broker in brokers] == [(0, 50), (50, None)]


@pytest.mark.parametrize("used", [None, 10])
def test_a_broker_with_a_limit_gets_nothing_beside_a_move_of_unknown_size(used: int | None) -> None:
    with pytest.raises(RefusedError, match=r"the sizes of 1 partitions \(a-0\) are not known.* broker 2 have a limit"):
        beside_a_move(None, used)


def moved(size: int, rate: float, throttle: int) -> Schedule:
    """Two partitions of a size move from broker 1 to broker 2, each written to at a rate."""
    cluster = Cluster(
        (BrokerSpec(1), BrokerSpec(2)), ["t"], [0], [0, 0], [0, 1], [(1,), (1,)], [1, 1], None, [size] * 2, [rate] * 2
    )
    return schedule(plan_moves(cluster, Spec(drain=(1,))), Limits(5, throttle))


def test_time_is_size_over_four_fifths_of_the_throttle_less_what_is_written_and_two_seconds_a_batch() -> None:
    assert moved(1000, 0, 100).seconds == 2 + 25
    assert moved(1000, 25, 100).seconds == 2 + 50


def test_a_throttle_not_above_the_writes_is_refused() -> None:
    with pytest.raises(RefusedError) as error:
        moved(1000, 100, 100)
    assert "throttle: 100 bytes/s is not above what is written" in error.value.violations[0]
    assert "raise it (kafka_resources_move_throttle) above 100" in error.value.violations[0]


def test_writes_beside_which_a_throttle_leaves_little_move_fewer_partitions_at_a_time() -> None:
    assert [len(batch.changes) for batch in moved(1000, 25, 100).batches] == [2]
    busy = moved(1000, 50, 100)
    assert [len(batch.changes) for batch in busy.batches] == [1, 1]
    assert busy.seconds == 2 * (2 + 25)
    assert [len(batch.changes) for batch in moved(1000, 99, 100).batches] == [1, 1]


def test_a_busy_cluster_is_rebalanced_under_the_throttle_that_nobody_asked_for() -> None:
    replicas = [(1, 2, 3), (2, 3, 1), (3, 1, 2)] * 8
    brokers = tuple(BrokerSpec(number) for number in (1, 2, 3, 4))
    numbers = list(range(24))
    sizes, rates = [1_000_000_000] * 24, [20_000_000.0] * 24
    cluster = Cluster(brokers, ["t"], [0], [0] * 24, numbers, replicas, sizes=sizes, write_rates=rates)
    found = schedule(plan_moves(cluster, Spec(rebalance=True)), Limits(5, 50_000_000))
    assert sum(len(batch.changes) for batch in found.batches) >= 18
    assert found.seconds is not None


def test_a_partition_without_leader_is_refused() -> None:
    cluster = Cluster((BrokerSpec(1), BrokerSpec(2)), ["t"], [0], [0], [0], [(1,)], [None])
    with pytest.raises(RefusedError) as error:
        schedule(plan_moves(cluster, Spec(drain=(1,))), Limits())
    assert "1 partitions (t-0) have no leader" in error.value.violations[0]


def test_limits_that_make_no_sense_are_refused() -> None:
    with pytest.raises(RefusedError) as error:
        schedule(plan_of(1), Limits(0, 0))
    assert len(error.value.violations) == 2


def test_what_is_scheduled_is_what_was_planned() -> None:
    plan = plan_of(3)
    after = list(plan.cluster.replicas)
    for batch in schedule(plan, Limits(2)).batches:
        for change in batch.changes:
            after[change.partition] = change.after
    assert after == placement_after(plan)
