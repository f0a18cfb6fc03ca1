# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The table of the migration to KRaft: of each phase the next step, how long one may stay, and the way back. Pure.

Sources: KIP-866, the page "ZooKeeper to KRaft Migration" of Kafka 3.9 with its table of ways back, KAFKA-16101 (znodes
are deleted before the first broker restarts), KIP-1362 (brokers that are replaced on the way).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from . import phase as phases
from .phase import Phase
from .troubles import BACK, FORWARD, Trouble


@dataclass(frozen=True)
class Step:
    """What follows from a phase, each as a sentence without its end.

    means -- what the phase is; next -- the next step by a short name, empty where none follows; does -- what it does;
    confirmation -- what the operator has to have confirmed before it, empty where nothing is lost by it; stay -- how
    long one may stay in the phase; back -- the way back, empty where there is none; cost -- what that costs
    """

    means: str
    next: str
    does: str
    confirmation: str
    stay: str
    back: str
    cost: str


_NO_LIMIT = "no limit"
_SHORT = "hours; a broker that restarts with other settings than its neighbours makes the way back longer"
_DAYS = "one to two weeks, so that each kind of load was seen once; no limit in time"

STEPS: Mapping[str, Step] = {
    phases.NOT_BEGUN: Step(
        means="brokers use ZooKeeper; no controller of KRaft has started",
        next="start the controllers",
        does="formats new controllers with the cluster id of the brokers and starts them with the migration flag",
        confirmation="",
        stay=_NO_LIMIT,
        back="nothing to take back",
        cost="nothing",
    ),
    phases.CONTROLLERS_READY: Step(
        means="the controllers have a leader and wait for the brokers (PRE_MIGRATION)",
        next="bring the brokers into migration mode",
        does="restarts one broker after the other with the address of the controllers and the migration flag",
        confirmation="",
        stay=_NO_LIMIT,
        back="stop the controllers, delete /migration, set their __cluster_metadata aside",
        cost="nothing; no broker restarts",
    ),
    phases.BROKERS_MIGRATING: Step(
        means="some brokers are registered in KRaft; the copy begins when all are",
        next="bring the other brokers into migration mode",
        does="restarts the remaining brokers; after the last one the controllers copy the metadata by themselves",
        confirmation="",
        stay=_SHORT,
        back=(
            "stop the controllers, delete /migration, set their __cluster_metadata aside, restart each broker without "
            "the migration settings"
        ),
        cost="one rolling restart",
    ),
    phases.COPIED: Step(
        means="metadata is in KRaft and written to ZooKeeper too; every broker is still one of ZooKeeper (MIGRATION)",
        next="move the brokers to KRaft",
        does="restarts one broker after the other in KRaft mode with its old id and its data",
        confirmation="",
        stay=_DAYS,
        back=(
            "stop the controllers, at once delete /controller and then /migration, set their __cluster_metadata aside, "
            "restart each broker without the migration settings"
        ),
        cost=(
            "one rolling restart; no leader is elected and no topic changes from the stop of the controllers until the "
            "first broker has restarted"
        ),
    ),
    phases.BROKERS_MOVING: Step(
        means="some brokers run in KRaft mode, the others in ZooKeeper mode; metadata is written to both",
        next="move the other brokers to KRaft",
        does="restarts the remaining brokers in KRaft mode",
        confirmation="",
        stay=_SHORT,
        back=(
            "restart the moved brokers in ZooKeeper mode with the migration flag, stop the controllers, at once delete "
            "/controller and then /migration, set their __cluster_metadata aside, restart every broker without the "
            "migration settings"
        ),
        cost="two rolling restarts; as from copied, and __cluster_metadata of the moved brokers is set aside",
    ),
    phases.DUAL_WRITE_KRAFT: Step(
        means="every broker runs in KRaft mode; metadata is still written to ZooKeeper",
        next="finalise",
        does="restarts one controller after the other without the migration flag; ZooKeeper gets no more changes",
        confirmation="that there is no way back to ZooKeeper afterwards",
        stay=_DAYS,
        back=(
            "restart every broker in ZooKeeper mode with the migration flag, stop the controllers, at once delete "
            "/controller and then /migration, set their __cluster_metadata aside, restart every broker without the "
            "migration settings"
        ),
        cost=(
            "two rolling restarts; as from copied, and __cluster_metadata of every broker is set aside. A broker that "
            "was replaced or added meanwhile has no data of ZooKeeper mode and cannot go back (KIP-1362)"
        ),
    ),
    phases.FINALISED: Step(
        means="the cluster runs in KRaft mode; ZooKeeper still runs, and its data ages (POST_MIGRATION)",
        next="stop ZooKeeper",
        does="by hand: no run stops the servers or takes them out of the inventory",
        confirmation="that no other cluster and no tool uses the ensemble",
        stay=_NO_LIMIT,
        back="",
        cost="",
    ),
    phases.ZOOKEEPER_GONE: Step(
        means="the cluster runs in KRaft mode, and no server of ZooKeeper is left",
        next="",
        does="",
        confirmation="",
        stay=_NO_LIMIT,
        back="",
        cost="",
    ),
    phases.CREATED_IN_KRAFT: Step(
        means="the cluster runs in KRaft mode, and no migration is recorded in its log; nothing migrates",
        next="",
        does="",
        confirmation="",
        stay=_NO_LIMIT,
        back="",
        cost="",
    ),
    phases.CANNOT_MIGRATE: Step(
        means="controllers run that were first started without the migration flag (NONE), beside brokers of ZooKeeper",
        next="",
        does="",
        confirmation="",
        stay="the brokers work as before; do not restart them with the migration flag",
        back="stop the controllers and set their metadata directories aside",
        cost="nothing; no broker restarts",
    ),
    phases.UNKNOWN: Step(
        means="what was seen fits no phase, or who knows it does not answer",
        next="",
        does="",
        confirmation="",
        stay="as short as can be: mend what is named below, and look again",
        back="",
        cost="",
    ),
}


@dataclass(frozen=True)
class Outlook:
    """A phase with its step and its troubles, and whether they leave the way on and the way back open."""

    phase: Phase
    step: Step
    troubles: tuple[Trouble, ...]

    @property
    def may_go_on(self) -> bool:
        """Tell whether the next step could begin now."""
        return bool(self.step.next) and not self._blocked(FORWARD)

    @property
    def may_go_back(self) -> bool:
        """Tell whether the way back could begin now."""
        return bool(self.step.back) and not self._blocked(BACK)

    def _blocked(self, direction: str) -> bool:
        return any(direction in trouble.blocks for trouble in self.troubles)


def outlook(phase: Phase, troubles: Iterable[Trouble]) -> Outlook:
    """Return what follows from a phase and its troubles."""
    return Outlook(phase, STEPS[phase.name], tuple(troubles))
