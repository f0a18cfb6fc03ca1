# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Looks at both ends of a mirror once: logs of the source first, positions of the mirror after them.

In that order what was seen in the source is at most as new as the position, so that a lag of 0 proves that everything
up to there had been mirrored.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .._client.connection import CONNECTION_REQUIRED_IF, CONNECTION_REQUIRED_TOGETHER, CONNECTION_SPEC, Connection
from .._client.session import Session
from .._cluster.api import topic_ids, topics_at
from .._cluster.snapshot import Key, Partition
from .._core.errors import RequestFailedError, StreamopsError
from .._core.names import capped
from .._logs.api import Leaders, leaders_of, log_ends
from .._logs.model import NO_ANSWER
from . import status
from .api import cluster_id, committed_offsets, visit
from .flows import LEGACY, Flow, legacy_group, offsets_topic, own_topics
from .records import Notes, checkpoints_topic, heartbeats_topic, status_topic
from .status import Log, Seen

#: Options that say which flow is looked at, beside the names of its ends and its engine.
FLOW_SPEC: dict[str, dict[str, Any]] = {
    "source_connection": {
        "type": "dict",
        "required": True,
        "options": CONNECTION_SPEC,
        "required_if": CONNECTION_REQUIRED_IF,
        "required_together": CONNECTION_REQUIRED_TOGETHER,
    },
    "topics": {"type": "list", "elements": "str", "required": True},
    "topics_exclude": {"type": "list", "elements": "str", "default": []},
    "policy": {"type": "str", "choices": ["default", "identity"], "default": "default"},
}
#: By what a look for gaps judges (doc fragment streamops.kafka._mirror_flow.gaps).
GAPS_SPEC: dict[str, dict[str, Any]] = {
    "untouched_source": {"type": "bool", "default": False},
    "confirm_seconds": {"type": "int", "default": 15},
}
#: Offsets from the end in which the frontier is looked for, one after the other; then it stays unknown.
WINDOWS = (100, 10_000, 1_000_000)
#: More records than any lag: of a look that must know it exactly.
EXACTLY = 1 << 62
#: Partitions whose tails are read together.
TOGETHER = 500
#: Offsets from the end in which the latest heartbeat and checkpoint are looked for, and the states of tasks.
SIGNS = 1_000
STATES = 10_000


@contextlib.contextmanager
def at(side: str) -> Iterator[None]:
    """Let an error say at which end of the mirror it came up, for people, and for programs as C(end) in its failure.

    side -- "source" or "target", and the name of the cluster.
    """
    try:
        yield
    except StreamopsError as error:
        error.message = f"{side}: {error.message}"
        error.fields["end"] = side.partition(" ")[0]
        raise


def look(flow: Flow, source: Connection, target: Connection, enough: int) -> Seen:
    """Look at a flow once. C(enough): a lag in records above which nobody asks how great it is exactly.

    Raises SameClusterError, NothingToMirrorError, MirrorNotBegunError, or what the clients raise.
    """
    here, there = f"source {flow.source}", f"target {flow.target}"
    with contextlib.ExitStack() as opened:
        with at(here):
            origin = opened.enter_context(Session(source))
            source_id = cluster_id(origin)
        with at(there):
            copy = opened.enter_context(Session(target))
            target_id = cluster_id(copy)
        status.refuse_one_cluster(flow, source_id, target_id)
        return look_within(flow, origin, copy, enough)


def look_within(flow: Flow, origin: Session, copy: Session, enough: int) -> Seen:
    """The same look in sessions of the source and of the target that are open."""
    here, there = f"source {flow.source}", f"target {flow.target}"
    with at(here):
        # Before the logs: of a topic that is created again meanwhile, the next look sees another id.
        ids = topic_ids(origin)
        existing = topics_at(origin, None, None)
        logs = logs_of(flow, origin, existing)
    with at(there):
        seen = of_target(flow, copy, Seen(logs))
        seen = replace(
            seen,
            ids={name: ids[name] for name, _number in logs if name in ids},
            tuned={flow.source: own_topics(existing), flow.target: own_topics(seen.targets)},
        )
    with at(here):
        if flow.engine == LEGACY:
            seen = replace(seen, positions=committed_offsets(origin, legacy_group(flow)))
        seen = replace(seen, tops=_tops(origin, status.beyond(logs, seen.positions)))
        return replace(seen, frontiers=frontiers(origin, seen, enough))


def heartbeat_age(flow: Flow, target: Connection) -> int | None:
    """Return the age of the latest heartbeat that came through, in ms; None when none did. Asks only the target."""
    name = heartbeats_topic(flow.source)
    with at(f"target {flow.target}"), Session(target) as copy:
        return _age(read_notes(flow, copy, topics_at(copy, None, [name])).heartbeat_at)


def _age(at_ms: int | None) -> int | None:
    """Return how long ago that was by this machine's clock, in ms; the clock of whoever wrote it may be ahead."""
    return None if at_ms is None else max(0, round(time.time() * 1000) - at_ms)


def logs_of(flow: Flow, source: Session, existing: Mapping[str, Sequence[Partition]]) -> dict[Key, Log]:
    """Return where the logs of all partitions of the flow begin and end, in one request for each broker and edge."""
    return edges(source, {name: existing[name] for name in status.chosen(flow, existing)})


def edges(session: Session, topics: Mapping[str, Sequence[Partition]]) -> dict[Key, Log]:
    """Return where the logs of these topics begin and where their committed records end; None where no broker told."""
    led = {(name, one.index): one.leader for name, partitions in topics.items() for one in partitions}
    found = log_ends(session, Leaders(led, frozenset()), led, committed=True)
    # A leader that has just changed answers nothing; the new one is found by another question.
    if silent := [key for key, log in found.items() if log.missing == NO_ANSWER]:
        found |= log_ends(session, leaders_of(session, {topic for topic, _number in silent}), silent, committed=True)
    return {key: Log(None, None) if log.missing else Log(log.start, log.end) for key, log in found.items()}


def spans(logs: Mapping[Key, Log]) -> dict[Key, tuple[int, int]]:
    """Return where logs begin and where their committed records end, without those of which no broker told it."""
    return {key: (log.start, log.end) for key, log in logs.items() if log.start is not None and log.end is not None}


def _tops(source: Session, keys: Sequence[Key]) -> dict[Key, int]:
    """The ends of these logs with what open transactions wrote; those that no broker tells are left out."""
    if not keys:
        return {}
    found = log_ends(source, leaders_of(source, {topic for topic, _number in keys}), keys)
    return {key: log.end for key, log in found.items() if not log.missing}


def of_target(flow: Flow, target: Session, seen: Seen) -> Seen:
    """Return what the target tells: its topics, and what MirrorMaker 2 has written down there."""
    existing = topics_at(target, None, None)
    seen = replace(seen, targets={name: len(partitions) for name, partitions in existing.items()})
    if flow.engine == LEGACY:
        return seen
    if offsets_topic(flow) not in existing:
        raise status.not_begun(flow)
    notes = read_notes(flow, target, existing)
    return replace(
        seen,
        positions=notes.positions,
        flushes=notes.flushes,
        heartbeat_age_ms=_age(notes.heartbeat_at),
        checkpoint_age_ms=_age(notes.checkpoint_at),
        failed=notes.failed,
    )


def read_notes(flow: Flow, target: Session, existing: Mapping[str, Sequence[Partition]]) -> Notes:
    """Return what MirrorMaker 2 wrote down in the target: the offsets topic whole, its latest signs of life."""
    offsets = offsets_topic(flow)
    states = status_topic(flow.source)
    names = {offsets, states, heartbeats_topic(flow.source), checkpoints_topic(flow.source)} & existing.keys()
    found = edges(target, {name: existing[name] for name in sorted(names)})
    known = spans(found)
    silent = [f"{name}-{number}" for name, number in sorted(found.keys() - known.keys()) if name == offsets]
    if silent:  # Positions that nobody can read must not pass for positions that nobody has written.
        why = f"no broker told where {capped(silent, 5)} ends: it has no leader, or its leader did not answer"
        raise RequestFailedError("read", offsets, "LEADER_NOT_AVAILABLE", why)
    begins = {
        key: start if key[0] == offsets else max(start, end - (STATES if key[0] == states else SIGNS))
        for key, (start, end) in known.items()
    }
    notes = Notes(flow.source, offsets)

    def take(record: Any) -> None:
        """One note."""
        notes.take(record.topic, record.key, record.value, record.timestamp, record.offset)

    visit(target, begins, {key: end for key, (_start, end) in known.items()}, take)
    return notes


def frontiers(source: Session, seen: Seen, enough: int) -> dict[Key, int]:
    """The frontiers of the partitions that look behind, nearest first; no more when C(enough) records are behind."""
    found: dict[Key, int] = {}
    behind = status.suspects(seen)
    for first in range(0, len(behind), TOGETHER):
        part = behind[first : first + TOGETHER]
        found.update(_frontiers(source, seen, part))
        if sum(status.lag(replace(seen, frontiers=found), key) for key in part) > enough:
            break
    return found


def _frontiers(source: Session, seen: Seen, keys: list[Key]) -> dict[Key, int]:
    found: dict[Key, int] = {}
    reached = {key: status.reached(seen.logs[key], seen.positions.get(key)) for key in keys}
    left = {key: seen.logs[key].end or 0 for key in keys}
    for width in WINDOWS:
        starts = {key: max(reached[key], (seen.logs[key].end or 0) - width) for key in left}
        last = _last_records(source, starts, left)
        found.update({key: offset + 1 for key, offset in last.items()})
        found.update({key: reached[key] for key, start in starts.items() if start == reached[key] and key not in last})
        left = {key: starts[key] for key in left if key not in found}
    return found


def _last_records(source: Session, starts: dict[Key, int], ends: dict[Key, int]) -> dict[Key, int]:
    """The offset of the last committed record from start to before end, for the partitions that have one there."""
    last: dict[Key, int] = {}

    def take(record: Any) -> None:
        """One record; the later ones come later."""
        last[record.topic, record.partition] = record.offset

    visit(source, starts, ends, take)
    return last


def records_within(source: Session, windows: Mapping[Key, tuple[int, int]]) -> dict[Key, list[tuple[int, int]]]:
    """Say which offsets are committed records, from the first offset of a window to before its end: ranges of them."""
    records: dict[Key, list[tuple[int, int]]] = {}

    def take(record: Any) -> None:
        """One record; a connection that breaks brings some twice."""
        ranges = records.setdefault((record.topic, record.partition), [])
        if ranges and ranges[-1][1] + 1 == record.offset:
            ranges[-1] = (ranges[-1][0], record.offset)
        else:
            ranges.append((record.offset, record.offset))

    keys = sorted(windows)
    for first in range(0, len(keys), TOGETHER):
        part = keys[first : first + TOGETHER]
        visit(source, {key: windows[key][0] for key in part}, {key: windows[key][1] for key in part}, take)
    return records
