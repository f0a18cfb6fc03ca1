# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Runs a drill of a failover: makes its topics, takes the steps, deletes what it made, and keeps how it ended.

Before anything is made its names stand in the target. So what a killed run left is deleted by the next one, and nothing
else ever is.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .._client.session import Session
from .._cluster.api import topics_at
from .._cluster.snapshot import STATE_TOPIC
from .._core.errors import RefusedError, StreamopsError
from .._groups.apply import ensure_offsets
from .._mirror.flows import Flow
from .._mirror.gaps_look import now, refuse_one_cluster
from .._mirror.look import at, edges, spans
from .._mirror.reading import flow_of
from .._mirror_failover.apply import both_ends, kept_record, planned, target_of
from .._state.api import write_state
from .._topics.api import TopicSpec, drop_topics, made_state_topic, make_topic
from .api import kept_of_flow, last_contents
from .model import (
    MOST_PARTITIONS,
    OWN_PARTITIONS,
    RETENTION_MS,
    Content,
    Kept,
    Outcome,
    Own,
    copies_of,
    days_since,
    faults,
    filled,
    is_ours,
    last_drill,
    last_line,
    outcome_lines,
    own_of,
    plan_lines,
    state_key,
    topic_refusals,
)
from .run import Course, PartFailedError

RUN, LAST = "run", "last"
#: Seconds in which a topic must be there, or gone.
_SETTLE_SECONDS = 60
#: Seconds for which nothing may come into a copy before it is deleted, and after which one that still grows is.
_QUIET_SECONDS, _QUIET_AT_MOST = 5.0, 60.0


class DrillFailedError(StreamopsError):
    """A drill that has failed; C(drill) in the failure has its figures."""

    def __init__(self, flow: Flow, outcome: Outcome, lines: Sequence[str]) -> None:
        super().__init__("\n".join(lines), flow=flow.pair, drill=outcome.as_data())
        self.done = {"changed": True}


def mirror_drill(module: Any) -> dict[str, Any]:
    """Run a drill, or tell how the last one ended; the module's result."""
    params = module.params
    flow = flow_of(params)
    if params["state"] == LAST:
        # The source may be lost: it is not asked.
        with target_of(flow, params) as copy:
            return told(flow, kept_in(flow, copy).last)
    with both_ends(flow, params) as (origin, copy):
        refuse_one_cluster(flow, origin, copy)
        return Drill(flow, origin, copy, params).run(module.check_mode)


def kept_in(flow: Flow, copy: Session) -> Kept:
    """Return what the target keeps of the drills of a flow."""
    with at(f"target {flow.target}"):
        return kept_of_flow(copy, flow)


def told(flow: Flow, last: Outcome | None) -> dict[str, Any]:
    """Tell how the last drill ended."""
    days = days_since(last, time.time()) if last else None
    return {
        "changed": False,
        "flow": flow.pair,
        "drill": last.as_data() if last else None,
        "days": days,
        "lines": [last_line(last_drill(last, days))],
    }


class Drill:
    """The drills of a flow, in open sessions of its ends."""

    def __init__(self, flow: Flow, origin: Session, copy: Session, params: Mapping[str, Any]) -> None:
        self._flow, self._origin, self._copy, self._params = flow, origin, copy, params
        self._here, self._there = f"source {flow.source}", f"target {flow.target}"
        self._kept = kept_in(flow, copy)

    def run(self, is_check: bool) -> dict[str, Any]:
        """Run a drill; in check mode say what it would do, and what hinders a failover now."""
        topics = list(dict.fromkeys(name.strip() for name in self._params["drill_topics"] if name.strip()))
        self._refuse(topics)
        if is_check:
            lines = plan_lines(self._flow, topics, self._kept.left, self._hindrances())
            return {"changed": True, "flow": self._flow.pair, "drill": None, "lines": lines}
        if self._kept.left:
            self._remove(self._kept.left)
        own = own_of(self._flow, secrets.token_hex(4), len(topics))
        with at(self._there):
            made_state_topic(self._copy)
        self._keep(replace(self._kept, left=own))
        outcome = self._tried(own, topics)
        left: Own | None = own
        try:
            self._remove(own)
            left = None
        except StreamopsError as error:
            why = f"what it made is not deleted, and the next drill will do so: {error.message}"
            outcome = replace(outcome, why=(*outcome.why, why))
        try:
            self._keep(Kept(left, outcome))
        except StreamopsError as error:
            outcome = replace(outcome, why=(*outcome.why, f"its result is not kept: {error.message}"))
        lines = outcome_lines(self._flow, outcome)
        if not outcome.passed:
            raise DrillFailedError(self._flow, outcome, lines)
        return {"changed": True, "flow": self._flow.pair, "drill": outcome.as_data(), "lines": lines}

    def _refuse(self, topics: Sequence[str]) -> None:
        record, _end = kept_record(self._flow, self._copy)
        with at(self._here):
            reasons = topic_refusals(self._flow, topics, topics_at(self._origin, None, None) if topics else ())
        if self._kept.left and not is_ours(self._flow, self._kept.left):
            names = ", ".join((*self._kept.left.topics, self._kept.left.group))
            reasons.append(
                f"{self._flow.target} keeps names that no drill gives ({names}), so they are not deleted. Look at key "
                f"{state_key(self._flow)!r} of its topic {STATE_TOPIC}."
            )
        if record is not None:
            reasons.append(
                f"a failover {self._flow.pair} is under way ({record.stage} at {record.at} by {record.by}). End it or "
                "take it back (mirror_failover.yml), then run the drill."
            )
        if reasons:
            raise RefusedError(f"drill {self._flow.pair}", reasons)

    def _hindrances(self) -> Sequence[str]:
        """Return what hinders a failover of the flow now; of this, lost records and failed tasks fail a drill too."""
        try:
            return planned(self._flow, self._origin, self._copy, self._params).against
        except StreamopsError as error:  # A drill looks at its own topics only, so it may run all the same.
            return [f"not known what hinders a failover: {error.message}"]

    def _keep(self, kept: Kept) -> None:
        with at(self._there):
            write_state(self._copy, state_key(self._flow), kept.as_data())
        self._kept = kept

    def _tried(self, own: Own, topics: Sequence[str]) -> Outcome:
        """Make the topics and take all parts; return how that ended, also where a part failed."""
        course, why = None, []
        try:
            with at(self._here):
                contents = self._made(own, topics)
            course = Course(self._flow, own, self._origin, self._copy, contents, self._params)
            course.go()
        except PartFailedError as error:
            why = error.reasons
        except StreamopsError as error:
            why = [error.message]
        ended, by = now().at, self._params["operator"].strip()
        if course is None:
            return Outcome(ended, by, tuple(why))
        why = why or (faults(self._flow, course.counts) if course.counts else [])
        return Outcome(
            ended, by, tuple(why), course.seconds, course.loss, course.counts, course.rto_read, course.rto_written
        )

    # -- topics ----------------------------------------------------------------------------------------------------

    def _made(self, own: Own, topics: Sequence[str]) -> list[list[Content]]:
        """Make the topics of the drill in the source; return the records that are written into each."""
        if not topics:
            self._make(own.topics[0], OWN_PARTITIONS)
            return [filled([], OWN_PARTITIONS)]
        existing = topics_at(self._origin, None, topics)
        contents = []
        for name, topic in zip(own.topics, topics):  # noqa: B905 (nodes may have Python 3.9)
            logs = spans(edges(self._origin, {topic: existing[topic]}))
            partitions = min(MOST_PARTITIONS, len(existing[topic]))
            self._make(name, partitions)
            contents.append(filled(last_contents(self._origin, logs), partitions))
        return contents

    def _make(self, name: str, partitions: int) -> None:
        """Make a topic with as many replicas as the cluster gives by itself."""
        config = {"cleanup.policy": "delete", "retention.ms": str(RETENTION_MS), "retention.bytes": "-1"}
        make_topic(self._origin, TopicSpec(name, partitions, -1, config), _SETTLE_SECONDS)

    def _remove(self, own: Own) -> None:
        """Delete what a drill made: at the source first, so that no mirror makes or fills a copy anew."""
        copies = copies_of(self._flow, own)
        with at(self._here):
            _drop_group(self._origin, own.group)
            drop_topics(self._origin, own.topics, _SETTLE_SECONDS)
        with at(self._there):
            _drop_group(self._copy, own.group)
            self._wait_until_quiet(copies)
            drop_topics(self._copy, copies, _SETTLE_SECONDS)
            time.sleep(_QUIET_SECONDS)
            # A mirror that was about to make a copy has done so by now.
            drop_topics(self._copy, copies, _SETTLE_SECONDS)

    def _wait_until_quiet(self, copies: Sequence[str]) -> None:
        """Wait until nothing comes into these copies: a mirror that writes into a deleted one repeats that in vain."""
        until, before, since = time.monotonic() + _QUIET_AT_MOST, None, time.monotonic()
        while time.monotonic() < until:
            logs = edges(self._copy, topics_at(self._copy, None, copies))
            if not logs or (logs == before and time.monotonic() - since >= _QUIET_SECONDS):
                return
            if logs != before:
                before, since = logs, time.monotonic()
            time.sleep(1.0)


def _drop_group(session: Session, group: str) -> None:
    ensure_offsets(session, {"group": group, "state": "absent"}, check=False, diff=False)
