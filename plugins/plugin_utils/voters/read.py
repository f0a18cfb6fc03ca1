# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Reads what a change of the voters is judged by from the model and from results of tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ...module_utils._cluster.snapshot import Quorum, Voter
from ..inventory.nodes import listener_for
from .model import ClusterFacts, Controller, Gate, Node

#: A controller with this property on makes itself a voter (KIP-853, Kafka 4.2).
AUTO_JOIN = "controller.quorum.auto.join.enable"


def read_facts(
    name: str,
    nodes: Iterable[Mapping[str, Any]],
    asked: Mapping[str, Any],
    info_of: Callable[[str], Mapping[str, Any]],
    leaving: Sequence[str],
    joins_itself: bool = False,
    accepted: Iterable[int] = (),
) -> ClusterFacts:
    """The facts of a cluster.

    nodes -- of the model; asked -- what cluster_info returned or failed with; info_of -- what node_info saw on a host.
    """
    listed = [node for node in nodes if "controller" in node["roles"]]
    hosts = {node["host"] for node in listed}
    quorum = asked.get("quorum")
    return ClusterFacts(
        name=name,
        controllers=tuple(_controller(node, info_of(node["host"]), leaving) for node in listed),
        quorum=_quorum(quorum) if quorum else None,
        cluster_id=str(asked.get("cluster_id") or ""),
        unasked="" if "nodes" in asked else str(asked.get("msg") or "no answer"),
        unknown=tuple(one for one in leaving if one not in hosts),
        brokers=frozenset(int(one["id"]) for one in asked.get("nodes") or ()),
        joins_itself=joins_itself,
        accepted=frozenset(accepted),
    )


def read_nodes(nodes: Iterable[Mapping[str, Any]], info_of: Callable[[str], Mapping[str, Any]]) -> tuple[Node, ...]:
    """The nodes of the inventory with the releases that they run; info_of -- what node_info saw on a host."""
    return tuple(_node(node, info_of(node["host"])) for node in nodes)


def read_gate(host: str, asked: Mapping[str, Any]) -> Gate:
    """The gate of a host; asked -- what the module restart_gate returned or failed with.

    Without C(allowed) its last look failed, and refusals are those of an earlier one.
    """
    refusals = asked.get("refusals", ()) if "allowed" in asked else ()
    if not refusals and not asked.get("allowed"):
        why = " ".join(str(asked.get("msg") or "no answer").split())
        return Gate(host, failure=why.removesuffix(" Nothing was changed.").rstrip("."))
    return Gate(host, tuple(refusals))


def _node(node: Mapping[str, Any], info: Mapping[str, Any]) -> Node:
    return Node(
        host=node["host"],
        node_id=int(node["node_id"]),
        is_controller="controller" in node["roles"],
        running=bool((info.get("process") or {}).get("running")),
        version=str(info.get("version") or ""),
    )


def _controller(node: Mapping[str, Any], info: Mapping[str, Any], leaving: Sequence[str]) -> Controller:
    listener = listener_for(node, "controllers")
    metadata = next((disk["meta_properties"] for disk in info.get("disks") or () if disk["metadata"]), None) or {}
    took = {int(port): seconds for port, seconds in (info.get("ports") or {}).items()}
    return Controller(
        host=node["host"],
        node_id=int(node["node_id"]),
        listener=listener["socket"],
        leaves=node["host"] in leaving,
        is_broker="broker" in node["roles"],
        running=bool((info.get("process") or {}).get("running")),
        listens=took.get(listener["port"]) is not None,
        directory_id=str(metadata.get("directory.id") or ""),
        cluster_id=str(metadata.get("cluster.id") or ""),
    )


def _quorum(found: Mapping[str, Any]) -> Quorum:
    members = {part: tuple(_voter(one) for one in found[part]) for part in ("voters", "observers")}
    return Quorum(
        leader_id=found["leader_id"],
        leader_epoch=found["leader_epoch"],
        high_watermark=found["high_watermark"],
        voters=members["voters"],
        observers=members["observers"],
        error=found["error"],
    )


def _voter(found: Mapping[str, Any]) -> Voter:
    keys = ("id", "directory_id", "log_end_offset", "lag", "last_caught_up_ms_ago")
    return Voter(**{key: found[key] for key in keys})
