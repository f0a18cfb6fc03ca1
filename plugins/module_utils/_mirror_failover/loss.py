# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Judge what is lost with the source of a flow, by what its target has. Pure: no clock, no two clocks compared.

The target has the marks of the last look for gaps (how far the source went, and when that was known), the positions
that MirrorMaker 2 wrote down, the copies, and the checkpoints of groups. A position is as old as its last flush, so a
mirror that was killed may have copied more: figures of lost records are at most.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .._cluster.snapshot import Key
from .._core.names import capped
from .._core.times import iso, milliseconds
from .._groups.model import CLASSIC, SHARE, Group, Listed, Offsets
from .._mirror.canary import is_probe
from .._mirror.flows import Flow, matches, remote_topic, source_topic
from .._mirror.gaps import Mark, Marks, Moment, told, within
from .._mirror.status import Log
from .model import KNOWN, NO_COPY, NO_OFFSET, OUT_OF_RANGE, Checkpoint, Span
from .plan import by_topic, members_in_words
from .record import MOVED

#: A group whose place MirrorMaker 2 did not set: it lies behind its last checkpoint, or it has none.
AHEAD = "ahead"
#: Names in a sentence.
_NAMES = 5


@dataclass(frozen=True)
class Survivors:
    """What was read of the target alone. Partitions are those of the source, also where a figure is of their copies.

    marks -- those of the last look for gaps, with its time. now -- when the target was read. newest -- the latest time
    of records of each copy, in ms since 1970, by the clocks of those who wrote them. checkpoint_at -- when MirrorMaker
    2 wrote its last checkpoint, in ms by its clock. hidden -- brokers that did not tell their groups, and the group
    of the mirrors where it is not known, with why.
    workers -- mirrors that run the flow. answer -- how the source answered, empty where it did not; silence -- why not.
    """

    marks: Marks
    now: Moment
    positions: Mapping[Key, int] = field(default_factory=dict)
    copies: Mapping[Key, Log] = field(default_factory=dict)
    newest: Mapping[Key, int] = field(default_factory=dict)
    checkpoints: Mapping[tuple[str, Key], Checkpoint] = field(default_factory=dict)
    checkpoint_at: int | None = None
    groups: Sequence[tuple[Group, Offsets]] = ()
    hidden: Sequence[str] = ()
    workers: int = 0
    answer: str = ""
    silence: str = ""


@dataclass(frozen=True)
class PartitionLoss:
    """A partition of the source that is lost.

    source_end -- the end that the source is known to have had, None where nothing tells it. copied -- the offset of the
    source below which all is in the target, None where it is not known. missing -- records between these two, None
    where C(source_end) is; none of a topic that was deleted in the source before, of which the gaps tell.
    """

    topic: str
    partition: int
    source_end: int | None
    copied: int | None
    target_end: int | None
    missing: Span | None


@dataclass(frozen=True)
class Landing:
    """Where a group goes on in the copy of a partition.

    there -- its offset in the target, None without one. begin -- where it begins once the step moved is taken; None
    where auto.offset.reset of its clients decides. repeats -- what it reads again from there.
    """

    topic: str
    partition: int
    state: str
    there: int | None
    checkpoint: Checkpoint | None
    begin: int | None
    repeats: Span

    @property
    def is_to_set(self) -> bool:
        """Return whether the step moved sets the offset of the group here."""
        return self.begin is not None and self.begin != self.there


@dataclass(frozen=True)
class GroupLoss:
    """A group that reads copies of the flow; C(error) says why its offsets in the target are not known."""

    name: str
    type: str
    members: int
    landings: Sequence[Landing]
    error: str = ""

    @property
    def is_to_set(self) -> bool:
        """Return whether the step moved sets an offset of the group."""
        return not self.error and any(landing.is_to_set for landing in self.landings)


@dataclass(frozen=True)
class LossPlan:
    """What is lost with the source, as far as the target knows.

    looked -- when the source was last looked at, None where no look was kept or its time was not. age -- seconds since
    then, None where another clock told it. against -- reasons why the next step must not be taken.
    """

    flow: str
    target: str
    looked: Moment | None
    now: Moment
    age: int | None
    partitions: Sequence[PartitionLoss]
    groups: Sequence[GroupLoss]
    newest: Mapping[str, str]
    checkpoint_at: str
    workers: int
    against: Sequence[str]
    notes: Sequence[str]

    @property
    def missing(self) -> Span | None:
        """Return the records that the source is known to have had and the target lacks; None where no look is kept."""
        known = [row.missing for row in self.partitions if row.missing is not None]
        return sum(known, Span()) if known else None


def loss_of(flow: Flow, left: Survivors) -> LossPlan:
    """Return what is lost with the source of a flow, and where each group goes on."""
    keys = {key for key in (*left.marks.partitions, *left.positions) if matches(flow, key[0])} | set(left.copies)
    # Nobody misses the events of a canary, or the records of a drill.
    partitions = [_partition(left, key) for key in sorted(keys) if not is_probe(key[0])]
    listed = {group.listed.name for group, _offsets in left.groups}
    # Brokers do not list a group before it has an offset.
    unlisted = sorted({name for name, _key in left.checkpoints} - listed)
    everybody = [*left.groups, *((Group(Listed(name, CLASSIC, "", "", -1)), Offsets()) for name in unlisted)]
    groups = [loss for group, offsets in everybody if (loss := _group(flow, left, group, offsets)).landings]
    looked = left.marks.looked if left.marks.partitions else None
    is_one_clock = looked is not None and looked.clock == left.now.clock
    return LossPlan(
        flow=flow.pair,
        target=flow.target,
        looked=looked,
        now=left.now,
        age=_seconds(left.now) - _seconds(looked) if looked and is_one_clock else None,
        partitions=partitions,
        groups=sorted(groups, key=lambda group: group.name),
        newest=_newest(left),
        checkpoint_at=(iso(left.checkpoint_at) if left.checkpoint_at else None) or "",
        workers=left.workers,
        against=list(_against(flow, left)),
        notes=list(_notes(flow, left, groups)),
    )


# -- records -------------------------------------------------------------------------------------------------------


def _partition(left: Survivors, key: Key) -> PartitionLoss:
    mark, copy = left.marks.partitions.get(key), left.copies.get(key)
    copied = _copied(mark, left.positions.get(key))
    # Without a mark nothing tells how far the source went: a position is no end.
    end = None if mark is None or mark.end is None else max(mark.end, copied or 0)
    missing = None
    if key[0] in left.marks.gone:
        missing = Span()
    elif mark is not None and end is not None:
        sure = within(mark.data, copied or 0, end - 1)
        missing = Span(sum(last - first + 1 for first, last in sure), end - (copied or 0))
    return PartitionLoss(*key, end, copied, copy.end if copy else None, missing)


def _copied(mark: Mark | None, position: int | None) -> int | None:
    """Return the offset of the source below which all is in the target; None where nothing that is known tells it."""
    if mark is None:
        return position
    is_same = position is not None and position == mark.position
    is_beyond = mark.settled is None and mark.end is not None and (position or 0) > mark.end
    if is_same and (mark.is_old or is_beyond):
        # It is a position in a log whose topic was made anew, or that was cut: it says nothing of this log.
        return mark.settled
    return max((offset for offset in (position, mark.settled) if offset is not None), default=None)


def _newest(left: Survivors) -> dict[str, str]:
    """Return by topic of the source the latest time of the records of its copy."""
    latest: dict[str, int] = {}
    for (topic, _number), at in left.newest.items():
        if not is_probe(topic):
            latest[topic] = max(at, latest.get(topic, 0))
    return {topic: iso(at) or "" for topic, at in sorted(latest.items())}


def _seconds(moment: Moment) -> int:
    return milliseconds(moment.at, "the time of a look") // 1000


def copied_of(plan: LossPlan) -> dict[str, dict[str, int]]:
    """Return by topic and partition of the source how far it is copied, for the record of the failover."""
    return _recorded((row, row.copied) for row in plan.partitions)


def ends_of(plan: LossPlan) -> dict[str, dict[str, int]]:
    """Return by topic and partition of the source where its copy ends, for the record of the failover."""
    return _recorded((row, row.target_end) for row in plan.partitions)


def _recorded(offsets: Iterable[tuple[PartitionLoss, int | None]]) -> dict[str, dict[str, int]]:
    recorded: dict[str, dict[str, int]] = {}
    for row, offset in offsets:
        if offset is not None:
            recorded.setdefault(row.topic, {})[str(row.partition)] = offset
    return recorded


def ids_of(flow: Flow, left: Survivors) -> dict[str, str]:
    """Return the ids that the topics of the source had at the last look, for the record of the failover."""
    return {topic: uuid for topic, uuid in left.marks.ids.items() if matches(flow, topic)}


# -- groups --------------------------------------------------------------------------------------------------------


def _group(flow: Flow, left: Survivors, group: Group, offsets: Offsets) -> GroupLoss:
    name = group.listed.name
    there = {
        (topic, number): offset.next
        for (copy, number), offset in offsets.of.items()
        if (topic := source_topic(flow, copy)) is not None and offset.next is not None
    }
    keys = {*there, *(key for who, key in left.checkpoints if who == name)}
    landings = [_landing(left, name, key, there.get(key)) for key in sorted(keys)]
    errors = [group.error, offsets.error, *(offset.error for offset in offsets.of.values())]
    error = next((text for text in errors if text), "")
    return GroupLoss(name, group.listed.type, len(group.members), landings, error)


def _landing(left: Survivors, group: str, key: Key, there: int | None) -> Landing:
    copy, checkpoint = left.copies.get(key), left.checkpoints.get((group, key))
    if copy is None or copy.start is None or copy.end is None:
        return Landing(*key, NO_COPY, there, checkpoint, None, Span())
    if there is not None and copy.start <= there <= copy.end:
        state = KNOWN if checkpoint and there <= max(checkpoint.downstream, copy.start) else AHEAD
        return Landing(*key, state, there, checkpoint, there, Span(0, copy.end - there))
    state = NO_OFFSET if there is None else OUT_OF_RANGE
    if checkpoint is None:
        return Landing(*key, state, there, None, None, Span())
    # A checkpoint beyond the end is of a copy that is gone: from the first record of this one no record is skipped.
    begin = checkpoint.downstream if copy.start <= checkpoint.downstream <= copy.end else copy.start
    return Landing(*key, state, there, checkpoint, begin, Span(0, copy.end - begin))


def offsets_to_set(flow: Flow, plan: LossPlan) -> dict[str, dict[Key, int]]:
    """Return by group and partition of the target the offsets that groups lack there."""
    return {
        group.name: {
            (remote_topic(flow, landing.topic), landing.partition): landing.begin
            for landing in group.landings
            if landing.is_to_set and landing.begin is not None
        }
        for group in plan.groups
        if group.is_to_set
    }


# -- steps ---------------------------------------------------------------------------------------------------------


def answers(flow: Flow, answer: str) -> str:
    """Return that a source is not lost, by how it answered."""
    return (
        f"{flow.source} is not lost: {answer}. While it lives, take the planned failover: leave out "
        "kafka_failover_source. If what is left of it cannot be saved, shut it down first, so that no client "
        "writes there."
    )


def _against(flow: Flow, left: Survivors) -> Iterator[str]:
    if left.answer:
        yield answers(flow, left.answer)
    if left.hidden:
        yield f"groups are not known: {capped(sorted(left.hidden), 3)}. Start these brokers, then plan again."
    silent = [
        f"{topic}-{number}" for (topic, number), log in sorted(left.copies.items()) if None in (log.start, log.end)
    ]
    if silent:
        yield (
            f"no broker of {flow.target} tells where the copies of {capped(silent, _NAMES)} begin and end. Start the "
            "brokers that lead them, then plan again."
        )


def _notes(flow: Flow, left: Survivors, groups: Sequence[GroupLoss]) -> Iterator[str]:
    if left.silence:
        yield (
            f"{flow.source} does not answer here ({left.silence}). Make sure that it is down for its clients too: what "
            f"they still write there is not in {flow.target}"
        )
    if gaps := [gap.line for gap in told(left.marks)]:
        yield f"lost before, or in doubt: {capped(gaps, 3)}"
    for group in groups:
        ahead = [landing for landing in group.landings if landing.state == AHEAD]
        if ahead:
            yield (
                f"group {group.name} has an offset that MirrorMaker did not set for {_places(ahead)}: a client has "
                f"committed in {flow.target}. It stays as it is"
            )


def unmoved_after_loss(plan: LossPlan) -> list[str]:
    """Return why offsets of groups cannot be set, a sentence each with its fix."""
    errors = [f"{group.name} ({group.error})" for group in plan.groups if group.error]
    busy = [f"{group.name} ({group.members})" for group in plan.groups if group.is_to_set and group.members]
    return [
        *plan.against,
        *([f"offsets of these groups are not known: {capped(errors, _NAMES)}. Run again."] if errors else []),
        *([f"groups with members in {plan.target}: {capped(busy, _NAMES)}. Stop them."] if busy else []),
    ]


def unturned_after_loss(plan: LossPlan, is_enabled: bool) -> list[str]:
    """Return why the target must not be opened: a source that comes back by itself would go on copying into it."""
    pair = plan.flow
    return [
        *unmoved_after_loss(plan),
        *([f"mirror_flows still enables {pair}. Set enabled: false, then take this step."] if is_enabled else []),
        *(
            [
                f"{plan.workers} mirrors still run {pair}, and would copy into {plan.target} once its source returns. "
                "Stop them (stop.yml --limit MIRROR), then take this step."
            ]
            if plan.workers
            else []
        ),
    ]


def reached_after_loss(flow: Flow, stage: str) -> list[str]:
    """Return what people do after a step that has led to this stage."""
    if stage == MOVED:
        return [
            f"Do           in mirror_flows set enabled: false for {flow.pair}, and stop its mirrors (stop.yml --limit "
            f"MIRROR); then take the next step, which opens {flow.target}"
        ]
    return [
        f"Do           start consumers and writers at {flow.target}",
        f"Note         no step is left. When {flow.source} comes back, start no mirror between the two, and take the "
        "steps of mirror_failback.yml (docs/failover.md): it may have records that nobody copied",
    ]


# -- what people read ----------------------------------------------------------------------------------------------


def loss_lines(plan: LossPlan, stage: Sequence[str] = ()) -> list[str]:
    """Return the plan for people, the most important first; C(stage) are lines that say how far the failover is."""
    return [
        f"Failover     {plan.flow}, the source is lost",
        *stage,
        *(f"Against      {reason}" for reason in plan.against),
        f"Known        {_known(plan)}",
        *_lost_lines(plan),
        *(
            [f"Newest       records in {plan.target} by the clocks of their writers: {_times(plan)}"]
            if plan.newest
            else []
        ),
        f"Checkpoint   {_checkpoint(plan)}",
        *group_lines_after_loss(plan),
        *(f"Note         {note}" for note in plan.notes),
    ]


def _known(plan: LossPlan) -> str:
    source = plan.flow.partition("->")[0]
    if plan.looked is None:
        if plan.missing is None:
            return f"no look at {source} was kept: how much is lost is not known"
        return f"when {source} was last looked at is not known, nor what was written there after that"
    since = (
        f"{plan.age:,} s ago by the clock of {plan.looked.clock}"
        if plan.age is not None
        else f"by the clock of {plan.looked.clock}; {plan.now.clock} has {plan.now.at} now"
    )
    return f"{source} was last looked at {plan.looked.at}, {since}. What was written there after that is not known"


def _lost_lines(plan: LossPlan) -> Iterator[str]:
    if plan.missing is not None:
        figures = ((row.topic, row.missing.at_most) for row in plan.partitions if row.missing)
        lost = f"{plan.missing} records were in the source then and are not in {plan.target}"
        yield f"Lost         {lost}{by_topic(figures)}"
    unknown = [f"{row.topic}-{row.partition}" for row in plan.partitions if row.missing is None]
    if unknown:
        yield f"Lost         not known, no look has told the end of {capped(unknown, _NAMES)}"


def _times(plan: LossPlan) -> str:
    return capped([f"{topic} {at}" for topic, at in plan.newest.items()], _NAMES)


def _checkpoint(plan: LossPlan) -> str:
    if not plan.checkpoint_at:
        return "MirrorMaker has written none: groups have only the offsets that they have in the target"
    return f"the last one that MirrorMaker wrote is of {plan.checkpoint_at}, by its clock"


def group_lines_after_loss(plan: LossPlan) -> list[str]:
    """Return for each group where it begins, and what it reads again at most."""
    return [line for group in plan.groups for line in _group_lines(plan, group)] or [
        f"Group        none is known in {plan.target}"
    ]


def _group_lines(plan: LossPlan, group: GroupLoss) -> Iterator[str]:
    begin = f"Group        {group.name} ({members_in_words(group.members)})"
    if group.error:
        yield f"{begin}: its offsets are not known: {group.error}"
        return
    if group.type == SHARE:
        yield f"{begin}: a share group, to which MirrorMaker brings no offsets"
        return
    kept = [landing for landing in group.landings if landing.state in (KNOWN, AHEAD)]
    if kept:
        yield f"{begin}: goes on at its offsets in {plan.target}, {_repeats(kept)}"
    if to_set := [landing for landing in group.landings if landing.is_to_set]:
        yield (
            f"{begin}: has no valid offset in {plan.target} for {_places(to_set)}; step moved sets those of its last "
            f"checkpoint, {_repeats(to_set)}"
        )
    if undecided := [landing for landing in group.landings if landing.state == OUT_OF_RANGE and landing.begin is None]:
        yield f"{begin}: its offset is not within {_places(undecided)}: auto.offset.reset of its clients decides"
    if uncopied := [landing for landing in group.landings if landing.state == NO_COPY]:
        yield f"{begin}: {plan.target} has no copy of {_places(uncopied)}"


def _repeats(landings: Iterable[Landing]) -> str:
    return f"reads {sum((landing.repeats for landing in landings), Span())} records again"


def _places(landings: Iterable[Landing]) -> str:
    return capped([f"{landing.topic}-{landing.partition}" for landing in landings], _NAMES)
