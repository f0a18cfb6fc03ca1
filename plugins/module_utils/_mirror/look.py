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

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import (
    CONNECTION_REQUIRED_IF,
    CONNECTION_REQUIRED_TOGETHER,
    CONNECTION_SPEC,
    Connection,
)
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import (
    end_offsets,
    list_topics,
    start_offsets,
    topic_ids,
)
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Key, Partition
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RequestFailedError, StreamopsError
from ansible_collections.streamops.kafka.plugins.module_utils._core.names import capped
from ansible_collections.streamops.kafka.plugins.module_utils._mirror import status
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.api import cluster_id, committed_offsets, visit
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import (
    LEGACY,
    Flow,
    legacy_group,
    offsets_topic,
)
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.records import (
    Notes,
    checkpoints_topic,
    heartbeats_topic,
    status_topic,
)
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.status import Log, Seen

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
#: Offsets from the end in which the frontier is looked for, one after the other; then it stays unknown.
WINDOWS = (100, 10_000, 1_000_000)
#: Partitions whose tails are read together.
TOGETHER = 500
#: Offsets from the end in which the latest heartbeat and checkpoint are looked for, and the states of tasks.
SIGNS = 1_000
STATES = 10_000


def mirror_status(module: Any) -> dict[str, Any]:
    """Look at both ends of the mirror once; the module's result."""
    params = module.params
    flow, max_lag = status.flow_of(params), params["max_lag"]
    with at(f"source {flow.source}"):
        source = Connection.from_params(params["source_connection"])
    with at(f"target {flow.target}"):
        target = Connection.from_params(params)
    pulse = status.Pulse.of(params)
    if params["state"] == status.ALIVE:
        age = heartbeat_age(flow, target)
        return {"changed": False, **status.life(flow, age, pulse, time.time())}
    seen = look(flow, source, target, max_lag)
    return {"changed": False, **status.judged(flow, seen, max_lag, pulse, time.time())}


@contextlib.contextmanager
def at(side: str) -> Iterator[None]:
    """Let an error say at which end of the mirror it came up."""
    try:
        yield
    except StreamopsError as error:
        error.message = f"{side}: {error.message}"
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
        logs = logs_of(flow, origin)
    with at(there):
        seen = of_target(flow, copy, Seen(logs, ids={name: ids[name] for name, _number in logs if name in ids}))
    with at(here):
        if flow.engine == LEGACY:
            seen = replace(seen, positions=committed_offsets(origin, legacy_group(flow)))
        seen = replace(seen, tops=end_offsets(origin, status.beyond(logs, seen.positions)))
        return replace(seen, frontiers=frontiers(origin, seen, enough))


def heartbeat_age(flow: Flow, target: Connection) -> int | None:
    """How old the latest heartbeat is that came through, in ms; None when none did. Only the target is asked."""
    name = heartbeats_topic(flow.source)
    with at(f"target {flow.target}"), Session(target) as copy:
        partitions = list_topics(copy).get(name, ())
        return _age(read_notes(flow, copy, {name: partitions}).heartbeat_at)


def _age(at_ms: int | None) -> int | None:
    """How long ago that was by the clock of this machine, in ms; the clock of whoever wrote it may be ahead."""
    return None if at_ms is None else max(0, round(time.time() * 1000) - at_ms)


def logs_of(flow: Flow, source: Session) -> dict[Key, Log]:
    """Where the logs of all partitions of the flow begin and end, in one request for each broker and edge."""
    existing = list_topics(source)
    keys = [(name, partition.index) for name in status.chosen(flow, existing) for partition in existing[name]]
    starts, ends = start_offsets(source, keys), end_offsets(source, keys, committed=True)
    return {key: Log(starts.get(key), ends.get(key)) for key in keys}


def of_target(flow: Flow, target: Session, seen: Seen) -> Seen:
    """What the target tells: its topics, and what MirrorMaker 2 has written down there."""
    existing = list_topics(target)
    seen = replace(seen, targets={name: len(partitions) for name, partitions in existing.items()})
    if flow.engine == LEGACY:
        return seen
    if offsets_topic(flow) not in existing:
        raise status.not_begun(flow)
    notes = read_notes(flow, target, existing)
    return replace(
        seen,
        positions=notes.positions,
        heartbeat_age_ms=_age(notes.heartbeat_at),
        checkpoint_age_ms=_age(notes.checkpoint_at),
        failed=notes.failed,
    )


def read_notes(flow: Flow, target: Session, existing: Mapping[str, Sequence[Partition]]) -> Notes:
    """What MirrorMaker 2 has written down in the target: the offsets topic whole, of its signs of life the latest."""
    offsets = offsets_topic(flow)
    states = status_topic(flow.source)
    names = {offsets, states, heartbeats_topic(flow.source), checkpoints_topic(flow.source)} & existing.keys()
    keys = [(name, partition.index) for name in sorted(names) for partition in existing[name]]
    starts, ends = start_offsets(target, keys), end_offsets(target, keys, committed=True)
    known = starts.keys() & ends.keys()
    silent = [f"{name}-{number}" for name, number in keys if name == offsets and (name, number) not in known]
    if silent:  # Positions that nobody can read must not pass for positions that nobody has written.
        why = f"no broker told where {capped(silent, 5)} ends: it has no leader, or its leader did not answer"
        raise RequestFailedError("read", offsets, "LEADER_NOT_AVAILABLE", why)
    tails = {key: ends[key] - (STATES if key[0] == states else SIGNS) for key in known}
    begins = {key: starts[key] if key[0] == offsets else max(starts[key], tails[key]) for key in known}
    notes = Notes(flow.source, offsets)

    def take(record: Any) -> None:
        """One note."""
        notes.take(record.topic, record.key, record.value, record.timestamp)

    visit(target, begins, {key: ends[key] for key in known}, take)
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
