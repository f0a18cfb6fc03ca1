# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Has preferred leaders elected and waits until they lead."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

from ansible_collections.streamops.kafka.plugins.module_utils._brokers.election import (
    Plan,
    changes,
    elect,
    listed,
    plan,
    unknown_broker,
)
from ansible_collections.streamops.kafka.plugins.module_utils._core.diff import diff_of
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError, StreamopsError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import PartitionAdmin


def ensure_leaders(
    admin: PartitionAdmin,
    broker: int | None,
    wanted: Iterable[tuple[str, int]] | None,
    timeout: float,
    check_mode: bool,
) -> dict[str, Any]:
    """Elect what is not led by its preferred replica and return the module's result.

    Raises RefusedError for a broker or wanted partitions that do not exist and WaitTimeoutError after C(timeout)
    seconds.
    """
    # Topics that one may not describe are not listed, and would be passed over in silence.
    admin.require_describe("elect leaders")
    partitions = [p for found in admin.topics().values() for p in found]
    refused = unknown_broker(partitions, (one.id for one in admin.brokers()), broker)
    planned = plan(partitions, broker, wanted)
    refused += [
        f"partition {topic}-{index} does not exist, or may not be described. Correct it, or leave it out."
        for topic, index in planned.unknown
    ]
    if refused:
        raise RefusedError("leader_election", refused)
    failed: dict[tuple[str, int], str] = {}
    if planned.elect and not check_mode:
        try:
            failed = elect(
                planned,
                call=admin.elect_preferred,
                look=partial(_leaders, admin),
                clock=time.monotonic,
                sleep=time.sleep,
                timeout=timeout,
            )
        except StreamopsError as error:
            error.done = _done(admin, planned)
            raise
    elected = [p for p in planned.elect if (p.topic, p.index) not in failed]
    return {
        "changed": bool(elected),
        "elected": listed(elected),
        "not_in_sync": listed(planned.not_in_sync),
        "not_elected": [{"topic": key[0], "partition": key[1], "why": why} for key, why in sorted(failed.items())],
        "diff": diff_of(changes(elected)),
    }


def _leaders(admin: PartitionAdmin) -> dict[tuple[str, int], int | None]:
    return {(p.topic, p.index): p.leader for found in admin.topics().values() for p in found}


def _done(admin: PartitionAdmin, planned: Plan) -> dict[str, Any]:
    """What a run that fails has changed: the partitions that are led as planned by now; all when nobody tells."""
    try:
        leaders = _leaders(admin)
        led = [p for p in planned.elect if leaders.get((p.topic, p.index)) == p.replicas[0]]
    except StreamopsError:
        led = list(planned.elect)
    return {"changed": bool(led), "diff": diff_of(changes(led))}
