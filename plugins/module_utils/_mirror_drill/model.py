# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a drill of a failover makes, counts and says. Pure.

Each record carries its number in a header, which mirrors copy. So records of production keep their keys and values, and
each one is known again at the target.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

from .._cluster.snapshot import STATE_TOPIC, Key
from .._core.names import capped
from .._core.times import milliseconds
from .._mirror.canary import drill_pattern, drill_prefix
from .._mirror.flows import LEGACY, Flow, matches, remote_topic
from .._mirror_failover.model import Plan
from .._state.form import of_known

#: The header with the number of a record.
HEADER = "streamops-drill"
#: The most records, and bytes of keys and values, that a topic gets from production, and the fewest that it has: what
#: production lacks is filled up.
MOST_RECORDS, MOST_BYTES, FEWEST_RECORDS = 1000, 10 * 1024 * 1024, 200
#: The largest record that is taken, in bytes of its key and value.
MOST_RECORD_BYTES = 64 * 1024
#: Partitions of a topic of a drill: as many as the chosen topic has, but no more; without a chosen topic, three.
MOST_PARTITIONS, OWN_PARTITIONS = 12, 3
#: Topics that a drill takes at most.
MOST_TOPICS = 20
#: Milliseconds that a topic keeps its records, also where no later drill ever deletes it.
RETENTION_MS = 86_400_000
#: Days after which the last drill is old: it is to be run each month, and half a month is for whoever is late.
MOST_DAYS = 45
_DAY = 86_400
_NAMES = 5


class Content(NamedTuple):
    """Key and value of a record, and the partition that it goes to."""

    partition: int
    key: bytes | None
    value: bytes | None


class Numbered(NamedTuple):
    """A record of a drill as it was acknowledged by the source or read: its number, its place, and when.

    C(at) is of the clock of this machine that never goes back, in seconds.
    """

    number: int
    place: Key
    offset: int
    at: float


@dataclass(frozen=True)
class Own:
    """The topics of the source and the group that a drill made, or may have made. Its copies follow from the flow."""

    topics: tuple[str, ...]
    group: str

    def as_data(self) -> dict[str, Any]:
        """Return it as the target keeps it."""
        return {"topics": list(self.topics), "group": self.group}


@dataclass(frozen=True)
class Loss:
    """What the target lacked when the writer was cut.

    acknowledged -- records that the source had acknowledged by then. missing -- those of them that the target did not
    have. seconds -- how long ago the oldest of these was acknowledged; 0 without any. look_seconds -- how long it took
    to ask the target where its logs end: so much later than the cut the figures may be.
    """

    acknowledged: int
    missing: int
    seconds: float
    look_seconds: float


@dataclass(frozen=True)
class Counts:
    """The records of a drill, each counted at the target.

    acknowledged -- by the source. missing -- acknowledged and not in the target. again -- read by the group in the
    target though it had read them in the source; again_at_most -- what the plan allows. skipped -- never read by it.
    twice -- copies beyond the first of a record: mirrors without exactly_once may copy one twice.
    """

    acknowledged: int
    missing: int
    again: int
    again_at_most: int
    skipped: int
    twice: int


@dataclass(frozen=True)
class Outcome:
    """How a drill ended. C(at) is in UTC; C(by) is who ran it, empty where nobody was named.

    seconds -- of each part, in its order. rto_read, rto_written -- seconds from the last acknowledged record of the
    source to the first record that the group read, and that was written, in the target; None where it did not come to
    that, as the counts and the loss.
    """

    at: str
    by: str
    why: tuple[str, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    loss: Loss | None = None
    counts: Counts | None = None
    rto_read: float | None = None
    rto_written: float | None = None

    @property
    def ended_at(self) -> float:
        """Return C(at) in seconds since 1970; UnclearTimeError for a text that is no time."""
        return milliseconds(self.at, "the time of a drill") / 1000

    @property
    def passed(self) -> bool:
        """Return whether the failover would have gone as planned."""
        return not self.why

    @property
    def rto(self) -> float | None:
        """Return the seconds until the target had served both a reader and a writer."""
        if self.rto_read is None or self.rto_written is None:
            return None
        return max(self.rto_read, self.rto_written)

    def as_data(self) -> dict[str, Any]:
        """Return it as the target keeps it, and as the module returns it."""
        return {**asdict(self), "why": list(self.why), "passed": self.passed, "rto": self.rto}


@dataclass(frozen=True)
class Kept:
    """What the target keeps of the drills of a flow: what one has left, and how the last one ended."""

    left: Own | None = None
    last: Outcome | None = None

    def as_data(self) -> dict[str, Any]:
        """Return it as it is kept."""
        return {
            "left": self.left.as_data() if self.left else None,
            "last": self.last.as_data() if self.last else None,
        }


def state_key(flow: Flow) -> str:
    """Return the key under which the target keeps the drills of a flow."""
    return f"mirror_drill {flow.pair}"


def kept_of(data: Mapping[str, Any] | None) -> Kept:
    """Return what was kept; of a flow without any drill, nothing."""
    left, last = (data or {}).get("left"), (data or {}).get("last")
    return Kept(
        Own(tuple(left["topics"]), left["group"]) if left else None,
        outcome_of(last) if last else None,
    )


def outcome_of(data: Mapping[str, Any]) -> Outcome:
    """Return a drill of its data (Outcome.as_data)."""
    return Outcome(
        at=data["at"],
        by=data["by"],
        why=tuple(data["why"]),
        seconds=data["seconds"],
        loss=of_known(Loss, data["loss"]) if data["loss"] else None,
        counts=of_known(Counts, data["counts"]) if data["counts"] else None,
        rto_read=data["rto_read"],
        rto_written=data["rto_written"],
    )


def can_drill(flow: Flow) -> bool:
    """Return whether a failover by a flow can be rehearsed at all: a drill writes into the source, and reads what
    MirrorMaker 2 tells of offsets."""
    return flow.engine != LEGACY and not flow.untouched_source


# -- what a drill makes --------------------------------------------------------------------------------------------


def own_of(flow: Flow, token: str, topics: int) -> Own:
    """Return the names of a drill. C(token) is new for each: a mirror that has copied a topic goes on at its old offset
    where one of that name comes again.

    MirrorMaker translates no group whose name begins so (DefaultGroupFilter), and therefore never makes it anew.
    """
    names = tuple(f"{drill_prefix(flow)}{token}-{number}" for number in range(max(1, topics)))
    return Own(names, f"__streamops_drill.{flow.source}.{flow.target}.{token}")


def is_ours(flow: Flow, own: Own) -> bool:
    """Return whether all of these names are such as drills of this flow give: nothing else may be deleted."""
    group = re.escape(f"__streamops_drill.{flow.source}.{flow.target}.")
    return bool(re.fullmatch(f"{group}[0-9a-f]{{8}}", own.group)) and all(
        re.fullmatch(drill_pattern(flow), topic) for topic in own.topics
    )


def drill_flow(flow: Flow, own: Own) -> Flow:
    """Return the flow of the drill's topics alone, with everything else as the flow has it."""
    return replace(flow, topics=own.topics)


def copies_of(flow: Flow, own: Own) -> list[str]:
    """Return the names of the copies in the target."""
    return [remote_topic(flow, topic) for topic in own.topics]


def filled(contents: Sequence[Content], partitions: int) -> list[Content]:
    """Return these contents, filled up with some of the drill's own where there are few, spread over the partitions."""
    extra = [
        Content(number, f"drill-{number}".encode(), b"a record of a drill of a failover")
        for number in range(FEWEST_RECORDS - len(contents))
    ]
    return [content._replace(partition=content.partition % partitions) for content in (*contents, *extra)]


def topic_refusals(flow: Flow, topics: Sequence[str], existing: Iterable[str]) -> list[str]:
    """Return why records of these topics of the source cannot be taken, a sentence each with its fix."""
    known = set(existing)
    missing = [topic for topic in topics if topic not in known]
    foreign = [topic for topic in topics if topic in known and not matches(flow, topic)]
    refusals = []
    if missing:
        refusals.append(f"{flow.source} has no topic {capped(missing, _NAMES)}. Correct kafka_drill_topics.")
    if foreign:
        refusals.append(
            f"{flow.pair} does not copy {capped(foreign, _NAMES)}, and a drill copies their records into "
            f"{flow.target}. Name topics of the flow in kafka_drill_topics."
        )
    if len(topics) > MOST_TOPICS:
        refusals.append(f"kafka_drill_topics has {len(topics)} topics, more than {MOST_TOPICS}. Name fewer.")
    return refusals


# -- what it counts ------------------------------------------------------------------------------------------------


def parts_of(number: int) -> tuple[int, int]:
    """Return where the records of the second part, as after a loss, and those of the failover begin, of this many."""
    return number // 2, number * 3 // 4


def middle_of(written: Iterable[Numbered]) -> dict[Key, int]:
    """Return for each partition the offset behind the first half of what was written into it: so far a group reads."""
    offsets: dict[Key, list[int]] = {}
    for record in written:
        offsets.setdefault(record.place, []).append(record.offset)
    return {place: sorted(some)[(len(some) - 1) // 2] + 1 for place, some in offsets.items()}


def loss_of(acknowledged: Sequence[Numbered], arrived: Iterable[int], cut: float, look_seconds: float) -> Loss:
    """Return what would be lost of these records; C(arrived) are the numbers of those that the target had."""
    there = set(arrived)
    missing = [record for record in acknowledged if record.number not in there]
    since = min((record.at for record in missing), default=cut)
    return Loss(len(acknowledged), len(missing), round(max(0.0, cut - since), 3), round(look_seconds, 3))


def counts_of(
    acknowledged: Iterable[int], read_before: Iterable[int], copies: Sequence[int], read_there: Sequence[int], most: int
) -> Counts:
    """Count the records by their numbers.

    read_before -- those that the group had read in the source. copies -- all records of the target, read_there -- those
    that the group read there. most -- what the plan allows it to read again.
    """
    sure, before = set(acknowledged), set(read_before)
    # A second copy of a record that the group has not read is no fault of its offset.
    return Counts(
        acknowledged=len(sure),
        missing=len(sure - set(copies)),
        again=sum(number in before for number in read_there),
        again_at_most=most,
        skipped=len(sure - before - set(read_there)),
        twice=len(copies) - len(set(copies)),
    )


def again_at_most(plan: Plan) -> int:
    """Return how many records the groups of a plan read again at most, once their offsets were brought over."""
    return sum(reading.repeats_after.at_most for group in plan.groups for reading in group.readings)


def faults(flow: Flow, counts: Counts) -> list[str]:
    """Return why a drill that took all steps has failed, a sentence each."""
    faulty = []
    if counts.missing:
        faulty.append(f"{flow.target} lacks {counts.missing:,} of {counts.acknowledged:,} acknowledged records")
    if counts.skipped:
        faulty.append(f"the group skipped {counts.skipped:,} records in {flow.target}")
    if counts.again > counts.again_at_most:
        faulty.append(f"the group read {counts.again:,} records again, and the plan allows {counts.again_at_most:,}")
    return faulty


# -- what people read ----------------------------------------------------------------------------------------------


def plan_lines(flow: Flow, topics: Sequence[str], left: Own | None, against: Sequence[str]) -> list[str]:
    """Return for people what a drill would do.

    left -- what a killed drill left, which is removed first. against -- what hinders a failover of the flow now.
    """
    what = (
        f"the last records of {capped(topics, _NAMES)}, at most {MOST_RECORDS:,} and {MOST_BYTES // 1024**2} MiB each"
        if topics
        else f"{FEWEST_RECORDS} records of its own"
    )
    number, copies = (f"{len(topics)} topics", "copies") if len(topics) > 1 else ("1 topic", "a copy")
    return [
        f"Drill        {flow.pair}, not begun",
        *(f"Against      {reason}" for reason in against),
        *(
            [f"Removes      what a drill before it left: {capped(left.topics, _NAMES)}, their copies and group"]
            if left
            else []
        ),
        f"Makes        {number} {drill_prefix(flow)}... in {flow.source} with {what}, {copies} in {flow.target}, and a "
        "group in both",
        "Steps        fenced, drained, moved and turned of a failover, with these topics and this group alone",
        f"Keeps        how it ended, in the topic {STATE_TOPIC} of {flow.target}",
        "Leaves       all other topics, groups, offsets and ACLs as they are; what it makes is deleted at its end",
    ]


def outcome_lines(flow: Flow, outcome: Outcome) -> list[str]:
    """Return a drill for people, its verdict first."""
    lines = [f"Drill        {flow.pair}, {'passed' if outcome.passed else 'failed'}"]
    lines += [f"Against      {reason}" for reason in outcome.why]
    if outcome.counts and outcome.rto is not None:
        counts = outcome.counts
        lines += [
            f"RPO          {counts.missing:,} of {counts.acknowledged:,} acknowledged records are not in {flow.target}",
            f"RTO          {outcome.rto:.1f} s: first record read after {outcome.rto_read:.1f} s, first record written "
            f"after {outcome.rto_written:.1f} s",
            f"Group        read {counts.again:,} records again (the plan: at most {counts.again_at_most:,}) and "
            f"skipped {counts.skipped:,}",
            *([f"Note         {counts.twice:,} records were copied twice"] if counts.twice else []),
        ]
    if outcome.loss:
        loss = outcome.loss
        lines.append(
            f"Loss         without notice {loss.missing:,} of {loss.acknowledged:,} records would be lost, the oldest "
            f"{loss.seconds:.1f} s old"
        )
    if outcome.seconds:
        lines.append(f"Seconds      {', '.join(f'{part} {took:.1f}' for part, took in outcome.seconds.items())}")
    return [
        *lines,
        "Person       in a failover a person also stops the writers, stops the consumers, starts both in "
        f"{flow.target}, and takes 5 steps (mirror_failover.yml); the drill needs none of this",
    ]


PASSED, FAILED, NEVER, UNKNOWN = "passed", "failed", "never", "unknown"


@dataclass(frozen=True)
class LastDrill:
    """The last drill of a flow as the page and the status show it.

    state -- PASSED, FAILED, NEVER or UNKNOWN. at -- when it ended, in UTC; empty without a drill. days -- whole days
    since then; None without a drill. rpo_records -- acknowledged records that the target lacked. rto_seconds -- until
    the target had served a reader and a writer. read_again -- records that the group read again. These three are None
    where it did not come to that. why -- sentences on why it failed or is not known.
    """

    state: str
    at: str = ""
    days: int | None = None
    rpo_records: int | None = None
    rto_seconds: float | None = None
    read_again: int | None = None
    why: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """Return its figures, or the first reason against it."""
        if self.why or self.rpo_records is None or self.rto_seconds is None or self.read_again is None:
            return self.why[0] if self.why else ""
        return f"RPO {self.rpo_records}, RTO {self.rto_seconds:.0f} s, {self.read_again:,} records read again"

    @property
    def is_old(self) -> bool:
        """Return whether it is to be run again."""
        return self.days is not None and self.days > MOST_DAYS

    @property
    def ago(self) -> str:
        """Return for people how long ago it ended; without a drill its state."""
        if self.days is None:
            return self.state
        return "today" if not self.days else "a day ago" if self.days == 1 else f"{self.days} days ago"

    def as_data(self) -> dict[str, Any]:
        """Return it for machines."""
        return {**asdict(self), "why": list(self.why), "summary": self.summary}


def last_drill(last: Outcome | None, days: int | None) -> LastDrill:
    """Return the last drill, which ended so many days ago, as it is shown; None of a flow without any."""
    if last is None:
        return LastDrill(NEVER)
    missing, again = (last.counts.missing, last.counts.again) if last.counts else (None, None)
    return LastDrill(PASSED if last.passed else FAILED, last.at, days, missing, last.rto, again, last.why)


def unknown_drill(why: str) -> LastDrill:
    """Return what is shown where the target did not tell of its drills."""
    return LastDrill(UNKNOWN, why=(why,))


def days_since(last: Outcome, now: float) -> int:
    """Return the whole days since a drill ended; 0 where a clock went back. C(now) is in seconds since 1970."""
    return int(max(0.0, now - last.ended_at) // _DAY)


def last_line(drill: LastDrill) -> str:
    """Return a line about the last drill."""
    if drill.state == NEVER:
        return "Drill        none yet (mirror_drill.yml)"
    if drill.state == UNKNOWN:
        return f"Drill        not known: {drill.summary}"
    old = f" (more than {MOST_DAYS} days: run mirror_drill.yml again)" if drill.is_old else ""
    return f"Drill        {drill.state} {drill.ago}: {drill.summary}{old}"
