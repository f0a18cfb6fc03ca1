# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a run does with each host of a cluster that migrates to KRaft, as plain data for tasks.

A host has its stage in C(_kafka_stage), and the model renders it from that: properties, the login at ZooKeeper, the
voters (inventory/nodes.py: stage_of). A task of the first host of the cluster reads the cluster and returns
step_facts() as C(step); the variable of each host is derived from that result (roles/_common/vars/main/cluster.yml),
and holds for the whole run, since a stage that was read anew between two restarts would be that of the step behind it.

site.yml reads the cluster before all else where C(kafka_mode) is zookeeper and the cluster has hosts in
kraft_controllers, with the wish STAY; migrate_to_kraft.yml with kafka_migration=next judges first (troubles empty),
then imports site.yml with the wish NEXT in force; at last each controller is read until its log has the end of the step
(seen_by), and all nodes once more. A host whose stage is LEFT_ALONE takes no part in the play. An UnclearStageError
fails the task before anything is changed.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from ...module_utils._migration import phase as phases
from ...module_utils._migration.judge import (
    GOALS,
    StepFacts,
    is_irreversible,
    progress_of,
    restarts_of,
    seconds_of,
    troubles_of_step,
)
from ...module_utils._migration.model import ClusterLook
from ...module_utils._migration.modes import LEFT_ALONE
from ...module_utils._migration.phase import phase_of
from ...module_utils._migration.stages import NEXT, stages
from ...module_utils._migration.troubles import FORWARD, Trouble

#: The last step concerns no node of Kafka, and other clusters may be on the ensemble.
_BY_HAND = Trouble(
    "by_hand",
    "the last step, to stop ZooKeeper, is not taken by a run",
    "stop the servers yourself once no other cluster and no tool uses them, set kafka_mode to kraft_isolated, and take "
    "the group zookeeper out of the inventory (docs/migrate-to-kraft.md)",
    (FORWARD,),
)


@dataclass(frozen=True)
class StepPlan:
    """What a run does: the phase that it begins in, the stage of each host, and what forbids it.

    restarts -- the hosts that start or restart with other settings, in the order of the roll; idle -- those that the
    run leaves alone. Of a run that takes a step: goal -- the phase that ends it, empty of others; seconds -- how long
    that is waited for; irreversible -- whether it closes the way back.
    """

    phase: str
    stages: dict[str, str]
    restarts: tuple[str, ...]
    idle: tuple[str, ...]
    troubles: tuple[Trouble, ...] = ()
    goal: str = ""
    seconds: int = 0
    irreversible: bool = False


def step_plan(look: ClusterLook, wish: str, facts: StepFacts | None = None) -> StepPlan:
    """Return what a run with this wish (STAY, NEXT) does; facts -- what a step needs to know beside the look.

    A step that troubles forbid has no stages, so that nobody can take it. Raises UnclearStageError where no stage
    follows from what was seen.
    """
    phase = phase_of(look)
    if wish != NEXT:
        return _plan(look, phase.name, stages(look, phase, wish))
    if GOALS.get(phase.name) == phases.ZOOKEEPER_GONE:
        return StepPlan(phase.name, {}, (), (), (_BY_HAND,))
    troubles = troubles_of_step(look, facts or StepFacts(unasked="nobody asked the brokers"))
    if troubles:
        return StepPlan(phase.name, {}, (), (), troubles)
    plan = _plan(look, phase.name, stages(look, phase, wish))
    before = phase.name
    return replace(plan, goal=GOALS[before], seconds=seconds_of(before), irreversible=is_irreversible(before))


def _plan(look: ClusterLook, phase: str, wanted: dict[str, str]) -> StepPlan:
    idle = tuple(host for host in wanted if wanted[host] == LEFT_ALONE)
    return StepPlan(phase, wanted, tuple(restarts_of(look, wanted)), idle)


def step_facts(plan: StepPlan) -> dict[str, Any]:
    """Return a plan as the result of a task."""
    troubles = [{**asdict(trouble), "blocks": list(trouble.blocks), "text": str(trouble)} for trouble in plan.troubles]
    return {**asdict(plan), "restarts": list(plan.restarts), "idle": list(plan.idle), "troubles": troubles}


def progress_facts(look: ClusterLook, before: str) -> dict[str, Any]:
    """Return how far a step is as the result of a task; before -- the phase that it began in."""
    return asdict(progress_of(look, before))


def plan_lines(plan: StepPlan) -> list[str]:
    """Return what a step does, row by row: whom it restarts, in this order, and as what.

    Of one that is forbidden nothing: the refusal names each trouble.
    """
    if plan.troubles:
        return []
    closes = "; afterwards there is no way back to ZooKeeper" if plan.irreversible else ""
    lines = [f"Step         {plan.phase} -> {plan.goal}{closes}"]
    lines += [f"Restart      {host} as {plan.stages[host]}" for host in plan.restarts]
    return [*lines, f"Then         waits up to {plan.seconds} s for {plan.goal}"]


def seen_by(look: ClusterLook, controller: str) -> ClusterLook:
    """Return the cluster as one controller knows it, by its host: with its log alone.

    The logs of the others were read before and may be older, and it would wait for them in vain.
    """
    others = {node.host for node in look.controllers} - {controller}
    return replace(look, nodes=tuple(node for node in look.nodes if node.host not in others))
