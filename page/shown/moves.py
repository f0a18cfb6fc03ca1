"""The partitions of a cluster that are being moved. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_cells import (
    ON_THE_PAGE,
    Cell,
    Table,
    cut_table,
    ids,
    size,
)
from page.shown.clusters import linked
from page.shown.ids import with_brokers
from page.shown.names import path
from page.shown.sheet import Lister, Sheet, State, downloads, sheet_of
from page.shown.wanted import BY_NAME, Sort, Wanted, listed

Row = Mapping[str, Any]

SORTS = (
    Sort("name", "Partition", lambda one: (one["topic"], one["partition"]), falls=False, words=BY_NAME),
    Sort("topic", "Topic", lambda one: (one["topic"], one["partition"]), falls=False, words=BY_NAME),
    Sort("size", "Size", lambda one: one["size_bytes"]),
    Sort("left", "Left to copy", lambda one: one["left_bytes"], column="Copied"),
)
COLUMNS = ("topic", "partition", "from", "to", "adding", "removing", "size_bytes", "copied_bytes")
#: Findings (module_utils/_health/move_rules.py) that say what moves mean, and what to do.
_KINDS = ("move_running", "move_left", "throttle_left")
_RUNS = (
    "The new brokers copy these partitions from their leaders. Clients are served meanwhile. A move ends when all new "
    "replicas are in sync; then the removed ones are deleted."
)


def moves(state: State, wanted: Wanted) -> Sheet:
    """Return the moves that a reader looks for, with what they mean and the next step."""
    seen = state.cluster.get("moves") or {}
    rows = [{**one, "name": f"{one['topic']}-{one['partition']}", "left_bytes": _left(one)}
            for one in seen.get("partitions", ())]  # fmt: skip
    found = listed(rows, wanted, SORTS)
    columns = (
        *(("Topic", "name"), ("Partition", "num"), ("From", "text"), ("To", "text"), ("New", "text")),
        *(("Removed", "text"), ("Size", "num"), ("Copied", "num")),
    )
    empty = "No move has this in its name." if rows else "No partition is being moved."
    table = Table(
        "Partitions that are being moved",
        "Numbers are ids of brokers. Copied: by the new broker that has the fewest bytes.",
        columns,
        [_cells(one, state) for one in found.rows],
        empty if seen.get("known") else "Moves are unknown; the finding untold on the overview says why.",
    )
    table = with_brokers(table, state, {"From", "To", "New", "Removed"})
    own = path("clusters", state.name, "moves")
    return sheet_of(
        state,
        "moves",
        {"moves": {**seen, "partitions": [*found.every]}},
        say=_said(seen) if rows else "",
        findings=[one for one in state.cluster.get("findings", ()) if one["kind"] in _KINDS],
        lister=Lister("Moves", own, wanted, found, SORTS, table, downloads(own, wanted), True) if seen else None,
        tables=[_throttles(seen["throttles"])] if seen.get("throttles") else [],
        rows=chain([COLUMNS], (_line(one) for one in found.every)),
    )


def _said(seen: Row) -> str:
    recorded = seen.get("recorded")
    return _RUNS + (f" The record of a run of this collection has {recorded:,} partitions." if recorded else "")


def _left(one: Row) -> int | None:
    size, copied = one["size_bytes"], one["copied_bytes"]
    return None if size is None or copied is None else max(0, size - copied)


def _line(one: Row) -> list[Any]:
    return [ids(one[key]) if isinstance(one[key], list) else one[key] for key in COLUMNS]


def _cells(one: Row, state: State) -> list[Cell]:
    whole, copied = one["size_bytes"], one["copied_bytes"]
    share = min(1.0, copied / whole) if whole and copied is not None else None
    return [
        linked(Cell(one["topic"], "name"), state, "topics"),
        Cell(str(one["partition"]), "num"),
        *(Cell(ids(one[key])) for key in ("from", "to", "adding", "removing")),
        size(whole),
        replace(size(copied), share=share) if one["adding"] else Cell("nothing to copy", "num"),
    ]


def _throttles(throttles: list[Row]) -> Table:
    rows = [
        [Cell(f"{one['kind']} {one['name']}", "name"), Cell(one["key"], "name"), Cell(str(one["value"]), "name")]
        for one in throttles
    ]
    note = "Kafka slows the copies of these down to the rates of their brokers, in bytes a second."
    columns = (("Set on", "name"), ("Setting", "name"), ("Value", "name"))
    return cut_table("Throttles that no record of a run explains", note, columns, rows, whole=ON_THE_PAGE)
