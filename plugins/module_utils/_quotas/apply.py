# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Quotas, the doing half: reads the limits, has the cluster judge the plan before anything changes, applies it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from .._client.session import Session
from .._client.settle import wait_until_seen
from .._cluster.api import live_brokers
from .._core.applied import Applied
from .._core.bulk import failures, parts, refused
from .._core.diff import diff_of
from .._core.errors import RefusedError
from .api import alter_quotas, describe_quotas
from .plan import DesiredQuota, Entity, label, parse_specs, plan_quotas

#: Entities in one request: with five limits each below the 10,000 records that a controller takes.
_BATCH = 1_500


def ensure_quotas(session: Session, params: Mapping[str, Any], check: bool, diff: bool) -> dict[str, Any]:
    """Give the entities of the list their limits, wait until every broker knows; return the module's result."""
    items, timeout = params["quotas"], params["timeout"]
    specs, violations = parse_specs(items)
    if violations:
        raise RefusedError(f"quotas ({len(items)} wanted)", violations)
    plan = plan_quotas(describe_quotas(session), specs)
    for batch in _requests(plan.alterations):
        judged = failures(alter_quotas(session, batch, validate_only=True))
        violations += refused((f"quota {label(one)}", code, why) for one, (code, why) in judged.items())
    if violations:
        raise RefusedError(f"quotas ({len(items)} wanted)", violations)
    if plan.alterations and not check:
        applied = Applied[Entity]("quota", label)
        settle = partial(_wait, specs=specs, timeout=timeout)
        with applied.truthful(
            lambda done: [c for c in plan.changes if c.name in map(label, done)],
            diff,
            lambda done: {"altered": [label(entity) for entity in done]},
            settle,
        ):
            for batch in _requests(plan.alterations):
                applied.ask(batch, partial(alter_quotas, session, batch))
            settle(session)
    altered = [label(entity) for entity in plan.alterations]
    result: dict[str, Any] = {"changed": bool(altered), "altered": altered, "unchanged": plan.unchanged}
    if diff:
        result["diff"] = diff_of(plan.changes)
    return result


def _wait(session: Session, specs: Sequence[DesiredQuota], timeout: float) -> None:
    """Return when every live broker knows the limits."""
    wait_until_seen("quotas", partial(live_brokers, session), partial(_missing, session, specs), timeout)


def _missing(session: Session, specs: Sequence[DesiredQuota], broker: int) -> list[str]:
    """Return what one broker does not see done yet."""
    return [label(entity) for entity in plan_quotas(describe_quotas(session, broker), specs).alterations]


def _requests(
    alterations: Mapping[Entity, Mapping[str, float | None]],
) -> Iterator[dict[Entity, Mapping[str, float | None]]]:
    for part in parts(alterations, _BATCH):
        yield {entity: alterations[entity] for entity in part}
