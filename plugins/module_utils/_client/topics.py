# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a cluster can be asked and told about topics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Libraries, confluent_error
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Partition, partition_of
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import ClusterUnreachableError

#: Kafka's error TOPIC_AUTHORIZATION_FAILED.
_HIDDEN = 29


@dataclass(frozen=True)
class TopicSpec:
    """A topic to create. C(placed): the replicas of each of its partitions; empty where Kafka places them."""

    name: str
    partitions: int
    replication_factor: int
    config: Mapping[str, str]
    placed: Sequence[Sequence[int]] = ()


class TopicCalls(Libraries):
    """The calls about topics."""

    def topics(self) -> dict[str, tuple[Partition, ...]]:
        """All topics with their partitions (C(min_insync) 0), as one broker knows them."""
        confluent = self._confluent
        try:
            listed = confluent.list_topics(timeout=min(self.connection.request_timeout, 10)).topics
        except confluent_error() as error:
            confluent.poll(0)  # Delivers what the connections reported: why a log-in or a handshake failed.
            raise ClusterUnreachableError(self._reported(str(error.args[0].str()))) from error
        return {
            name: tuple(
                partition_of(name, index, found.leader, found.replicas, found.isrs)
                for index, found in sorted(listed[name].partitions.items())
            )
            for name in listed
        }

    def topics_at(self, broker: int, names: Iterable[str]) -> dict[str, tuple[Partition, ...]]:
        """These topics as one broker knows them (C(min_insync) 0); those that it does not know are left out."""
        from kafka.protocol.metadata import MetadataRequest

        wanted = [MetadataRequest.MetadataRequestTopic(name=name) for name in names]
        request = MetadataRequest(topics=wanted, allow_auto_topic_creation=False)
        answer = self._send(f"list topics at broker {broker}", request, broker)
        return {topic.name: _partitions(topic) for topic in answer.topics if topic.error_code == 0}

    def with_eligible(self, partitions: Iterable[Partition]) -> tuple[Partition, ...]:
        """The same partitions; those without a leader with who is eligible to lead them (KIP-966), where it is known.

        One request for each 2,000 partitions of their topics.
        """
        listed = tuple(partitions)
        told = self._eligible(sorted({one.topic for one in listed if one.leader is None}))
        return tuple(
            replace(one, eligible=told[one.topic, one.index][0], last_known=told[one.topic, one.index][1])
            if one.leader is None and (one.topic, one.index) in told
            else one
            for one in listed
        )

    def _eligible(self, names: list[str]) -> dict[tuple[str, int], tuple[tuple[int, ...], tuple[int, ...]]]:
        """By partition (ELR, last known ELR) of these topics; nothing before Kafka 3.7 and with ZooKeeper."""
        from kafka import errors

        found: dict[tuple[str, int], tuple[tuple[int, ...], tuple[int, ...]]] = {}
        cursor: dict[str, Any] | None = None
        while names:
            try:
                answer = self._asked(partial(self._python.describe_topic_partitions, names, cursor=cursor))
            except (errors.IncompatibleBrokerVersion, errors.UnsupportedVersionError):
                return {}
            except errors.KafkaError as error:
                self._failed("describe partitions", error)
            for topic in answer["topics"]:
                for one in topic["partitions"]:
                    members = one["eligible_leader_replicas"] or (), one["last_known_elr"] or ()
                    found[topic["name"], one["partition_index"]] = (tuple(members[0]), tuple(members[1]))
            if answer["next_cursor"] in (None, cursor):
                break
            cursor = answer["next_cursor"]
        return found

    def hidden_topics(self, names: Iterable[str]) -> list[str]:
        """Those of these topics that we may not describe: whether they exist is not told, nor are they ever listed."""
        from kafka.protocol.metadata import MetadataRequest

        wanted = [MetadataRequest.MetadataRequestTopic(name=name) for name in names]
        if not wanted:
            return []
        request = MetadataRequest(topics=wanted, allow_auto_topic_creation=False)
        answer = self._send("list topics", request)
        return sorted(topic.name for topic in answer.topics if topic.error_code == _HIDDEN)

    def create_topics(self, topics: Iterable[TopicSpec], validate_only: bool = False) -> dict[str, Any]:
        """Create topics in one request; per name None or (Kafka's error name, why)."""
        from confluent_kafka.admin import NewTopic  # type: ignore[attr-defined]

        wanted = [NewTopic(t.name, t.partitions, config=dict(t.config), **_where(t)) for t in topics]
        return self._bulk("create_topics", wanted, validate_only=validate_only)

    def grow_topics(
        self,
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
        return self._bulk("create_partitions", wanted, validate_only=validate_only)

    def delete_topics(self, names: Iterable[str]) -> dict[str, Any]:
        """Delete topics in one request; per name None or (Kafka's error name, why)."""
        return self._bulk("delete_topics", list(names))


def _where(topic: TopicSpec) -> dict[str, Any]:
    """How a new topic is placed: either a factor or all replicas by name."""
    if topic.placed:
        return {"replica_assignment": [list(replicas) for replicas in topic.placed]}
    return {"replication_factor": topic.replication_factor}


def _partitions(topic: Any) -> tuple[Partition, ...]:
    found = sorted(topic.partitions, key=lambda p: p.partition_index)
    return tuple(partition_of(topic.name, p.partition_index, p.leader_id, p.replica_nodes, p.isr_nodes) for p in found)
