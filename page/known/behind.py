"""Put the pictures of both ends of a flow together: whether it lives, and how far each topic is behind. Pure.

MirrorMaker keeps the time and the partition of a record. So a partition is behind by what lies between the newest
record at the source and the newest one at the target. Both ends are polled at times of their own: what the source got
after the target was asked cannot be held against the mirror, so the newest time at the source counts up to there only.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._logs.model import TOO_OLD
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow, remote_topic
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.records import heartbeats_topic
from page.known.newest import events_at
from page.known.picture import Picture

ALIVE, SILENT, UNKNOWN = "alive", "silent", "unknown"
IN_STEP, BEHIND, MISSING, FEWER, EMPTY = "in_step", "behind", "missing", "fewer_partitions", "nothing_mirrored"
NO_RECORD, NOT_COMPARABLE = "no_record", "not_comparable"
#: All states of a topic of a flow, the gravest first.
STATES = (MISSING, FEWER, EMPTY, BEHIND, UNKNOWN, NOT_COMPARABLE, IN_STEP, NO_RECORD)
#: Seconds without a heartbeat after which a flow is silent, and after which a topic is behind: heartbeats come every
#: second (emit.heartbeats.interval.seconds), and a rebalance of tasks takes some.
PATIENCE = 60
#: How far in the future a time may be, in ms: clocks differ.
_AHEAD = 60_000

_LOCAL = "LogAppendTime"
_WHY = {
    "append": "the target sets message.timestamp.type=LogAppendTime, so its times are those of the copies",
    "markers": "exactly_once writes markers into the target with a time of their own",
    "future": "the newest record at the target has a time in the future",
    "expired": "the target holds no record any more, so retention there is shorter or times are old",
    "old": "the brokers are older than Kafka 3.0, which do not tell the time of the newest record",
    "untold": "a leader did not tell the time of its newest record",
    "source": "the source was not seen",
    "target": "the target was not seen",
}


@dataclass(frozen=True)
class Beat:
    """The sign of life of a flow: its state, the time of the newest heartbeat (s since 1970) and its age then, why."""

    state: str
    at: float | None = None
    age: float | None = None
    why: str = ""


def beat_of(flow: Flow, target: Picture | None) -> Beat:
    """Return whether a flow lived when its target was last seen; UNKNOWN where nobody knows, with the reason."""
    if target is None:
        return Beat(UNKNOWN, why=_WHY["target"])
    if not flow.heartbeats:
        return Beat(UNKNOWN, why="this flow sends no heartbeats")
    found = target.newest.times.get(heartbeats_topic(flow.source), {})
    times = [one for one in found.values() if isinstance(one, int)]
    if not times:
        untold = [one for one in found.values() if one is not None]
        if untold:
            return Beat(UNKNOWN, why=_WHY["old" if TOO_OLD in untold else "untold"])
        return Beat(SILENT, why="no heartbeat of the source is in the target")
    at = max(times) / 1000
    age = max(0.0, target.newest.asked - at)
    return Beat(ALIVE if age <= PATIENCE else SILENT, at, age)


def event_age(flow: Flow, source: Picture | None, target: Picture | None) -> float | str | None:
    """Return how old (s) the newest event of the canary of a flow was when the target was asked.

    UNKNOWN where nobody told, SILENT where events stand at the source and none came, None where there are no events.
    """
    here = source.newest.times.get(events_at(flow, flow.source), {}) if source else {}
    there = target.newest.times.get(events_at(flow, flow.target), {}) if target else {}
    newest = _newest(there)
    if target is not None and newest is not None:
        return max(0.0, target.newest.asked - newest / 1000)
    if target is None or any(isinstance(one, str) for one in there.values()):
        return UNKNOWN if here or there else None
    return None if _newest(here) is None else SILENT


def rows_of(flow: Flow, source: Picture | None, target: Picture | None) -> list[dict[str, Any]]:
    """Return the topics of a flow: flow, topic, remote_topic, state, why, behind_seconds, partition and figures.

    C(behind_seconds) is that of the C(partition) that is most behind, None where it is not known; C(source_newest) and
    C(target_newest) are in ms since 1970. A picture is None where that end was not seen.
    """
    first = source or target
    covered = first.newest.covered.get(flow, {}) if first else {}
    return [
        {
            "flow": flow.pair,
            "engine": flow.engine,
            "topic": topic,
            "remote_topic": remote_topic(flow, topic),
            **_compared(flow, topic, source, target),
        }
        for topic in sorted(covered)
    ]


def _compared(flow: Flow, topic: str, source: Picture | None, target: Picture | None) -> dict[str, Any]:
    remote = remote_topic(flow, topic)
    here = source.newest.times.get(topic, {}) if source else {}
    there = target.newest.times.get(remote, {}) if target else {}
    known = {
        "source_partitions": len(here) if source else None,
        "target_partitions": len(there) if target else None,
        "source_newest": _newest(here),
        "target_newest": _newest(there),
    }
    found: dict[str, Any] = {"state": UNKNOWN, "why": "", "behind_seconds": None, "partition": None}
    if source is None or target is None:
        return {**found, **known, "why": _WHY["target" if source else "source"]}
    if not there:
        return {**found, **known, "state": MISSING}
    behind = {index: _behind(here[index], there[index], target.newest.asked * 1000) for index in here.keys() & there}
    wrong = _wrong(flow, remote, behind, target)
    if here.keys() - there.keys():
        found["state"] = FEWER
    elif wrong:
        found |= {"state": wrong[0], "why": _WHY[wrong[1]]}
    else:
        found |= _most(behind, _never_written(target, remote, behind))
    return {**found, **known}


def _behind(source: int | str | None, target: int | str | None, asked: float) -> float | str | None:
    """Return by how many seconds a partition is behind, or a word; None where the source has no record.

    C(asked) is when the target was asked; times are in ms since 1970.
    """
    if isinstance(source, str) or isinstance(target, str):
        return TOO_OLD if TOO_OLD in (source, target) else "untold"
    if target is not None and target > asked + _AHEAD:
        return "future"
    if source is None:
        return None
    if target is None:
        return EMPTY
    return max(0.0, (min(source, asked) - target) / 1000)


def _wrong(
    flow: Flow, remote: str, behind: Mapping[int, float | str | None], target: Picture
) -> tuple[str, str] | None:
    """Return the state of a topic whose times say nothing, and the key of why; None where they do."""
    if flow.exactly_once == "enabled":
        return NOT_COMPARABLE, "markers"
    if target.details.configs and target.details.configs.value(remote, "message.timestamp.type") == _LOCAL:
        return NOT_COMPARABLE, "append"
    words = set(behind.values())
    if "future" in words:
        return NOT_COMPARABLE, "future"
    return (UNKNOWN, "old") if TOO_OLD in words else (UNKNOWN, "untold") if "untold" in words else None


def _never_written(target: Picture, remote: str, behind: Mapping[int, float | str | None]) -> list[int]:
    """Return the partitions to which nothing was ever written, which tells them from those that retention emptied."""
    logs = target.logs.get(remote, {})
    empty = (index for index in sorted(behind) if behind[index] == EMPTY and index in logs)
    return [index for index in empty if not logs[index].missing and logs[index].end == 0]


def _most(behind: Mapping[int, float | str | None], never: Sequence[int]) -> dict[str, Any]:
    """Return the state of the partition that is most behind; of those in C(never) nothing was mirrored."""
    if never:
        return {"state": EMPTY, "partition": never[0]}
    seconds = {index: one for index, one in behind.items() if isinstance(one, float)}
    if not seconds:
        is_expired = EMPTY in behind.values()
        return {"state": NOT_COMPARABLE, "why": _WHY["expired"]} if is_expired else {"state": NO_RECORD}
    partition = max(sorted(seconds), key=lambda index: seconds[index])
    most = seconds[partition]
    return {"state": BEHIND if most > PATIENCE else IN_STEP, "behind_seconds": round(most, 3), "partition": partition}


def _newest(times: Mapping[int, int | str | None]) -> int | None:
    return max((one for one in times.values() if isinstance(one, int)), default=None)
