# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a partition gives up and gets by itself: what a spec demands of it, and what in-sync replicas allow.

Never one move more than the partition needs, and never its last in-sync replica. New replicas count as in sync, since
Kafka takes old ones away only when all new ones are. A change that takes away more than it adds can leave fewer of them
than before, so it must leave as many as min.insync.replicas asks for, or as many as there were.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from heapq import heapify, heapreplace

from .._cluster.snapshot import Key, effective_min_isr
from .model import Change, Cluster
from .racks import Racks, bits
from .record import Look, Row
from .spec import shown
from .state import Placement


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
    gone = {*bits(demands.leaving), *demands.replaced}
    if gone:
        found.update(p for p, brokers in enumerate(placement.had) if not gone.isdisjoint(brokers))
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

    Replicas that are not in sync go first, as far as the rack rule lets them. Where more are taken away than added they
    do not come back; otherwise each that comes back takes the place of a new one, and nothing is lost (C(too_thin)).
    """
    racks, keep_rule = placement.racks, demands.racks
    lagging = demands.lagging.get(partition, 0)
    barring = lagging if wanted < len(placement.had[partition]) else 0
    least = racks.least(wanted)
    while True:
        members = placement.at(partition)
        counts = racks.counts(members)
        # A broker that takes nothing keeps what it has, as long as there is another to choose.
        movable = [broker for broker in members if racks.receive >> broker & 1]
        spare = _against_the_rule(racks, movable, counts, wanted) if keep_rule else []
        if not spare and len(members) <= wanted:
            return
        late = [broker for broker in members if barring >> broker & 1]
        for some in ([*late, *movable], members):
            # No rack loses what it must hold, or its only one, as long as another can be dropped.
            spare = spare or [b for b in some if racks.rule == "none" or _can_spare(racks, least, counts, b)]
        dropped = _least_missed(placement, partition, spare or late or movable or members, loads, lagging)
        placement.drop(partition, dropped)
        if barring >> dropped & 1:
            placement.barred[partition] = placement.barred.get(partition, 0) | 1 << dropped


def _against_the_rule(racks: Racks, movable: Sequence[int], counts: Mapping[int, int], wanted: int) -> list[int]:
    """The brokers of which one must go by the rack rule: in racks that hold too much, or more than they must while
    others lack more than is to come; C(counts) is what racks hold."""
    high, least = racks.bounds(wanted)[1], racks.least(wanted)
    crowded = [b for b in movable if counts[racks.rack_of[b]] > high]
    if crowded or sum(racks.lacking(counts, wanted).values()) <= wanted - sum(counts.values()):
        return crowded
    return [b for b in movable if counts[racks.rack_of[b]] > least[racks.rack_of[b]]]


def _can_spare(racks: Racks, least: Sequence[int], counts: Mapping[int, int], broker: int) -> bool:
    """Return whether a broker's rack keeps another replica, and as many as it must hold, without the one there."""
    rack = racks.rack_of[broker]
    return counts[rack] > max(1, least[rack])


def _least_missed(
    placement: Placement, partition: int, spare: Sequence[int], loads: Sequence[int], lagging: int
) -> int:
    """Say whom to drop: who is not in sync, one of the fullest racks of this partition, not the leader, the broker with
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
        for _copy in range(count):
            broker = self._best(partition, wanted)
            if broker is None:
                return False
            self.placement.add(partition, broker)
        return True

    def _best(self, partition: int, wanted: int) -> int | None:
        racks = self.placement.racks
        room = self.placement.openings(partition, wanted)
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


def too_thin(before: Sequence[int], after: Sequence[int], isr: Collection[int], min_insync: int) -> str | None:
    """Say why a partition must not go from these replicas to those while only C(isr) are in sync; None where it may.

    C(min_insync) is 0 where it is not known.
    """
    added = [broker for broker in after if broker not in before]
    removed = [broker for broker in before if broker not in after]
    if len(removed) <= len(added):
        return None
    kept = [broker for broker in after if broker in isr or broker in added]
    said = f"its replicas {list(before)} would become {list(after)} while {sorted(isr) or 'none'} are in sync"
    if not kept:
        return f"{said}: the last in-sync replica would be dropped"
    if len(kept) < min(len(isr), effective_min_isr(max(1, min_insync), len(after))):
        return f"{said}: fewer would be left in sync than min.insync.replicas {min_insync} asks for"
    return None


def thin_changes(cluster: Cluster, changes: Iterable[Change]) -> list[str]:
    """The changes that must not be made as long as no more replicas are in sync, each in a sentence."""
    if cluster.isr is None:
        return []
    found, named = [], []
    for change in changes:
        isr = cluster.isr[change.partition]
        least = cluster.min_insync[cluster.topic_of[change.partition]]
        why = too_thin(change.before, change.after, isr, least)
        if why is not None:
            named.append(cluster.name(change.partition))
            found.append(f"{named[-1]}: {why}; fix: get its other replicas in sync first, then plan again")
    # One sentence tells what is wrong with each of some; the names of all others stand in the last one.
    most = 10
    if len(found) > most:
        found[most:] = [f"the same holds for {len(found) - most} more partitions ({shown(named[most:])})"]
    return found


def lagging_of(cluster: Cluster, dead: AbstractSet[int]) -> dict[int, tuple[int, ...]]:
    """By partition the brokers whose replica is not in sync, C(dead) ones too unless they alone are."""
    if cluster.isr is None and not dead:
        return {}
    found = {}
    for partition, brokers in enumerate(cluster.replicas):
        isr = brokers if cluster.isr is None else cluster.isr[partition]
        if len(isr) == len(brokers) and dead.isdisjoint(brokers):
            continue
        known = [broker for broker in isr if broker not in dead] or isr
        late = tuple(broker for broker in brokers if broker not in known)
        if late:
            found[partition] = late
    return found


def without_isr(rows: Iterable[Row], look: Look, least: Mapping[str, int]) -> dict[Key, str]:
    """The rows that would take away in-sync replicas that are needed; C(least) is min.insync.replicas by topic."""
    found = {}
    for row in rows:
        partition = look.partitions[row.key]
        why = too_thin(partition.replicas, row.replicas, partition.isr, least.get(row.topic, 0))
        if why is not None:
            found[row.key] = why
    return found
