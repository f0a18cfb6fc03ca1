# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The question to a gate and its answer: the nodes to be stopped, and the reasons against it with what to do. Pure."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from .._cluster.snapshot import FETCH_TIMEOUT_MS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# The module's options beside the connection, and those that only its action plugin uses; timeout, interval in seconds.
GATE_OPTIONS: dict[str, dict[str, Any]] = {
    "node_ids": {"type": "list", "elements": "int", "required": True, "aliases": ["node_id"]},
    "roles": {
        "type": "list",
        "elements": "str",
        "choices": ["broker", "controller"],
        "default": ["broker", "controller"],
    },
    "expected_brokers": {"type": "list", "elements": "int", "default": []},
    "expected_controllers": {"type": "list", "elements": "int", "default": []},
    "allow_unavailable_topics": {"type": "list", "elements": "str", "default": []},
    "controller_fetch_timeout_ms": {"type": "int", "default": FETCH_TIMEOUT_MS},
    "correcting": {"type": "bool", "default": False},
    "times_metadata": {"type": "bool", "default": False},
}
GATE_WAIT_OPTIONS: dict[str, dict[str, Any]] = {
    "timeout": {"type": "int", "default": 60},
    "interval": {"type": "float", "default": 5.0},
    "hold": {"type": "float", "default": 0.0},
    "held_since": {"type": "float", "default": 0.0},
}


@dataclass(frozen=True)
class Stop:
    """The nodes to be stopped, what must be up besides, and what was consented to.

    C(allow_unavailable_topics) holds topic names or C(*); it only frees topics that cannot lose any replica.
    C(correcting): the node restarts with other files, so what it is itself the cause of does not count (_gate/sick.py).
    """

    nodes: frozenset[int]
    roles: frozenset[str] = frozenset(("broker", "controller"))
    expected_brokers: frozenset[int] = frozenset()
    expected_controllers: frozenset[int] = frozenset()
    allow_unavailable_topics: frozenset[str] = frozenset()
    fetch_timeout_ms: int = FETCH_TIMEOUT_MS
    correcting: bool = False

    @property
    def corrected(self) -> int | None:
        """The one node that is corrected; several at once never are."""
        return next(iter(self.nodes)) if self.correcting and len(self.nodes) == 1 else None

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Stop:
        """Return the stop in a module's parameters (GATE_OPTIONS)."""
        return cls(
            nodes=frozenset(params["node_ids"]),
            roles=frozenset(params["roles"]),
            expected_brokers=frozenset(params["expected_brokers"]),
            expected_controllers=frozenset(params["expected_controllers"]),
            allow_unavailable_topics=frozenset(params["allow_unavailable_topics"]),
            fetch_timeout_ms=params["controller_fetch_timeout_ms"],
            correcting=params["correcting"],
        )


@dataclass(frozen=True)
class Refusal:
    """One reason against the stop. C(transient): it may pass by itself, so waiting a little makes sense."""

    kind: str
    what: str
    found: str
    allowed: str
    transient: bool = True
    #: What to do, where that depends on more than the kind.
    fix: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as a module returns them, with what to do about it."""
        return {**asdict(self), "fix": self.fix or FIXES[self.kind]}


#: The kind of the refusal when nothing is known of the quorum.
QUORUM_UNKNOWN = "quorum_unknown"
#: The kinds of refusals that are about the quorum alone.
QUORUM_KINDS = frozenset(("no_active_controller", QUORUM_UNKNOWN, "quorum_majority", "controller_down"))
#: What to do about each kind of refusal.
FIXES = {
    "no_spare_replica": "Raise the replication factor, lower min.insync.replicas, or accept that these topics are "
    "unavailable while the node is down: name them in allow_unavailable_topics (inventory: "
    "kafka_gate_allow_unavailable_topics).",
    "partition_offline": "Start the brokers that hold the in-sync replicas and wait for a leader.",
    "under_min_isr": "Bring the missing replicas back into the ISR (isr_wait shows them), then try again.",
    "would_fall_under_min_isr": "Bring the missing replicas back into the ISR (isr_wait shows them), then try again.",
    "broker_cut_off": "See at which address its listener between brokers advertises it, and whether firewall, "
    "certificates and login let the others in. Then run site.yml with what is corrected",
    "broker_elsewhere": "Correct advertised_host and port of this broker's listener (kafka_listeners), names and "
    "address translation, so that its address leads to it alone. Then run site.yml, which restarts it first when its "
    "files change.",
    "broker_not_copying": "Look at its log and at what changed last in its properties (replica.*, "
    "num.replica.fetchers), then run site.yml with what is corrected.",
    "pair_not_copying": "See in the log of the follower why it does not copy, what changed last in the properties of "
    "both (replica.* of the follower, listeners of the leader), and the network between the two.",
    "catching_up": "Wait until it has caught up.",
    "broker_down": "Start that broker first (a stopped node may always be started); its log says why it stays away.",
    "broker_metadata_behind": "Wait until they have caught up; see their logs if they do not.",
    "no_active_controller": "Start the controllers that are down and wait for an election.",
    QUORUM_UNKNOWN: "See that a majority of the controllers runs and answers: one of them may be frozen or overloaded. "
    "Brokers turn to a new active controller after controller.socket.timeout.ms (30 s).",
    "quorum_majority": "Start the controllers that are behind and wait until they have caught up; stop fewer at once.",
    "controller_down": "Start that controller first (a stopped node may always be started) and let it catch up.",
    "reassignment": "Wait until the reassignment has finished, or cancel it.",
}


def numbers(ids: Iterable[int]) -> str:
    """Return ids sorted and joined by commas, C(none) when there are none."""
    return ", ".join(str(number) for number in sorted(ids)) or "none"
