"""Up to where earlier audits found a partition equal, so that the next one reads only what is new. Pure.

A **mark** names the last record of the source that was proven, its copy in the target, and the fingerprint of both
(rows.py: all that counts in a comparison). A log is a chain: but for compaction it is cut from its end and removed from
its start, never rewritten in between. So while both records still stand at their offsets, everything before them is
what was compared. A log that was cut and written again has another record there; a topic made anew has another id.

Only what is clean has a mark: no record lost, phantom, changed, repeated, out of order or unjudged. A partition whose
new part is not clean is compared whole in the same run (compare.py): verdicts are those of an audit that reads all.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from spark_validation.core import fields
from spark_validation.core.cluster import Place, TopicSeen
from spark_validation.core.fields import Field
from spark_validation.mirror.config import Pair
from spark_validation.mirror.seen import End, Part, Scope, Span, respanned


@dataclass(frozen=True)
class Mark:
    """The mark of one partition.

    topic, partition     -- of the source
    source_id, target_id -- ids of both topics, which change when a topic is made anew
    offset, copy         -- of the last proven record in the source, and of its copy in the target
    fingerprint          -- of both
    records              -- how many records of the source have been proven, up to this one
    whole_ms             -- when the partition was last compared whole (epoch milliseconds)
    """

    topic: str
    partition: int
    source_id: str
    target_id: str
    offset: int
    copy: int
    fingerprint: int
    records: int
    whole_ms: int

    @property
    def place(self) -> Place:
        """Return topic and partition in the source."""
        return self.topic, self.partition


_FIELDS: dict[str, Field] = {
    name: Field("string" if name in ("topic", "source_id", "target_id") else "integer", "", True)
    for name in Mark.__dataclass_fields__
}
_NOT_NEGATIVE = ("partition", "offset", "copy", "records", "whole_ms")

# Why a partition is compared whole.
NEW = "no earlier audit left a mark"
UNREADABLE = "its mark cannot be read"
MADE_ANEW = "the topic was made anew in the source since then"
TARGET_MADE_ANEW = "the topic was made anew in the target since then"
COMPACTED = "the topic is compacted"
STAMPED = "the target stamps its own time"
FROM_TIME = "from_ms is set"
NOT_KEPT = "the mirror does not keep partitions"
REMOVED = "retention has removed the last proven record"
CUT = "the log ends before the last proven record"
REWRITTEN = "another record stands where the last proven one stood"
UNEVEN = "the first record that the source promises to hold is not the same on both sides"
NOT_CLEAN = "what is new behind its mark is not equal"


def read(raw: list[dict[str, Any]]) -> tuple[dict[Place, Mark], set[Place]]:
    """Read marks as they were kept: those that are whole, and the partitions whose mark cannot be read.

    A bad mark costs time and no verdict: its partition is compared whole. Of two for one partition neither holds.
    """
    marks: dict[Place, Mark] = {}
    bad: set[Place] = set()
    for item in raw:
        place = str(item.get("topic")), item.get("partition")
        if not isinstance(place[1], int):
            continue
        wrong = fields.problems(item, _FIELDS) or [name for name in _NOT_NEGATIVE if item[name] < 0]
        if wrong or place in marks:
            bad.add((place[0], place[1]))
        else:
            marks[place[0], place[1]] = Mark(**item)
    return {place: mark for place, mark in marks.items() if place not in bad}, bad


def written(marks: Iterable[Mark]) -> list[dict[str, Any]]:
    """Return marks as JSON, as `read` takes them."""
    return [asdict(mark) for mark in sorted(marks, key=lambda mark: mark.place)]


def void(mark: Mark, scope: Scope, span: Span, source: TopicSeen, target: TopicSeen) -> str | None:
    """Say why a mark holds no more, by what is known before anything is read; None where it may hold."""
    here, there = span.source, span.target
    if source.id != mark.source_id:
        return MADE_ANEW
    if target.id != mark.target_id:
        return TARGET_MADE_ANEW
    if scope.compacted:
        return COMPACTED
    if scope.timeless:
        return STAMPED
    if here is None or there is None or span.frontier is None or mark.offset > span.frontier or mark.copy >= there[1]:
        return CUT
    return REMOVED if mark.offset < here[0] or mark.copy < there[0] else None


def fallen(
    used: Mapping[Part, Mark],
    lasts: Mapping[str, Mapping[Part, int]],
    cut: set[Part],
    heads: Mapping[str, Mapping[Part, object]],
    firsts: Mapping[str, Mapping[Part, int]],
) -> dict[Part, str]:
    """Return why marks do not hold, by what stands in the logs. Each side has a mapping.

    lasts  -- fingerprints of the records at the offsets of the marks
    cut    -- partitions that have lost records at their start
    heads  -- those of them that hold a record as young as the source promises to hold
    firsts -- the fingerprint of the first such record

    Both sides may remove what is older than the source promises. What it promises and one side no longer has, an audit
    that reads all does not pass; it has both where the first such record is the same: order is proven behind it.
    """
    why = {}
    for part, mark in used.items():
        here, there = firsts["source"].get(part), firsts["target"].get(part)
        none_promised = part not in heads["source"] and part not in heads["target"]
        if any(lasts[side].get(part) != mark.fingerprint for side in ("source", "target")):
            why[part] = REWRITTEN
        elif part in cut and not none_promised and (here is None or here != there):
            why[part] = UNEVEN
    return why


def begun(scopes: Sequence[Scope], marks: Mapping[Part, Mark]) -> list[Scope]:
    """Return the scopes in which these partitions begin at their marks."""

    def begun_at(part: Part, span: Span) -> Span:
        """Return the partition from its mark on, the same without a mark."""
        mark = marks.get(part)
        return replace(span, since=(mark.offset, mark.copy)) if mark else span

    return respanned(scopes, begun_at)


@dataclass(frozen=True)
class Earlier:
    """What is not read again.

    partitions, records -- of which only what is new was read, and how many records of the source were proven before
    whole_ms            -- the oldest time at which such a partition was compared whole; None without any
    whole               -- how many partitions were compared whole, by reason
    """

    partitions: int = 0
    records: int = 0
    whole_ms: int | None = None
    whole: dict[str, int] = field(default_factory=dict)


def earlier(used: Mapping[Part, Mark], whole: Mapping[Part, str], renewed: set[Part], compared: set[int]) -> Earlier:
    """Sum up what was not read again.

    used     -- the marks from which the comparison began
    whole    -- why it did not begin at one, by partition that it read
    renewed  -- partitions whose new part was clean
    compared -- numbers of the pairs that were judged
    """
    held = [mark for part, mark in used.items() if part in renewed and part[0] in compared]
    reasons = Counter(why for part, why in whole.items() if part[0] in compared)
    reasons[NOT_CLEAN] += sum(part not in renewed and part[0] in compared for part in used)
    return Earlier(
        len(held),
        sum(mark.records for mark in held),
        min((mark.whole_ms for mark in held), default=None),
        {why: count for why, count in sorted(reasons.items()) if count},
    )


def kept(
    before: Mapping[Place, Mark],
    pairs: Sequence[Pair],
    judged: Sequence[Scope],
    ends: Mapping[Part, End],
    renewed: set[Part],
    ids: tuple[Mapping[str, TopicSeen], Mapping[str, TopicSeen]],
    now_ms: int,
) -> list[Mark]:
    """Return the marks for the next audit.

    before  -- the marks that this audit was given; those of topics that were not judged now stay
    judged  -- the scopes that were judged; a partition of them that is not in `ends` loses its mark
    ends    -- what was proven in this run, by partition
    renewed -- those of them of which only what is new was read
    ids     -- the topics of source and target as they were frozen
    """
    pair_sources = {pair.source for pair in pairs}
    topics = {scope.source for scope in judged}
    marks = [mark for mark in before.values() if mark.topic in pair_sources - topics]
    for scope in judged:
        source, target = ids[0][scope.source], ids[1][scope.target]
        for part, span in scope.parts.items():
            end, old = ends.get(part), before.get((scope.source, span.partition)) if part in renewed else None
            if end is None:
                # Where the end of a clean new part is not certain, the mark before it still holds.
                marks += [old] if old else []
                continue
            # The last record of the mark was read again.
            records, whole_ms = (old.records + end.records - 1, old.whole_ms) if old else (end.records, now_ms)
            at = end.offset, end.copy, end.fingerprint
            marks.append(Mark(scope.source, span.partition, source.id, target.id, *at, records, whole_ms))
    return marks
