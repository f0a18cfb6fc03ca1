# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on how the run was started."""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory, as_bool
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.mirror_flows import flows, kafka_clusters
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.violation import ERROR, Violation


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


def limit_of_mirrors(inventory: Inventory) -> Iterator[Violation]:
    """B40: mirrors may be taken one by one, but brokers of both ends have to say in the run how they are reached."""
    for mirror in inventory.mirrors if inventory.limit else ():
        touched = [flow for flow in flows(inventory) if flow.target == mirror.cluster]
        if mirror.name not in inventory.play_hosts or as_bool(mirror.get("preflight_allow_limit", False)):
            continue
        known = kafka_clusters(inventory)
        ends = dict.fromkeys(name for flow in touched for name in (flow.source, flow.target) if name in known)
        missing = [name for name in ends if set(inventory.play_hosts).isdisjoint(known[name].hosts)]
        if missing:
            yield Violation(
                "B40", ERROR, (mirror.name,), "", f"--limit takes the mirror without {' and '.join(missing)}",
                f"--limit {inventory.limit}", f"the mirror with all hosts of {' and '.join(ends)}",
                "add them to --limit: brokers tell a mirror how they are reached; other mirrors may stay out",
            )  # fmt: skip


RULES = (limit, limit_of_mirrors)
