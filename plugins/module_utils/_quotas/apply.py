# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Quotas, the doing half: reads the limits, has the cluster judge the plan before anything changes, applies it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ansible_collections.streamops.kafka.plugins.module_utils._client.settle import live_brokers, wait_until_seen
from ansible_collections.streamops.kafka.plugins.module_utils._configs.judge import failures
from ansible_collections.streamops.kafka.plugins.module_utils._core.applied import Applied
from ansible_collections.streamops.kafka.plugins.module_utils._core.diff import diff_of
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError
from ansible_collections.streamops.kafka.plugins.module_utils._quotas.plan import (
    Entity,
    QuotaWish,
    label,
    parse_wishes,
    plan_quotas,
)

if TYPE_CHECKING:
    from ansible_collections.streamops.kafka.plugins.module_utils._client.admin import Admin

#: Entities in one request: with five limits each below the 10,000 records that a controller takes.
_BATCH = 1_500


def ensure_quotas(
    admin: Admin, items: Sequence[Mapping[str, Any]], timeout: float, check: bool, diff: bool
) -> dict[str, Any]:
    """Give the entities of the list their limits, wait until every broker knows; return the module's result."""
    wishes, violations = parse_wishes(items)
    if violations:
        raise RefusedError(f"quotas ({len(items)} wanted)", violations)
    plan = plan_quotas(admin.quotas(), wishes)
    for batch in _batches(plan.alterations):
        judged = failures(admin.alter_quotas(batch, validate_only=True))
        violations += [f"quota {label(one)}: refused by Kafka: {why} ({code})." for one, (code, why) in judged.items()]
    if violations:
        raise RefusedError(f"quotas ({len(items)} wanted)", violations)
    if plan.alterations and not check:
        applied = Applied[Entity]("quota", label)
        with applied.truthful(lambda done: [c for c in plan.changes if c.name in map(label, done)], diff):
            for batch in _batches(plan.alterations):
                applied.ask(batch, partial(admin.alter_quotas, batch))
            wait_until_seen("quotas", live_brokers(admin), partial(_missing, admin, wishes), timeout)
    altered = [label(entity) for entity in plan.alterations]
    result: dict[str, Any] = {"changed": bool(altered), "altered": altered, "unchanged": plan.unchanged}
    if diff:
        result["diff"] = diff_of(plan.changes)
    return result


def _missing(admin: Admin, wishes: Sequence[QuotaWish], broker: int) -> list[str]:
    """What one broker does not see done yet."""
    return [label(entity) for entity in plan_quotas(admin.quotas(broker), wishes).alterations]


def _batches(
    alterations: Mapping[Entity, Mapping[str, float | None]],
) -> Iterator[dict[Entity, Mapping[str, float | None]]]:
    listed = list(alterations.items())
    for start in range(0, len(listed), _BATCH):
        yield dict(listed[start : start + _BATCH])
