# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Throttles of moves: which settings a move needs, beside what was there before, and what puts that back.

Kafka throttles replicas that are listed in their topic and not in sync, at the rates of their brokers. As in Kafka's
own tool the leader's side lists all replicas that a partition has, since any may come to lead, and the follower's side
those that are new. What somebody else has listed stays listed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from ansible_collections.streamops.kafka.plugins.module_utils._reassign.record import Priors, Record

LEADER_RATE = "leader.replication.throttled.rate"
FOLLOWER_RATE = "follower.replication.throttled.rate"
BROKER_KEYS = (LEADER_RATE, FOLLOWER_RATE)
LEADER_REPLICAS = "leader.replication.throttled.replicas"
FOLLOWER_REPLICAS = "follower.replication.throttled.replicas"
TOPIC_KEYS = (LEADER_REPLICAS, FOLLOWER_REPLICAS)
#: What a list may be instead of a list (ThrottledReplicaListValidator): every replica, and no replica.
_ALL, _NONE = "*", "none"


@dataclass(frozen=True)
class Copy:
    """A partition whose copies are to be throttled: the brokers that it is on and those that it comes to."""

    topic: str
    index: int
    on: tuple[int, ...]
    to: tuple[int, ...]


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
    """What the settings shall be while these copies are made: of everything else in the record what it was before."""
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


def differences(wished: Mapping[str, Mapping[str, str | None]], live: Priors) -> Priors:
    """What must be set so that C(live) becomes what is wished; what is not in C(live) is not there to be set."""
    found = {}
    for name, values in wished.items():
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
