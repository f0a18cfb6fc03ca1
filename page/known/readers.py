"""Find what groups with members read and never committed: their next start reads it again, or passes over it. Pure.

The lag of such a partition is not known to Kafka's tools, so nothing of it is in any sum of lags. A Java consumer with
enable.auto.commit commits all partitions that it has, also those without a new record; who commits nothing keeps its
offsets elsewhere, or has a commit that fails. One poll cannot tell which, so it is a note and no finding.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ansible_collections.streamops.kafka.plugins.module_utils._core.names import capped
from ansible_collections.streamops.kafka.plugins.module_utils._groups.model import NO_OFFSET, SHARE, left
from ansible_collections.streamops.kafka.plugins.module_utils._health.model import NOTE, SHOWN
from page.known.standing import Row

#: The kind of the note; it is of the page alone, and in no metric.
KIND = "not_committed"
_STEP = (
    "look whether its clients commit (enable.auto.commit, or a commit of their own) and at their logs; clients that "
    "keep their offsets elsewhere, as Flink and Spark may, need none"
)
_ALLOWED = "a commit in each partition that a member has"


@dataclass(frozen=True)
class Uncommitted:
    """What a group never committed in one topic.

    C(partitions): those with records that its members have and never committed. C(committed), C(every): in how many
    partitions of the topic the group has an offset, and how many the topic has. C(records): how many are in them.
    """

    topic: str
    partitions: Sequence[int]
    committed: int
    every: int
    records: int

    @property
    def word(self) -> str:
        """Return where it commits, short."""
        return f"commits {self.committed:,} of {self.every:,} partitions" if self.committed else "never committed"

    @property
    def what(self) -> str:
        """Return where it commits, with the topic and the records that this is about."""
        if self.committed:
            where = f"commits only {self.committed:,} of {self.every:,} partitions of {self.topic}"
        else:
            where = f"never committed in {self.topic}"
        return f"{where}, {self.records:,} records are not accounted for"


def uncommitted(group: Row) -> list[Uncommitted]:
    """Return what a group, as group_info returns it, never committed in topics that its members read.

    A group without members, one that was not told whole, and share groups, whose start is set at the first read, have
    nothing of this kind.
    """
    if group.get("error") or not group.get("member_count") or group.get("type") == SHARE:
        return []
    assigned = {part for member in group.get("members") or () for part in _parts(member)}
    some = []
    for topic in group.get("topics") or ():
        here = [
            row
            for row in topic["partitions"]
            if row.get("state") == NO_OFFSET
            and left(row)
            and (not assigned or (topic["name"], row["partition"]) in assigned)
        ]
        if here:
            committed = sum(row.get("committed") is not None for row in topic["partitions"])
            numbers = [row["partition"] for row in here]
            records = sum(left(row) or 0 for row in here)
            some.append(Uncommitted(topic["name"], numbers, committed, len(topic["partitions"]), records))
    return some


def word_of(group: Row) -> str:
    """Return in a few words that a group does not commit all that it reads; empty where it does."""
    some = uncommitted(group)
    if len(some) > 1:
        return f"partitions of {len(some):,} topics never committed"
    return some[0].word if some else ""


def notes_on(group: Row) -> list[dict[str, str]]:
    """Return the notes on one group in the form of findings: for each topic, and for each member that is silent."""
    some = uncommitted(group)
    missing = {(topic.topic, number) for topic in some for number in topic.partitions}
    notes = [_note(f"group {group['name']} {topic.what}", _listed(topic.partitions)) for topic in some]
    several = [member for member in group.get("members") or () if _parts(member)]
    for member in several if len(several) > 1 else ():
        parts = _parts(member)
        if parts <= missing:
            name = member.get("client_id") or member.get("id")
            notes.append(_note(f"member {name} at {member.get('host')} never commits", f"{len(parts):,} partition(s)"))
    return notes


def notes_on_all(groups: Iterable[Row]) -> list[dict[str, str]]:
    """Return one note on all groups of a cluster that do not commit all that they read; none where there are none."""
    some = [(group["name"], topics) for group in groups if (topics := uncommitted(group))]
    some.sort(key=lambda pair: (-sum(topic.records for topic in pair[1]), pair[0]))
    if not some:
        return []
    named = [f"{name} {topics[0].what}" for name, topics in some]
    return [_note(f"{len(some):,} group(s) with members do not commit all that they read", capped(named, SHOWN))]


def _note(what: str, measured: str) -> dict[str, str]:
    return {"kind": KIND, "severity": NOTE, "what": what, "found": measured, "allowed": _ALLOWED, "next_step": _STEP}


def _listed(partitions: Sequence[int]) -> str:
    return f"no offset in partition {capped([str(number) for number in partitions], SHOWN)}"


def _parts(member: Row) -> set[tuple[str, int]]:
    return {(topic["topic"], number) for topic in member.get("assignment") or () for number in topic["partitions"]}
