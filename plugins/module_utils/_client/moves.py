# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a cluster can be asked and told about moves of replicas, and where logs end."""

from __future__ import annotations

import concurrent.futures
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Libraries
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.moving import (
    Failures,
    InFlight,
    Key,
    in_flight_of,
)
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.schedule import REQUEST_PARTITIONS


class MoveCalls(Libraries):
    """The calls about moves."""

    def in_flight(self) -> dict[Key, InFlight]:
        """The partitions that are being moved now, by whomever."""
        return in_flight_of(self._call("list reassignments", self._python.list_partition_reassignments))

    def alter_reassignments(self, targets: Mapping[Key, Sequence[int] | None]) -> Failures:
        """Begin moves to these replicas (None cancels); return why not, for the partitions that were refused.

        A refusal of one partition keeps no other one from moving. Raises RequestFailedError when a request as a whole
        is refused; what requests before it began goes on.
        """
        failed: Failures = {}
        keys = list(targets)
        for start in range(0, len(keys), REQUEST_PARTITIONS):
            part = {key: targets[key] for key in keys[start : start + REQUEST_PARTITIONS]}
            failed.update(self._alter(part))
        return failed

    def _alter(self, targets: Mapping[Key, Sequence[int] | None]) -> Failures:
        """One request, with the words that the broker has for each partition (the library's own call drops them)."""
        from kafka.errors import for_code
        from kafka.protocol.admin import AlterPartitionReassignmentsRequest as Request

        by_topic: dict[str, list[Any]] = {}
        for (topic, index), replicas in targets.items():
            wanted = Request.ReassignableTopic.ReassignablePartition(partition_index=index, replicas=replicas)
            by_topic.setdefault(topic, []).append(wanted)
        topics = [Request.ReassignableTopic(name=name, partitions=found) for name, found in by_topic.items()]
        request = Request(timeout_ms=self.connection.request_timeout * 1000, topics=topics)

        def refused(answer: Any) -> Any:
            """The error of the whole request."""
            yield for_code(answer.error_code)

        manager = self._python._manager
        answer = self._call(
            "alter reassignments",
            lambda: manager.run(self._python._send_request_to_controller, request, refused),
        )
        return {
            (topic.name, found.partition_index): self._explain("alter reassignments", found, topic.name)
            for topic in answer.responses
            for found in topic.partitions
            if found.error_code
        }

    def directories(self, broker: int, partitions: dict[str, list[int]] | None = None) -> list[dict[str, Any]]:
        """Return the log directories of a broker with these replicas (None = all), as Kafka's protocol has them."""
        from kafka.protocol.admin import DescribeLogDirsRequest

        what = f"describe log dirs of broker {broker}"
        request = DescribeLogDirsRequest(topics=None if partitions is None else list(partitions.items()))
        answer = self._sound(self._send(what, request, broker), what)
        return [result.to_dict() for result in answer.results]

    def end_offsets(self, partitions: Iterable[Key], committed: bool = False) -> dict[Key, int]:
        """The log end offsets of these partitions; those that cannot tell (no leader, deleted) are left out.

        C(committed): the last stable offsets, below which no transaction is open (KIP-98).
        """
        from confluent_kafka.admin import OffsetSpec  # type: ignore[attr-defined]

        return self._edges(partitions, OffsetSpec.latest(), committed)  # type: ignore[no-untyped-call]

    def start_offsets(self, partitions: Iterable[Key]) -> dict[Key, int]:
        """The first offsets that these partitions still hold; those that cannot tell are left out."""
        from confluent_kafka.admin import OffsetSpec  # type: ignore[attr-defined]

        return self._edges(partitions, OffsetSpec.earliest(), False)  # type: ignore[no-untyped-call]

    def _edges(self, partitions: Iterable[Key], edge: Any, committed: bool) -> dict[Key, int]:
        from confluent_kafka import IsolationLevel, KafkaException, TopicPartition

        wanted = {TopicPartition(topic, index): edge for topic, index in partitions}
        if not wanted:
            return {}
        asked = self._confluent.list_offsets(
            wanted,
            isolation_level=IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED,
            request_timeout=self.connection.request_timeout,
        )
        found: dict[Key, int] = {}
        for where, future in asked.items():
            try:
                # librdkafka ends each request itself; the limit is there for the day it does not.
                found[where.topic, where.partition] = future.result(self.connection.request_timeout + 15).offset
            except (KafkaException, concurrent.futures.TimeoutError):
                continue
        return found
