# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What somebody has looked at and said so, kept with the cluster: who, and when.

An unclean election is over when it is told, and nothing that is seen later says that its records are back. So the
finding on it stays until a person acknowledges it.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._node.unclean_log import KEPT_SECONDS
from ansible_collections.streamops.kafka.plugins.module_utils._state.api import read_state, write_state
from ansible_collections.streamops.kafka.plugins.module_utils._topics.api import made_state_topic

#: The key of _streamops_state; its value has {at, by, epochs} by kind of finding.
KEY = "acknowledged"
UNCLEAN = "unclean_election"
Election = Mapping[str, Any]


def merged(elections: Iterable[Election]) -> list[Election]:
    """Return elections of which several controllers told, each once and by time, with when it was told first.

    A controller that starts says the same again, later, of what stands in its metadata log: the epoch tells.
    """
    first: dict[tuple[str, int], Election] = {}
    for election in sorted(elections, key=lambda known: (known["at"], known["partition"])):
        first.setdefault((election["partition"], election["epoch"]), election)
    return list(first.values())


def unacknowledged(elections: Iterable[Election], acknowledged: Mapping[str, Any]) -> list[Election]:
    """Return the elections that nobody has looked at; ``acknowledged`` is {at, by, epochs} or empty.

    Those until then were looked at, and those of which only a controller tells that has started since.
    """
    epochs = acknowledged.get("epochs", {})
    return [
        election
        for election in elections
        if election["at"] > acknowledged.get("at", 0) and epochs.get(election["partition"]) != election["epoch"]
    ]


def looked_at(acknowledged: Mapping[str, Any], now: float) -> list[Election]:
    """Return the elections that somebody has looked at, for who sees no log of a controller: with the time of the
    acknowledgement. What was acknowledged longer ago than KEPT_SECONDS is over."""
    at = acknowledged.get("at", 0)
    if now - at > KEPT_SECONDS:
        return []
    return [{"partition": name, "at": at, "epoch": epoch} for name, epoch in acknowledged.get("epochs", {}).items()]


def acknowledgement(session: Session, topics: Collection[str] | None = None) -> dict[str, Any]:
    """Return {at, by, epochs} of who acknowledged unclean elections last; empty where nobody has. ``topics`` are
    the names of all topics, where they have been listed already."""
    value, _end = read_state(session, KEY, topics)
    known = (value or {}).get(UNCLEAN) if isinstance(value, dict) else None
    return dict(known) if isinstance(known, dict) else {}


def acknowledge(session: Session, by: str, elections: Iterable[Election], is_check: bool) -> dict[str, Any]:
    """Write that somebody has looked at all unclean elections until now, these among them; return {at, by, epochs}. In
    check mode nothing is written."""
    epochs = {election["partition"]: election["epoch"] for election in merged(elections)}
    said = {"at": round(time.time(), 3), "by": by, "epochs": epochs}
    if not is_check:
        made_state_topic(session)
        value, _end = read_state(session, KEY)
        write_state(session, KEY, {**(value if isinstance(value, dict) else {}), UNCLEAN: said})
    return said
