# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Changes of brokers: elected leaders, registrations, voters of the metadata quorum."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from .._client.session import Session
from .._cluster.snapshot import Key
from .._core.bulk import parts
from .._core.errors import RequestFailedError

#: Codes of an election that are no failure (org.apache.kafka.common.protocol.Errors): 84 is ELECTION_NOT_NEEDED.
_ELECTED = (0, 84)
#: All codecs of Kafka's producers (CompressionType), and none.
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
#: The key of records of a proof of codecs, which nobody reads.
_KEY = b"codec-proof"
#: JSON, as all values of the topic of states are. A library sends what compression makes no smaller without it.
_VALUE = b'"' + b"streamops" * 100 + b'"'
#: A broker that has just become leader is asked so often, with so many milliseconds between. An election is over by
#: then, and the last error is told, where a limit of time would tell no more than that it has passed.
_RETRIES = {"retries": 10, "retry.backoff.ms": 500}
#: org.apache.kafka.common.ElectionType (KIP-460).
_PREFERRED, _UNCLEAN = 0, 1
#: One election writes one metadata record; a KRaft controller refuses more than 10,000 in one request.
_ELECTION_BATCH = 5000
#: Kafka's error BROKER_ID_NOT_REGISTERED.
_NOT_REGISTERED = 102
#: UnregisterBroker (KIP-746), AddRaftVoter and RemoveRaftVoter (KIP-853): key, name, fields.
_UNREGISTER: tuple[int, str, list[dict[str, Any]]] = (
    64,
    "UnregisterBroker",
    [{"name": "BrokerId", "type": "int32", "versions": "0+"}],
)
_VOTER: list[dict[str, Any]] = [
    {"name": "VoterId", "type": "int32", "versions": "0+"},
    {"name": "VoterDirectoryId", "type": "uuid", "versions": "0+"},
]
_CLUSTER: dict[str, Any] = {"name": "ClusterId", "type": "string", "versions": "0+", "nullableVersions": "0+"}
_LISTENERS: dict[str, Any] = {
    "name": "Listeners",
    "type": "[]Listener",
    "versions": "0+",
    "fields": [
        {"name": "Name", "type": "string", "versions": "0+", "mapKey": True},
        {"name": "Host", "type": "string", "versions": "0+"},
        {"name": "Port", "type": "uint16", "versions": "0+"},
    ],
}
_TIMEOUT: dict[str, Any] = {"name": "TimeoutMs", "type": "int32", "versions": "0+"}
_ADD_VOTER = (80, "AddRaftVoter", [_CLUSTER, _TIMEOUT, *_VOTER, _LISTENERS])
_REMOVE_VOTER = (81, "RemoveRaftVoter", [_CLUSTER, *_VOTER])
_FIELDS_OF_ERROR = [
    {"name": "ThrottleTimeMs", "type": "int32", "versions": "0+"},
    {"name": "ErrorCode", "type": "int16", "versions": "0+"},
    {"name": "ErrorMessage", "type": "string", "versions": "0+", "nullableVersions": "0+"},
]


def elect(session: Session, partitions: Iterable[Key], unclean: bool = False) -> dict[Key, str]:
    """Ask for the preferred leader of each partition, or C(unclean) for any; return why not, where it was not done.

    An unclean election takes a replica that is in sync or eligible, else any that is alive (KIP-460, KIP-966).
    """
    failed: dict[Key, str] = {}
    for part in parts(partitions, _ELECTION_BATCH):
        by_topic: dict[str, list[int]] = {}
        for topic, index in part:
            by_topic.setdefault(topic, []).append(index)
        answer = session.sound(
            session.call(
                what := "elect leaders", partial(_elect, session, by_topic, _UNCLEAN if unclean else _PREFERRED)
            ),
            what,
        )
        failed.update(
            {
                (result.topic, one.partition_id): session.explain(what, one, result.topic)[1]
                for result in answer.replica_election_results
                for one in result.partition_result
                if one.error_code not in _ELECTED
            }
        )
    return failed


def _elect(session: Session, by_topic: Mapping[str, list[int]], kind: int) -> Any:
    # Errors of single partitions are judged by the caller.
    limit = session.connection.request_timeout * 1000
    return session.python.elect_leaders(kind, dict(by_topic), timeout_ms=limit, raise_errors=False)


def unregister_broker(session: Session, broker: int) -> bool:
    """Take the registration of a KRaft broker away; return whether there was one."""
    answer = session.send(f"unregister broker {broker}", _message(*_UNREGISTER)(broker_id=broker))
    if answer.error_code and answer.error_code != _NOT_REGISTERED:
        raise RequestFailedError("unregister", f"broker {broker}", *session.explain("unregister broker", answer))
    return not answer.error_code


def add_voter(
    session: Session, node: int, directory: str, listeners: Sequence[Mapping[str, Any]], timeout: float
) -> None:
    """Make a controller, by its id and directory id, a voter that listens there (name, host, port)."""
    request = _message(*_ADD_VOTER)
    found = [request.Listener(name=one["name"], host=one["host"], port=one["port"]) for one in listeners]
    answer = session.send(
        f"add voter {node}",
        request(
            cluster_id=None,
            timeout_ms=int(timeout * 1000),
            voter_id=node,
            voter_directory_id=_uuid(directory),
            listeners=found,
        ),
    )
    if answer.error_code:
        raise RequestFailedError(
            "add", f"voter {node} with directory {directory}", *session.explain("add voter", answer)
        )


def remove_voter(session: Session, node: int, directory: str) -> None:
    """Take a controller, by its id and directory id, out of the voters."""
    request = _message(*_REMOVE_VOTER)
    answer = session.send(
        f"remove voter {node}", request(cluster_id=None, voter_id=node, voter_directory_id=_uuid(directory))
    )
    if answer.error_code:
        raise RequestFailedError(
            "remove", f"voter {node} with directory {directory}", *session.explain("remove voter", answer)
        )


def _uuid(directory: str) -> uuid.UUID:
    """A directory id from the form in which Kafka prints it: base64 without padding."""
    return uuid.UUID(bytes=base64.urlsafe_b64decode(f"{directory}=="))


def _message(key: int, name: str, fields: list[dict[str, Any]]) -> Any:
    """The class of a request of version 0, as Kafka's message files define it, whose answer is an error or none.

    kafka-python makes messages of definitions that it finds by the name of the class; its own hook puts ours in place.
    """
    from kafka.protocol.api_message import ApiMessage

    common = {"apiKey": key, "validVersions": "0", "flexibleVersions": "0+"}
    request = {**common, "type": "request", "name": f"{name}Request", "fields": fields}
    response = {**common, "type": "response", "name": f"{name}Response", "fields": _FIELDS_OF_ERROR}

    class DescribeClusterResponse(ApiMessage):  # type: ignore[misc]  # kafka-python ships no types
        """The answer."""

        @classmethod
        def json_patch(cls, _json: Any) -> Any:
            """Our definition."""
            return response

    class DescribeClusterRequest(ApiMessage):  # type: ignore[misc]
        """The request."""

        #: The library refers to answers weakly.
        answer = DescribeClusterResponse

        @classmethod
        def json_patch(cls, _json: Any) -> Any:
            """Our definition."""
            return request

    return DescribeClusterRequest


def write_each_codec(session: Session, topic: str, partition: int, seconds: float) -> dict[str, tuple[str, str]]:
    """Write a record of each codec to a partition; return name and words of the error of each that failed.

    seconds -- for each of them, all under way at once.
    """
    from confluent_kafka import Producer

    failed: dict[str, tuple[str, str]] = {}

    def answered(codec: str, error: Any, _message: Any) -> None:
        """Keep what went wrong."""
        if error is None:
            del failed[codec]
        else:
            failed[codec] = str(error.name()), str(error.str())

    producers = []
    for codec in CODECS:
        fixed = {"acks": "all", "linger.ms": 0, "log_level": 0, "compression.type": codec, **_RETRIES}
        producer = Producer({**session.confluent_config(), **fixed, "delivery.timeout.ms": int(seconds * 1000)})
        failed[codec] = "_TIMED_OUT", f"no answer in {seconds:g} s"
        sent = partial(answered, codec)
        producer.produce(topic, value=_VALUE, key=_KEY, partition=partition, on_delivery=sent)
        producers.append(producer)
    for producer in producers:
        producer.flush(seconds + 1)
    return failed
