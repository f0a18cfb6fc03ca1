# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What nodes say of the metadata of their cluster: one node, one look at all, and how long it was waited for. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

BROKER, CONTROLLER = "broker", "controller"
#: The subjects that are compared, and which kinds of nodes answer to them; of others a node is not asked.
ASKED: Mapping[str, tuple[str, ...]] = {
    "leader": (BROKER, CONTROLLER),
    "epoch": (BROKER, CONTROLLER),
    "features": (BROKER, CONTROLLER),
    "brokers": (BROKER,),
    "controllers": (CONTROLLER,),
    "topics": (BROKER,),
    "partitions": (BROKER,),
    "topic_configs": (BROKER, CONTROLLER),
    "broker_configs": (BROKER, CONTROLLER),
    "acls": (BROKER, CONTROLLER),
    "users": (BROKER,),
    "quotas": (BROKER,),
}
SUBJECTS = tuple(ASKED)
#: Subjects that a broker asks the active controller for (DescribeQuorum is forwarded): who does not answer is that one.
FORWARDED = ("leader", "epoch")
#: Why no node tells ACLs of a cluster that has none.
NO_AUTHORIZER = "the cluster has no authorizer"


@dataclass(frozen=True)
class Facts:
    """What one node said: by subject its values, by name; C(unanswered) are the subjects without any, and why.

    C(why) is set where the node did not answer at all, C(broken) where it stopped to answer between two questions,
    C(is_unreached) where no connection to it could be made.
    C(applied) is the offset up to which a broker has applied the metadata log (exclusive, as ends of logs are);
    controllers do not tell theirs.
    """

    id: int
    kind: str
    server: str = ""
    why: str = ""
    applied: int | None = None
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    unanswered: Mapping[str, str] = field(default_factory=dict)
    broken: str = ""
    is_unreached: bool = False

    @property
    def name(self) -> str:
        """The node for people."""
        return f"{self.kind} {self.id}"


@dataclass(frozen=True)
class Look:
    """All nodes at one moment. C(at) is the time in seconds since 1970 when it began.

    C(high_watermark) is what the leader had committed before the nodes were asked, None where it did not answer, with
    C(why); C(log_ends) is what it knew of the log of each node then, C(alive) are the nodes that it heard of just now.
    C(notes) are for people.
    """

    at: float
    high_watermark: int | None
    nodes: tuple[Facts, ...]
    log_ends: Mapping[int, int] = field(default_factory=dict)
    why: str = ""
    alive: frozenset[int] = frozenset()
    notes: tuple[str, ...] = ()

    def position(self, node: Facts) -> int | None:
        """Return how far a node is in the metadata log, None where nothing tells that."""
        return node.applied if node.applied is not None else self.log_ends.get(node.id)

    @property
    def answered(self) -> tuple[Facts, ...]:
        """The nodes that answered."""
        return tuple(node for node in self.nodes if not node.why)

    @property
    def unreached(self) -> tuple[Facts, ...]:
        """The controllers to which nothing leads from here, though the leader hears of them.

        A firewall may let only the nodes of a cluster to that port. So no connection says nothing of the controller.
        """
        return tuple(
            node for node in self.nodes if node.kind == CONTROLLER and node.is_unreached and node.id in self.alive
        )

    @property
    def silent(self) -> tuple[Facts, ...]:
        """The nodes that did not answer, or not to the end."""
        return tuple(node for node in self.nodes if (node.why or node.broken) and node not in self.unreached)


def digest(values: Mapping[str, str]) -> str:
    """Return the digest of what a node says of one subject: the same for the same values."""
    return hashlib.sha256(json.dumps(sorted(values.items())).encode()).hexdigest()[:12]


class Stopwatch:
    """Counts the seconds of one thread that are ours: between an answer and the next question.

    Large answers take long to read, the more so while other threads read theirs; that is not held against a node.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began = clock()
        self._since: float | None = None
        self._ours = 0.0

    def answered(self) -> None:
        """Begin a time that is ours."""
        self._since = self._clock()

    def asks(self) -> float:
        """End a time that is ours, and return how long it was."""
        spent = 0.0 if self._since is None else self._clock() - self._since
        # In this order: another thread that looks in between holds too little against the node, never too much.
        self._ours += spent
        self._since = None
        return spent

    def waited(self) -> float:
        """Return the seconds since the beginning that were not ours; another thread may ask."""
        since, now = self._since, self._clock()
        return now - self._began - self._ours - (0.0 if since is None else now - since)
