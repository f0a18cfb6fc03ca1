# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Where new partitions of a topic go so that every live broker is the preferred leader of at least one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

Replicas = tuple[int, ...]


def placement(
    held: Sequence[Sequence[int]], racks: Mapping[int, str | None], factor: int, total: int
) -> tuple[Replicas, ...]:
    """Return the replicas of the partitions to add, the preferred leader first.

    C(held) are the replicas of the partitions that exist, C(racks) the live brokers with their racks. The topic gets
    C(total) partitions, or more where brokers would still lead none. Nothing is returned when there are fewer live
    brokers than C(factor): then no partition can be placed.
    """
    if factor < 1 or len(racks) < factor:
        return ()
    leads = Counter(replicas[0] for replicas in held if replicas)
    holds = Counter(broker for replicas in held for broker in replicas)
    idle = sum(not leads[broker] for broker in racks)
    added = []
    for _partition in range(max(total - len(held), idle)):
        replicas = [min(racks, key=lambda broker: (leads[broker], holds[broker], broker))]
        while len(replicas) < factor:
            replicas.append(_follower(replicas, racks, holds))
        leads[replicas[0]] += 1
        holds.update(replicas)
        added.append(tuple(replicas))
    return tuple(added)


def _follower(replicas: Sequence[int], racks: Mapping[int, str | None], holds: Mapping[int, int]) -> int:
    """The broker that takes the next replica: another rack first, then who holds least of the topic."""
    used = Counter(racks[broker] for broker in replicas)
    free = (broker for broker in racks if broker not in replicas)
    return min(free, key=lambda broker: (used[racks[broker]], holds[broker], broker))
