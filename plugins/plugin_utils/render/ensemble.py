# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What follows from what a server saw of its ensemble: who comes, who goes, and in which steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...module_utils._node.restart_reasons import reason_line
from ...module_utils._zookeeper.ensemble import SERVING
from ..inventory.variables import names
from ..inventory.zookeeper_nodes import member_steps, membership_changes, own_steps
from ..run.results import Results
from .parts import Parts


class Ensemble(Parts):
    """The key C(ensemble) of the model; docs/development/house.md lists its own keys."""

    def __init__(self, model: Mapping[str, Any], results: Results) -> None:
        def servers() -> list[dict[str, Any]]:
            """The servers as they were just looked at."""
            return list(results.own.ensemble["servers"])

        def changes() -> list[str]:
            """Return the members that come or go, a line each.

            A server that serves alone may have no line for itself (QuorumPeerConfig.parseDynamicConfig).
            """
            listed = membership_changes(results.own.look["restart_reasons"])
            is_alone = len(model["zookeepers"]) == 1 and [change["from"] for change in listed] == [None]
            return [] if is_alone else [reason_line(change) for change in listed]

        def target() -> list[int]:
            """The ids of the members in the end."""
            leaving = names(model["settings"]["zookeeper_leaving"])
            return [node["node_id"] for node in model["zookeepers"] if node["host"] not in leaving]

        def missing() -> list[int]:
            """The ids of members of the first step that do not serve."""
            serving = [one["id"] for one in servers() if one["state"] in SERVING]
            return [one for one in self["steps"][0] if one not in serving]

        super().__init__(
            {
                "changes": changes,
                "target": target,
                "steps": lambda: member_steps(servers(), self["target"]),
                "own_steps": lambda: own_steps(self["steps"], model["node"]["node_id"]),
                "missing": missing,
            }
        )
