# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The configuration of Alertmanager: the route of an inventory, made so that no critical alert waits behind others.

Alertmanager tells a group of alerts at once (after group_wait) when it is new, and what joins it later only after
group_interval, five minutes by default. Where all alerts of a cluster are one group, a cluster that goes down while any
alert fires is told up to five minutes late, or only when it is over.
https://prometheus.io/docs/alerting/latest/configuration/#route
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from .rules import WATCHDOG, inhibitions


class Receiver(TypedDict):
    """One receiver, of which the name alone is read here."""

    name: str


class Route(TypedDict, total=False):
    """One route in Alertmanager's format, as far as it is read or made here; others of its keys stay as they are."""

    receiver: str
    matchers: list[str]
    match: dict[str, str]
    group_by: list[str]
    group_wait: str
    group_interval: str
    repeat_interval: str
    routes: list[Route]


#: How critical alerts are told: each name is a group of its own in its cluster, so a new one waits for no other one; a
#: further node or topic of the same name waits for group_interval. An alert is not told again sooner than before.
CRITICAL: Route = {
    "matchers": ['severity="critical"'],
    "group_by": ["cluster", "alertname"],
    "group_wait": "5s",
    "group_interval": "30s",
}
#: How often a dead man's switch is told that all works, where its route does not say: once a minute. A repetition is
#: looked at once in each group_interval and has to be due by then. With Alertmanager's own five minutes and four hours
#: it would hear once in four hours, and after a pause up to five minutes late.
HEARTBEAT: Route = {"group_wait": "0s", "group_interval": "1m", "repeat_interval": "30s"}
#: A receiver without a target, for what no person shall see.
NOBODY = "streamops-kafka-nobody"
#: The route of alerts for no person where the inventory has none of its own for them.
FOR_NOBODY: Route = {"matchers": ['severity="none"'], "receiver": NOBODY}


def alertmanager(route: Route, receivers: Sequence[Receiver]) -> dict[str, Any]:
    """Return the configuration of Alertmanager from the route and the receivers of an inventory, in its own format.

    Each route gets one below it for its critical alerts (CRITICAL), unless it, or one above it, has a group_interval:
    then that holds. Receivers stay as they are. KafkaWatchdog goes to nobody, unless a route names it; that
    one gets what it lacks of HEARTBEAT.
    """
    is_routed = _is_watchdog_routed(route)
    completed = _completed(route)
    if not is_routed:
        completed["routes"] = [{**FOR_NOBODY}, *completed.get("routes", [])]
    has_nobody = is_routed or any(receiver.get("name") == NOBODY for receiver in receivers)
    return {
        "route": completed,
        "receivers": [*receivers, *([] if has_nobody else [{"name": NOBODY}])],
        "inhibit_rules": inhibitions(),
    }


def _completed(route: Route, has_interval: bool = False) -> Route:
    """Return a route with its critical alerts as a last route below it, and so each one below that has none yet.

    An alert goes to the first route below that takes it, so the last one has only what would have stayed here.

    has_interval -- whether a route above has a group_interval
    """
    if _names_watchdog(route):
        return {**HEARTBEAT, **route}
    has_interval = has_interval or "group_interval" in route
    # What is no route is for amtool to refuse.
    below = [_completed(part, has_interval) if isinstance(part, dict) else part for part in route.get("routes") or []]
    if not has_interval:
        below.append({**CRITICAL})
    return {**route, "routes": below} if below else {**route}


def _is_watchdog_routed(route: Route) -> bool:
    """Return whether a route below this one names KafkaWatchdog."""
    below = [part for part in route.get("routes") or [] if isinstance(part, dict)]
    return any(_names_watchdog(part) or _is_watchdog_routed(part) for part in below)


def _names_watchdog(route: Route) -> bool:
    """Return whether a matcher of a route asks for KafkaWatchdog, in the old format of matchers too."""
    matchers = [*map(str, route.get("matchers") or []), *map(str, (route.get("match") or {}).values())]
    return any(WATCHDOG in matcher and "!" not in matcher for matcher in matchers)
