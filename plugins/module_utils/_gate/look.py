# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Looks at a cluster for gates and waits: requests are ordered so that a stale answer is not taken for a fresh one."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from .._client.connection import Connection, denied, quick
from .._client.listeners import strangers_at
from .._client.session import Session
from .._cluster.api import (
    describe_quorum,
    hidden_topics,
    list_brokers,
    list_reassignments,
    list_topics,
    replica_sizes,
    require_describe,
    silent_brokers,
    take_snapshot,
    topics_at,
    with_eligible,
)
from .._cluster.attribution import Look, attributions, lacking
from .._cluster.copying_look import PAUSE, attributed, look_at_copying
from .._cluster.snapshot import Key, Snapshot, named, without_adding
from .._core.errors import RequestFailedError, StreamopsError
from .._core.names import capped
from .._logs.api import ends_at
from .isr import LEAST_LOOKS, Goal, Observation, bytes_behind, lagging, observe, sizes_by_broker, uncommitted, watch
from .rule import judge
from .sick import missed
from .stop import Stop


def judge_now(session: Session, params: Mapping[str, Any], _check: bool, _diff: bool) -> dict[str, Any]:
    """Judge once whether the nodes may stop; the module's result.

    The quorum is asked first: its leader says which brokers know the metadata as it is now, so the partitions that any
    of these tells afterwards are at most that old. Reassignments are asked before them: one that begins in between
    shows there. A controller that did not tell the quorum tells no reassignments either, and the gate is shut anyway.
    """
    quorum, stop = describe_quorum(session), Stop.from_params(params)
    moving = () if quorum and quorum.error else tuple(list_reassignments(session).values())
    snapshot = take_snapshot(session, quorum)
    if quorum is None:
        snapshot = _asked_one_by_one(session, snapshot, stop)
    elsewhere = strangers_at(session.connection, snapshot.servers, snapshot.cluster_id)
    snapshot = replace(snapshot, partitions=without_adding(snapshot.partitions, moving), elsewhere=elsewhere)
    faults = attributed(session, snapshot, moving)
    copied = _copied(session, missed(faults, stop.corrected)) if stop.corrected is not None else 0
    told = [fault.as_dict() for fault in faults]
    return {"changed": False, **judge(snapshot, moving, stop, faults), "copied_bytes": copied, "attributions": told}


def _copied(session: Session, cut: Mapping[Key, Sequence[int]]) -> int:
    """Return the bytes that followers have of partitions that they may not be able to copy; it grows if they can."""
    replicas = [(key, follower) for key, followers in cut.items() for follower in followers]
    held = sizes_by_broker(replicas, partial(replica_sizes, session))
    return sum(sum(some.values()) for some in held.values())


def _asked_one_by_one(session: Session, snapshot: Snapshot, stop: Stop) -> Snapshot:
    """The snapshot of a cluster with ZooKeeper, where no leader of a quorum says who knows the metadata as it is now.

    Every broker that stays is asked whether it is there. The partitions are those that the controller tells, which
    changes the ISRs: another broker, frozen until a moment ago, may tell those of before.
    """
    silent = silent_brokers(session, [broker for broker in snapshot.brokers if broker.id not in stop.nodes])
    controller = snapshot.controller_id
    if controller is None or silent:
        return replace(snapshot, silent=silent)
    told = topics_at(session, controller, None)
    known = {
        (partition.topic, partition.index): (partition.min_insync, partition.unclean)
        for partition in snapshot.partitions
    }
    # A topic that was created in between has the default minimum of Kafka, as one without a setting of its own.
    listed = (partition for of_topic in told.values() for partition in of_topic)
    settings = ((partition, *known.get((partition.topic, partition.index), (1, False))) for partition in listed)
    partitions = tuple(replace(partition, min_insync=least, unclean=unclean) for partition, least, unclean in settings)
    return replace(snapshot, partitions=partitions)


def observations(module: Any) -> dict[str, Any]:
    """Observe for one interval, in check mode once; the module's result."""
    params = module.params
    observer = IsrObserver(quick(Connection.from_params(params)), Goal.of(params))
    try:
        seen = watch(
            observer.take,
            clock=time.monotonic,
            sleep=time.sleep,
            interval=0.0 if module.check_mode else params["interval"],
            sample_interval=params["sample_interval"],
            consecutive=params["consecutive"],
            least=LEAST_LOOKS if params["serves"] and not module.check_mode else 1,
        )
    finally:
        observer.close()
    return {"changed": False, "observations": [observation.as_dict() for observation in seen]}


class IsrObserver:
    """Takes observations for one goal on one connection, which is opened again after an error."""

    def __init__(self, connection: Connection, goal: Goal) -> None:
        self._connection = connection
        self._goal = goal
        self._session: Session | None = None
        #: Ends and high watermarks of what the broker of the goal led in the last two looks: one second without a
        #: commit is no sign yet.
        self._ends: list[dict[Key, tuple[int, int]]] = []
        #: What it denied to lead in the last look; leaders change between two requests of one look.
        self._denied: set[Key] = set()
        #: The first look at what is not in sync, with which later ones are compared.
        self._before: Look | None = None

    def take(self) -> Observation:
        """Look at the cluster once; raises ClusterUnreachableError or RequestFailedError."""
        try:
            if self._session is None:
                self._session = Session(self._connection)
                self._session.__enter__()
                self._require_rights(self._session)
            snapshot = self._glance(self._session)
            if self._goal.led_only:
                named = with_eligible(self._session, snapshot.partitions)
                return observe(replace(snapshot, partitions=named), self._goal)
            snapshot, before, now = self._copying(self._session, snapshot)
            observation = observe(snapshot, self._goal, attributions(before, now))
            observation = replace(observation, bytes_behind=bytes_behind(lagging(snapshot, self._goal), now))
            unserved = self._unserved(snapshot) if self._goal.serves else []
            return replace(observation, unmet=[*observation.unmet, *unserved])
        except StreamopsError:
            self.close()
            raise

    def _glance(self, session: Session) -> Snapshot:
        """Look once; what a move is about to add is no fault of the broker that is to serve it."""
        snapshot = glance(session)
        if not self._goal.serves:
            return snapshot
        moving = list_reassignments(session).values()
        return replace(snapshot, partitions=without_adding(snapshot.partitions, moving))

    def _copying(self, session: Session, snapshot: Snapshot) -> tuple[Snapshot, Look, Look]:
        """Return two looks at what is not in sync, and the snapshot of the second.

        The first one is that of an earlier observation. Where there is none it is taken now, and the cluster is looked
        at once more PAUSE seconds later: one look cannot tell who copies.
        """
        now = look_at_copying(session, snapshot, self._before)
        if self._before is None and lacking(now.partitions, now.alive):
            self._before = now
            time.sleep(PAUSE)
            snapshot = self._glance(session)
            now = look_at_copying(session, snapshot, self._before)
        before = self._before or now
        # What is in sync again is compared anew if it is lost once more.
        self._before = before if lacking(now.partitions, now.alive) else None
        return snapshot, before, now

    def _unserved(self, snapshot: Snapshot) -> list[str]:
        """Return why clients and followers are not served by the broker of the goal, as its own answers tell."""
        broker = self._goal.broker
        # Whether who answers for it leads is asked of all of these. Commits say something of a whole ISR alone: below
        # min.insync.replicas nothing is committed, whoever copies (Partition.maybeIncrementLeaderHW of Kafka).
        led = {
            (partition.topic, partition.index): {*partition.isr} == {*partition.replicas}
            for partition in snapshot.partitions
            if partition.leader == broker
        }
        if broker is None or self._session is None or not led:
            return []
        try:
            ends, marks, denied = ends_at(self._session, broker, led)
        except RequestFailedError as error:
            if not error.passing:
                raise
            return [f"broker {broker} did not answer at the address that it advertises: {error.why}"]
        committed = {key: at for key, at in marks.items() if led[key]}
        self._ends = [*self._ends[-2:], {key: (ends[key], at) for key, at in committed.items() if key in ends}]
        unserved = []
        if refused := sorted(self._denied & denied):
            its_own = {known: server for known, server in snapshot.servers.items() if known == broker}
            where = strangers_at(self._connection, its_own, "").get(broker, "see who answers at its address")
            unserved.append(
                f"{len(refused)} partition(s) that broker {broker} leads are not served ({capped(named(refused))}), "
                f"since who answers for it denies leading them: {where}"
            )
        self._denied = denied
        if stuck := uncommitted(self._ends[0], committed) if len(self._ends) == 3 else []:
            unserved.append(
                f"records of {len(stuck)} partition(s) that broker {broker} leads are not committed "
                f"({capped(named(stuck))}): a replica of their ISR does not copy them"
            )
        return unserved

    def _require_rights(self, session: Session) -> None:
        """Raise RequestFailedError unless all that the goal is about can be seen: Kafka hides the rest."""
        if self._goal.scope != "topics":
            return require_describe(session, "observe replicas")
        for topic in hidden_topics(session, self._goal.topics):
            code = "TOPIC_AUTHORIZATION_FAILED"
            why = denied(session.connection, "list topics", code, topic)
            raise RequestFailedError("observe replicas", f"of topic {topic}", code, why)

    def close(self) -> None:
        """Close the connection."""
        if self._session is not None:
            self._session.__exit__()
            self._session = None


def glance(session: Session) -> Snapshot:
    """Brokers and partitions only: no quorum (slow while it has no leader), no configuration."""
    partitions = tuple(partition for listed in list_topics(session).values() for partition in listed)
    return Snapshot("", None, list_brokers(session), partitions, None)
