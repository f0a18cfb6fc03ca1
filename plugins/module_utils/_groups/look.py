# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Look at groups: what the module group_info returns."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from typing import Any

from .._client.session import Session
from .._cluster.snapshot import Key
from .._logs.age import ages
from .._logs.api import Leaders, leaders_of, log_ends, offsets_at
from .ages import unread, with_ages
from .api import describe_groups, group_offsets, list_groups
from .model import Group, Offsets, asked_partitions, by_topic, shown, together
from .wait import waited_for

NO_LEADERS = Leaders({}, frozenset())


def group_info(
    session: Session, params: Mapping[str, Any], _check: bool = False, _diff: bool = False
) -> dict[str, Any]:
    """Return the groups that the parameters choose, with members, offsets and lag as they ask for them."""
    everything, silent = list_groups(session)
    names, types, states = params["groups"], params["types"], params["states"]
    chosen = [
        one
        for one in everything
        if (names is None or one.name in names)
        and (not types or one.type in types)
        and (not states or one.state.lower() in {state.lower() for state in states})
    ]
    groups = describe_groups(session, chosen)
    vanished = sorted(name for name, one in groups.items() if one.vanished)
    there = [one for one in chosen if not groups[one.name].vanished]
    offsets = group_offsets(session, there) if params["offsets"] else {}
    wanted = wanted_logs(groups, offsets, params["topics"])
    leaders = leaders_of(session, {topic for topic, _index in wanted}) if wanted else NO_LEADERS
    # Of the topics of a group all partitions, also those that it has not committed in.
    logs = by_topic(log_ends(session, leaders, {*wanted, *leaders.of}))
    found = [shown(groups[one.name], offsets.get(one.name), logs, params["members"]) for one in there]
    if params["offsets"] and params["lag_time"]:
        found = aged(session, leaders, found)
    return {
        "changed": False,
        "missing": sorted(set(names or ()) - {one.name for one in everything}),
        "vanished": vanished,
        **together(found, silent),
    }


def group_lag(session: Session, params: Mapping[str, Any], _check: bool = False, _diff: bool = False) -> dict[str, Any]:
    """Return one look of a wait for the lag of the groups and topics in the parameters."""
    asked = {"types": [], "states": [], "members": False, "offsets": True}
    timed = params["max_lag_seconds"] is not None
    info = group_info(session, {**asked, "groups": params["groups"], "topics": params["topics"], "lag_time": timed})
    return {"changed": False, **waited_for(info, params["topics"])}


def aged(session: Session, leaders: Leaders, groups: Collection[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the groups with their lag as time: about ten requests to each leader, whatever the number of groups."""
    now = int(time.time() * 1000)
    found = ages(set(unread(groups)), now, lambda times: offsets_at(session, leaders, times))
    return [with_ages(group, found) for group in groups]


def wanted_logs(
    groups: Mapping[str, Group], offsets: Mapping[str, Offsets], topics: Collection[str] | None
) -> set[Key]:
    """The partitions whose ends are needed for the lag of these groups, of these topics only where some are named."""
    everything = {key for name, some in offsets.items() for key in asked_partitions(groups[name], some)}
    return {key for key in everything if topics is None or key[0] in topics}
