# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Calls about partitions that only waits, gates and elections need, on the same connection as all others."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ansible_collections.streamops.kafka.plugins.module_utils._client.admin import Admin
from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection, within
from ansible_collections.streamops.kafka.plugins.module_utils._client.rights import denied
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.log_sizes import LogDirs, log_dirs_of
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Partition, Snapshot
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RequestFailedError, StreamopsError
from ansible_collections.streamops.kafka.plugins.module_utils._gate.isr import (
    Goal,
    Observation,
    bytes_behind,
    lagging,
    observe,
)
from ansible_collections.streamops.kafka.plugins.module_utils._gate.rule import Moving

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: Kafka's error codes of an election (org.apache.kafka.common.protocol.Errors); 84 means that all is as wished.
_ELECTED = (0, 84)
_ELECTION_ERRORS = {
    3: "UNKNOWN_TOPIC_OR_PARTITION",
    41: "NOT_CONTROLLER",
    80: "PREFERRED_LEADER_NOT_AVAILABLE",
    83: "ELIGIBLE_LEADERS_NOT_AVAILABLE",
}
#: One election writes one metadata record; a KRaft controller refuses more than 10,000 in one request.
ELECTION_BATCH = 5000


def quick(connection: Connection) -> Connection:
    """Return the connection for calls that are repeated: a broker that hangs must not eat the whole wait."""
    return replace(connection, request_timeout=round(within(10, connection.request_timeout)))


class PartitionAdmin(Admin):
    """The cluster's administration with reassignments, elections and the lag of replicas."""

    def __enter__(self) -> PartitionAdmin:
        super().__enter__()
        return self

    def glance(self) -> Snapshot:
        """Return brokers and partitions only: no quorum (slow while it has no leader), no configuration."""
        partitions = [partition for found in self.topics().values() for partition in found]
        return Snapshot(
            cluster_id="", controller_id=None, brokers=self.brokers(), partitions=tuple(partitions), quorum=None
        )

    def for_gate(self) -> tuple[Snapshot, list[Moving]]:
        """Return what a gate judges, asked in an order in which nothing old can pass for new.

        The quorum first: its leader says which brokers know the metadata as it is now, so the partitions that any of
        these tells afterwards are at most that old. Reassignments before them: one that begins in between shows there.
        """
        quorum = self.quorum()
        moving = self.reassignments()
        return replace(self.snapshot(), quorum=quorum), moving

    def reassignments(self) -> list[Moving]:
        """Return the partitions that are being moved now (KIP-455)."""
        return [
            Moving(topic=one.topic, index=one.index, replicas=one.adding.union(one.replicas, one.removing))
            for one in self.in_flight().values()
        ]

    def elect_preferred(self, partitions: Iterable[tuple[str, int]]) -> dict[tuple[str, int], str]:
        """Ask for the preferred leader of each partition; return why not, for those where it could not be done."""
        wanted = list(partitions)
        failed: dict[tuple[str, int], str] = {}
        for start in range(0, len(wanted), ELECTION_BATCH):
            by_topic: dict[str, list[int]] = {}
            for topic, index in wanted[start : start + ELECTION_BATCH]:
                by_topic.setdefault(topic, []).append(index)
            answer = self._sound(self._call("elect leaders", partial(self._elect, by_topic)), "elect leaders")
            failed.update(_election_failures(answer))
        return failed

    def _elect(self, by_topic: Mapping[str, list[int]]) -> Any:
        # 0 is the preferred election; errors of single partitions are judged by the caller.
        return self._python.elect_leaders(
            0, dict(by_topic), timeout_ms=self.connection.request_timeout * 1000, raise_errors=False
        )

    def replica_sizes(self, broker: int, partitions: Mapping[str, list[int]]) -> Mapping[tuple[str, int], int]:
        """Return the size in bytes of a broker's replicas of these partitions; those it does not hold are left out."""
        return self._log_dirs(broker, dict(partitions)).sizes

    def log_dirs(self, brokers: Iterable[int]) -> dict[int, LogDirs]:
        """Return what these brokers hold and how full their disks are, one request for each."""
        return {broker: self._log_dirs(broker) for broker in brokers}

    def _log_dirs(self, broker: int, partitions: dict[str, list[int]] | None = None) -> LogDirs:
        return log_dirs_of(self.directories(broker, partitions))


class IsrObserver:
    """Takes observations for one goal on one connection, which is opened again after an error."""

    def __init__(self, connection: Connection, goal: Goal) -> None:
        self._connection = connection
        self._goal = goal
        self._admin: PartitionAdmin | None = None

    def take(self) -> Observation:
        """Look at the cluster once; raises ClusterUnreachableError or RequestFailedError."""
        try:
            if self._admin is None:
                self._admin = PartitionAdmin(self._connection)
                self._admin.__enter__()
                self._require_rights(self._admin)
            snapshot = self._admin.glance()
            replicas = lagging(snapshot, self._goal)
            return replace(observe(snapshot, self._goal), bytes_behind=_bytes_behind(self._admin, replicas))
        except StreamopsError:
            self.close()
            raise

    def _require_rights(self, admin: PartitionAdmin) -> None:
        """Raise RequestFailedError unless all that the goal is about can be seen: Kafka hides the rest."""
        if self._goal.scope != "topics":
            return admin.require_describe("observe replicas")
        for topic in admin.hidden_topics(self._goal.topics):
            code = "TOPIC_AUTHORIZATION_FAILED"
            why = denied(admin.connection, "list topics", code, topic)
            raise RequestFailedError("observe replicas", f"of topic {topic}", code, why)

    def close(self) -> None:
        """Close the connection."""
        if self._admin is not None:
            self._admin.__exit__()
            self._admin = None


def _bytes_behind(admin: PartitionAdmin, replicas: list[tuple[Partition, int]]) -> int | None:
    """How far these replicas are behind; None when none is, or when a broker that should know cannot be asked.

    That costs the figure, not the wait: the other brokers tell whether the replicas have come back.
    """
    try:
        return bytes_behind(replicas, admin.replica_sizes) if replicas else None
    except RequestFailedError:
        return None


def _election_failures(answer: Any) -> dict[tuple[str, int], str]:
    return {
        (result.topic, partition.partition_id): partition.error_message
        or _ELECTION_ERRORS.get(partition.error_code, f"error {partition.error_code}")
        for result in answer.replica_election_results
        for partition in result.partition_result
        if partition.error_code not in _ELECTED
    }
