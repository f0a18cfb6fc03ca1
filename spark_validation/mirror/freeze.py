"""From offsets of both sides to what is compared with what. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from spark_validation.core.cluster import Place, TopicSeen
from spark_validation.mirror.config import Pair
from spark_validation.mirror.seen import Scope, Span

Offsets = dict[Place, int]


@dataclass(frozen=True)
class SourceFrozen:
    """The source as the audit froze it. `starts` may be later than `log_starts` (from_ms); `lasts`: the frontiers.

    unread -- topics of which a part lies behind an open transaction, with that part
    """

    topics: dict[str, TopicSeen]
    log_starts: Offsets
    starts: Offsets
    lasts: dict[Place, int | None]
    unread: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class TargetFrozen:
    """The target after its mirror reached the frontiers."""

    topics: dict[str, TopicSeen]
    log_starts: Offsets
    starts: Offsets
    ends: Offsets


def begins(log_starts: Offsets, ends: Offsets, at_time: Mapping[Place, int] | None) -> Offsets:
    """Say where to begin: the start of the log, or the first record of a time (`at_time`; the end where it is -1)."""
    if at_time is None:
        return {place: min(start, ends[place]) for place, start in log_starts.items()}
    found = {place: at_time[place] if at_time[place] >= 0 else ends[place] for place in log_starts}
    return {place: min(max(start, found[place]), ends[place]) for place, start in log_starts.items()}


def scopes(
    pairs: list[Pair], source: SourceFrozen, target: TargetFrozen, second: Offsets, from_ms: int | None, now_ms: int
) -> list[Scope]:
    """Return what is compared, by pair whose target exists. `second`: ends of the source, taken after the target's."""
    return [
        Scope(
            number,
            pair.source,
            pair.target,
            tuple(_spans(pair, source, target, second, from_ms)),
            target.topics[pair.target].stamps_time,
            source.topics[pair.source].compacted or target.topics[pair.target].compacted,
            _promised_from(source.topics[pair.source], now_ms),
            source.topics[pair.source].deletes and source.topics[pair.source].retention_bytes >= 0,
        )
        for number, pair in enumerate(pairs)
        if pair.target in target.topics
    ]


def _spans(pair: Pair, source: SourceFrozen, target: TargetFrozen, second: Offsets, from_ms: int | None) -> list[Span]:
    timeless = target.topics[pair.target].stamps_time
    spans = []
    for index in range(max(source.topics[pair.source].partitions, target.topics[pair.target].partitions)):
        here, there = (pair.source, index), (pair.target, index)
        start, other = source.starts.get(here), target.starts.get(there)
        spans.append(
            Span(
                index,
                source.lasts.get(here),
                None if start is None else (start, max(start, second[here])),
                None if other is None else (other, target.ends[there]),
                start is not None and _is_cut(source.log_starts[here], start, from_ms if timeless else None),
                other is not None and _is_cut(target.log_starts[there], other, None),
            )
        )
    return spans


def _is_cut(log_start: int, start: int, from_ms: int | None) -> bool:
    """Say whether records may be missing before `start` that the other side has: removed, or (without times) left out.

    A start by time cuts nothing where both sides know the time: both leave out the same records.
    """
    return start > 0 if from_ms is not None else log_start > 0 and start == log_start


def _promised_from(topic: TopicSeen, now_ms: int) -> int | None:
    return None if not topic.deletes or topic.retention_ms < 0 else now_ms - topic.retention_ms
