# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""mirror_flows as the preflight rules read it: forgiving, so that one mistake in it never hides another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...module_utils._mirror.flows import Flow
from ...module_utils._mirror.reading import flow_problems, read_flows
from ..inventory.model import Cluster, Inventory, Node
from ..inventory.variables import UNDEFINED
from ..mirrors.external import VARIABLE as EXTERNAL
from .by_value import by_value
from .rule import host_names

VARIABLE = "mirror_flows"

Said = list[tuple[Any, tuple[str, ...]]]


def said(inventory: Inventory) -> Said:
    """The different values of mirror_flows with the hosts that have each; null and what is undefined say nothing."""
    return [(value, host_names(nodes)) for value, nodes in by_value(inventory.processes, VARIABLE)]


def entries(values: Said) -> list[tuple[int, dict[str, Any]]]:
    """The entries that are mappings, with their places; without those that hold something undefined.

    values -- those of `said`. While hosts disagree, the first list that has any entry counts: that they disagree is an
    error by itself.
    """
    listed = next((value for value, _hosts in values if isinstance(value, (list, tuple)) and value), ())
    numbered = [(number, item) for number, item in enumerate(listed) if isinstance(item, Mapping)]
    return [(number, _plain(item)) for number, item in numbered if not _holds_undefined(item)]


def complete(inventory: Inventory) -> bool:
    """Return whether every entry can be judged; else what the list does not say may be what could not be read."""
    listed = [value for value, _hosts in said(inventory)]
    return all(isinstance(value, (list, tuple)) for value in listed) and not any(
        node.variables.get(VARIABLE) is UNDEFINED or _holds_undefined(node.variables.get(VARIABLE))
        for node in inventory.processes
    )


def flows(inventory: Inventory) -> list[Flow]:
    """The flows that run: enabled, well-formed, between two clusters, each pair and engine once."""
    good = [read_flows([item])[0] for _number, item in entries(said(inventory)) if not flow_problems([item])]
    unique = {(flow.source, flow.target, flow.engine): flow for flow in reversed(good) if flow.enabled}
    return list(reversed(list(unique.values())))


def kafka_clusters(inventory: Inventory) -> dict[str, Cluster]:
    """By name the clusters that have brokers."""
    return {cluster.name: cluster for cluster in inventory.clusters() if cluster.brokers}


def externals(inventory: Inventory, target: str) -> list[str]:
    """The aliases of clusters outside of the inventory that the mirrors next to a target know, whatever is wrong with
    their entries."""
    values = (mirror.get(EXTERNAL) for mirror in mirrors_of(inventory, target))
    return list(dict.fromkeys(str(alias) for value in values if isinstance(value, Mapping) for alias in value))


def mirrors_of(inventory: Inventory, target: str) -> tuple[Node, ...]:
    """The mirrors next to a cluster."""
    return tuple(mirror for mirror in inventory.mirrors if mirror.cluster == target)


def production(inventory: Inventory, names: Sequence[str]) -> bool:
    """Return whether one of these clusters is of the production profile; one that the inventory does not know is."""
    known = kafka_clusters(inventory)
    return any(name not in known or known[name].production for name in names)


def where(inventory: Inventory, *clusters: str) -> tuple[str, ...]:
    """The hosts to name for flows between clusters: mirrors next to them, else their nodes, else everybody's first."""
    near = [mirror.name for mirror in inventory.mirrors if mirror.cluster in clusters]
    nodes = [node.name for node in inventory.nodes if node.cluster in clusters]
    return tuple(near or nodes or [node.name for node in inventory.processes[:1]])


def _plain(item: Mapping[Any, Any]) -> dict[str, Any]:
    """An entry whose keys, names and patterns are text, so that nothing trips over a number."""
    plain: dict[str, Any] = {}
    for key, value in item.items():
        if isinstance(value, (list, tuple)):
            value = [str(part) for part in value]
        elif str(key) in ("source", "target") and value is not None:
            value = str(value)
        plain[str(key)] = value
    return plain


def _holds_undefined(value: Any) -> bool:
    parts = list(value.values()) if isinstance(value, Mapping) else value
    return value is UNDEFINED or (isinstance(parts, (list, tuple)) and any(map(_holds_undefined, parts)))
