# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Judge a half step of the way back to ZooKeeper: what forbids it, how far it is, and whether all is back. Pure.

The half steps are those of stages.py. A run that was killed is followed by one that goes on, by the phase alone:

cut within                         the phase is then            the next run
return of the brokers              brokers_moving               returns the others
behind it                          copied                       hands over
stop of the controllers            as before                    hands over
between znodes and logs            as before, half_way_back     sets the logs aside, then restarts the brokers
restart of the brokers             not_begun                    restarts the others

Before the copy a cut between znodes and logs leaves only /migration deleted, and nothing says so: site.yml may start
the controllers again. Each makes an empty /migration anew when it starts (KafkaZkClient.getOrCreateMigrationState), so
the cluster is in the phase of before, and nothing is lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from . import phase as phases
from .judge import Progress, StepFacts, of_reassignments
from .model import MIGRATION, ClusterLook, NodeLook, hosts
from .modes import KRAFT, MIGRATING, ZOOKEEPER
from .phase import Phase, phase_of
from .stages import UnclearStageError
from .steps import STEPS
from .troubles import BACK, Trouble, troubles_of

#: The phase that each half step back leads to.
GOALS: Mapping[str, str] = {
    phases.NOT_BEGUN: phases.NOT_BEGUN,
    phases.CONTROLLERS_READY: phases.NOT_BEGUN,
    phases.BROKERS_MIGRATING: phases.NOT_BEGUN,
    phases.COPIED: phases.NOT_BEGUN,
    phases.CANNOT_MIGRATE: phases.NOT_BEGUN,
    phases.BROKERS_MOVING: phases.COPIED,
    phases.DUAL_WRITE_KRAFT: phases.COPIED,
}
#: How many seconds the goal may take once the last broker has restarted: the record of its registration, or its session
#: and the election of a controller among the brokers.
SECONDS: Mapping[str, int] = {phases.COPIED: 120, phases.NOT_BEGUN: 120}


def hands_over(before: str) -> bool:
    """Tell whether the half step that begins in a phase stops the controllers and changes the znodes."""
    return GOALS.get(before) == phases.NOT_BEGUN


def seconds_back(before: str) -> int:
    """Return how many seconds the end of the half step that begins in a phase may take, behind its last restart."""
    return SECONDS[GOALS[before]]


def troubles_back(look: ClusterLook, facts: StepFacts) -> tuple[Trouble, ...]:
    """Return what forbids the half step back now; empty where it may begin, and each with its fix."""
    phase = phase_of(look)
    no_way: tuple[Trouble, ...] = ()
    if phase.name not in GOALS:
        what = f"no way leads back from the phase {phase.name}: {STEPS[phase.name].means}"
        fix = "mend what is named beside it, and look again" if phase.name == phases.UNKNOWN else "go on"
        no_way = (Trouble("no_way_back", what, fix, (BACK,)),)
    elif hands_over(phase.name) and not left_of(look):
        no_way = (Trouble("is_back", "nothing is left to take back", "none is needed", (BACK,)),)
    named = [trouble for trouble in troubles_of(look, phase) if BACK in trouble.blocks]
    return (*no_way, *named, *(() if no_way else _of_half_step(look, phase, facts)))


def _of_half_step(look: ClusterLook, phase: Phase, facts: StepFacts) -> Iterator[Trouble]:
    silent = [node for node in look.brokers if node.silence]
    if silent:
        what = f"broker {hosts(silent)} does not answer ({silent[0].silence}), so it cannot be restarted"
        yield Trouble("broker_silent", what, "mend the connection to its machine, or take it out first", (BACK,))
    unlooked = [node for node in look.brokers if node.kraft_dirs is None and not node.silence]
    if unlooked and look.state == MIGRATION:
        why = next((node.dirs_unread for node in unlooked if node.dirs_unread), "nobody looked at them")
        what = f"whether broker {hosts(unlooked)} has directories that were formatted for KRaft is not known: {why}"
        yield Trouble("dirs_unread", what, "run as the user that runs Kafka or as root", (BACK,))
    moved = [node for node in look.brokers if KRAFT in (node.mode, look.mode_of(node.id))]
    if moved and hands_over(phase.name):
        what = f"broker {hosts(moved)} was started in KRaft mode, and returns with the migration flag first"
        yield Trouble("broker_of_kraft", what, "wait until KRaft has registered it, and look again", (BACK,))
    denied = [node for node in look.controllers if node.record_unread]
    if denied and hands_over(phase.name):
        what = f"whether controller {hosts(denied)} stops cannot be seen: {denied[0].record_unread}"
        yield Trouble("stop_unseen", what, "run as the user that runs Kafka or as root", (BACK,))
    znodes = look.ensemble.znodes
    if znodes is not None and znodes.epoch is None and look.state == MIGRATION:
        what = "znode /controller_epoch does not exist, so this is not the path of the cluster"
        yield Trouble("epoch_missing", what, "check zookeeper_chroot", (BACK,))
    # Between the stop of the controllers and the first restart of a broker nobody is in charge, and nobody answers.
    if is_led(look):
        yield from of_reassignments(facts, BACK)


def is_led(look: ClusterLook) -> bool:
    """Tell whether somebody can be in charge: a broker of ZooKeeper, else a majority of the controllers."""
    znodes = look.ensemble.znodes
    if znodes is not None and znodes.kraft_epoch < 0:
        return znodes.controller is not None
    return 2 * sum(node.answers for node in look.controllers) > len(look.controllers)


def left_of(look: ClusterLook) -> list[str]:
    """Return what is left of a migration, a clause each; empty where the cluster is one of ZooKeeper again."""
    znodes, left = look.ensemble.znodes, []
    running = [node for node in look.controllers if node.running or node.silence]
    if running:
        left.append(f"controller {hosts(running)} is not stopped")
    if znodes is None:
        left.append("the znodes are not known")
    else:
        if znodes.kraft_epoch >= 0:
            left.append(f"/controller names controller {znodes.controller} of KRaft")
        elif znodes.controller is None:
            left.append("no broker is the controller")
        if znodes.migration is not None:
            left.append("/migration is there")
    kept = [node for node in look.controllers if node.log is not None]
    if kept:
        left.append(f"the metadata log of controller {hosts(kept)} is not set aside")
    others = [node for node in look.brokers if not _is_returned(look, node, ZOOKEEPER)]
    if others:
        left.append(f"broker {hosts(others)} does not run in ZooKeeper mode without the migration flag")
    return left


def _is_returned(look: ClusterLook, node: NodeLook, mode: str) -> bool:
    """Tell whether a broker runs in a mode, and those who are in charge know that."""
    known = node.id in look.with_session if mode == ZOOKEEPER else look.registered.get(node.id) is True
    return node.answers and node.started_in == mode and known


def progress_back(look: ClusterLook, before: str) -> Progress:
    """Return how far the half step is that began in a phase; before -- the name of that phase.

    Raises UnclearStageError where no way leads back from that phase.
    """
    if before not in GOALS:
        raise UnclearStageError(f"no way leads back from the phase {before}")
    mode = ZOOKEEPER if hands_over(before) else MIGRATING
    waiting = [node for node in look.brokers if not _is_returned(look, node, mode)]
    done, total = len(look.brokers) - len(waiting), len(look.brokers)
    if hands_over(before):
        left = left_of(look)
        text = f"{done} of {total} brokers are registered in ZooKeeper mode"
        return Progress(not left, done, total, "; ".join([text, *left]))
    text = f"{done} of {total} brokers are registered in migration mode"
    reached = phase_of(look).name == phases.COPIED and not waiting
    if waiting:
        text += f"; waits for {hosts(waiting)}"
    elif not reached:
        text += "; waits for brokers that the inventory lacks"
    return Progress(reached, done, total, text)
