# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Messages of Kafka's protocol about groups that kafka-python does not have yet.

It has those of classic groups. The tables below follow Kafka's own definitions of ConsumerGroupDescribe (KIP-848),
ShareGroupDescribe, DescribeShareGroupOffsets and AlterShareGroupOffsets (KIP-932) and StreamsGroupDescribe (KIP-1071),
as Kafka 4.3 has them. A broker that does not know one is never sent it: kafka-python compares versions first.

Nor has it what a group keeps of workers of Kafka Connect: ConnectProtocol (version 0) and
IncrementalCooperativeConnectProtocol (from version 1 on). From version 1 on an assignment says only what is added and
what is taken away (IncrementalCooperativeAssignor); what the worker had before stands in its metadata, as it joined
(WorkerCoordinator.onJoinComplete).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

_NULLABLE = "?"
_ASSIGNED = [
    ("TopicPartitions", "[]TopicPartitions", [("TopicId", "uuid"), ("TopicName", "string"), ("Partitions", "[]int32")])
]
_TASKS = [
    (kind, "[]TaskIds", [("SubtopologyId", "string"), ("Partitions", "[]int32")])
    for kind in ("ActiveTasks", "StandbyTasks", "WarmupTasks")
]
_PAIRS = [("Key", "string"), ("Value", "string")]
_OFFSETS = [("SubtopologyId", "string"), ("Partition", "int32"), ("Offset", "int64")]
_TOPIC_INFO = [
    ("Name", "string"),
    ("Partitions", "int32"),
    ("ReplicationFactor", "int16"),
    ("TopicConfigs", "[]KeyValue", _PAIRS),
]
_SUBTOPOLOGY = [
    ("SubtopologyId", "string"),
    ("SourceTopics", "[]string"),
    ("RepartitionSinkTopics", "[]string"),
    ("StateChangelogTopics", "[]TopicInfo", _TOPIC_INFO),
    ("RepartitionSourceTopics", "[]TopicInfo", _TOPIC_INFO),
]
_ERROR = [("ErrorCode", "int16"), ("ErrorMessage?", "string")]
_ASKED = [("GroupIds", "[]string"), ("IncludeAuthorizedOperations", "bool")]
_HEAD = [
    *_ERROR,
    ("GroupId", "string"),
    ("GroupState", "string"),
    ("GroupEpoch", "int32"),
    ("AssignmentEpoch", "int32"),
]
_TAIL = [("AuthorizedOperations", "int32")]


def _described(*parts: Any) -> list[Any]:
    return [("ThrottleTimeMs", "int32"), ("Groups", "[]DescribedGroup", [*_HEAD, *parts, *_TAIL])]


#: By name: the API key, the latest version, and the fields of the request and of the response. A field is its name
#: (with a question mark where it may be null), its type, the fields of a structure, and the version that began it.
_MESSAGES: dict[str, tuple[int, int, list[Any], list[Any]]] = {
    "ConsumerGroupDescribe": (
        69,
        1,
        _ASKED,
        _described(
            ("AssignorName", "string"),
            (
                "Members",
                "[]Member",
                [
                    ("MemberId", "string"),
                    ("InstanceId?", "string"),
                    ("RackId?", "string"),
                    ("MemberEpoch", "int32"),
                    ("ClientId", "string"),
                    ("ClientHost", "string"),
                    ("SubscribedTopicNames", "[]string"),
                    ("SubscribedTopicRegex?", "string"),
                    ("Assignment", "Assignment", _ASSIGNED),
                    ("TargetAssignment", "TargetAssignment", _ASSIGNED),
                    ("MemberType", "int8", None, 1),
                ],
            ),
        ),
    ),
    "ShareGroupDescribe": (
        77,
        1,
        _ASKED,
        _described(
            ("AssignorName", "string"),
            (
                "Members",
                "[]Member",
                [
                    ("MemberId", "string"),
                    ("RackId?", "string"),
                    ("MemberEpoch", "int32"),
                    ("ClientId", "string"),
                    ("ClientHost", "string"),
                    ("SubscribedTopicNames", "[]string"),
                    ("Assignment", "Assignment", _ASSIGNED),
                ],
            ),
        ),
    ),
    "StreamsGroupDescribe": (
        89,
        0,
        _ASKED,
        _described(
            (
                "Topology?",
                "Topology",
                [("Epoch", "int32"), ("Subtopologies?", "[]Subtopology", _SUBTOPOLOGY)],
            ),
            (
                "Members",
                "[]Member",
                [
                    ("MemberId", "string"),
                    ("MemberEpoch", "int32"),
                    ("InstanceId?", "string"),
                    ("RackId?", "string"),
                    ("ClientId", "string"),
                    ("ClientHost", "string"),
                    ("TopologyEpoch", "int32"),
                    ("ProcessId", "string"),
                    ("UserEndpoint?", "Endpoint", [("Host", "string"), ("Port", "uint16")]),
                    ("ClientTags", "[]KeyValue", _PAIRS),
                    ("TaskOffsets", "[]TaskOffset", _OFFSETS),
                    ("TaskEndOffsets", "[]TaskOffset", _OFFSETS),
                    ("Assignment", "Assignment", _TASKS),
                    ("TargetAssignment", "TargetAssignment", _TASKS),
                    ("IsClassic", "bool"),
                ],
            ),
        ),
    ),
    "DescribeShareGroupOffsets": (
        90,
        1,
        [
            (
                "Groups",
                "[]Group",
                [("GroupId", "string"), ("Topics?", "[]Topic", [("TopicName", "string"), ("Partitions", "[]int32")])],
            )
        ],
        [
            ("ThrottleTimeMs", "int32"),
            (
                "Groups",
                "[]Group",
                [
                    ("GroupId", "string"),
                    (
                        "Topics",
                        "[]Topic",
                        [
                            ("TopicName", "string"),
                            ("TopicId", "uuid"),
                            (
                                "Partitions",
                                "[]Partition",
                                [
                                    ("PartitionIndex", "int32"),
                                    ("StartOffset", "int64"),
                                    ("LeaderEpoch", "int32"),
                                    ("Lag", "int64", None, 1),
                                    *_ERROR,
                                ],
                            ),
                        ],
                    ),
                    *_ERROR,
                ],
            ),
        ],
    ),
    "AlterShareGroupOffsets": (
        91,
        0,
        [
            ("GroupId", "string"),
            (
                "Topics",
                "[]Topic",
                [
                    ("TopicName", "string"),
                    ("Partitions", "[]Partition", [("PartitionIndex", "int32"), ("StartOffset", "int64")]),
                ],
            ),
        ],
        [
            ("ThrottleTimeMs", "int32"),
            *_ERROR,
            (
                "Responses",
                "[]Topic",
                [
                    ("TopicName", "string"),
                    ("TopicId", "uuid"),
                    ("Partitions", "[]Partition", [("PartitionIndex", "int32"), *_ERROR]),
                ],
            ),
        ],
    ),
}


def definition(name: str, kind: str) -> dict[str, Any]:
    """Return the definition of a message in the form of Kafka's JSON files; C(kind) is request or response."""
    key, latest, asked, answered = _MESSAGES[name]
    return {
        "apiKey": key,
        "type": kind,
        "name": f"{name}{kind.capitalize()}",
        "validVersions": f"0-{latest}",
        "flexibleVersions": "0+",
        "fields": [_field(*field) for field in (asked if kind == "request" else answered)],
    }


def _field(name: str, kind: str, fields: list[Any] | None = None, since: int = 0) -> dict[str, Any]:
    made: dict[str, Any] = {"name": name.rstrip(_NULLABLE), "type": kind, "versions": f"{since}+"}
    if name.endswith(_NULLABLE):
        made |= {"nullableVersions": f"{since}+", "default": "null"}
    if name == "Lag":
        made["default"] = -1
    if fields is not None:
        made["fields"] = [_field(*field) for field in fields]
    return made


# -- workers of Kafka Connect ------------------------------------------------------------------------------------

#: A task: the name of its connector, and its number; -1 is the connector itself.
Task = tuple[str, int]


def tasks_of(metadata: bytes, assignment: bytes) -> frozenset[Task]:
    """Return what a worker runs since its group was last balanced; ValueError where the bytes are not of Connect."""
    try:
        before, _revoked = _assignment(_allocation(metadata))
        added, revoked = _assignment(assignment)
    except (struct.error, UnicodeDecodeError) as error:
        raise ValueError(f"these bytes are not of a worker of Kafka Connect: {error}") from error
    return (before - revoked) | added


class _Reader:
    """Takes values of Kafka's protocol from bytes, one after the other."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def number(self, form: str) -> int:
        """Take a number; C(form) as struct names it."""
        value: int = struct.unpack_from(f">{form}", self._data, self._at)[0]
        self._at += struct.calcsize(f">{form}")
        return value

    def taken(self, length: int) -> bytes:
        """Take so many bytes; none for null, which has a negative length."""
        value = self._data[self._at : self._at + max(0, length)]
        if len(value) < length:
            raise struct.error(f"{length} bytes are announced, {len(value)} are there")
        self._at += len(value)
        return value

    def tasks(self) -> Iterator[Task]:
        """Take a list of connectors, each with its tasks."""
        for _connector in range(self.number("i")):
            name = self.taken(self.number("h")).decode()
            for _task in range(self.number("i")):
                yield name, self.number("i")


def _allocation(metadata: bytes) -> bytes:
    """Return the assignment that a worker had when it joined; empty before version 1, which takes all away then."""
    reader = _Reader(metadata)
    if not metadata or reader.number("h") < 1:
        return b""
    reader.taken(reader.number("h"))  # The URL of the worker.
    reader.number("q")  # How far it has read the configurations.
    return reader.taken(reader.number("i"))


def _assignment(data: bytes) -> tuple[frozenset[Task], frozenset[Task]]:
    """Return what an assignment adds, and what it takes away."""
    if not data:
        return frozenset(), frozenset()
    reader = _Reader(data)
    version = reader.number("h")
    reader.number("h")  # An error.
    for _text in ("leader", "URL of the leader"):
        reader.taken(reader.number("h"))
    reader.number("q")  # How far the leader has read the configurations.
    added = frozenset(reader.tasks())
    return added, frozenset(reader.tasks()) if version >= 1 else frozenset()
