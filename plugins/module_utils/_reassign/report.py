# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""A planned reassignment as the module returns it, from a snapshot as cluster_info returns it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.figures import plan_figures, schedule_figures
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.json_form import WISHES, number_of, wish_of
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.model import Plan
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.record import wish_kept
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.schedule import (
    Limits,
    Schedule,
    plan_and_schedule,
)
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.snapshot import cluster_of


def planned(snapshot: Any, params: Mapping[str, Any], registered_only: bool) -> dict[str, Any]:
    """The figures of a plan and its schedule; raises RefusedError with every reason when it cannot be made."""
    return figures_of(*decided(snapshot, params, registered_only))


def decided(snapshot: Any, params: Mapping[str, Any], registered_only: bool) -> tuple[Plan, Schedule]:
    """The plan and its schedule; raises RefusedError with every reason when it cannot be made.

    C(registered_only): brokers that the snapshot does not know cannot be added.
    """
    cluster = cluster_of(snapshot, sound_reserve(params.get("disk_reserve")))
    wish = wish_of({name: _plain(name, value) for name, value in wish_kept(params, WISHES).items()})
    if registered_only:
        known = {broker.id for broker in cluster.brokers}
        unknown = [broker.id for broker in wish.add if broker.id not in known]
        if unknown:
            said = [f"add: broker {broker} is not registered; start it first" for broker in unknown]
            raise RefusedError("Reassignment", said)
    # A throttle of 0 is none.
    return plan_and_schedule(cluster, wish, Limits(params["concurrency"], params["throttle"] or None))


def sound_reserve(reserve: float | None) -> float | None:
    """The reserve of disks; raises RefusedError where it is no fraction."""
    if reserve is not None and not 0 <= reserve < 1:
        raise RefusedError(
            "Reassignment",
            [f"disk_reserve: {reserve} is not a fraction of 0 or more and below 1; 0.15 keeps 15 % of a disk free"],
        )
    return reserve


def figures_of(plan: Plan, order: Schedule) -> dict[str, Any]:
    """A plan and its schedule as the module returns them."""
    figures = plan_figures(plan)
    figures["schedule"] = schedule_figures(plan.cluster, order)
    figures["diff"] = diff_of_changes(figures["changes"])
    return figures


def diff_of_changes(changes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The diff of changes as they are returned: by partition the replicas from and to."""
    names = {f"{change['topic']}-{change['partition']}": change for change in changes}
    return {
        "before": {name: change["from"] for name, change in names.items()},
        "after": {name: change["to"] for name, change in names.items()},
    }


def _plain(name: str, value: Any) -> Any:
    """A value as the wish wants it: Ansible may give the numbers of a dictionary as text."""
    if name in ("replace", "replication_factor"):
        return {key: number_of(one) if isinstance(one, str) else one for key, one in value.items()}
    if name == "add":
        return [{key: one for key, one in broker.items() if one is not None} for broker in value]
    return value
