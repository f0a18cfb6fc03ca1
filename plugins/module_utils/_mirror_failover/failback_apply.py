# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Plans the failback to a source that was lost and answers again, and takes a step of it.

The steps go on in the record of the loss, which the target keeps. As with a planned failover each step reads both
clusters anew, notes what it denies before it does so, and notes the stage only once it is proven.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from .._client.connection import refuse_tickets
from .._cluster.api import topics_at
from .._cluster.snapshot import Key
from .._core.errors import RefusedError
from .._mirror.flows import Flow, matches
from .._mirror.gaps_look import now, refuse_one_cluster
from .._mirror.look import at, edges
from .._mirror.reading import flow_of
from .apply import both_ends, kept_record, target_of
from .failback_look import survey_of
from .flow_back import needs_positions
from .keep_apply import Keeping, keep
from .loss_look import answer_of
from .record import BEGUN, FENCED, KEPT, Failback, Loss, Record, denial_lines, next_of_failback, stage_lines
from .steps import operator_refusals, ready_lines, writer_refusals
from .steps_apply import BACK, SourceSteps
from .surplus import (
    BackStart,
    Survey,
    back_start,
    back_start_lines,
    failback_lines,
    failback_refusals,
    kept_lines,
    no_failback,
    no_way_back,
    opens_both,
    reached_after_return,
    surplus_topic,
    taken_back_lines,
    unbegun,
    unkept,
)

#: Seconds of one call in which partitions are kept; the one that is under way is finished.
_SECONDS = 20.0


def mirror_failback(module: Any) -> dict[str, Any]:
    """Say what a source that answers again has alone, or take a step; the module's result."""
    params = module.params
    flow = flow_of(params)
    with target_of(flow, params) as copy:
        record = _of_loss(flow, kept_record(flow, copy)[0])
    if silence := answer_of(flow, params)[1]:
        why = f"{flow.source} does not answer here ({silence}). Start it, then run this again."
        if params["step"] and not module.check_mode:
            raise RefusedError(f"failback {flow.pair}", [why])
        return _result(flow, record, "", [f"Against      {why}", *stage_lines(record)], False, True)
    with both_ends(flow, params) as (origin, copy):
        refuse_one_cluster(flow, origin, copy)
        failback = Failbacks(flow, origin, copy, params)
        if not params["step"]:
            return failback.plan()
        if params["step"] == BACK:
            return failback.back(module.check_mode)
        for end in (origin, copy):
            refuse_tickets(end.connection)
        return failback.next(module.check_mode)


def _of_loss(flow: Flow, record: Record | None) -> Record:
    """Return the record of a loss; RefusedError where the target keeps none."""
    if record is None or record.loss is None:
        raise RefusedError(f"failback {flow.pair}", [no_failback(flow)])
    return record


def _result(
    flow: Flow, record: Record, stage: str, lines: Sequence[str], changed: bool, is_over: bool, todo: int = 0
) -> dict[str, Any]:
    loss = record.loss or Loss()
    back = loss.back or Failback()
    kept = {topic: sum(number for _end, number in parts.values()) for topic, parts in sorted(back.kept.items())}
    return {
        "changed": changed,
        "flow": flow.pair,
        "stage": stage,
        "next_step": next_of_failback(loss),
        "is_over": is_over,
        "partitions_kept": sum(len(parts) for parts in back.kept.values()),
        "partitions_to_keep": todo,
        "kept": [
            {"topic": topic, "kept_in": surplus_topic(topic, loss), "records": number} for topic, number in kept.items()
        ],
        "lines": list(lines),
    }


class Failbacks(SourceSteps):
    """A failback as the record of the loss has it, in open sessions of both ends."""

    def _covered(self, existing: Collection[str]) -> list[str]:
        """Return the topics that the flow covers; a source may come back without any."""
        return [topic for topic in existing if matches(self._flow, topic)]

    @property
    def _lost(self) -> Record:
        """Return the record of the loss, which another run may have taken away since it was looked for."""
        return _of_loss(self._flow, self._record)

    @property
    def _loss(self) -> Loss:
        loss = self._lost.loss or Loss()
        return replace(loss, opened_at=loss.opened_at or self._lost.at)

    @property
    def _back(self) -> Failback:
        return self._loss.back or Failback(before=replace(self._lost, loss=None))

    def plan(self) -> dict[str, Any]:
        """Say what the source has alone, and how far the failback is."""
        survey = self._survey()
        record = replace(self._lost, loss=replace(self._loss, back=self._back))
        return self._ended("", failback_lines(self._flow, self._loss, survey, stage_lines(record)), False)

    def next(self, is_check: bool) -> dict[str, Any]:
        """Take the next step; in check mode say whether it would be reached now."""
        step, record = next_of_failback(self._loss), self._under_way
        writers, params = self._params["writers"], self._params
        are_stopped = bool(writers or params["writers_stopped"] or (record and (record.denied or record.are_stopped)))
        self._refuse(
            [
                # Who opened the target need not be who leads back.
                *operator_refusals(self._flow, record, self._by),
                *failback_refusals(self._flow, self._loss, step, params["flow_enabled"], are_stopped),
                *writer_refusals(writers),
            ]
        )
        if not is_check:
            fresh = self._with_denials(writers)
            if self._loss.back is None or fresh.denied != self._lost.denied:
                self._keep(fresh.with_back(self._back, now().at, self._by))
            self._deny(fresh.denied)
        if step == FENCED:
            return self._fence(is_check)
        return self._keep_surplus(is_check) if step == KEPT else self._begin(is_check)

    # -- the way back ----------------------------------------------------------------------------------------------

    @property
    def _under_way(self) -> Record | None:
        """Return the record of the failback; None where there is only that of the loss."""
        return self._lost if self._loss.back else None

    def _nothing_to_take_back(self) -> dict[str, Any]:
        return self._ended("", ["Back         no failback is under way"], False)

    def _no_way_back(self, record: Record) -> Iterable[str]:
        # A run that was killed may have made topics that the record does not have yet.
        names = [surplus_topic(topic, self._loss) for topic in self._back.first]
        with at(f"target {self._flow.target}"):
            there = topics_at(self._copy, None, names) if names else {}
        kept = [surplus_topic(topic, self._loss) for topic in self._back.kept]
        return no_way_back(self._flow, self._loss, sorted({*there, *kept}))

    def _take_back(self, record: Record, is_check: bool) -> dict[str, Any]:
        """Take away what the failback denied, then what it noted: killed in between, the next run does the rest."""
        self._refuse([] if self._params["writers_stopped"] else [opens_both(self._flow)])
        before = record.without_back()
        denied = [denial for denial in record.denied if denial not in before.denied]
        lines = [*self._allowed_lines(denied), *taken_back_lines(self._flow)]
        if not is_check:
            # Refuses another run of the same time before anything may be written again.
            self._note(self._back)
            self._allow(denied, before.denied)
            self._keep(before)
        return self._ended("", lines, True)

    # -- steps -----------------------------------------------------------------------------------------------------

    def _fence(self, is_check: bool) -> dict[str, Any]:
        survey = self._survey()
        reasons = unkept(self._flow, survey)
        if is_check:
            return self._checked(FENCED, reasons)
        self._reach(FENCED, reasons)
        self._note(replace(self._back, stage=FENCED, first=survey.first()))
        return self._ended(FENCED, self._reached(FENCED), True)

    def _keep_surplus(self, is_check: bool) -> dict[str, Any]:
        """Keep partitions for some seconds; the stage is reached by the call that has kept the last one."""
        if is_check:
            return self._checked(KEPT, unkept(self._flow, self._survey(False)))
        keepings = self._keepings()
        kept = {topic: dict(parts) for topic, parts in self._back.kept.items()}
        left = [keeping for keeping in keepings if self._end_kept(keeping) != keeping.end]
        until = time.monotonic() + _SECONDS
        while left and time.monotonic() < until:
            keeping = left.pop(0)
            number = keep(self._origin, self._copy, keeping)
            kept.setdefault(keeping.where[0], {})[str(keeping.where[1])] = [keeping.end, number]
        if kept != self._back.kept:
            self._note(replace(self._back, kept=kept))
        if left:
            return _result(self._flow, self._lost, "", [], True, False, len(keepings))
        self._reach(KEPT, unkept(self._flow, self._survey(False)))
        self._note(replace(self._back, stage=KEPT))
        lines = [*kept_lines(self._flow, self._loss), *self._reached(KEPT)]
        return self._ended(KEPT, lines, True, len(keepings))

    def _begin(self, is_check: bool) -> dict[str, Any]:
        """Set where the flow back begins; what was written since the surplus was kept is refused."""
        survey = self._survey(False)
        later = [keeping.where for keeping in self._keepings() if self._end_kept(keeping) != keeping.end]
        reasons = [
            *unbegun(self._flow, survey),
            *(
                f"{topic}-{number} of {self._flow.source} was written after its surplus was kept. Stop the writer, and "
                "copy what it wrote since then to a safe place: it is kept nowhere. Then delete the topic there; it is "
                "copied back whole."
                for topic, number in later
            ),
        ]
        start: BackStart | None = None
        lines: list[str] = []
        if needs_positions(self._flow):
            with at(f"source {self._flow.source}"):
                start = back_start(self._flow, survey, self._positions_back(), self._back)
            reasons += start.refusals
            lines = back_start_lines(self._flow, start)
        if is_check:
            return self._checked(BEGUN, reasons, lines)
        self._reach(BEGUN, reasons)
        if start and (records := start.records()):
            with at(f"source {self._flow.source}"):
                self._reach(BEGUN, start.missing(self._set_positions(records)))
        self._note(replace(self._back, stage=BEGUN))
        return self._ended(BEGUN, [*lines, *self._reached(BEGUN)], True)

    # -- what steps share ------------------------------------------------------------------------------------------

    def _survey(self, is_compared: bool = True) -> Survey:
        watch = self._params["watch_seconds"]
        return survey_of(self._flow, self._loss, self._origin, self._copy, watch, time.sleep, is_compared)

    def _keepings(self) -> list[Keeping]:
        """Return the partitions with a surplus that the source has now."""
        sides = (f"source {self._flow.source}", f"target {self._flow.target}")
        if not self._back.first:
            return []
        with at(sides[0]):
            existing = topics_at(self._origin, None, sorted(self._back.first))
            logs = edges(self._origin, existing)
        places: list[tuple[Key, int]] = [
            ((topic, int(number)), first)
            for topic, parts in sorted(self._back.first.items())
            for number, first in parts.items()
        ]
        return [
            Keeping(where, first, end, surplus_topic(where[0], self._loss), len(existing[where[0]]), sides)
            for where, first in places
            if where in logs and (end := logs[where].end) is not None and end > first
        ]

    def _end_kept(self, keeping: Keeping) -> int:
        """Return the offset of the source below which the surplus of a partition is kept."""
        return int(self._back.kept.get(keeping.where[0], {}).get(str(keeping.where[1]), [0])[0])

    def _note(self, back: Failback) -> None:
        """Write down how far the failback is."""
        self._keep(self._lost.with_back(back, now().at, self._by))

    def _reached(self, stage: str) -> list[str]:
        return [*denial_lines(self._lost.denied), *reached_after_return(self._flow, stage)]

    def _checked(self, step: str, reasons: Sequence[str], lines: Sequence[str] = ()) -> dict[str, Any]:
        return self._ended(step, [*ready_lines(step, reasons), *lines], True)

    def _ended(self, stage: str, lines: Sequence[str], changed: bool, todo: int = 0) -> dict[str, Any]:
        head = [f"Failback     {self._flow.pair}, {stage}"] if stage else []
        return _result(self._flow, self._lost, stage, [*head, *lines], changed, True, todo)
