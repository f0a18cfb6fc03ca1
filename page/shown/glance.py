"""The small tables of a cluster's overview: what is fullest, busiest, furthest behind and newest. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_cells import NOT_KNOWN, Cell, Table, size
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_tables import (
    broker_state,
    disk_use,
    disks,
    group_row,
    no_group,
    silent,
)
from page.filed.shelf import Shelved
from page.known.features import features_tile
from page.known.freshness import iso
from page.shown.clusters import cluster, linked
from page.shown.growth import GROWTH_COLUMNS, growth_cells, growth_data, growth_note, growth_of, growth_tiles
from page.shown.ids import broker_ids, broker_path
from page.shown.names import path
from page.shown.operations import SECTION, of_cluster
from page.shown.sheet import Glance, Link, Sheet, State

Row = Mapping[str, Any]

#: Rows of a table of the overview.
ROWS = 5


def overview(state: State, shelved: Shelved) -> Sheet:
    """Return the first page of a cluster with its small tables; without them where nothing is known of it."""
    sheet = cluster(state)
    if not state.cluster.get("answered"):
        return sheet
    rates = growth_of(state)
    return replace(
        sheet,
        data={
            **sheet.data,
            **growth_data(rates, rates.whole),
            "features": list(state.cluster.get("features") or ()),
            "busiest_topics": [
                {"name": name, **growth_data(rates, rates.topic(name))} for name in busiest(state)[:ROWS]
            ],
            "groups_furthest_behind": [
                {key: one.get(key) for key in ("name", "state", "behind", "lag", "lag_unknown")}
                for one in furthest_behind(state)[:ROWS]
            ],
        },
        tiles=_tiles(state),
        glances=[_brokers(state), _topics(state), _groups(state), _operations(state, shelved)],
    )


def busiest(state: State) -> list[str]:
    """Return the topics whose logs grow, the most records first; none where nothing is known."""
    rates = growth_of(state).topics
    grow = [name for name, rate in rates.items() if rate.records]
    return sorted(grow, key=lambda name: (-(rates[name].records or 0.0), name))


def furthest_behind(state: State) -> list[Row]:
    """Return the groups that have records before them, as far as that is known, the most first."""
    groups: Sequence[Row] = (state.cluster.get("groups") or {}).get("groups") or ()
    late = [one for one in groups if one.get("behind") or one.get("lag")]
    return sorted(late, key=lambda one: (-(one.get("behind") or one["lag"]), one["name"]))


def _tiles(state: State) -> list[tuple[str, str, str]]:
    told = [one for one in state.cluster.get("brokers") or () if disk_use([one])]
    used, total = disk_use(told) or (None, None)
    room = f"of {size(total).text}, as {len(told):,} brokers told" if told else "no broker told"
    groups = (state.cluster.get("groups") or {}).get("groups") or ()
    features = features_tile(state.cluster.get("features") or ())
    return [
        *growth_tiles(growth_of(state).whole, "written to all logs"),
        ("Disks used", size(used).text, room),
        ("Groups", f"{len(groups):,}", f"{len(furthest_behind(state)):,} have records before them"),
        *([features] if features else []),
    ]


def _brokers(state: State) -> Glance:
    """Return the brokers, those that are not up first, then those with the fullest disks."""
    nodes = {one["node_id"]: one for one in state.cluster.get("inventory") or ()}
    told = {one["id"]: one for one in state.cluster.get("brokers") or ()}
    controller = state.cluster.get("controller_id")
    rows = []
    for number in broker_ids(state):
        node, registered = nodes.get(number), told.get(number)
        word, room = broker_state(number, node, registered, controller), disks(registered or {})
        host = (node or registered or {}).get("host", "")
        cells = [Cell(f"{number}", "name", more=host, link=broker_path(state, number)), word, replace(room, more="")]
        rows.append(((word.tone == "pass", -(room.share or 0.0), number), cells))
    rows.sort(key=lambda pair: pair[0])
    columns = (("Broker", "name"), ("State", "state"), ("Disks used", "num"))
    note = "Those that are not up first, then by how full their disks are."
    table = Table("Brokers", note, columns, [cells for _key, cells in rows[:ROWS]], "There is no broker.")
    return Glance(table, _more(len(rows), "broker", path("clusters", state.name, "brokers")))


def _topics(state: State) -> Glance:
    rates = growth_of(state)
    names = busiest(state)
    rows = [[linked(Cell(name, "name"), state, "topics"), *growth_cells(rates.topic(name))] for name in names[:ROWS]]
    note = growth_note(state)
    empty = "No log grew between the last two polls." if rates.seconds is not None else note
    table = Table("Busiest topics", note, (("Topic", "name"), *GROWTH_COLUMNS), rows, empty)
    return Glance(table, _more(len(names), "topic", f"{path('clusters', state.name, 'topics')}?sort=records"))


def _groups(state: State) -> Glance:
    seen = state.cluster.get("groups") or {}
    late = furthest_behind(state)
    rows = []
    for name, _type, word, _members, lag, most in (group_row(one)[:6] for one in late[:ROWS]):
        rows.append([replace(linked(name, state, "groups"), more=word.text), lag, replace(most, more="")])
    columns = (("Group", "name"), ("Lag", "num"), ("Most in", "name"))
    empty = "No group has records before it." if seen.get("known") else no_group(seen) if seen else NOT_KNOWN
    note = " ".join(filter(None, ["Those with the most records before them.", silent(seen) if seen else ""]))
    table = Table("Groups furthest behind", note, columns, rows, empty)
    return Glance(table, _more(len(late), "group", path("clusters", state.name, "groups")))


def _operations(state: State, shelved: Shelved) -> Glance:
    some = sorted(of_cluster(shelved.reports, state.name), key=lambda one: (-one.begun, one.parts))
    at = path("clusters", state.name, SECTION)
    rows = [
        [
            Cell(one.told.kind, "name", more=iso(one.begun).replace("T", " ").replace("Z", " UTC"),
                 link=path("clusters", state.name, SECTION, one.key) if one.is_served else ""),
            Cell(one.told.result, "state", one.told.tone),
            Cell(one.told.said, "short"),
        ]
        for one in some[:ROWS]
    ]  # fmt: skip
    columns = (("Operation", "name"), ("Result", "state"), ("In words", "short"))
    empty = f"Reports are not known: {shelved.problem}." if shelved.problem else "There is no report on this cluster."
    table = Table("Last operations", "By the reports that playbooks left.", columns, rows, empty)
    return Glance(table, _more(len(some), "operation", at))


def _more(count: int, what: str, address: str) -> Link | None:
    left = count - ROWS
    return Link(f"{left:,} more {what}{'' if left == 1 else 's'}", address) if left > 0 else None
