# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""For how long a node must be looked at, without one bad look, before it counts as whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

#: What Kafka has where nothing is set: the session of a broker and its heartbeats, in milliseconds (KIP-631, KIP-537).
DEFAULTS = {"broker.session.timeout.ms": 9000, "broker.heartbeat.interval.ms": 2000}
DEFAULTS_OF_ZOOKEEPER = {"zookeeper.session.timeout.ms": 18000}
#: A second more than the session, for the looks are not at its very end.
MARGIN = 1.0
#: Seconds after which what an earlier wait has seen of the cluster says nothing about now.
FRESH = 30.0


def steady_seconds(properties: Mapping[str, Any], on_zookeeper: bool) -> float:
    """Return the seconds without a bad look after which a node is whole: more than its session, and its heartbeat.

    A broker whose heartbeats come too late is alive until its session ends, and again from its next heartbeat on.
    """
    defaults = DEFAULTS_OF_ZOOKEEPER if on_zookeeper else DEFAULTS
    longest = max(_number(properties.get(key), default) for key, default in defaults.items())
    return longest / 1000 + MARGIN


def settled_since(waits: Iterable[Mapping[str, Any]], now: float) -> float:
    """Return since when the cluster is whole, as the last wait for one of its nodes saw it; 0 where that is unknown.

    Each wait is a result of isr_wait with serves: settled_since and settled_until, in seconds since 1970.
    """
    known = [one for one in waits if one.get("settled_since")]
    last = max(known, key=lambda one: float(one["settled_until"]), default=None)
    return float(last["settled_since"]) if last and now - float(last["settled_until"]) <= FRESH else 0.0


def _number(value: Any, default: int) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return float(default)
