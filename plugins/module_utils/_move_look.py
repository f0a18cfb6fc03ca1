# Private to this collection.
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks at moves on the cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ansible_collections.streamops.kafka.plugins.module_utils._errors import RequestFailedError
from ansible_collections.streamops.kafka.plugins.module_utils._move_step import Look, Standing
from ansible_collections.streamops.kafka.plugins.module_utils._moving import Key
from ansible_collections.streamops.kafka.plugins.module_utils._snapshot import ids_alive

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ansible_collections.streamops.kafka.plugins.module_utils._partitions import PartitionAdmin


def look_at(admin: PartitionAdmin) -> Look:
    """The cluster now. Moves before partitions: one that ends in between shows as both ended and under way, which
    costs another look; the other order could show neither."""
    flying = admin.in_flight()
    partitions = {(p.topic, p.index): p for found in admin.topics().values() for p in found}
    return Look(partitions, flying, frozenset(ids_alive(admin.brokers())))


def copied_bytes(admin: PartitionAdmin, standing: Standing, look: Look) -> dict[int, Mapping[Key, int]]:
    """By broker the bytes of the new replicas of what is moving; a broker that does not tell costs the figure only."""
    wanted: dict[int, dict[str, list[int]]] = {}
    for row in standing.moving:
        for broker in look.in_flight[row.key].adding & look.alive:
            wanted.setdefault(broker, {}).setdefault(row.topic, []).append(row.index)
    found: dict[int, Mapping[Key, int]] = {}
    for broker, partitions in wanted.items():
        try:
            found[broker] = admin.replica_sizes(broker, partitions)
        except RequestFailedError:
            continue
    return found
