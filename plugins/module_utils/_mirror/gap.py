# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""A gap of a mirror: its kind, what is in doubt about it, its words, and what becomes of it at a later look. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

from .._core.names import capped

PURGED, TRUNCATED, RECREATED, DELETED = "purged", "truncated", "recreated", "deleted"
#: The log was cut below records that had not been mirrored; TRUNCATED is of those that had.
CUT = "truncated_unmirrored"

#: Why a gap is not certain. Of STILL_THERE alone the source has the records, so that they can be compared.
UNSEEN, COMPACTED, NO_POLICY, MOVED_ON = "unseen", "compacted", "no_policy", "moved_on"
STILL_THERE, READ_AGAIN, UNPLACED = "still_there", "read_again", "unplaced"
DOUBTS = {
    "": "no look saw what they were",  # Of a look before doubts were kept.
    UNSEEN: (
        "no look saw records there, so they may be markers or aborted records of transactions. Only a look while they "
        "stand makes it sure; a canary looks all the time"
    ),
    COMPACTED: (
        "the topic is compacted, which may have replaced them before. The audit of mirrors compares only the keys that "
        "are left: compare the mirrored topic with what wrote the others"
    ),
    NO_POLICY: (
        "nobody told whether the topic is compacted, which may have replaced them before. Grant DescribeConfigs on "
        "the topic to the user who looks"
    ),
    MOVED_ON: (
        "the mirror has gone on since the look before and may have copied them. The source no longer has them, so no "
        "audit can tell: compare the mirrored topic with what wrote them, load what is missing, then forget the gap "
        "(mirror_gaps.yml)"
    ),
    READ_AGAIN: (
        "the mirror went back in this log, so it may have copied them before. The source no longer has them, so no "
        "audit can tell: compare the mirrored topic with what wrote them"
    ),
    UNPLACED: (
        "offset syncs do not tell whether the mirror left out these offsets or others near them, which transactions or "
        "compaction may have emptied. The source no longer has them, so no audit can tell: compare the mirrored topic "
        "with what wrote them, load what is missing, then forget the gap (mirror_gaps.yml)"
    ),
    STILL_THERE: (
        "nothing tells whether the mirror has copied them. The source still has them, so the audit of mirrors compares "
        "both ends"
    ),
}


class GapData(TypedDict):
    """A gap as the module returns it; C(records) are known to be missing, or may be where it is not certain.

    C(doubt) -- why it is not certain; empty where it is.
    """

    kind: str
    topic: str
    partition: int | None
    first: int | None
    last: int | None
    certain: bool
    doubt: str
    seen_at: str
    records: int


@dataclass(frozen=True)
class Gap:
    """Offsets of a partition of the source that are not in the target, the first and the last.

    certain -- whether an earlier look read records there that were not in the target, and nothing is in doubt.
    partition, first, last -- None for a topic that was made anew without a known loss.
    counted -- how many of the offsets a look saw as records; None: nobody counted, and each may be one.
    doubt -- why it is not certain, one of the names above.
    missing -- how many of the offsets were not copied at most, where their place is not known; None: all of them.
    topic_id -- of the topic whose log lost them, where that is known: offsets of two logs are not compared.
    """

    kind: str
    topic: str
    partition: int | None = None
    first: int | None = None
    last: int | None = None
    certain: bool = True
    seen_at: str = ""
    forgotten: bool = False
    counted: int | None = None
    doubt: str = ""
    missing: int | None = None
    topic_id: str = ""

    def may_share_log(self, other: Gap) -> bool:
        """Tell whether both may be of one log; gaps of older releases, and of brokers before Kafka 2.8, tell no ids."""
        return not (self.topic_id and other.topic_id) or self.topic_id == other.topic_id

    @property
    def span(self) -> int:
        """Return how many offsets there are from the first to the last."""
        return 0 if self.first is None or self.last is None else self.last - self.first + 1

    @property
    def offsets(self) -> int:
        """Return how many offsets were not copied at most, which may be records, markers and aborted records."""
        return self.span if self.missing is None else self.missing

    @property
    def records(self) -> int:
        """Return how many records are known to be missing; of a gap that is not certain, how many may be."""
        return self.counted if self.certain and self.counted is not None else self.offsets

    def as_dict(self) -> GapData:
        """Return the gap as the module returns it."""
        return GapData(
            kind=self.kind,
            topic=self.topic,
            partition=self.partition,
            first=self.first,
            last=self.last,
            certain=self.certain,
            doubt=self.doubt,
            seen_at=self.seen_at,
            records=self.records,
        )

    @property
    def line(self) -> str:
        """Say the gap in a sentence."""
        if self.partition is None:
            return f"{self.topic} was deleted and created again: no record is known to be missing"
        some_of = f"{self.offsets} of the " if self.offsets < self.span else ""
        where = f"{self.topic}-{self.partition}: {some_of}offsets {self.first} to {self.last}"
        if not self.certain:
            why = {
                RECREATED: "the topic was deleted and created again",
                DELETED: "the topic was deleted",
                CUT: "the log of the source was cut",
            }.get(self.kind, "the source deleted them")
            return f"{where} (at most {self.offsets} records) may be missing: {why}, and {DOUBTS[self.doubt]}"
        more = "" if self.records == self.offsets else " that a look saw, and perhaps others"
        what = f"{where} ({self.records} records{more})"
        return {
            RECREATED: f"{what} are missing, because the topic was deleted and created again",
            DELETED: f"{what} are missing, because the topic was deleted before they were mirrored",
            TRUNCATED: f"{what} are gone from the source, whose log now ends at {self.first}",
            CUT: f"{what} are missing: the log of the source was cut before they were mirrored",
        }.get(self.kind, f"{what} are missing: the source deleted them before they were mirrored")


def certain(known: Iterable[GapData]) -> list[GapData]:
    """Return the gaps in which records are missing for certain, of gaps as the module returns them."""
    return [gap for gap in known if gap["certain"] and gap["records"]]


def in_words(known: Iterable[GapData]) -> list[tuple[int, str]]:
    """Return how many records are lost for certain and a part of a sentence that says so, for each sort of gap."""
    lost = certain(known)
    # Of a log that was cut the records were mirrored; only the source has lost them.
    cut = [gap for gap in lost if gap["kind"] == TRUNCATED]
    sorts = (
        ([gap for gap in lost if gap not in cut], "records of the source will never be mirrored"),
        (cut, "records are gone from the source, whose log was cut"),
    )
    return [_sort_in_words(gaps, what) for gaps, what in sorts if gaps]


def _sort_in_words(lost: Sequence[GapData], what: str) -> tuple[int, str]:
    records = sum(gap["records"] for gap in lost)
    places = capped([f"{gap['topic']}-{gap['partition']} {gap['first']} to {gap['last']}" for gap in lost], 5)
    return records, f"{records} {what}: {places}"


def merged(known: Sequence[Gap], now: Sequence[Gap], at: str) -> list[Gap]:
    """Return the known gaps and those of now; of two that overlap the one of now, with the time of the first."""
    left = list(known)
    for gap in now:
        older = [kept for kept in left if _overlap(kept, gap)]
        seen_at = min((kept.seen_at for kept in older), default=at)
        is_forgotten = any(
            kept.forgotten and kept.offsets >= gap.offsets and (kept.certain or not gap.certain) for kept in older
        )
        left = [kept for kept in left if kept not in older]
        left.append(replace(_as_certain(gap, older), seen_at=seen_at, forgotten=is_forgotten))
    return left


def _as_certain(gap: Gap, older: Iterable[Gap]) -> Gap:
    """Return the gap; certain where it holds one that was, of which this look only could not tell any more."""
    sure = [kept for kept in older if kept.certain and _holds(gap, kept)]
    if gap.certain or not sure:
        return gap
    return replace(gap, certain=True, counted=min(max(kept.records for kept in sure), gap.offsets), doubt="")


def _holds(gap: Gap, other: Gap) -> bool:
    return (gap.first or 0) <= (other.first or 0) and (other.last or 0) <= (gap.last or 0)


def _overlap(gap: Gap, other: Gap) -> bool:
    if (gap.kind, gap.topic, gap.partition) != (other.kind, other.topic, other.partition):
        return False
    if not gap.may_share_log(other):
        return False
    if gap.first is None or gap.last is None or other.first is None or other.last is None:
        return False
    if gap.kind in (RECREATED, TRUNCATED, CUT):
        # A topic may be created again more than once, and a log be cut again: offsets of two logs are not compared.
        return False
    if gap.kind == DELETED and gap.last != other.last:
        return False  # As long as it is away, its last record stays the same: this one was created again in between.
    return gap.first <= other.last and other.first <= gap.last
