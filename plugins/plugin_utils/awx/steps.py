# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Steps that people added to our workflows: which of them may stay, and how they stay connected.

The name of a step is what AWX calls its identifier. `Step` is what AWX shows of one. Ours are described
(awx/data/workflows.yml) and their order is brought back, so ways between two of ours count as described.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

#: The ways from a step to the next ones.
SIDES = ("success_nodes", "failure_nodes", "always_nodes")
Step = Mapping[str, Any]


def title(step: Step) -> str:
    """Name a step as the page of AWX does, by what it runs."""
    template = step.get("summary_fields", {}).get("unified_job_template", {}).get("name", "without a template")
    return f"{template} (identifier {step['identifier']})"


def added(flow: Mapping[str, Any], steps: Iterable[Step]) -> list[Step]:
    """Return the steps of a workflow that are not ours."""
    ours = {one["identifier"] for one in flow["simplified_workflow_nodes"]}
    return [one for one in steps if one["identifier"] not in ours]


def with_added(flow: Mapping[str, Any], steps: Sequence[Step]) -> dict[str, Any]:
    """Return the workflow as described, where our steps lead to those of others as well, as they do now."""
    names = {one["id"]: one["identifier"] for one in added(flow, steps)}
    now = {one["identifier"]: one for one in steps}
    described = [
        {
            **one,
            **{
                side: [
                    *one.get(side, []),
                    *(names[to] for to in now.get(one["identifier"], {}).get(side, []) if to in names),
                ]
                for side in SIDES
            },
        }
        for one in flow["simplified_workflow_nodes"]
    ]
    return {**flow, "simplified_workflow_nodes": described}


def _ways(flow: Mapping[str, Any], steps: Sequence[Step]) -> Iterator[tuple[str, str, str]]:
    """All ways of a workflow once the order of our steps is brought back: from, side, to."""
    names = {one["id"]: one["identifier"] for one in steps}
    for one in with_added(flow, steps)["simplified_workflow_nodes"]:
        yield from ((one["identifier"], side, to) for side in SIDES for to in one[side])
    for step in added(flow, steps):
        yield from ((step["identifier"], side, names[to]) for side in SIDES for to in step.get(side, []))


def unapproved(flow: Mapping[str, Any], steps: Sequence[Step]) -> set[str]:
    """Return the steps that may start though nothing was approved."""
    ways = list(_ways(flow, steps))
    approvals = {one["identifier"] for one in flow["simplified_workflow_nodes"] if "approval_node" in one}
    every = {one["identifier"] for one in (*flow["simplified_workflow_nodes"], *added(flow, steps))}
    reached: set[str] = set()
    ahead = every - {to for _from, _side, to in ways}
    while ahead:
        reached |= ahead
        ahead = {
            to
            for one, side, to in ways
            if one in ahead and not (one in approvals and side == "success_nodes") and to not in reached
        }
    return reached


def refused(flow: Mapping[str, Any], steps: Sequence[Step], changing: Collection[str]) -> list[str]:
    """Say which steps must not stay, and why.

    Args:
        flow: a workflow of ours as described.
        steps: the steps that it has in AWX.
        changing: identifiers of those of them that run what may change clusters.
    """
    ways, open_to_all = list(_ways(flow, steps)), unapproved(flow, steps)
    led_to = {to for _from, _side, to in ways}
    ours = {one["identifier"] for one in flow["simplified_workflow_nodes"]}
    found = []
    for step in added(flow, steps):
        name = step["identifier"]
        if name not in led_to:
            found.append(f"{title(step)} comes after no step, so it starts with the workflow")
        elif name in changing and name in open_to_all:
            found.append(f"{title(step)} may change clusters, and starts without the approval")
        if into := sorted({to for one, _side, to in ways if one == name and to in ours}):
            found.append(f"{title(step)} leads to our {', '.join(into)}, which would start by it")
    found.extend(
        f"{title(step)} stands where our approval was"
        for one in flow["simplified_workflow_nodes"]
        for step in steps
        if "approval_node" in one and step["identifier"] == one["identifier"] and not _is_approval(step)
    )
    return found


def runs(step: Step, kind: str) -> bool:
    """Tell whether a step runs a template of this kind, which its address names."""
    return f"/{kind}/" in (step.get("related", {}).get("unified_job_template") or "")


def _is_approval(step: Step) -> bool:
    """Tell whether a step asks for an approval; one without a template gets its approval from the run."""
    return not step.get("unified_job_template") or runs(step, "workflow_approval_templates")
