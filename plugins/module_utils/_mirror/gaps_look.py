# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Looks for records that a mirror can no longer copy, and keeps what the next look must know with the target.

Not with the source, where a deleted topic is forgotten and which a flow may have to leave untouched; and not in a file,
since the control node may be thrown away after each run.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, replace
from typing import Any

from .._client.connection import denied
from .._client.session import Session
from .._cluster.api import hidden_topics, topics_at
from .._cluster.snapshot import Key
from .._configs.api import TOPIC, describe_configs
from .._core.errors import RequestFailedError
from .._state.api import read_state, write_state
from .._state.form import of_known, parsed
from .._topics.api import made_state_topic
from . import gaps, status
from .api import cluster_id, committed_offsets, visit
from .flows import LEGACY, Flow, legacy_group, matches
from .gap import Gap
from .look import EXACTLY, at, edges, look_within, of_target, records_within
from .trail import Sync, sync_of, syncs_topic

#: Offsets from the end in which the syncs of partitions in doubt are looked for.
TRAIL = 200_000
_POLICY = "cleanup.policy"
#: Which release can read what looks keep.
_WRITER = "looked for gaps last"


def refuse_one_cluster(flow: Flow, origin: Session, copy: Session) -> None:
    """Raise SameClusterError where source and target are one cluster."""
    with at(f"source {flow.source}"):
        source_id = cluster_id(origin)
    with at(f"target {flow.target}"):
        status.refuse_one_cluster(flow, source_id, cluster_id(copy))


def kept(flow: Flow, copy: Session) -> gaps.Marks:
    """Return what the last look kept with the target."""
    with at(f"target {flow.target}"):
        return parsed(state_key(flow), read_state(copy, state_key(flow))[0], gaps.Marks.of_data, _WRITER)


def looked(
    flow: Flow, origin: Session, copy: Session, before: gaps.Marks, wait: float, sleep: Callable[[float], Any]
) -> gaps.Marks:
    """Return what is known after a look, which is repeated where the position of the mirror may only be old.

    wait -- seconds before it is repeated, for which C(sleep) is called.
    """
    began = now()
    seen = _with_records(flow, origin, _seen(flow, origin, copy, before), before)
    lost = _found(flow, origin, copy, before, seen)
    if wait and gaps.pending(lost, before):
        sleep(wait)
        later = _seen(flow, origin, copy, before)
        # The logs of the first look: what is deleted since then has not been waited for.
        first = {key: log for key, log in seen.logs.items() if key in later.logs}
        seen = replace(
            later, logs={**later.logs, **{key: _since(later, key, log) for key, log in first.items()}}, data=seen.data
        )
        lost = _found(flow, origin, copy, before, seen)
    return gaps.marks(seen, before, lost, began.at, began.clock, lambda topic: matches(flow, topic))


def now() -> gaps.Moment:
    """Return the time by the clock of this machine."""
    return gaps.Moment(time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), socket.gethostname())


def _seen(flow: Flow, origin: Session, copy: Session, before: gaps.Marks) -> status.Seen:
    """Look at a flow. Where all its topics are gone since the last look, there is no log, and positions still tell what
    was mirrored of them."""
    try:
        # What was settled follows from the lag.
        return look_within(flow, origin, copy, EXACTLY)
    except status.NothingToMirrorError as error:
        if error.fields["named"] or not before.partitions:
            raise
    with at(f"target {flow.target}"):
        seen = of_target(flow, copy, status.Seen({}))
    if flow.engine != LEGACY:
        return seen
    with at(f"source {flow.source}"):
        return replace(seen, positions=committed_offsets(origin, legacy_group(flow)))


def keep(flow: Flow, copy: Session, known: gaps.Marks, before: gaps.Marks) -> bool:
    """Keep the marks for the next look, and when this one was; return whether the target has them now.

    C(before) is what it had. Where another look, or one who forgets, wrote in between, that stays: it is later than
    what this look began with, and the next look finds a gap again. The time comes last: of a run that is killed in
    between, an older look is told than the marks are of.
    """
    with at(f"target {flow.target}"):
        made_state_topic(copy)
        if kept(flow, copy).as_data() != before.as_data():
            return False
        if known.as_data() != before.as_data():
            write_state(copy, state_key(flow), known.as_data())
        if known.looked:
            write_state(copy, _time_key(flow), asdict(known.looked))
    return True


def kept_with_time(flow: Flow, copy: Session) -> gaps.Marks:
    """Return what the last look kept with the target, with the time of that look where it is known."""
    with at(f"target {flow.target}"):
        # First: marks that are written in between are younger than is told.
        data = read_state(copy, _time_key(flow))[0]
        looked_at = parsed(_time_key(flow), data, lambda kept: of_known(gaps.Moment, kept), _WRITER) if data else None
    return replace(kept(flow, copy), looked=looked_at)


def _found(flow: Flow, origin: Session, copy: Session, before: gaps.Marks, seen: status.Seen) -> list[Gap]:
    _refuse_hidden(flow, origin, before, seen)
    doubtful = gaps.in_doubt(seen, before)
    syncs = syncs_of(flow, origin, copy, [*doubtful, *gaps.vanished(seen, before)])
    policies = _policies(origin, sorted({topic for topic, _number in doubtful}))
    return gaps.gaps(seen, before, syncs, lambda topic: matches(flow, topic), policies)


def _with_records(flow: Flow, origin: Session, seen: status.Seen, before: gaps.Marks) -> status.Seen:
    """The look with the records that it reads above the positions of partitions that are behind."""
    with at(f"source {flow.source}"):
        return replace(seen, data=records_within(origin, gaps.unread(seen, before)))


def _policies(origin: Session, topics: Sequence[str]) -> dict[str, str]:
    """C(cleanup.policy) of these topics; without those that the caller may not read or that are gone."""
    try:
        return _policies_of(origin, topics)
    except RequestFailedError:
        pass  # Which topics the caller may not read is found one by one.
    policies: dict[str, str] = {}
    for topic in topics:
        with contextlib.suppress(RequestFailedError):
            policies |= _policies_of(origin, [topic])
    return policies


def _policies_of(origin: Session, topics: Sequence[str]) -> dict[str, str]:
    if not topics:
        return {}
    known = describe_configs(origin, TOPIC, dict.fromkeys(topics, (_POLICY,)))
    return {topic: values[_POLICY].value or "" for topic, values in known.items() if _POLICY in values}


def _refuse_hidden(flow: Flow, origin: Session, before: gaps.Marks, seen: status.Seen) -> None:
    """Raise RequestFailedError for a topic that the caller may not see: it would pass for one that was deleted."""
    gone = sorted(topic for topic in gaps.gone_topics(seen, before) if matches(flow, topic))
    with at(f"source {flow.source}"):
        if hidden := hidden_topics(origin, gone):
            code = "TOPIC_AUTHORIZATION_FAILED"
            why = denied(origin.connection, "list topics", code, hidden[0])
            raise RequestFailedError("look for gaps", hidden[0], code, why)


def _since(later: status.Seen, key: Key, log: status.Log) -> status.Log:
    """The log of a partition from the start that the first look saw to the end of the later one."""
    return replace(later.logs[key], start=log.start)


def state_key(flow: Flow) -> str:
    return f"mirror_gaps {flow.pair} {flow.engine}"


def _time_key(flow: Flow) -> str:
    return f"mirror_looked {flow.pair} {flow.engine}"


def syncs_of(flow: Flow, origin: Session, copy: Session, keys: Collection[Key]) -> dict[Key, Sequence[Sync]]:
    """The latest syncs of these partitions, in their order; none of the legacy engine, which writes none."""
    if not keys or flow.engine == LEGACY:
        return {}
    session, name = copy if flow.untouched_source else origin, syncs_topic(flow)
    return _read_syncs(session, name, set(keys))


def _read_syncs(session: Session, name: str, keys: Collection[Key]) -> dict[Key, Sequence[Sync]]:
    place = (name, 0)  # It has one partition.
    log = edges(session, topics_at(session, None, [name])).get(place)
    if log is None or log.start is None or log.end is None:
        return {}
    syncs: dict[Key, list[Sync]] = {}

    def take(record: Any) -> None:
        """One sync."""
        sync = sync_of(record.key, record.value)
        if sync and sync[0] in keys:
            syncs.setdefault(sync[0], []).append(sync[1])

    visit(session, {place: max(log.start, log.end - TRAIL)}, {place: log.end}, take)
    return dict(syncs)
