# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Records in the logs of topics, the doing half: counts them, and deletes the older ones with consent."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from .._client.session import Session
from .._cluster.snapshot import Key
from .._configs.api import topic_values
from .._core.applied import Applied
from .._core.diff import diff_of
from .._core.errors import RefusedError, warn
from .._logs.api import Leaders, delete_records, leaders_of, log_ends, offsets_at
from .._logs.model import Log
from .plan import choose, label, parse_topics, partitions_by_topic, when_of
from .records import Deletion, changes_of, consent_said, plan_deletions, protected, topics_shown, unconsented


def topic_records(session: Session, params: Mapping[str, Any], check: bool, diff: bool) -> dict[str, Any]:
    """Count the records of topics, delete those before a point if asked to; return the module's result."""
    topics, violations = parse_topics(params["topics"])
    when, wrong = (None, []) if params["timestamp"] is None else when_of({**params, "clip": False}, time.time())
    violations += wrong
    to = params["delete_before"]
    if not violations:
        leaders = leaders_of(session, topics)
        chosen, violations = choose(topics, partitions_by_topic(leaders.of), ())
    if violations:
        raise RefusedError("topic records", violations)
    logs = log_ends(session, leaders, chosen)
    at = None if when is None else _at(offsets_at(session, leaders, dict.fromkeys(chosen, when)), logs)
    deletions: list[Deletion] = []
    missing: list[str] = []
    if to is not None:
        deletions, violations = plan_deletions(logs, to, params["offset"], at)
        violations += protected(topics, _policies(session, topics))
        missing = unconsented({one.topic for one in deletions}, params["confirm"])
        if missing and not check:
            violations.append(consent_said(missing))
        if violations:
            raise RefusedError("topic records", violations)
    if missing:
        warn(consent_said(missing))
    if deletions and not check:
        _delete(session, leaders, deletions, diff)
    found = topics_shown(logs, at)
    result: dict[str, Any] = {
        "changed": bool(deletions),
        "topics": found,
        "records": sum(one["records"] for one in found),
        "complete": not any(log.missing for log in logs.values()),
        "deletions": [one.shown() for one in deletions],
        "deleted": sum(one.records for one in deletions),
        "consent_missing": missing,
    }
    return dict(result, diff=diff_of(changes_of(deletions))) if diff else result


def _delete(session: Session, leaders: Leaders, deletions: Sequence[Deletion], diff: bool) -> None:
    by_leader: dict[int, dict[Key, int]] = {}
    for one in deletions:
        leader = leaders.of[one.key]
        if leader is not None:  # Without one the end of its log would be unknown, and nothing planned.
            by_leader.setdefault(leader, {})[one.key] = one.before
    applied = Applied[Key]("delete records of", label)
    with applied.truthful(lambda done: changes_of(one for one in deletions if one.key in set(done)), diff):
        for leader, some in sorted(by_leader.items()):
            applied.ask(some, partial(delete_records, session, leader, some))


def _at(found: Mapping[Key, int | str | None], logs: dict[Key, Log]) -> dict[Key, int | None]:
    """The offsets of a time; where a leader did not answer now, its log is noted as unknown."""
    logs.update({key: Log(missing=one) for key, one in found.items() if isinstance(one, str)})
    return {key: one for key, one in found.items() if not isinstance(one, str)}


def _policies(session: Session, topics: Mapping[str, Any]) -> dict[str, str]:
    found = topic_values(session, topics, ["cleanup.policy"])
    return {name: values.get("cleanup.policy") or "delete" for name, values in found.items()}
