# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans keep the replicas that are in sync, and never drop the last one."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.forced import too_thin
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.model import BrokerSpec, Cluster, Spec
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.plan import plan_moves


def one(
    replicas: tuple[int, ...], isr: tuple[int, ...], least: int = 1, racks: str = "", dead: tuple[int, ...] = ()
) -> Cluster:
    """Partition t-0 among brokers 1 to 4."""
    brokers = tuple(
        BrokerSpec(n, racks[n - 1] if racks else None, "dead" if n in dead else "alive") for n in (1, 2, 3, 4)
    )
    return Cluster(brokers, ["t"], [least], [0], [0], [replicas], [isr[0] if isr else None], [isr])


def after(cluster: Cluster, spec: Spec) -> tuple[int, ...]:
    """Where t-0 is when a plan is done."""
    changes = plan_moves(cluster, spec).changes
    return changes[0].after if changes else cluster.replicas[0]


def refused(cluster: Cluster, spec: Spec) -> str:
    """Why a spec is refused."""
    with pytest.raises(RefusedError) as error:
        plan_moves(cluster, spec)
    return "\n".join(error.value.violations)


def factor(count: int, **spec: object) -> Spec:
    """Another replication factor for t."""
    return Spec(replication_factor={"t": count}, **spec)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("replicas", "isr", "least", "count", "kept"),
    [
        ((1, 2, 3), (1, 3), 2, 2, {1, 3}),
        ((1, 2), (2,), 1, 1, {2}),
        ((1, 2, 3), (3,), 1, 1, {3}),
        ((1, 2, 3, 4), (2, 4), 2, 2, {2, 4}),
    ],
)
def test_fewer_replicas_are_those_in_sync(
    replicas: tuple[int, ...], isr: tuple[int, ...], least: int, count: int, kept: set[int]
) -> None:
    assert set(after(one(replicas, isr, least), factor(count))) == kept


def test_what_was_dropped_for_being_behind_does_not_come_back_to_even_brokers_out() -> None:
    brokers = tuple(BrokerSpec(n) for n in (1, 2, 3))
    # Brokers 1 and 3 hold much more than broker 2, which is behind with every partition.
    replicas = [(1, 2, 3)] * 6 + [(1, 3)] * 6
    cluster = Cluster(
        brokers, ["t", "u"], [1, 1], [0] * 6 + [1] * 6, [*range(6), *range(6)], replicas, None, [(1, 3)] * 12
    )
    plan = plan_moves(cluster, factor(2))
    assert [set(change.after) for change in plan.changes] == [{1, 3}] * 6
    rebalanced = plan_moves(cluster, factor(2, rebalance=True))
    for change in rebalanced.changes:
        assert len({1, 3}.intersection(change.after)) + len(change.added) >= 2


def test_racks_go_before_and_what_that_would_cost_is_refused() -> None:
    # In two racks there must be one of each: broker 3 is behind and stays, so 1 or 2 would go.
    cluster = one((1, 2, 3), (1, 2), 2, racks="aabb")
    said = refused(cluster, factor(2))
    assert "t-0: its replicas [1, 2, 3] would become" in said
    assert "fewer would be left in sync than min.insync.replicas 2 asks for" in said
    assert set(after(cluster, factor(2, rack_rule="none"))) == {1, 2}


def test_a_drain_that_leaves_only_what_is_behind_is_refused() -> None:
    said = refused(one((1, 2), (1,)), factor(1, drain=(1,)))
    assert "t-0: its replicas [1, 2] would become [2] while [1] are in sync: the last in-sync replica" in said


@pytest.mark.parametrize(
    "spec", [Spec(drain=(2,)), Spec(replace={2: 3}), Spec(assignment=[("t", 0, (1, 4))]), Spec(rebalance=True)]
)
def test_who_is_copied_before_it_goes_may_go_in_sync_or_not(spec: Spec) -> None:
    assert len(after(one((1, 2), (2,)), spec)) == 2


def test_an_assignment_that_drops_the_last_one_in_sync_is_refused() -> None:
    cluster, spec = one((1, 2), (2,)), factor(1, assignment=[("t", 0, (1,))])
    with pytest.raises(RefusedError):
        plan_moves(cluster, spec)
    assert too_thin((1, 2), (1,), (2,), 1) is not None
    assert too_thin((1, 2), (1, 3), (2,), 1) is None
    assert too_thin((1, 2, 3), (1, 3), (1, 3), 2) is None
    assert too_thin((1, 2, 3), (1, 2), (1, 3), 2) is not None
    assert too_thin((1, 2, 3), (1, 2), (1,), 2) is None, "it was below before, and is no worse"
    assert too_thin((1, 2), (1,), (), 0) is not None, "nobody knows which one has everything"


def test_a_lower_factor_drops_what_is_on_a_dead_broker() -> None:
    assert set(after(one((1, 2, 3), (1, 3), 2, dead=(2,)), factor(2))) == {1, 3}
    assert set(after(one((1, 2, 3), (1, 2, 3), 2, dead=(2,)), factor(2))) == {1, 3}
    assert "on a broker that is not alive (2)" in refused(one((1, 2), (1, 2), dead=(2,)), factor(3))
    assert "on a broker that is not alive (2)" in refused(one((1, 2), (2,), dead=(2,)), factor(1))


def test_of_many_the_first_are_told_and_the_others_counted() -> None:
    count = 30
    cluster = Cluster(
        (BrokerSpec(1), BrokerSpec(2), BrokerSpec(3)),
        ["t"],
        [1],
        [0] * count,
        list(range(count)),
        [(1, 2)] * count,
        None,
        [(1,)] * count,
    )
    said = refused(cluster, factor(1, drain=(1,)))
    assert said.count("the last in-sync replica would be dropped") == 10
    assert "the same holds for 20 more partitions (t-10" in said
