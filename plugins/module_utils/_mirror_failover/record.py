# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The record of a planned failover that is under way, which its target keeps, and the order of the steps. Pure.

A record says what was done and what was denied, so that any later run goes on from there, and knows what it may take
away again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from .._core.names import capped
from .._mirror.flows import Flow

#: Stages of a failover in their order. begun: denials may have been made, nothing is proven. done: without a record.
BEGUN, FENCED, DRAINED, MOVED, TURNED, DONE = "begun", "fenced", "drained", "moved", "turned", "done"
_NEXT = {BEGUN: FENCED, FENCED: DRAINED, DRAINED: MOVED, MOVED: TURNED, TURNED: DONE}
#: Of a source that is lost: nothing can be denied there, and nothing more be copied.
_NEXT_AFTER_LOSS = {BEGUN: MOVED, FENCED: MOVED, DRAINED: MOVED, MOVED: TURNED, TURNED: ""}


class Denial(NamedTuple):
    """A principal that may not write a topic of the source."""

    principal: str
    topic: str


@dataclass(frozen=True)
class Loss:
    """What a target has of a source that was lost when it was opened.

    looked_at -- when the source was last looked at, empty where that is not known. copied -- by topic and partition of
    the source (as text) the offset below which all is in the target: what stands above, a source that comes back has
    alone.
    """

    looked_at: str = ""
    copied: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Record:
    """How far a failover is.

    stage -- the last stage that was reached. by -- who takes the steps. at -- when the stage was reached, in UTC.
    are_stopped -- whether the owners of writers say that they have stopped them. denied -- what the failover itself
    denied; denials that were there before it are not among them. loss -- of a target that was opened after its source
    was lost; such a record waits for the failover back.
    """

    stage: str
    by: str
    at: str
    are_stopped: bool = False
    denied: tuple[Denial, ...] = ()
    loss: Loss | None = None

    def as_data(self) -> dict[str, Any]:
        """Return it as it is kept."""
        return {
            "stage": self.stage,
            "by": self.by,
            "at": self.at,
            "are_stopped": self.are_stopped,
            "denied": [list(denial) for denial in self.denied],
            **({"loss": asdict(self.loss)} if self.loss else {}),
        }


def record_of(data: Mapping[str, Any] | None) -> Record | None:
    """Return the record of what was kept; None where no failover is under way."""
    if data is None:
        return None
    denied = tuple(Denial(*pair) for pair in data["denied"])
    loss = Loss(**data["loss"]) if data.get("loss") else None
    return Record(data["stage"], data["by"], data["at"], data["are_stopped"], denied, loss)


def state_key(flow: Flow) -> str:
    """Return the key under which the target keeps the record."""
    return f"mirror_failover {flow.pair}"


def next_step(record: Record | None, is_lost: bool = False) -> str:
    """Return the stage that the next step leads to, also of a source that is lost; empty where none is left."""
    if record is None:
        return MOVED if is_lost else FENCED
    if record.loss:
        return ""
    return (_NEXT_AFTER_LOSS if is_lost else _NEXT)[record.stage]


def stage_lines(record: Record | None, is_lost: bool = False) -> list[str]:
    """Return for people how far the failover is, and what it has denied."""
    step = next_step(record, is_lost)
    if record is None:
        return [f"Stage        not begun; next step: {step}"]
    waits = "none until the failover back" if record.loss else "none until the source answers"
    return [
        f"Stage        {record.stage} at {record.at} by {record.by}; next step: {step or waits}",
        *denial_lines(record.denied),
    ]


def denial_lines(denied: Sequence[Denial]) -> list[str]:
    """Return a line for each principal with the topics that it may not write."""
    topics: dict[str, list[str]] = {}
    for denial in denied:
        topics.setdefault(denial.principal, []).append(denial.topic)
    return [f"Denied       {who} may not write {capped(sorted(names), 5)}" for who, names in sorted(topics.items())]
