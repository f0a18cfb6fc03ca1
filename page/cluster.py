"""Put together what is known of a cluster and its moves, in the form of the report of a status. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import InFlight
from ansible_collections.streamops.kafka.plugins.module_utils._health.model import State
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_data import cluster_part
from page.expected import Expected


def moves_of(state: State) -> dict[str, Any]:
    """Return the moves of a cluster as plain data.

    Returns:
        C(known), whether moves were told; C(partitions), those under way, sorted; C(recorded), how many partitions the
        record of an unfinished run has, None without one; C(throttles) that no record tells of. A partition has
        C(topic), C(partition), the brokers C(from) which and C(to) which it moves, those C(adding) and C(removing),
        C(size_bytes) and the C(copied_bytes) of the new broker that has the fewest, both None where they are unknown.
    """
    sizes = {
        (topic["name"], one["partition"]): one.get("size_bytes")
        for topic in (state.info or {}).get("topics") or ()
        for one in topic.get("partitions") or ()
    }
    return {
        "known": state.in_flight is not None,
        "partitions": [
            _move(one, sizes.get(key), state.copied.get(key, {}))
            for key, one in sorted((state.in_flight or {}).items())
        ],
        "recorded": state.recorded,
        "throttles": [dict(one) for one in state.throttles],
    }


def _move(one: InFlight, size: int | None, copied: Mapping[int, int]) -> dict[str, Any]:
    return {
        "topic": one.topic,
        "partition": one.index,
        "from": [*one.original],
        "to": [*one.target],
        "adding": sorted(one.adding),
        "removing": sorted(one.removing),
        "size_bytes": size,
        "copied_bytes": _least(one.adding, copied),
    }


def _least(adding: Iterable[int], copied: Mapping[int, int]) -> int | None:
    """Return the bytes of the new broker that has the fewest; None without a new broker, or where one did not tell."""
    found = [copied.get(broker) for broker in adding]
    known = [count for count in found if count is not None]
    return min(known) if known and len(known) == len(found) else None


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
