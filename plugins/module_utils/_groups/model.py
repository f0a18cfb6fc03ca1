# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Groups as plain data: who is in them, how far they have read, and what that says about their lag."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._cluster.snapshot import Key
from .._logs.model import NO_ANSWER, TOPIC_DELETED, Log

CLASSIC, CONSUMER, SHARE, STREAMS = "classic", "consumer", "share", "streams"
TYPES = (CLASSIC, CONSUMER, SHARE, STREAMS)

#: States of a position, from the best to the worst.
KNOWN, NO_OFFSET, BEFORE_START, BEYOND_END = "known", "no_offset", "before_start", "beyond_end"


@dataclass(frozen=True)
class Listed:
    """A group as its coordinator lists it. C(coordinator) is the id of a broker."""

    name: str
    type: str
    state: str
    protocol: str
    coordinator: int


@dataclass(frozen=True)
class Member:
    """A member of a group. C(assigned) has partitions by topic, empty where the protocol does not tell them."""

    id: str
    client_id: str
    host: str
    instance_id: str | None = None
    assigned: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.client_id or self.id} at {self.host}"


@dataclass(frozen=True)
class Group:
    """A described group. C(error) says why it could not be described; C(vanished): it was deleted meanwhile."""

    listed: Listed
    state: str = ""
    members: tuple[Member, ...] = ()
    error: str | None = None
    vanished: bool = False


@dataclass(frozen=True)
class Offset:
    """How far a group is in a partition: the next offset to read, None for none. C(lag): as the broker counts it.

    Only share groups have such a lag: records between their start offset and the end that are not yet acknowledged.
    """

    next: int | None
    lag: int | None = None
    error: str = ""


@dataclass(frozen=True)
class Offsets:
    """The offsets of a group by partition; C(error) says why they could not be read."""

    of: Mapping[Key, Offset] = field(default_factory=dict)
    error: str | None = None


def listed_of(entries: Iterable[Any], coordinator: int) -> list[Listed]:
    """The groups in a broker's answer to ListGroups; a group without a type is classic (before Kafka 3.8)."""
    return [
        Listed(one.group_id, (one.group_type or CLASSIC).lower(), one.group_state, one.protocol_type, coordinator)
        for one in entries
    ]


def asked_partitions(group: Group, offsets: Offsets) -> set[Key]:
    """The partitions that say something about a group: with an offset of it, or assigned to one of its members."""
    assigned = {(topic, one) for member in group.members for topic, some in member.assigned.items() for one in some}
    return assigned | set(offsets.of)


def position(index: int, offset: Offset, log: Log) -> dict[str, Any]:
    """Return how far a group is in one partition; C(lag) in records, None where it is unknown.

    Offsets are counted, so records that compaction removed and markers of transactions count too, as in Kafka's own
    tools.
    """
    known = not log.missing
    found: dict[str, Any] = {
        "partition": index,
        "committed": offset.next,
        "start": log.start if known else None,
        "end": log.end if known else None,
        "lag": None,
        "state": log.missing or KNOWN,
    }
    if offset.error:
        found["state"] = NO_ANSWER
        return found
    if not known:
        return found
    if offset.next is None:
        # The lag depends on auto.offset.reset of the clients: all that is there (earliest), or nothing (latest).
        return dict(found, state=NO_OFFSET, lag_from_earliest=log.end - log.start)
    if offset.next > log.end:
        return dict(found, state=BEYOND_END, beyond=offset.next - log.end)
    lag = log.end - offset.next if offset.lag is None else offset.lag
    found["lag"] = None if lag < 0 else lag
    if offset.next < log.start:
        return dict(found, state=BEFORE_START, lost=log.start - offset.next)
    return found


def topics_of(group: Group, offsets: Offsets, logs: Mapping[str, Mapping[int, Log]]) -> list[dict[str, Any]]:
    """The positions of a group by topic with the lag of each topic, in records.

    C(logs) has all partitions of a topic: one without an offset is not read yet, which no lag of another one shows.
    """
    found = []
    for topic in sorted({topic for topic, _index in asked_partitions(group, offsets)} & logs.keys()):
        some = [
            position(index, offsets.of.get((topic, index), Offset(None)), log)
            for index, log in sorted(logs[topic].items())
        ]
        found.append({"name": topic, **totals(some), "partitions": some})
    return found


def by_topic(logs: Mapping[Key, Log]) -> dict[str, dict[int, Log]]:
    """The same logs, by topic and partition."""
    found: dict[str, dict[int, Log]] = {}
    for (topic, index), log in logs.items():
        found.setdefault(topic, {})[index] = log
    return found


def totals(positions: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The lag of all positions together (records), and how many have an unknown one."""
    lags = [one["lag"] for one in positions]
    return {"lag": sum(lag for lag in lags if lag is not None), "lag_unknown": lags.count(None)}


def left(position: Mapping[str, Any]) -> int | None:
    """The records that a group has before it in a partition, None where that is unknown.

    Where it has never committed, the whole log counts: it may have to read all of it. Nothing is left to read of a
    deleted topic, or behind the end of a log.
    """
    if position["state"] == NO_OFFSET:
        return int(position["lag_from_earliest"])
    if position["state"] in (TOPIC_DELETED, BEYOND_END):
        return 0
    return None if position["lag"] is None else int(position["lag"])


def behind(positions: Iterable[Mapping[str, Any]]) -> int | None:
    """The records before a group in all these partitions; None where one of them is unknown, since a sum without it
    would fall and rise with what is known."""
    lags = [left(one) for one in positions]
    return None if None in lags else sum(lag for lag in lags if lag is not None)


def together(groups: Sequence[Mapping[str, Any]], silent: Mapping[int, str]) -> dict[str, Any]:
    """Groups as C(shown) has them, with their lag in all (records) and the brokers that did not tell theirs, by id."""
    return {
        "groups": groups,
        "silent_brokers": [{"id": broker, "why": why} for broker, why in sorted(silent.items())],
        "complete": not silent and not any(one["error"] for one in groups),
        "lag": sum(one.get("lag") or 0 for one in groups),
        "lag_unknown": sum(one.get("lag_unknown") or 0 for one in groups),
    }


def shown(
    group: Group, offsets: Offsets | None, logs: Mapping[str, Mapping[int, Log]], members: bool
) -> dict[str, Any]:
    """A group as modules return it; C(offsets) None where they were not asked for."""
    found: dict[str, Any] = {
        "name": group.listed.name,
        "type": group.listed.type,
        "protocol_type": group.listed.protocol,
        "state": group.state or group.listed.state,
        "coordinator": group.listed.coordinator,
        "member_count": len(group.members),
        "error": group.error or (offsets.error if offsets else None),
    }
    if members:
        found["members"] = [_member(one) for one in group.members]
    if offsets is not None:
        topics = topics_of(group, offsets, logs)
        positions = [one for topic in topics for one in topic["partitions"]]
        found |= {**totals(positions), "behind": behind(positions), "topics": topics}
        if found["error"]:
            found["lag"] = found["behind"] = None
    return found


def _member(member: Member) -> dict[str, Any]:
    return {
        "id": member.id,
        "client_id": member.client_id,
        "host": member.host,
        "instance_id": member.instance_id,
        "assignment": [{"topic": topic, "partitions": list(some)} for topic, some in sorted(member.assigned.items())],
    }
