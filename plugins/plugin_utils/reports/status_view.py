# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What the page of a status shows, as words: tables, figures with their units, and what stands where nothing is known.
The template (status.html.j2) adds markup and escapes; nothing here does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...module_utils._core.progress import duration
from ...module_utils._health.model import DEGRADED, DOWN, FATAL, NOTE, OK, place
from ...module_utils._mirror_drill.model import LastDrill
from .status import running_versions
from .status_cells import Cell, Table, count, cut_table
from .status_data import ORDER, UNKNOWN
from .status_tables import cluster_tables

#: By status the class of its colours, the path of its mark (in 60 x 60), and what it means.
LOOKS = {
    OK: ("pass", "M18 31l8 8 16-18", "Everything is as it should be."),
    DEGRADED: ("inconclusive", "M30 17v16M30 43v.1", "Clients are served, and something is not as it should be."),
    DOWN: ("fail", "M20 20l20 20M40 20L20 40", "Clients are not served, or not all of them."),
    UNKNOWN: ("info", "M23 23a7 7 0 1 1 10 7c-3 1-3 3-3 5M30 43v.1", "It could not be looked at."),
}
#: What a status means for a flow of a mirror.
MIRRORS = {
    OK: "It is up to date.",
    DEGRADED: "It is behind, or not all of it is known.",
    DOWN: "Source or target does not answer.",
    UNKNOWN: LOOKS[UNKNOWN][2],
}
#: By severity of a finding the class of its colours.
TONES = {FATAL: "fail", NOTE: "info"}

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Part:
    """What is shown of a cluster or a flow."""

    anchor: str
    kind: str
    name: str
    word: str
    why: str
    facts: Sequence[tuple[str, str]]
    findings: Sequence[Row] = ()
    tiles: Sequence[tuple[str, str, str]] = ()
    tables: Sequence[Table] = ()
    looks: tuple[str, str, str] = field(default=LOOKS[UNKNOWN])


def parts(data: Row) -> list[Part]:
    """Return clusters and flows of a report as the page shows them, the worst first."""
    clusters = [
        replace(head(number, one), tables=[*cluster_tables(one)]) for number, one in enumerate(data["clusters"], 1)
    ]
    mirrors = [_mirror(number, one) for number, one in enumerate(data["mirrors"], 1)]
    return sorted([*clusters, *mirrors], key=lambda part: -ORDER.index(part.word))


def counted(data: Row) -> str:
    """Return how many clusters and flows a report is about."""
    told = [("cluster", len(data["clusters"])), ("mirror", len(data["mirrors"]))]
    return " and ".join(f"{count} {word}{'' if count == 1 else 's'}" for word, count in told if count) or "no cluster"


def head(number: int, one: Row) -> Part:
    """Return what is shown of a cluster before its tables; ``number`` tells it from others in the same document."""
    answered = one["answered"]
    versions = {node["host"]: node["version"] for node in one["inventory"]}
    facts = [("Bootstrap servers", ", ".join(one["bootstrap_servers"]))] if one["bootstrap_servers"] else []
    if versions:
        facts.insert(0, ("Kafka", running_versions(versions)))
    if one["cluster_id"]:
        facts.append(("Cluster id", one["cluster_id"]))
    return Part(
        f"cluster-{number}",
        "cluster" if versions else "ensemble",
        one["name"],
        one["status"],
        _why(one),
        facts,
        _in_order(one["findings"]),
        [*_tiles(one)] if answered else (),
        looks=LOOKS[one["status"]],
    )


def _in_order(findings: Iterable[Row]) -> list[Row]:
    """Return findings as status.yml names them."""
    return sorted(findings, key=lambda finding: place(finding["kind"], finding["severity"]))


def _why(one: Row) -> str:
    """Return the sentence under the name of a part."""
    error = one.get("error") or (one.get("ensemble") or {}).get("error")
    if one["status"] == UNKNOWN and error:
        return f"It could not be looked at: {error}"
    graver = sum(finding["severity"] != NOTE for finding in one["findings"])
    found = f"{graver} finding{'' if graver == 1 else 's'}." if graver else ""
    meaning = MIRRORS[one["status"]] if "flow" in one else LOOKS[one["status"]][2]
    return " ".join(filter(None, [meaning, found]))


def _tiles(one: Row) -> Iterator[tuple[str, str, str]]:
    """Figures of a cluster that answers: name, value, what belongs to it."""
    counts, brokers = one["counts"], one["brokers"]
    wanted = sum("broker" in node["roles"] for node in one["inventory"])
    alive = sum(not broker["fenced"] and not broker.get("no_answer") for broker in brokers)
    yield "Brokers up", f"{alive:,} of {max(wanted, len(brokers)):,}", f"{len(brokers):,} registered"
    yield "Partitions", f"{counts['partitions']:,}", f"in {len(one['topics']):,} topics, internal ones too"
    yield "Not in sync", f"{counts['under_replicated']:,}", "under-replicated partitions"
    yield (
        "Without a leader",
        f"{counts['offline']:,}",
        f"{counts['under_min_isr']:,} partitions below min.insync.replicas",
    )


def _mirror(number: int, one: Row) -> Part:
    topics = sorted(one["topics"], key=lambda row: (-(row["lag"] or 0), row["source"]))
    rows = [
        [
            Cell(row["source"], "name"),
            Cell(row["target"], "name", more="not there" if row["target_partitions"] is None else ""),
            count(row["lag"], "records"),
        ]
        for row in topics
    ]
    columns = (("Topic", "name"), ("In the target", "name"), ("Lag", "num"))
    looked = one["lag"] is not None
    tiles = (
        [
            ("Behind", f"{one['lag']:,}", "records"),
            (
                "Partitions complete",
                f"{one['partitions_done']:,} of {one['partitions_total']:,}",
                "every record is there",
            ),
            ("Last heartbeat", _ago(one["heartbeat_age_ms"]), "that came through"),
            ("Last checkpoint", _ago(one["checkpoint_age_ms"]), "of offsets of groups"),
        ]
        if looked
        else ()
    )
    if drill := one["drill"]:
        last = LastDrill(**{key: value for key, value in drill.items() if key != "summary"})
        tiles = (*tiles, ("Last drill", last.ago, f"{last.state}: {last.summary}" if last.at else last.summary))
    table = cut_table("Topics", "By lag, the largest first.", columns, rows, "The flow has no topic yet.")
    return Part(
        *(f"mirror-{number}", "mirror", one["flow"], one["status"], _why(one), ()),
        findings=_in_order(one["findings"]),
        tiles=tiles,
        tables=[table] if looked else (),
        looks=LOOKS[one["status"]],
    )


def _ago(milliseconds: int | None) -> str:
    return "none seen" if milliseconds is None else f"{duration(max(0, milliseconds) / 1000)} ago"
