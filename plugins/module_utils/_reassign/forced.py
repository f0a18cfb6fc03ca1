# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a wish makes each partition give up and get by itself: never one move more than that partition needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heapreplace

from ansible_collections.streamops.kafka.plugins.module_utils._reassign.racks import Racks, bits
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.state import Placement


@dataclass
class Demands:
    """What is asked of partitions. Brokers are numbers, C(wanted) is the number of replicas where it changes.

    C(leaving): a set of brokers that shall hold nothing. C(replaced): who takes whose place. C(racks): whether every
    partition must keep the rack rule; otherwise it only gets no worse. C(lagging): by partition the brokers whose
    replica is not in sync.
    """

    leaving: int = 0
    replaced: Mapping[int, int] = field(default_factory=dict)
    wanted: Mapping[int, int] = field(default_factory=dict)
    racks: bool = False
    lagging: Mapping[int, int] = field(default_factory=dict)


def asked(placement: Placement, demands: Demands) -> list[int]:
    """The partitions that must change, in order, fixed ones too."""
    found = set(demands.wanted)
    gone = demands.leaving
    for broker in demands.replaced:
        gone |= 1 << broker
    if gone:
        found.update(p for p, brokers in enumerate(placement.had) if any(gone >> b & 1 for b in brokers))
    racks = placement.racks
    if demands.racks and racks.rule != "none":
        rack_of = racks.rack_of
        for partition, brokers in enumerate(placement.had):
            # Most partitions are in as many racks as they have replicas: no rule asks for more.
            if len({rack_of[broker] for broker in brokers}) < len(brokers) and racks.surplus(brokers, len(brokers)):
                found.add(partition)
    return sorted(found)


def release(placement: Placement, demands: Demands, partition: int, loads: Sequence[int]) -> int:
    """Take away from a partition what it must give up; how many replicas it must get then.

    C(loads): by broker what it has too much of, where any of some replicas may go.
    """
    members = list(placement.at(partition))
    wanted = demands.wanted.get(partition, len(members))
    for broker in members[:]:
        if broker in demands.replaced:
            placement.swap(partition, broker, demands.replaced[broker])
            placement.pinned.add(partition)
        elif demands.leaving >> broker & 1:
            placement.drop(partition, broker)
    _trim(placement, partition, wanted, demands, loads)
    return max(0, wanted - len(placement.at(partition)))


def _trim(placement: Placement, partition: int, wanted: int, demands: Demands, loads: Sequence[int]) -> None:
    """Drop what is more than the rack rule allows (when it must be kept) and more than is wanted.

    Replicas that are not in sync go first, as far as the rack rule lets them, and do not come back.
    """
    racks, keep_rule = placement.racks, demands.racks
    lagging = demands.lagging.get(partition, 0)
    low, high = racks.bounds(wanted)
    while True:
        members = placement.at(partition)
        counts = racks.counts(members)
        # A broker that takes nothing keeps what it has, as long as there is another to choose.
        movable = [broker for broker in members if racks.receive >> broker & 1]
        crowded = [b for b in movable if keep_rule and counts[racks.rack_of[b]] > high]
        missing = sum(1 for rack in range(racks.count) if racks.sizes[rack] and not counts.get(rack)) if low else 0
        surplus = len(members) - wanted + (missing if keep_rule else 0)
        if not crowded and surplus <= 0:
            return
        spare = crowded
        late = [broker for broker in members if lagging >> broker & 1]
        for some in ([*late, *movable], members):
            # No rack loses its only one as long as another can be dropped.
            spare = spare or [b for b in some if racks.rule == "none" or counts[racks.rack_of[b]] > 1]
        dropped = _least_missed(placement, partition, spare or late or movable or members, loads, lagging)
        placement.drop(partition, dropped)
        if lagging >> dropped & 1:
            placement.barred[partition] = placement.barred.get(partition, 0) | 1 << dropped


def _least_missed(
    placement: Placement, partition: int, spare: Sequence[int], loads: Sequence[int], lagging: int
) -> int:
    """Whom to drop: who is not in sync, one of the fullest racks of this partition, not the leader, the broker with
    most load."""
    leader = placement.had[partition][0]
    counts = placement.racks.counts(placement.at(partition))
    rack_of = placement.racks.rack_of
    return max(
        spare,
        key=lambda b: (
            lagging >> b & 1,
            b != leader,
            counts[rack_of[b]] if placement.racks.rule != "none" else 0,
            loads[b],
            b,
        ),
    )


class Givers:
    """Who gets one more replica: the broker farthest below its target of those that the rack rule allows."""

    def __init__(self, placement: Placement, targets: Mapping[int, int] | None) -> None:
        self.placement = placement
        self.targets = targets or {}
        racks = placement.racks
        self.queues = []
        for rack in range(racks.count):
            queue = [(self._load(broker), broker) for broker in bits(racks.members[rack] & racks.receive)]
            heapify(queue)
            self.queues.append(queue)

    def _load(self, broker: int) -> int:
        return self.placement.loads[broker] - self.targets.get(broker, 0)

    def fill(self, partition: int, count: int) -> bool:
        """Give a partition so many replicas more; whether there are brokers for them."""
        wanted = len(self.placement.at(partition)) + count
        for _ in range(count):
            broker = self._best(partition, wanted)
            if broker is None:
                return False
            self.placement.add(partition, broker)
        return True

    def _best(self, partition: int, wanted: int) -> int | None:
        racks = self.placement.racks
        members = self.placement.at(partition)
        low, _high = racks.bounds(wanted)
        room = racks.room(members, -1, wanted)
        if low:
            counts = racks.counts(members)
            missing = _union(racks, (rack for rack in range(racks.count) if not counts.get(rack)))
            room = room & missing or room
        heads = [self._head(rack, room) for rack in range(racks.count) if room & racks.members[rack]]
        return min(heads)[1] if heads else None

    def _head(self, rack: int, room: int) -> tuple[int, int]:
        """The least loaded broker of a rack that is in a set; loads in the queue are brought up to date on the way."""
        queue = self.queues[rack]
        while queue[0][0] != self._load(queue[0][1]):
            heapreplace(queue, (self._load(queue[0][1]), queue[0][1]))
        if room >> queue[0][1] & 1:
            return queue[0]
        return min((self._load(broker), broker) for broker in bits(room & self.placement.racks.members[rack]))


def _union(racks: Racks, chosen: Iterable[int]) -> int:
    mask = 0
    for rack in chosen:
        mask |= racks.members[rack]
    return mask
