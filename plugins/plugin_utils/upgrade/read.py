# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The facts of an upgrade, from the nodes of an inventory and what tasks left on their hosts.

The one disk that node_info was asked for here is the directory of releases.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..guards.registered import ACCEPT, accepted_ids
from ..inventory.model import Node
from ..inventory.provers import provers
from ..inventory.variables import as_bool, as_int
from ..run.results import HostRun, Variables
from .clients import ACCEPT_OLD, WATCH, old_requests
from .model import BINARIES, LEVELS, ClusterFacts, NodeFacts, OldRequests, Refused, given_levels

_MIB = 1024 * 1024


def cluster_facts(
    host: str,
    nodes: Sequence[Node],
    mirrors: Iterable[Node],
    answers: Variables,
    known: Sequence[str],
    refused: Refused,
) -> ClusterFacts:
    """Return the facts of the cluster of a host, which asked it; answers gives the variables of a host."""
    own = next(node for node in nodes if node.name == host)
    asked = HostRun(host, answers).upgrade_registered
    members = [node for node in nodes if node.cluster == own.cluster]
    return ClusterFacts(
        name=own.cluster,
        mode=own.text("kafka_mode"),
        action=str(answers(host).get("kafka_upgrade") or BINARIES),
        target=own.text("kafka_version"),
        nodes=tuple(_node(node, answers) for node in sorted(members, key=lambda node: node.zookeeper)),
        info=asked if "nodes" in asked else None,
        unasked=_first_sentence(asked),
        accepted=frozenset(accepted_ids(own.get(ACCEPT, []))),
        mirrors={node.name: _runs(HostRun(node.name, answers)) for node in mirrors if node.cluster == own.cluster},
        known=tuple(known),
        refused=refused,
        old_clients=as_bool(own.get(ACCEPT_OLD, False)),
        proven=bool(provers(members)),
        levels=_levels(own.get(LEVELS, {})),
        watched=as_int(own.get(WATCH, 0)) or 0,
    )


def _node(node: Node, answers: Variables) -> NodeFacts:
    info = HostRun(node.name, answers).upgrade_look
    java, answered = info.get("java") or {}, "process" in info
    target = node.text("zookeeper_version" if node.zookeeper else "kafka_version")
    requests, since, uncounted = _requests(HostRun(node.name, answers))
    free = [disk["free_bytes"] for disk in info.get("disks") or () if disk.get("free_bytes") is not None]
    return NodeFacts(
        host=node.name,
        node_id=node.id,
        roles=tuple(role for role in ("zookeeper", "broker", "controller") if getattr(node, role)),
        target=target,
        runs=_runs(HostRun(node.name, answers)),
        running=answered and bool(info["process"]["running"]),
        silence="" if answered else _first_sentence(info) or "no answer",
        java=None if java.get("error") else java.get("version"),
        installs_java=bool(node.java_package(info.get("system"))),
        installed=bool(info.get("installed")),
        install_dir=node.text("kafka_install_dir"),
        free_mib=min(free) // _MIB if free else None,
        properties={one.key: (one.value, one.variable) for one in node.properties().values()},
        old_requests=requests,
        counted_since=since,
        uncounted=uncounted,
        gave_up="" if as_bool(node.get("kafka_retry_generation", False)) else _gave_up(info, target),
    )


def _gave_up(info: Mapping[str, Any], target: str) -> str:
    """Return why a node did not come back with start files of this release, on one line; empty where it gave up none.

    Files of another release differ from those that it is to get, so they are not refused.
    """
    files = _mapping(info.get("start_files"))
    if not files.get("failed") or files.get("failed_release") not in (None, target):
        return ""
    return (str(files.get("why_failed") or "").strip().splitlines() or ["the cause was not written down"])[0]


def _requests(run: HostRun) -> tuple[tuple[OldRequests, ...] | None, float | None, str]:
    """Return what a broker counted of old clients, since when, and why it could not tell."""
    last = run.requests
    if "requests" not in last:
        return None, None, _first_sentence(last)
    if last["unread"]:
        return None, None, str(last["unread"])
    first = run.requests_before
    # Without it all since the start would be told as if it had come while it was watched.
    if first and not first.get("skipped") and ("requests" not in first or first["unread"]):
        why = first.get("unread") or _first_sentence(first)
        return None, None, f"the first of two looks failed ({why})"
    return old_requests(first, last), last["since"], ""


def _levels(given: Any) -> tuple[str, ...]:
    """Return the names of features that were given levels; what names no levels stands for itself."""
    levels, unclear = given_levels(given)
    return (str(given),) if unclear else tuple(levels)


def _runs(run: HostRun) -> str:
    return str(run.upgrade_look.get("version") or "")


def _mapping(result: Any) -> Mapping[str, Any]:
    """Return a registered result, empty where no task left any."""
    return result if isinstance(result, Mapping) else {}


def _first_sentence(result: Mapping[str, Any]) -> str:
    """Return why a task has no answer: the first sentence of its message, on one line."""
    return " ".join(str(result.get("msg") or "").split()).partition(". ")[0]
