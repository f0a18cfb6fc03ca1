# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The record of a planned failover that is under way, which its target keeps, and the order of the steps. Pure.

A record says what was done and what was denied, so that any later run goes on from there, and knows what it may take
away again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

from .._core.names import capped
from .._mirror.flows import Flow
from .._state.form import of_known

#: Stages of a failover in their order. begun: denials may have been made, nothing is proven. done: without a record.
BEGUN, FENCED, DRAINED, MOVED, TURNED, DONE = "begun", "fenced", "drained", "moved", "turned", "done"
_NEXT = {BEGUN: FENCED, FENCED: DRAINED, DRAINED: MOVED, MOVED: TURNED, TURNED: DONE}
#: Of a source that is lost: nothing can be denied there, and nothing more be copied.
_NEXT_AFTER_LOSS = {BEGUN: MOVED, FENCED: MOVED, DRAINED: MOVED, MOVED: TURNED, TURNED: ""}
#: Of the failback, once a lost source answers again: what it has alone is kept in the target, the flow back is begun.
KEPT = "kept"
_NEXT_BACK = {"": FENCED, FENCED: KEPT, KEPT: BEGUN, BEGUN: ""}


class Denial(NamedTuple):
    """A principal that may not write a topic of the source."""

    principal: str
    topic: str


@dataclass(frozen=True)
class Failback:
    """How far the failback of a source is that was lost and answers again.

    stage -- the last stage that was reached, empty where none is. first -- by topic and partition of the source (as
    text) the offset from which on the source has records that the target lacks. kept -- the same with the offset below
    which these stand in a topic of their own, and how many they are. before -- the record as it was before the
    failback, without its loss; None in older records.
    """

    stage: str = ""
    first: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    kept: Mapping[str, Mapping[str, Sequence[int]]] = field(default_factory=dict)
    before: Record | None = None


@dataclass(frozen=True)
class Loss:
    """What a target has of a source that was lost when it was opened.

    looked_at -- when the source was last looked at, empty where that is not known. copied -- by topic and partition of
    the source (as text) the offset below which all is in the target: what stands above, a source that comes back has
    alone. ends -- the same with the end that the copy had in the target. opened_at -- when the target was opened.
    ids -- those that the topics of the source had. stamp -- by what the names of topics tell this loss from others that
    keep its surplus; without it they have the date. Older records have none of these four. back -- the failback, None
    before it.
    """

    looked_at: str = ""
    copied: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    ends: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    opened_at: str = ""
    ids: Mapping[str, str] = field(default_factory=dict)
    back: Failback | None = None
    stamp: str = ""


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

    def with_back(self, back: Failback, at: str, by: str) -> Record:
        """Return the record of a loss with how far its failback is; C(at) and C(by) are those of its latest step."""
        loss = self.loss or Loss()
        # Until the failback begins, the time of the stage is that of the loss.
        return replace(self, at=at, by=by, loss=replace(loss, opened_at=loss.opened_at or self.at, back=back))

    def without_back(self) -> Record:
        """Return the record of a loss as it was before its failback; an older one then has no denials."""
        loss = self.loss or Loss()
        before = (loss.back.before if loss.back else None) or Record(self.stage, self.by, loss.opened_at)
        return replace(before, loss=replace(loss, back=None))


def stamp_of(opened_at: str) -> str:
    """Return date and time of a loss (UTC, ISO 8601) as names of topics may have them: a day may bring two losses."""
    return opened_at[:19].replace(":", "").replace("T", "-")


def record_of(data: Mapping[str, Any] | None) -> Record | None:
    """Return the record of what was kept; None where no failover is under way. ValueError for an unknown stage."""
    if data is None:
        return None
    if data["stage"] not in _NEXT:
        raise ValueError(f"its stage is {data['stage']!r}")
    denied = tuple(Denial(principal, topic) for principal, topic, *_later in data["denied"])
    return Record(data["stage"], data["by"], data["at"], data["are_stopped"], denied, _loss_of(data.get("loss")))


def _loss_of(data: Mapping[str, Any] | None) -> Loss | None:
    if not data:
        return None
    return of_known(Loss, {**data, "back": _failback_of(data.get("back"))})


def _failback_of(data: Mapping[str, Any] | None) -> Failback | None:
    if not data:
        return None
    # A failback of an older release has no record of before.
    back = of_known(Failback, {**data, "before": record_of(data.get("before"))})
    if back.stage not in _NEXT_BACK:
        raise ValueError(f"the stage of its failback is {back.stage!r}")
    return back


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


def next_of_failback(loss: Loss) -> str:
    """Return the stage that the next step of a failback leads to; empty where none is left."""
    return _NEXT_BACK[loss.back.stage if loss.back else ""]


def stage_lines(record: Record | None, is_lost: bool = False) -> list[str]:
    """Return for people how far the failover is, and what it has denied."""
    step = next_step(record, is_lost)
    if record is None:
        return [f"Stage        not begun; next step: {step}"]
    waits = "none until the failover back" if record.loss else "none until the source answers"
    if record.loss and record.loss.back:
        step, back = next_of_failback(record.loss), record.loss.back
        reached = f"failback {back.stage} at {record.at} by {record.by}" if back.stage else "failback not begun"
        stage = f"{record.stage} at {record.loss.opened_at}, {reached}"
    else:
        stage = f"{record.stage} at {record.at} by {record.by}"
    return [
        f"Stage        {stage}; next step: {step or waits}",
        *denial_lines(record.denied),
    ]


def denial_lines(denied: Sequence[Denial]) -> list[str]:
    """Return a line for each principal with the topics that it may not write."""
    topics: dict[str, list[str]] = {}
    for denial in denied:
        topics.setdefault(denial.principal, []).append(denial.topic)
    return [f"Denied       {who} may not write {capped(sorted(names), 5)}" for who, names in sorted(topics.items())]
