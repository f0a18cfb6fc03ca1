"""The groups of a cluster, and one of them. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.progress import duration
from ansible_collections.streamops.kafka.plugins.module_utils._groups.model import left
from ansible_collections.streamops.kafka.plugins.module_utils._health.group_rules import stopped_in, to_read
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_cells import (
    NOT_KNOWN,
    ON_THE_PAGE,
    Cell,
    Table,
    count,
    cut_table,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_tables import (
    GROUP_COLUMNS,
    group_row,
    lag_of,
    no_group,
    silent,
)
from page.alerts.told import GROUP
from page.known.freshness import iso
from page.known.picture import Picture
from page.known.readers import notes_on, word_of
from page.known.standing import seconds_of
from page.shown.causes import about_group
from page.shown.clusters import linked, rows_for_machines
from page.shown.curve import curve_of
from page.shown.ids import broker_link
from page.shown.kinds import Kind, Kinds
from page.shown.names import path
from page.shown.sheet import Link, Lister, Sheet, State, downloads, nothing, sheet_of
from page.shown.wanted import BY_NAME, Sort, Wanted, listed

#: States of groups of all types (org.apache.kafka.common.GroupState) by the part that they are in.
_STATES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "stable": ("Stable", ("stable",)),
    "rebalancing": ("Rebalancing", ("preparingrebalance", "completingrebalance", "assigning", "reconciling")),
    "not_ready": ("Not ready", ("notready",)),
    "empty": ("Empty", ("empty",)),
    "dead": ("Dead", ("dead",)),
}
_KNOWN = frozenset(state for _title, states in _STATES.values() for state in states)


def _by_state(key: str) -> Kind:
    title, states = _STATES[key]
    return Kind(key, title, lambda one: _state(one) in states)


def _state(group: Row) -> str:
    return str(group["state"]).replace("_", "").lower()


KINDS = Kinds(
    "state",
    (
        *map(_by_state, _STATES),
        Kind("other", "Other state", lambda one: _state(one) not in _KNOWN),
        Kind("behind", "Behind", lambda one: to_read(one) > 0),
        Kind("stopped", "Stopped", lambda one: bool(one["stopped_in"])),
        Kind("unread", "Behind without members",
             lambda one: not one["error"] and not one["member_count"] and to_read(one) > 0),
        Kind("untold", "Not fully known", lambda one: bool(one["error"])),
    ),
    "Show groups",
)  # fmt: skip


def with_stopped(groups: Sequence[Row], picture: Picture | None) -> list[dict[str, Any]]:
    """Return groups with C(stopped_in), the topics in which they have stopped as the finding group_stopped has it."""
    stands = seconds_of(picture.standing, picture.taken)[0] if picture else {}
    watched = picture.watched if picture else ()
    return [{**one, "stopped_in": [*stopped_in(one, stands.get(one["name"], {}), watched)]} for one in groups]


Row = Mapping[str, Any]


def _most(group: Row) -> int | None:
    """Return the records of the partition that a group is behind with most; None where none is known."""
    lags = [left(one) for topic in group.get("topics") or () for one in topic["partitions"]]
    return max((lag for lag in lags if lag), default=None)


SORTS = (
    Sort("lag", "Lag", lambda one: one.get("behind") or one.get("lag")),
    Sort("name", "Name", lambda one: one["name"], falls=False, words=BY_NAME, column="Group"),
    Sort("type", "Type", lambda one: one["type"], falls=False, words=BY_NAME),
    Sort("state", "State", lambda one: one["state"], falls=False, words=BY_NAME),
    Sort("members", "Members", lambda one: one.get("member_count")),
    Sort("most", "Most behind", _most),
)
#: Of one group.
POSITION_SORTS = (
    Sort("lag", "Lag", lambda one: one["lag"]),
    Sort("topic", "Topic", lambda one: (one["topic"], one["partition"]), falls=False, words=BY_NAME),
    Sort("state", "State", lambda one: one.get("state", ""), falls=False, words=BY_NAME),
    Sort("committed", "Committed", lambda one: one.get("committed")),
    Sort("end", "End of log", lambda one: one.get("end")),
)
COLUMNS = ("group", "type", "state", "members", "lag", "lag_unknown", "behind", "error")
#: States of a position (module_utils/_groups/model.py) for people, with the class of their colour.
POSITIONS = {
    "known": ("known", "pass"),
    "no_offset": ("no offset", "info"),
    "before_start": ("before the start of the log", "fail"),
    "beyond_end": ("beyond the end of the log", "inconclusive"),
    "topic_deleted": ("topic deleted", "inconclusive"),
    "no_answer": ("leader did not answer", "inconclusive"),
    "not_allowed": ("not allowed to see", "inconclusive"),
}


def groups(state: State, wanted: Wanted) -> Sheet:
    """Return the groups that a reader looks for, by lag unless another order is wanted."""
    seen = state.cluster.get("groups") or {}
    rows = with_stopped(seen.get("groups", ()), state.seen.picture)
    found = listed(rows, wanted, SORTS, KINDS)
    cells = [_row(one, state) for one in found.rows]
    empty = nothing(wanted, "group", KINDS) if rows else no_group(seen) if seen else ""
    table = Table("Groups", silent(seen) if seen else "", GROUP_COLUMNS, cells, empty)
    own = path("clusters", state.name, "groups")
    data = {"groups": rows_for_machines(found.every, ("topics", "members")),
            "known": seen.get("known"), "silent_brokers": seen.get("silent_brokers")}  # fmt: skip
    lister = Lister("Groups", own, wanted, found, SORTS, table, downloads(own, wanted), True, kinds=KINDS)
    lines = chain([COLUMNS], (_line(one) for one in found.every))
    return sheet_of(state, "groups", data, lister=lister if seen else None, rows=lines)


def group(state: State, name: str, wanted: Wanted) -> Sheet | None:
    """Return a group with its position in each partition; None where the picture has none of this name."""
    seen = state.cluster.get("groups") or {}
    found = next((one for one in seen.get("groups", ()) if one["name"] == name), None)
    if found is None:
        return None
    rows = [
        {**one, "topic": topic["name"], "name": f"{topic['name']}-{one['partition']}", "lag": one.get("lag")}
        for topic in found.get("topics") or ()
        for one in topic["partitions"]
    ]
    cut = listed(rows, wanted, POSITION_SORTS)
    columns = (
        *(("Topic", "name"), ("Partition", "num"), ("State", "state"), ("Committed", "num"), ("End of log", "num")),
        ("Lag", "num"),
    )
    table = Table("Positions", "", columns, [_position(one, state) for one in cut.rows], "It has no offset.")
    own = path("clusters", state.name, "groups", name)
    lister = Lister("Positions", own, wanted, cut, POSITION_SORTS, table, [Link("JSON", f"{own}?format=json")])
    members = found.get("member_count")
    lag, unsure = lag_of(found)
    tiles = [
        ("Lag", lag or NOT_KNOWN, f"records; {unsure}" if unsure else "records"),
        ("Members", NOT_KNOWN if members is None or found.get("error") else f"{members:,}", "at the time of the poll"),
        ("Topics", f"{len(found.get('topics') or ()):,}", f"{len(rows):,} partitions"),
    ]
    if found.get("lag_seconds") is not None:
        tiles.append(("Behind by", duration(found["lag_seconds"]), "since the oldest record that was not read"))
    facts: list[tuple[str, str | Link]] = [("Type", str(found["type"])), ("State", str(found["state"]))]
    if found.get("coordinator") is not None:
        facts.append(("Coordinator", broker_link(state, found["coordinator"])))
    if found.get("error"):
        facts.append(("Not known", str(found["error"])))
    tables = [_members(found["members"], rows)] if found.get("members") is not None else []
    findings = [*about_group(state.part.findings if state.part else (), name), *notes_on(found)]
    points = state.seen.history.points(name)
    lags = [{"taken": iso(taken), "lag": some} for taken, some in points]
    return sheet_of(
        state,
        "groups",
        {"group": found, "lag_of_polls": lags, "findings": findings},
        subject=name,
        findings=findings,
        alerts_about=state.alerts_about(**{GROUP: name}),
        tiles=tiles,
        facts=facts,
        curve=curve_of(points),
        lister=lister,
        tables=tables,
    )


def _row(group: Row, state: State) -> list[Cell]:
    """Return the row of a group, with a link to its page, and with what it does not commit beside its state."""
    first, kind, word, *more = group_row(group)
    return [linked(first, state, "groups"), kind, replace(word, more=word_of(group)), *more]


def _line(one: Row) -> list[Any]:
    return [one.get(key) for key in ("name", "type", "state", "member_count", "lag", "lag_unknown", "behind", "error")]


def _position(one: Row, state: State) -> list[Cell]:
    word, tone = POSITIONS.get(one.get("state", ""), (NOT_KNOWN, "info"))
    lost = f"{one['lost']:,} records were removed unread" if one.get("lost") else ""
    seconds = one.get("lag_seconds")
    behind = f"{duration(seconds)} behind" if seconds is not None else ""
    return [
        linked(Cell(one["topic"], "name"), state, "topics"),
        Cell(str(one["partition"]), "num"),
        Cell(word, "state", tone, more=lost),
        Cell("none", "num") if one.get("state") == "no_offset" else count(one.get("committed")),
        count(one.get("end")),
        Cell(NOT_KNOWN if one["lag"] is None else f"{one['lag']:,} records", "num", more=behind),
    ]


def _members(members: Any, positions: Sequence[Row]) -> Table:
    """Return who is in a group, with the lag of each in the partitions that it has."""
    left_of = {(one["topic"], one["partition"]): left(one) for one in positions}
    rows = []
    for one in members:
        parts = [(some["topic"], index) for some in one.get("assignment") or () for index in some["partitions"]]
        lags = [left_of.get(part) for part in parts]
        lag = None if None in lags else sum(lag for lag in lags if lag is not None)
        topics = ", ".join(f"{some['topic']}: {_ranges(some['partitions'])}" for some in one.get("assignment") or ())
        rows.append(
            [
                Cell(one["client_id"] or one["id"], "name", more=one.get("instance_id") or ""),
                Cell(one["host"], "short"),
                count(len(parts)),
                Cell(topics or "none", "name"),
                Cell(NOT_KNOWN if lag is None else f"{lag:,} records", "num"),
            ]
        )
    columns = (("Member", "name"), ("Host", "short"), ("Partitions", "num"), ("Assigned", "name"), ("Lag", "num"))
    return cut_table("Members", "", columns, rows, "It has no member now.", ON_THE_PAGE)


def _ranges(numbers: Sequence[int]) -> str:
    """Return numbers as people write them: 0-3, 7."""
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(f"{first}-{last}" if last > first else str(first) for first, last in found)
