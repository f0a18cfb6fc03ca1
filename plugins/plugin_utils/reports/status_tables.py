# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The tables of a cluster on the page of a status: partitions with findings, brokers, quorum, topics, groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...module_utils._cluster.file_systems import RESERVE, Dir, by_file_system, dir_of
from ...module_utils._groups.model import left
from ...module_utils._health.consequences import consequences, down_brokers
from .logins import at_time
from .move_lines import megabytes
from .status_cells import IN_THE_FILE, NOT_KNOWN, Cell, Table, count, cut_table, ids, size

#: By the list of cluster_info what a partition in it is, the gravest first.
STATES = {
    "offline": ("no leader", "fail"),
    "under_min_isr": ("below min ISR", "inconclusive"),
    "under_replicated": ("under-replicated", "inconclusive"),
}
TOPIC_COLUMNS = (
    *(("Topic", "name"), ("Partitions", "num"), ("Replicas", "num"), ("Min ISR", "num")),
    ("Largest partition", "num"),
)
GROUP_COLUMNS = (
    *(("Group", "name"), ("Type", "text"), ("State", "text"), ("Members", "num"), ("Lag", "num")),
    ("Most behind", "name"),
)

Row = Mapping[str, Any]


def cluster_tables(one: Row) -> Iterator[Table]:
    """The tables of a cluster: partitions with findings first, then what there is."""
    if one["answered"]:
        if any(one[kind] for kind in STATES):
            yield partitions_table(one)
        yield brokers_table(one)
        yield from quorum_tables(one)
        yield _topics(one["topics"])
        yield _groups(one["groups"])
    # A report of an earlier release has no such key.
    if one.get("logins"):
        yield _logins(one["logins"])
    if one["ensemble"]:
        yield _ensemble(one["ensemble"])


def brokers_table(one: Row, whole: str = IN_THE_FILE) -> Table:
    """Return the brokers of a cluster: those of its inventory and those that are registered."""
    hosts = {node["node_id"]: node for node in one["inventory"] if "broker" in node["roles"]}
    registered = {broker["id"]: broker for broker in one["brokers"]}
    rows = [
        _broker(number, hosts.get(number), registered.get(number), one["controller_id"])
        for number in sorted({*hosts, *registered})
    ]
    columns = (
        *(("Id", "num"), ("Broker", "name"), ("State", "state"), ("Rack", "short"), ("Version", "text")),
        *(("Leaders", "num"), ("Replicas", "num"), ("Led by others", "num"), ("Disks used", "num")),
    )
    note = "Led by others: of the partitions that a broker prefers to lead."
    return cut_table("Brokers", note, columns, rows, whole=whole)


def _broker(number: int, node: Row | None, broker: Row | None, controller: int | None) -> list[Cell]:
    name = node["host"] if node else broker["host"] if broker else ""
    address = f"{broker['host']}:{broker['port']}" if broker and broker.get("host") else ""
    told = broker or {}
    return [
        Cell(str(number), "num"),
        Cell(name, "name", more=address if address != name else ""),
        broker_state(number, node, broker, controller),
        Cell(told.get("rack") or "none", "short"),
        Cell((node or {}).get("version") or NOT_KNOWN),
        count(told.get("leaders")),
        count(told.get("replicas")),
        Cell(NOT_KNOWN if told.get("imbalance_percent") is None else f"{told['imbalance_percent']:.1f} %", "num"),
        disks(told),
    ]


def broker_state(number: int, node: Row | None, broker: Row | None, controller: int | None) -> Cell:
    """Return the state of a broker by its node of the inventory and its registration, None where it has none."""
    if broker is None:
        return Cell("not registered", "state", "fail")
    if broker.get("no_answer"):
        return Cell("does not answer", "state", "fail")
    if broker["fenced"]:
        return Cell("fenced", "state", "fail")
    if node is None:
        return Cell("not in inventory", "state", "inconclusive")
    return Cell("up, controller" if number == controller else "up", "state", "pass")


def disks(broker: Row) -> Cell:
    """Return how full the disks of a broker are, and the fullest of them where there are several."""
    use = disk_use([broker])
    if use is None:
        return Cell(NOT_KNOWN, "num")
    used, total = use
    shares = [
        1 - one["usable_bytes"] / one["total_bytes"]
        for one in broker.get("log_dirs") or ()
        if one.get("total_bytes") and one.get("usable_bytes") is not None
    ]
    more = f"fullest of {len(shares)}: {max(shares) * 100:.0f} %" if len(shares) > 1 else ""
    text = f"{megabytes(used)} of {megabytes(total)} ({used / total * 100:.0f} %)"
    return Cell(text, "num", more=more, share=min(1.0, max(0.0, used / total)))


def disk_use(brokers: Iterable[Row]) -> tuple[int, int] | None:
    """Return the bytes used and the bytes in all of the disks of brokers; None where none of them told.

    Directories on one file system, also those of several brokers of one host, count once, as the planner of moves takes
    them (disk_room.py): Kafka does not tell which file system a directory is on.
    """
    dirs: dict[int, list[Dir]] = {}
    used = total = 0
    for broker in brokers:
        told = [one for one in broker.get("log_dirs") or () if one.get("total_bytes")]
        if told and all(one.get("usable_bytes") is not None for one in told):
            dirs[broker["id"]] = [
                dir_of(
                    one["total_bytes"],
                    one["total_bytes"] - one["usable_bytes"],
                    one.get("replica_count") or 0,
                    RESERVE,
                    broker.get("host") or "",
                    one.get("replica_bytes"),
                )
                for one in told
            ]
        elif broker.get("disk_total_bytes") and broker.get("disk_used_bytes") is not None:
            used, total = used + broker["disk_used_bytes"], total + broker["disk_total_bytes"]
    fullest = [alike[0] for alike in by_file_system(dirs)]
    used, total = used + sum(one.used for one in fullest), total + sum(one.total for one in fullest)
    return (used, total) if total else None


def quorum_tables(one: Row) -> Iterator[Table]:
    """Yield the metadata quorum; nothing in ZooKeeper mode."""
    quorum = one["quorum"]
    if not quorum:
        return
    if quorum.get("error"):
        yield cut_table("Quorum", "", (), (), f"It could not be asked: {quorum['error']}")
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
                    count(member["lag"], "records"),
                    Cell("is the leader" if leads else _age(age), "num"),
                ]
            )
    columns = (("Id", "num"), ("Node", "name"), ("Role", "text"), ("Lag", "num"), ("Caught up", "num"))
    leader = "no leader" if quorum["leader_id"] is None else f"node {quorum['leader_id']} leads"
    yield cut_table("Quorum", f"Of the metadata: {leader} in epoch {quorum['leader_epoch']}.", columns, rows)


def _logins(logins: Iterable[Row]) -> Table:
    """Return by which mechanisms clients log in at listeners that offer several."""
    rows = [
        [
            Cell(row["listener"], "name"),
            Cell(row["mechanism"], "name"),
            Cell(row["host"], "name"),
            count(row["count"]),
            *(Cell("none" if row[key] is None else at_time(row[key])) for key in ("since", "last")),
        ]
        for row in sorted(logins, key=lambda row: (row["listener"], row["mechanism"], row["host"]))
    ]
    columns = (
        *(("Listener", "name"), ("Mechanism", "name"), ("Broker", "name"), ("Logins", "num")),
        *(("Counted since", "text"), ("Last", "text")),
    )
    note = "Since the broker started, as far as its log goes; wrong passwords are counted too."
    return cut_table("Logins by mechanism", note, columns, rows)


def _topics(topics: Sequence[Row]) -> Table:
    rows = [topic_row(one) for one in sorted(topics, key=lambda one: (one["internal"], one["name"]))]
    return cut_table("Topics", "Internal ones at the end.", TOPIC_COLUMNS, rows, "The cluster has no topic.")


def topic_row(one: Row) -> list[Cell]:
    """Return the cells of a topic under TOPIC_COLUMNS."""
    return [
        Cell(one["name"], "name", more="internal" if one["internal"] else ""),
        count(one["partition_count"]),
        Cell(copies(one), "num"),
        count(one["min_insync_replicas"]),
        _largest(one.get("largest_partition")),
    ]


def copies(topic: Row) -> str:
    """Return the replication factor of a topic for people; fewest and most of partitions that differ."""
    factors = topic["replication_factors"]
    return f"{factors[0]:,}" if len(factors) == 1 else f"{factors[0]:,} to {factors[-1]:,}"


def _largest(one: Row | None) -> Cell:
    return size(one["size_bytes"], more=f"partition {one['partition']}") if one else size(None)


def gravest(one: Row) -> dict[tuple[str, int], tuple[str, Row]]:
    """Return by topic and partition its gravest state (a key of STATES) and its row; those without one are left out."""
    found: dict[tuple[str, int], tuple[str, Row]] = {}
    for kind in STATES:
        for row in sorted(one.get(kind) or (), key=lambda row: (row["topic"], row["partition"])):
            found.setdefault((row["topic"], row["partition"]), (kind, row))
    return found


def partitions_table(one: Row, whole: str = IN_THE_FILE) -> Table:
    """Return partitions with findings, each once, by its gravest state.

    Those that lack nothing but replicas on brokers that are down, and take acks=all, are counted and not listed.
    """
    columns = (
        *(("Topic", "name"), ("Partition", "num"), ("State", "state"), ("Leader", "num"), ("Replicas", "text")),
        ("Not in sync", "text"),
    )
    found = gravest(one)
    follow = consequences(one, down_brokers(one["inventory"], one["brokers"]), ()).explained
    rows = [
        _partition(kind, row) for key, (kind, row) in found.items() if kind != "under_replicated" or key not in follow
    ]
    note = "Numbers are ids of brokers."
    if alike := len(found) - len(rows):
        note += f" {alike:,} more lack nothing but replicas on brokers that are down; they take acks=all."
    return cut_table("Partitions with findings", note, columns, rows, "No other partition has one.", whole)


def _partition(kind: str, row: Row) -> list[Cell]:
    word, tone = STATES[kind]
    return [
        Cell(row["topic"], "name"),
        Cell(str(row["partition"]), "num"),
        Cell(word, "state", tone),
        Cell("none" if row["leader"] is None else str(row["leader"]), "num"),
        Cell(ids(row["replicas"])),
        Cell(ids(broker for broker in row["replicas"] if broker not in row["isr"])),
    ]


def _groups(found: Row) -> Table:
    groups = sorted(found["groups"], key=lambda one: (-(one.get("behind") or one.get("lag") or 0), one["name"]))
    note = f"By lag, the largest first. {silent(found)}".strip()
    rows = [group_row(one) for one in groups]
    return cut_table("Groups", note if found["known"] else "", GROUP_COLUMNS, rows, no_group(found))


def no_group(found: Row) -> str:
    """Return what stands where no group is shown."""
    if found["known"]:
        return "The cluster has no group."
    return f"Groups are not known: {found['error'] or 'they were not asked for'}"


def silent(found: Row) -> str:
    """Return which brokers did not tell their groups, and why; empty when all did."""
    return " ".join(f"Broker {one['id']} did not tell its groups ({one['why']})." for one in found["silent_brokers"])


def group_row(one: Row) -> list[Cell]:
    """Return the cells of a group under GROUP_COLUMNS."""
    told = not one.get("error")
    lag, unsure = lag_of(one)
    return [
        Cell(one["name"], "name"),
        Cell(one["type"]),
        Cell(one["state"]),
        count(one.get("member_count") if told else None),
        Cell(f"{lag} records" if lag else NOT_KNOWN, "num", more=unsure),
        _most_behind(one) if told else Cell(str(one["error"]), "name"),
    ]


def lag_of(group: Row) -> tuple[str, str]:
    """Return how many records a group is behind, empty where nothing is known, and what of it is counted or unknown."""
    unknown = group.get("lag_unknown")
    if group.get("behind") is not None:
        note = f"{unknown:,} partitions without a commit count from their start" if unknown else ""
        return f"{group['behind']:,}", note
    if group.get("lag") is None:
        return "", ""
    return (f"{group['lag']:,} or more", f"unknown of {unknown:,} partitions") if unknown else (f"{group['lag']:,}", "")


def _most_behind(group: Row) -> Cell:
    """The partition in which a group has most to read: all of the log where it never committed, as in its lag."""
    rows = [
        (left(row), topic["name"], row["partition"])
        for topic in group.get("topics") or ()
        for row in topic["partitions"]
    ]
    lags = [(lag, topic, partition) for lag, topic, partition in rows if lag]
    if not lags:
        return Cell(NOT_KNOWN if any(lag is None for lag, _topic, _partition in rows) else "none", "name")
    lag, topic, partition = max(lags)
    return Cell(f"{topic}-{partition}", "name", more=f"{lag:,} records")


def _ensemble(found: Row) -> Table:
    rows = [
        [
            Cell(str(one["id"]), "num"),
            Cell(one["address"], "name"),
            Cell(one["state"], more=one["error"] or ""),
            Cell(one["version"] or NOT_KNOWN),
        ]
        for one in found["servers"]
    ]
    columns = (("Id", "num"), ("Server", "name"), ("State", "text"), ("Version", "text"))
    return cut_table("ZooKeeper ensemble", "", columns, rows, f"It could not be looked at: {found['error']}")


def _age(milliseconds: int | None) -> str:
    """Say how long ago a member of the quorum had caught up; Kafka says -1 where it never has."""
    if milliseconds is None:
        return NOT_KNOWN
    return "never" if milliseconds < 0 else f"{milliseconds / 1000:,.1f} s ago"
