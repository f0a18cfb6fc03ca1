# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The configuration of Alertmanager: the route of an inventory, made so that no critical alert waits behind others.

Alertmanager tells a group of alerts at once (after group_wait) when it is new, and what joins it later only after
group_interval, five minutes by default. Where all alerts of a cluster are one group, a cluster that goes down while any
alert fires is told up to five minutes late, or only when it is over.
https://prometheus.io/docs/alerting/latest/configuration/#route
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.monitoring.rules import WATCHDOG, inhibitions

#: How critical alerts are told: each name is a group of its own in its cluster, so a new one waits for no other one; a
#: further node or topic of the same name waits for group_interval. An alert is not told again sooner than before.
CRITICAL: Mapping[str, Any] = {
    "matchers": ['severity="critical"'],
    "group_by": ["cluster", "alertname"],
    "group_wait": "5s",
    "group_interval": "30s",
}
#: A receiver without a target, for what no person shall see.
NOBODY = "streamops-kafka-nobody"
#: The route of alerts for no person where the inventory has none of its own for them.
FOR_NOBODY: Mapping[str, Any] = {"matchers": ['severity="none"'], "receiver": NOBODY}


def alertmanager(route: Mapping[str, Any], receivers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the configuration of Alertmanager from the route and the receivers of an inventory, in its own format.

    Each route gets one below it for its critical alerts (CRITICAL), unless it, or one above it, has a group_interval:
    then that holds. Receivers stay as they are. KafkaWatchdog goes to nobody, unless a route names it.
    """
    is_routed = WATCHDOG in json.dumps(route.get("routes") or [])
    urgent = _with_critical(route)
    if not is_routed:
        urgent["routes"] = [dict(FOR_NOBODY), *urgent.get("routes", [])]
    has_nobody = is_routed or any(receiver.get("name") == NOBODY for receiver in receivers)
    return {
        "route": urgent,
        "receivers": [*receivers, *([] if has_nobody else [{"name": NOBODY}])],
        "inhibit_rules": inhibitions(),
    }


def _with_critical(route: Mapping[str, Any]) -> dict[str, Any]:
    """Return a route with its critical alerts as a last route below it, and so each one below that has none yet.

    An alert goes to the first route below that takes it, so the last one has only what would have stayed here.
    """
    routes = route.get("routes") or []
    if "group_interval" in route or WATCHDOG in json.dumps([route.get("matchers"), route.get("match")]):
        return dict(route)
    # What is no route is for amtool to refuse.
    below = [_with_critical(part) if isinstance(part, Mapping) else part for part in routes]
    return {**route, "routes": [*below, dict(CRITICAL)]}
