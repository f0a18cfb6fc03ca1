# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The report of a status as data: what the tasks of status.yml saw of clusters and mirrors, key by key, so that
nothing else of their results (connections above all) gets into a file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...module_utils._health.model import DEGRADED, DOWN, OK, Limits, State
from ...module_utils._health.quorum_rules import ensemble as ensemble_rule
from ...module_utils._health.quorum_rules import ensemble_lost
from ...module_utils._mirror_drill.model import LastDrill, last_drill, outcome_of, unknown_drill

#: The version of the form of the JSON file; it grows when a key changes its meaning or goes.
SCHEMA = 1
#: Of a cluster that could not be looked at, as after a refused login.
UNKNOWN = "UNKNOWN"
#: From the best to the worst.
ORDER = (OK, DEGRADED, UNKNOWN, DOWN)
#: What cluster_health returns of a cluster and the report keeps.
_OF_CLUSTER = (
    *("cluster_id", "controller_id", "quorum", "counts", "offline", "under_min_isr", "under_replicated", "at_min_isr"),
    "not_preferred_leader",
)
_OF_FLOW = ("lag", "partitions_done", "partitions_total", "heartbeat_age_ms", "checkpoint_age_ms")

Row = Mapping[str, Any]


def cluster_part(
    name: str,
    servers: Sequence[str],
    nodes: Sequence[Row],
    health: Row,
    whole: Row | None = None,
    groups: Row | None = None,
    ensemble: Row | None = None,
    logins: Sequence[Row] = (),
) -> dict[str, Any]:
    """Return what is known of one cluster.

    Args:
        name: Its name in the inventory.
        servers: Its bootstrap list.
        nodes: Its nodes by the inventory: host, node_id, roles, version (None where it is unknown).
        health: What cluster_health returned, failed or not; empty for an ensemble without a cluster.
        whole: What cluster_info returned with partitions; their rows go to the topics.
        groups: What group_info returned, failed or not.
        ensemble: What zookeeper_info returned; empty without ZooKeeper.
        logins: By which mechanisms clients log in, as login_rows returns it.
    """
    info = health.get("cluster") or {}
    seen = _ensemble(ensemble or {})
    error = str(health["msg"]) if "status" not in health and health.get("msg") else ""
    return {
        "name": name,
        "status": _status(health, seen),
        "error": error,
        "bootstrap_servers": [*servers],
        "answered": bool(info),
        "inventory": [dict(node) for node in nodes],
        "findings": [dict(one) for one in health.get("findings") or _of_ensemble(seen)],
        **{key: info.get(key) for key in _OF_CLUSTER},
        "brokers": info.get("nodes") or [],
        "topics": _topics(info.get("topics") or [], whole or {}),
        "groups": _groups(groups or {}),
        "ensemble": seen,
        "logins": [*logins],
    }


def mirror_part(verdict: Row, look: Row, drill: Row | None = None) -> dict[str, Any]:
    """Return what is known of one flow: its verdict (mirror_verdict), and of mirror_status the figures.

    ``drill`` is what mirror_drill returned of the last drill. The key of that name has its figures (LastDrill); it is
    null where the target was not asked.
    """
    topics = [
        {key: one.get(key) for key in ("source", "target", "target_partitions", "lag")}
        for one in look.get("topics") or ()
    ]
    return {
        "status": verdict["status"],
        "findings": verdict["findings"],
        **{key: look.get(key) for key in _OF_FLOW},
        "drill": shown.as_data() if (shown := drill_of(drill or {})) else None,
        "topics": topics,
    }


def drill_of(drill: Row) -> LastDrill | None:
    """Return the last drill of a flow of what mirror_drill returned of it; None where the target was not asked."""
    if "drill" in drill:
        return last_drill(outcome_of(drill["drill"]) if drill["drill"] else None, drill.get("days"))
    if drill.get("msg") and not drill.get("skipped"):
        return unknown_drill(str(drill["msg"]))
    return None


def status_data(clusters: Iterable[Row], mirrors: Iterable[Row], made: str) -> dict[str, Any]:
    """Return the whole report; ``made`` is the time of the look as text (ISO 8601, UTC)."""
    found, flows = [dict(one) for one in clusters], [dict(one) for one in mirrors]
    return {
        "schema": SCHEMA,
        "made": made,
        "status": worst(one["status"] for one in (*found, *flows)),
        "clusters": sorted(found, key=lambda one: one["name"]),
        "mirrors": sorted(flows, key=lambda one: one["flow"]),
    }


def as_json(data: Row) -> str:
    """Return the report for machines; ASCII alone, so that no name can change how a line is shown."""
    return json.dumps(data, indent=1) + "\n"


def worst(found: Iterable[str]) -> str:
    """Return the worst of these statuses; UNKNOWN without any."""
    return max(found, key=ORDER.index, default=UNKNOWN)


def _status(health: Row, ensemble: Row | None) -> str:
    """Return the status of a cluster, or of an ensemble that has none."""
    if health.get("status") in (OK, DEGRADED, DOWN):
        return str(health["status"])
    if ensemble is None or health.get("msg"):
        return UNKNOWN
    return UNKNOWN if ensemble["error"] else DOWN if ensemble["lost"] else DEGRADED if ensemble["problems"] else OK


def _topics(topics: Iterable[Row], whole: Row) -> list[dict[str, Any]]:
    """Return the topics, with their partitions where these were told too."""
    rows = {one["name"]: one.get("partitions") for one in whole.get("topics") or ()}
    return [{**topic, "partitions": rows.get(topic["name"])} for topic in topics]


def _groups(found: Row) -> dict[str, Any]:
    """Return groups with their lag; ``known`` is false where nothing was told, and ``error`` says why."""
    known = "groups" in found and not found.get("failed")
    return {
        "known": known,
        "error": "" if known else str(found.get("msg") or ""),
        "groups": found.get("groups") or [] if known else [],
        "silent_brokers": found.get("silent_brokers") or [] if known else [],
        "lag": found.get("lag") if known else None,
        "lag_unknown": found.get("lag_unknown") if known else None,
    }


def _ensemble(found: Row) -> dict[str, Any] | None:
    """Return what zookeeper_info told, None without ZooKeeper."""
    if "servers" in found:
        told = {key: found.get(key) for key in ("servers", "problems", "leader_id")}
        return {"error": "", **told, "lost": found.get("lost") or ""}
    if not found.get("failed"):
        return None
    return {"error": str(found["msg"]), "servers": [], "problems": [], "leader_id": None, "lost": ""}


def _of_ensemble(ensemble: Row | None) -> list[dict[str, str]]:
    """Return the problems of an ensemble as findings, where no cluster told of them."""
    if not ensemble:
        return []
    state = State(None, ensemble=ensemble["problems"] or (), ensemble_lost=ensemble["lost"])
    return [finding.as_dict() for rule in (ensemble_lost, ensemble_rule) for finding in rule(state, Limits())]
