# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What the page of a status shows, as words: tables, figures with their units, and what stands where nothing is known.
The template (status.html.j2) adds markup and escapes; nothing here does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.progress import duration
from ansible_collections.streamops.kafka.plugins.module_utils._health.model import (
    DEGRADED,
    DOWN,
    FATAL,
    NOTE,
    OK,
    SERIOUS,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.group_lines import shown
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.move_lines import megabytes
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status import running_versions
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_data import ORDER, UNKNOWN

#: Rows that a table shows: a cluster of a hundred thousand partitions must still open on a phone.
LISTED = 200
#: What stands where a figure is not known.
DASH = "not known"
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
#: By the list of cluster_info what a partition in it is, the gravest first.
STATES = {
    "offline": ("no leader", "fail"),
    "under_min_isr": ("below min ISR", "inconclusive"),
    "under_replicated": ("under-replicated", "inconclusive"),
}

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Cell:
    """One cell of a table.

    ``form`` is text, name (what clients and operators chose: cut nowhere, broken anywhere), num (to the right) or state
    (a word in a pill, coloured by ``tone``). ``share`` draws a bar from 0 to 1; ``more`` is a second line.
    """

    text: str
    form: str = "text"
    tone: str = ""
    more: str = ""
    share: float | None = None


@dataclass(frozen=True)
class Table:
    """A titled table; ``empty`` stands where it has no row. ``columns`` are titles with the form of their cells."""

    title: str
    note: str
    columns: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[Cell]]
    empty: str = "None."


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
    clusters = [_cluster(number, one) for number, one in enumerate(data["clusters"], 1)]
    mirrors = [_mirror(number, one) for number, one in enumerate(data["mirrors"], 1)]
    return sorted([*clusters, *mirrors], key=lambda part: -ORDER.index(part.word))


def counted(data: Row) -> str:
    """Return how many clusters and flows a report is about."""
    told = [("cluster", len(data["clusters"])), ("mirror", len(data["mirrors"]))]
    return " and ".join(f"{count} {word}{'' if count == 1 else 's'}" for word, count in told if count) or "no cluster"


def _cluster(number: int, one: Row) -> Part:
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
        _graver_first(one["findings"]),
        [*_tiles(one)] if answered else (),
        [*_tables(one)],
        LOOKS[one["status"]],
    )


def _graver_first(findings: Iterable[Row]) -> list[Row]:
    weights = (FATAL, SERIOUS, NOTE)
    return sorted(findings, key=lambda one: weights.index(one["severity"]))


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
    alive = sum(not broker["fenced"] for broker in brokers)
    yield "Brokers up", f"{alive:,} of {max(wanted, len(brokers)):,}", f"{len(brokers):,} registered"
    yield "Partitions", f"{counts['partitions']:,}", f"in {len(one['topics']):,} topics, internal ones too"
    yield "Not in sync", f"{counts['under_replicated']:,}", "under-replicated partitions"
    yield (
        "Without a leader",
        f"{counts['offline']:,}",
        f"{counts['under_min_isr']:,} partitions below min.insync.replicas",
    )


def _tables(one: Row) -> Iterator[Table]:
    """The tables of a cluster: partitions with findings first, then what there is."""
    if one["answered"]:
        if any(one[kind] for kind in STATES):
            yield _partitions(one)
        yield _brokers(one)
        yield from _quorum(one)
        yield _topics(one["topics"])
        yield _groups(one["groups"])
    if one["ensemble"]:
        yield _ensemble(one["ensemble"])


def _brokers(one: Row) -> Table:
    hosts = {node["node_id"]: node for node in one["inventory"] if "broker" in node["roles"]}
    registered = {broker["id"]: broker for broker in one["brokers"]}
    rows = [
        _broker(number, hosts.get(number), registered.get(number), one["controller_id"])
        for number in sorted({*hosts, *registered})
    ]
    columns = (
        *(("Id", "num"), ("Broker", "name"), ("State", "state"), ("Rack", "name"), ("Version", "text")),
        *(("Leaders", "num"), ("Replicas", "num"), ("Led by others", "num"), ("Disks used", "num")),
    )
    note = "Led by others: of the partitions that a broker prefers to lead."
    return _table("Brokers", note, columns, rows)


def _broker(number: int, node: Row | None, broker: Row | None, controller: int | None) -> list[Cell]:
    name = node["host"] if node else broker["host"] if broker else ""
    address = f"{broker['host']}:{broker['port']}" if broker and broker.get("host") else ""
    if broker is None:
        state = Cell("not registered", "state", "fail")
    elif broker["fenced"]:
        state = Cell("fenced", "state", "fail")
    elif node is None:
        state = Cell("not in inventory", "state", "inconclusive")
    else:
        state = Cell("controller" if number == controller else "up", "state", "pass")
    told = broker or {}
    return [
        Cell(str(number), "num"),
        Cell(name, "name", more=address if address != name else ""),
        state,
        Cell(told.get("rack") or "none", "name"),
        Cell((node or {}).get("version") or DASH),
        _count(told.get("leaders")),
        _count(told.get("replicas")),
        Cell(DASH if told.get("imbalance_percent") is None else f"{told['imbalance_percent']:.1f} %", "num"),
        _disks(told),
    ]


def _disks(broker: Row) -> Cell:
    """How full the disks of a broker are, and the fullest of them where there are several."""
    total, used = broker.get("disk_total_bytes"), broker.get("disk_used_bytes")
    if not total or used is None:
        return Cell(DASH, "num")
    shares = [
        1 - one["usable_bytes"] / one["total_bytes"]
        for one in broker.get("log_dirs") or ()
        if one.get("total_bytes") and one.get("usable_bytes") is not None
    ]
    more = f"fullest of {len(shares)}: {max(shares) * 100:.0f} %" if len(shares) > 1 else ""
    text = f"{megabytes(used)} of {megabytes(total)} ({used / total * 100:.0f} %)"
    return Cell(text, "num", more=more, share=min(1.0, max(0.0, used / total)))


def _quorum(one: Row) -> Iterator[Table]:
    """The metadata quorum; nothing in ZooKeeper mode."""
    quorum = one["quorum"]
    if not quorum:
        return
    if quorum.get("error"):
        yield _table("Quorum", "", (), (), f"It could not be asked: {quorum['error']}")
        return
    hosts = {node["node_id"]: node["host"] for node in one["inventory"]}
    rows = []
    for kind in ("voters", "observers"):
        for member in quorum.get(kind) or ():
            leads = member["id"] == quorum["leader_id"]
            age = member["last_caught_up_ms_ago"]
            rows.append(
                [
                    Cell(str(member["id"]), "num"),
                    Cell(hosts.get(member["id"], "not in inventory"), "name"),
                    Cell("leader" if leads else kind[:-1]),
                    _count(member["lag"], "records"),
                    Cell("is the leader" if leads else _age(age), "num"),
                ]
            )
    columns = (("Id", "num"), ("Node", "name"), ("Role", "text"), ("Lag", "num"), ("Caught up", "num"))
    leader = "no leader" if quorum["leader_id"] is None else f"node {quorum['leader_id']} leads"
    yield _table("Quorum", f"Of the metadata: {leader} in epoch {quorum['leader_epoch']}.", columns, rows)


def _topics(topics: Sequence[Row]) -> Table:
    rows = [
        [
            Cell(one["name"], "name", more="internal" if one["internal"] else ""),
            _count(one["partition_count"]),
            _count(one["replication_factor"]),
            _count(one["min_insync_replicas"]),
            _largest(one.get("largest_partition")),
        ]
        for one in sorted(topics, key=lambda one: (one["internal"], one["name"]))
    ]
    columns = (
        *(("Topic", "name"), ("Partitions", "num"), ("Replicas", "num"), ("Min ISR", "num")),
        ("Largest partition", "num"),
    )
    return _table("Topics", "Internal ones at the end.", columns, rows, "The cluster has no topic.")


def _largest(one: Row | None) -> Cell:
    if not one:
        return Cell(DASH, "num")
    return Cell(megabytes(one["size_bytes"]), "num", more=f"partition {one['partition']}")


def _partitions(one: Row) -> Table:
    """Partitions with findings, each once, by its gravest state."""
    found: dict[tuple[str, int], list[Cell]] = {}
    for kind, (word, tone) in STATES.items():
        for row in one[kind] or ():
            missing = [broker for broker in row["replicas"] if broker not in row["isr"]]
            found.setdefault(
                (row["topic"], row["partition"]),
                [
                    Cell(row["topic"], "name"),
                    Cell(str(row["partition"]), "num"),
                    Cell(word, "state", tone),
                    Cell("none" if row["leader"] is None else str(row["leader"]), "num"),
                    Cell(_ids(row["replicas"])),
                    Cell(_ids(missing)),
                ],
            )
    columns = (
        *(("Topic", "name"), ("Partition", "num"), ("State", "state"), ("Leader", "num"), ("Replicas", "text")),
        ("Not in sync", "text"),
    )
    return _table("Partitions with findings", "Numbers are ids of brokers.", columns, [*found.values()])


def _groups(found: Row) -> Table:
    groups = sorted(found["groups"], key=lambda one: (-(one.get("lag") or 0), one["name"]))
    columns = (
        *(("Group", "name"), ("Type", "text"), ("State", "text"), ("Members", "num"), ("Lag", "num")),
        ("Most behind", "name"),
    )
    empty = "The cluster has no group."
    note = "By lag, the largest first."
    if not found["known"]:
        empty = f"Groups are not known: {found['error'] or 'they were not asked for'}"
    for broker in found["silent_brokers"]:
        note += f" Broker {broker['id']} did not tell its groups ({broker['why']})."
    return _table("Groups", note if found["known"] else "", columns, [_group(one) for one in groups], empty)


def _group(one: Row) -> list[Cell]:
    told = not one.get("error")
    unknown = f"unknown of {one['lag_unknown']:,} partitions" if one.get("lag_unknown") else ""
    return [
        Cell(one["name"], "name"),
        Cell(one["type"]),
        Cell(one["state"]),
        _count(one.get("member_count") if told else None),
        Cell(DASH, "num") if one.get("lag") is None else Cell(f"{one['lag']:,} records", "num", more=unknown),
        _most_behind(one) if told else Cell(str(one["error"])),
    ]


def _most_behind(group: Row) -> Cell:
    """The partition that a group is behind with most."""
    lags = [
        (row["lag"], topic["name"], row["partition"])
        for topic in group.get("topics") or ()
        for row in topic["partitions"]
        if row["lag"]
    ]
    if not lags:
        return Cell("none", "name")
    lag, topic, partition = max(lags)
    return Cell(f"{topic}-{partition}", "name", more=f"{lag:,} records")


def _ensemble(found: Row) -> Table:
    rows = [
        [
            Cell(str(one["id"]), "num"),
            Cell(one["address"], "name"),
            Cell(one["state"], more=one["error"] or ""),
            Cell(one["version"] or DASH),
        ]
        for one in found["servers"]
    ]
    columns = (("Id", "num"), ("Server", "name"), ("State", "text"), ("Version", "text"))
    return _table("ZooKeeper ensemble", "", columns, rows, f"It could not be looked at: {found['error']}")


def _mirror(number: int, one: Row) -> Part:
    topics = sorted(one["topics"], key=lambda row: (-(row["lag"] or 0), row["source"]))
    rows = [
        [
            Cell(row["source"], "name"),
            Cell(row["target"], "name", more="not there" if row["target_partitions"] is None else ""),
            _count(row["lag"], "records"),
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
    table = _table("Topics", "By lag, the largest first.", columns, rows, "The flow has no topic yet.")
    return Part(
        *(f"mirror-{number}", "mirror", one["flow"], one["status"], _why(one), ()),
        findings=_graver_first(one["findings"]),
        tiles=tiles,
        tables=[table] if looked else (),
        looks=LOOKS[one["status"]],
    )


def _table(
    title: str,
    note: str,
    columns: Sequence[tuple[str, str]],
    rows: Sequence[Sequence[Cell]],
    empty: str = "None.",
) -> Table:
    """Return a table that is cut at LISTED rows and says so."""
    if len(rows) > LISTED:
        note = f"{note} {LISTED:,} of {len(rows):,}; the JSON file has all.".strip()
    return Table(title, note, columns, rows[:LISTED], empty)


def _count(value: int | None, unit: str = "") -> Cell:
    return Cell(DASH if value is None else f"{value:,} {unit}".strip(), "num")


def _ids(brokers: Iterable[int]) -> str:
    return ", ".join(map(str, brokers)) or "none"


def _age(milliseconds: int | None) -> str:
    """How long ago a member of the quorum had caught up; Kafka says -1 where it never has."""
    return DASH if milliseconds is None or milliseconds < 0 else f"{milliseconds / 1000:,.1f} s ago"


def _ago(milliseconds: int | None) -> str:
    return "none seen" if milliseconds is None else f"{duration(max(0, milliseconds) / 1000)} ago"


def visible(text: Any) -> str:
    """Return text with what a screen does not show, or shows elsewhere (marks of direction), as escapes."""
    return shown(str(text))
