"""Tell Prometheus where the replicas of each partition are, under kafka_exporter's names. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from page.core.exposition import Family, family

Row = Mapping[str, Any]

#: Series of each partition, besides its leader, which is missing where it has none.
_ALWAYS = 4


def series_of(topic: Row) -> int:
    """Return how many series a topic has here; none where its partitions were not told."""
    return sum(_ALWAYS + (one["leader"] is not None) for one in topic.get("partitions") or ())


def families_of_partitions(cluster: str, topics: Sequence[Row]) -> Iterator[Family]:
    """Yield the leader and the replicas of each partition of topics as cluster_info tells them."""
    rows = [
        ({"topic": topic["name"], "partition": one["partition"]}, one)
        for topic in topics
        for one in topic.get("partitions") or ()
    ]
    family_of = partial(family, cluster)
    yield from family_of(
        "kafka_topic_partition_leader",
        "Id of the broker that leads a partition; no series where none does.",
        ((labels, one["leader"]) for labels, one in rows if one["leader"] is not None),
    )
    yield from family_of(
        "kafka_topic_partition_replicas",
        "Replicas of a partition.",
        ((labels, len(one["replicas"])) for labels, one in rows),
    )
    yield from family_of(
        "kafka_topic_partition_in_sync_replica",
        "Replicas of a partition that are in sync.",
        ((labels, len(one["isr"])) for labels, one in rows),
    )
    yield from family_of(
        "kafka_topic_partition_leader_is_preferred",
        "1 where the preferred broker leads a partition, else 0.",
        ((labels, int(one["leader"] in one["replicas"][:1])) for labels, one in rows),
    )
    yield from family_of(
        "kafka_topic_partition_under_replicated_partition",
        "1 where a replica of a partition is not in sync, else 0.",
        ((labels, int(len(one["isr"]) < len(one["replicas"]))) for labels, one in rows),
    )
