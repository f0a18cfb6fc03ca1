# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What the loss of one rack, or site, would take from a cluster as it is now: voters, and partitions that take writes.

It goes by what is in sync and alive at this moment, so it holds while a broker is down and after replicas have moved.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Partition

#: How many partitions are named of those that would be lost.
_NAMED = 5


@dataclass(frozen=True)
class RackLoss:
    """What is left without a rack.

    ``brokers`` and ``voters`` are the ids in it. ``voters_left`` are the voters elsewhere that are alive, of which the
    quorum needs ``voters_needed``; with ZooKeeper, or where the quorum is unknown, both are None. ``refusing`` are the
    partitions that take acks=all now and would refuse it, ``leaderless`` those of them that would have no leader;
    ``names`` are some of them.
    """

    rack: str
    brokers: Sequence[int]
    voters: Sequence[int]
    voters_left: int | None
    voters_needed: int | None
    refusing: int
    leaderless: int
    names: Sequence[str]

    @property
    def keeps_quorum(self) -> bool:
        """Whether a majority of the voters is left, as far as the voters are known."""
        return self.voters_left is None or self.voters_needed is None or self.voters_left >= self.voters_needed

    @property
    def survives(self) -> bool:
        """Whether the cluster goes on without this rack."""
        return self.keeps_quorum and not self.refusing

    def as_dict(self) -> dict[str, Any]:
        """Return it as a module returns it."""
        return {**asdict(self), "survives": self.survives}


def rack_losses(
    racks: Mapping[int, str],
    brokers_alive: Collection[int],
    voters: Mapping[int, bool] | None,
    partitions: Iterable[Partition],
) -> list[RackLoss]:
    """Return what the loss of each rack would take, by name of the rack.

    A quorum that has no majority now, and a partition that refuses acks=all now, is not laid to a rack: it is lost
    already, and other findings say so.

    Args:
        racks: The rack of each broker and voter, as far as it is known. A node without one is lost with no rack.
        brokers_alive: The brokers that take part.
        voters: Whether each voter is alive; None where they are unknown, or there are none (ZooKeeper).
        partitions: With their min.insync.replicas; where these are unknown one replica is enough.
    """
    needed = None if voters is None else len(voters) // 2 + 1
    has_majority = voters is not None and needed is not None and sum(voters.values()) >= needed
    lost: dict[str, list[tuple[Partition, bool]]] = {}
    for one in partitions:
        in_sync = [broker for broker in one.isr if broker in brokers_alive]
        least = max(1, one.needed)
        if one.leader is None or len(in_sync) < least:
            continue
        # Only a rack that holds one of these can take the partition with it.
        for rack in {racks[broker] for broker in in_sync if broker in racks}:
            left = sum(racks.get(broker) != rack for broker in in_sync)
            if left < least:
                lost.setdefault(rack, []).append((one, left == 0))
    return [
        _loss(rack, racks, brokers_alive, voters if has_majority else None, needed if has_majority else None, lost)
        for rack in sorted(set(racks.values()))
    ]


def _loss(
    rack: str,
    racks: Mapping[int, str],
    brokers: Collection[int],
    voters: Mapping[int, bool] | None,
    needed: int | None,
    lost: Mapping[str, Sequence[tuple[Partition, bool]]],
) -> RackLoss:
    """Return what is left without one rack."""
    inside = sorted(node for node, its in racks.items() if its == rack)
    gone = lost.get(rack, ())
    return RackLoss(
        rack,
        [node for node in inside if node in brokers],
        [node for node in inside if node in (voters or {})],
        None if voters is None else sum(alive and racks.get(node) != rack for node, alive in voters.items()),
        needed,
        len(gone),
        sum(leaderless for _one, leaderless in gone),
        [f"{one.topic}-{one.index}" for one, _leaderless in gone[:_NAMED]],
    )
