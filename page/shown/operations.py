"""What was done to a cluster: the reports that playbooks left, and how each ended. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.names import capped
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_cells import Cell, Table, size
from page.filed.shelf import LARGEST_PAGE, MOST_NAMES, Report, Shelved
from page.known.freshness import iso
from page.shown.names import path
from page.shown.sheet import Lister, Sheet, State, downloads, sheet_of
from page.shown.wanted import BY_NAME, Sort, Wanted, listed

Row = Mapping[str, Any]

SECTION = "operations"
SORTS = (
    Sort("begin", "Begin", lambda one: one["begin"], words=("newest first", "oldest first")),
    Sort("kind", "Kind", lambda one: one["kind"], falls=False, words=BY_NAME),
    Sort("result", "Result", lambda one: one["result"], falls=False, words=BY_NAME),
    Sort("name", "File", lambda one: one["name"], falls=False, words=BY_NAME, column="Report"),
    Sort("size", "Size", lambda one: one["size_bytes"]),
)
COLUMNS = ("begin", "begin_known", "kind", "result", "summary", "clusters", "name", "size_bytes", "key")
_TITLES = (
    *(("Begin", "text"), ("Kind", "text"), ("Result", "state"), ("In words", "short"), ("Clusters", "name")),
    *(("Report", "name"), ("Size", "num")),
)
_NOTE = (
    "What playbooks did or saw, by the reports that they left. Restarts leave no report without kafka_prove; the log "
    "of their run has them."
)
_STEP = "Set kafka_page_reports to a directory that the user of the page may read, then run page.yml."


def of_cluster(reports: Sequence[Report], cluster: str) -> list[Report]:
    """Return the reports in the folder of a cluster, and those that name it themselves."""
    return [one for one in reports if one.folder == cluster or cluster in one.told.clusters]


def operations(state: State, shelved: Shelved, wanted: Wanted) -> Sheet:
    """Return the reports on a cluster that a reader looks for, the newest first unless another order is wanted."""
    some = of_cluster(shelved.reports, state.name)
    rows = [_row(one, state.name) for one in some]
    found = listed(rows, wanted, SORTS)
    by_key = {one.key: one for one in some}
    cells = [_cells(one, by_key[one["key"]]) for one in found.rows]
    table = Table("Reports", _note(shelved), _TITLES, cells, _empty(shelved, bool(rows)))
    own = path("clusters", state.name, SECTION)
    return sheet_of(
        state,
        SECTION,
        {"reports": [*found.every], "known": not shelved.problem, "problem": shelved.problem,
         "left_out": shelved.left_out},
        lister=Lister("Reports", own, wanted, found, SORTS, table, downloads(own, wanted), True),
        rows=[COLUMNS, *(_line(one) for one in found.every)],
    )  # fmt: skip


def _note(shelved: Shelved) -> str:
    older = f" {shelved.left_out:,} older ones are left out." if shelved.left_out else ""
    cut = f" Of the directory {MOST_NAMES:,} names were looked at, and not the others." if shelved.is_cut else ""
    return f"{_NOTE}{older}{cut}"


def _empty(shelved: Shelved, has_rows: bool) -> str:
    if has_rows:
        return "No report has this in its name."
    if shelved.problem:
        return f"Reports are not known: {shelved.problem}. {_STEP}"
    return f"There is no report on this cluster.{_note(shelved).removeprefix(_NOTE)}"


def _row(one: Report, cluster: str) -> dict[str, Any]:
    told = one.told
    return {
        "key": one.key,
        "name": "/".join(one.parts),
        "begin": iso(one.begun),
        "begin_known": told.began is not None,
        "kind": told.kind,
        "result": told.result,
        "summary": told.said,
        "clusters": [*(told.clusters or [one.folder])],
        "size_bytes": one.size,
        "address": path("clusters", cluster, SECTION, one.key) if one.is_served else None,
    }


def _cells(row: Row, one: Report) -> list[Cell]:
    large = f"larger than {LARGEST_PAGE // 10**6} MB: open it where it is"
    return [
        Cell(_clock(row["begin"]), more="" if row["begin_known"] else "written; begin not known"),
        Cell(row["kind"]),
        Cell(row["result"], "state", one.told.tone),
        Cell(row["summary"], "short"),
        Cell(capped(row["clusters"], 5), "name"),
        Cell(row["name"], "name", link=row["address"] or "", more="" if one.is_served else large),
        size(one.size),
    ]


def _clock(when: str) -> str:
    return when.replace("T", " ").replace("Z", " UTC")


def _line(one: Row) -> list[Any]:
    return [", ".join(one[key]) if isinstance(one[key], list) else one[key] for key in COLUMNS]
