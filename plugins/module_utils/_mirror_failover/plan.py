# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Judge what a planned failover of a mirrored site would cost now. Pure: no clock, no two clocks compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from .._cluster.snapshot import Key
from .._core.names import capped
from .._groups.model import SHARE
from .._mirror.canary import PREFIX
from .._mirror.flows import Flow, remote_topic, translates
from .._mirror.status import Pulse, judged, lag
from .._mirror.trail import Place, place_of
from .model import (
    KNOWN,
    NO_COPY,
    NO_OFFSET,
    OUT_OF_RANGE,
    GroupPlan,
    Look,
    PartitionPlan,
    Plan,
    Reader,
    Reading,
    Span,
)

#: Names in a sentence.
_NAMES = 5


def plan_of(flow: Flow, look: Look) -> Plan:
    """Return what a failover now would cost, and what speaks against it."""
    partitions = [_partition(look, key) for key in sorted(look.seen.logs)]
    groups = [
        _group(flow, look, reader) for reader in sorted(look.readers, key=lambda reader: reader.group.listed.name)
    ]
    against = [*judged(flow, look.seen, 0, Pulse(), 0)["problems"], *_against(flow, look)]
    notes = [*_notes(flow, look), *_group_notes(flow, groups), *_beyond(look, groups)]
    return Plan(flow.pair, flow.target, look.seconds, partitions, groups, against, notes)


def _partition(look: Look, key: Key) -> PartitionPlan:
    copy = look.copies.get(key)
    before, after = look.tops_before.get(key), look.tops_after.get(key)
    # The canary writes all the time, and stops by itself.
    is_watched = before is not None and after is not None and not key[0].startswith(f"{PREFIX}.")
    end = look.ends_after.get(key)
    there = copy.end if copy else None
    return PartitionPlan(
        topic=key[0],
        partition=key[1],
        source_end=look.seen.logs[key].end,
        target_end=there,
        lag=lag(look.seen, key),
        grown=max(0, (after or 0) - (before or 0)) if is_watched else 0,
        is_open=end is not None and before is not None and end < before,
        grown_there=max(0, (there or 0) - look.copied_before.get(key, there or 0)) if is_watched else 0,
    )


def _group(flow: Flow, look: Look, reader: Reader) -> GroupPlan:
    listed = reader.group.listed
    covered = {topic for topic, _number in look.seen.logs}
    readings = [
        _reading(flow, look, reader, key, offset.next)
        for key, offset in sorted(reader.offsets.of.items())
        if key in look.seen.logs and offset.next is not None and listed.type != SHARE
    ]
    errors = [reader.group.error, reader.offsets.error, *(offset.error for offset in reader.offsets.of.values())]
    there = [reader.there.error if reader.there else "", reader.offsets_there.error]
    texts = [text for text in errors if text] + [f"in {flow.target}: {text}" for text in there if text]
    return GroupPlan(
        name=listed.name,
        type=listed.type,
        members=len(reader.group.members),
        members_there=len(reader.there.members) if reader.there else 0,
        is_translated=listed.type != SHARE and translates(flow, listed.name),
        readings=readings,
        elsewhere=sorted({topic for topic, _number in reader.offsets.of} - covered),
        error=texts[0] if texts else "",
    )


def _reading(flow: Flow, look: Look, reader: Reader, key: Key, committed: int) -> Reading:
    name = reader.group.listed.name
    there = reader.offsets_there.of.get((remote_topic(flow, key[0]), key[1]))
    start, checkpoint = there.next if there else None, look.checkpoints.get((name, key))
    copy = look.copies.get(key)
    if copy is None or copy.start is None or copy.end is None:
        return Reading(*key, NO_COPY, committed, start, checkpoint, 0, 0, Span(), Span())
    place = _place(flow, look, name, key, committed, copy.start, copy.end)
    if start is None or not copy.start <= start <= copy.end:
        state = NO_OFFSET if start is None else OUT_OF_RANGE
        repeats = Span(place.low - copy.start, place.high - copy.start)
        skips = Span(copy.end - place.high, copy.end - place.low)
    else:
        state = KNOWN
        repeats = Span(max(0, place.low - start), max(0, place.high - start))
        skips = Span(max(0, start - place.high), max(0, start - place.low))
    return Reading(*key, state, committed, start, checkpoint, place.low, place.high, repeats, skips)


def _place(flow: Flow, look: Look, group: str, key: Key, committed: int, start: int, end: int) -> Place:
    """Return where the copy of the first record is that the group has not read."""
    place = place_of(look.syncs.get(key, ()), committed, start, end, flow.exactly_once != "disabled")
    checkpoint, sure = look.checkpoints.get((group, key)), [place.low]
    if checkpoint and checkpoint.upstream <= committed:
        # MirrorMaker 2 never translates to behind the record. Of a group that went back it tells nothing.
        sure.append(checkpoint.downstream)
    if _has_read_all(look, key, committed):
        # What the target had before the source was looked at, the group has read.
        sure.append(look.copied_before.get(key, start))
    # What lies behind the upper bound is of another log of the target, or others write into it too.
    return Place(max(offset for offset in sure if offset <= place.high), place.high)


def _has_read_all(look: Look, key: Key, committed: int) -> bool:
    """Return whether the group has read each committed record that the source had in the look."""
    end = look.seen.logs[key].end
    return end is not None and look.seen.frontiers.get(key, end) <= committed <= end


def _against(flow: Flow, look: Look) -> Iterator[str]:
    lost = [gap.line for gap in look.gaps if gap.certain and gap.records]
    if lost:
        yield (
            f"{capped(lost, 3)}. Load these records into {flow.target} in another way, then forget them "
            "(mirror_gaps.yml)"
        )
    if look.hidden:
        yield f"groups are not known: {capped(sorted(look.hidden), 3)}. Start these brokers, then plan again"


def _notes(flow: Flow, look: Look) -> Iterator[str]:
    doubtful = [gap.line for gap in look.gaps if not (gap.certain and gap.records)]
    if doubtful:
        yield f"records may be missing: {capped(doubtful, 3)}"
    if look.only_there:
        yield (
            f"only {flow.target} has {capped(sorted(look.only_there), _NAMES)}: deleted in {flow.source}, or no copy "
            "of this flow"
        )


def _group_notes(flow: Flow, groups: Sequence[GroupPlan]) -> Iterator[str]:
    shared = [group.name for group in groups if group.type == SHARE]
    if shared:
        yield f"share groups have no offsets that can be brought over: {capped(shared, _NAMES)}"
    left_out = [group.name for group in groups if not group.is_translated and group.type != SHARE]
    if left_out:
        yield f"MirrorMaker does not translate the offsets of {capped(left_out, _NAMES)} (groups, groups_exclude)"
    for group in groups:
        if group.elsewhere:
            yield f"group {group.name} also reads what {flow.pair} does not copy: {capped(group.elsewhere, _NAMES)}"


def _beyond(look: Look, groups: Iterable[GroupPlan]) -> Iterator[str]:
    for group in groups:
        ends = {(reading.topic, reading.partition): reading.committed for reading in group.readings}
        logs = {f"{key[0]}-{key[1]}": (offset, look.seen.logs[key].end) for key, offset in ends.items()}
        beyond = [f"{place} ({offset}, end {end})" for place, (offset, end) in logs.items() if offset > (end or offset)]
        if beyond:
            yield f"group {group.name} stands beyond the end of {capped(beyond, _NAMES)}: made anew, or cut short"


def offsets_there(flow: Flow, plan: Plan) -> list[dict[str, Any]]:
    """Return the offsets of the target from which no group skips a record, as group_offsets takes them from a file.

    Without groups of which it is not known how far they have read, and without places beyond the end of the source.
    """
    ends = {(row.topic, row.partition): row.source_end for row in plan.partitions}
    found = []
    for group in plan.groups:
        topics: dict[str, list[dict[str, int]]] = {}
        for reading in () if group.error else group.readings:
            end = ends[reading.topic, reading.partition]
            if reading.state != NO_COPY and end is not None and reading.committed <= end:
                place = {"partition": reading.partition, "committed": reading.low}
                topics.setdefault(remote_topic(flow, reading.topic), []).append(place)
        if topics:
            entries = [{"name": name, "partitions": places} for name, places in sorted(topics.items())]
            found.append({"name": group.name, "topics": entries})
    return found


def lines(plan: Plan, stage: Sequence[str] = ()) -> list[str]:
    """Return the plan for people, the most important first; C(stage) are lines that say how far the failover is."""
    done = sum(not row.lag for row in plan.partitions)
    to_copy = by_topic((row.topic, row.lag) for row in plan.partitions)
    return [
        f"Failover     {plan.flow}, what it would cost now",
        *stage,
        *(f"Against      {reason}" for reason in plan.against),
        f"Copy         {done} of {len(plan.partitions)} partitions are complete, {plan.to_copy:,} records are not in "
        f"{plan.target}{to_copy}",
        f"Writers      {_writers(plan)}",
        *_open_lines(plan),
        *(line for group in plan.groups for line in _group_lines(plan, group)),
        *([] if plan.groups else ["Group        none reads topics of the flow"]),
        *(f"Note         {note}" for note in plan.notes),
    ]


def by_topic(figures: Iterable[tuple[str, int]]) -> str:
    """Return the topics with the largest figures in brackets; empty where all are 0."""
    sums: dict[str, int] = {}
    for topic, figure in figures:
        sums[topic] = sums.get(topic, 0) + figure
    largest = sorted((topic for topic in sums if sums[topic]), key=lambda topic: (-sums[topic], topic))
    return f" ({capped([f'{topic} {sums[topic]:,}' for topic in largest], _NAMES)})" if largest else ""


def _writers(plan: Plan) -> str:
    grown = sum(row.grown for row in plan.partitions)
    within = f"within {plan.seconds:.0f} s"
    if not grown:
        return f"no topic has grown {within}"
    return f"still write: {grown:,} records {within}{by_topic((row.topic, row.grown) for row in plan.partitions)}"


def _open_lines(plan: Plan) -> list[str]:
    places = [f"{row.topic}-{row.partition}" for row in plan.partitions if row.is_open]
    if not places:
        return []
    return [
        f"Transaction  open for all that time: {capped(places, _NAMES)}. What it wrote is not copied before it ends"
    ]


def _group_lines(plan: Plan, group: GroupPlan) -> list[str]:
    """Return a group in a line for what it would read now, and one for what it would once its offsets are set."""
    if group.error:
        return [f"Group        {group.name}: not known how far it has read: {group.error}"]
    at_home, there = members_in_words(group.members), members_in_words(group.members_there)
    begin = f"Group        {group.name} ({at_home}{f', {there} in {plan.target}' if group.members_there else ''})"
    known = [reading for reading in group.readings if reading.state == KNOWN]
    unplaced = [reading for reading in group.readings if reading.state in (NO_OFFSET, OUT_OF_RANGE)]
    uncopied = [reading for reading in group.readings if reading.state == NO_COPY]
    texts = []
    if known:
        repeats, skips = _total(reading.repeats for reading in known), _total(reading.skips for reading in known)
        texts.append(f"would read {repeats} records again and skip {skips}")
    if unplaced:
        repeats, skips = _total(reading.repeats for reading in unplaced), _total(reading.skips for reading in unplaced)
        texts.append(
            f"has no valid offset in {plan.target} for {_places(unplaced)}: auto.offset.reset earliest would read "
            f"{repeats} records again, latest would skip {skips}"
        )
    if known or unplaced:
        after = _total(reading.repeats_after for reading in (*known, *unplaced))
        texts.append(f"with its offsets brought over it would read {after} again and skip 0")
    if uncopied:
        texts.append(f"{plan.target} has no copy of {_places(uncopied)}")
    return [f"{begin}: {text}" for text in texts or ["has no offset in topics of the flow"]]


def places_of(group: Mapping[str, Any]) -> dict[Key, int]:
    """Return the offsets of a group, as a plan has them for group_offsets, by partition of the target."""
    return {
        (topic["name"], place["partition"]): place["committed"]
        for topic in group["topics"]
        for place in topic["partitions"]
    }


def members_in_words(number: int) -> str:
    """Return a number of members of a group in words."""
    return f"{number} member{'' if number == 1 else 's'}"


def _places(readings: Sequence[Reading]) -> str:
    return capped([f"{reading.topic}-{reading.partition}" for reading in readings], _NAMES)


def _total(spans: Iterable[Span]) -> Span:
    return sum(spans, Span())
