# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters before an upgrade, as plain facts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.rules.properties import refused_by
from ansible_collections.streamops.kafka.plugins.plugin_utils.upgrade.model import ClusterFacts, NodeFacts

OLD, NEW = "3.9.2", "4.3.1"
COMBINED = ("broker", "controller")


def node(number: int, roles: tuple[str, ...] = COMBINED, **values: Any) -> NodeFacts:
    """A node that runs the old release and shall get the new one, with all that this needs."""
    given = {"runs": OLD, "target": NEW, "java": 17, "install_dir": "/opt/kafka", "free_mib": 9000}
    return NodeFacts(host=f"k{number}", node_id=number, roles=roles, **{**given, "old_requests": (), **values})


def info(*ids: int, **values: Any) -> dict[str, Any]:
    """What cluster_info returned of a cluster of combined nodes in which all is well, node 1 being the controller."""
    return {
        "controller_id": 1,
        "features": {"metadata.version": 21, "kraft.version": 1},
        "nodes": [{"id": one, "fenced": False, "replicas": 1} for one in ids],
        "quorum": {"error": None, "leader_id": 1, "voters": [{"id": one} for one in ids], "observers": []},
        "topics": [],
        "under_replicated": [],
        "offline": [],
        **values,
    }


def cluster(*nodes: NodeFacts, **values: Any) -> ClusterFacts:
    """Three combined nodes before their upgrade, or those that are given."""
    nodes = nodes or (node(1), node(2), node(3))
    ids = [one.node_id for one in nodes if one.node_id is not None and one.is_kafka]
    facts = ClusterFacts("local", "kraft_combined", "binaries", NEW, nodes, info=info(*ids), known=(NEW, OLD))
    facts = replace(facts, refused=refused_by)
    return replace(facts, **values)
