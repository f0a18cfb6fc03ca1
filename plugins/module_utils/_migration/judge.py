# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Judge a step of the migration to KRaft: what must hold before it, and what proves that it is done. Pure.

What a look at the cluster tells is judged by troubles.py, for the screen too. Here stands what only a step needs: the
reassignments under way, what the operator has confirmed, and the modes that the nodes must have in the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .._core.names import capped
from . import phase as phases
from .model import ClusterLook, NodeLook, hosts
from .modes import BROKER, LEFT_ALONE, MIGRATING
from .phase import WAY, Phase, phase_of
from .stages import NEXT, UnclearStageError, stages
from .steps import STEPS
from .troubles import FORWARD, Trouble, troubles_of

#: The phase that each step leads to.
GOALS: Mapping[str, str] = {
    phases.NOT_BEGUN: phases.CONTROLLERS_READY,
    phases.CONTROLLERS_READY: phases.COPIED,
    phases.BROKERS_MIGRATING: phases.COPIED,
    phases.COPIED: phases.DUAL_WRITE_KRAFT,
    phases.BROKERS_MOVING: phases.DUAL_WRITE_KRAFT,
    phases.DUAL_WRITE_KRAFT: phases.FINALISED,
    phases.FINALISED: phases.ZOOKEEPER_GONE,
}
#: How many seconds the goal may take once the last node has restarted: an election of the controllers, the copy of all
#: metadata (in batches, zookeeper.metadata.migration.min.batch.size), the registration of
#: the last broker, the restart of the last controller, the end of the last server.
SECONDS: Mapping[str, int] = {
    phases.CONTROLLERS_READY: 120,
    phases.COPIED: 900,
    phases.DUAL_WRITE_KRAFT: 120,
    phases.FINALISED: 120,
    phases.ZOOKEEPER_GONE: 60,
}


@dataclass(frozen=True)
class StepFacts:
    """What a step needs to know beside the look.

    moving -- the partitions that are being reassigned; unasked -- why the brokers could not say that, empty where they
    did; confirmed -- the phase that the operator confirmed, empty for none
    """

    moving: tuple[str, ...] = ()
    unasked: str = ""
    confirmed: str = ""


@dataclass(frozen=True)
class Progress:
    """How far a step is: whether its goal is reached, how many nodes of how many are done, and both in a sentence."""

    reached: bool
    done: int
    total: int
    text: str

    def __str__(self) -> str:
        return self.text


def troubles_of_step(look: ClusterLook, facts: StepFacts) -> tuple[Trouble, ...]:
    """Return what forbids the next step now; empty where it may begin, and each with its fix.

    A phase from which no step leads on is a trouble too.
    """
    phase = phase_of(look)
    named = [trouble for trouble in troubles_of(look, phase) if FORWARD in trouble.blocks]
    return (*named, *_of_step(phase, facts), *_of_controllers(look, phase))


def _of_step(phase: Phase, facts: StepFacts) -> Iterator[Trouble]:
    if phase.name not in GOALS:
        what = f"no step leads on from the phase {phase.name}: {STEPS[phase.name].means}"
        yield Trouble("no_step", what, "mend what is named beside it, and look again", (FORWARD,))
        return
    goal = GOALS[phase.name]
    # With half of its brokers in ZooKeeper mode a cluster takes reassignments badly: what was moved away stayed on the
    # disks (KAFKA-16120), and moves stood still until the next election (KAFKA-16121). Both are mended in 3.7; a move
    # that is under way would be carried through each restart nevertheless.
    if goal != phases.ZOOKEEPER_GONE:
        yield from of_reassignments(facts, FORWARD)
    if STEPS[phase.name].confirmation and facts.confirmed != goal:
        what = f"the next step is not confirmed: {STEPS[phase.name].confirmation}"
        fix = f"confirm it for this cluster with -e kafka_migration_confirmed={goal}"
        yield Trouble("not_confirmed", what, fix, (FORWARD,))


def of_reassignments(facts: StepFacts, direction: str) -> Iterator[Trouble]:
    """Yield what moves of replicas forbid: a step while some are under way, or while nobody knows."""
    if facts.unasked:
        what = f"which partitions are being reassigned is not known: {facts.unasked}"
        yield Trouble("reassignments_unread", what, "mend the connection to the brokers", (direction,))
    elif facts.moving:
        what = f"{len(facts.moving)} partitions are being reassigned: {capped(facts.moving)}"
        yield Trouble("reassigning", what, "wait for the reassignment, or cancel it", (direction,))


def _of_controllers(look: ClusterLook, phase: Phase) -> Iterator[Trouble]:
    if phase.name == phases.NOT_BEGUN and not look.controllers:
        what = "the inventory has no controllers"
        fix = "add hosts with ids of their own to kraft_controllers (docs/migrate-to-kraft.md)"
        yield Trouble("no_controllers", what, fix, (FORWARD,))


def progress_of(look: ClusterLook, before: str) -> Progress:
    """Return how far the step is that began in a phase; before -- the name of that phase.

    A node is done that was started in the mode of the step and is registered so. One that is down is not done, however
    it was registered last (KAFKA-20960). Raises UnclearStageError where no step begins in that phase.
    """
    if before not in GOALS:
        raise UnclearStageError(f"no step leads on from the phase {before}")
    goal, phase = GOALS[before], phase_of(look)
    if goal == phases.ZOOKEEPER_GONE:
        ensemble = look.ensemble
        text = f"{ensemble.stopped} of {ensemble.servers} servers of ZooKeeper are stopped"
        return Progress(ensemble.is_gone, ensemble.stopped, ensemble.servers, text)
    wanted = stages(look, Phase(before), NEXT)
    of_step = look.controllers if goal in (phases.CONTROLLERS_READY, phases.FINALISED) else look.brokers
    left = [node for node in of_step if not _is_done(look, node, wanted[node.host])]
    done, total = len(of_step) - len(left), len(of_step)
    reached = phase.name in WAY and WAY.index(phase.name) >= WAY.index(goal) and not left
    text = f"{done} of {total} {_WORDS[goal]}"
    if left:
        text += f"; waits for {hosts(left)}"
    elif not reached:
        text += f"; {_THEN[goal]}"
    return Progress(reached, done, total, text)


_WORDS: Mapping[str, str] = {
    phases.CONTROLLERS_READY: "controllers run and have the state of the migration in their logs",
    phases.COPIED: "brokers are registered in migration mode",
    phases.DUAL_WRITE_KRAFT: "brokers are registered in KRaft mode",
    phases.FINALISED: "controllers run without the migration flag and have the end of the migration in their logs",
}
#: What is waited for when all nodes are done.
_THEN: Mapping[str, str] = {
    phases.CONTROLLERS_READY: "waits for the state of the migration",
    phases.COPIED: "the controllers copy the metadata",
    phases.DUAL_WRITE_KRAFT: "waits for brokers that the inventory lacks",
    phases.FINALISED: "waits for a leader that ends the migration",
}


def _is_done(look: ClusterLook, node: NodeLook, stage: str) -> bool:
    """Tell whether a node runs in a stage, and the quorum knows that."""
    if not node.answers or stage == LEFT_ALONE or node.started_in != stage:
        return False
    if BROKER in node.roles:
        return look.registered.get(node.id) is (stage == MIGRATING)
    # The log of a controller that has just restarted ends before the record of the state.
    return node.log is not None and bool(node.log.state) and node.log.state == look.state


def seconds_of(before: str) -> int:
    """Return how many seconds the end of the step that began in a phase may take, behind its last restart."""
    return SECONDS[GOALS[before]]


def restarts_of(look: ClusterLook, wanted: Mapping[str, str]) -> list[str]:
    """Return the hosts that run in another mode than their stage, or do not run: those that a step begins.

    wanted -- the stages, as stages() returns them. Controllers come first, each kind by its id.
    """
    nodes = sorted(look.nodes, key=lambda node: (BROKER in node.roles, node.id))
    return [
        node.host
        for node in nodes
        if wanted[node.host] != LEFT_ALONE and not (node.answers and node.started_in == wanted[node.host])
    ]


def is_irreversible(before: str) -> bool:
    """Tell whether the step that begins in a phase closes the way back."""
    return bool(STEPS[before].back) and not STEPS[GOALS[before]].back
