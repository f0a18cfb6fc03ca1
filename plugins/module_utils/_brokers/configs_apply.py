# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Live broker configurations, the doing half: reads every live broker, has the cluster judge, applies and waits."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from .._client.session import Session
from .._client.settle import wait_until_none
from .._cluster.api import list_brokers
from .._cluster.snapshot import ids_alive
from .._configs.api import BROKER, alter_configs, describe_configs
from .._configs.judge import judge_configs
from .._core.applied import Applied
from .._core.bulk import refused
from .._core.diff import diff_of
from .._core.errors import RefusedError, warn
from .configs import DEFAULT, BrokerPlan, Desired, label, parse_desired, plan_broker_configs


def ensure_broker_configs(session: Session, params: Mapping[str, Any], check: bool, diff: bool) -> dict[str, Any]:
    """Set live what brokers do not show yet, wait until they do, and return the module's result."""
    desired, misunderstood = parse_desired(params["brokers"], params["default"])
    plan = _look(session, desired)
    judged = judge_configs(lambda c: alter_configs(session, BROKER, c, validate_only=True), plan.settings)
    violations = [*misunderstood, *plan.violations]
    violations += refused((label(name), code, why) for name, code, why in judged)
    if violations:
        raise RefusedError("broker configs", violations)
    if plan.settings and not check:
        applied = Applied[str]("set configs of", label)
        settle = partial(_wait, desired=desired, timeout=params["timeout"])
        with applied.truthful(
            lambda done: [c for c in plan.changes if c.name in map(label, done)],
            diff,
            lambda done: {"settings": {label(entity): plan.settings[entity] for entity in done}},
            settle,
        ):
            # One request for each entity: it goes to the broker itself, and one that is down must not hide the others.
            for entity, config in plan.settings.items():
                applied.ask([entity], partial(alter_configs, session, BROKER, {entity: config}))
            settle(session)
    result: dict[str, Any] = {
        "changed": bool(plan.settings),
        "settings": {label(entity): config for entity, config in plan.settings.items()},
        "hidden": list(plan.hidden),
    }
    for warning in (*plan.hidden, *plan.slow):
        warn(warning)
    if diff:
        result["diff"] = diff_of(plan.changes)
    return result


def _look(session: Session, desired: Desired) -> BrokerPlan:
    """Return what is left to set, as the live brokers show it now."""
    if not desired:
        return BrokerPlan()
    registered = list_brokers(session)
    live = [str(broker) for broker in ids_alive(registered)]
    asked = live if DEFAULT in desired else [broker for broker in live if broker in desired]
    keys = {broker: [*desired.get(broker, {}), *desired.get(DEFAULT, {})] for broker in asked}
    shown: dict[str, Any] = {broker: {} for broker in live}
    shown.update(describe_configs(session, BROKER, keys))
    return plan_broker_configs(shown, desired, tuple(broker.id for broker in registered if broker.fenced))


def _wait(session: Session, desired: Desired, timeout: float) -> None:
    """Return when every live broker shows what is wanted."""

    def missing() -> list[str]:
        """Return what is not shown yet, by broker."""
        return [f"{label(entity)}: {', '.join(config)}" for entity, config in _look(session, desired).settings.items()]

    wait_until_none("broker configs", missing, timeout)
