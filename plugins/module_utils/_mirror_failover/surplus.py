# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Judge what a source has alone that was lost and answers again: its surplus, and where a flow back begins. Pure.

MirrorMaker copies each partition in order, and what it wrote down last is older than what it copied last. So the copy,
as it was when the target was opened, ends with the last record that was copied, and the surplus begins behind the same
record of the source. Records are compared by key, value, headers and timestamp; offsets of two clusters never.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .._cluster.snapshot import Key
from .._core.names import allowed_instead, capped
from .._mirror.flows import IDENTITY, Flow, remote_topic
from .._mirror.records import position_record
from .._mirror.status import Log
from .compare import Compared
from .flow_back import (
    FlowBack,
    flow_back,
    flow_back_runs,
    needs_positions,
    partitions_in_words,
    reverse,
    unknown_mirrors,
)
from .model import PartitionPlan, Span
from .plan import by_topic
from .record import BEGUN, FENCED, KEPT, Failback, Loss

#: What became of a partition of the source: it is as it was, its topic is gone, is another one or is empty, its log has
#: lost its end, or no broker tells its end.
SAME, GONE, ANEW, SHORT, UNTOLD = "same", "gone", "anew", "short", "untold"
#: Names in a sentence.
_NAMES = 5
#: What the names of topics begin with that keep a surplus: no flow mirrors them, and no inventory declares them.
SURPLUS_PREFIX = "_streamops_surplus."


@dataclass(frozen=True)
class Part:
    """A partition of the source.

    log -- as the source has it now, None without it. copied, end_there -- as the record of the loss has them, None
    where it does not. compared -- None where no record stands above C(copied). read_to -- behind the last offset that
    was read for the comparison.
    """

    topic: str
    partition: int
    state: str
    log: Log | None = None
    copied: int | None = None
    end_there: int | None = None
    compared: Compared | None = None
    read_to: int = 0

    @property
    def label(self) -> str:
        """Return topic and partition."""
        return f"{self.topic}-{self.partition}"

    @property
    def surplus(self) -> Span:
        """Return how many records the source has alone."""
        if self.compared is None:
            return Span()
        unread = max(0, (self.log.end or 0) - self.read_to) if self.log else 0
        return Span(self.compared.records if self.compared.is_exact else 0, self.compared.records + unread)


@dataclass(frozen=True)
class Survey:
    """What a look has shown at a source that answers again.

    grown -- offsets that were written while it was watched, by partition. is_open -- partitions with an open
    transaction. workers, workers_back -- mirrors that run the flow, and the flow back. seconds -- how long it was
    watched. hidden -- brokers that did not tell their groups, and groups of mirrors that are not known, with why.
    """

    parts: Sequence[Part] = ()
    grown: Mapping[Key, int] = field(default_factory=dict)
    is_open: Sequence[Key] = ()
    workers: int = 0
    workers_back: int = 0
    seconds: float = 0.0
    hidden: Sequence[str] = ()

    def first(self) -> dict[str, dict[str, int]]:
        """Return by topic and partition where the surplus begins, for the record."""
        places: dict[str, dict[str, int]] = {}
        for part in self.parts:
            if part.compared and part.surplus.at_most:
                places.setdefault(part.topic, {})[str(part.partition)] = part.compared.first
        return places


def state_of(log: Log | None, copied: int | None, was: str, now: str) -> str:
    """Return what became of a partition. was, now -- the ids of its topic, empty where they are not known."""
    if log is None:
        return GONE
    if log.end is None or log.start is None:
        return UNTOLD
    if (was and now and was != now) or (log.end == 0 and (copied or 0) > 0):
        return ANEW
    return SHORT if copied is not None and log.end < copied else SAME


def surplus_topic(topic: str, loss: Loss) -> str:
    """Return the name of the topic of the target that keeps the surplus of a topic."""
    return f"{SURPLUS_PREFIX}{loss.stamp or loss.opened_at[:10] or '0000-00-00'}.{topic}"


# -- steps ---------------------------------------------------------------------------------------------------------


def no_failback(flow: Flow) -> str:
    """Return why no failback can be planned without a record of a loss."""
    return (
        f"{flow.target} keeps no record of a loss of {flow.source}, so nothing says what is copied. While both are "
        "alive, take the planned failover (mirror_failover.yml)."
    )


def failback_refusals(flow: Flow, loss: Loss, step: str, is_enabled: bool, are_stopped: bool) -> Iterator[str]:
    """Yield why the next step must not be taken, by what is known without a look at the logs.

    are_stopped -- whether it is known how writers of the source are stopped.
    """
    if not step:
        back = reverse(flow).pair
        yield f"no step is left. Enable {back}, run site.yml, then fail over back (kafka_failover={back})."
    elif is_enabled:
        yield f"mirror_flows enables {flow.pair}. Set enabled: false, run site.yml, then take this step."
    if step == FENCED and not are_stopped:
        yield (
            f"it is not known how writers of {flow.source} are stopped. Name their principals in "
            "kafka_failover_writers, or let their owners stop them and set kafka_failover_writers_stopped=true."
        )
    for topic in sorted(loss.copied):
        if allowed := allowed_instead(surplus_topic(topic, loss)):
            yield f"the surplus of {topic} cannot have a topic of its own: its name is to be {allowed}."


def no_way_back(flow: Flow, loss: Loss, made: Sequence[str]) -> list[str]:
    """Return why a failback cannot be taken back: the source may have records alone that are kept already.

    made -- topics of the target that keep records of it, or were made for that.
    """
    back, stage = reverse(flow).pair, loss.back.stage if loss.back else ""
    topics = f" ({capped(sorted(made), _NAMES)} in {flow.target})" if made else ""
    if stage == BEGUN:
        set_there = f"The positions of {back} are set, and they only move forward. " if needs_positions(flow) else ""
        return [
            f"what {flow.source} had alone is kept{topics}. {set_there}Enable {back}, run site.yml, then fail over by "
            f"it (mirror_failover.yml -e 'kafka_failover={back}'): its step turned allows {flow.source} to be written "
            "again."
        ]
    if stage == KEPT or made:
        return [
            f"the step {KEPT} was begun{topics}, and what is written into {flow.source} after it would be kept "
            "nowhere. Take the next step (kafka_failover_step=next), and lead back to the end."
        ]
    return []


def opens_both(flow: Flow) -> str:
    """Return why a failback is not taken back before somebody says that writers of the source stay stopped."""
    return (
        f"without its denials {flow.source} can be written while {flow.target} is open, and what is written there then "
        f"does not come to {flow.target}. Let the owners of all writers of {flow.source} keep them stopped, and give "
        "kafka_failover_writers_stopped=true."
    )


def unfenced_source(flow: Flow, survey: Survey) -> list[str]:
    """Return why clients, or a mirror, may still write, a sentence each with its fix."""
    grown = [f"{topic}-{number} {count:,}" for (topic, number), count in sorted(survey.grown.items())]
    untold = [part.label for part in survey.parts if part.state == UNTOLD]
    return [
        *(
            [
                f"{flow.source} is still written: {capped(grown, _NAMES)} records within {survey.seconds:.0f} s. Name "
                "the principal that writes in kafka_failover_writers, or stop it."
            ]
            if grown
            else []
        ),
        *(
            [
                f"{survey.workers} mirrors run {flow.pair} and copy the surplus into {flow.target}. Stop them "
                "(stop.yml --limit MIRROR)."
            ]
            if survey.workers
            else []
        ),
        *unknown_mirrors(survey.hidden),
        *(
            [f"brokers of {flow.source} did not tell the end of {capped(untold, _NAMES)}. Start them."]
            if untold
            else []
        ),
    ]


def unbegun(flow: Flow, survey: Survey) -> list[str]:
    """Return why the flow back cannot begin, a sentence each with its fix."""
    return [*unfenced_source(flow, survey), *flow_back_runs(flow, survey.workers_back)]


def unkept(flow: Flow, survey: Survey) -> list[str]:
    """Return why the surplus is not known to be whole, a sentence each with its fix."""
    places = [f"{topic}-{number}" for topic, number in survey.is_open]
    return [
        *unfenced_source(flow, survey),
        *(
            [f"a transaction is open in {flow.source}: {capped(places, _NAMES)}. End it or wait until it times out."]
            if places
            else []
        ),
    ]


# -- the flow back -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BackStart:
    """Where the flow back begins. positions -- of what goes on behind the copies. whole -- partitions that are copied
    back from their first record on, because the source has nothing of them. forgotten -- those of them whose position
    is to be taken away. refusals -- why it cannot begin, a sentence each with its fix."""

    positions: FlowBack
    whole: Sequence[Key] = ()
    forgotten: Sequence[Key] = ()
    refusals: Sequence[str] = ()

    def records(self) -> dict[bytes, bytes | None]:
        """Return what is to be written, value by key; without value for a position that is taken away."""
        gone = {position_record(self.positions.source, where, 1)[0]: None for where in self.forgotten}
        return {**self.positions.records(), **gone}

    def missing(self, positions: Mapping[Key, int]) -> list[str]:
        """Return which of these positions the flow back does not have."""
        left = [f"{topic}-{number}" for topic, number in self.forgotten if (topic, number) in positions]
        return [
            *self.positions.missing(positions),
            *(
                [f"positions of {self.positions.pair} are still there: {capped(left, _NAMES)}. Run again."]
                if left
                else []
            ),
        ]


def back_start(flow: Flow, survey: Survey, positions: Mapping[Key, int], back: Failback | None = None) -> BackStart:
    """Return where the flow back begins so that nothing is copied twice, and nothing is left out.

    positions -- the next offsets of the flow back, by partition of the target; empty where it has never run. back --
    what is kept of the source.
    """
    back = back or Failback()
    # Of a partition that was never copied everything that comes back is new.
    same = [part for part in survey.parts if part.state == SAME and (part.copied, part.end_there) != (None, None)]
    rows = [
        PartitionPlan(part.topic, part.partition, part.log.end if part.log else None, part.end_there, 0, 0, False)
        for part in same
    ]
    unknown = [part.label for part in same if part.end_there is None]
    cut = [part for part in survey.parts if _is_cut(part, back)]
    unkept_cut = [part.label for part in cut if not _is_kept(part, back)]
    kept_cut = [part.label for part in cut if part.label not in unkept_cut]
    whole = [
        (part.topic, part.partition)
        for part in survey.parts
        if part.state in (GONE, ANEW) and remote_topic(flow, part.topic) == part.topic
    ]
    refusals = [
        *(
            [
                f"the record of the loss does not say where the copies of {capped(unknown, _NAMES)} ended. Delete "
                f"these topics in {flow.source} once their surplus is kept; then they are copied back whole."
            ]
            if unknown
            else []
        ),
        *(
            [
                f"{flow.source} has lost records of {capped(kept_cut, _NAMES)}, and what it has there is kept. Delete "
                "these topics there; then they are copied back whole."
            ]
            if kept_cut
            else []
        ),
        *(
            [
                f"{flow.source} has lost records of {capped(unkept_cut, _NAMES)}, and what it has there is not kept. "
                "Copy it to a safe place first; only then delete the topics there. Nothing was deleted."
            ]
            if unkept_cut
            else []
        ),
    ]
    return BackStart(flow_back(flow, rows, positions), whole, [key for key in whole if key in positions], refusals)


def _is_cut(part: Part, back: Failback) -> bool:
    """Return whether a log has lost records that its copy has, also where others were written in their place."""
    first = back.first.get(part.topic, {}).get(str(part.partition))
    return part.state == SHORT or (part.state == SAME and first is not None and first < (part.copied or 0))


def _is_kept(part: Part, back: Failback) -> bool:
    """Return whether all that a log has now is kept."""
    end, _records = back.kept.get(part.topic, {}).get(str(part.partition), (-1, 0))
    return part.log is not None and (part.log.start == part.log.end or part.log.end == end)


def back_start_lines(flow: Flow, start: BackStart) -> list[str]:
    """Return for people where the flow back begins."""
    whole = [f"{topic}-{number}" for topic, number in start.whole]
    ahead = [f"{topic}-{number} ({at})" for (topic, number), (at, _end) in sorted(start.positions.ahead.items())]
    return [
        f"Flow back    {start.positions.pair} begins at the ends that {flow.target} had when it was opened: "
        f"{partitions_in_words(len(start.positions.begins))}",
        *([f"Flow back    copies back whole: {capped(whole, _NAMES)}"] if whole else []),
        *(
            [f"Note         {start.positions.pair} has run since, and goes on where it is: {capped(ahead, _NAMES)}"]
            if ahead
            else []
        ),
    ]


# -- what people read ----------------------------------------------------------------------------------------------


def failback_lines(flow: Flow, loss: Loss, survey: Survey, stage: Sequence[str]) -> list[str]:
    """Return the plan for people, the most important first; C(stage) are lines that say how far it is."""
    return [
        f"Failback     {flow.source} answers again, {flow.target} is open since {loss.opened_at}",
        *stage,
        *(f"Against      {reason}" for reason in unkept(flow, survey)),
        *_surplus_lines(flow, survey),
        *kept_lines(flow, loss),
        *_state_lines(flow, survey),
        *_order_lines(flow, survey),
    ]


def _surplus_lines(flow: Flow, survey: Survey) -> Iterator[str]:
    total = sum((part.surplus for part in survey.parts), Span())
    figures = by_topic((part.topic, part.surplus.at_most) for part in survey.parts)
    yield f"Surplus      {total} records are in {flow.source} and not in {flow.target}{figures}"
    doubtful = [
        part.label for part in survey.parts if part.compared and part.surplus.at_most and not part.compared.is_exact
    ]
    if doubtful:
        yield (
            f"Note         the last copied record was not found for certain, so some of the surplus may be in "
            f"{flow.target} too: {capped(doubtful, _NAMES)}"
        )
    markers = [part.label for part in survey.parts if part.state == SAME and part.compared and not part.surplus.at_most]
    if markers:
        yield f"Note         nothing but copied records, markers and aborted ones: {capped(markers, _NAMES)}"


def kept_lines(flow: Flow, loss: Loss) -> Iterator[str]:
    """Yield what of the surplus is kept, and where it stands."""
    for topic, parts in sorted((loss.back or Failback()).kept.items()):
        records = sum(number for _end, number in parts.values())
        name = surplus_topic(topic, loss)
        yield f"Kept         {records:,} records of {topic} in {name} of {flow.target} (partitions {', '.join(parts)})"


def _state_lines(flow: Flow, survey: Survey) -> Iterator[str]:
    texts = {
        GONE: f"{flow.source} does not have",
        ANEW: f"made anew or empty in {flow.source}:",
        SHORT: f"{flow.source} has lost the end of",
    }
    for state, text in texts.items():
        if labels := [part.label for part in survey.parts if part.state == state]:
            yield f"Note         {text} {capped(labels, _NAMES)}"


def _order_lines(flow: Flow, survey: Survey) -> Iterator[str]:
    if not any(part.surplus.at_most for part in survey.parts):
        return
    if flow.policy == IDENTITY:
        yield (
            f"Note         Kafka cannot cut a log at its end: in {flow.source} the surplus stays between the old "
            f"records and those that come back. To have it as in {flow.target}, delete the topic in {flow.source} "
            f"after step {KEPT} and before step {BEGUN}; then it is copied back whole"
        )
    else:
        yield (
            f"Note         {flow.pair}, enabled again after the failover back, copies the surplus into its copies in "
            f"{flow.target} as late records"
        )


def taken_back_lines(flow: Flow) -> list[str]:
    """Return what people do once a failback is taken back."""
    return [
        f"Do           keep the writers of {flow.source} stopped while {flow.target} is open; start no mirror between "
        "the two",
        f"Note         the record of the loss stays; the failback begins anew with the step {FENCED}",
    ]


def reached_after_return(flow: Flow, stage: str) -> list[str]:
    """Return what people do after a step that has led to this stage."""
    back = reverse(flow).pair
    if stage == FENCED:
        return [f"Do           take the next step, which copies the surplus into topics of {flow.target}"]
    if stage == KEPT:
        return [
            "Do           let the owners of the topics look at what is kept; then take the next step",
            f"Note         nothing was deleted in {flow.source}",
        ]
    return [
        f"Do           in mirror_flows enable {back}, and run site.yml; when it has copied back, fail over by it "
        f"(mirror_failover.yml -e 'kafka_failover={back}'). Its step turned allows {flow.source} to be written again, "
        "and its step done takes the record of the loss away",
        *(
            [f"Do           with untouched_source first delete the topics of the flow in {flow.source}"]
            if flow.policy == IDENTITY and not needs_positions(flow)
            else []
        ),
    ]
