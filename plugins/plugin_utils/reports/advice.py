# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The advice of the field: figures that are known to work, and what a running cluster holds against them.

They are those of the guides that operators of ZooKeeper clusters pass on; KRaft moves some of them far up. What an
inventory can tell is judged before a run (preflight/rules/advice.py), what only the cluster can tell here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...module_utils._core.names import capped

#: Brokers on one ensemble of ZooKeeper; replicas on a broker; bytes of a partition.
MOST_BROKERS = 7
MOST_PARTITIONS = 2000
MOST_BYTES = 25 * 1000**3
#: Copies of a partition: below the first one disk loses it, below the second so does one disk while a broker restarts.
LEAST_COPIES, NORMAL_COPIES = 2, 3
#: Percent of a link that traffic may take: what comes on top is a broker that fills up again.
MOST_OF_LINK = 75
#: How many examples a line names.
SHOWN = 5

MANY_BROKERS = "the one controller writes each change of a partition to ZooKeeper and tells every broker by itself"
MANY_PARTITIONS = "each costs open files and memory, and a broker that dies moves all it leads"
LARGE_PARTITIONS = "a replaced broker copies each whole"


def advice_lines(info: Mapping[str, Any], zookeeper: bool = False) -> list[str]:
    """Return what a cluster has against the advice, from cluster_info with sizes: figure found, advised, why."""
    return [
        *(_brokers(info["nodes"]) if zookeeper else ()),
        *_replicas(info["nodes"]),
        *_sizes(info["topics"]),
        *_copies(info["topics"]),
    ]


def _brokers(nodes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if len(nodes) > MOST_BROKERS:
        yield f"{len(nodes)} brokers on one ensemble, at most {MOST_BROKERS} are advised: {MANY_BROKERS}"


def _replicas(nodes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    full = [f"{node['id']} ({node['replicas']})" for node in nodes if node["replicas"] > MOST_PARTITIONS]
    if full:
        yield f"replicas on broker {capped(full, SHOWN)}, at most {MOST_PARTITIONS} are advised: {MANY_PARTITIONS}"


def _sizes(topics: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    largest = [(topic["name"], topic["largest_partition"]) for topic in topics if topic["largest_partition"]]
    sizes = [(one["size_bytes"], f"{name}-{one['partition']}") for name, one in largest]
    large = [f"{name} ({size / 1000**3:.0f} GB)" for size, name in sorted(sizes, reverse=True) if size > MOST_BYTES]
    if large:
        yield f"large partitions {capped(large, SHOWN)}, at most 25 GB is advised: {LARGE_PARTITIONS}"


def _copies(topics: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Topics of people; how many copies Kafka's own have is a property of the brokers, which the preflight judges."""
    few = [topic for topic in topics if topic["replication_factor"] < NORMAL_COPIES and not topic["internal"]]
    if few:
        named = [f"{topic['name']} ({topic['replication_factor']})" for topic in few]
        yield (
            f"replication factor of {capped(named, SHOWN)}, at least {LEAST_COPIES} and normally {NORMAL_COPIES} is "
            "advised: a lost disk loses the only copy, and of two one is away whenever a broker restarts"
        )
