# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""ACLs, the doing half: one look at all bindings of the cluster, then only what differs, in bulk, and a wait."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from .._client.connection import own_principal
from .._client.session import Session
from .._client.settle import wait_until_seen
from .._cluster.api import finalized_features, live_brokers
from .._core.applied import Applied
from .._core.bulk import parts
from .._core.diff import diff_of
from .._core.errors import RefusedError, RequestFailedError, is_denial, warn
from .._core.names import capped
from .._state.api import read_prefixed
from .api import create_acls, delete_acls, describe_acls
from .entries import Binding, parse_entries
from .hosts import is_network
from .plan import (
    ADD_BATCH,
    KEPT,
    REMOVE_BATCH,
    AclPlan,
    denials_of,
    kept_denials,
    network_violations,
    only,
    plan_acls,
)

#: How many bindings a result names; all of them are counted, and the diff shows all of them.
_NAMED = 100
#: How many bindings a sentence names.
_SHOWN = 5


def ensure_acls(session: Session, params: Mapping[str, Any], check: bool, diff: bool) -> dict[str, Any]:
    """Make the bindings of a cluster what the list says, wait until every broker knows; return the module's result."""
    items, authoritative, scope = params["acls"], params["authoritative"], params["authoritative_for"]
    present, absent, violations = parse_entries(items)
    if scope and not authoritative:
        violations.append("authoritative_for: goes with authoritative: true.")
    if violations:
        raise RefusedError(f"acls ({len(items)} wanted)", violations)
    own = own_principal(session.connection)
    state = describe_acls(session)
    plan = plan_acls(state, present, absent, authoritative, scope, own)
    if authoritative and any(binding.permission == "deny" for binding in plan.remove):
        kept = _kept(session, len(items))
        everything, plan = plan, plan_acls(state, present, absent, authoritative, scope, own, kept)
        _warn_of({binding: kept[binding] for binding in set(everything.remove) - set(plan.remove)})
    violations += plan.violations
    if any(is_network(binding.host) for binding in present):
        violations += network_violations(present, finalized_features(session))
    if violations:
        raise RefusedError(f"acls ({len(items)} wanted)", violations)
    if (plan.add or plan.remove) and not check:
        applied = Applied[Binding]("acl")
        settle = partial(_wait, plan=plan, timeout=params["timeout"])
        with applied.truthful(lambda done: only(plan, done).changes, diff, settle=settle):
            _apply(session, plan, applied)
            settle(session)
    result: dict[str, Any] = {
        "changed": bool(plan.add or plan.remove),
        "added": len(plan.add),
        "removed": len(plan.remove),
        "unchanged": plan.unchanged,
        "added_first": [str(binding) for binding in plan.add[:_NAMED]],
        "removed_first": [str(binding) for binding in plan.remove[:_NAMED]],
    }
    if diff:
        result["diff"] = diff_of(plan.changes)
    return result


def _kept(session: Session, wanted: int) -> dict[Binding, str]:
    """Return the denials of failovers that are under way, each with its flow; RefusedError where they are not told."""
    try:
        return kept_denials(denials_of(read_prefixed(session, KEPT)))
    except RequestFailedError as error:
        if not is_denial(error.code):
            raise
        why = f"authoritative would remove denials, and whether a failover needs them is not known. {error.why}."
        raise RefusedError(f"acls ({wanted} wanted)", [why]) from error


def _warn_of(spared: Mapping[Binding, str]) -> None:
    """Say which denials stay although the list does not have them."""
    for pair in sorted(set(spared.values())):
        some = capped(sorted(str(binding) for binding, owner in spared.items() if owner == pair), _SHOWN)
        warn(
            f"acls: the failover {pair} has denied: {some}. These denials stay although the list does not have them; "
            "the steps of the failover remove them, and an entry with state: absent does so at once."
        )


def _apply(session: Session, plan: AclPlan, applied: Applied[Binding]) -> None:
    # What denies goes in first and out last, so that nobody may for a moment what he never may.
    add = sorted(plan.add, key=lambda binding: binding.permission != "deny")
    remove = sorted(plan.remove, key=lambda binding: binding.permission == "deny")
    for batch in parts(add, ADD_BATCH):
        applied.ask(batch, partial(create_acls, session, batch))
    for batch in parts(remove, REMOVE_BATCH):
        applied.ask(batch, partial(delete_acls, session, batch))


def _wait(session: Session, plan: AclPlan, timeout: float) -> None:
    """Return when every live broker knows what was added and removed."""
    missing = partial(_missing_at, session, plan)
    wait_until_seen("acls", partial(live_brokers, session), missing, timeout)


def _missing_at(session: Session, plan: AclPlan, broker: int) -> list[str]:
    """Return what one broker does not see done yet."""
    return _missing(plan, describe_acls(session, broker))


def _missing(plan: AclPlan, seen: Mapping[Binding, None]) -> list[str]:
    """Return what one broker does not see done yet."""
    missing = [f"does not know {binding}" for binding in plan.add if binding not in seen]
    return missing + [f"still knows {binding}" for binding in plan.remove if binding in seen]
