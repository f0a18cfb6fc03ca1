# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Offsets of a group, the doing half: looks at group and logs, refuses or moves, and looks at every answer."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from .._client.session import Session
from .._cluster.snapshot import Key
from .._core.applied import Applied
from .._core.bulk import parts
from .._core.diff import Change, diff_of
from .._core.errors import RefusedError
from .._core.names import near
from .._logs.api import Leaders, leaders_of, log_ends, offsets_at
from .._logs.model import Log
from .api import (
    alter_share_offsets,
    commit_offsets,
    coordinator_of,
    delete_group,
    delete_offsets,
    describe_groups,
    group_offsets,
    list_groups,
)
from .model import CLASSIC, SHARE, Group, Listed, Offsets
from .plan import (
    COPY,
    FILE,
    OFFSET,
    SHIFT,
    TIMESTAMP,
    Goal,
    Move,
    OffsetPlan,
    changes_of,
    choose,
    label,
    offsets_in,
    parse_topics,
    partitions_by_topic,
    plan_moves,
    unsupported,
    when_of,
    with_members,
)

#: Offsets in one request: some 100 bytes each, of which a coordinator writes all into one batch of at most 1 MiB.
_BATCH = 1_000


@dataclass(frozen=True)
class Seen:
    """A group as it was found; C(exists) is false for one that no broker knows."""

    group: Group
    offsets: Offsets
    exists: bool


def ensure_offsets(session: Session, params: Mapping[str, Any], check: bool, diff: bool) -> dict[str, Any]:
    """Move the offsets of a group, or delete it; return the module's result."""
    seen = _seen(session, params)
    if params["state"] == "absent":
        return _absent(session, seen, check, diff)
    plan = _plan(session, params, seen)
    if plan.violations:
        raise RefusedError(f"offsets of group {params['group']}", plan.violations)
    if plan.moves and not check:
        _move(session, seen, plan, diff)
    result: dict[str, Any] = {
        "changed": bool(plan.moves),
        "moves": [move.shown() for move in plan.moves],
        "records_skipped": sum(move.skipped or 0 for move in plan.moves),
        "read_again": sum(move.read_again or 0 for move in plan.moves),
        "unchanged": plan.unchanged,
        "deleted": False,
    }
    return dict(result, diff=diff_of(changes_of(plan.moves))) if diff else result


def bring_offsets(session: Session, group: str, offsets: Mapping[Key, int]) -> tuple[Move, ...]:
    """Set these offsets of a group without members, which is made where there is none; return what was moved."""
    params = {"group": group, "state": "present", "allow_create": True, "topics": None, "to": FILE}
    seen = _seen(session, params)
    plan = _plan(session, params, seen, (Goal(FILE, offsets=offsets), []))
    if plan.violations:
        raise RefusedError(f"offsets of group {group}", plan.violations)
    if plan.moves:
        _move(session, seen, plan, diff=False)
    return plan.moves


# -- looking -----------------------------------------------------------------------------------------------------


def _seen(session: Session, params: Mapping[str, Any]) -> Seen:
    name = params["group"]
    everything, silent = list_groups(session)
    found = next((one for one in everything if one.name == name), None)
    if found is not None:
        return Seen(describe_groups(session, [found])[name], group_offsets(session, [found])[name], exists=True)
    # A lost variable: with allow_create it would make a group that hardly a tool can name.
    if not name.strip():
        raise RefusedError("offsets", ["group: is empty. Name a group."])
    if silent:
        told = "; ".join(f"broker {broker}: {why}" for broker, why in silent.items())
        raise RefusedError(
            f"group {name}", [f"not every broker told its groups ({told}), so it is unknown whether it exists."]
        )
    if params["state"] == "present" and not params["allow_create"]:
        known = near(name, [one.name for one in everything])
        raise RefusedError(
            f"group {name}",
            [f"no broker knows it{known}. Correct the name, or consent to make it with allow_create."],
        )
    return Seen(Group(Listed(name, CLASSIC, "", "", -1)), Offsets(), exists=False)


def _plan(
    session: Session, params: Mapping[str, Any], seen: Seen, given: tuple[Goal, list[str]] | None = None
) -> OffsetPlan:
    """Plan the moves to the goal that is given, else to that of the parameters."""
    topics, violations = (None, []) if params["topics"] is None else parse_topics(params["topics"])
    violations += with_members(seen.group) + unsupported(seen.group.listed.type, params["to"])
    if seen.offsets.error:
        violations.append(f"its offsets are unknown: {seen.offsets.error}. Run again.")
    goal, wrong = given or _goal(session, params)
    when, late = when_of(params, time.time()) if params["to"] == TIMESTAMP else (0, [])
    violations += [*wrong, *late]
    own = {*seen.offsets.of, *goal.offsets}
    if topics is None and not own and not violations:
        violations.append("topics: the group has no committed offset, so name the topics whose offsets it is to get.")
    if violations:
        return OffsetPlan(violations=tuple(violations))
    leaders = leaders_of(session, {*(topics or ()), *(topic for topic, _index in own)})
    chosen, unknown = choose(topics, partitions_by_topic(leaders.of), own)
    if unknown:
        return OffsetPlan(violations=tuple(unknown))
    logs = log_ends(session, leaders, chosen)
    at = _at(session, leaders, chosen, when, logs) if params["to"] == TIMESTAMP else {}
    return plan_moves(goal, chosen, seen.offsets.of, logs, at)


def _at(session: Session, leaders: Leaders, keys: set[Key], when: int, logs: dict[Key, Log]) -> dict[Key, int | None]:
    """The first offsets from a time on; a leader that did not answer now is noted in C(logs)."""
    found: dict[Key, int | None] = {}
    for key, offset in offsets_at(session, leaders, dict.fromkeys(keys, when)).items():
        if isinstance(offset, str):
            logs[key] = Log(missing=offset)
        else:
            found[key] = offset
    return found


def _goal(session: Session, params: Mapping[str, Any]) -> tuple[Goal, list[str]]:
    to, clip = params["to"], params["clip"]
    if to == FILE:
        try:
            content = json.loads(Path(params["file"]).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            return Goal(to), [f"file {params['file']}: cannot be read as JSON ({error})."]
        found, wrong = offsets_in(content, params["group"])
        return Goal(to, offsets=found, clip=clip), wrong
    if to == COPY:
        return _copied(session, params["from_group"], clip)
    value = {OFFSET: params["offset"], SHIFT: params["shift_by"]}.get(to, 0)
    return Goal(to, value, clip=clip), []


def _copied(session: Session, name: str, clip: bool) -> tuple[Goal, list[str]]:
    found = [one for one in list_groups(session)[0] if one.name == name]
    if not found:
        return Goal(COPY), [f"from_group: no broker that answered knows group {name}. Correct the name."]
    offsets = group_offsets(session, found)[name]
    known = {key: one.next for key, one in offsets.of.items() if one.next is not None and not one.error}
    if offsets.error or not known:
        return Goal(COPY), [f"from_group: group {name} has no committed offset ({offsets.error or 'none at all'})."]
    return Goal(COPY, offsets=known, clip=clip), []


# -- changing ----------------------------------------------------------------------------------------------------


def _move(session: Session, seen: Seen, plan: OffsetPlan, diff: bool) -> None:
    name = seen.group.listed.name
    broker = seen.group.listed.coordinator if seen.exists else coordinator_of(session, name)
    applied = Applied[Key](f"move offset of group {name} in", label)
    with applied.truthful(lambda done: changes_of(one for one in plan.moves if one.key in set(done)), diff):
        for batch in parts(plan.moves, _BATCH):
            applied.ask([one.key for one in batch], partial(_ask, session, broker, seen.group.listed, batch))


def _ask(session: Session, broker: int, listed: Listed, moves: list[Move]) -> dict[Key, Any]:
    away = [one.key for one in moves if one.after is None]
    to = {one.key: one.after for one in moves if one.after is not None}
    if away:
        return delete_offsets(session, broker, listed.name, away)
    if listed.type == SHARE:
        return alter_share_offsets(session, broker, listed.name, to)
    return commit_offsets(session, broker, listed.name, to)


def _absent(session: Session, seen: Seen, check: bool, diff: bool) -> dict[str, Any]:
    name = seen.group.listed.name
    violations = with_members(seen.group) if seen.exists else []
    if violations:
        raise RefusedError(f"group {name}", violations)
    offsets = {label(key): one.next for key, one in sorted(seen.offsets.of.items())}
    changes = [Change(name, {"type": seen.group.listed.type, "offsets": offsets}, None)] if seen.exists else []
    if changes and not check:
        applied = Applied[str]("delete group")
        with applied.truthful(lambda done: changes if done else [], diff, lambda done: {"deleted": bool(done)}):
            applied.ask([name], partial(delete_group, session, seen.group.listed.coordinator, name))
    none = {"moves": [], "records_skipped": 0, "read_again": 0, "unchanged": 0 if changes else 1}
    result: dict[str, Any] = {"changed": bool(changes), **none, "deleted": bool(changes)}
    return dict(result, diff=diff_of(changes)) if diff else result
