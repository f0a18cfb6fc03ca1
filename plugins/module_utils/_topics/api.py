# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Changes of topics: create, grow, delete. C(_cluster/api.py) reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session


@dataclass(frozen=True)
class TopicSpec:
    """A topic to create. C(placed): the replicas of each of its partitions; empty where Kafka places them."""

    name: str
    partitions: int
    replication_factor: int
    config: Mapping[str, str]
    placed: Sequence[Sequence[int]] = ()


def create_topics(session: Session, topics: Iterable[TopicSpec], validate_only: bool = False) -> dict[str, Any]:
    """Create topics in one request; per name None or (Kafka's error name, why)."""
    from confluent_kafka.admin import NewTopic  # type: ignore[attr-defined]

    wanted = [NewTopic(t.name, t.partitions, config=dict(t.config), **_where(t)) for t in topics]
    return session.bulk("create_topics", wanted, validate_only=validate_only)


def grow_topics(
    session: Session,
    totals: Mapping[str, int],
    placed: Mapping[str, Sequence[Sequence[int]]] | None = None,
    validate_only: bool = False,
) -> dict[str, Any]:
    """Raise topics to these numbers of partitions in one request; per name None or (Kafka's error name, why).

    C(placed), by topic: the replicas of each new partition, where Kafka does not place them.
    """
    from confluent_kafka.admin import NewPartitions  # type: ignore[attr-defined]

    lists = {name: [list(replicas) for replicas in places] for name, places in (placed or {}).items()}
    wanted = [
        NewPartitions(name, total, **({"replica_assignment": lists[name]} if name in lists else {}))
        for name, total in totals.items()
    ]
    return session.bulk("create_partitions", wanted, validate_only=validate_only)


def delete_topics(session: Session, names: Iterable[str]) -> dict[str, Any]:
    """Delete topics in one request; per name None or (Kafka's error name, why)."""
    return session.bulk("delete_topics", list(names))


def _where(topic: TopicSpec) -> dict[str, Any]:
    """How a new topic is placed: either a factor or all replicas by name."""
    if topic.placed:
        return {"replica_assignment": [list(replicas) for replicas in topic.placed]}
    return {"replication_factor": topic.replication_factor}
