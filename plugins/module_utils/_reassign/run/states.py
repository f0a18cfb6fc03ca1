# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What each state of the module reassignment does, for one interval; the action plugin repeats it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection, quick
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import (
    ClusterUnreachableError,
    RefusedError,
    RequestFailedError,
)
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.report import figures_of, planned
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.end import cancel, finish
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.look import (
    not_answering,
    refuse_moving,
    snapshot_of_file,
    what_stands,
)
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.plan import plan_now
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.walk import apply


def reassignment(module: Any) -> dict[str, Any]:
    """What the state asks for, on a cluster or on the file of a snapshot; the module's result."""
    params = module.params
    if params["snapshot"]:
        return _on_file(params)
    return _on_cluster(Connection.from_params(params), params, module.check_mode)


def _on_file(params: Mapping[str, Any]) -> dict[str, Any]:
    """The plan from a file; raises RefusedError for a state that needs a cluster."""
    if params["state"] != "planned":
        raise RefusedError("Reassignment", [f"state: {params['state']} needs a cluster; a snapshot can be planned on"])
    return {"changed": False, **planned(snapshot_of_file(params["snapshot"]), params, registered_only=False)}


def _on_cluster(connection: Connection, params: Mapping[str, Any], check: bool) -> dict[str, Any]:
    state = params["state"]
    with Session(connection if state == "planned" else quick(connection)) as session:
        if state == "planned":
            refuse_moving(session)
            return {"changed": False, **figures_of(*plan_now(session, params))}
        try:
            if state == "applied":
                return apply(session, params, check)
            return cancel(session, check) if state == "cancelled" else finish(session, params, check)
        except (ClusterUnreachableError, RequestFailedError) as error:
            unanswered = not_answering(session)
            if not unanswered:
                raise
            return {
                "changed": False,
                "stage": "unanswered",
                "unanswered": unanswered,
                "stands": what_stands(session),
                "said": error.message,
            }
