# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Which partitions need an election, preferred or unclean, and whether it has happened. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from .._cluster.snapshot import Partition

#: Partitions of the largest step. Few clients at a time have to find a new leader so; and a broker that gets thousands
#: of leaders at once answers nothing meanwhile.
LARGEST_STEP = 256


@dataclass(frozen=True)
class Plan:
    """C(elect): what needs an election. C(not_in_sync): its preferred replica cannot lead yet. C(unknown): no such.

    C(unclean): any leader will do, where a preferred election wants the first replica (KIP-460).
    """

    elect: tuple[Partition, ...]
    not_in_sync: tuple[Partition, ...] = ()
    unknown: tuple[tuple[str, int], ...] = ()
    unclean: bool = False

    def is_led(self, partition: Partition, leader: int | None) -> bool:
        """Tell whether this leader is what the election was for."""
        return leader is not None if self.unclean else leader == partition.replicas[0]


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


def plan_unclean(partitions: Iterable[Partition], wanted: Iterable[tuple[str, int]]) -> Plan:
    """Return the C(wanted) partitions without a leader; no others are ever elected unclean, since that loses data."""
    known = {(p.topic, p.index): p for p in partitions}
    asked = sorted(set(wanted))
    return Plan(
        elect=tuple(known[key] for key in asked if key in known and known[key].leader is None),
        unknown=tuple(key for key in asked if key not in known),
        unclean=True,
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
    """Return the planned partitions that are not led as planned, but for those that C(failed)."""
    return [
        f"{p.topic}-{p.index}" + ("" if planned.unclean else f" on broker {p.replicas[0]}")
        for p in planned.elect
        if (p.topic, p.index) not in failed and not planned.is_led(p, leaders.get((p.topic, p.index)))
    ]


def steps(partitions: Sequence[Partition], growing: bool) -> list[list[Partition]]:
    """Return what to elect together: all at once, or 1, 2, 4, ... up to LARGEST_STEP partitions, in their order."""
    if not growing:
        return [list(partitions)] if partitions else []
    found, begin, size = [], 0, 1
    while begin < len(partitions):
        found.append(list(partitions[begin : begin + size]))
        begin, size = begin + size, min(2 * size, LARGEST_STEP)
    return found


def listed(partitions: Iterable[Partition]) -> list[dict[str, Any]]:
    """Return partitions for a module's result."""
    return [
        {"topic": p.topic, "partition": p.index, "leader": p.leader, "preferred": p.replicas[0], "isr": list(p.isr)}
        for p in partitions
    ]
