# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Keeps with a cluster which denials a failover that is under way has made there, so that no list takes them away.

They stand in the cluster that has the ACLs: whoever changes these need not reach the other cluster of the failover,
which keeps its record.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .._client.session import Session
from .._core.errors import RequestFailedError, is_denial, warn
from .._state.api import read_state, write_state
from .._topics.api import made_state_topic
from .entries import Binding
from .hosts import ANYWHERE

#: The key of the state: by flow and principal the topics that it may not write.
KEY = "denials of failovers"


def read_kept(session: Session) -> dict[Binding, str]:
    """Return the denials of all failovers that are under way, each with the flow (source->target) that needs it."""
    kept, _end = read_state(session, KEY)
    return {
        denial(principal, topic): pair
        for pair, principals in (kept or {}).items()
        for principal, topics in principals.items()
        for topic in topics
    }


def keep_denials(session: Session, pair: str, denied: Iterable[tuple[str, str]]) -> None:
    """Keep what the failover by a flow denies, principals with topics; nothing takes away what was kept for it."""
    topics: dict[str, list[str]] = {}
    for principal, topic in sorted(denied):
        topics.setdefault(principal, []).append(topic)
    kept, _end = read_state(session, KEY)
    before: Mapping[str, Mapping[str, list[str]]] = kept or {}
    if before.get(pair, {}) == topics:
        return
    after = {name: value for name, value in {**before, pair: topics}.items() if value}
    try:
        made_state_topic(session)
        write_state(session, KEY, after or None)
    except RequestFailedError as error:
        if not is_denial(error.code):
            raise
        # The failover itself does not need it.
        warn(f"{pair}: its denials are not kept ({error}). Run nothing there with kafka_acls_authoritative meanwhile.")


def denial(principal: str, topic: str) -> Binding:
    """Return the binding that denies a principal to write a topic."""
    return Binding(principal, ANYWHERE, "deny", "write", "topic", topic, "literal")
