# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Which records of the source a mirror can no longer copy: from two looks to ranges of offsets. Pure.

A flow has *settled* a partition up to an offset when every committed record below it is in the target. That is its
position; or the end of the log, where only markers and aborted records stand between. What the source no longer holds
from there on is a gap. Offsets that compaction or transactions emptied inside of a log are none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Key
from ansible_collections.streamops.kafka.plugins.module_utils._core.names import capped
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.status import Seen, lag, made_anew
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.trail import Range, Sync, skipped

PURGED, TRUNCATED, RECREATED, DELETED = "purged", "truncated", "recreated", "deleted"
#: Gaps that are kept of a flow, the latest.
KEPT = 1_000


@dataclass(frozen=True)
class Gap:
    """Offsets of a partition of the source that are not in the target, the first and the last.

    certain -- not certain: no earlier look tells whether records or only markers of transactions stood there, or no
    position tells how far a topic was mirrored before it was deleted.
    partition, first, last -- None for a topic that was made anew without a known loss.
    """

    kind: str
    topic: str
    partition: int | None = None
    first: int | None = None
    last: int | None = None
    certain: bool = True
    seen_at: str = ""
    forgotten: bool = False

    @property
    def records(self) -> int:
        """How many offsets it has, which are records but for markers and aborted ones."""
        return 0 if self.first is None or self.last is None else self.last - self.first + 1

    def as_dict(self) -> dict[str, Any]:
        """The gap as the module returns it."""
        known = asdict(self)
        del known["forgotten"]
        return {**known, "records": self.records}

    @property
    def line(self) -> str:
        """The gap in a sentence."""
        if self.partition is None:
            return f"{self.topic} was deleted and created again: no record is known to be missing"
        where, what = f"{self.topic}-{self.partition}", f"offsets {self.first} to {self.last} ({self.records} records)"
        if self.kind == RECREATED:
            verb = "are" if self.certain else "may be"
            return f"{where}: {what} {verb} missing, because the topic was deleted and created again"
        if self.kind == DELETED:
            return f"{where}: {what} are missing, because the topic was deleted before they were mirrored"
        if self.kind == TRUNCATED:
            return f"{where}: {what} are gone from the source, whose log now ends at {self.first}"
        if not self.certain:
            return f"{where}: {what} may be missing: the source deleted them, and no earlier look knows what they were"
        return f"{where}: {what} are missing: the source deleted them before they were mirrored"


@dataclass(frozen=True)
class Mark:
    """What a look leaves of a partition for the next one; None where it was not known."""

    position: int | None
    settled: int | None
    end: int | None


@dataclass(frozen=True)
class Marks:
    """What a look leaves for the next one: the ids of the topics, where each partition stood, and the gaps so far."""

    ids: Mapping[str, str] = field(default_factory=dict)
    partitions: Mapping[Key, Mark] = field(default_factory=dict)
    gaps: Sequence[Gap] = ()

    def as_data(self) -> dict[str, Any]:
        """The marks as JSON."""
        topics: dict[str, dict[str, Any]] = {name: {"id": one, "partitions": {}} for name, one in self.ids.items()}
        for (topic, number), mark in self.partitions.items():
            found = topics.setdefault(topic, {"id": "", "partitions": {}})
            found["partitions"][str(number)] = [mark.position, mark.settled, mark.end]
        return {"topics": topics, "gaps": [asdict(one) for one in self.gaps]}

    @classmethod
    def of_data(cls, data: Mapping[str, Any] | None) -> Marks:
        """The marks of JSON; none where there are none."""
        topics = (data or {}).get("topics", {})
        marks = {
            (topic, int(number)): Mark(*mark)
            for topic, one in topics.items()
            for number, mark in one["partitions"].items()
        }
        known = {one.name for one in fields(Gap)}
        gaps = [Gap(**{key: one[key] for key in one.keys() & known}) for one in (data or {}).get("gaps", ())]
        return cls({topic: one["id"] for topic, one in topics.items() if one["id"]}, marks, gaps)


def in_doubt(seen: Seen, before: Marks) -> list[Key]:
    """The partitions of which the source deleted offsets that a look has not seen settled."""
    return [key for key in seen.logs if _same_topic(seen, before, key[0]) and _lost(seen, before, key)]


def pending(found: Iterable[Gap], before: Marks) -> bool:
    """Whether there is a gap of deleted records, or of a deleted topic, that no earlier look has found.

    The position of a mirror that runs is as old as its last flush, so such a one is looked at a second time.
    """
    known = {(one.kind, one.topic, one.partition, one.first) for one in before.gaps}
    aged = [one for one in found if one.kind in (PURGED, DELETED) or (one.kind == RECREATED and one.first is not None)]
    return any((one.kind, one.topic, one.partition, one.first) not in known for one in aged)


def gaps(
    seen: Seen, before: Marks, syncs: Mapping[Key, Sequence[Sync]], covers: Callable[[str], bool] = lambda _topic: False
) -> list[Gap]:
    """The gaps between two looks. C(syncs) are those of the partitions in doubt, as far as there are any.

    covers -- whether the flow mirrors a topic of this name; one that it covers and no look finds any more is deleted.
    """
    found: list[Gap] = []
    for topic in sorted({topic for topic, _number in seen.logs}):
        keys = sorted(key for key in seen.logs if key[0] == topic)
        if _same_topic(seen, before, topic):
            for key in keys:
                found += _purged(seen, before, key, syncs.get(key, ()))
                found += _truncated(seen, before, key)
                found += _grown_past(seen, before, key)
        else:
            lost = [*_of_the_old(seen, before, topic), *_of_the_new(seen, before, keys)]
            is_told = any(one.kind == DELETED and one.topic == topic for one in before.gaps)
            found += lost or ([] if is_told else [Gap(RECREATED, topic)])
    gone = {topic for topic, _number in before.partitions} - {topic for topic, _number in seen.logs}
    for topic in sorted(filter(covers, gone)):
        # No other log has taken its name, so a position is one of it.
        found += [replace(one, kind=DELETED, certain=True) for one in _of_the_old(seen, before, topic)]
    return found


def marks(seen: Seen, before: Marks, found: Sequence[Gap], at: str) -> Marks:
    """What this look leaves for the next. C(at) is the time of the look as text.

    Topics that are gone are kept, so that one which is created again is known to be another one.
    """
    partitions = {key: one for key, one in before.partitions.items() if key not in seen.logs}
    for key, log in seen.logs.items():
        partitions[key] = Mark(seen.positions.get(key), _settled(seen, before, key), log.end)
    return Marks({**before.ids, **seen.ids}, partitions, _merged(before.gaps, found, at)[-KEPT:])


def forgotten(before: Marks) -> Marks:
    """The same marks, of whose gaps nothing is said any more."""
    return replace(before, gaps=[replace(one, forgotten=True) for one in before.gaps])


def told(known: Marks) -> list[Gap]:
    """The gaps of which a status tells."""
    return [one for one in known.gaps if not one.forgotten]


def certain(known: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The gaps in which records are missing for certain, of gaps as the module returns them."""
    return [one for one in known if one["certain"] and one["records"]]


def in_words(known: Iterable[Mapping[str, Any]]) -> list[tuple[int, str]]:
    """How many records are lost for certain and a part of a sentence that says so, for each sort of gap there is."""
    lost = certain(known)
    # Of a log that was cut the records were mirrored; only the source has lost them.
    cut = [one for one in lost if one["kind"] == TRUNCATED]
    sorts = (
        ([one for one in lost if one not in cut], "records of the source will never be mirrored"),
        (cut, "records are gone from the source, whose log was cut"),
    )
    return [_sort_in_words(found, what) for found, what in sorts if found]


def _sort_in_words(found: Sequence[Mapping[str, Any]], what: str) -> tuple[int, str]:
    records = sum(one["records"] for one in found)
    places = capped([f"{one['topic']}-{one['partition']} {one['first']} to {one['last']}" for one in found], 5)
    return records, f"{records} {what}: {places}"


def _same_topic(seen: Seen, before: Marks, topic: str) -> bool:
    """Whether it is the topic of the last look; brokers before Kafka 2.8 tell no ids."""
    return before.ids.get(topic, "") in ("", seen.ids.get(topic, "")) or not seen.ids.get(topic)


def _mark(before: Marks, key: Key) -> Mark:
    return before.partitions.get(key, Mark(None, None, None))


def _lost(seen: Seen, before: Marks, key: Key) -> Range | None:
    """The offsets that the source deleted and that were not settled when it was last looked at."""
    start, position = seen.logs[key].start, seen.positions.get(key)
    known = _mark(before, key).settled
    if start is None or position is None:
        return None  # Never mirrored: its mirror begins where the log begins.
    if position < start:
        first = position if known is None else max(position, known)
    elif known is not None:
        first = known
    else:
        return None
    return (first, start - 1) if first < start else None


def _purged(seen: Seen, before: Marks, key: Key, syncs: Sequence[Sync]) -> Iterator[Gap]:
    lost = _lost(seen, before, key)
    if lost is None:
        return
    position, start = seen.positions[key], lost[1] + 1
    if position < start and not (syncs and syncs[-1][0] >= start):
        certain = _mark(before, key).settled is not None
        yield Gap(PURGED, *key, first=lost[0], last=lost[1], certain=certain)
        return
    # The mirror has passed these offsets. It read them before they were deleted, unless its syncs show a hole. A topic
    # that has holes elsewhere has them by compaction or transactions, so there they prove nothing; and nothing is known
    # of elsewhere when all its syncs are later ones.
    holes = skipped(syncs) if syncs and syncs[0][0] <= lost[0] else []
    if all(_within(hole, lost) or _is_known(hole, before, key) for hole in holes):
        for hole in holes:
            if _within(hole, lost):
                yield Gap(PURGED, *key, first=hole[0], last=hole[1])


def _within(hole: Range, lost: Range) -> bool:
    return lost[0] <= hole[0] and hole[1] <= lost[1]


def _is_known(hole: Range, before: Marks, key: Key) -> bool:
    return any(
        one.first is not None and one.last is not None and one.first <= hole[1] and hole[0] <= one.last
        for one in before.gaps
        if (one.topic, one.partition) == key
    )


def _truncated(seen: Seen, before: Marks, key: Key) -> Iterator[Gap]:
    """What stood between the end of the log and the position; once, at the look that finds the position beyond.

    Without an earlier look that knew the position in this log, it may be one of a topic that is long gone.
    """
    if made_anew(seen, key) and _mark(before, key).settled is not None:
        yield Gap(TRUNCATED, *key, first=seen.tops[key], last=seen.positions[key] - 1)


def _grown_past(seen: Seen, before: Marks, key: Key) -> Iterator[Gap]:
    """What a topic that was made anew holds below a position that lay beyond its end at the last look."""
    mark, log, position = _mark(before, key), seen.logs[key], seen.positions.get(key)
    if mark.settled is not None or mark.end is None or position is None or position != mark.position:
        return
    is_anew = any(one.kind == RECREATED and one.topic == key[0] for one in before.gaps)
    # At the end stands a mirror too that has read all of the new log.
    if is_anew and log.start is not None and log.end is not None and max(mark.end, log.start) < position < log.end:
        yield Gap(RECREATED, *key, first=log.start, last=position - 1)


def _of_the_old(seen: Seen, before: Marks, topic: str) -> Iterator[Gap]:
    """What the deleted topic held at the last look that was not in the target."""
    for key, mark in sorted(before.partitions.items()):
        if key[0] != topic or mark.settled is None or mark.end is None:
            continue
        # It may have been mirrored further before it was deleted.
        first = max(mark.settled, min(seen.positions.get(key, 0), mark.end))
        if first < mark.end and not _is_told(before, key, first):
            yield Gap(RECREATED, *key, first=first, last=mark.end - 1, certain=_is_of_the_old(seen, mark, key))


def _is_told(before: Marks, key: Key, first: int) -> bool:
    """Whether a look found the loss while the topic was away, before it was created again."""
    return any(one.kind == DELETED and (one.topic, one.partition, one.first) == (*key, first) for one in before.gaps)


def _is_of_the_old(seen: Seen, mark: Mark, key: Key) -> bool:
    """Whether the position still is one of the deleted topic: the same as before, or further and beyond the new log."""
    position, known = seen.positions.get(key, -1), mark.position or 0
    return position == known or (position > known and made_anew(seen, key))


def _of_the_new(seen: Seen, before: Marks, keys: Iterable[Key]) -> Iterator[Gap]:
    """What the new topic holds below the position of the old one, from which the mirror goes on."""
    for key in keys:
        log, position = seen.logs[key], seen.positions.get(key)
        if position is None or log.start is None or log.end is None or position != _mark(before, key).position:
            continue
        # A position beyond the end makes the mirror begin at the first record; at the end stands one too that has read
        # all of the new log.
        if log.start < position < log.end:
            yield Gap(RECREATED, *key, first=log.start, last=position - 1)


def _settled(seen: Seen, before: Marks, key: Key) -> int | None:
    """The offset below which every committed record is in the target; None while that is not known."""
    log, position = seen.logs[key], seen.positions.get(key)
    known = _mark(before, key).settled if _same_topic(seen, before, key[0]) else None
    if position is None or made_anew(seen, key):
        return None
    if log.start is None or log.end is None:
        return known
    if position < log.start:
        return known if known is None else max(known, position)
    return position if lag(seen, key) else max(position, log.end)


def _merged(known: Sequence[Gap], found: Sequence[Gap], at: str) -> list[Gap]:
    """The known gaps and those that were found; of two that overlap the one of now, with the time of the first."""
    left = list(known)
    for gap in found:
        older = [one for one in left if _overlap(one, gap)]
        seen_at = min((one.seen_at for one in older), default=at)
        is_forgotten = any(one.forgotten and one.records >= gap.records for one in older)
        left = [one for one in left if one not in older]
        left.append(replace(gap, seen_at=seen_at, forgotten=is_forgotten))
    return left


def _overlap(one: Gap, other: Gap) -> bool:
    if (one.kind, one.topic, one.partition) != (other.kind, other.topic, other.partition):
        return False
    if one.kind == RECREATED or one.first is None or one.last is None or other.first is None or other.last is None:
        return False  # A topic may be created again more than once, and offsets of two logs are not to be compared.
    return one.first <= other.last and other.first <= one.last
