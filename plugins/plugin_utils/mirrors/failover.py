# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Judge whether a planned failover can follow a flow, by the inventory alone. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...module_utils._mirror.flows import LEGACY, Flow

#: What kafka_failover_step takes, and kafka_failover_source.
STEPS = ("", "next", "back")
LOST = "lost"
#: What the playbook mirror_failback sets: a source that was lost answers again.
RETURNED = "returned"
SOURCES = ("", LOST, RETURNED)


def under_way(flows: Sequence[Flow], wanted: str, step: str, source: str = "") -> list[Flow]:
    """Return the flows with that of a failover as an enabled one where a step is taken, or its source is lost.

    The last steps disable it, and so does whoever finds its source lost; it stays so until that is copied back.
    """
    return [replace(flow, enabled=True) if (step or source) and flow.pair == wanted else flow for flow in flows]


def failover_refusals(
    flows: Sequence[Flow], wanted: str, step: str = "", operator: str = "", source: str = ""
) -> list[str]:
    """Return why clients cannot follow this flow (source->target); a sentence with its fix, or none."""
    if step not in STEPS:
        return [
            f"kafka_failover_step is {step!r}, which is no step. Give next, which takes the next step, or back; leave "
            "it out to see the plan."
        ]
    if source not in SOURCES:
        return [
            f"kafka_failover_source is {source!r}, which it cannot be. Give {LOST} where the source is gone, with its "
            "disks perhaps; leave it out while both clusters are alive."
        ]
    if step and not operator:
        return [
            "kafka_failover_operator is not given. Give the name of the person who takes the steps, the same for all "
            "steps, so that a second person is refused."
        ]
    running = [flow for flow in flows if flow.enabled]
    chosen = [flow for flow in running if flow.pair == wanted]
    if not chosen:
        known = ", ".join(sorted({flow.pair for flow in running})) or "none"
        return [
            f"kafka_failover is {wanted!r}, which is no enabled flow of mirror_flows; these are {known}. Name the flow "
            "that copies from the cluster which clients leave into the cluster that they go to."
        ]
    if any(flow.engine == LEGACY for flow in chosen):
        return [
            f"{wanted} has engine legacy, which notes nothing by which offsets of groups can be translated. Move its "
            "groups by time (groups.yml)."
        ]
    return []
