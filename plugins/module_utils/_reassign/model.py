# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a plan of moves is made from and what it is: brokers, partitions as columns, the spec, changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from .._cluster.file_systems import Dir

#: What a broker may be. alive and new: holds and receives. draining: gives away what it has when a plan balances or
#: names it, and receives nothing. excluded: keeps what it has and receives nothing. cordoned: the same, because Kafka
#: refuses moves to it (KIP-1066: all its log directories are in cordoned.log.dirs). dead: fenced or not registered.
STATES = ("alive", "new", "draining", "excluded", "cordoned", "dead")
#: none: racks do not matter. even: each rack holds the floor or the ceil of replicas / racks of a partition.
#: strict: that, and no partition in fewer racks than before.
RACK_RULES = ("strict", "even", "none")
#: auto: balance when replicas are balanced. keep: who leads and stays, leads. balance: leaders spread, no data moved.
LEADERS = ("auto", "keep", "balance")
#: What brokers get equal shares of when replicas are balanced: of their number, or of their bytes.
BALANCED_BY = ("replicas", "bytes")
#: Why a broker stays above its limit of bytes. stays: what may not move is more. partition: one alone is more.
#: racks: brokers in racks that may not have its replicas would have room. room: none has room for any of its replicas.
WHY_ABOVE = ("stays", "partition", "racks", "room")


@dataclass(frozen=True)
class BrokerSpec:
    """A broker. C(weight) is its share of the replicas beside others; C(disk_limit) and C(disk_used) are bytes.

    C(dirs) are its log directories, where it reported them. C(disk_unknown): it was asked how big its disks are and did
    not answer that.
    """

    id: int
    rack: str | None = None
    state: str = "alive"
    weight: float = 1.0
    disk_limit: int | None = None
    disk_used: int | None = None
    dirs: tuple[Dir, ...] = ()
    disk_unknown: bool = False


@dataclass
class Cluster:
    """A placement, as columns of equal length, ordered by topic name and partition number.

    C(topic_of) indexes C(topics). C(leaders), C(isr), C(sizes) (bytes) and C(write_rates) (bytes/s of the leader) are
    None where they are not known; C(unsized) are partitions without a size where others have one. C(min_insync) is by
    topic, 0 where it is not known. C(id) is the cluster id, empty where the snapshot has none. C(coming): by partition
    that a move under way changes, the brokers that it adds; all else of these partitions is as after that move.
    """

    brokers: tuple[BrokerSpec, ...]
    topics: list[str]
    min_insync: list[int]
    topic_of: list[int]
    numbers: list[int]
    replicas: list[tuple[int, ...]]
    leaders: list[int | None] | None = None
    isr: list[tuple[int, ...]] | None = None
    sizes: list[int] | None = None
    write_rates: list[float] | None = None
    unsized: tuple[int, ...] = ()
    id: str = ""
    coming: Mapping[int, tuple[int, ...]] = field(default_factory=dict)

    def name(self, partition: int) -> str:
        """A partition for people: topic and number."""
        return f"{self.topics[self.topic_of[partition]]}-{self.numbers[partition]}"

    def places(self, topics: Collection[str]) -> dict[tuple[str, int], int]:
        """Find where the partitions of some topics are in the columns, by topic and number."""
        some = {number: name for number, name in enumerate(self.topics) if name in topics}
        return {(some[t], self.numbers[place]): place for place, t in enumerate(self.topic_of) if t in some}

    def size(self, partition: int) -> int:
        """Bytes of one replica of a partition, 0 where they are not known: see sized."""
        return self.sizes[partition] if self.sizes is not None else 0

    def sized(self, partitions: Iterable[int]) -> bool:
        """Return whether the bytes of all these partitions are known."""
        if self.sizes is None:
            return not any(True for _partition in partitions)
        return not self.unsized or self._without_size.isdisjoint(partitions)

    def bytes_coming(self) -> Counter[int]:
        """Add up by broker what moves under way bring, whole: how much of it is there already is not known."""
        found: Counter[int] = Counter()
        for partition, added in self.coming.items():
            for broker in added:
                found[broker] += self.size(partition)
        return found

    @cached_property
    def _without_size(self) -> frozenset[int]:
        return frozenset(self.unsized)


@dataclass(frozen=True)
class Spec:
    """What shall become true; several may be asked for at once, except where that would contradict itself.

    C(add) are brokers that take their share (may be unknown to the cluster when nothing is to be applied).
    C(replication_factor) is by topic. C(assignment) is explicit: (topic, partition, brokers).
    C(rack_rule) is one of RACK_RULES, C(leaders) one of LEADERS, C(balance_by) one of BALANCED_BY. By bytes no broker
    shall hold more than (1 + C(bytes_tolerance)) of its share. C(topic_spread): each topic by itself as even as can be.
    C(topics): partitions of all others stay as they are; empty for all topics.
    """

    rebalance: bool = False
    drain: tuple[int, ...] = ()
    add: tuple[BrokerSpec, ...] = ()
    replace: Mapping[int, int] = field(default_factory=dict)
    replication_factor: Mapping[str, int] = field(default_factory=dict)
    fix_racks: bool = False
    assignment: Sequence[tuple[str, int, tuple[int, ...]]] | None = None
    rack_rule: str = "strict"
    leaders: str = "auto"
    topic_spread: bool = False
    balance_by: str = "replicas"
    bytes_tolerance: float = 0.1
    topics: tuple[str, ...] = ()

    @property
    def balances(self) -> bool:
        """Return whether every broker shall get its share; otherwise nothing but what is named is touched."""
        return self.rebalance or bool(self.add)


@dataclass(frozen=True)
class Change:
    """One partition that changes. C(partition) is its index in the cluster; brokers by id, the first one leads.

    C(reasons) are for people; an order that alone changes moves no data.
    """

    partition: int
    before: tuple[int, ...]
    after: tuple[int, ...]
    reasons: tuple[str, ...]

    @property
    def added(self) -> tuple[int, ...]:
        """Brokers that get a copy: each is one move."""
        return tuple(broker for broker in self.after if broker not in self.before)

    @property
    def removed(self) -> tuple[int, ...]:
        """Brokers that lose theirs."""
        return tuple(broker for broker in self.before if broker not in self.after)


@dataclass(frozen=True)
class Witness:
    """Why leaders cannot be within one of each other.

    kind too_many: C(partitions) partitions have all replicas on C(brokers), more than their share C(room).
    kind too_few: only C(partitions) partitions have any replica on C(brokers), less than their share C(room).
    Replicas on brokers that take none do not count, and a partition that must stay as it is counts where it is led.
    """

    kind: str
    brokers: tuple[int, ...]
    partitions: int
    room: int


@dataclass(frozen=True)
class Above:
    """A broker that stays above its limit of bytes, and why: one of WHY_ABOVE, with the C(partition) or None."""

    broker: int
    bytes: int
    limit: int
    why: str
    partition: int | None = None


@dataclass(frozen=True)
class Bytes:
    """What levelling by bytes came to. C(bound): what partitions must move by themselves, and what is above the limits
    then; nothing that keeps the limits moves fewer bytes. C(above): who stays above, by id."""

    bound: int
    above: tuple[Above, ...]


@dataclass(frozen=True)
class Plan:
    """A plan: C(changes) ordered by partition. C(takers) are the brokers that may get replicas, by id.

    C(moves) equals C(bound), which C(proof) says how we know; an explicit assignment is its own bound. Balanced by
    bytes, C(bound) are the moves that partitions need by themselves, and C(bytes) has the bound of the bytes.
    C(leader_changes) equals C(leader_bound): no leaders as even, of the replicas that the plan leads to, need fewer.
    C(topic_bound) is the most that brokers may differ in one topic, with topic_spread. C(no_room) are brokers, by id,
    that get nothing since their disks have no room for what they would get by numbers.
    C(moves) are the fewest for what the planner saw. A plan made on the result moves nothing more, but for what the
    first one ruled out: brokers without room, which may have some now, and brokers that lost a replica which was behind
    to a lower replication factor, and do not get that partition back in the same plan.
    proof partition: each partition alone needs as many. count: the counts of the brokers need as many. flow: a
    minimum-cost flow shows that no placement with the same shares needs fewer. in_sync: the same of the placements that
    leave out the replicas behind which a lower replication factor took away; who gives those back may need fewer, and
    as even. bytes: what is moved is held against a
    bound of bytes, and fewer replicas might do.
    """

    cluster: Cluster
    brokers: tuple[BrokerSpec, ...]
    takers: tuple[int, ...]
    changes: tuple[Change, ...]
    moves: int
    deletions: int
    bound: int
    proof: str
    leader_changes: int
    leader_bound: int
    witness: Witness | None
    topic_bound: int | None = None
    bytes: Bytes | None = None
    no_room: tuple[int, ...] = ()
