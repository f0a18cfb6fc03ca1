# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What an upgrade is judged by: what nodes and their cluster told, the levels that a user gave, and what checks say."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...module_utils._core.names import capped
from ..findings import Finding

BINARIES, BACK, FINALIZE = "binaries", "back", "finalize"


@dataclass(frozen=True)
class OldRequests:
    """Requests of one client in a version of the protocol that Kafka 4.0 removed: client -- its software and version;
    request -- API and version; count -- how many came."""

    client: str
    request: str
    count: int


@dataclass(frozen=True)
class NodeFacts:
    """One node of the cluster, a server of ZooKeeper among them, and what its machine answered.

    runs -- the release that it was last started with, empty where none ever was; target -- the one that the inventory
    wants; silence -- why its machine did not answer, empty where it did; java -- the major number, None where it is not
    known; installed -- whether the target is unpacked there; install_dir, free_mib -- where releases are and what room
    is left there, None where it is not known; properties -- native properties of the inventory by key, each with its
    value and the variable that it stands in; old_requests -- what it counted of clients that are too old for Kafka 4.0
    since counted_since (seconds since 1970), None where it was not asked; uncounted -- why it could not tell;
    gave_up -- why it did not come back with start files of the target, which are refused as they are; empty where it
    gave up none
    """

    host: str
    node_id: int | None
    roles: tuple[str, ...]
    target: str
    runs: str = ""
    running: bool = True
    silence: str = ""
    java: int | None = None
    installs_java: bool = False
    installed: bool = False
    install_dir: str = ""
    free_mib: int | None = None
    properties: Mapping[str, tuple[Any, str]] = field(default_factory=dict)
    old_requests: tuple[OldRequests, ...] | None = None
    counted_since: float | None = None
    uncounted: str = ""
    gave_up: str = ""

    @property
    def refuses(self) -> bool:
        """Return whether the run refuses its new start files where they are those that it gave up."""
        return bool(self.gave_up) and self.runs != self.target

    @property
    def is_kafka(self) -> bool:
        """Return whether it runs Kafka, and not a server of ZooKeeper."""
        return "zookeeper" not in self.roles

    @property
    def kind(self) -> str:
        """Return what it is, in words."""
        return " and ".join(self.roles)


#: Says why a release would not take a property, and the fix: of a broker or a topic, its key and value, the releases
#: that run, the target.
Refused = Callable[[str, str, Any, Sequence[str], str], Iterable[tuple[str, str]]]


def nothing_refused(
    _kind: str, _key: str, _value: Any, _runs: Sequence[str], _target: str
) -> Iterable[tuple[str, str]]:
    """Refuse no property."""
    return ()


@dataclass(frozen=True)
class ClusterFacts:
    """A cluster before its upgrade.

    mode -- its kafka_mode; action -- what was asked for (kafka_upgrade); nodes -- in the order of the inventory; info
    -- what cluster_info returned, None where the cluster did not answer; unasked -- why it did not; accepted -- ids of
    nodes that may be missing in the inventory; mirrors -- the release of each mirror next to the cluster by host; known
    -- the releases that can be installed; refused -- what the target would not take of properties; old_clients --
    whether clients that are too old for it are accepted; watched -- for how many seconds they were looked for, 0 since
    the brokers started; proven -- whether records are written while its nodes restart (kafka_prove); levels -- names of
    features whose levels were given by hand, which belongs to the step to the features alone
    """

    name: str
    mode: str
    action: str
    target: str
    nodes: tuple[NodeFacts, ...]
    info: Mapping[str, Any] | None = None
    unasked: str = ""
    accepted: frozenset[int] = frozenset()
    mirrors: Mapping[str, str] = field(default_factory=dict)
    known: tuple[str, ...] = ()
    refused: Refused = nothing_refused
    old_clients: bool = False
    watched: int = 0
    proven: bool = False
    levels: tuple[str, ...] = ()

    @property
    def kafka(self) -> tuple[NodeFacts, ...]:
        """Its nodes that run Kafka."""
        return tuple(node for node in self.nodes if node.is_kafka)

    @property
    def running(self) -> list[str]:
        """The releases that its nodes of Kafka run."""
        return list(dict.fromkeys(node.runs for node in self.kafka if node.runs))

    @property
    def begun(self) -> bool:
        """Say whether an earlier run brought some nodes of Kafka, or some servers, to their release, and others not."""
        kinds = ([node.runs == node.target for node in self.nodes if node.is_kafka is kafka] for kafka in (True, False))
        return any(any(done) and not all(done) for done in kinds)

    @property
    def gates_decide(self) -> bool:
        """Say whether the gates of the roll wait for what a new upgrade is refused for: a run that was cut has to be
        finished, and a way back is often gone because of it."""
        return self.action != FINALIZE and (self.begun or self.action == BACK)

    def quorum(self) -> Mapping[str, Any]:
        """Return what is known of the quorum; nothing in ZooKeeper mode."""
        return (self.info or {}).get("quorum") or {}


@dataclass(frozen=True)
class Outcome:
    """What one check found; fine is what it says where it found nothing."""

    check: str
    fine: str
    findings: tuple[Finding, ...] = ()


def findings_of(outcomes: Iterable[Outcome]) -> list[Finding]:
    """Return what all checks found, in their order."""
    return [one for outcome in outcomes for one in outcome.findings]


def names(nodes: Iterable[NodeFacts]) -> str:
    """Return the hosts of nodes in a sentence."""
    return capped([node.host for node in nodes], 5)


#: The variable that holds them.
LEVELS = "kafka_upgrade_features"


def given_levels(given: Any) -> tuple[dict[str, Any], str]:
    """Return (the level of each feature by its name, why they cannot be read); the latter is empty where they can.

    Text is JSON, or NAME=LEVEL with commas or blanks between several. Nothing and empty text name no feature.
    """
    unclear = f"{LEVELS} is {given!r}, which names no features with their levels"
    if given is None or (isinstance(given, str) and not given.strip()):
        return {}, ""
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            pairs = [pair.partition("=") for pair in given.replace(",", " ").split()]
            given = {name: level for name, _equals, level in pairs} if all(map(all, pairs)) else given
    if not isinstance(given, Mapping):
        return {}, unclear
    return {str(name): level for name, level in given.items()}, ""
