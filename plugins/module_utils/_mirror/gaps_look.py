# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Looks for records that a mirror can no longer copy, and keeps what the next look must know with the target.

Not with the source, where a deleted topic is forgotten and which a flow may have to leave untouched; and not in a file,
since the control node may be thrown away after each run.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import (
    end_offsets,
    list_topics,
    read_state,
    start_offsets,
    write_state,
)
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Key
from ansible_collections.streamops.kafka.plugins.module_utils._mirror import gaps, status
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.api import cluster_id, visit
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import LEGACY, Flow, matches
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.look import at, look_within
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.trail import Sync, sync_of, syncs_topic
from ansible_collections.streamops.kafka.plugins.module_utils._topics.api import made_state_topic

FORGOTTEN = "forgotten"
#: Offsets from the end in which the syncs of partitions in doubt are looked for.
TRAIL = 200_000
#: The lag must be exact, since what was settled follows from it.
_EXACTLY = 1 << 62


def mirror_gaps(module: Any) -> dict[str, Any]:
    """Look at a flow once, or forget its gaps; the module's result."""
    params = module.params
    flow = status.flow_of(params)
    here, there = f"source {flow.source}", f"target {flow.target}"
    with at(here):
        source = Connection.from_params(params["source_connection"])
    with at(there):
        target = Connection.from_params(params)
    with contextlib.ExitStack() as opened:
        with at(there):
            copy = opened.enter_context(Session(target))
            before = gaps.Marks.of_data(read_state(copy, _key(flow))[0])
        if params["state"] == FORGOTTEN:
            return _forget(flow, copy, before, module.check_mode)
        with at(here):
            origin = opened.enter_context(Session(source))
            source_id = cluster_id(origin)
        status.refuse_one_cluster(flow, source_id, cluster_id(copy))
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        known = _looked(flow, origin, copy, before, params["confirm_seconds"], now)
        if not module.check_mode:
            with at(there):
                _keep(flow, copy, known, before)
        return {"changed": False, "flow": flow.pair, **_told(known), "since_look": bool(before.ids)}


def _looked(flow: Flow, origin: Session, copy: Session, before: gaps.Marks, wait: float, now: str) -> gaps.Marks:
    """What is known after a look, which is repeated where the position of the mirror may only be old."""
    seen = look_within(flow, origin, copy, _EXACTLY)
    found = _found(flow, origin, copy, before, seen)
    if wait and gaps.pending(found, before):
        time.sleep(wait)
        later = look_within(flow, origin, copy, _EXACTLY)
        # The logs of the first look: what is deleted since then has not been waited for.
        first = {key: log for key, log in seen.logs.items() if key in later.logs}
        seen = replace(later, logs={**later.logs, **{key: _since(later, key, log) for key, log in first.items()}})
        found = _found(flow, origin, copy, before, seen)
    return gaps.marks(seen, before, found, now)


def _found(flow: Flow, origin: Session, copy: Session, before: gaps.Marks, seen: status.Seen) -> list[gaps.Gap]:
    syncs = _syncs(flow, origin, copy, gaps.in_doubt(seen, before))
    return gaps.gaps(seen, before, syncs, lambda topic: matches(flow, topic))


def _since(later: status.Seen, key: Key, log: status.Log) -> status.Log:
    """The log of a partition from the start that the first look saw to the end of the later one."""
    return replace(later.logs[key], start=log.start)


def _forget(flow: Flow, copy: Session, before: gaps.Marks, is_check: bool) -> dict[str, Any]:
    """Say nothing more of the gaps that are known."""
    is_changed = bool(gaps.told(before))
    known = gaps.forgotten(before)
    if is_changed and not is_check:
        with at(f"target {flow.target}"):
            _keep(flow, copy, known, before)
    return {"changed": is_changed, "flow": flow.pair, **_told(known)}


def _told(known: gaps.Marks) -> dict[str, Any]:
    """The gaps as the module returns them."""
    told = gaps.told(known)
    return {
        "gaps": [one.as_dict() for one in told],
        "lines": [one.line for one in told],
        "records": sum(one.records for one in told if one.certain),
    }


def _key(flow: Flow) -> str:
    return f"mirror_gaps {flow.pair} {flow.engine}"


def _keep(flow: Flow, copy: Session, known: gaps.Marks, before: gaps.Marks) -> None:
    """Keep the marks for the next look, where they are not those that are kept already."""
    if known.as_data() == before.as_data():
        return
    made_state_topic(copy)
    write_state(copy, _key(flow), known.as_data())


def _syncs(flow: Flow, origin: Session, copy: Session, keys: Collection[Key]) -> dict[Key, Sequence[Sync]]:
    """The latest syncs of these partitions, in their order; none of the legacy engine, which writes none."""
    if not keys or flow.engine == LEGACY:
        return {}
    session, name = copy if flow.untouched_source else origin, syncs_topic(flow)
    return _read_syncs(session, name, set(keys)) if name in list_topics(session) else {}


def _read_syncs(session: Session, name: str, keys: Collection[Key]) -> dict[Key, Sequence[Sync]]:
    place = (name, 0)  # It has one partition.
    starts, ends = start_offsets(session, [place]), end_offsets(session, [place], committed=True)
    if place not in starts or place not in ends:
        return {}
    found: dict[Key, list[Sync]] = {}

    def take(record: Any) -> None:
        """One sync."""
        sync = sync_of(record.key, record.value)
        if sync and sync[0] in keys:
            found.setdefault(sync[0], []).append(sync[1])

    visit(session, {place: max(starts[place], ends[place] - TRAIL)}, ends, take)
    return dict(found)
