# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Takes one step of a failover whose source is lost: sets the offsets that groups lack, and opens the target.

Nothing is asked of the source but whether it answers. As with a planned failover, each step reads the target anew, and
notes the stage only once it is proven.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from .._groups.apply import bring_offsets
from .._mirror.gaps_look import now
from .._mirror.look import at
from .._mirror.reading import flow_of
from .apply import target_of
from .loss import (
    LossPlan,
    Survivors,
    answers,
    copied_of,
    ends_of,
    group_lines_after_loss,
    ids_of,
    loss_of,
    offsets_to_set,
    reached_after_loss,
    unmoved_after_loss,
    unturned_after_loss,
)
from .loss_look import answer_of, survivors_of
from .record import BEGUN, MOVED, TURNED, Loss, Record, next_step, stamp_of
from .steps import back_refusals, loss_refusals, operator_refusals, ready_lines, stage_refusals
from .steps_apply import BACK, Steps, mirror_failover


def failover_step(module: Any) -> dict[str, Any]:
    """Take a step of a planned failover, or of one whose source is lost; the module's result."""
    params = module.params
    if not params["source_lost"]:
        return mirror_failover(module)
    flow = flow_of(params)
    with target_of(flow, params) as copy:
        failover = LossFailover(flow, copy, params)
        return failover.back(module.check_mode) if params["step"] == BACK else failover.next(module.check_mode)


class LossFailover(Steps):
    """A failover whose source is lost, as its record has it, in an open session of the target."""

    def next(self, is_check: bool) -> dict[str, Any]:
        """Take the next step; in check mode say whether it would be reached now."""
        step = next_step(self._record, is_lost=True)
        self._refuse(
            [
                *operator_refusals(self._flow, self._record, self._by),
                *stage_refusals(self._flow, step, self._params["stage"]),
                *loss_refusals(self._flow, self._record, self._params["writers"]),
            ]
        )
        answer, silence = answer_of(self._flow, self._params)
        self._refuse([answers(self._flow, answer)] if answer else [])
        left = self._left(silence)
        plan = loss_of(self._flow, left)
        is_enabled = self._params["flow_enabled"]
        reasons = unmoved_after_loss(plan) if step == MOVED else unturned_after_loss(plan, is_enabled)
        if is_check:
            return self._result(step, ready_lines(step, reasons), self._record)
        self._reach(step, reasons)
        plan = self._moved(plan, step, silence)
        record = replace(self._record or Record(BEGUN, self._by, now().at), stage=step, at=now().at)
        if step == TURNED:
            looked_at = plan.looked.at if plan.looked else ""
            copied, ends, ids = copied_of(plan), ends_of(plan), ids_of(self._flow, left)
            record = replace(record, loss=Loss(looked_at, copied, ends, record.at, ids, stamp=stamp_of(record.at)))
        self._keep(record)
        return self._result(step, [*group_lines_after_loss(plan), *reached_after_loss(self._flow, step)], record)

    def _no_way_back(self, record: Record) -> Iterable[str]:
        return back_refusals(self._flow, record, is_lost=True)

    def _take_back(self, record: Record, is_check: bool) -> dict[str, Any]:
        """Forget the failover, which has denied nothing."""
        if not is_check:
            self._forget()
        return self._result("", [f"Note         offsets that were set stay in {self._flow.target}"], None)

    def _left(self, silence: str) -> Survivors:
        return survivors_of(self._flow, self._copy, "", silence)

    def _moved(self, plan: LossPlan, step: str, silence: str) -> LossPlan:
        """Set the offsets that groups lack, and return the plan after it; StepNotReachedError where they are not there.

        The step after moved sets them too: they may have expired in between.
        """
        lacking = offsets_to_set(self._flow, plan)
        if not lacking:
            return plan
        with at(f"target {self._flow.target}"):
            for group, places in lacking.items():
                bring_offsets(self._copy, group, places)
        after = loss_of(self._flow, self._left(silence))
        if left := offsets_to_set(self._flow, after):
            reason = f"offsets in {self._flow.target} are not as they were set: {', '.join(left)}. Run again."
            self._reach(step, [reason])
        return after
