# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Throttles of moves: which settings a move needs, beside what was there before, and what puts that back.

Kafka throttles replicas that are listed in their topic and not in sync, at the rates of their brokers. As in Kafka's
own tool the leader's side lists all replicas that a partition has, since any may come to lead, and the follower's side
those that are new. What somebody else has listed stays listed.

A broker takes settings of its own only from itself (any other one answers "Unexpected broker id"), so what is down
cannot be set or restored. It sends and receives nothing either: it is set when it is back, and what could not be
restored stays in the record until a run finds the broker alive.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..._client.session import Session
from ..._cluster.api import list_topics, live_brokers
from ..._cluster.attribution import FOLLOWER_RATE, FOLLOWER_REPLICAS, LEADER_RATE, LEADER_REPLICAS
from ..._configs.api import BROKER, TOPIC, alter_configs, describe_configs
from ..._core.bulk import parts
from ..._core.errors import RequestFailedError
from ..api import read_record, write_record
from ..record import KEY, Copy, Priors, Record

BROKER_KEYS = (LEADER_RATE, FOLLOWER_RATE)
TOPIC_KEYS = (LEADER_REPLICAS, FOLLOWER_REPLICAS)
#: What a list may be instead of a list (ThrottledReplicaListValidator): every replica, and no replica.
_ALL, _NONE = "*", "none"


@dataclass(frozen=True)
class Throttles:
    """Settings by broker id and by topic; None takes a setting away."""

    brokers: Priors = field(default_factory=dict)
    topics: Priors = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.brokers or self.topics)


def brokers_of(copies: Iterable[Copy]) -> set[int]:
    """The brokers that send or receive."""
    return {broker for copy in copies if copy.to for broker in (*copy.on, *copy.to)}


def wanted(record: Record, copies: Iterable[Copy], rate: int | None) -> Throttles:
    """Return what the settings shall be while these copies are made; all else in the record as it was before."""
    copying = [copy for copy in copies if copy.to] if rate else []
    rates = dict.fromkeys(BROKER_KEYS, str(rate))
    busy = {str(broker) for broker in brokers_of(copying)}
    sending: dict[str, list[str]] = {}
    getting: dict[str, list[str]] = {}
    for copy in copying:
        sending.setdefault(copy.topic, []).extend(f"{copy.index}:{broker}" for broker in copy.on)
        getting.setdefault(copy.topic, []).extend(f"{copy.index}:{broker}" for broker in copy.to)
    return Throttles(
        {broker: dict(rates if broker in busy else prior) for broker, prior in record.brokers.items()},
        {
            topic: {
                LEADER_REPLICAS: merged(prior.get(LEADER_REPLICAS), sending.get(topic, ())),
                FOLLOWER_REPLICAS: merged(prior.get(FOLLOWER_REPLICAS), getting.get(topic, ())),
            }
            for topic, prior in record.topics.items()
        },
    )


def merged(prior: str | None, added: Collection[str]) -> str | None:
    """A list of throttled replicas (partition:broker) with more of them; without more exactly what it was."""
    if not added or prior == _ALL:
        return prior
    listed = [] if prior in (None, "", _NONE) else [entry.strip() for entry in str(prior).split(",")]
    return ",".join([*listed, *(entry for entry in added if entry not in listed)])


def differences(desired: Mapping[str, Mapping[str, str | None]], live: Priors) -> Priors:
    """Return what must be set so that C(live) becomes what is asked for; what is not in C(live) cannot be set."""
    found = {}
    for name, values in desired.items():
        changed = {key: value for key, value in values.items() if name in live and live[name].get(key) != value}
        if changed:
            found[name] = changed
    return found


def leftovers(brokers: Priors, topics: Priors) -> list[dict[str, str | None]]:
    """Throttles that are set now, one entry for each setting; nothing tells whose they are."""
    found: list[dict[str, str | None]] = []
    for kind, entities, none in (("broker", brokers, ()), ("topic", topics, ("", _NONE))):
        for name, values in sorted(entities.items()):
            found += [
                {"kind": kind, "name": name, "key": key, "value": value}
                for key, value in sorted(values.items())
                if value is not None and value not in none
            ]
    return found


#: By kind of resource: the keys of throttles, and the source of a value that is the resource's own.
_OWN = {BROKER: (BROKER_KEYS, "DYNAMIC_BROKER"), TOPIC: (TOPIC_KEYS, "DYNAMIC_TOPIC")}
#: Topics asked for, and changed, in one request.
_BATCH = 1000


def live_throttles(session: Session, kind: int, names: Iterable[str]) -> Priors:
    """The settings that these brokers or topics have of their own; who cannot tell (down, deleted) is left out."""
    keys, source = _OWN[kind]
    found: Priors = {}
    for part in _parts(kind, names):
        try:
            configs = describe_configs(session, kind, dict.fromkeys(part, keys))
        except RequestFailedError:
            if kind == TOPIC or _alive(session, part):
                raise
            continue  # It went down just now.
        for name, values in configs.items():
            found[name] = {key: values[key].by_source.get(source) if key in values else None for key in keys}
    return found


def throttle(
    session: Session, record: Record, copies: Iterable[Copy], alive: Iterable[int], rate: int | None
) -> Record:
    """Set what these copies need, and everything else of the record to what it was; return the record.

    What a broker or topic had before is written to the record, and the record to the cluster, before it is set.
    """
    listed = list(copies)
    living = {str(broker) for broker in alive}
    if rate:
        record = _remember(session, record, listed, living)
    asked = wanted(record, listed, rate)
    _set(session, asked, living)
    return record


def restore(session: Session, record: Record, alive: Iterable[int]) -> Record:
    """Set everything to what it was; return a record of what could not be restored, since its broker is down."""
    living = {str(broker) for broker in alive}
    left = _set(session, wanted(record, (), None), living)
    return replace(record, brokers={name: record.brokers[name] for name in left}, topics={})


def leftover_throttles(
    session: Session, record: Record | None, alive: Iterable[int], topics: Priors | None = None
) -> list[dict[str, Any]]:
    """Throttles that are set and that no record tells of: of runs or tools that left them. They are only reported.

    C(topics) are what topics have of TOPIC_KEYS of their own, where they have been asked for it already.
    """
    if record is not None and record.batches:
        return []
    ours = set(record.brokers) if record is not None else set()
    brokers = live_throttles(session, BROKER, [str(broker) for broker in alive if str(broker) not in ours])
    return leftovers(brokers, live_throttles(session, TOPIC, list_topics(session)) if topics is None else topics)


def _remember(session: Session, record: Record, copies: list[Copy], living: set[str]) -> Record:
    brokers = sorted({str(broker) for broker in brokers_of(copies)} & living - set(record.brokers))
    topics = sorted({copy.topic for copy in copies} - set(record.topics))
    if not brokers and not topics:
        return record
    before = live_throttles(session, BROKER, brokers), live_throttles(session, TOPIC, topics)
    # Another run may drive the same record. It writes before it sets, so what it has set by now is in the record.
    kept = read_record(session)
    if kept is None:
        raise RequestFailedError("throttle", KEY, "ENDED", "another run has ended this reassignment; run again")
    record = replace(
        kept,
        brokers={**before[0], **record.brokers, **kept.brokers},
        topics={**before[1], **record.topics, **kept.topics},
    )
    write_record(session, record)
    return record


def _set(session: Session, asked: Throttles, living: set[str]) -> list[str]:
    """Set what differs; return the brokers that could not be asked."""
    reachable = live_throttles(session, BROKER, [name for name in asked.brokers if name in living])
    topics = live_throttles(session, TOPIC, asked.topics)
    # Lists before rates would throttle to rates of before, rates before lists nothing at all: rates first.
    failed = _changed(session, BROKER, differences(asked.brokers, reachable))
    _changed(session, TOPIC, differences(asked.topics, topics))
    return [name for name in asked.brokers if name not in reachable or name in failed]


def _changed(session: Session, kind: int, changes: Mapping[str, Mapping[str, str | None]]) -> list[str]:
    """Change settings; return the brokers that went down meanwhile. Topics that are gone have none to change."""
    down: list[str] = []
    for part in _parts(kind, changes):
        try:
            outcomes = alter_configs(session, kind, {name: changes[name] for name in part})
        except RequestFailedError:
            if kind == TOPIC or _alive(session, part):
                raise
            down += part
            continue
        for name, failure in outcomes.items():
            if failure is not None and failure[0] != "UNKNOWN_TOPIC_OR_PARTITION":
                raise RequestFailedError("throttle", name, *failure)
    return down


def _parts(kind: int, names: Iterable[str]) -> Iterator[list[str]]:
    """Brokers one by one, since each is asked for itself and may be down; topics many at a time."""
    return parts(names, 1 if kind == BROKER else _BATCH)


def _alive(session: Session, names: Iterable[str]) -> bool:
    """Return whether all of these brokers take part in the cluster, so that their silence is an error."""
    return set(map(str, live_brokers(session))).issuperset(names)
