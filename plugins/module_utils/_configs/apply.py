# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Live broker configurations, the doing half: reads every live broker, has the cluster judge, applies and waits."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from ansible_collections.streamops.kafka.plugins.module_utils._client.admin import BROKER
from ansible_collections.streamops.kafka.plugins.module_utils._client.settle import wait_until_none
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import ids_alive
from ansible_collections.streamops.kafka.plugins.module_utils._configs.judge import judge_configs
from ansible_collections.streamops.kafka.plugins.module_utils._configs.plan import (
    DEFAULT,
    BrokerPlan,
    Wishes,
    label,
    parse_wishes,
    plan_broker_configs,
)
from ansible_collections.streamops.kafka.plugins.module_utils._core.applied import Applied
from ansible_collections.streamops.kafka.plugins.module_utils._core.diff import diff_of
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError

if TYPE_CHECKING:
    from ansible_collections.streamops.kafka.plugins.module_utils._client.admin import Admin


def ensure_broker_configs(
    admin: Admin, brokers: Mapping[Any, Any], default: Mapping[str, Any], timeout: float, check: bool, diff: bool
) -> dict[str, Any]:
    """Set live what brokers do not show yet, wait until they do, and return the module's result."""
    wishes, misunderstood = parse_wishes(brokers, default)
    plan = _look(admin, wishes)
    judged = judge_configs(lambda c: admin.set_configs(BROKER, c, validate_only=True), plan.settings)
    violations = [*misunderstood, *plan.violations]
    violations += [f"{label(name)}: refused by Kafka: {why} ({code})." for name, code, why in judged]
    if violations:
        raise RefusedError("broker configs", violations)
    if plan.settings and not check:
        applied = Applied[str]("set configs of", label)
        with applied.truthful(lambda done: [c for c in plan.changes if c.name in map(label, done)], diff):
            # One request for each entity: it goes to the broker itself, and one that is down must not hide the others.
            for entity, config in plan.settings.items():
                applied.ask([entity], partial(admin.set_configs, BROKER, {entity: config}))
            _wait(admin, wishes, timeout)
    result: dict[str, Any] = {
        "changed": bool(plan.settings),
        "settings": {label(entity): config for entity, config in plan.settings.items()},
        "hidden": list(plan.hidden),
    }
    if diff:
        result["diff"] = diff_of(plan.changes)
    return result


def _look(admin: Admin, wishes: Wishes) -> BrokerPlan:
    """What is left to set, as the live brokers show it now."""
    if not wishes:
        return BrokerPlan()
    registered = admin.brokers()
    live = [str(broker) for broker in ids_alive(registered)]
    asked = live if DEFAULT in wishes else [broker for broker in live if broker in wishes]
    keys = {broker: [*wishes.get(broker, {}), *wishes.get(DEFAULT, {})] for broker in asked}
    shown: dict[str, Any] = {broker: {} for broker in live}
    shown.update(admin.configs(BROKER, keys))
    return plan_broker_configs(shown, wishes, tuple(broker.id for broker in registered if broker.fenced))


def _wait(admin: Admin, wishes: Wishes, timeout: float) -> None:
    """Return when every live broker shows what is wanted."""

    def missing() -> list[str]:
        """What is not shown yet, by broker."""
        return [f"{label(entity)}: {', '.join(config)}" for entity, config in _look(admin, wishes).settings.items()]

    wait_until_none("broker configs", missing, timeout)
