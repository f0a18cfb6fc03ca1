"""The topics of a cluster, and one of them. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import effective_min_isr
from ansible_collections.streamops.kafka.plugins.module_utils._groups.model import behind, totals
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_cells import (
    Cell,
    Table,
    count,
    cut_table,
    ids,
    size,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_tables import (
    GROUP_COLUMNS,
    STATES,
    TOPIC_COLUMNS,
    copies,
    gravest,
    group_row,
    topic_row,
)
from page.alerts.told import TOPIC
from page.known.details import CONFIGS
from page.shown.ages import as_of, details_of, newer, not_told, times
from page.shown.causes import about_topic
from page.shown.clusters import linked, rows_for_machines
from page.shown.growth import GROWTH_COLUMNS, growth_cells, growth_data, growth_note, growth_of, growth_tiles
from page.shown.ids import with_brokers
from page.shown.kinds import Kind, Kinds
from page.shown.names import path
from page.shown.settings import defaults_table, setting_rows, settings_table
from page.shown.sheet import Link, Lister, Sheet, State, downloads, nothing, sheet_of
from page.shown.wanted import BY_NAME, Sort, Wanted, listed

Row = Mapping[str, Any]

SORTS = (
    Sort("name", "Name", lambda one: one["name"], falls=False, words=BY_NAME, column="Topic"),
    Sort("partitions", "Partitions", lambda one: one["partition_count"]),
    Sort("size", "Size", lambda one: one.get("size_bytes")),
    Sort("largest", "Largest partition", lambda one: (one.get("largest_partition") or {}).get("size_bytes")),
    Sort("replicas", "Replicas", lambda one: one["replication_factor"], falls=False),
    Sort("min_isr", "Min ISR", lambda one: one["min_insync_replicas"], falls=False),
    Sort("hurt", "Partitions with findings", lambda one: one["hurt"], column="State"),
    Sort("records", "Records/s", lambda one: one["growth"]["records_per_second"]),
    Sort("bytes", "Bytes/s", lambda one: one["growth"]["bytes_per_second"]),
)
#: Internal is what a broker says is internal; another name may begin with two underscores.
KINDS = Kinds(
    "internal",
    (
        Kind("no", "Without internal ones", lambda one: not one["internal"]),
        Kind("only", "Internal ones", lambda one: bool(one["internal"])),
    ),
    "Show topics",
)
#: Of one topic.
PARTITION_SORTS = (
    Sort(
        "partition", "Partition", lambda one: one["partition"], falls=False, words=("the last first", "the first first")
    ),
    Sort("size", "Size", lambda one: one.get("size_bytes")),
    Sort("state", "State", lambda one: one["state"], falls=False, words=BY_NAME),
    Sort("leader", "Leader", lambda one: one["leader"], falls=False, words=("largest id first", "smallest id first")),
    Sort("records", "Offsets", lambda one: one["held"], column="Next offset"),
)
COLUMNS = (
    "topic",
    "partitions",
    "replication_factor",
    "min_insync_replicas",
    "size_bytes",
    "internal",
    "with_findings",
    "records_per_second",
    "bytes_per_second",
)


def topics(state: State, wanted: Wanted) -> Sheet:
    """Return the topics that a reader looks for."""
    hurt = Counter(name for name, _partition in gravest(state.cluster))
    rates = growth_of(state)
    rows = [
        {**one, "hurt": hurt[one["name"]], **growth_data(rates, rates.topic(one["name"]))}
        for one in state.cluster.get("topics", ())
    ]
    found = listed(rows, wanted, SORTS, KINDS)
    columns = (*TOPIC_COLUMNS, ("Size", "num"), *GROWTH_COLUMNS, ("State", "state"))
    empty = nothing(wanted, "topic", KINDS) if rows else "The cluster has no topic."
    table = Table("Topics", growth_note(state), columns, [_row(one, state) for one in found.rows], empty)
    own = path("clusters", state.name, "topics")
    data = {"topics": rows_for_machines(found.every, ("partitions",))}
    lister = Lister("Topics", own, wanted, found, SORTS, table, downloads(own, wanted), True, kinds=KINDS)
    lines = chain([COLUMNS], (_line(one) for one in found.every))
    return sheet_of(state, "topics", data, lister=lister if state.cluster else None, rows=lines)


def topic(state: State, name: str, wanted: Wanted) -> Sheet | None:
    """Return a topic with its partitions, configuration and readers; None where the picture has none of this name."""
    found = next((one for one in state.cluster.get("topics", ()) if one["name"] == name), None)
    if found is None:
        return None
    logs = state.seen.picture.logs.get(name, {}) if state.seen.picture else {}
    states = {at: STATES[kind][0] for (of, at), (kind, _row) in gravest(state.cluster).items() if of == name}
    rows = []
    for one in found.get("partitions") or ():
        log = logs.get(one["partition"])
        start, end = (log.start, log.end) if log and not log.missing else (None, None)
        held = None if start is None or end is None else end - start
        rows.append({**one, "name": one["partition"], "start": start, "end": end, "held": held,
                     "state": states.get(one["partition"], "in sync")})  # fmt: skip
    cut = listed(rows, wanted, PARTITION_SORTS)
    columns = (
        *(("Partition", "num"), ("State", "state"), ("Leader", "num"), ("Replicas", "text"), ("In sync", "text")),
        *(("Size", "num"), ("First offset", "num"), ("Next offset", "num")),
    )
    none = "The partitions of this topic were not told."
    table = Table("Partitions", "", columns, [_partition(one) for one in cut.rows], none)
    table = with_brokers(table, state, {"Leader", "Replicas", "In sync"})
    own = path("clusters", state.name, "topics", name)
    readers = _readers(state, name)
    rates = growth_of(state)
    lister = Lister("Partitions", own, wanted, cut, PARTITION_SORTS, table, [Link("JSON", f"{own}?format=json")])
    tiles = [
        ("Partitions", f"{found['partition_count']:,}", f"{len(states):,} with findings"),
        ("Copies", copies(found), _asked(found)),
        ("Size", size(found.get("size_bytes")).text, "of its leaders"),
        ("Groups", f"{len(readers):,}", "with offsets in it"),
        *growth_tiles(rates.topic(name), "written to its logs"),
    ]
    data = {
        "topic": {**found, "partitions": rows, **growth_data(rates, rates.topic(name))},
        **_configuration(state, name),
        "groups": [one["name"] for one in readers],
    }
    tables = [
        settings_table(data["config"], as_of(state, CONFIGS), data["config_not_told"]),
        _groups(state, readers, name),
    ]
    rest = [defaults_table(data["config"], as_of(state, CONFIGS))]
    return sheet_of(
        state,
        "topics",
        data,
        subject=name,
        findings=about_topic(state.cluster, name),
        alerts_about=state.alerts_about(**{TOPIC: name}),
        tiles=tiles,
        lister=lister,
        tables=tables,
        folded=rest,
    )


def _asked(found: Row) -> str:
    """How many copies must be in sync for acks=all: the setting, and what Kafka makes of one above the copies."""
    least = found["min_insync_replicas"]
    asked = effective_min_isr(least, found["replication_factor"])
    return f"min.insync.replicas {least}" + (f", Kafka asks for {asked}" if asked < least else "")


def _configuration(state: State, name: str) -> dict[str, Any]:
    """Return the settings of a topic for machines: None where they are not known, with the reason, and their time."""
    configs, when = details_of(state).configs, times(state, CONFIGS)[CONFIGS]
    if configs is None or when is None:
        return {"config": None, "config_as_of": None, "config_not_told": not_told(state, CONFIGS)}
    if name not in configs.own:
        return {"config": None, "config_as_of": None, "config_not_told": newer(state, CONFIGS)}
    why = details_of(state).why.get(CONFIGS, "")
    return {"config": setting_rows(configs, name), "config_as_of": when, "config_not_told": why}


def _row(one: Row, state: State) -> list[Cell]:
    first, *more = topic_row(one)
    hurt = one["hurt"]
    word = Cell(f"{hurt:,} with findings", "state", "inconclusive") if hurt else Cell("in sync", "state", "pass")
    grown = growth_cells(growth_of(state).topic(one["name"]))
    return [linked(first, state, "topics"), *more, size(one.get("size_bytes")), *grown, word]


def _line(one: Row) -> list[Any]:
    keys = ("name", "partition_count", "replication_factor", "min_insync_replicas", "size_bytes", "internal", "hurt")
    return [*(one.get(key) for key in keys), *(one["growth"][key] for key in COLUMNS[-2:])]


def _partition(one: Row) -> list[Cell]:
    tones = dict(STATES.values())
    return [
        Cell(str(one["partition"]), "num"),
        Cell(one["state"], "state", tones.get(one["state"], "pass")),
        Cell("none" if one["leader"] is None else str(one["leader"]), "num"),
        Cell(ids(one["replicas"])),
        Cell(ids(one["isr"])),
        size(one.get("size_bytes")),
        count(one["start"]),
        count(one["end"]),
    ]


def _readers(state: State, name: str) -> Sequence[Row]:
    groups = (state.cluster.get("groups") or {}).get("groups", ())
    return [one for one in groups if any(topic["name"] == name for topic in one.get("topics") or ())]


def _groups(state: State, readers: Sequence[Row], name: str) -> Table:
    """Return the groups with offsets in a topic, with their lag in it alone."""
    rows = []
    for one in readers:
        positions = [row for topic in one["topics"] if topic["name"] == name for row in topic["partitions"]]
        # Its positions, which may be many thousands, show only in the cell that is cut off below.
        own = {**one, **totals(positions), "behind": behind(positions), "topics": ()}
        rows.append((own["behind"] or own["lag"] or 0, own))
    rows.sort(key=lambda pair: (-pair[0], pair[1]["name"]))
    shown = [group_row(one)[:5] for _lag, one in rows]
    cells = [[linked(first, state, "groups"), *more] for first, *more in shown]
    return cut_table(
        "Groups that read it",
        "Lag in this topic alone.",
        GROUP_COLUMNS[:5],
        cells,
        "No group has an offset in it.",
        "the JSON of this page names all",
    )
