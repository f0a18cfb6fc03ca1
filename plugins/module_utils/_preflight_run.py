# Private to this collection.
# SPDX-License-Identifier: GPL-3.0-or-later
"""Preflight rules on how the run was started."""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.streamops.kafka.plugins.module_utils._preflight_inventory import Inventory, as_bool
from ansible_collections.streamops.kafka.plugins.module_utils._preflight_violation import ERROR, Violation


def limit(inventory: Inventory) -> Iterator[Violation]:
    """B40: --limit takes whole clusters; with a part of one, what is derived from all nodes comes out wrong."""
    if not inventory.limit:
        return
    for cluster in inventory.clusters():
        left_out = tuple(name for name in cluster.hosts if name not in inventory.play_hosts)
        if not left_out or len(left_out) == len(cluster.nodes):
            continue
        if all(as_bool(node.get("preflight_allow_limit", False)) for node in cluster.nodes):
            continue
        yield Violation(
            "B40", ERROR, left_out, "", f"--limit leaves out a part of cluster {cluster.name}",
            f"--limit {inventory.limit}", "all hosts of a cluster or none of them",
            "run without --limit, or use the playbook made for single nodes; preflight_allow_limit is for those",
        )  # fmt: skip


RULES = (limit,)
