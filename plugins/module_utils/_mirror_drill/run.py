# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Takes the steps of a planned failover for the topics of a drill, with the code of the failover, and measures them.

All times are of one clock, that of this process which never goes back.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from .._client.session import Session
from .._client.settle import wait_until_none
from .._cluster.api import topics_at
from .._cluster.snapshot import Key
from .._core.errors import StreamopsError, WaitTimeoutError
from .._core.names import capped
from .._groups.apply import bring_offsets
from .._mirror.flows import Flow
from .._mirror.look import EXACTLY, at, edges, look_within, spans
from .._mirror.status import NothingToMirrorError, lag
from .._mirror_failover.apply import planned
from .._mirror_failover.model import Plan
from .._mirror_failover.plan import offsets_there
from .._mirror_failover.record import DRAINED, FENCED, MOVED, TURNED
from .._mirror_failover.steps import undrained, unfenced, unmoved, unready
from .api import Writer, read_as_group, read_copies
from .model import (
    Content,
    Counts,
    Loss,
    Numbered,
    Own,
    again_at_most,
    copies_of,
    counts_of,
    drill_flow,
    loss_of,
    middle_of,
    parts_of,
)

#: Seconds over which the records of the second and of the third part are written, so that some are on their way at
#: each moment.
_LOSS_SECONDS, _WRITE_SECONDS = 10.0, 5.0


class PartFailedError(StreamopsError):
    """A part of a drill did not come to what it should; C(reasons) are sentences with their fix."""

    def __init__(self, part: str, reasons: Sequence[str]) -> None:
        super().__init__(f"{part}: {' '.join(reasons)}", part=part, reasons=list(reasons))
        self.reasons = [f"not {part}: {reason}" for reason in reasons]


class Course:
    """One drill under way, in open sessions of both ends. Its figures stay where a part fails.

    contents -- the records of each topic of C(own), in the same order. timeout -- seconds without progress after which
    the mirror counts as stopped.
    """

    def __init__(
        self,
        flow: Flow,
        own: Own,
        origin: Session,
        copy: Session,
        contents: Sequence[Sequence[Content]],
        params: Mapping[str, Any],
    ) -> None:
        self._flow, self._own = drill_flow(flow, own), own
        self._origin, self._copy, self._params = origin, copy, params
        self._here, self._there = f"source {flow.source}", f"target {flow.target}"
        turns = zip_longest(*([(topic, content) for content in some] for topic, some in zip(own.topics, contents)))  # noqa: B905 (nodes may have Python 3.9)
        entries = [entry for turn in turns for entry in turn if entry is not None]
        self._records = [(topic, number, content) for number, (topic, content) in enumerate(entries)]
        self.seconds: dict[str, float] = {}
        self.loss: Loss | None = None
        self.counts: Counts | None = None
        self.rto_read: float | None = None
        self.rto_written: float | None = None
        self._since = time.monotonic()

    def go(self) -> None:
        """Take all parts; PartFailedError, or what the clients raise, for the first one that fails."""
        second, third = parts_of(len(self._records))
        with Writer(self._origin) as writer:
            written = self._written(writer, self._records[:second], 0.0)
            self._wait_for_copies("copied")
            read_before = self._read_half(written)
            self._noted("copied")
            written += self._written(writer, self._records[second:third], _LOSS_SECONDS)
            self.loss = self._cut(written)
            written += self._written(writer, self._records[third:], _WRITE_SECONDS)
        self._noted("written")
        last = max(record.at for record in written)
        self._step(FENCED, unfenced(self._planned()))
        self._wait_for_copies(DRAINED)
        plan = self._planned()
        self._step(DRAINED, undrained(plan))
        plan = self._moved(plan)
        self._step(MOVED, [*unready(plan), *unmoved(plan)])
        self._step(TURNED, undrained(self._planned()))
        self._turned(written, read_before, last, again_at_most(plan))
        self._noted("counted")

    def _noted(self, part: str) -> None:
        """Note how long a part took."""
        now = time.monotonic()
        self.seconds[part], self._since = round(now - self._since, 3), now

    def _step(self, step: str, reasons: Sequence[str]) -> None:
        if reasons:
            raise PartFailedError(step, reasons)
        self._noted(step)

    def _written(self, writer: Writer, records: Sequence[tuple[str, int, Content]], seconds: float) -> list[Numbered]:
        with at(self._here):
            return writer.write(records, seconds)

    def _read_half(self, written: Sequence[Numbered]) -> list[Numbered]:
        """Let the group read the first half of each partition of the source."""
        with at(self._here):
            starts = {key: start for key, (start, _end) in self._logs(self._origin, self._own.topics).items()}
            return read_as_group(self._origin, self._own.group, {**starts, **middle_of(written)}, starts)

    def _cut(self, written: Sequence[Numbered]) -> Loss:
        """Count what the target lacks at this moment, without a question to the source."""
        with at(self._there):
            cut = time.monotonic()
            logs = self._copies()
            took = time.monotonic() - cut
            arrived = [record.number for record in read_copies(self._copy, logs)]
        return loss_of(written, arrived, cut, took)

    def _planned(self) -> Plan:
        """Return the plan of a failover of the drill's topics, with the drill's group alone."""
        plan = planned(self._flow, self._origin, self._copy, self._params)
        return replace(plan, groups=[group for group in plan.groups if group.name == self._own.group])

    def _moved(self, plan: Plan) -> Plan:
        """Bring the offsets of the group over, and return the plan behind that."""
        with at(self._there):
            for group, places in offsets_there(self._flow, plan).items():
                bring_offsets(self._copy, group, places)
        return self._planned()

    def _turned(self, written: Sequence[Numbered], read_before: Sequence[Numbered], last: float, most: int) -> None:
        """Write the first record into the target, let the group go on there, and count."""
        with at(self._there):
            logs = self._copies()
            with Writer(self._copy) as writer:
                first = min(logs)
                content = Content(first[1], b"drill", b"the first record that was written in the target")
                (landed,) = writer.write([(first[0], len(self._records), content)])
            self.rto_written = round(landed.at - last, 3)
            read = read_as_group(self._copy, self._own.group, {key: end for key, (_start, end) in logs.items()})
            self.rto_read = round(min(record.at for record in read) - last, 3) if read else None
            copies = read_copies(self._copy, logs)
        self.counts = counts_of(_numbers(written), _numbers(read_before), _numbers(copies), _numbers(read), most)

    def _copies(self) -> dict[Key, tuple[int, int]]:
        return self._logs(self._copy, copies_of(self._flow, self._own))

    def _logs(self, session: Session, topics: Sequence[str]) -> dict[Key, tuple[int, int]]:
        """Return where the logs of these topics begin and where their committed records end, as far as it is told."""
        return spans(edges(session, topics_at(session, None, topics)))

    def _wait_for_copies(self, part: str) -> None:
        """Wait until the target has all that was written; PartFailedError when nothing comes for the timeout."""
        timeout = self._params["timeout"]

        def behind() -> list[str]:
            """Return the partitions whose copies lack records."""
            try:
                seen = look_within(self._flow, self._origin, self._copy, EXACTLY)
            except NothingToMirrorError as error:  # Of a broker that does not know the topics yet.
                return [error.message]
            lags = {key: lag(seen, key) for key in sorted(seen.logs)}
            return [f"{name}-{number} {left:,}" for (name, number), left in lags.items() if left]

        try:
            wait_until_none("copies", behind, timeout)
        except WaitTimeoutError as error:
            missing = capped(error.fields["missing"], 5)
            reason = (
                f"{self._flow.target} lacks records, and none came for {timeout} s ({missing}). Check that the mirror "
                "runs (status.yml). Where it copies other topics, run site.yml: it may not know topics of drills yet."
            )
            raise PartFailedError(part, [reason]) from error


def _numbers(records: Sequence[Numbered]) -> list[int]:
    return [record.number for record in records]
