# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Messages of Kafka's protocol about groups that kafka-python does not have yet.

It has those of classic groups. The tables below follow Kafka's own definitions of ConsumerGroupDescribe (KIP-848),
ShareGroupDescribe, DescribeShareGroupOffsets and AlterShareGroupOffsets (KIP-932) and StreamsGroupDescribe (KIP-1071),
as Kafka 4.3 has them. A broker that does not know one is never sent it: kafka-python compares versions first.
"""

from __future__ import annotations

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
