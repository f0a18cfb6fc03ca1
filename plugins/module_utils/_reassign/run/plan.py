# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""A plan from the cluster as it is now, with the rates at which what moves is written, measured."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.moving import Key
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.look import snapshot_now
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.model import Plan
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.record import Row
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.report import decided
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.rates import Sample, with_rates, write_rates
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.schedule import Schedule

if TYPE_CHECKING:
    from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import PartitionAdmin


def plan_now(admin: PartitionAdmin, params: Mapping[str, Any]) -> tuple[Plan, Schedule]:
    """The plan and its schedule; raises RefusedError with every reason when it cannot be made.

    With a throttle, what is written to the partitions that move is measured over C(sample_seconds) first: a throttle
    that is not above it is refused, and the duration counts it.
    """
    snapshot = snapshot_now(admin)
    plan, order = decided(snapshot, {**params, "throttle": None}, registered_only=True)
    if not params["throttle"]:
        return plan, order
    cluster = plan.cluster
    moving = {
        (cluster.topics[cluster.topic_of[change.partition]], cluster.numbers[change.partition]): change.partition
        for change in plan.changes
        if change.added
    }
    if moving and params["sample_seconds"]:
        leaders = {key: (cluster.leaders or ())[partition] for key, partition in moving.items()}
        first = _sample(admin, leaders)
        time.sleep(params["sample_seconds"])
        snapshot = with_rates(snapshot, write_rates(first, _sample(admin, leaders)))
    return decided(snapshot, params, registered_only=True)


def rows_of(plan: Plan, order: Schedule) -> tuple[tuple[Row, ...], ...]:
    """The batches of a schedule as the record keeps them."""
    cluster = plan.cluster
    return tuple(
        tuple(
            Row(
                cluster.topics[cluster.topic_of[change.partition]],
                cluster.numbers[change.partition],
                change.after,
                cluster.size(change.partition),
                len(change.added),
            )
            for change in batch.changes
        )
        for batch in order.batches
    )


def _sample(admin: PartitionAdmin, leaders: Mapping[Key, int | None]) -> Sample:
    by_leader: dict[int, dict[str, list[int]]] = {}
    for (topic, index), leader in leaders.items():
        if leader is not None:
            by_leader.setdefault(leader, {}).setdefault(topic, []).append(index)
    sizes: dict[Key, int] = {}
    for leader, partitions in by_leader.items():
        sizes.update(admin.replica_sizes(leader, partitions))
    return Sample(time.monotonic(), admin.end_offsets(leaders), sizes)
