# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What each state of the module reassignment does, for one interval; the action plugin repeats it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import PartitionAdmin, quick
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import (
    ClusterUnreachableError,
    RefusedError,
    RequestFailedError,
)
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.look import refuse_moving, snapshot_of_file
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.report import figures_of, planned
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.end import cancel, finish
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.look import not_answering, what_stands
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.plan import plan_now
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.walk import apply


def on_file(params: Mapping[str, Any]) -> dict[str, Any]:
    """The plan from a file; raises RefusedError for a state that needs a cluster."""
    if params["state"] != "planned":
        raise RefusedError("Reassignment", [f"state: {params['state']} needs a cluster; a snapshot can be planned on"])
    return {"changed": False, **planned(snapshot_of_file(params["snapshot"]), params, registered_only=False)}


def on_cluster(connection: Connection, params: Mapping[str, Any], check: bool) -> dict[str, Any]:
    """What the state does; see there."""
    state = params["state"]
    with PartitionAdmin(connection if state == "planned" else quick(connection)) as admin:
        if state == "planned":
            refuse_moving(admin)
            return {"changed": False, **figures_of(*plan_now(admin, params))}
        try:
            if state == "applied":
                return apply(admin, params, check)
            return cancel(admin, check) if state == "cancelled" else finish(admin, params, check)
        except (ClusterUnreachableError, RequestFailedError) as error:
            unanswered = not_answering(admin)
            if not unanswered:
                raise
            return {
                "changed": False,
                "stage": "unanswered",
                "unanswered": unanswered,
                "stands": what_stands(admin),
                "said": error.message,
            }
