# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a change of the voters is judged by: the controllers of the inventory, and the quorum as it answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ...module_utils._cluster.snapshot import FETCH_TIMEOUT_MS, Quorum, Voter, caught_up

Kind = Literal["add", "remove"]

ADD: Kind = "add"
REMOVE: Kind = "remove"


@dataclass(frozen=True)
class Controller:
    """A controller of the inventory, and what its machine answered.

    listener -- host:port where other controllers reach it; leaves -- it shall vote no more; is_broker -- a combined
    node; running -- its process is there, listens -- its port for controllers is open; directory_id, cluster_id -- of
    its disk, empty where nothing is formatted.
    """

    host: str
    node_id: int
    listener: str
    leaves: bool = False
    is_broker: bool = False
    running: bool = False
    listens: bool = False
    directory_id: str = ""
    cluster_id: str = ""


@dataclass(frozen=True)
class Node:
    """A node of the inventory; version -- of the release that it was started with, empty where it does not tell."""

    host: str
    node_id: int
    is_controller: bool
    running: bool = False
    version: str = ""


@dataclass(frozen=True)
class Gate:
    """What the gate of a node would say to its restart now.

    refusals -- as the module restart_gate returns them; failure -- why it could not judge, without a stop at the end.
    """

    host: str
    refusals: tuple[Mapping[str, Any], ...] = ()
    failure: str = ""


@dataclass(frozen=True)
class ClusterFacts:
    """A cluster before its voters change.

    cluster_id -- as the cluster answered; quorum -- None in ZooKeeper mode; unasked -- why the cluster did not answer;
    unknown -- hosts that shall leave and are no controllers of this cluster; brokers -- the ids that are registered;
    joins_itself -- controller.quorum.auto.join.enable is on somewhere; accepted -- ids that the inventory
    may lack (kafka_accept_missing_nodes). For the way from a static quorum to a dynamic one: goes_dynamic -- it is
    asked for; nodes -- all of the inventory; version -- the release that they shall have; raising -- what the module
    features returned or failed with when it was asked for kraft.version 1 in check mode. gates -- of the brokers that
    restart behind the change.
    """

    name: str
    controllers: tuple[Controller, ...]
    quorum: Quorum | None
    cluster_id: str = ""
    unasked: str = ""
    unknown: tuple[str, ...] = ()
    brokers: frozenset[int] = frozenset()
    joins_itself: bool = False
    accepted: frozenset[int] = frozenset()
    goes_dynamic: bool = False
    nodes: tuple[Node, ...] = ()
    version: str = ""
    raising: Mapping[str, Any] = field(default_factory=dict)
    gates: tuple[Gate, ...] = ()

    @property
    def is_static(self) -> bool:
        """Return whether the voters stand in the properties of the nodes (kraft.version 0): no directory is known."""
        return any(one.directory_id is None for one in self.voters)

    @property
    def voters(self) -> tuple[Voter, ...]:
        """The voters of the quorum, by id."""
        return tuple(sorted(self.quorum.voters, key=lambda one: one.id)) if self.quorum else ()

    @property
    def voter_ids(self) -> set[int]:
        """The ids of the voters."""
        return {one.id for one in self.voters}

    @property
    def silence(self) -> str:
        """Say why the cluster or its quorum did not answer, without a stop at the end; empty where both did."""
        # As a module says it, a sentence of its own that ends with what was left untouched.
        why = self.unasked or (self.quorum.error if self.quorum else None) or ""
        return why.removesuffix(" Nothing was changed.").rstrip(".")

    @property
    def wanted(self) -> list[Controller]:
        """The controllers that shall vote in the end, by id."""
        return sorted((one for one in self.controllers if not one.leaves), key=lambda one: one.node_id)

    @property
    def joining(self) -> list[Controller]:
        """The controllers that do not vote yet and shall."""
        return [one for one in self.wanted if one.node_id not in self.voter_ids]

    @property
    def leaving(self) -> list[Controller]:
        """The controllers of the inventory that shall vote no more, by id."""
        return sorted((one for one in self.controllers if one.leaves), key=lambda one: one.node_id)

    @property
    def missing(self) -> list[int]:
        """The ids of voters that the inventory lacks."""
        return sorted(self.voter_ids - {one.node_id for one in self.controllers})

    @property
    def current_ids(self) -> set[int]:
        """The ids of the voters that have all records but those of the last moment."""
        quorum = self.quorum
        return {one.id for one in self.voters if quorum is not None and caught_up(one, quorum, FETCH_TIMEOUT_MS)}


@dataclass(frozen=True)
class Step:
    """One change of the voters; voters and current -- how many there are behind it, and how many of them are there."""

    kind: Kind
    node_id: int
    host: str
    listener: str
    before: int
    voters: int
    current: int
    then: str = ""

    @property
    def needed(self) -> int:
        """The majority behind the step."""
        return majority(self.voters)


def majority(voters: int) -> int:
    """Return how many of so many voters decide."""
    return voters // 2 + 1


def listed(ids: Sequence[int]) -> str:
    """Return ids in a sentence."""
    return ", ".join(map(str, ids)) or "none"
