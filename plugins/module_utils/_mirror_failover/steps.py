# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Judge the steps of a planned failover: who may take the next one, whom it denies, and why it is not reached. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from .._acls.entries import Binding, parse_entries
from .._acls.plan import write_denial
from .._core.names import capped
from .._groups.model import SHARE
from .._mirror.canary import PREFIX
from .._mirror.flows import Flow
from .flow_back import needs_positions, reverse
from .model import KNOWN, NO_COPY, GroupPlan, PartitionPlan, Plan, Reading, Span
from .record import DONE, DRAINED, FENCED, MOVED, TURNED, Denial, Record, next_of_failback, next_step

#: Names in a sentence.
_NAMES = 5


# -- who may take a step -------------------------------------------------------------------------------------------


def operator_refusals(flow: Flow, record: Record | None, by: str) -> Iterator[str]:
    """Yield why this operator must not take a step: somebody else takes the steps of this failover or failback."""
    if record is not None and record.by != by:
        back = record.loss.back if record.loss else None
        what, stage = ("failback of", back.stage or "not begun") if back else ("failover", record.stage)
        yield (
            f"the {what} {flow.pair} is taken by {record.by} ({stage} at {record.at}), and you are {by}. Talk "
            f"to {record.by}; to go on in that name, give kafka_failover_operator={record.by}."
        )


def stage_refusals(flow: Flow, step: str, approved: str) -> Iterator[str]:
    """Yield why the next step, which leads to this stage, is not the approved one; nothing where none was named."""
    if approved and approved != step:
        yield (
            f"the next step of {flow.pair} leads to {step or 'no further stage'}, and {approved} was approved: another "
            "run has taken a step since. Look at the plan again (--check), and have that approved."
        )


def next_refusals(
    flow: Flow,
    record: Record | None,
    writers: Sequence[str],
    are_stopped: bool,
    is_enabled: bool,
    way_back: Record | None,
) -> Iterator[str]:
    """Yield why the next step must not be taken, by what is known without a look at the logs.

    writers -- principals to deny. are_stopped -- whether owners say that writers have stopped. is_enabled -- whether
    C(mirror_flows) enables the flow. way_back -- what the source keeps of a failover in the other direction, or None.
    """
    step = next_step(record)
    if record is not None and record.loss:
        yield waits_for_back(flow)
        return
    if record is None and way_back is not None:
        yield from _not_led_back(reverse(flow).pair, way_back)
    if step == DONE and is_enabled:
        yield f"mirror_flows still enables {flow.pair}. Set enabled: false, run site.yml, then take this step."
    if step == DONE and writers:
        yield f"kafka_failover_writers: clients write into {flow.target} by now. Leave it out."
    if step != DONE and not is_enabled:
        yield f"mirror_flows disables {flow.pair}, so nothing is copied. Enable it, or take the failover back."
    if step == FENCED and not (writers or are_stopped or (record and (record.denied or record.are_stopped))):
        yield (
            "it is not known how writers are stopped. Name their principals in kafka_failover_writers, or let their "
            "owners stop them and set kafka_failover_writers_stopped=true."
        )
    yield from writer_refusals(writers)


def writer_refusals(writers: Sequence[str]) -> list[str]:
    """Return why these principals cannot be denied, a sentence for each that is no name of one."""
    return parse_entries(denial_entries([Denial(who, "a") for who in writers]))[2]


def _not_led_back(back: str, way_back: Record) -> Iterator[str]:
    """Yield why another failover is in the way, by what the source keeps of it."""
    if way_back.loss is None:
        yield f"the failover {back} is not done. Take its last step first (kafka_failover={back})."
    elif next_of_failback(way_back.loss):
        yield (
            f"{back} was lost, and its failback is not done: what that site has alone would be forgotten. Take the "
            f"steps of the failback first (mirror_failback.yml -e 'kafka_failover={back}')."
        )


def waits_for_back(flow: Flow) -> str:
    """Return that nothing is left to do of a failover after a loss, and what its record waits for."""
    back = reverse(flow).pair
    return (
        f"{flow.target} was opened after {flow.source} was lost, so no step is left. Its record says what of "
        f"{flow.source} is copied, and stays until clients have moved back (kafka_failover={back})."
    )


def loss_refusals(flow: Flow, record: Record | None, writers: Sequence[str]) -> Iterator[str]:
    """Yield why the next step of a failover whose source is lost must not be taken, by its record alone."""
    if record is not None and record.loss:
        yield waits_for_back(flow)
    elif record is not None and record.stage == TURNED:
        yield (
            f"{flow.target} has all records and is open since {record.at}. The last step needs {flow.source}, whose "
            "denials it takes away: take it without kafka_failover_source when that answers."
        )
    if writers:
        yield f"kafka_failover_writers: nobody can be denied in {flow.source}, which is lost. Leave it out."


def back_refusals(flow: Flow, record: Record, is_lost: bool = False) -> Iterator[str]:
    """Yield why a failover cannot be taken back, also of a source that is lost."""
    if record.loss:
        yield waits_for_back(flow)
    elif is_lost and record.denied:
        yield (
            f"what the failover denied stands in {flow.source}, which is lost, and could not be taken away there. Take "
            "the next step, or go back without kafka_failover_source when it answers."
        )
    elif record.stage == TURNED:
        yield (
            f"{flow.target} is open for writers since {record.at}, so {flow.source} may lack records. Take the next "
            f"step, and then fail over by the flow {reverse(flow).pair}."
        )


# -- the fence -----------------------------------------------------------------------------------------------------


def denials(
    topics: Iterable[str], writers: Sequence[str], bindings: Collection[Binding], shared: Collection[Denial]
) -> list[Denial]:
    """Return what the failover is to deny: writing these topics, to these principals.

    Without denials that are there already, unless they are C(shared): the failover by another flow takes those away.

    Without topics to which no ACL applies. With allow.everyone.if.no.acl.found the first ACL of a topic shuts out all
    whom none allows (StandardAuthorizerData.findAclRule): readers and the mirror too. Without it only super users
    write such a topic, to whom nothing is denied. Without the canary's topics, whose principal nobody names.
    """
    guarded = [
        topic
        for topic in sorted(topics)
        if not topic.startswith(f"{PREFIX}.") and any(_applies(binding, topic) for binding in bindings)
    ]
    wanted = [Denial(who, topic) for who in dict.fromkeys(writers) for topic in guarded]
    return [denial for denial in wanted if denial in shared or write_denial(*denial) not in bindings]


def _applies(binding: Binding, topic: str) -> bool:
    if binding.resource_type != "topic":
        return False
    if binding.pattern_type == "prefixed":
        return topic.startswith(binding.resource)
    return binding.resource in ("*", topic)


def denial_entries(denied: Iterable[Denial], state: str = "present") -> list[dict[str, Any]]:
    """Return denials as the module acls takes them; C(state) absent takes them away."""
    return [
        {
            "principal": denial.principal,
            "permission": "deny",
            "operations": ["write"],
            "resource_type": "topic",
            "resource": denial.topic,
            "pattern_type": "literal",
            "state": state,
        }
        for denial in denied
    ]


# -- what a step needs ---------------------------------------------------------------------------------------------


def unfenced(plan: Plan) -> list[str]:
    """Return why writers are not stopped, a sentence each with its fix."""
    grown = [f"{row.topic}-{row.partition} {row.grown:,}" for row in plan.partitions if row.grown]
    if not grown:
        return []
    return [
        f"still written: {capped(grown, _NAMES)} records within {plan.seconds:.0f} s. Name the principal that writes "
        "in kafka_failover_writers, or stop it (super users, and topics without any ACL, cannot be denied)."
    ]


def undrained(plan: Plan) -> list[str]:
    """Return why the target does not have all records of the source, a sentence each."""
    rows = [row for row in plan.partitions if not row.topic.startswith(f"{PREFIX}.")]
    return [
        *(f"{reason}." for reason in plan.against),
        *unfenced(plan),
        *_rows("a transaction is open, end it or wait until it times out", [row for row in rows if row.is_open]),
        *_rows(f"{plan.target} lacks records, check that the mirror runs", [row for row in rows if row.lag]),
        *_rows(
            "brokers did not tell where the log ends, start them",
            [row for row in rows if row.source_end is None or row.target_end is None],
        ),
    ]


def _rows(what: str, rows: Sequence[PartitionPlan]) -> list[str]:
    places = [f"{row.topic}-{row.partition}{f' {row.lag:,}' if row.lag else ''}" for row in rows]
    return [f"{what}: {capped(places, _NAMES)}."] if places else []


def unready(plan: Plan) -> list[str]:
    """Return why offsets of groups cannot be brought over: what is not drained, and clients that still run."""
    source = plan.flow.partition("->")[0]
    groups = list(_moving(plan))
    errors = [f"{group.name} ({group.error})" for group in plan.groups if group.error]
    here = [f"{group.name} ({group.members})" for group in groups if group.members]
    there = [f"{group.name} ({group.members_there})" for group in groups if group.members_there]
    return [
        *undrained(plan),
        *([f"not known how far these groups have read: {capped(errors, _NAMES)}. Run again."] if errors else []),
        *([f"groups with members in {source}: {capped(here, _NAMES)}. Stop their consumers."] if here else []),
        *([f"groups with members in {plan.target}: {capped(there, _NAMES)}. Stop them."] if there else []),
    ]


def _moving(plan: Plan) -> Iterator[GroupPlan]:
    """Yield the groups whose offsets are brought over."""
    return (group for group in plan.groups if group.readings and group.type != SHARE)


def unmoved(plan: Plan) -> list[str]:
    """Return where a group would still skip records, or begin anywhere, after its offsets were brought over."""
    ends = {(row.topic, row.partition): row.source_end for row in plan.partitions}
    wrong = [
        f"{group.name} {reading.topic}-{reading.partition} at {reading.there} (to read next: {reading.low} to "
        f"{reading.high})"
        for group in _moving(plan)
        for reading in group.readings
        # Of a place beyond the end of the source nothing is known; the plan notes it.
        if reading.state != NO_COPY and reading.committed <= (ends[reading.topic, reading.partition] or 0)
        if reading.state != KNOWN or reading.skips.at_most
    ]
    return [f"offsets in {plan.target} are not as they were set: {capped(wrong, _NAMES)}. Run again."] if wrong else []


# -- what people read ----------------------------------------------------------------------------------------------


def ready_lines(step: str, reasons: Sequence[str]) -> list[str]:
    """Return whether a step would lead to this stage now, for the check mode; C(reasons) why it would not."""
    return [f"Not yet      {reason}" for reason in reasons] or [f"Ready        {step} would be reached now"]


def group_lines(plan: Plan) -> list[str]:
    """Return for each group what it reads again in the target, by partition."""
    return [
        f"Group        {group.name}: begins at {plan.target}, reads "
        f"{sum((reading.repeats_after for reading in group.readings), Span())} records again{_again(group.readings)}"
        for group in _moving(plan)
    ]


def _again(readings: Sequence[Reading]) -> str:
    places = [
        f"{reading.topic}-{reading.partition} {reading.repeats_after}"
        for reading in readings
        if reading.repeats_after.at_most
    ]
    return f" ({capped(places, _NAMES)})" if places else ""


def turn_lines(flow: Flow) -> list[str]:
    """Return what people do once the target is open."""
    back = reverse(flow).pair
    first = (
        f"To copy back what is written now, enable {back} in the same run"
        if not flow.keeps_names
        else f"To copy back what is written now, enable {back} in the run after that one"
        if needs_positions(flow)
        else f"With an untouched source delete the topics of {flow.source} before you enable {back}: docs/mirroring.md"
    )
    return [
        f"Do           start consumers and writers at {flow.target}; the only way back is a failover {back}",
        f"Do           in mirror_flows set enabled: false for {flow.pair}, and run site.yml",
        f"Do           {first}",
        "Do           then take the last step (kafka_failover_step=next); it takes the denials away",
    ]


def reached_lines(flow: Flow, stage: str) -> list[str]:
    """Return what people do after a step that has led to this stage."""
    texts = {
        FENCED: f"nothing; the next step waits until {flow.target} has all records",
        DRAINED: f"run validate.yml to prove the copy, stop the consumers of {flow.source}, then take the next step",
        MOVED: f"take the next step, which opens {flow.target}; start no client there before it",
        DONE: f"nothing; the failover {flow.pair} is over",
    }
    return turn_lines(flow) if stage == TURNED else [f"Do           {texts[stage]}"]
