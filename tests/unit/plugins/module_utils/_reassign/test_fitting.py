# SPDX-License-Identifier: GPL-3.0-or-later
"""Drains where disks are nearly full: refused only where no choice of brokers has room, by trying every choice."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.model import BrokerSpec, Cluster, Spec
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.schedule import Limits, plan_and_schedule
from tests.support.reassign_check import placement_after, rack_bounds

CHUNK = 300


def nearly_full(seed: int) -> tuple[Cluster, Spec]:
    """3 to 6 brokers with little room or much, of which one is to be emptied."""
    draw = random.Random(seed)
    count, racks = draw.randint(3, 6), draw.choice([0, 0, 2, 3])
    replicas = [
        tuple(draw.sample(range(count), draw.randint(1, min(3, count - 1)))) for _partition in range(draw.randint(1, 7))
    ]
    sizes = [draw.choice([0, 1, 2, 3, 5, 8]) for _partition in replicas]
    brokers = []
    for number in range(count):
        held = sum(size for size, brokers_of in zip(sizes, replicas, strict=True) if number in brokers_of)
        limit = None if draw.random() < 0.1 else held + draw.choice([0, 1, 2, 4, 6, 9])
        brokers.append(BrokerSpec(number, f"rack{number % racks}" if racks else None, disk_limit=limit))
    topics = [f"t{number}" for number in range(len(replicas))]
    cluster = Cluster(
        tuple(brokers), topics, [0] * len(topics), [*range(len(topics))], [0] * len(topics), replicas, sizes=sizes
    )
    return cluster, Spec(drain=(draw.randrange(count),), rack_rule=draw.choice(["strict", "even", "none"]))


def choices(cluster: Cluster, spec: Spec, partition: int) -> list[int]:
    """Who may take the replica of the drained broker, as far as racks go."""
    (drained,) = spec.drain
    had = cluster.replicas[partition]
    rack = {broker.id: broker.rack or "" for broker in cluster.brokers}
    takers = [b for b in rack if b != drained]
    sizes = Counter(rack[b] for b in takers)
    rule = spec.rack_rule if any(rack.values()) else "none"
    low, high = rack_bounds(rule, len(had), sizes)
    kept = Counter(rack[b] for b in had if b != drained)
    found = [b for b in takers if b not in had and (rule == "none" or kept[rack[b]] < high)]
    found = [b for b in found if kept[rack[b]] < min(low, sizes[rack[b]])] or found
    if rule == "strict":
        least = min(len({rack[b] for b in had}), len(had))
        found = [b for b in found if len({*kept, rack[b]}) >= least]
    return found


def possible(cluster: Cluster, spec: Spec) -> bool:
    """Whether any choice of brokers leaves every disk within its limit. Nothing leaves those that receive."""
    assert cluster.sizes is not None
    sizes = cluster.sizes
    moving = [p for p, brokers in enumerate(cluster.replicas) if spec.drain[0] in brokers]
    free = {
        b.id: b.disk_limit - sum(size for size, brokers in zip(sizes, cluster.replicas, strict=True) if b.id in brokers)
        for b in cluster.brokers
        if b.disk_limit is not None
    }
    for chosen in itertools.product(*(choices(cluster, spec, p) for p in moving)):
        coming: Counter[int] = Counter()
        for p, broker in zip(moving, chosen, strict=True):
            coming[broker] += sizes[p]
        if all(not size or size <= free.get(broker, size) for broker, size in coming.items()):
            return True
    return False


@pytest.mark.parametrize("chunk", range(10))
def test_a_drain_is_refused_only_where_no_choice_of_brokers_has_room(chunk: int) -> None:
    seen: Counter[bool] = Counter()
    for seed in range(chunk * CHUNK, (chunk + 1) * CHUNK):
        cluster, spec = nearly_full(seed)
        can = possible(cluster, spec)
        try:
            plan, order = plan_and_schedule(cluster, spec, Limits())
        except RefusedError:
            assert not can, seed
            seen[False] += 1
            continue
        assert can, seed
        seen[True] += 1
        limits = {broker.id: broker.disk_limit for broker in cluster.brokers}
        for broker, peak in order.peaks.items():
            assert limits[broker] is None or peak <= limits[broker], seed
        after = placement_after(plan)
        for p, brokers in enumerate(cluster.replicas):
            assert set(after[p]) - set(brokers) <= set(choices(cluster, spec, p)), seed
            assert len(set(after[p]) - set(brokers)) == (spec.drain[0] in brokers), seed
    assert min(seen[True], seen[False]) > CHUNK * 0.1
