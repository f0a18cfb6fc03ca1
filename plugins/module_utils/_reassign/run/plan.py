# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""A plan from the cluster as it is now, with the rates at which what moves is written, measured."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import end_offsets, replica_sizes
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.moving import Key
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.model import Plan
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.record import Row
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.report import decided
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.look import snapshot_now
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.schedule import Schedule


def plan_now(session: Session, params: Mapping[str, Any]) -> tuple[Plan, Schedule]:
    """The plan and its schedule; raises RefusedError with every reason when it cannot be made.

    With a throttle, what is written to the partitions that move is measured over C(sample_seconds) first: a throttle
    that is not above it is refused, and the duration counts it.
    """
    snapshot = snapshot_now(session)
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
        first = _sample(session, leaders)
        time.sleep(params["sample_seconds"])
        snapshot = with_rates(snapshot, write_rates(first, _sample(session, leaders)))
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


def _sample(session: Session, leaders: Mapping[Key, int | None]) -> Sample:
    by_leader: dict[int, dict[str, list[int]]] = {}
    for (topic, index), leader in leaders.items():
        if leader is not None:
            by_leader.setdefault(leader, {}).setdefault(topic, []).append(index)
    sizes: dict[Key, int] = {}
    for leader, partitions in by_leader.items():
        sizes.update(replica_sizes(session, leader, partitions))
    return Sample(time.monotonic(), end_offsets(session, leaders), sizes)


# -- how fast partitions are written, from two looks at where their logs end and how big they are ----------------


@dataclass(frozen=True)
class Sample:
    """One look: log end offsets and bytes of the leaders' logs by partition, and when it was taken, in seconds."""

    at: float
    offsets: Mapping[Key, int]
    sizes: Mapping[Key, int]


def write_rates(first: Sample, second: Sample) -> dict[Key, float]:
    """Bytes a second that each partition grows by, of those that both looks know.

    Sizes alone would miss what retention deletes meanwhile, offsets alone do not tell bytes: a log that has got
    records and not grown is taken to have records of its mean size.
    """
    seconds = second.at - first.at
    found = {}
    for key, end in second.offsets.items():
        if key not in first.offsets or seconds <= 0:
            continue
        records = end - first.offsets[key]
        size = second.sizes.get(key, 0)
        grown = size - first.sizes.get(key, size)
        if records <= 0:
            grown = 0
        elif grown <= 0:
            grown = round(records * size / end)
        found[key] = grown / seconds
    return found


def with_rates(snapshot: Mapping[str, Any], rates: Mapping[Key, float]) -> dict[str, Any]:
    """A snapshot as cluster_info returns it, with the rates of partitions put in."""
    topics = [
        {
            **topic,
            "partitions": [
                {**one, "write_rate": rates[topic["name"], one["partition"]]}
                if (topic["name"], one["partition"]) in rates
                else one
                for one in topic["partitions"]
            ],
        }
        for topic in snapshot["topics"]
    ]
    return {**snapshot, "topics": topics}
