# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""A static quorum (kraft.version 0), whose voters stand in the properties of its nodes: what these must be.

No cluster that this collection formats is one, but one that others built, or that came from ZooKeeper, may be. A
controller that starts without C(controller.quorum.voters) knows no voters there: it neither votes nor can be elected,
and behind the last restart of a roll the cluster has no leader (Kafka, QuorumState.initialize).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..inventory.nodes import BOOTSTRAP, VOTERS, listener_for


def is_static(asked: Mapping[str, Any], infos: Iterable[Mapping[str, Any]]) -> bool:
    """Tell whether the voters of a cluster stand in the properties of its nodes.

    asked -- what cluster_info returned, which is right whatever disks say; infos -- what node_info saw on each
    controller. Its disk follows with the next election, so of disks one that tells of a dynamic quorum decides.
    """
    found = voters_found(asked)
    if found:
        return any(one["directory_id"] is None for one in found)
    told = {(info.get("quorum") or {}).get("static") for info in infos}
    return True in told and False not in told


def voters_found(asked: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the voters that the quorum told; none where it has no leader that answered."""
    quorum = asked.get("quorum") or {}
    known = "nodes" in asked and not quorum.get("error") and quorum.get("leader_id") is not None
    return list(quorum["voters"]) if known else []


def static_voters(nodes: Iterable[Mapping[str, Any]], asked: Mapping[str, Any]) -> list[str]:
    """Return id@host:port of every controller, by id; ValueError where the quorum has other voters than these."""
    controllers = sorted(
        (int(node["node_id"]), str(listener_for(node, "controllers")["socket"]))
        for node in nodes
        if "controller" in node["roles"]
    )
    ids, found = [one for one, _at in controllers], sorted({int(one["id"]) for one in voters_found(asked)})
    if found and ids != found:
        raise ValueError(
            f"the voters stand in {VOTERS} (kraft.version 0), where they are {', '.join(map(str, found))}; the "
            f"inventory has the controllers {', '.join(map(str, ids)) or 'none'}; fix: let the group "
            "kraft_controllers have these voters, and raise kraft.version to 1 before they change (docs/quorum.md)"
        )
    return [f"{one}@{at}" for one, at in controllers]


def for_static(properties: Mapping[str, Any], voters: Sequence[str]) -> dict[str, Any]:
    """Return the properties of a node for a static quorum of these voters; as they are without any."""
    if not voters or BOOTSTRAP not in properties:
        return dict(properties)
    return {**{key: value for key, value in properties.items() if key != BOOTSTRAP}, VOTERS: list(voters)}
