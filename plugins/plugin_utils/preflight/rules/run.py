# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on how the run was started, and what is lost with its control node."""

from __future__ import annotations

from collections.abc import Iterator

from ...inventory.model import Inventory, Node
from ...inventory.variables import as_bool
from ...specs import advice
from ..by_value import by_value
from ..mirror_flows import flows, kafka_clusters
from ..rule import RULES, WARNING, Problem, rule


@rule(
    allowed="all hosts of a cluster or none of them",
    fix="run without --limit, or use the playbook made for single nodes; preflight_allow_limit is for those",
)
def limit_splits_cluster(inventory: Inventory) -> Iterator[Problem]:
    """`--limit` leaves out a part of a cluster; whole clusters may be left out."""
    for cluster in inventory.clusters() if inventory.limit else ():
        left_out = [name for name in cluster.hosts if name not in inventory.play_hosts]
        if not left_out or len(left_out) == len(cluster.nodes):
            continue
        if not all(as_bool(node.get("preflight_allow_limit", False)) for node in cluster.nodes):
            what = f"--limit leaves out a part of cluster {cluster.name}"
            yield Problem(left_out, what, f"--limit {inventory.limit}")


@rule(
    fix="add the clusters at both ends of the mirror to --limit, or leave the mirror out (--limit 'dc_b:!mirror1'), as "
    "while one of them is dead; other mirrors may stay out",
)
def limit_without_ends(inventory: Inventory) -> Iterator[Problem]:
    """`--limit` takes a mirror without the clusters at both ends, whose addresses and settings the run needs."""
    known = kafka_clusters(inventory)
    for mirror in inventory.mirrors if inventory.limit else ():
        touched = [flow for flow in flows(inventory) if flow.target == mirror.cluster]
        if mirror.name not in inventory.play_hosts or as_bool(mirror.get("preflight_allow_limit", False)):
            continue
        ends = dict.fromkeys(name for flow in touched for name in (flow.source, flow.target) if name in known)
        missing = [name for name in ends if set(inventory.play_hosts).isdisjoint(known[name].hosts)]
        if missing:
            yield Problem(
                mirror,
                f"--limit takes the mirror without {' and '.join(missing)}",
                found=f"--limit {inventory.limit}",
                allowed=f"the mirror with all hosts of {' and '.join(ends)}",
            )


@rule(variable="preflight_accept", fix="correct the name", level=WARNING)
def unknown_rule(inventory: Inventory) -> Iterator[Problem]:
    """`preflight_accept` names a rule that does not exist or cannot be accepted."""
    names = [name for name, one in RULES.items() if one.acceptable]
    for listed, nodes in by_value(inventory.processes, "preflight_accept"):
        for name in map(str, listed if isinstance(listed, (list, tuple)) else ()):
            if name not in names:
                yield Problem(nodes, "the list names no rule that can be accepted", name, fix=advice(name, names))


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
