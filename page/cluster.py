"""Put together what is known of a cluster, in the form of the report of a status. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_data import cluster_part
from page.expected import Expected


def given_of(expected: Expected) -> dict[str, Any]:
    """Return what the health of a cluster is compared with; its versions are those that the inventory names."""
    return {"nodes": expected.nodes, "versions": {node["host"]: node.get("version") for node in expected.nodes}}


def cluster_of(
    name: str, servers: Sequence[str], expected: Expected, health: Mapping[str, Any], groups: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a cluster as cluster_part has it, each topic also with its C(size_bytes).

    Args:
        name: Its name in the settings.
        servers: Its bootstrap list.
        expected: What it is compared with.
        health: What cluster_health returns, with partitions.
        groups: What group_info returns.
    """
    nodes = [{"version": None, **node} for node in expected.nodes]
    part = cluster_part(name, servers, nodes, health, health["cluster"], groups)
    shared: dict[tuple[int, ...], list[int]] = {}
    topics = [
        {**one, "size_bytes": _size(one["partitions"] or ()), "partitions": _sharing(one["partitions"], shared)}
        for one in part["topics"]
    ]
    return {**part, "topics": topics}


def _sharing(partitions: Any, shared: dict[tuple[int, ...], list[int]]) -> Any:
    """Return partitions that share equal lists of brokers: a cluster has few of them, and many partitions."""
    return partitions and [
        {**one, **{key: shared.setdefault(tuple(one[key]), one[key]) for key in ("replicas", "isr") if key in one}}
        for one in partitions
    ]


def _size(partitions: Sequence[Mapping[str, Any]]) -> int | None:
    """Return the bytes of all partitions, each as its leader has it; None where one is unknown."""
    sizes = [one.get("size_bytes") for one in partitions]
    return None if None in sizes else sum(size for size in sizes if size is not None)
