"""The groups of a cluster, and one of them. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.progress import duration
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
    no_group,
    silent,
)
from page.shown.clusters import linked, rows_for_machines
from page.shown.curve import curve_of
from page.shown.freshness import iso
from page.shown.names import path
from page.shown.sheet import Link, Lister, Sheet, State, downloads, sheet_of
from page.shown.wanted import BY_NAME, Sort, Wanted, listed

Row = Mapping[str, Any]

SORTS = (
    Sort("lag", "Lag", lambda one: one.get("lag")),
    Sort("name", "Name", lambda one: one["name"], falls=False, words=BY_NAME),
    Sort("state", "State", lambda one: one["state"], falls=False, words=BY_NAME),
    Sort("members", "Members", lambda one: one.get("member_count")),
)
#: Of one group.
POSITION_SORTS = (
    Sort("lag", "Lag", lambda one: one["lag"]),
    Sort("topic", "Topic", lambda one: (one["topic"], one["partition"]), falls=False, words=BY_NAME),
)
COLUMNS = ("group", "type", "state", "members", "lag", "lag_unknown", "error")
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
    rows = seen.get("groups", ())
    found = listed(rows, wanted, SORTS)
    cells = [[linked(first, state, "groups"), *more] for first, *more in map(group_row, found.rows)]
    empty = "No group has this in its name." if rows else no_group(seen) if seen else ""
    table = Table("Groups", silent(seen) if seen else "", GROUP_COLUMNS, cells, empty)
    own = path("clusters", state.name, "groups")
    data = {"groups": rows_for_machines(found.every, ("topics", "members")),
            "known": seen.get("known"), "silent_brokers": seen.get("silent_brokers")}  # fmt: skip
    lister = Lister("Groups", own, wanted, found, SORTS, table, downloads(own, wanted), True) if seen else None
    lines = chain([COLUMNS], (_line(one) for one in found.every))
    return sheet_of(state, "groups", data, lister=lister, rows=lines)


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
    lag, members = found.get("lag"), found.get("member_count")
    tiles = [
        (
            "Lag",
            NOT_KNOWN if lag is None else f"{lag:,}",
            f"records; unknown of {found.get('lag_unknown') or 0:,} partitions",
        ),
        ("Members", NOT_KNOWN if members is None or found.get("error") else f"{members:,}", "at the time of the poll"),
        ("Topics", f"{len(found.get('topics') or ()):,}", f"{len(rows):,} partitions"),
    ]
    if found.get("lag_seconds") is not None:
        tiles.append(("Behind by", duration(found["lag_seconds"]), "since the oldest record that was not read"))
    facts = [("Type", str(found["type"])), ("State", str(found["state"]))]
    if found.get("coordinator") is not None:
        facts.append(("Coordinator", f"broker {found['coordinator']}"))
    if found.get("error"):
        facts.append(("Not known", str(found["error"])))
    tables = [_members(found["members"])] if found.get("members") is not None else []
    points = state.seen.history.points(name)
    lags = [{"taken": iso(taken), "lag": some} for taken, some in points]
    return sheet_of(
        state,
        "groups",
        {"group": found, "lag_of_polls": lags},
        subject=name,
        tiles=tiles,
        facts=facts,
        curve=curve_of(points),
        lister=lister,
        tables=tables,
    )


def _line(one: Row) -> list[Any]:
    return [one.get(key) for key in ("name", "type", "state", "member_count", "lag", "lag_unknown", "error")]


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


def _members(members: Any) -> Table:
    rows = [
        [
            Cell(one["client_id"] or one["id"], "name", more=one.get("instance_id") or ""),
            Cell(one["host"], "short"),
            count(sum(len(some["partitions"]) for some in one.get("assignment") or ())),
        ]
        for one in members
    ]
    columns = (("Member", "name"), ("Host", "short"), ("Partitions", "num"))
    return cut_table("Members", "", columns, rows, "It has no member now.", ON_THE_PAGE)
