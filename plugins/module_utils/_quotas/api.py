# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Client quotas: read and changed. With C(at) that broker is asked for its own view, else any broker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._client.session import Session
from .plan import KINDS, Entity


def describe_quotas(session: Session, at: int | None = None) -> dict[Entity, dict[str, float]]:
    """The limits of every entity that has some."""
    from kafka.protocol.admin import DescribeClientQuotasRequest

    answer = session.send("describe quotas", DescribeClientQuotasRequest(components=[], strict=False), at)
    return quotas_of(session.sound(answer, "describe quotas").entries)


def alter_quotas(
    session: Session, changes: Mapping[Entity, Mapping[str, float | None]], validate_only: bool = False
) -> dict[Entity, Any]:
    """Set these limits (None takes one away); per entity None or (Kafka's error name, why)."""
    from kafka.protocol.admin import AlterClientQuotasRequest

    ops = {entity: [(k, v or 0.0, v is None) for k, v in limits.items()] for entity, limits in changes.items()}
    altered = [(list(entity), wanted) for entity, wanted in ops.items()]
    request = AlterClientQuotasRequest(entries=altered, validate_only=validate_only)
    what = "alter quotas"
    if validate_only:
        answer = session.ask(what, request, lambda found: [one.error_code for one in found.entries])
    else:
        answer = session.send(what, request)
    return {entity_of(one.entity): session.outcome(what, one) for one in answer.entries}


def quotas_of(entries: Any) -> dict[Entity, dict[str, float]]:
    """The limits in the entries of DescribeClientQuotas."""
    return {entity_of(entry.entity): {value.key: value.value for value in entry.values} for entry in entries or ()}


def entity_of(parts: Any) -> Entity:
    """The entity of one entry of an answer, its kinds in our order."""
    named = {part.entity_type: part.entity_name for part in parts}
    known = [kind for kind in KINDS.values() if kind in named]
    return tuple((kind, named[kind]) for kind in [*known, *sorted(set(named) - set(known))])
