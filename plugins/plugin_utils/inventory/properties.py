# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The native properties that an inventory gives a node, each with the variable that it stands in.

Rules and render both read LAYERS, so what is judged is what is rendered.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

#: The variables that hold the native properties of each kind of node, later ones win. A combined node is a broker.
LAYERS: Mapping[str, tuple[str, ...]] = {
    "zookeeper": ("zookeeper_ensemble_config",),
    "broker": ("kafka_config", "kafka_broker_config"),
    "controller": ("kafka_config", "kraft_controller_config"),
    "mirror": ("mirror_maker_config",),
}


#: Copies of every partition that Kafka makes by itself, where there are as many brokers.
MOST_COPIES = 3


@dataclass(frozen=True)
class Property:
    """One native property; origin is the variable that sets it, empty for a default of this collection."""

    key: str
    value: Any
    origin: str = ""

    @property
    def variable(self) -> str:
        """Return where a user finds it, such as kafka_broker_config['num.io.threads']."""
        return f"{self.origin}['{self.key}']"


def layers(roles: Collection[str]) -> tuple[str, ...]:
    """The variables whose properties a node with these roles gets, later ones win."""
    return next((LAYERS[kind] for kind in LAYERS if kind in roles), ())


def written(roles: Collection[str], read: Callable[[str], Mapping[Any, Any]]) -> Iterator[Property]:
    """Every property that the inventory writes for a node, one that a later layer overrides too.

    read -- gives the dict of one of its variables
    """
    for origin in layers(roles):
        for key, value in read(origin).items():
            yield Property(str(key), value, origin)


def effective(properties: Iterable[Property]) -> dict[str, Property]:
    """By key the property that wins, which is the last one."""
    return {one.key: one for one in properties}


def copies(brokers: int) -> tuple[int, int]:
    """Copies of every partition that Kafka makes by itself, and how many must be in sync before an acknowledgement."""
    wanted = min(MOST_COPIES, brokers)
    return wanted, 2 if wanted >= MOST_COPIES else 1


def copies_defaults(brokers: int, kraft: bool) -> dict[str, Any]:
    """Our defaults of the properties about copies, for a cluster of so many brokers."""
    wanted, in_sync = copies(brokers)
    defaults = {
        "default.replication.factor": wanted,
        "min.insync.replicas": in_sync,
        "offsets.topic.replication.factor": wanted,
        "transaction.state.log.replication.factor": wanted,
        "transaction.state.log.min.isr": in_sync,
    }
    # Groups that share partitions (KIP-932) need KRaft.
    share = {
        "share.coordinator.state.topic.replication.factor": wanted,
        "share.coordinator.state.topic.min.isr": in_sync,
    }
    return {**defaults, **share} if kraft else defaults


def never_less(
    defaults: Mapping[str, Any], started: Iterable[Mapping[str, str]], most: Mapping[str, Any]
) -> dict[str, Any]:
    """Our defaults about copies where the cluster could not be asked how many brokers it has.

    started -- what its nodes were last started with; a value of theirs that we may have written ourselves stays, so
    that brokers which the inventory lost do not take copies away. most -- the defaults of a large cluster.
    """
    found = list(started)
    return {
        key: max([value, *(min(int(one[key]), most[key]) for one in found if one.get(key, "").isdecimal())])
        for key, value in defaults.items()
    }
