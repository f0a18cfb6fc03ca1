# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Takes one step of a planned failover, or takes the failover back.

Each step reads the record and both clusters anew, writes into the record what it is about to deny before it does so,
and notes the stage only once it is proven. So a run that was killed is repeated by the next one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .._acls.api import describe_acls
from .._client.connection import refuse_tickets
from .._client.session import Session
from .._cluster.api import topics_at
from .._cluster.snapshot import Key
from .._core.errors import RefusedError, RequestFailedError, StreamopsError
from .._groups.apply import bring_offsets
from .._mirror.api import write_positions
from .._mirror.flows import OFFSETS_PARTITIONS, OFFSETS_SEGMENT_BYTES, Flow, offsets_topic
from .._mirror.gaps_look import now, refuse_one_cluster
from .._mirror.look import at, read_notes
from .._mirror.reading import flow_of
from .._mirror.status import chosen
from .._state.api import claim_state, write_state
from .._topics.api import TopicSpec, copies_for, made_state_topic, make_topic
from .apply import both_ends, kept_record, planned, record_in
from .denials_apply import allow, deny, shared_denials
from .flow_back import flow_back, flow_back_lines, flow_back_runs, needs_positions, reverse
from .look import running
from .model import Plan
from .plan import offsets_there
from .record import (
    BEGUN,
    DONE,
    DRAINED,
    FENCED,
    MOVED,
    TURNED,
    Denial,
    Record,
    denial_lines,
    next_step,
    state_key,
)
from .steps import (
    back_refusals,
    denials,
    group_lines,
    next_refusals,
    operator_refusals,
    reached_lines,
    ready_lines,
    stage_refusals,
    undrained,
    unfenced,
    unmoved,
    unready,
)

NEXT, BACK = "next", "back"
#: Why a stage is not reached, by what a look has shown.
_MISSING = {FENCED: unfenced, DRAINED: undrained, MOVED: unready, TURNED: undrained}
#: What can be done beside taking the same step again.
_GO_BACK = ", or go back with kafka_failover_step=back"
#: Seconds that a topic may take to be there.
_TOPIC_TIMEOUT = 30.0


class StepNotReachedError(StreamopsError):
    """A step was begun and its stage is not reached; what was denied stays, and the same step can be taken again."""

    def __init__(self, flow: Flow, step: str, reasons: Sequence[str], are_denied: bool, instead: str) -> None:
        listed = "".join(f"\n- {reason}" for reason in reasons)
        stays = ", and what was denied stays denied" if are_denied else ""
        super().__init__(
            f"{flow.pair} is not {step} yet:{listed}\nThe stage is as it was{stays}. Run the same again{instead}.",
            reasons=list(reasons),
        )


def mirror_failover(module: Any) -> dict[str, Any]:
    """Take the next step or go back; the module's result."""
    params = module.params
    flow = flow_of(params)
    with both_ends(flow, params) as (origin, copy):
        refuse_one_cluster(flow, origin, copy)
        failover = Failover(flow, origin, copy, params)
        if params["step"] == BACK:
            return failover.back(module.check_mode)
        if needs_positions(flow):
            refuse_tickets(origin.connection)
        return failover.next(module.check_mode)


class Steps:
    """A failover as its record has it, in an open session of its target."""

    def __init__(self, flow: Flow, copy: Session, params: Mapping[str, Any]) -> None:
        self._flow = flow
        self._copy = copy
        self._params = params
        self._by = params["operator"].strip()
        self._record, self._end = kept_record(flow, copy)

    def _result(self, stage: str, lines: Sequence[str], record: Record | None) -> dict[str, Any]:
        return {
            "changed": True,
            "flow": self._flow.pair,
            "stage": stage,
            "denied": [denial._asdict() for denial in record.denied] if record else [],
            "lines": [f"Failover     {self._flow.pair}{f', {stage}' if stage else ''}", *lines],
        }

    def back(self, is_check: bool) -> dict[str, Any]:
        """Take back what was done; in check mode say what would be taken back."""
        record = self._under_way
        if record is None:
            return self._nothing_to_take_back()
        self._refuse([*operator_refusals(self._flow, record, self._by), *self._no_way_back(record)])
        return self._take_back(record, is_check)

    @property
    def _under_way(self) -> Record | None:
        """Return the record of what can be taken back; None where nothing was begun."""
        return self._record

    def _no_way_back(self, record: Record) -> Iterable[str]:
        """Return why what was done cannot be taken back, a sentence each with what to do instead."""
        raise NotImplementedError

    def _take_back(self, record: Record, is_check: bool) -> dict[str, Any]:
        """Take it back but in check mode; the module's result."""
        raise NotImplementedError

    def _reach(self, step: str, reasons: Sequence[str]) -> None:
        """Raise StepNotReachedError where there are reasons why the stage is not reached."""
        if reasons:
            record = self._under_way
            instead = _GO_BACK if record and not list(self._no_way_back(record)) else ""
            raise StepNotReachedError(self._flow, step, reasons, bool(record and record.denied), instead)

    def _refuse(self, reasons: Sequence[str]) -> None:
        if reasons:
            raise RefusedError(f"failover {self._flow.pair}", reasons)

    def _keep(self, record: Record) -> None:
        """Write the record, where it is still as this run has read it; RefusedError where another run was first."""
        with at(f"target {self._flow.target}"):
            made_state_topic(self._copy)
            claim_state(self._copy, state_key(self._flow), record.as_data(), self._end)
        self._record, self._end = kept_record(self._flow, self._copy)
        if self._record != record:
            who = f"{self._record.by} ({self._record.stage})" if self._record else "somebody who took it back"
            raise RefusedError(
                f"failover {self._flow.pair}",
                [f"another run has taken a step at the same time: {who}. Look where it is (--check), then go on."],
            )

    def _forget(self) -> None:
        """Take the record away."""
        with at(f"target {self._flow.target}"):
            write_state(self._copy, state_key(self._flow), None)

    def _nothing_to_take_back(self) -> dict[str, Any]:
        return {**self._result("", ["Back         no failover is under way"], None), "changed": False}


class SourceSteps(Steps):
    """A failover or a failback in open sessions of both ends: its denials in the source, positions of the flow back."""

    def __init__(self, flow: Flow, origin: Session, copy: Session, params: Mapping[str, Any]) -> None:
        super().__init__(flow, copy, params)
        self._origin = origin

    def _with_denials(self, writers: Sequence[str]) -> Record:
        """Return the record with what is to be denied now, beside what the failover has denied."""
        record = self._record or Record(BEGUN, self._by, now().at)
        are_stopped = record.are_stopped or self._params["writers_stopped"]
        fresh: list[Denial] = []
        if writers:
            with at(f"source {self._flow.source}"):
                topics = self._covered(topics_at(self._origin, None, None))
                bindings = self._bindings()
                shared = shared_denials(self._origin, self._flow.pair)
            wanted = denials(topics, writers, bindings, shared)
            fresh = [denial for denial in wanted if denial not in record.denied]
        return replace(record, are_stopped=are_stopped, denied=(*record.denied, *fresh))

    def _covered(self, existing: Collection[str]) -> list[str]:
        """Return the topics of the source that the flow covers."""
        return chosen(self._flow, existing)

    def _bindings(self) -> Any:
        try:
            return describe_acls(self._origin)
        except RequestFailedError as error:
            if error.code != "SECURITY_DISABLED":
                raise
            why = (
                f"kafka_failover_writers: {self._flow.source} has no authorizer, so nobody can be denied. Let their "
                "owners stop the writers, and set kafka_failover_writers_stopped=true instead."
            )
            raise RefusedError(f"failover {self._flow.pair}", [why]) from error

    def _deny(self, denied: Sequence[Denial]) -> None:
        """Make the denials that are not there, also those that somebody took away meanwhile."""
        with at(f"source {self._flow.source}"):
            deny(self._origin, self._flow.pair, denied)

    def _allow(self, denied: Sequence[Denial], left: Sequence[Denial] = ()) -> None:
        """Take denials away; those that are C(left) stay."""
        with at(f"source {self._flow.source}"):
            allow(self._origin, self._flow.pair, denied, left)

    def _allowed_lines(self, denied: Sequence[Denial]) -> list[str]:
        """Return what may be written again once these denials are taken away, and what may not."""
        with at(f"source {self._flow.source}"):
            return allowed_lines(denied, shared_denials(self._origin, self._flow.pair))

    def _set_positions(self, records: Mapping[bytes, bytes | None]) -> Mapping[Key, int]:
        """Write positions of the flow back, none for one that is taken away; return those that stand there then."""
        topic = offsets_topic(reverse(self._flow))
        if not topics_at(self._origin, None, [topic]):
            config = {"cleanup.policy": "compact", "segment.bytes": str(OFFSETS_SEGMENT_BYTES)}
            spec = TopicSpec(topic, OFFSETS_PARTITIONS, copies_for(self._origin), config)
            make_topic(self._origin, spec, _TOPIC_TIMEOUT)
        write_positions(self._origin, topic, records)
        return self._positions_back()

    def _positions_back(self) -> Mapping[Key, int]:
        """Return how far the flow back has come, by partition of its source; empty where it has never run."""
        other = reverse(self._flow)
        return read_notes(other, self._origin, topics_at(self._origin, None, None)).positions


class Failover(SourceSteps):
    """A planned failover, in open sessions of both ends."""

    def next(self, is_check: bool) -> dict[str, Any]:
        """Take the next step; in check mode say whether it would be reached now."""
        step, writers = next_step(self._record), self._params["writers"]
        self._refuse(
            [
                *operator_refusals(self._flow, self._record, self._by),
                *stage_refusals(self._flow, step, self._params["stage"]),
                *next_refusals(
                    self._flow,
                    self._record,
                    writers,
                    self._params["writers_stopped"],
                    self._params["flow_enabled"],
                    self._way_back(),
                ),
            ]
        )
        if step == DONE:
            return self._ended(is_check, DONE, reached_lines(self._flow, DONE))
        record = self._with_denials(writers)
        if not is_check:
            if record != self._record:
                self._keep(record)
            self._deny(record.denied)
        plan = planned(self._flow, self._origin, self._copy, self._params)
        reasons = [*_MISSING[step](plan), *(self._running_back() if step == TURNED else [])]
        if is_check:
            lines = self._begin_back(plan, True) if step == TURNED and not reasons else []
            return self._result(step, [*denial_lines(record.denied), *ready_lines(step, reasons), *lines], record)
        self._reach(step, reasons)
        lines = self._move(plan) if step == MOVED else self._begin_back(plan, False) if step == TURNED else []
        if step == TURNED:
            lines += self._allow_after_loss()
        self._keep(replace(record, stage=step, at=now().at))
        return self._result(step, [*denial_lines(record.denied), *lines, *reached_lines(self._flow, step)], record)

    def _no_way_back(self, record: Record) -> Iterable[str]:
        return back_refusals(self._flow, record)

    def _take_back(self, record: Record, is_check: bool) -> dict[str, Any]:
        """Take away what the failover denied, and forget it."""
        source, target = self._flow.source, self._flow.target
        return self._ended(
            is_check,
            "",
            [
                f"Do           let writers and consumers go on in {source}; start none in {target}",
                f"Note         offsets that were brought over stay in {target}; MirrorMaker carries them on",
            ],
        )

    def _ended(self, is_check: bool, stage: str, lines: Sequence[str]) -> dict[str, Any]:
        """Take the denials away, then the record: killed in between, the next run does the rest."""
        denied = self._record.denied if self._record else ()
        lines = [*self._allowed_lines(denied), *lines]
        if not is_check:
            self._allow(denied)
            if stage == DONE:
                self._forget_loss()
            self._forget()
        return self._result(stage, lines, None)

    # -- the record ------------------------------------------------------------------------------------------------

    def _way_back(self) -> Record | None:
        """Return what the source keeps of a failover in the other direction."""
        with at(f"source {self._flow.source}"):
            return record_in(reverse(self._flow), self._origin)[0]

    def _allow_after_loss(self) -> list[str]:
        """Take away what a failback has denied in the target, which clients write again; lines that say so."""
        record = self._way_back()
        denied = record.denied if record and record.loss else ()
        with at(f"target {self._flow.target}"):
            shared = shared_denials(self._copy, reverse(self._flow).pair)
            allow(self._copy, reverse(self._flow).pair, denied)
        return [f"{line} in {self._flow.target}" for line in allowed_lines(denied, shared)]

    def _forget_loss(self) -> None:
        """Take away the record of a loss that this failover has led back from; its source keeps it."""
        if (record := self._way_back()) and record.loss:
            with at(f"source {self._flow.source}"):
                write_state(self._origin, state_key(reverse(self._flow)), None)

    # -- acts ------------------------------------------------------------------------------------------------------

    def _move(self, plan: Plan) -> list[str]:
        """Bring the offsets of all groups over, look whether they are there, and say what groups read again."""
        with at(f"target {self._flow.target}"):
            for group, places in offsets_there(self._flow, plan).items():
                bring_offsets(self._copy, group, places)
        after = planned(self._flow, self._origin, self._copy, self._params)
        self._reach(MOVED, [*unready(after), *unmoved(after)])
        return group_lines(after)

    def _running_back(self) -> list[str]:
        """Return why the flow back cannot be told where it begins: a mirror runs it, also one of no inventory."""
        if not needs_positions(self._flow):
            return []
        with at(f"source {self._flow.source}"):
            return flow_back_runs(self._flow, *running(reverse(self._flow), self._origin))

    def _begin_back(self, plan: Plan, is_check: bool) -> list[str]:
        """Set where the flow back begins, look whether its positions are there, and say so; in check mode only say it.

        No mirror of the flow back runs meanwhile: it would go on from positions of its own.
        """
        if not needs_positions(self._flow):
            return []
        with at(f"source {self._flow.source}"):
            back = flow_back(self._flow, plan.partitions, self._positions_back())
            if not is_check and back.written:
                self._reach(TURNED, back.missing(self._set_positions(back.records())))
        return flow_back_lines(back)


def allowed_lines(denied: Sequence[Denial], shared: Mapping[Denial, str]) -> list[str]:
    """Return a line for each principal with the topics that it may write again, and with those that it may not.

    C(shared) are denials that stay, as the failovers by other flows need them, each with its flow.
    """
    gone = denial_lines([denial for denial in denied if denial not in shared])
    stay = [denial for denial in denied if denial in shared]
    return [
        *(line.replace("Denied ", "Allowed").replace("may not", "may again") for line in gone),
        *(
            f"{line}: the failover {pair} needs it"
            for pair in sorted({shared[denial] for denial in stay})
            for line in denial_lines([denial for denial in stay if shared[denial] == pair])
        ),
    ]
