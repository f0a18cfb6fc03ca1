# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Which records of the source a mirror can no longer copy: from two looks to ranges of offsets. Pure.

A flow has *settled* a partition up to an offset when every committed record below it is in the target. That is its
position; or the end of the log, where only markers and aborted records stand between. What the source no longer holds
from there on is a gap. Offsets that compaction or transactions emptied inside of a log are none.

A gap is certain where an earlier look read committed records in it that were not in the target. Offsets alone prove
nothing: markers and aborted records of transactions (KIP-98) have offsets too, and nobody misses them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from .._cluster.snapshot import Key
from .._state.form import of_known
from .gap import (
    COMPACTED,
    CUT,
    DELETED,
    MOVED_ON,
    NO_POLICY,
    PURGED,
    READ_AGAIN,
    RECREATED,
    STILL_THERE,
    TRUNCATED,
    UNPLACED,
    UNSEEN,
    Gap,
    merged,
)
from .status import Seen, lag, made_anew, reached
from .trail import Hole, Range, Sync, holes_of, parts_of, read_before

#: Gaps that are kept of a flow, the latest.
KEPT = 1_000
#: Offsets above a position in which a look reads which ones are records. Of small records one answer of a broker holds
#: as many (max.partition.fetch.bytes, 1 MiB).
HEAD = 1_000
#: Offsets that a look reads of all partitions together. 100,000 records take about a second (docs/mirror-status.md).
MOST = 1_000_000
#: Ranges of records that are kept of a partition, the lowest and the last: what is deleted goes from below.
RANGES = 8


@dataclass(frozen=True)
class Mark:
    """What a look leaves of a partition for the next one; None where it was not known.

    flush -- where MirrorMaker 2 wrote the position down: as long as it is the same, the mirror has not moved.
    data -- ranges of offsets that a look read as records and that were not in the target.
    is_old -- whether the position is known to be of a log whose name another one has now. Beyond the end of a log lies
        that of a mirror too whose log was cut.
    """

    position: int | None
    settled: int | None
    end: int | None
    flush: int | None = None
    data: Sequence[Range] = ()
    is_old: bool = False


def _mark_of(kept: Sequence[Any]) -> Mark:
    """Return the mark of a list as it is kept; older looks kept neither flush nor data, nor whose the position is, and
    newer ones may keep more."""
    later: tuple[Any, ...] = (None, (), False)
    position, settled, end, flush, data, is_old = [*kept, *later[len(kept) - 3 :]][: 3 + len(later)]
    return Mark(position, settled, end, flush, tuple((first, last) for first, last in data), is_old)


@dataclass(frozen=True)
class Moment:
    """A time as text (UTC), and the machine whose clock said so: times of two clocks are not compared."""

    at: str
    clock: str


@dataclass(frozen=True)
class Marks:
    """What a look leaves for the next one: the ids of the topics, where each partition stood, and the gaps so far.

    looked -- when the look began whose marks these are; None where it is not known. It is kept beside the marks, since
    a look that changes nothing else need not write a figure for each partition.
    gone -- topics that the flow covered and that the look did not find. Looks of older releases kept none.
    """

    ids: Mapping[str, str] = field(default_factory=dict)
    partitions: Mapping[Key, Mark] = field(default_factory=dict)
    gaps: Sequence[Gap] = ()
    looked: Moment | None = field(default=None, compare=False)
    gone: frozenset[str] = frozenset()

    def as_data(self) -> dict[str, Any]:
        """The marks as JSON."""
        topics: dict[str, dict[str, Any]] = {name: {"id": uuid, "partitions": {}} for name, uuid in self.ids.items()}
        for (topic, number), mark in self.partitions.items():
            entry = topics.setdefault(topic, {"id": "", "partitions": {}})
            data = [list(span) for span in mark.data]
            kept = [mark.position, mark.settled, mark.end, mark.flush, data]
            entry["partitions"][str(number)] = [*kept, True] if mark.is_old else kept
        for topic in self.gone & topics.keys():
            topics[topic]["gone"] = True
        return {"topics": topics, "gaps": [asdict(gap) for gap in self.gaps]}

    @classmethod
    def of_data(cls, data: Mapping[str, Any] | None) -> Marks:
        """The marks of JSON; none where there are none."""
        topics = (data or {}).get("topics", {})
        marks = {
            (topic, int(number)): _mark_of(mark)
            for topic, entry in topics.items()
            for number, mark in entry["partitions"].items()
        }
        gaps = [of_known(Gap, gap) for gap in (data or {}).get("gaps", ())]
        ids = {topic: entry["id"] for topic, entry in topics.items() if entry["id"]}
        return cls(ids, marks, gaps, gone=frozenset(topic for topic, entry in topics.items() if entry.get("gone")))


def in_doubt(seen: Seen, before: Marks) -> list[Key]:
    """Return the partitions whose log lost offsets, from below or from its end, that no look has seen settled."""
    same = [key for key in seen.logs if _same_topic(seen, before, key[0])]
    return [key for key in same if _lost(seen, before, key) or _cut_off(seen, before, key)]


def vanished(seen: Seen, before: Marks) -> list[Key]:
    """Return the partitions whose topic is gone, or another one by now, with records that a look read before."""
    known = [key for key, mark in before.partitions.items() if mark.data]
    return [key for key in known if key not in seen.logs or not _same_topic(seen, before, key[0])]


def unread(seen: Seen, before: Marks) -> dict[Key, Range]:
    """Say where a look is to read which offsets are records: by partition the first offset, and the one after the last.

    That is above the position of a mirror that is behind, and at the beginning of a log that may not be the one to
    which the position belongs. What the last look read there is not read again. Where very many partitions are behind,
    a look reads less of each.
    """
    ranges = {}
    for key, log in seen.logs.items():
        position, mark = seen.positions.get(key), _mark(before, key)
        if log.start is None or log.end is None or position is None or made_anew(seen, key):
            continue
        is_same = _same_topic(seen, before, key[0])
        if not is_same or (mark.settled is None and mark.end is not None):
            first = log.start
        elif lag(seen, key):
            first = reached(log, position)
        else:
            continue
        last = min(first + HEAD, log.end)
        is_read = is_same and mark.data and (mark.position, mark.settled) == (first, first) and last <= (mark.end or 0)
        if first < last and not is_read:
            ranges[key] = (first, last)
    head = min(HEAD, max(1, MOST // max(1, len(ranges))))
    return {key: (first, min(first + head, last)) for key, (first, last) in ranges.items()}


def pending(lost: Iterable[Gap], before: Marks) -> bool:
    """Tell whether there is a gap of deleted records, or of a deleted topic, that no earlier look has found.

    The position of a mirror that runs is as old as its last flush, so such a one is looked at a second time.
    """
    known = {(gap.kind, gap.topic, gap.partition, gap.first) for gap in before.gaps}
    aged = [gap for gap in lost if gap.kind != TRUNCATED and gap.first is not None]
    return any((gap.kind, gap.topic, gap.partition, gap.first) not in known for gap in aged)


def gaps(
    seen: Seen,
    before: Marks,
    syncs: Mapping[Key, Sequence[Sync]],
    covers: Callable[[str], bool] = lambda _topic: False,
    policies: Mapping[str, str] | None = None,
) -> list[Gap]:
    """The gaps between two looks. C(syncs) are those of the partitions in doubt, as far as there are any.

    covers -- whether the flow mirrors a topic of this name; one that it covers and no look finds any more is deleted.
    policies -- C(cleanup.policy) of the topics in doubt; nothing that was purged from a topic without one is certain.
    """
    again = {key: read_before(trail) for key, trail in syncs.items()}
    losses: list[Gap] = []
    for topic in sorted({topic for topic, _number in seen.logs}):
        keys = sorted(key for key in seen.logs if key[0] == topic)
        if _same_topic(seen, before, topic):
            for key in keys:
                doubt, data = _doubt_of((policies or {}).get(topic)), _mark(before, key).data
                purged = _purged(seen, before, key, syncs.get(key, ()))
                losses += [_judged(gap, data, doubt or _passed(gap, again), copied) for gap, copied in purged]
                losses += _truncated(seen, before, key)
                losses += _cut(seen, before, key, again)
                losses += _grown_past(seen, before, key)
        else:
            lost = [*_of_the_old(seen, before, topic, again), *_of_the_new(seen, before, keys)]
            is_told = any(gap.kind == DELETED and gap.topic == topic for gap in before.gaps)
            losses += lost or ([] if is_told else [Gap(RECREATED, topic)])
    for topic in sorted(filter(covers, gone_topics(seen, before))):
        # No other log has taken its name, so a position is one of it.
        losses += [
            _judged(replace(gap, kind=DELETED), _mark(before, (topic, gap.partition or 0)).data, _passed(gap, again))
            for gap in _of_the_old(seen, before, topic, again)
        ]
    return losses


def gone_topics(seen: Seen, before: Marks) -> set[str]:
    """Return the topics of earlier looks that this look did not find, also those that the flow no longer covers."""
    return {topic for topic, _number in before.partitions} - {topic for topic, _number in seen.logs}


def marks(
    seen: Seen,
    before: Marks,
    lost: Sequence[Gap],
    at: str,
    clock: str = "",
    covers: Callable[[str], bool] = lambda _topic: False,
) -> Marks:
    """Return what this look leaves for the next. C(at) is the time of the look as text, C(clock) whose clock told it.

    Topics that are gone are kept, so that one which is created again is known to be another one. C(covers) as for
    C(gaps): of a topic that the flow does not cover nobody knows whether it is gone.
    """
    partitions = {key: mark for key, mark in before.partitions.items() if key not in seen.logs}
    for key, log in seen.logs.items():
        settled = _settled(seen, before, key)
        data = _data(seen, before, key, settled)
        position, was = seen.positions.get(key), _mark(before, key)
        is_other_log = was.is_old or not _same_topic(seen, before, key[0])
        is_old = position is not None and position == was.position and is_other_log
        partitions[key] = Mark(position, settled, log.end, seen.flushes.get(key), data, is_old)
    merged_gaps = merged(before.gaps, lost, at)[-KEPT:]
    gone = frozenset(filter(covers, gone_topics(seen, before)))
    return Marks({**before.ids, **seen.ids}, partitions, merged_gaps, Moment(at, clock), gone)


def forgotten(before: Marks) -> Marks:
    """The same marks, of whose gaps nothing is said any more."""
    return replace(before, gaps=[replace(gap, forgotten=True) for gap in before.gaps])


def told(known: Marks) -> list[Gap]:
    """The gaps of which a status tells."""
    return [gap for gap in known.gaps if not gap.forgotten]


def _same_topic(seen: Seen, before: Marks, topic: str) -> bool:
    """Tell whether it is the topic of the last look; brokers before Kafka 2.8 tell no ids."""
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


def _purged(seen: Seen, before: Marks, key: Key, syncs: Sequence[Sync]) -> Iterator[tuple[Gap, int]]:
    """Yield what the source deleted before it was copied, each with how many of its offsets may have been copied."""
    lost = _lost(seen, before, key)
    if lost is None:
        return
    position, start = seen.positions[key], lost[1] + 1
    log = Gap(PURGED, *key, topic_id=seen.ids.get(key[0], ""))
    if position < start and not (syncs and syncs[-1][0] >= start):
        yield replace(log, first=lost[0], last=lost[1]), 0
        return
    # The mirror has passed these offsets. It read them before they were deleted, unless its syncs show a hole. A topic
    # that has holes elsewhere has them by compaction or transactions, so there they prove nothing; and nothing is known
    # of elsewhere when all its syncs are later ones.
    holes = holes_of(syncs) if syncs and syncs[0][0] <= lost[0] else []
    for part, copied in parts_of(holes, lost, [hole for hole in holes if not _is_known(hole, before, log)]):
        missing = part.missing if part.missing < part.span else None
        yield replace(log, first=part.first, last=part.last, missing=missing), copied


def _is_known(hole: Hole, before: Marks, log: Gap) -> bool:
    return any(
        gap.first is not None and gap.last is not None and gap.first <= hole.last and hole.first <= gap.last
        for gap in before.gaps
        if (gap.topic, gap.partition) == (log.topic, log.partition) and gap.may_share_log(log)
    )


def _truncated(seen: Seen, before: Marks, key: Key) -> Iterator[Gap]:
    """Yield what stood between the end of the log and the position; once, at the look that finds the position beyond.

    Without an earlier look that knew the position in this log, it may be one of a topic that is long gone.
    """
    if made_anew(seen, key) and _mark(before, key).settled is not None:
        yield Gap(TRUNCATED, *key, first=seen.tops[key], last=seen.positions[key] - 1)


def _cut(seen: Seen, before: Marks, key: Key, again: Mapping[Key, int]) -> Iterator[Gap]:
    """Yield the records that a log lost at its end and that were not mirrored; C(again) as for C(_passed)."""
    if lost := _cut_off(seen, before, key):
        # A mirror that stood beyond the new end begins anew, and its position tells no more how far it had come.
        doubt = "" if _is_of_the_old(seen, _mark(before, key), key) else MOVED_ON
        gap = Gap(CUT, *key, first=lost[0][0], last=lost[-1][1])
        yield _judged(gap, lost, doubt or _passed(gap, again))


def _cut_off(seen: Seen, before: Marks, key: Key) -> list[Range]:
    """Return what an earlier look read as records above what is now the end of the log, and that were not mirrored.

    The end of what is committed does not fall but by a log that was cut (an unclean election).
    """
    end = seen.logs[key].end
    return [] if end is None else within(_mark(before, key).data, max(end, seen.positions.get(key, 0)))


def _grown_past(seen: Seen, before: Marks, key: Key) -> Iterator[Gap]:
    """Yield what a topic that was made anew holds below a position that lay beyond its end at the last look."""
    mark, log, position = _mark(before, key), seen.logs[key], seen.positions.get(key)
    if not mark.is_old or mark.settled is not None or mark.end is None or position is None or position != mark.position:
        return
    is_anew = any(gap.kind == RECREATED and gap.topic == key[0] for gap in before.gaps)
    # At the end stands a mirror too that has read all of the new log.
    if is_anew and log.start is not None and log.end is not None and max(mark.end, log.start) < position < log.end:
        yield _of_the_new_log(seen, before, key, (log.start, position - 1))


def _of_the_old(seen: Seen, before: Marks, topic: str, again: Mapping[Key, int]) -> Iterator[Gap]:
    """Yield what the deleted topic held at the last look that was not in the target; C(again) as for C(_passed)."""
    for key, mark in sorted(before.partitions.items()):
        # A first look that came after a loss knows only of the records that it read.
        settled = mark.data[0][0] if mark.settled is None and mark.data else mark.settled
        if key[0] != topic or settled is None or mark.end is None:
            continue
        # It may have been mirrored further before it was deleted.
        first = max(settled, min(seen.positions.get(key, 0), mark.end))
        if first < mark.end and not _is_told(before, key, (first, mark.end - 1)):
            doubt = "" if _is_of_the_old(seen, mark, key) else MOVED_ON
            gap = Gap(RECREATED, *key, first=first, last=mark.end - 1)
            yield _judged(gap, mark.data, doubt or _passed(gap, again))


def _is_told(before: Marks, key: Key, lost: Range) -> bool:
    """Tell whether a look found the loss while the topic was away, before it was created again."""
    known = (gap for gap in before.gaps if gap.kind == DELETED and (gap.topic, gap.partition) == key)
    return any((gap.first, gap.last) == lost for gap in known)


def _is_of_the_old(seen: Seen, mark: Mark, key: Key) -> bool:
    """Tell whether the position still is of the log before: nobody wrote it since, or it lies beyond the new log."""
    position, known = seen.positions.get(key, -1), mark.position or 0
    return _stands_still(seen, mark, key) or (position >= known and made_anew(seen, key))


def _stands_still(seen: Seen, mark: Mark, key: Key) -> bool:
    """Tell whether the mirror has not moved since the look before.

    The same position alone does not tell: a mirror that began the new log anew passes the old position too. The group
    of the legacy engine does not tell when it committed.
    """
    return mark.flush is not None and seen.flushes.get(key) == mark.flush and seen.positions.get(key) == mark.position


def _of_the_new_log(seen: Seen, before: Marks, key: Key, skipped_range: Range) -> Gap:
    """Return what a new log holds below a position of the old log: certain only if the mirror has not moved since."""
    first, last = skipped_range
    doubt = "" if _stands_still(seen, _mark(before, key), key) else STILL_THERE
    gap = _judged(Gap(RECREATED, *key, first=first, last=last), seen.data.get(key, ()), doubt)
    return gap if gap.certain else replace(gap, doubt=STILL_THERE)


def _of_the_new(seen: Seen, before: Marks, keys: Iterable[Key]) -> Iterator[Gap]:
    """Yield what the new topic holds below the position of the old one, from which the mirror goes on."""
    for key in keys:
        log, position = seen.logs[key], seen.positions.get(key)
        if position is None or log.start is None or log.end is None or position != _mark(before, key).position:
            continue
        # A position beyond the end makes the mirror begin at the first record; at the end stands one too that has read
        # all of the new log.
        if log.start < position < log.end:
            yield _of_the_new_log(seen, before, key, (log.start, position - 1))


def within(data: Iterable[Range], first: int, last: int | None = None) -> list[Range]:
    """The parts of these ranges from first to last, both included; None: however far they go."""
    parts = ((max(span[0], first), span[1] if last is None else min(span[1], last)) for span in data)
    return [part for part in parts if part[0] <= part[1]]


def _judged(gap: Gap, data: Iterable[Range], doubt: str = "", copied: int = 0) -> Gap:
    """The gap with the number of its records that a look read; certain where there are any and nothing is in doubt.

    copied -- how many of its offsets may have been copied since that look: so many of the records are not counted.
    """
    counted = sum(last - first + 1 for first, last in within(data, gap.first or 0, gap.last))
    if not counted:
        doubt = UNSEEN
    elif counted <= copied:
        doubt = doubt or UNPLACED
    return replace(gap, certain=not doubt, counted=max(0, counted - copied), doubt=doubt)


def _passed(gap: Gap, again: Mapping[Key, int]) -> str:
    """Return the doubt about a gap that the mirror may have passed before it went back in the log, or none.

    C(again) -- by partition the offset below which it had read then (C(read_before)).
    """
    return READ_AGAIN if (gap.first or 0) < again.get((gap.topic, gap.partition or 0), 0) else ""


def _doubt_of(policy: str | None) -> str:
    """Return what C(cleanup.policy) of a topic leaves in doubt about records that a look saw before their deletion."""
    if policy is None:
        return NO_POLICY
    return COMPACTED if "compact" in policy else ""


def _data(seen: Seen, before: Marks, key: Key, settled: int | None) -> Sequence[Range]:
    """The records that this look or one before read and that are not in the target, as far as they are kept."""
    position = seen.positions.get(key)
    if position is None or made_anew(seen, key):
        return ()
    known, end = list(_mark(before, key).data) if _same_topic(seen, before, key[0]) else [], seen.logs[key].end
    frontier = seen.frontiers.get(key, 0)
    # The frontier is the offset after a record, but where it is the position itself.
    last = [(frontier - 1, frontier - 1)] if frontier > reached(seen.logs[key], position) else []
    joined: list[Range] = []
    for first, until in sorted([*known, *seen.data.get(key, ()), *last]):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], until))
        else:
            joined.append((first, until))
    kept = within(joined, position if settled is None else settled, None if end is None else end - 1)
    return tuple(kept if len(kept) <= RANGES else [*kept[: RANGES - 1], kept[-1]])


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
