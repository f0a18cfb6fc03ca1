"""The overview of all clusters, and the first page of one. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_cells import ON_THE_PAGE, Cell, Table
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_tables import (
    STATES,
    partitions_table,
    quorum_tables,
)
from page.alerts.told import Alerts
from page.known.agreement import detail_table, with_agreement
from page.shown.alerts import data_of, shown
from page.shown.growth import growth_data, growth_of, growth_tiles
from page.shown.ids import with_brokers
from page.shown.names import path
from page.shown.sheet import Sheet, State, sheet_of

Row = Mapping[str, Any]


def overview(states: Sequence[State], alerts: Alerts | None = None, now: float = 0) -> Sheet:
    """Return the page of all clusters, the worst first; C(alerts) are those about none of them, C(now) is the time."""
    ordered = sorted(states, key=lambda one: (-one.rank, one.name))
    alarms = shown(alerts, now) if alerts else None
    sheet = Sheet("", {}, states=ordered, alerts=alerts, alarms=alarms)
    data = {
        "status": sheet.word,
        "clusters": [
            {**one.data(), **growth_data(growth_of(one), growth_of(one).whole),
             "findings": one.cluster.get("findings", [])}
            for one in ordered
        ],
        **({"alerts": data_of(alerts)} if alerts else {}),
    }  # fmt: skip
    grow = {one.name: growth_of(one) for one in ordered}
    grown = {
        name: growth_tiles(rates.whole, "written to all logs")
        for name, rates in grow.items()
        if rates.seconds is not None
    }
    return replace(sheet, title=f"{sheet.word}: Kafka clusters", data=data, tiles_of=grown)


def cluster(state: State) -> Sheet:
    """Return the first page of a cluster: what is wrong with it and what to do, then its partitions and its quorum.

    Its small tables are put in by page.shown.glance.
    """
    one = state.cluster
    left_out = ("topics", "groups")
    data = {"seen": {key: value for key, value in one.items() if key not in left_out}, "notes": state.notes}
    return sheet_of(state, "", data, before=[*_partitions(state)], tables=[*_quorum(state)], is_whole=True)


def _partitions(state: State) -> Iterator[Table]:
    one = state.cluster
    if one.get("answered") and any(one[kind] for kind in STATES):
        table = partitions_table(one, ON_THE_PAGE)
        named = replace(table, rows=[[linked(row[0], state, "topics"), *row[1:]] for row in table.rows])
        yield with_brokers(named, state, {"Leader", "Replicas", "Not in sync"})


def _quorum(state: State) -> Iterator[Table]:
    if not state.cluster.get("answered"):
        return
    metadata = state.cluster.get("metadata")
    for table in quorum_tables(state.cluster):
        yield with_agreement(with_brokers(table, state, {"Id"}), metadata)
    if detail := detail_table(metadata):
        yield detail


def linked(cell: Cell, state: State, section: str) -> Cell:
    """Return a cell that leads to the page of the topic or group that it names."""
    return replace(cell, text=cell.text or "(empty name)", link=path("clusters", state.name, section, cell.text))


def rows_for_machines(rows: Iterable[Row], without: Collection[str]) -> Iterator[dict[str, Any]]:
    """Yield rows without their long parts, which have pages of their own; as_json alone goes through them."""
    return ({key: value for key, value in row.items() if key not in without} for row in rows)
