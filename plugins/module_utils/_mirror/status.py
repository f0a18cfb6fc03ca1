# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""How far a mirror is behind: from the logs of the source and what the mirror says of itself to a verdict. Pure.

A mirror's *position* in a partition is the next offset that it will mirror. Its *frontier* is the offset after the last
committed record below the end: what stands above, the markers of transactions and what aborted ones wrote, is never
mirrored, so no position needs to pass it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._cluster.snapshot import Key
from .._core.errors import StreamopsError
from .._core.names import capped
from .._core.progress import duration
from .flows import Flow, matches, offsets_topic, remote_topic
from .records import heartbeats_topic

OBSERVED, ALIVE, CAUGHT_UP = "observed", "alive", "caught_up"
#: The options that judge heartbeats, in seconds: the age of the latest, and a time since 1970 that it must be after.
HEARTBEATS = ("max_heartbeat_age", "heartbeat_since")
#: A pattern of these characters only is meant as the name of a topic (Kafka's legal characters of a name).
_NAME = re.compile(r"[A-Za-z0-9._-]+")


class SameClusterError(StreamopsError):
    """Source and target are one cluster."""


class MirrorNotBegunError(StreamopsError):
    """The mirror has never written down how far it is; MirrorMaker makes its topics when it starts."""

    passing = True


class NothingToMirrorError(StreamopsError):
    """The flow covers no topic, or not one that it names (C(named) then); a pattern may find its topics later."""


@dataclass(frozen=True)
class Log:
    """A partition of the source: its first offset and its last stable offset, which is the end without transactions.

    None where no broker told: it has no leader, or its leader did not answer.
    """

    start: int | None
    end: int | None


@dataclass(frozen=True)
class Seen:
    """What one look found.

    C(frontiers) and C(tops) (ends with open transactions) are of those partitions only for which they were asked.
    C(targets) are the target's topics with their numbers of partitions; ages are in ms, None where there is nothing.
    """

    logs: Mapping[Key, Log]
    positions: Mapping[Key, int] = field(default_factory=dict)
    frontiers: Mapping[Key, int] = field(default_factory=dict)
    tops: Mapping[Key, int] = field(default_factory=dict)
    targets: Mapping[str, int] = field(default_factory=dict)
    heartbeat_age_ms: int | None = None
    checkpoint_age_ms: int | None = None
    #: The ids of the source's topics, as far as its brokers tell them.
    ids: Mapping[str, str] = field(default_factory=dict)
    #: Why tasks of the flow's connectors failed, by task.
    failed: Mapping[str, str] = field(default_factory=dict)
    #: Topics of tunings by the name of the end that has them.
    tuned: Mapping[str, Sequence[str]] = field(default_factory=dict)
    #: The offset in MirrorMaker 2's own topic at which it wrote each position down; none of the legacy engine.
    flushes: Mapping[Key, int] = field(default_factory=dict)
    #: Ranges of offsets (the first, the last) that the look read as committed records, of those partitions only for
    #: which it was asked.
    data: Mapping[Key, Sequence[tuple[int, int]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Pulse:
    """How young the latest heartbeat must be: its age in seconds, and a time since 1970 that it is after; 0: any."""

    max_age: float = 0
    since: float = 0

    @classmethod
    def of(cls, params: Mapping[str, Any]) -> Pulse:
        """Return what the parameters of a module ask for."""
        return cls(params["max_heartbeat_age"], params["heartbeat_since"])


def refuse_one_cluster(flow: Flow, source_id: str, target_id: str) -> None:
    """Raise SameClusterError when both connections lead to one cluster: whatever it holds, it mirrors nothing."""
    if source_id == target_id:
        raise SameClusterError(
            f"mirror {flow.pair}: source and target are the same cluster (both have the cluster id "
            f"{source_id}). Let source_connection name brokers of {flow.source} and bootstrap_servers brokers of "
            f"{flow.target}. Nothing was judged.",
            cluster_id=source_id,
        )


def chosen(flow: Flow, existing: Collection[str]) -> list[str]:
    """The topics of the source that the flow covers, sorted; NothingToMirrorError when that cannot be what is meant.

    A pattern that is a plain name must find its topic; of other patterns one at least must find something.
    """
    found = {pattern: [topic for topic in existing if re.fullmatch(pattern, topic)] for pattern in flow.topics}
    covered = sorted({topic for topics in found.values() for topic in topics if matches(flow, topic)})
    wrong = []
    for pattern, topics in found.items():
        if not _NAME.fullmatch(pattern) or set(topics) & set(covered):
            continue
        what = "is never mirrored: excluded, internal, or itself from the target" if topics else "does not exist"
        wrong.append(f"topic {pattern} {what}{'' if topics else f' in {flow.source}'}")
    named = bool(wrong)
    if not named and not covered:
        wrong = [f"no topic of {flow.source} matches {', '.join(flow.topics)}"]
    if wrong:
        raise NothingToMirrorError(
            f"mirror {flow.pair}: {capped(wrong)}. A mirror of nothing is never called caught up: correct "
            f"topics or topics_exclude, or create the topics in {flow.source}. Nothing was changed.",
            topics=wrong,
            named=named,
        )
    return covered


def not_begun(flow: Flow) -> MirrorNotBegunError:
    """The error of a target that knows nothing of this mirror."""
    topic = offsets_topic(flow)
    return MirrorNotBegunError(
        f"mirror {flow.pair}: topic {topic} does not exist in {flow.target}, so MirrorMaker has never run for "
        f"this flow. Check that source is the alias in its properties ({flow.source}), that the flow is enabled, that "
        "the mirrors run, and that the user asking may describe the topic. Nothing was changed.",
        topic=topic,
    )


def gap(log: Log, position: int | None) -> int:
    """Offsets between the position and the end, markers and aborted records included; 0 without an end."""
    if log.start is None or log.end is None:
        return 0
    return max(0, log.end - reached(log, position))


def reached(log: Log, position: int | None) -> int:
    """The next offset to mirror: what retention took away before it was mirrored is not waited for."""
    start = log.start or 0
    return start if position is None else max(start, position)


def suspects(seen: Seen) -> list[Key]:
    """The partitions that look behind, nearest first: of these the frontier is worth asking for."""
    behind = {key: gap(log, seen.positions.get(key)) for key, log in seen.logs.items()}
    return sorted((key for key, offsets in behind.items() if offsets), key=lambda key: (behind[key], key))


def beyond(logs: Mapping[Key, Log], positions: Mapping[Key, int]) -> list[Key]:
    """The partitions whose position is greater than the end that was seen: since then mirrored, or made anew."""
    ends = {key: log.end for key, log in logs.items()}
    return [key for key, end in ends.items() if end is not None and positions.get(key, 0) > end]


def lag(seen: Seen, key: Key) -> int:
    """Records that a partition is behind, at most: an offset that compaction emptied counts too."""
    log, position = seen.logs[key], seen.positions.get(key)
    if made_anew(seen, key):
        position = None
    open_ = gap(log, position)
    if not open_ or key not in seen.frontiers:
        return open_
    return max(0, min(seen.frontiers[key] - reached(log, position), open_))


def made_anew(seen: Seen, key: Key) -> bool:
    """Return whether the position lies beyond all that the log holds, so that it belongs to a log that is gone."""
    return key in seen.tops and seen.positions.get(key, 0) > seen.tops[key]


def describe(flow: Flow, seen: Seen) -> dict[str, Any]:
    """A look as the module returns it, judged by nobody yet."""
    by_topic: dict[str, list[Key]] = {}
    for key in sorted(seen.logs):
        by_topic.setdefault(key[0], []).append(key)
    topics = [_topic(flow, seen, name, keys) for name, keys in by_topic.items()]
    done = sum(_done(topic, one) for topic in topics for one in topic["partitions"])
    return {
        "flow": flow.pair,
        "topics": topics,
        "lag": sum(topic["lag"] for topic in topics),
        "partitions_total": len(seen.logs),
        "partitions_done": done,
        "heartbeat_age_ms": seen.heartbeat_age_ms,
        "checkpoint_age_ms": seen.checkpoint_age_ms,
        "tuning_topics": {end: list(names) for end, names in seen.tuned.items() if names},
    }


def judged(flow: Flow, seen: Seen, max_lag: int, pulse: Pulse, now: float) -> dict[str, Any]:
    """A look as the module returns it: what it found, C(caught_up) and C(problems), what else is not as it should be.

    C(max_lag) is in records of the whole flow, C(now) in seconds since 1970.
    """
    found = describe(flow, seen)
    problems = [
        *_of_topics(found["topics"], flow),
        *_of_partitions(seen, flow),
        *_of_tasks(seen),
        *_of_heartbeats(flow, seen.heartbeat_age_ms, pulse, now),
    ]
    return {**found, "problems": problems, "caught_up": found["lag"] <= max_lag and not problems}


def life(flow: Flow, heartbeat_age_ms: int | None, pulse: Pulse, now: float) -> dict[str, Any]:
    """Return the module's result for a flow that is only asked whether it runs; C(now) as for C(judged)."""
    problems = list(_of_heartbeats(flow, heartbeat_age_ms, pulse, now))
    return {"flow": flow.pair, "heartbeat_age_ms": heartbeat_age_ms, "problems": problems, "alive": not problems}


def _topic(flow: Flow, seen: Seen, name: str, keys: Iterable[Key]) -> dict[str, Any]:
    partitions = [
        {
            "partition": key[1],
            "source_end": seen.logs[key].end,
            "position": seen.positions.get(key),
            "lag": lag(seen, key),
        }
        for key in keys
    ]
    target = remote_topic(flow, name)
    return {
        "source": name,
        "target": target,
        "target_partitions": seen.targets.get(target),
        "partitions": partitions,
        "lag": sum(partition["lag"] for partition in partitions),
    }


def _done(topic: Mapping[str, Any], partition: Mapping[str, Any]) -> bool:
    there = (topic["target_partitions"] or 0) > partition["partition"]
    return there and partition["source_end"] is not None and not partition["lag"]


def _of_topics(topics: Iterable[Mapping[str, Any]], flow: Flow) -> Iterable[str]:
    missing = [topic["target"] for topic in topics if topic["target_partitions"] is None]
    if missing:
        yield f"not in {flow.target}: {capped(missing, 5)}"
    small = [
        f"{topic['target']} ({topic['target_partitions']} of {len(topic['partitions'])})"
        for topic in topics
        if topic["target_partitions"] is not None and topic["target_partitions"] < len(topic["partitions"])
    ]
    if small:
        yield f"fewer partitions in {flow.target} than in {flow.source}: {capped(small, 5)}"


def _of_partitions(seen: Seen, flow: Flow) -> Iterable[str]:
    silent = [f"{topic}-{number}" for (topic, number), log in sorted(seen.logs.items()) if None in (log.start, log.end)]
    if silent:
        yield (
            f"no broker of {flow.source} told where these end, without a leader or with one that did not answer: "
            f"{capped(silent, 5)}"
        )
    anew = [
        f"{key[0]}-{key[1]} ({seen.positions[key]}, end {seen.tops[key]})"
        for key in sorted(seen.tops)
        if made_anew(seen, key)
    ]
    if anew:
        yield f"the mirror stands beyond the end of {capped(anew, 5)}: made anew in {flow.source}, or cut short"


def _of_tasks(seen: Seen) -> Iterable[str]:
    failed = [f"{task} failed: {why}" for task, why in sorted(seen.failed.items())]
    if failed:
        yield f"{capped(failed, 3)}; a failed task does nothing until its mirror is stopped and started"


def _of_heartbeats(flow: Flow, age_ms: int | None, pulse: Pulse, now: float) -> Iterable[str]:
    if not pulse.max_age and not pulse.since:
        return
    if age_ms is None:
        yield f"no heartbeat of {flow.source} ever came through (topic {heartbeats_topic(flow.source)})"
    elif pulse.max_age and age_ms > pulse.max_age * 1000:
        yield f"no heartbeat came through for longer than {duration(pulse.max_age)}"
    elif pulse.since and now - age_ms / 1000 < pulse.since:
        yield f"no heartbeat came through since {_clock(pulse.since)}"


def _clock(at: float) -> str:
    """The time of the day of a time in seconds since 1970."""
    minutes, seconds = divmod(int(at) % 86400, 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02} UTC"
