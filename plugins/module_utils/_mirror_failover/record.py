# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The record of a planned failover that is under way, which its target keeps, and the order of the steps. Pure.

A record says what was done and what was denied, so that any later run goes on from there, and knows what it may take
away again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from .._core.names import capped
from .._mirror.flows import Flow

#: Stages of a failover in their order. begun: denials may have been made, nothing is proven. done: without a record.
BEGUN, FENCED, DRAINED, MOVED, TURNED, DONE = "begun", "fenced", "drained", "moved", "turned", "done"
_NEXT = {BEGUN: FENCED, FENCED: DRAINED, DRAINED: MOVED, MOVED: TURNED, TURNED: DONE}


class Denial(NamedTuple):
    """A principal that may not write a topic of the source."""

    principal: str
    topic: str


@dataclass(frozen=True)
class Record:
    """How far a failover is.

    stage -- the last stage that was reached. by -- who takes the steps. at -- when the stage was reached, in UTC.
    are_stopped -- whether the owners of writers say that they have stopped them. denied -- what the failover itself
    denied; denials that were there before it are not among them.
    """

    stage: str
    by: str
    at: str
    are_stopped: bool = False
    denied: tuple[Denial, ...] = ()

    def as_data(self) -> dict[str, Any]:
        """Return it as it is kept."""
        return {
            "stage": self.stage,
            "by": self.by,
            "at": self.at,
            "are_stopped": self.are_stopped,
            "denied": [list(denial) for denial in self.denied],
        }


def record_of(data: Mapping[str, Any] | None) -> Record | None:
    """Return the record of what was kept; None where no failover is under way."""
    if data is None:
        return None
    denied = tuple(Denial(*pair) for pair in data["denied"])
    return Record(data["stage"], data["by"], data["at"], data["are_stopped"], denied)


def state_key(flow: Flow) -> str:
    """Return the key under which the target keeps the record."""
    return f"mirror_failover {flow.pair}"


def next_step(record: Record | None) -> str:
    """Return the stage that the next step leads to."""
    return FENCED if record is None else _NEXT[record.stage]


def stage_lines(record: Record | None) -> list[str]:
    """Return for people how far the failover is, and what it has denied."""
    if record is None:
        return [f"Stage        not begun; next step: {FENCED}"]
    return [
        f"Stage        {record.stage} at {record.at} by {record.by}; next step: {next_step(record)}",
        *denial_lines(record.denied),
    ]


def denial_lines(denied: Sequence[Denial]) -> list[str]:
    """Return a line for each principal with the topics that it may not write."""
    topics: dict[str, list[str]] = {}
    for denial in denied:
        topics.setdefault(denial.principal, []).append(denial.topic)
    return [f"Denied       {who} may not write {capped(sorted(names), 5)}" for who, names in sorted(topics.items())]
