# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a run does with each host of a cluster that migrates to KRaft, as plain data for tasks.

A host has its stage in C(_kafka_stage), and the model renders it from that: properties, the login at ZooKeeper, the
voters (inventory/nodes.py: stage_of). A task of the first host of the cluster reads the cluster and returns
step_facts() as C(stages), C(restarts) and so on; the variable of each host is derived from that result, and holds for
the whole run, since a stage that was read anew between two restarts would be that of the step behind it:

    _kafka_stage: "{{ (hostvars[_kafka_cluster_first].__common_migration_plan.stages | default({}))
                      [inventory_hostname] | default('') }}"

site.yml reads the cluster before all else where C(kafka_mode) is zookeeper and the cluster has hosts in
kraft_controllers, with the wish STAY; migrate_to_kraft.yml with kafka_migration=next judges first (troubles empty),
then imports site.yml with the wish NEXT, and at last reads the cluster until C(progress.reached) or the seconds of the
step are over. A host whose stage is LEFT_ALONE takes no part in the play. An UnclearStageError fails the task before
anything is changed.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

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
from ...module_utils._migration.troubles import Trouble


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
