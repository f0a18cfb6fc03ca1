# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Features, the doing half: has the controller judge the plan before anything changes, then one feature at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from .._client.session import Session
from .._client.settle import wait_until_seen
from .._cluster.api import live_brokers
from .._core.applied import Applied
from .._core.diff import Change, diff_of
from .._core.errors import RefusedError
from .api import announced_by, update_features
from .levels import shown
from .look import look
from .plan import SAFE_DOWNGRADE, Plan, State, Step, plan_least, plan_levels, plan_newest, refused_steps

SUBJECT = "features"


def ensure_features(session: Session, params: Mapping[str, Any], check: bool, diff: bool) -> dict[str, Any]:
    """Bring features to their levels, one after the other, each seen by every live broker; the module's result."""
    state = look(session, params["controller_protocol"])
    plan = _plan(state, params)
    if plan.violations:
        raise RefusedError(SUBJECT, plan.violations)
    lowers = params["upgrade_type"] == SAFE_DOWNGRADE
    if plan.steps:
        # All in one request: the levels of the plan stand in for those that others need.
        wanted = {step.feature: step.after for step in plan.steps}
        refused = refused_steps(plan, state, update_features(session, wanted, lowers, validate_only=True))
        if refused:
            raise RefusedError(SUBJECT, refused)
    if not check:
        _do(session, plan.steps, lowers, params["timeout"])
    result: dict[str, Any] = {
        "changed": bool(plan.steps),
        "changes": [step.as_dict() for step in plan.steps],
        "unchanged": plan.unchanged,
    }
    if diff:
        result["diff"] = diff_of(_changes(plan.steps))
    return result


def _plan(state: State, params: Mapping[str, Any]) -> Plan:
    if params["state"] == "present":
        return plan_levels(state, params["features"], params["upgrade_type"])
    if params["upgrade_type"] == SAFE_DOWNGRADE:
        why = f"state {params['state']} raises features; upgrade_type safe_downgrade goes with state present"
        return Plan(violations=[why])
    if params["state"] == "at_least":
        return plan_least(state, params["features"])
    return plan_newest(state, params["names"])


def _do(session: Session, steps: Sequence[Step], lowers: bool, timeout: float) -> None:
    applied = Applied[Step]("feature")
    settle = partial(_wait, steps=steps, timeout=timeout)
    with applied.truthful(_changes, True, lambda done: {"changes": [step.as_dict() for step in done]}, settle):
        for step in steps:
            request = partial(update_features, session, {step.feature: step.after}, lowers)
            applied.ask([step], request, lambda done: done.feature)
            _wait(session, [step], timeout)


def _wait(session: Session, steps: Sequence[Step], timeout: float) -> None:
    """Return when every live broker knows these levels."""
    for step in steps:
        wait_until_seen(str(step), partial(live_brokers, session), partial(_missing, session, step), timeout)


def _missing(session: Session, step: Step, broker: int) -> list[str]:
    """Return what one broker does not see done yet."""
    level = announced_by(session, broker).finalized.get(step.feature, 0)
    # Somebody else may have gone further meanwhile.
    seen = level >= step.after if step.after > step.before else level <= step.after
    return [] if seen else [f"{step.feature} is {shown(step.feature, level)} there"]


def _changes(steps: Sequence[Step]) -> list[Change]:
    """Return from and to of these steps."""
    return [
        Change(
            step.feature,
            {"level": shown(step.feature, step.before)},
            {"level": shown(step.feature, step.after)},
        )
        for step in steps
    ]
