# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a planned failover would find: both ends of a flow, and where each consumer group would go on. Pure.

Offsets are counted, so markers of transactions and what compaction removed count too: figures are at most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .._cluster.snapshot import Key
from .._groups.model import Group, Offsets
from .._mirror.gap import Gap
from .._mirror.status import Log, Seen
from .._mirror.trail import Sync

#: States of a group's place in the target, from the best to the worst: where its clients would begin to read.
KNOWN, NO_OFFSET, OUT_OF_RANGE, NO_COPY = "known", "no_offset", "out_of_range", "no_copy"


@dataclass(frozen=True)
class Checkpoint:
    """The offset of the source that MirrorMaker 2 translated last for a group, and what it made of it."""

    upstream: int
    downstream: int


@dataclass(frozen=True)
class Reader:
    """A group that reads topics of the flow, as both clusters have it; C(there) None where the target has none."""

    group: Group
    offsets: Offsets
    there: Group | None = None
    offsets_there: Offsets = field(default_factory=Offsets)


@dataclass(frozen=True)
class Look:
    """What was read of both clusters. Partitions are those of the source, also where a figure is of their copies.

    copied_before -- the ends of the copies before anything of the source was read: all below is of records that the
        source had then.
    tops_before, tops_after -- ends of the source with open transactions, C(seconds) apart; C(ends_after): without
        them, as C(tops_after).
    checkpoints -- by group and partition. hidden -- brokers that did not tell their groups, by the end and the broker,
        with why.
    only_there -- topics of the target that would be copies of the flow, of which the source has none.
    """

    seen: Seen
    copies: Mapping[Key, Log]
    copied_before: Mapping[Key, int]
    tops_before: Mapping[Key, int]
    tops_after: Mapping[Key, int]
    ends_after: Mapping[Key, int]
    seconds: float
    syncs: Mapping[Key, Sequence[Sync]] = field(default_factory=dict)
    checkpoints: Mapping[tuple[str, Key], Checkpoint] = field(default_factory=dict)
    readers: Sequence[Reader] = ()
    gaps: Sequence[Gap] = ()
    hidden: Sequence[str] = ()
    only_there: Sequence[str] = ()


@dataclass(frozen=True)
class Span:
    """A number of records that is known between two bounds."""

    at_least: int = 0
    at_most: int = 0

    def __add__(self, other: Span) -> Span:
        return Span(self.at_least + other.at_least, self.at_most + other.at_most)

    def __str__(self) -> str:
        if self.at_least == self.at_most:
            return f"{self.at_most:,}"
        return f"{self.at_least:,} to {self.at_most:,}" if self.at_least else f"at most {self.at_most:,}"


@dataclass(frozen=True)
class Reading:
    """A partition of the source that a group reads, and what it would read twice or skip if it moved now.

    committed -- the next offset in the source. there -- in the target; None where it has none.
    low, high -- bounds of the offset of the target at which the first record stands that the group has not read.
    repeats, skips -- of a place that is known from C(there); else repeats with auto.offset.reset earliest, and skips
        with latest.
    """

    topic: str
    partition: int
    state: str
    committed: int
    there: int | None
    checkpoint: Checkpoint | None
    low: int
    high: int
    repeats: Span
    skips: Span

    @property
    def repeats_after(self) -> Span:
        """Return what the group would read again once its offset in the target is C(low); it skips nothing then."""
        return Span(0, self.high - self.low)


@dataclass(frozen=True)
class GroupPlan:
    """What a failover would mean for a group.

    is_translated -- whether MirrorMaker 2 translates its offsets. elsewhere -- topics that it reads and the flow does
    not copy. error -- why it is not known how far it has read.
    """

    name: str
    type: str
    members: int
    members_there: int
    is_translated: bool
    readings: Sequence[Reading] = ()
    elsewhere: Sequence[str] = ()
    error: str = ""


@dataclass(frozen=True)
class PartitionPlan:
    """A partition of the source and its copy; None for an end that no broker told.

    lag -- records that the target lacks. grown -- offsets that were written while it was watched. is_open -- whether a
    transaction was open all that time, whose records are not copied before it ends. grown_there -- offsets by which
    the copy grew meanwhile, whoever wrote them.
    """

    topic: str
    partition: int
    source_end: int | None
    target_end: int | None
    lag: int
    grown: int
    is_open: bool
    grown_there: int = 0


@dataclass(frozen=True)
class Plan:
    """What a failover now would cost. C(against): reasons why it must not begin, a sentence each with its fix."""

    flow: str
    target: str
    seconds: float
    partitions: Sequence[PartitionPlan]
    groups: Sequence[GroupPlan]
    against: Sequence[str]
    notes: Sequence[str]

    @property
    def to_copy(self) -> int:
        """Return how many records the target lacks."""
        return sum(row.lag for row in self.partitions)
