# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a run of the way back does with each host, as plain data for tasks.

A run takes one half step (stages.py). In this order, each part from the facts that it names:

1. judge with back_facts(): C(troubles) is empty, or the run ends here, with nothing changed
2. where C(hands_over): stop the controllers of C(stop), all at once
3. look at each node and at the ensemble anew, and judge again: C(controllers_stopped) must hold now
4. streamops.kafka.migration_znodes with C(quorum_epoch) and C(controllers_stopped) of this second judgement
5. rename on each controller of C(aside) its C(path) to C(name), where C(path) is there
6. import site.yml with the C(stages), which are the same in both judgements; where not C(hands_over), each broker of
   C(aside) renames between its stop and its start. From 2 to the first restart no leader is elected: nothing else comes
   in between
7. read all until back_progress_facts() says C(reached), or C(seconds) are over
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from ...module_utils._migration.back import GOALS, hands_over, progress_back, seconds_back, troubles_back
from ...module_utils._migration.hand_over import (
    SET_ASIDE,
    STOP,
    HandOverError,
    aside,
    epoch_of_kraft,
    hand_over,
    may_run,
)
from ...module_utils._migration.judge import StepFacts, restarts_of
from ...module_utils._migration.model import ClusterLook
from ...module_utils._migration.modes import KRAFT, LEFT_ALONE
from ...module_utils._migration.phase import phase_of
from ...module_utils._migration.stages import stages
from ...module_utils._migration.troubles import BACK, Trouble


@dataclass(frozen=True)
class BackPlan:
    """What a run of the way back does: the phase that it begins in, the stage of each host, and what forbids it.

    goal -- the phase that ends the half step; seconds -- how long that is waited for; restarts, idle -- as those of a
    step; hands_over -- whether the controllers stop and the znodes change; stop -- the hosts of the controllers that
    are not stopped for certain; quorum_epoch -- for migration_znodes; aside -- the directory and its new name of each
    host that sets one aside; lines -- all of it in words
    """

    phase: str
    troubles: tuple[Trouble, ...] = ()
    goal: str = ""
    seconds: int = 0
    stages: Mapping[str, str] | None = None
    restarts: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
    hands_over: bool = False
    stop: tuple[str, ...] = ()
    quorum_epoch: int = 0
    aside: Mapping[str, tuple[str, str]] | None = None
    lines: tuple[str, ...] = ()


def back_plan(look: ClusterLook, facts: StepFacts, directories: Mapping[str, str], now: int) -> BackPlan:
    """Return what the half step back from here does.

    directories -- of each node of Kafka the one that holds its metadata log, by its host; now -- seconds since 1970. A
    half step that troubles forbid has no stages, so that nobody can take it.
    """
    phase = phase_of(look)
    troubles = troubles_back(look, facts)
    if troubles:
        return _forbidden(phase.name, troubles)
    wanted = stages(look, phase, BACK)
    restarts = restarts_of(look, wanted)
    plan = BackPlan(
        phase=phase.name,
        goal=GOALS[phase.name],
        seconds=seconds_back(phase.name),
        stages=wanted,
        restarts=tuple(restarts),
        idle=tuple(host for host in wanted if wanted[host] == LEFT_ALONE),
        hands_over=hands_over(phase.name),
    )
    if not plan.hands_over:
        moved = [node.host for node in look.brokers if node.host in restarts and node.started_in == KRAFT]
        return _with_lines(replace(plan, aside={host: aside(directories[host], now) for host in moved}))
    try:
        acts = hand_over(look, directories, now)
    except HandOverError as error:
        what, _end, fix = error.message.partition(". Nothing was changed. fix: ")
        return _forbidden(phase.name, (Trouble("hand_over_refused", what, fix, (BACK,)),))
    done = replace(
        plan,
        stop=tuple(node.host for node in may_run(look)),
        quorum_epoch=epoch_of_kraft(look),
        aside={act.host: (act.path, act.value) for act in acts if act.kind == SET_ASIDE},
    )
    return _with_lines(
        done, [f"Stop         {act.host}" if act.kind == STOP else f"Then         {act}" for act in acts]
    )


def _forbidden(phase: str, troubles: tuple[Trouble, ...]) -> BackPlan:
    return BackPlan(phase, troubles, lines=tuple(f"Blocks back  {trouble}" for trouble in troubles))


def _with_lines(plan: BackPlan, acts: list[str] | None = None) -> BackPlan:
    """Return a plan with all that it does, row by row."""
    wanted, renamed = plan.stages or {}, plan.aside or {}
    lines = [f"Way back     {plan.phase} -> {plan.goal}", *(acts or [])]
    for host in plan.restarts:
        also = "" if plan.hands_over or host not in renamed else f"; sets aside {renamed[host][0]}"
        lines.append(f"Restart      {host} as {wanted[host]}{also}")
    return replace(plan, lines=(*lines, f"Then         waits up to {plan.seconds} s for {plan.goal}"))


def back_facts(plan: BackPlan) -> dict[str, Any]:
    """Return a plan as the result of a task."""
    troubles = [{**asdict(trouble), "blocks": list(trouble.blocks), "text": str(trouble)} for trouble in plan.troubles]
    renamed = {host: {"path": path, "name": name} for host, (path, name) in (plan.aside or {}).items()}
    lists = {name: list(getattr(plan, name)) for name in ("restarts", "idle", "stop", "lines")}
    return {
        **asdict(plan),
        **lists,
        "stages": dict(plan.stages or {}),
        "troubles": troubles,
        "aside": renamed,
        "controllers_stopped": plan.hands_over and not plan.stop,
    }


def back_progress_facts(look: ClusterLook, before: str) -> dict[str, Any]:
    """Return how far a half step is as the result of a task; before -- the phase that it began in."""
    return asdict(progress_back(look, before))
