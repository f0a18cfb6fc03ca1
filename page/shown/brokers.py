"""The brokers of a cluster, and one of them. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_cells import (
    NOT_KNOWN,
    ON_THE_PAGE,
    Cell,
    Table,
    count,
    cut_table,
    size,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_tables import (
    STATES,
    broker_state,
    brokers_table,
    disk_use,
    gravest,
)
from page.alerts.told import NODE
from page.known.details import BROKERS
from page.known.freshness import iso
from page.shown.ages import age_of, details_of, not_told
from page.shown.broker_settings import broker_defaults_table, broker_setting_rows, broker_settings_table
from page.shown.causes import findings_about
from page.shown.clusters import linked
from page.shown.growth import GROWTH_COLUMNS, growth_cells, growth_data, growth_note, growth_of, growth_tiles
from page.shown.ids import broker_ids, broker_path, with_brokers
from page.shown.sheet import Link, Lister, Sheet, State, sheet_of
from page.shown.wanted import BY_NAME, Sort, Wanted, listed

Row = Mapping[str, Any]

#: Of the partitions of one broker.
REPLICA_SORTS = (
    Sort("name", "Partition", lambda one: (one["topic"], one["partition"]), falls=False, words=BY_NAME),
    Sort("role", "Role", lambda one: one["role"], falls=False, words=("followed ones first", "led ones first")),
    Sort("size", "Size", lambda one: one["size_bytes"]),
)
_LEADS, _FOLLOWS = "leader", "follower"


def brokers(state: State) -> Sheet:
    """Return the brokers of a cluster."""
    one = state.cluster
    rates = growth_of(state)
    rows = [{**row, **growth_data(rates, rates.broker(row["id"]))} for row in one.get("brokers") or ()]
    data = {"brokers": rows if one else None, "inventory": one.get("inventory")}
    return sheet_of(state, "brokers", data, tables=[_listed(state)] if one.get("answered") else [])


def _listed(state: State) -> Table:
    table, rates = brokers_table(state.cluster, ON_THE_PAGE), growth_of(state)
    rows = [[*row, *growth_cells(rates.broker(int(row[0].text)))] for row in table.rows]
    note = f"{table.note} {growth_note(state)} They count what a broker leads."
    return with_brokers(replace(table, note=note, columns=[*table.columns, *GROWTH_COLUMNS], rows=rows), state, {"Id"})


def broker(state: State, name: str, wanted: Wanted) -> Sheet | None:
    """Return a broker with its disks, its findings, its partitions and its configuration; None where there is none."""
    number = next((one for one in broker_ids(state) if str(one) == name), None)
    if number is None:
        return None
    node = next((one for one in state.cluster.get("inventory") or () if one["node_id"] == number), None)
    told: Row = next((one for one in state.cluster.get("brokers") or () if one["id"] == number), {})
    rows = replicas_of(state.cluster, number)
    cut = listed(rows, wanted, REPLICA_SORTS)
    own = broker_path(state, number)
    columns = (("Topic", "name"), ("Partition", "num"), ("Role", "text"), ("State", "state"), ("Leader", "num"),
               ("Size", "num"))  # fmt: skip
    none = "No partition has this in its name." if rows else "It has no partition."
    note = "Sizes are those of the leaders' logs."
    table = Table("Partitions", note, columns, [_replica(one, state) for one in cut.rows], none)
    lister = Lister("Partitions", own, wanted, cut, REPLICA_SORTS, with_brokers(table, state, {"Leader"}),
                    [Link("JSON", f"{own}?format=json")], True, "topic and partition")  # fmt: skip
    hosts = [one["host"] for one in (node, told) if one and one.get("host")]
    findings = findings_about(state.cluster.get("findings", ()), number, hosts)
    rates, configured = growth_of(state), _configuration(state, number)
    role = quorum_role(state.cluster, number)
    data = {
        "broker": {"id": number, "registered": bool(told), "quorum_role": role, "inventory": node, **told,
                   **growth_data(rates, rates.broker(number))},
        "findings": findings,
        "partitions": [{key: value for key, value in one.items() if key != "name"} for one in cut.every],
        **configured,
    }  # fmt: skip
    when = age_of(state, _told_at(state, number), configured["config_not_told"])
    return sheet_of(
        state,
        "brokers",
        data,
        subject=f"Broker {number}",
        facts=[*_facts(state.cluster, number, node, told, role)],
        findings=findings,
        alerts_about=state.alerts_about(**({NODE: node["host"]} if node else {})),
        tiles=_tiles(rows, told, state, number),
        before=[
            _log_dirs(told),
            broker_settings_table(configured["config"], when, configured["config_not_told"]),
        ],
        lister=lister,
        folded=[broker_defaults_table(configured["config"], when)],
    )


def replicas_of(cluster: Row, number: int) -> list[dict[str, Any]]:
    """Return the partitions of which a broker has a replica, with its role in each and their size."""
    states = gravest(cluster)
    return [
        {
            "name": f"{topic['name']}-{row['partition']}",
            "topic": topic["name"],
            "partition": row["partition"],
            "role": _LEADS if row["leader"] == number else _FOLLOWS,
            "leader": row["leader"],
            "in_sync": number in row["isr"],
            "state": states[topic["name"], row["partition"]][0]
            if (topic["name"], row["partition"]) in states
            else None,
            "size_bytes": row.get("size_bytes"),
        }
        for topic in cluster.get("topics") or ()
        for row in topic.get("partitions") or ()
        if number in row["replicas"]
    ]


def quorum_role(cluster: Row, number: int) -> str:
    """Return what a broker is in the quorum of the metadata, in words."""
    quorum = cluster.get("quorum")
    if not quorum:
        return "controller of the cluster" if cluster.get("controller_id") == number else "none"
    if quorum.get("error"):
        return NOT_KNOWN
    if quorum["leader_id"] == number:
        return "active controller"
    voter = next((one for one in quorum.get("voters") or () if one["id"] == number), None)
    if voter is None:
        return "observer" if any(one["id"] == number for one in quorum.get("observers") or ()) else "none"
    return f"voter, {voter['lag']:,} records behind" if voter["lag"] else "voter"


def _facts(cluster: Row, number: int, node: Row | None, told: Row, role: str) -> Iterator[tuple[str, str]]:
    """Yield what a broker is and where; its state in the words of the list of brokers."""
    yield "State", broker_state(number, node, told or None, cluster.get("controller_id")).text
    yield "Registered", ("yes, and fenced" if told["fenced"] else "yes") if told else "no"
    if node:
        yield "Host", str(node["host"])
        yield "Roles in the inventory", ", ".join(node["roles"])
        yield "Kafka", str(node.get("version") or NOT_KNOWN)
    if told.get("host"):
        yield "Address", f"{told['host']}:{told['port']}"
    yield "Rack", str(told.get("rack") or "none")
    yield "In the quorum", role


def _tiles(rows: list[dict[str, Any]], told: Row, state: State, number: int) -> list[tuple[str, str, str]]:
    leads = sum(one["role"] == _LEADS for one in rows)
    late = sum(not one["in_sync"] for one in rows)
    preferred = told.get("preferred_leaders")
    used, total = disk_use([told]) or (None, None)
    return [
        ("Leads", f"{leads:,}", "partitions" if preferred is None else f"partitions; it prefers to lead {preferred:,}"),
        ("Follows", f"{len(rows) - leads:,}", f"partitions; {late:,} of all are not in sync here"),
        ("Disks used", size(used).text, f"of {size(total).text}" if total else "of its log directories"),
        *growth_tiles(growth_of(state).broker(number), "written to what it leads"),
    ]


def _log_dirs(told: Row) -> Table:
    columns = (("Path", "name"), ("Used", "num"), ("Size", "num"), ("Free", "num"), ("Replicas", "num"),
               ("Bytes of replicas", "num"))  # fmt: skip
    note = "Used, size and free are those of the file system of each, whatever else uses it."
    empty = "They were not told: the broker is down or older than Kafka 3.3, or a finding of the cluster says why."
    return cut_table("Log directories", note, columns, [_disk(one) for one in told.get("log_dirs") or ()], empty)


def _disk(one: Row) -> list[Cell]:
    total, free = one.get("total_bytes"), one.get("usable_bytes")
    share = None if not total or free is None else min(1.0, max(0.0, 1 - free / total))
    return [
        Cell(one.get("path") or NOT_KNOWN, "name"),
        Cell(NOT_KNOWN if share is None else f"{share * 100:.0f} %", "num", share=share),
        size(total),
        size(free),
        count(one.get("replica_count")),
        size(one.get("replica_bytes")),
    ]


def _replica(one: Row, state: State) -> list[Cell]:
    word, tone = STATES[one["state"]] if one["state"] else ("in sync", "pass")
    if not one["in_sync"] and one["state"] != "offline":
        word, tone = "not in sync here", "inconclusive"
    return [
        linked(Cell(one["topic"], "name"), state, "topics"),
        Cell(str(one["partition"]), "num"),
        Cell(one["role"]),
        Cell(word, "state", tone),
        Cell("none" if one["leader"] is None else str(one["leader"]), "num"),
        size(one["size_bytes"]),
    ]


def _told_at(state: State, number: int) -> float | None:
    configs = details_of(state).brokers
    return configs.told[number].at if configs and number in configs.told else None


def _configuration(state: State, number: int) -> dict[str, Any]:
    """Return the settings of a broker for machines: None where they are not known; why, where they are not newer."""
    details = details_of(state)
    configs = details.brokers
    why = (configs.why.get(number) if configs else None) or details.why.get(BROKERS, "")
    at = _told_at(state, number)
    if configs is None or at is None:
        return {"config": None, "config_as_of": None, "config_not_told": why or not_told(state, BROKERS)}
    rows = broker_setting_rows(configs.told[number].settings)
    return {"config": rows, "config_as_of": iso(at), "config_not_told": why}
