# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Has preferred leaders elected and waits until they lead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._brokers.api import elect_preferred
from ansible_collections.streamops.kafka.plugins.module_utils._brokers.election import (
    Plan,
    listed,
    plan,
    unknown_broker,
    unled,
)
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._client.settle import wait_until_none
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import (
    list_brokers,
    list_topics,
    require_describe,
)
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Partition
from ansible_collections.streamops.kafka.plugins.module_utils._core.diff import Change, diff_of
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError, StreamopsError


def ensure_leaders(session: Session, params: Mapping[str, Any], check: bool, _diff: bool) -> dict[str, Any]:
    """Elect what is not led by its preferred replica and return the module's result.

    Raises RefusedError for a broker or wanted partitions that do not exist and WaitTimeoutError after C(timeout)
    seconds.
    """
    broker, asked = params["broker"], params["partitions"]
    wanted = None if asked is None else [(one["topic"], one["partition"]) for one in asked]
    # Topics that one may not describe are not listed, and would be passed over in silence.
    require_describe(session, "elect leaders")
    partitions = [p for found in list_topics(session).values() for p in found]
    refused = unknown_broker(partitions, (one.id for one in list_brokers(session)), broker)
    planned = plan(partitions, broker, wanted)
    refused += [
        f"partition {topic}-{index} does not exist, or may not be described. Correct it, or leave it out."
        for topic, index in planned.unknown
    ]
    if refused:
        raise RefusedError("leader_election", refused)
    failed: dict[tuple[str, int], str] = {}
    if planned.elect and not check:
        try:
            # A replica may fall out of the ISR at any moment: what cannot be elected is reported and not waited for.
            failed = elect_preferred(session, [(p.topic, p.index) for p in planned.elect])
            wait_until_none("leader_election", lambda: unled(planned, failed, _leaders(session)), params["timeout"])
        except StreamopsError as error:
            error.done = _done(session, planned)
            raise
    elected = [p for p in planned.elect if (p.topic, p.index) not in failed]
    return {
        "changed": bool(elected),
        "elected": listed(elected),
        "not_in_sync": listed(planned.not_in_sync),
        "not_elected": [{"topic": key[0], "partition": key[1], "why": why} for key, why in sorted(failed.items())],
        "diff": diff_of(changes(elected)),
    }


def _leaders(session: Session) -> dict[tuple[str, int], int | None]:
    return {(p.topic, p.index): p.leader for found in list_topics(session).values() for p in found}


def _done(session: Session, planned: Plan) -> dict[str, Any]:
    """What a run that fails has changed: the partitions that are led as planned by now; all when nobody tells."""
    try:
        leaders = _leaders(session)
        led = [p for p in planned.elect if leaders.get((p.topic, p.index)) == p.replicas[0]]
    except StreamopsError:
        led = list(planned.elect)
    return {"changed": bool(led), "diff": diff_of(changes(led))}


def changes(partitions: Iterable[Partition]) -> list[Change]:
    """Return for each partition its leader now and its preferred one."""
    return [Change(f"{p.topic}-{p.index}", {"leader": p.leader}, {"leader": p.replicas[0]}) for p in partitions]
