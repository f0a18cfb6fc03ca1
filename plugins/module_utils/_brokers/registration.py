# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Registrations of brokers, the deciding half: what they are, and whether one may be cordoned or taken away."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .._cluster.snapshot import Broker, InFlight, Key, Partition, named
from .._configs.values import items_of
from .._core.names import capped

#: Log directories that get no new replicas (KIP-1066, metadata.version 4.3-IV0); all of them is the whole broker.
CORDONED, ALL = "cordoned.log.dirs", "*"


@dataclass(frozen=True)
class Registration:
    """A broker as the cluster has it. C(fenced) and C(cordoned) are None where that is not known.

    C(cordoned): its cordoned log directories, empty when there are none; only a broker that is alive tells, and only
    where the version has it.
    """

    id: int
    registered: bool
    fenced: bool | None = None
    cordoned: str | None = None
    host: str | None = None
    port: int | None = None
    rack: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The registration as the module returns it."""
        listed = None if self.cordoned is None else items_of(self.cordoned)
        return {**self.__dict__, "cordoned": None if listed is None else bool(listed), "cordoned_log_dirs": listed}


def registrations(brokers: Iterable[Broker], cordoned: Mapping[str, str], wanted: int | None) -> list[Registration]:
    """The brokers that are registered, or the wanted one whether it is or not."""
    found = [
        Registration(b.id, True, b.fenced, cordoned.get(str(b.id)), b.host, b.port, b.rack)
        for b in brokers
        if wanted in (None, b.id)
    ]
    return found or ([] if wanted is None else [Registration(wanted, False)])


def cordon_violations(found: Registration, state: str) -> list[str]:
    """Return why a broker cannot be cordoned or uncordoned."""
    if not found.registered:
        return [f"broker {found.id}: is not registered, so there is nothing to be {state}"]
    if found.fenced:
        return [
            f"broker {found.id}: is fenced, and only the broker itself takes this setting; start it to have it {state}"
        ]
    if found.cordoned is None:
        return [
            f"broker {found.id}: the cluster does not know {CORDONED}; it needs Kafka 4.3 with metadata.version 4.3"
        ]
    return []


def unregister_violations(
    found: Registration, kraft: bool, partitions: Iterable[Partition], in_flight: Mapping[Key, InFlight]
) -> list[str]:
    """Return why a registration cannot be taken away: the broker runs, or partitions count on it."""
    violations = []
    if not kraft:
        violations.append("the cluster is in ZooKeeper mode, where a broker is registered as long as it runs; stop it")
    if found.registered and not found.fenced:
        violations.append(f"broker {found.id}: is alive; stop it first")
    holding = {(p.topic, p.index) for p in partitions if found.id in p.replicas}
    holding.update(key for key, flying in in_flight.items() if found.id in flying.replicas)
    if holding:
        violations.append(
            f"broker {found.id}: has replicas of {len(holding)} partitions ({capped(named(holding), 5)}), which would "
            "never be in sync again; drain it first (module reassignment)"
        )
    return violations
