# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Records in the logs of topics, the deciding half: what is there, what would go, and reasons against it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .._cluster.snapshot import STATE_TOPIC, Key
from .._configs.values import items_of
from .._core.diff import Change
from .._core.names import KAFKAS_OWN, capped
from .._logs.model import Log
from .plan import WHY, label

END, TIMESTAMP, OFFSET = "end", "timestamp", "offset"


@dataclass(frozen=True)
class Deletion:
    """Records of a partition that go: those from C(start) on that lie before C(before)."""

    topic: str
    partition: int
    start: int
    before: int

    @property
    def key(self) -> Key:
        """Its partition."""
        return self.topic, self.partition

    @property
    def records(self) -> int:
        """Number of offsets that go."""
        return self.before - self.start

    def shown(self) -> dict[str, Any]:
        """The deletion as a module returns it."""
        return {"topic": self.topic, "partition": self.partition, "records": self.records, "before": self.before}


def topics_shown(logs: Mapping[Key, Log], at: Mapping[Key, int | None] | None) -> list[dict[str, Any]]:
    """The logs by topic with their number of records; C(at): the first offsets from a time on, where it was asked."""
    found: dict[str, list[dict[str, Any]]] = {}
    for (topic, index), log in sorted(logs.items()):
        known = not log.missing
        one: dict[str, Any] = {
            "partition": index,
            "start": log.start if known else None,
            "end": log.end if known else None,
            "records": log.end - log.start if known else None,
            "state": log.missing or "known",
        }
        if at is not None:
            one["offset_at"] = at.get((topic, index))
        found.setdefault(topic, []).append(one)
    return [
        {"name": name, "records": sum(one["records"] or 0 for one in some), "partitions": some}
        for name, some in found.items()
    ]


def protected(topics: Iterable[str], policies: Mapping[str, str]) -> list[str]:
    """Say of which topics no records may be deleted; C(policies) are their cleanup.policy."""
    violations = []
    for topic in sorted(topics):
        if topic in KAFKAS_OWN or topic == STATE_TOPIC:
            violations.append(f"topic {topic}: holds what Kafka or this collection needs. Take it out.")
        elif "delete" not in items_of(policies.get(topic, "delete")):
            violations.append(
                f"topic {topic}: its cleanup.policy is {policies[topic]}, of which Kafka deletes no records. Set it to "
                "compact,delete first, or write tombstones."
            )
    return violations


def unconsented(topics: Iterable[str], consented: Collection[str]) -> list[str]:
    """The topics whose records may not be deleted, since they are not named as such."""
    return sorted(set(topics) - set(consented))


def plan_deletions(
    logs: Mapping[Key, Log], to: str, offset: int | None = None, at: Mapping[Key, int | None] | None = None
) -> tuple[list[Deletion], list[str]]:
    """Decide what goes before the end, an offset, or the first record from a time on, and what is against it."""
    deletions, violations = [], []
    for key, log in sorted(logs.items()):
        if log.missing:
            violations.append(f"{label(key)}: {WHY[log.missing]}")
            continue
        found = (at or {}).get(key)
        # Where no record is as young as the time, all are older.
        before = {END: log.end, TIMESTAMP: log.end if found is None else found, OFFSET: offset or 0}[to]
        if not 0 <= before <= log.end:
            violations.append(
                f"{label(key)}: offset {before} is not in the log, which ends at {log.end}. Choose another."
            )
        elif before > log.start:
            deletions.append(Deletion(*key, log.start, before))
    return deletions, violations


def changes_of(deletions: Iterable[Deletion]) -> Iterator[Change]:
    """The deletions as the first offset of each log, from and to, with the number of records."""
    for one in deletions:
        yield Change(label(one.key), {"start": one.start}, {"start": one.before, "records_deleted": one.records})


def consent_said(missing: Iterable[str]) -> str:
    """Say what consent is missing."""
    names = capped(list(missing))
    return f"confirm: does not name {names}. Deleted records cannot be brought back; name each topic there to consent."
