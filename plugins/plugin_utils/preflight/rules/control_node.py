# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on what is lost when the control node is thrown away after the run."""

from __future__ import annotations

from collections.abc import Iterator

from ...inventory.model import Inventory, Node
from ..rule import Problem, rule


@rule(
    variable="streamops_artifacts",
    allowed="a directory that is mounted into the control node and outlives it",
    fix="set streamops_artifacts to such a directory (docs/awx.md, What a run leaves), bring certificates of your own "
    "(kafka_tls_source: files), or set streamops_control_node_is_kept: true where this control node is kept",
)
def ca_not_kept(inventory: Inventory) -> Iterator[Problem]:
    """A new development CA would be made on a control node that is thrown away after the run, and its key be lost:
    no certificate could be issued or renewed ever after."""
    lost: dict[tuple[str, str], list[Node]] = {}
    for node in inventory.processes:
        if node.name in inventory.unkept:
            lost.setdefault(inventory.unkept[node.name], []).append(node)
    for (directory, why), nodes in lost.items():
        found = f"{directory} has no CA and ends with the control node ({why})"
        yield Problem(nodes, "the key of a new development CA would be lost", found)
