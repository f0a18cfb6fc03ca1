# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Which partitions need a preferred election, and whether it has happened. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Partition


@dataclass(frozen=True)
class Plan:
    """C(elect): preferred replica in sync and not leading. C(not_in_sync): it cannot lead yet. C(unknown): no such."""

    elect: tuple[Partition, ...]
    not_in_sync: tuple[Partition, ...]
    unknown: tuple[tuple[str, int], ...] = ()


def plan(
    partitions: Iterable[Partition], broker: int | None = None, wanted: Iterable[tuple[str, int]] | None = None
) -> Plan:
    """Return what to elect among all partitions, those that prefer C(broker), or the C(wanted) ones."""
    known = {(p.topic, p.index): p for p in partitions}
    asked = sorted(known) if wanted is None else sorted(set(wanted))
    away = [
        known[key]
        for key in asked
        if key in known
        and known[key].leader != known[key].replicas[0]
        and (broker is None or known[key].replicas[0] == broker)
    ]
    return Plan(
        elect=tuple(p for p in away if p.replicas[0] in p.isr),
        not_in_sync=tuple(p for p in away if p.replicas[0] not in p.isr),
        unknown=tuple(key for key in asked if key not in known),
    )


def unknown_broker(partitions: Iterable[Partition], registered: Iterable[int], broker: int | None) -> list[str]:
    """Return what speaks against a broker: it is neither registered nor holds a replica. Before Kafka 4.0 a broker that
    is down shows by its replicas only."""
    known = {*registered, *(replica for partition in partitions for replica in partition.replicas)}
    if broker is None or broker in known:
        return []
    listed = ", ".join(map(str, sorted(known))) or "none"
    return [f"broker {broker} is no broker of this cluster; there are {listed}. Correct the id."]


def unled(
    planned: Plan, failed: Container[tuple[str, int]], leaders: Mapping[tuple[str, int], int | None]
) -> list[str]:
    """Return the planned partitions that their preferred replica does not lead, but for those that C(failed)."""
    return [
        f"{p.topic}-{p.index} on broker {p.replicas[0]}"
        for p in planned.elect
        if (p.topic, p.index) not in failed and leaders.get((p.topic, p.index)) != p.replicas[0]
    ]


def listed(partitions: Iterable[Partition]) -> list[dict[str, Any]]:
    """Return partitions for a module's result."""
    return [
        {"topic": p.topic, "partition": p.index, "leader": p.leader, "preferred": p.replicas[0], "isr": list(p.isr)}
        for p in partitions
    ]
