"""What one pass over a topic saw, as plain numbers. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

# Kinds of record, as the auditor sees them. The first two have an identity that can be trusted.
OK, MISROUTED, CORRUPT, TOMBSTONE, OTHER_RUN, FOREIGN = range(6)

EXAMPLES = 20


@dataclass(frozen=True)
class Found:
    """How many records show a fault, the first EXAMPLES of them, and where they are (as `Check.places` has it)."""

    total: int = 0
    examples: list[dict[str, Any]] = field(default_factory=list)
    places: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Findings:
    """All exact findings of one audit.

    `odd`: by kind of record; `strange`: of lanes that the ledger does not know.
    """

    lost: Found = Found()
    duplicated: Found = Found()
    out_of_order: Found = Found()
    unknown: Found = Found()
    strange: Found = Found()
    odd: dict[int, Found] = field(default_factory=dict)


@dataclass(frozen=True)
class LaneSeen:
    """Records of one kind of one lane found in one partition. `backwards`: how often the sequence did not rise."""

    partition: int
    kind: int
    lane: int
    records: int
    least: int
    most: int
    backwards: int


@dataclass(frozen=True)
class PartitionSeen:
    """All records found in one partition; both digests do not depend on order."""

    records: int
    bytes: int
    digest_xor: int
    digest_sum: int


@dataclass(frozen=True)
class Slot:
    """Records appended within one slot of the timeline."""

    index: int
    records: int
    bytes: int


@dataclass(frozen=True)
class Observation:
    """The result of the one pass. `create_time`: records whose timestamp the broker did not set."""

    lanes: list[LaneSeen] = field(default_factory=list)
    partitions: dict[int, PartitionSeen] = field(default_factory=dict)
    latency: Counter[int] = field(default_factory=Counter)
    latency_total_ms: int = 0
    latency_least_ms: int | None = None
    latency_most_ms: int | None = None
    timeline: list[Slot] = field(default_factory=list)
    create_time: int = 0

    @property
    def records(self) -> int:
        """All records read."""
        return sum(seen.records for seen in self.partitions.values())

    @property
    def bytes(self) -> int:
        """Bytes of all keys and values read."""
        return sum(seen.bytes for seen in self.partitions.values())

    def kinds(self) -> Counter[int]:
        """Records by kind."""
        counts: Counter[int] = Counter()
        for lane in self.lanes:
            counts[lane.kind] += lane.records
        return counts
