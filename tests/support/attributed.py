# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is at fault in a cluster that looks the same in two looks: nobody catches up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.attribution import (
    Attribution,
    Look,
    attributions,
)
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Partition, Snapshot, ids_alive


def standing_still(partitions: Iterable[Partition], alive: Iterable[int]) -> tuple[Attribution, ...]:
    """Return who is at fault for replicas that do not change between two looks."""
    look = Look(tuple(partitions), frozenset(alive))
    return attributions(look, replace(look, at=2.0))


def at_fault(snapshot: Snapshot) -> tuple[Attribution, ...]:
    """Return who is at fault in a snapshot that looks the same a moment later."""
    return standing_still(snapshot.partitions, set(ids_alive(snapshot.brokers)) - set(snapshot.silent))
