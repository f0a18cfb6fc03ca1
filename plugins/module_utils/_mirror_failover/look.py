# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Reads of both clusters what a planned failover would find.

The copies are read first and last: below the first ends are only records that the source had when it was looked at
after that, which is what tells that a group has read them all.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from typing import Any

from .._client.session import Session
from .._cluster.api import topics_at
from .._cluster.snapshot import Key
from .._groups.api import list_groups
from .._groups.look import described
from .._groups.model import Group, Offsets, asked_partitions
from .._logs.api import leaders_of, log_ends
from .._mirror import gaps
from .._mirror.api import visit
from .._mirror.flows import Flow, remote_topic, source_topic, workers_group
from .._mirror.gaps_look import kept, looked, refuse_one_cluster, syncs_of
from .._mirror.look import EXACTLY, FLOW_SPEC, GAPS_SPEC, at, edges, look_within, spans
from .._mirror.records import checkpoint_of, checkpoints_topic
from .._mirror.status import Log, chosen
from .model import Checkpoint, Look, Reader

#: Options of what looks at a failover and of what takes its steps (doc fragment streamops.kafka._mirror_flow.failover).
FAILOVER_SPEC: dict[str, dict[str, Any]] = {
    **FLOW_SPEC,
    **GAPS_SPEC,
    "source": {"type": "str", "required": True},
    "target": {"type": "str", "required": True},
    "groups": {"type": "list", "elements": "str", "default": [".*"]},
    "groups_exclude": {"type": "list", "elements": "str", "default": []},
    "exactly_once": {"type": "str", "choices": ["disabled", "preparing", "enabled"], "default": "disabled"},
    "watch_seconds": {"type": "int", "default": 5},
}
#: Options of what stops the writers of the source (doc fragment streamops.kafka._mirror_flow.fence).
FENCE_SPEC: dict[str, dict[str, Any]] = {
    "writers": {"type": "list", "elements": "str", "default": []},
    "writers_stopped": {"type": "bool", "default": False},
}
#: Options of what can do without the source (doc fragment streamops.kafka._mirror_flow.lost).
LOST_SPEC: dict[str, dict[str, Any]] = {"source_lost": {"type": "bool", "default": False}}
#: Offsets from the end of the topic of checkpoints that are read; it is compacted.
_CHECKPOINTS = 1_000_000


def look_at(
    flow: Flow, origin: Session, copy: Session, watch: float, confirm: float, sleep: Callable[[float], Any]
) -> Look:
    """Look at a flow in open sessions of its source and its target.

    watch -- seconds, at least, for which the ends of the source are watched for writers. confirm -- seconds after which
    a gap that is new is looked at again. Raises what the look of mirror_status raises.
    """
    here, there = f"source {flow.source}", f"target {flow.target}"
    refuse_one_cluster(flow, origin, copy)
    with at(there):
        copied_before = copies_of(flow, copy)
    known = looked(flow, origin, copy, kept(flow, copy), confirm, sleep)
    with at(here):
        topics = chosen(flow, topics_at(origin, None, None))
        began = time.monotonic()
        tops_before = tops_of(origin, topics, committed=False)
    # The lag is what a drain has to copy.
    seen = look_within(flow, origin, copy, EXACTLY)
    syncs = syncs_of(flow, origin, copy, seen.logs)
    readers, hidden = _readers(flow, origin, copy, topics)
    with at(there):
        checkpoints = checkpoints_of(flow, copy)
    sleep(max(0.0, watch - (time.monotonic() - began)))
    with at(here):
        # Before the other ends: what is written in between is no open transaction.
        ends_after = tops_of(origin, topics, committed=True)
        tops_after = tops_of(origin, topics, committed=False)
        seconds = time.monotonic() - began
    with at(there):
        copies = copies_of(flow, copy)
    return Look(
        seen=seen,
        copies=copies,
        copied_before={key: log.end for key, log in copied_before.items() if log.end is not None},
        tops_before=tops_before,
        tops_after=tops_after,
        ends_after=ends_after,
        seconds=seconds,
        syncs=syncs,
        checkpoints=checkpoints,
        readers=readers,
        gaps=gaps.told(known),
        hidden=hidden,
        only_there=sorted({remote_topic(flow, name) for name, _number in copies if name not in topics}),
    )


def copies_of(flow: Flow, copy: Session) -> dict[Key, Log]:
    """Return the logs of the copies that the target has, by partition of the source."""
    existing = topics_at(copy, None, None)
    names = {name: source for name in existing if (source := source_topic(flow, name)) is not None}
    logs = edges(copy, {name: existing[name] for name in names})
    return {(names[name], number): log for (name, number), log in logs.items()}


def tops_of(origin: Session, topics: Collection[str], committed: bool) -> dict[Key, int]:
    """Return the ends of these topics of the source, as far as brokers tell them; those that are gone are left out."""
    leaders = leaders_of(origin, topics)
    logs = log_ends(origin, leaders, leaders.of, committed=committed)
    return {key: log.end for key, log in logs.items() if not log.missing}


def _readers(flow: Flow, origin: Session, copy: Session, topics: Collection[str]) -> tuple[list[Reader], list[str]]:
    """Return the groups of the source that read these topics, and which brokers of which end did not tell theirs."""
    with at(f"source {flow.source}"):
        listed, silent = list_groups(origin)
        groups, here, offsets = described(origin, listed)
    reading = []
    for group in here:
        read, committed = groups[group.name], offsets[group.name]
        names = {name for name, _number in asked_partitions(read, committed)}
        # Of a group that does not tell it nobody knows that it reads none of them.
        if read.error or committed.error or names & set(topics):
            reading.append(group)
    with at(f"target {flow.target}"):
        listed_there, silent_there = list_groups(copy)
        wanted = {group.name for group in reading}
        groups_there, present, offsets_there = described(
            copy, [group for group in listed_there if group.name in wanted]
        )
    found = {group.name: (groups_there[group.name], offsets_there[group.name]) for group in present}
    readers = [
        Reader(groups[group.name], offsets[group.name], *found.get(group.name, (None, Offsets()))) for group in reading
    ]
    return readers, [*hidden_brokers(flow.source, silent), *hidden_brokers(flow.target, silent_there)]


def hidden_brokers(cluster: str, silent: Mapping[int, str]) -> list[str]:
    """Return which brokers of a cluster did not tell their groups, with why."""
    return [f"broker {broker} of {cluster} ({why})" for broker, why in silent.items()]


def mirrors_of(flow: Flow, cluster: str, groups: Mapping[str, Group]) -> tuple[int, list[str]]:
    """Return how many mirrors run a flow into a cluster, by the groups there, and why that is not known."""
    group = groups.get(workers_group(flow))
    if group is None or group.vanished:
        return 0, []
    return len(group.members), [f"group {workers_group(flow)} of {cluster} ({group.error})"] if group.error else []


def running(flow: Flow, target: Session) -> tuple[int, list[str]]:
    """Return how many mirrors run a flow now, whatever the inventory says, and why that is not known."""
    everything, silent = list_groups(target)
    listed = [group for group in everything if group.name == workers_group(flow)]
    groups, _present, _offsets = described(target, listed, with_offsets=False)
    number, unknown = mirrors_of(flow, flow.target, groups)
    return number, [*hidden_brokers(flow.target, silent), *unknown]


def checkpoints_of(flow: Flow, copy: Session) -> dict[tuple[str, Key], Checkpoint]:
    """Return the latest checkpoint of each group and partition of the source."""
    name = checkpoints_topic(flow.source)
    logs = spans(edges(copy, topics_at(copy, None, [name])))
    latest: dict[tuple[str, Key], Checkpoint] = {}

    def take(record: Any) -> None:
        """Keep a checkpoint; the later ones come later."""
        if (read := checkpoint_of(record.key, record.value)) is None:
            return
        group, (topic, number), upstream, downstream = read
        if (source := source_topic(flow, topic)) is not None:
            latest[group, (source, number)] = Checkpoint(upstream, downstream)

    starts = {key: max(start, end - _CHECKPOINTS) for key, (start, end) in logs.items()}
    visit(copy, starts, {key: end for key, (_start, end) in logs.items()}, take)
    return latest
