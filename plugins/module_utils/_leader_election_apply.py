# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Has preferred leaders elected and waits until they lead."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from ansible_collections.streamops.kafka.plugins.module_utils._diff import diff_of
from ansible_collections.streamops.kafka.plugins.module_utils._errors import RefusedError
from ansible_collections.streamops.kafka.plugins.module_utils._leader_election import changes, elect, listed, plan

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ansible_collections.streamops.kafka.plugins.module_utils._partitions import PartitionAdmin


def ensure_leaders(
    admin: PartitionAdmin,
    broker: int | None,
    wanted: Iterable[tuple[str, int]] | None,
    timeout: float,
    check_mode: bool,
) -> dict[str, Any]:
    """Elect what is not led by its preferred replica and return the module's result.

    Raises RefusedError for wanted partitions that do not exist and WaitTimeoutError after C(timeout) seconds.
    """
    planned = plan([p for found in admin.topics().values() for p in found], broker, wanted)
    if planned.unknown:
        absent = [f"partition {topic}-{index} does not exist; leave it out" for topic, index in planned.unknown]
        raise RefusedError("leader_election", absent)
    failed: dict[tuple[str, int], str] = {}
    if planned.elect and not check_mode:
        failed = elect(
            planned,
            call=admin.elect_preferred,
            look=lambda: {(p.topic, p.index): p.leader for found in admin.topics().values() for p in found},
            clock=time.monotonic,
            sleep=time.sleep,
            timeout=timeout,
        )
    elected = [p for p in planned.elect if (p.topic, p.index) not in failed]
    return {
        "changed": bool(elected),
        "elected": listed(elected),
        "not_in_sync": listed(planned.not_in_sync),
        "not_elected": [{"topic": key[0], "partition": key[1], "why": why} for key, why in sorted(failed.items())],
        "diff": diff_of(changes(elected)),
    }
