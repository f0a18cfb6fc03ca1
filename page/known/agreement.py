"""Whether all brokers believe the same of the metadata: when they are asked, for what, and how it is told. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.names import capped
from ansible_collections.streamops.kafka.plugins.module_utils._metadata.model import ASKED, BROKER
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_cells import (
    ON_THE_PAGE,
    Cell,
    Table,
    cut_table,
)
from page.known.freshness import clock

Row = Mapping[str, Any]

#: Each broker tells all that it knows, so they are asked at the first poll and then at each tenth.
EVERY = 10
#: Partitions above which topics are left out: with them each broker tells megabytes.
MOST_PARTITIONS = 10_000
_LARGE = ("topics", "partitions", "topic_configs")
_TOO_MANY = f"the cluster has more than {MOST_PARTITIONS:,} partitions"
#: Names that the detail of a difference shows.
SHOWN = 5


def is_due(before: Row | None) -> bool:
    """Return whether brokers are to be compared at this poll; C(before) is the row of the poll before."""
    return before is None or before["polls_ago"] + 1 >= EVERY


def carried(before: Row) -> dict[str, Any]:
    """Return the row of the poll before, which is one poll older now."""
    return {**before, "polls_ago": before["polls_ago"] + 1}


def subjects_for(partitions: int) -> list[str]:
    """Return what brokers are asked in a cluster of so many partitions."""
    is_large = partitions > MOST_PARTITIONS
    return [one for one, kinds in ASKED.items() if BROKER in kinds and not (is_large and one in _LARGE)]


def agreement_of(found: Row, subjects: Sequence[str], controllers: Sequence[int], now: float) -> dict[str, Any]:
    """Return what a comparison found; C(found) is as the module returns it, C(controllers) were not asked."""
    told = {subject for node in found["nodes"] for subject in node["digests"]}
    reasons = {subject: why for node in found["nodes"] for subject, why in node["unanswered"].items()}
    every = [one for one, kinds in ASKED.items() if BROKER in kinds]
    without = {one: _TOO_MANY if one not in subjects else reasons.get(one, "no broker told it") for one in every}
    return {
        "asked": now,
        "polls_ago": 0,
        "agree": found["agree"],
        "line": found["lines"][0],
        "lines": list(found["lines"][1:]),
        "compared": [one for one in every if one in told],
        "not_compared": {one: why for one, why in without.items() if one not in told},
        "controllers_not_asked": sorted(controllers),
        "silent": list(found["silent"]),
        "lagging": dict(found["lagging"]),
        "differences": list(found["differences"]),
    }


def not_compared(why: str, now: float) -> dict[str, Any]:
    """Return the row of a comparison that failed."""
    return {
        "asked": now, "polls_ago": 0, "agree": None, "line": f"not compared: {why.rstrip('.')}", "lines": [],
        "compared": [], "not_compared": {}, "controllers_not_asked": [], "silent": [], "lagging": {},
        "differences": [],
    }  # fmt: skip


def with_agreement(quorum: Table, row: Row | None) -> Table:
    """Return the table of the quorum with the line that says whether all brokers agree."""
    return replace(quorum, note=f"{quorum.note} {agreement_note(row)}".strip()) if row else quorum


def agreement_note(row: Row) -> str:
    """Return whether brokers agree, in what they were compared, and who was not asked."""
    said = [f"metadata: {row['line']}."]
    if row["compared"]:
        said.append(f"Compared: {', '.join(row['compared'])}.")
    if row["not_compared"]:
        said.append(f"Not compared: {', '.join(row['not_compared'])}.")
    if row["controllers_not_asked"]:
        who = capped([f"controller {one}" for one in row["controllers_not_asked"]], SHOWN)
        said.append(f"Not asked: {who}, since the page asks brokers alone; the module metadata_compare asks them too.")
    return f"{' '.join(said)} Asked at {clock(row['asked'])}, and again after {EVERY} polls."


def detail_table(row: Row | None) -> Table | None:
    """Return who differs in what, who is behind, who does not answer, and which broker did not tell what others did.

    None where there is none of it.
    """
    lines = [one for one in (row["lines"] if row else ()) if row and not _is_of_no_broker(one, row)]
    if not lines:
        return None
    note = "Where brokers do not agree, or do not answer; docs/metadata-compare.md says what to do."
    return cut_table("Metadata", note, (("What", "short"),), [[Cell(one, "short")] for one in lines], whole=ON_THE_PAGE)


def _is_of_no_broker(line: str, row: Row) -> bool:
    """Whether a line is about what no broker told: the note under the quorum says that already."""
    return row["agree"] is True and line.partition(" not compared at ")[0] in row["not_compared"]
