# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The stage of each node of a cluster that migrates: the mode whose settings a run gives it. Pure.

A stage follows from what is read of the cluster, never from a file of ours, so a run that was killed is followed by one
that goes on where it ended. site.yml wants each node to stay; a step wants the stage of the phase behind it.

The way back has two half steps, and a run takes one of them (back.py). The first ends in the phase copied, in which a
cluster may stay, and from which the way on is open too. So nothing has to remember that a way back was begun:

brokers_moving, dual_write_kraft      brokers of KRaft return to ZooKeeper mode with the flag, one after the other;
                                      controllers run, with the flag                             -> copied
controllers_ready, brokers_migrating, controllers stop, the hand-over follows (hand_over.py), then brokers restart
copied, cannot_migrate, not_begun     without the flag; controllers are left alone               -> not_begun
"""

from __future__ import annotations

from collections.abc import Mapping

from . import phase as phases
from .model import MIGRATION, PRE_MIGRATION, ClusterLook, NodeLook
from .modes import KRAFT, LEFT_ALONE, MIGRATING, ZOOKEEPER
from .phase import Phase
from .troubles import BACK

#: What a run wants: every node as it is, the step that follows from the phase, or (BACK) the half step back from it.
STAY, NEXT = "stay", "next"
WISHES = (STAY, NEXT, BACK)


class UnclearStageError(ValueError):
    """Says that no stage follows from what was seen, and what to do."""


#: What a step makes of the brokers, and of the controllers; None for those that it leaves as they are.
_STEPS: Mapping[str, tuple[str | None, str | None]] = {
    phases.NOT_BEGUN: (None, MIGRATING),
    phases.CONTROLLERS_READY: (MIGRATING, None),
    phases.BROKERS_MIGRATING: (MIGRATING, None),
    phases.COPIED: (KRAFT, None),
    phases.BROKERS_MOVING: (KRAFT, None),
    phases.DUAL_WRITE_KRAFT: (KRAFT, KRAFT),
    # The next step, to stop ZooKeeper, is one of its servers alone.
    phases.FINALISED: (KRAFT, KRAFT),
}
#: The same of a half step back. Controllers that were restarted to finalise get the flag again: without it the one that
#: leads ends the migration, and with it the way back.
_BACK: Mapping[str, tuple[str | None, str | None]] = {
    phases.NOT_BEGUN: (ZOOKEEPER, LEFT_ALONE),
    phases.CANNOT_MIGRATE: (ZOOKEEPER, LEFT_ALONE),
    phases.CONTROLLERS_READY: (ZOOKEEPER, LEFT_ALONE),
    phases.BROKERS_MIGRATING: (ZOOKEEPER, LEFT_ALONE),
    phases.COPIED: (ZOOKEEPER, LEFT_ALONE),
    phases.BROKERS_MOVING: (MIGRATING, MIGRATING),
    phases.DUAL_WRITE_KRAFT: (MIGRATING, MIGRATING),
}
#: Phases from which no step leads on.
_ENDS = (phases.ZOOKEEPER_GONE, phases.CREATED_IN_KRAFT)
#: The mode of a broker that nothing tells of, such as one that was added: the one that leaves the phase as it is.
_UNTOLD: Mapping[str, str] = {
    phases.NOT_BEGUN: ZOOKEEPER,
    phases.CONTROLLERS_READY: ZOOKEEPER,
    phases.BROKERS_MIGRATING: MIGRATING,
    phases.COPIED: MIGRATING,
    phases.BROKERS_MOVING: MIGRATING,
    phases.DUAL_WRITE_KRAFT: KRAFT,
    phases.CANNOT_MIGRATE: ZOOKEEPER,
}


def stages(look: ClusterLook, phase: Phase, wish: str) -> dict[str, str]:
    """Return the stage of each node of Kafka by its host: ZOOKEEPER, MIGRATING, KRAFT or LEFT_ALONE.

    Raises UnclearStageError where none follows: the phase is not known, no step leads on from it or back, or a
    hand-over was cut and only the way back leads out. ValueError for another wish than those of WISHES.
    """
    if wish not in WISHES:
        raise ValueError(f"a run wants one of {', '.join(WISHES)}, not {wish!r}")
    if phase.name == phases.UNKNOWN:
        what = "what was seen fits no phase of a migration, so the settings of no node follow from it"
        raise UnclearStageError(f"{what}; fix: run migrate_to_kraft.yml, mend what it names, and run again")
    if wish == NEXT and phase.name in (*_ENDS, phases.CANNOT_MIGRATE):
        raise UnclearStageError(f"no step leads on from the phase {phase.name}")
    if wish == BACK and phase.name not in _BACK:
        raise UnclearStageError(f"no way leads back from the phase {phase.name}")
    # Controllers that are stopped tell the dual write too. Started again they would have metadata from before the way
    # back, and brokers that have gone back would get the flag again. Where all brokers have moved none goes back.
    if wish == STAY and look.goes_back and any(node.mode != KRAFT for node in look.brokers):
        what = "a way back to ZooKeeper was begun and not ended: /controller is not of KRaft, and the metadata still is"
        raise UnclearStageError(f"{what}; fix: end it, run migrate_to_kraft.yml with kafka_migration=back")
    brokers, controllers = {NEXT: _STEPS, BACK: _BACK}[wish][phase.name] if wish != STAY else (None, None)
    return {
        # A node with both roles is judged as a controller: no step is taken with one (trouble combined).
        **{node.host: brokers or _broker_as_it_is(look, phase, node) for node in look.brokers},
        **{node.host: controllers or _controller_as_it_is(look, phase, node) for node in look.controllers},
    }


def _broker_as_it_is(look: ClusterLook, phase: Phase, node: NodeLook) -> str:
    """Return the mode of a broker as it was started, else as it is registered; one that its phase forbids is mended.

    A start comes before a registration: a run that was killed in between has written these settings, and another stage
    would take the broker back.
    """
    if phase.name in (phases.FINALISED, *_ENDS):
        return KRAFT
    mode = node.mode or look.mode_of(node.id) or _UNTOLD[phase.name]
    too_early = look.state == PRE_MIGRATION and mode == KRAFT
    without_flag = look.state == MIGRATION and mode == ZOOKEEPER
    return MIGRATING if too_early or without_flag else mode


def _controller_as_it_is(look: ClusterLook, phase: Phase, node: NodeLook) -> str:
    """Return the mode of a controller.

    One without the flag finalises the migration once it leads: only where all brokers have moved it may keep that,
    since a run that was to finalise was killed then. With a finalised migration ZooKeeper may be gone, which one with
    the flag would wait for.
    """
    if phase.name in (phases.FINALISED, *_ENDS):
        return KRAFT
    has_begun = node.log is not None or node.running
    if phase.name == phases.CANNOT_MIGRATE or (phase.name == phases.NOT_BEGUN and not has_begun):
        return LEFT_ALONE
    without_flag = node.started is not None and not node.flagged
    return KRAFT if phase.name == phases.DUAL_WRITE_KRAFT and without_flag else MIGRATING
