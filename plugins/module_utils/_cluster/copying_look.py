# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Looks at replicas that are not in sync, twice, so that who copies can be told from who does not."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial

from .._client.session import Session
from .._configs.api import BROKER, describe_configs, topic_values
from .._core.errors import RequestFailedError, StreamopsError
from .api import list_brokers, replica_sizes, topics_at
from .attribution import (
    FOLLOWER_RATE,
    FOLLOWER_REPLICAS,
    LEADER_RATE,
    LEADER_REPLICAS,
    Attribution,
    Look,
    Replica,
    Throttle,
    attributions,
    lacking,
)
from .snapshot import InFlight, Key, Partition, Snapshot, ids_alive, without_adding

#: Seconds between two looks. A follower that copies fetches at least every 500 ms (replica.fetch.wait.max.ms).
PAUSE = 2.0
#: What a list of throttled replicas may be for all of them (ThrottledReplicaListValidator of Kafka).
_ALL = "*"


def look_at_copying(
    session: Session, snapshot: Snapshot, before: Look | None = None, clock: Callable[[], float] = time.monotonic
) -> Look:
    """Return the partitions of a snapshot with what shows whether its missing replicas copy.

    One request to each broker that misses a replica and to each that leads one, two for throttles; none where all
    replicas are in sync. What a broker does not tell is left out: it costs the figures, not the look. Throttles are
    those of the look C(before) where that had all of these replicas: to describe thousands of topics takes seconds.
    """
    alive = frozenset(ids_alive(snapshot.brokers)) - set(snapshot.silent)
    late = lacking(snapshot.partitions, alive)
    if not late:
        return Look(snapshot.partitions, alive, at=clock())
    is_known = before is not None and _copies(late) <= _copies(lacking(before.partitions, before.alive))
    throttled = before.throttled if before is not None and is_known else _throttled(session, late)
    return Look(snapshot.partitions, alive, _held(session, late), throttled, clock())


def _copies(late: Iterable[tuple[Partition, int]]) -> set[tuple[str, int, int | None, int]]:
    """Return who copies what from whom."""
    return {(partition.topic, partition.index, partition.leader, follower) for partition, follower in late}


def attributed(
    session: Session,
    snapshot: Snapshot,
    moving: Iterable[InFlight] = (),
    sleep: Callable[[float], None] = time.sleep,
) -> tuple[Attribution, ...]:
    """Return who is at fault for the replicas of a snapshot that are not in sync, by a second look PAUSE seconds later.

    Without any such replica nothing is asked, and nothing waited for. A second look that fails leaves it unknown.
    """
    before = look_at_copying(session, snapshot)
    if not lacking(before.partitions, before.alive):
        return ()
    sleep(PAUSE)
    try:
        # In ZooKeeper mode the controller changes the ISRs; another broker may tell those of before.
        teller = snapshot.controller_id if snapshot.quorum is None else None
        listed = [partition for some in topics_at(session, teller, None).values() for partition in some]
        now = replace(snapshot, brokers=list_brokers(session), partitions=without_adding(listed, moving))
        return attributions(before, look_at_copying(session, now, before))
    except StreamopsError as error:
        if not error.passing:
            raise
        return attributions(None, before)


def _held(session: Session, late: Iterable[tuple[Partition, int]]) -> dict[Replica, int]:
    """Return the bytes of these replicas and of their leaders, as far as their brokers tell."""
    wanted: dict[int, dict[str, list[int]]] = {}
    for partition, follower in late:
        for broker in (follower, partition.leader):
            if broker is not None:
                listed = wanted.setdefault(broker, {}).setdefault(partition.topic, [])
                if partition.index not in listed:
                    listed.append(partition.index)
    held: dict[Replica, int] = {}
    for broker, partitions in wanted.items():
        with contextlib.suppress(RequestFailedError):
            held.update({(key, broker): size for key, size in replica_sizes(session, broker, partitions).items()})
    return held


def _throttled(session: Session, late: Iterable[tuple[Partition, int]]) -> dict[Replica, Throttle]:
    """Return which of these replicas, and of their leaders, a throttle slows; nothing where nobody may ask."""
    replicas = list(late)
    topics = sorted({partition.topic for partition, _follower in replicas})
    try:
        lists = topic_values(session, topics, (FOLLOWER_REPLICAS, LEADER_REPLICAS))
    except RequestFailedError:
        return {}
    sides: dict[Replica, tuple[int, str]] = {}
    for partition, follower in replicas:
        key = partition.topic, partition.index
        for broker, names, rate in (
            (follower, FOLLOWER_REPLICAS, FOLLOWER_RATE),
            (partition.leader, LEADER_REPLICAS, LEADER_RATE),
        ):
            if broker is not None and _names(lists.get(partition.topic, {}).get(names), key, broker):
                sides[key, broker] = broker, rate
    rates = _rates(session, {broker for broker, _rate in sides.values()})
    throttles: dict[Replica, Throttle] = {}
    for replica, (broker, rate) in sides.items():
        limit = rates.get((broker, rate))
        if limit is not None:
            throttles[replica] = Throttle(broker, rate, limit)
    return throttles


def _names(listed: str | None, key: Key, broker: int) -> bool:
    """Tell whether a list of throttled replicas (partition:broker) has a replica."""
    entries = [entry.strip() for entry in (listed or "").split(",")]
    return _ALL in entries or f"{key[1]}:{broker}" in entries


def _rates(session: Session, brokers: Iterable[int]) -> Mapping[tuple[int, str], int]:
    """Return the rates that these brokers have set, by broker and setting; a broker tells only its own."""
    rates: dict[tuple[int, str], int] = {}
    for broker in sorted(brokers):
        asked = partial(describe_configs, session, BROKER, {str(broker): (FOLLOWER_RATE, LEADER_RATE)})
        with contextlib.suppress(RequestFailedError):
            for name, value in asked().get(str(broker), {}).items():
                # Without a throttle the answer has Kafka's default, the greatest number that there is.
                if value.value is not None and any(source.startswith("DYNAMIC") for source in value.by_source):
                    rates[broker, name] = int(value.value)
    return rates
