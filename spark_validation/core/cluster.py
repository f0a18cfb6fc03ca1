"""One cluster as jobs that only read ask it: topics with their ids, settings and offsets, and a group's position.

Asked with the Java admin client that Spark's connector brings along; offsets of all partitions in one call.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from spark_validation.core.errors import CannotRunError, asked, root_cause
from spark_validation.core.fields import Reach
from spark_validation.core.session import client_properties

Place = tuple[str, int]
_MISSING = "UnknownTopicOrPartitionException"


@dataclass(frozen=True)
class TopicSeen:
    """A topic now. `id` changes when it is deleted and made anew; `retention_ms` -1 keeps records for ever."""

    name: str
    id: str
    partitions: int
    compacted: bool
    deletes: bool
    stamps_time: bool
    retention_ms: int
    retention_bytes: int


class KafkaCluster:
    """One admin client; used by one thread, closed at the end. `alias` is what messages call the cluster."""

    def __init__(self, java: Any, alias: str, reach: Reach) -> None:
        """Connect lazily."""
        self._java, self.alias, self.reach = java, alias, reach
        create = java.org.apache.kafka.clients.admin.AdminClient.create
        self._admin = asked("connection", create, client_properties(reach))

    def __enter__(self) -> KafkaCluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._admin.close(self._java.java.time.Duration.ofSeconds(2))

    def topics(self, names: list[str]) -> dict[str, TopicSeen]:
        """Those of `names` that exist, with what the audit needs of their settings."""
        described = self._admin.describeTopics(names).topicNameValues()
        found = {}
        for name in names:
            try:
                found[name] = described.get(name).get()
            except Exception as error:
                if _MISSING not in root_cause(error):
                    raise CannotRunError(f"topic {name} of cluster {self.alias}", root_cause(error)) from error
        settings = self._settings(found)
        return {
            name: TopicSeen(
                name,
                str(topic.topicId().toString()),
                int(topic.partitions().size()),
                "compact" in settings[name]["cleanup.policy"],
                "delete" in settings[name]["cleanup.policy"],
                settings[name]["message.timestamp.type"] == "LogAppendTime",
                int(settings[name]["retention.ms"]),
                int(settings[name]["retention.bytes"]),
            )
            for name, topic in found.items()
        }

    def starts(self, places: Iterable[Place]) -> dict[Place, int]:
        """The first offset that each partition still holds."""
        return self._offsets(places, self._spec.earliest())

    def ends(self, places: Iterable[Place], committed: bool = True) -> dict[Place, int]:
        """The offset after the last committed record (last stable offset), or after the last one (high watermark)."""
        return self._offsets(places, self._spec.latest(), committed)

    def at(self, places: Iterable[Place], time_ms: int) -> dict[Place, int]:
        """The first offset with that time or a later one; -1 where there is none."""
        return self._offsets(places, self._spec.forTimestamp(time_ms))

    def settled_ends(self, places: list[Place], seconds: float) -> tuple[dict[Place, int], list[Place]]:
        """The committed ends once they have passed what is visible now, and the partitions where they did not.

        A transaction may be open, or decided while its marker is not in the data yet: what is written but not yet
        readable is awaited, up to `seconds`.
        """
        visible = self.ends(places, committed=False)
        deadline = time.monotonic() + seconds
        while True:
            ends = self.ends(places)
            open_still = [place for place in places if ends[place] < visible[place]]
            if not open_still or time.monotonic() > deadline:
                return ends, open_still
            time.sleep(0.2)

    def committed(self, group: str) -> dict[Place, int]:
        """The committed offsets of a consumer group (of the next record it takes); empty for an unknown group."""
        call = self._admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata()
        answer = asked(f"offsets of group {group} of cluster {self.alias}", call.get)
        return {
            (str(place.topic()), int(place.partition())): int(answer.get(place).offset())
            for place in answer.keySet()
            if answer.get(place) is not None
        }

    @property
    def _spec(self) -> Any:
        return self._java.org.apache.kafka.clients.admin.OffsetSpec

    def _offsets(self, places: Iterable[Place], spec: Any, committed: bool = True) -> dict[Place, int]:
        java = self._java
        wanted, request = {}, java.java.util.HashMap()
        for place in places:
            wanted[place] = java.org.apache.kafka.common.TopicPartition(*place)
            request.put(wanted[place], spec)
        if not wanted:
            return {}
        level = java.org.apache.kafka.common.IsolationLevel
        isolation = level.READ_COMMITTED if committed else level.READ_UNCOMMITTED
        options = java.org.apache.kafka.clients.admin.ListOffsetsOptions(isolation)
        call = self._admin.listOffsets(request, options).all()
        answer = asked(f"offsets in cluster {self.alias}", call.get)
        return {place: int(answer.get(partition).offset()) for place, partition in wanted.items()}

    def _settings(self, names: Iterable[str]) -> dict[str, dict[str, str]]:
        java = self._java
        resource = java.org.apache.kafka.common.config.ConfigResource
        kind = java.org.apache.kafka.common.config.ConfigResource.Type.TOPIC
        wanted = {name: resource(kind, name) for name in names}
        call = self._admin.describeConfigs(list(wanted.values())).all()
        answer = asked(f"settings of topics in cluster {self.alias} (needs DescribeConfigs)", call.get)
        keys = ("cleanup.policy", "message.timestamp.type", "retention.ms", "retention.bytes")
        return {
            name: {key: str(answer.get(resource).get(key).value()) for key in keys} for name, resource in wanted.items()
        }
