# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Changes of where replicas are, and the record of them that a run keeps with the cluster."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from .._brokers.api import elect
from .._brokers.election import listed, plan, unled
from .._client.bounded import ask_controller
from .._client.session import Session
from .._client.settle import wait_until_none
from .._cluster.api import list_topics
from .._cluster.snapshot import Failures, Key, Partition
from .._core.bulk import parts
from .._core.errors import StreamopsError
from .._state.api import read_state, write_state
from .record import KEY, REQUEST_PARTITIONS, Record, record_of

#: Seconds that an election of leaders may take.
_ELECTION = 30.0


def alter_reassignments(session: Session, targets: Mapping[Key, Sequence[int] | None]) -> Failures:
    """Begin moves to these replicas (None cancels); return why not, for the partitions that were refused.

    A refusal of one partition keeps no other one from moving. Raises RequestFailedError when a request as a whole
    is refused; what requests before it began goes on.
    """
    failed: Failures = {}
    for part in parts(targets, REQUEST_PARTITIONS):
        failed.update(_alter(session, {key: targets[key] for key in part}))
    return failed


def _alter(session: Session, targets: Mapping[Key, Sequence[int] | None]) -> Failures:
    """One request, with the words that the broker has for each partition (the library's own call drops them)."""
    from kafka.errors import for_code
    from kafka.protocol.admin import AlterPartitionReassignmentsRequest as Request

    by_topic: dict[str, list[Any]] = {}
    for (topic, index), replicas in targets.items():
        wanted = Request.ReassignableTopic.ReassignablePartition(partition_index=index, replicas=replicas)
        by_topic.setdefault(topic, []).append(wanted)
    topics = [Request.ReassignableTopic(name=name, partitions=found) for name, found in by_topic.items()]
    request = Request(timeout_ms=session.connection.request_timeout * 1000, topics=topics)

    def refused(answer: Any) -> Any:
        """The error of the whole request."""
        yield for_code(answer.error_code)

    client = session.python
    answer = session.call("alter reassignments", lambda: ask_controller(client, request, refused))
    return {
        (topic.name, found.partition_index): session.explain("alter reassignments", found, topic.name)
        for topic in answer.responses
        for found in topic.partitions
        if found.error_code
    }


def elect_leaders(session: Session, partitions: Sequence[Key]) -> list[dict[str, Any]]:
    """Have the preferred leaders of these partitions elected; return those that got theirs back, for the result.

    Kafka itself would do it some minutes later, and only above 10 % imbalance; so no reassignment fails for it.
    """

    def listed_now() -> list[Partition]:
        """All partitions."""
        return [one for found in list_topics(session).values() for one in found]

    def leaders() -> dict[Key, int | None]:
        """Return who leads now."""
        return {(one.topic, one.index): one.leader for one in listed_now()}

    if not partitions:
        return []
    try:
        planned = plan(listed_now(), wanted=partitions)
        failed = elect(session, [(one.topic, one.index) for one in planned.elect])
        wait_until_none("elect leaders", lambda: unled(planned, failed, leaders()), _ELECTION)
    except StreamopsError:
        return []
    return listed(one for one in planned.elect if (one.topic, one.index) not in failed)


# -- the record of a reassignment, by its key in the state topic --------------------------------------------------


def read_record(session: Session, topics: Collection[str] | None = None) -> Record | None:
    """The record of the reassignment that is not ended, if there is one.

    C(topics) are the names of all topics, where they have been listed already.
    """
    return record_of(read_state(session, KEY, topics)[0])


def write_record(session: Session, record: Record | None) -> None:
    """Keep the record with the cluster; None takes it away."""
    write_state(session, KEY, None if record is None else record.as_data())
