# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Offsets of a group, the deciding half: where it is, and where it is to be, become moves or reasons against them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._cluster.snapshot import Key
from .._core.diff import Change
from .._core.names import capped
from .._core.times import UnclearTimeError, milliseconds
from .._logs.model import Log
from .model import SHARE, Group, Offset

#: Where offsets may go: both ends of the log, the first record from a time on, a number, a distance, what a file or
#: another group has, and away.
EARLIEST, LATEST, TIMESTAMP, OFFSET, SHIFT, FILE, COPY, NONE = (
    "earliest",
    "latest",
    "timestamp",
    "offset",
    "shift",
    "file",
    "group",
    "none",
)
GOALS = (EARLIEST, LATEST, TIMESTAMP, OFFSET, SHIFT, FILE, COPY, NONE)
#: What is wrong with a partition in one of these states, and what to do.
WHY = {
    "topic_deleted": "does not exist. Take it out, or correct its name.",
    "not_allowed": "may not be seen by this user. Give it the right Describe on the topic.",
    "no_answer": "has no leader, or its leader did not answer. Bring its brokers back and run again.",
}


@dataclass(frozen=True)
class Move:
    """A move of one offset; None: there is none, before or after.

    C(skipped) records will not be read any more, C(read_again) will be read again; None where it was not known how far
    the group had read. Both count offsets that the log still holds. C(clipped): what was asked for, where it is not in
    the log.
    """

    topic: str
    partition: int
    before: int | None
    after: int | None
    skipped: int | None = None
    read_again: int | None = None
    clipped: int | None = None

    @property
    def key(self) -> Key:
        """Its partition."""
        return self.topic, self.partition

    def shown(self) -> dict[str, Any]:
        """The move as a module returns it."""
        return {
            "topic": self.topic,
            "partition": self.partition,
            "from": self.before,
            "to": self.after,
            "records_skipped": self.skipped,
            "read_again": self.read_again,
            "clipped": self.clipped,
        }


@dataclass(frozen=True)
class OffsetPlan:
    """The moves of a group; C(violations) are all reasons against them, and then nothing may be moved."""

    moves: tuple[Move, ...] = ()
    unchanged: int = 0
    violations: tuple[str, ...] = ()


@dataclass(frozen=True)
class Goal:
    """Where the offsets are to go. C(value) is the offset or the distance; C(offsets) what a file or a group has."""

    to: str
    value: int = 0
    offsets: Mapping[Key, int] = field(default_factory=dict)
    clip: bool = False


def label(key: Key) -> str:
    """A partition for people, as C(orders-3)."""
    return f"{key[0]}-{key[1]}"


def parse_topics(items: Iterable[str]) -> tuple[dict[str, frozenset[int] | None], list[str]]:
    """The topics of a list of C(name) or C(name:0,1), with None for all partitions, and what is wrong with it."""
    found: dict[str, frozenset[int] | None] = {}
    violations = []
    for item in items:
        name, colon, numbers = item.strip().partition(":")
        parts = [one.strip() for one in numbers.split(",")] if colon else []
        if not name or not all(one.isascii() and one.isdigit() for one in parts):
            violations.append(f"topics: {item!r} is neither a name nor a name with partitions as in orders:0,1.")
        elif name in found:
            violations.append(f"topics: {name} is named twice. Name it once, with all its partitions.")
        else:
            found[name] = frozenset(map(int, parts)) if colon else None
    return found, violations


def partitions_by_topic(keys: Iterable[Key]) -> dict[str, list[int]]:
    """Return the partitions of each topic that exists."""
    found: dict[str, list[int]] = {}
    for topic, index in sorted(keys):
        found.setdefault(topic, []).append(index)
    return found


def when_of(params: Mapping[str, Any], now: float) -> tuple[int, list[str]]:
    """Return the wanted time in ms since 1970, and what is wrong with it; C(now) is in seconds."""
    text = str(params["timestamp"]).strip()
    try:
        wanted = milliseconds(text, "timestamp")
    except UnclearTimeError as unclear:
        return 0, [str(unclear)]
    if wanted > now * 1000 and not params["clip"]:
        ahead = wanted / 1000 - now
        end = "to: latest" if "to" in params else "delete_before: end"
        return 0, [f"timestamp: {text} is {ahead:.0f} s in the future. For the end of the log choose {end}."]
    return wanted, []


def choose(
    topics: Mapping[str, frozenset[int] | None] | None, known: Mapping[str, Sequence[int]], own: Iterable[Key]
) -> tuple[set[Key], list[str]]:
    """The partitions to move: those of the named topics, without any all that the group has an offset in (C(own)).

    C(known) has the partitions of the topics that exist. Also what is wrong with the names.
    """
    if topics is None:
        return set(own), []
    chosen: set[Key] = set()
    violations = []
    for topic, wanted in topics.items():
        there = set(known.get(topic, ()))
        # Offsets of a topic that is gone can be taken away by its name.
        old = {index for name, index in own if name == topic}
        if not there | old:
            violations.append(f"topic {topic}: {WHY['topic_deleted']}")
        elif wanted and wanted - there - old:
            missing = capped([str(one) for one in sorted(wanted - there - old)])
            violations.append(f"topic {topic}: has no partition {missing}; it has {len(there)} partitions, from 0 on.")
        else:
            chosen |= {(topic, index) for index in (wanted or there | old)}
    return chosen, violations


def with_members(group: Group) -> list[str]:
    """Say why a group with members must not be touched, naming them; nothing when it has none."""
    if group.error:
        return [f"group {group.listed.name}: {group.error}. Nothing is known of its members; run again."]
    if not group.members:
        return []
    named = capped([str(one) for one in group.members])
    return [
        f"group {group.listed.name}: has {len(group.members)} member(s) ({named}), which would go on from where they "
        "are and commit over it. Stop these clients and run again."
    ]


def offsets_in(content: Any, group: str) -> tuple[dict[Key, int], list[str]]:
    """The committed offsets of a group in what C(group_info) returned, or in one of its groups; what is wrong."""
    listed = content.get("groups", [content]) if isinstance(content, Mapping) else content
    if not isinstance(listed, list) or not all(isinstance(one, Mapping) and "topics" in one for one in listed):
        return {}, ["file: has no groups with topics; the form is that of the result of group_info."]
    own = [one for one in listed if one.get("name") == group] or listed
    if len(own) != 1:
        return {}, [f"file: has {len(own)} groups and none is {group}. Keep the one whose offsets are wanted."]
    try:
        found = {
            (str(topic["name"]), int(one["partition"])): int(one["committed"])
            for topic in own[0]["topics"]
            for one in topic["partitions"]
            if one["committed"] is not None
        }
    except (KeyError, TypeError, ValueError) as error:
        return {}, [f"file: a topic or a partition is not as group_info writes it ({type(error).__name__}: {error})."]
    return found, [] if found else ["file: holds no committed offset."]


def plan_moves(
    goal: Goal,
    chosen: Iterable[Key],
    offsets: Mapping[Key, Offset],
    logs: Mapping[Key, Log],
    at: Mapping[Key, int | None] | None = None,
) -> OffsetPlan:
    """Decide the moves of these partitions. C(at): the first offset from the wanted time on, None for none so young."""
    moves: list[Move] = []
    violations: list[str] = []
    unchanged = 0
    for key in sorted(chosen):
        before = offsets.get(key, Offset(None)).next
        log = logs.get(key, Log(missing="topic_deleted"))
        if goal.to == NONE:
            moves += [_move(key, before, None, log)] if before is not None else []
            unchanged += before is None
            continue
        asked, against = _asked(goal, key, before, log, at or {})
        if asked is None:
            violations += [f"{label(key)}: {against}"] if against else []
            continue
        after = min(max(asked, log.start), log.end)
        if after != asked and not goal.clip:
            violations.append(
                f"{label(key)}: offset {asked} is not in the log, which holds {log.start} to {log.end}. Choose another "
                f"one, or consent to the nearest one, {after}, with clip."
            )
        elif after == before:
            unchanged += 1
        else:
            moves.append(_move(key, before, after, log, asked if after != asked else None))
    return OffsetPlan(tuple(moves), unchanged, tuple(violations))


def _asked(goal: Goal, key: Key, before: int | None, log: Log, at: Mapping[Key, int | None]) -> tuple[int | None, str]:
    """The offset that the goal means for a partition; else None and why, without a reason where it is left alone."""
    if goal.to in (FILE, COPY) and key not in goal.offsets:
        return None, ""
    if log.missing:
        return None, WHY[log.missing]
    if goal.to == SHIFT and before is None:
        return None, "has no committed offset that could be shifted. Choose earliest, latest or an offset for it."
    found = at.get(key)
    return {
        EARLIEST: log.start,
        LATEST: log.end,
        # No record is as young as that: the next one is the first.
        TIMESTAMP: log.end if found is None else found,
        OFFSET: goal.value,
        SHIFT: (before or 0) + goal.value,
        FILE: goal.offsets.get(key, 0),
        COPY: goal.offsets.get(key, 0),
    }[goal.to], ""


def _move(key: Key, before: int | None, after: int | None, log: Log, clipped: int | None = None) -> Move:
    if before is None or after is None or log.missing:
        return Move(*key, before, after, clipped=clipped)
    was, becomes = (min(max(one, log.start), log.end) for one in (before, after))
    return Move(*key, before, after, max(0, becomes - was), max(0, was - becomes), clipped)


def changes_of(moves: Iterable[Move]) -> Iterator[Change]:
    """The moves from offset to offset, with the records that are skipped or read again."""
    for move in moves:
        records = {"records_skipped": move.skipped, "read_again": move.read_again}
        after = {"offset": move.after, **{name: count for name, count in records.items() if count}}
        yield Change(
            label(move.key),
            None if move.before is None else {"offset": move.before},
            None if move.after is None else after,
        )


def unsupported(kind: str, goal: str) -> list[str]:
    """Say what Kafka's requests, or this collection, cannot do to a type of group."""
    if kind == SHARE and goal == NONE:
        return ["to: offsets of a share group are not taken away one by one. Delete the group with state: absent."]
    return []


def is_idempotent(params: Mapping[str, Any]) -> bool:
    """Return whether a module with these parameters may move the offsets once more: a shift would move them twice."""
    return bool(params["to"] != SHIFT)
