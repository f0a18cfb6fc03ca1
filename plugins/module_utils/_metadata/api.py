# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Ask one node for the metadata that it knows, on a connection of its own that ends in bounded time.

A client library asks whichever node it likes, and knows no listeners of controllers. Which requests a listener takes,
it says itself (ApiVersions): a controller takes few of those that a broker does (KIP-919).
"""

from __future__ import annotations

import struct
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .._acls.api import EVERYTHING, bindings_of
from .._client.connection import Connection, denied
from .._client.reach import failure_of, let_in
from .._client.session import explain
from .._client.wire import CONNECTING, RESOLVING, Channel, tls_context
from .._configs.api import BROKER as BROKER_CONFIG
from .._configs.api import TOPIC as TOPIC_CONFIG
from .._core.addresses import host_port
from .._core.bulk import parts
from .._core.errors import is_denial
from .._features.api import announced_at, announced_of, api_versions
from .._quotas.api import quotas_of
from .._users.plan import MECHANISMS
from .model import ASKED, BROKER, CONTROLLER, FORWARDED, NO_AUTHORIZER, Facts, Stopwatch

#: The topic of the metadata log.
_METADATA = "__cluster_metadata"
#: DescribeCluster: which nodes it tells of. Sources of values (ConfigSource) that stand in the metadata.
_BROKERS, _CONTROLLERS = 1, 2
_DYNAMIC_TOPIC, _DYNAMIC_DEFAULT_BROKER = 1, 3
#: Kafka's errors UNKNOWN_TOPIC_OR_PARTITION, NOT_LEADER_OR_FOLLOWER, SECURITY_DISABLED.
_UNKNOWN_TOPIC, _NOT_LEADER, _NO_AUTHORIZER = 3, 6, 54
#: Topics in one question for their configurations, and the most bytes of one answer.
_TOPICS, _MOST_BYTES = 500, 1 << 27
_MECHANISMS = {number: name for name, number in MECHANISMS.items()}

Values = dict[str, str]


#: One answer is decoded at a time: that is work of this machine alone, and threads that receive are not held up by it.
_DECODING = threading.Lock()


class NotAnsweredError(Exception):
    """A node did not answer a question, and why; it answers others."""


class Node:
    """An open connection to one node, after its login. C(topics) are the names of topics it is asked for."""

    def __init__(
        self, channel: Channel, connection: Connection, kind: str, topics: Iterable[str], watch: Stopwatch
    ) -> None:
        self._channel, self._connection, self.kind, self._watch = channel, connection, kind, watch
        self.topics = list(topics)
        announced = api_versions(channel)
        self._versions = {one.api_key: (one.min_version, one.max_version) for one in announced.api_keys}
        self.features = announced_of(announced)
        self._metadata: Any = None
        self._quorum: Any = None
        watch.answered()

    def ask(self, request: Any, response: Any, least: int = 0, **fields: Any) -> Any:
        """Return the answer to a message of kafka-python, in the newest version that both know."""
        lowest, highest = self._versions.get(request.API_KEY, (0, -1))
        version = min(highest, request.max_version)
        if version < max(lowest, least):
            raise NotAnsweredError(f"its listener does not take {request.name.removesuffix('Request')}")
        body: bytes = request(**fields).encode(version=version)
        if request.flexible_version_q(version):
            body = b"\0" + body  # The header has no tagged field.
        self._channel.extend(self._watch.asks())
        try:
            answer = self._channel.ask((request.API_KEY, version), body)
        finally:
            self._watch.answered()
        with _DECODING:
            return response.decode(answer[1:] if response.flexible_version_q(version) else answer, version=version)

    def sound(self, answer: Any, what: str) -> Any:
        """Return the answer, or raise what Kafka says against it; C(what) is the request."""
        if answer.error_code:
            code, why = explain(answer)
            raise NotAnsweredError(denied(self._connection, what, code) if is_denial(code) else f"{code}: {why}")
        return answer

    def metadata(self) -> Any:
        """Return the topics that the node knows, asked once."""
        from kafka.protocol.metadata import MetadataRequest, MetadataResponse

        if self._metadata is None:
            fields = {"topics": None, "allow_auto_topic_creation": False}
            self._metadata = self.ask(MetadataRequest, MetadataResponse, 10, **fields)
        return self._metadata

    def cluster(self) -> Any:
        """Return what a broker says of the brokers, and a controller of the controllers."""
        from kafka.protocol.admin import DescribeClusterRequest, DescribeClusterResponse

        about = _CONTROLLERS if self.kind == CONTROLLER else _BROKERS
        fields = {"endpoint_type": about, "include_fenced_brokers": about == _BROKERS}
        least = 1 if about == _CONTROLLERS else 0
        return self.sound(
            self.ask(DescribeClusterRequest, DescribeClusterResponse, least, **fields), "describe cluster"
        )

    def quorum(self) -> Any:
        """Return the quorum as its leader tells it through this node, asked once; None of a controller that follows."""
        from kafka.protocol.admin import DescribeQuorumRequest, DescribeQuorumResponse

        if self._quorum is None:
            topic = DescribeQuorumRequest.TopicData
            asked = [topic(topic_name=_METADATA, partitions=[topic.PartitionData(partition_index=0)])]
            answer = self.ask(DescribeQuorumRequest, DescribeQuorumResponse, topics=asked)
            if answer.error_code != _NOT_LEADER:
                found = self.sound(answer, "describe quorum").topics[0].partitions[0]
                self._quorum = found
        if self._quorum is None or self._quorum.error_code == _NOT_LEADER:
            return None
        return self.sound(self._quorum, "describe quorum")

    def configs(self, kind: int, names: Iterable[str], source: int) -> Values:
        """Return what is set of these resources in the metadata; a secret is never told, only that there is one."""
        from kafka.protocol.admin import DescribeConfigsRequest, DescribeConfigsResponse

        found: Values = {}
        for part in parts(names, _TOPICS):
            resources = [(kind, name, None) for name in part]
            for one in self.ask(DescribeConfigsRequest, DescribeConfigsResponse, 1, resources=resources).results:
                if one.error_code == _UNKNOWN_TOPIC:
                    continue
                for entry in self.sound(one, "describe configs").configs:
                    if entry.config_source == source:
                        name = f"{one.resource_name} {entry.name}".strip()
                        found[name] = "(hidden)" if entry.is_sensitive else str(entry.value)
        return found


def _leader(node: Node) -> Values:
    if node.kind == CONTROLLER:
        return {"leader": _id(node.cluster().controller_id)}
    found = node.quorum()
    return {"leader": "none" if found is None else _id(found.leader_id)}


def _epoch(node: Node) -> Values:
    found = node.quorum()
    if found is None:
        raise NotAnsweredError("only the active controller tells the epoch")
    return {"epoch": str(found.leader_epoch)}


def _id(node: int) -> str:
    return str(node) if node >= 0 else "none"


def _features(node: Node) -> Values:
    return {name: str(level) for name, level in node.features.finalized.items()}


def _registered(node: Node) -> Values:
    return {
        str(one.broker_id): host_port(one.host, one.port)
        + (f" rack {one.rack}" if one.rack else "")
        + (" fenced" if one.is_fenced else "")
        for one in node.cluster().brokers
    }


def _topics(node: Node) -> Values:
    return {one.name: str(one.topic_id) for one in node.metadata().topics if not one.error_code}


def _partitions(node: Node) -> Values:
    return {
        f"{topic.name}-{one.partition_index}": f"leader {_id(one.leader_id)} epoch {one.leader_epoch} "
        f"replicas {_ids(one.replica_nodes)} isr {_ids(sorted(one.isr_nodes))}"
        for topic in node.metadata().topics
        if not topic.error_code
        for one in topic.partitions
    }


def _ids(nodes: Iterable[int]) -> str:
    return ",".join(map(str, nodes)) or "none"


def _topic_configs(node: Node) -> Values:
    return node.configs(TOPIC_CONFIG, node.topics, _DYNAMIC_TOPIC)


def _broker_configs(node: Node) -> Values:
    """Return what holds for all brokers by default: of its own configuration only a broker itself tells."""
    return node.configs(BROKER_CONFIG, [""], _DYNAMIC_DEFAULT_BROKER)


def _acls(node: Node) -> Values:
    from kafka.protocol.admin import DescribeAclsRequest, DescribeAclsResponse

    answer = node.ask(DescribeAclsRequest, DescribeAclsResponse, 1, **EVERYTHING)
    if answer.error_code == _NO_AUTHORIZER:
        raise NotAnsweredError(NO_AUTHORIZER)
    return {str(one): "present" for one in bindings_of(node.sound(answer, "describe ACLs").resources)}


def _users(node: Node) -> Values:
    """Users with their mechanisms; a broker tells no secret."""
    from kafka.protocol.admin import DescribeUserScramCredentialsRequest, DescribeUserScramCredentialsResponse

    request, response = DescribeUserScramCredentialsRequest, DescribeUserScramCredentialsResponse
    results = node.sound(node.ask(request, response, users=[]), "describe SCRAM credentials").results
    return {
        one.user: ", ".join(
            sorted(_MECHANISMS.get(info.mechanism, str(info.mechanism)) for info in one.credential_infos)
        )
        for one in results
    }


def _quotas(node: Node) -> Values:
    from kafka.protocol.admin import DescribeClientQuotasRequest, DescribeClientQuotasResponse

    fields: Mapping[str, Any] = {"components": [], "strict": False}
    answer = node.sound(
        node.ask(DescribeClientQuotasRequest, DescribeClientQuotasResponse, **fields), "describe quotas"
    )
    return {
        " ".join(f"{kind} {name or '(default)'}" for kind, name in entity): ", ".join(
            f"{key}={value:g}" for key, value in sorted(limits.items())
        )
        for entity, limits in quotas_of(answer.entries).items()
    }


_READERS: Mapping[str, Callable[[Node], Values]] = {
    "features": _features,
    "brokers": _registered,
    "controllers": _registered,
    "topics": _topics,
    "partitions": _partitions,
    "topic_configs": _topic_configs,
    "broker_configs": _broker_configs,
    "acls": _acls,
    "users": _users,
    "quotas": _quotas,
    # Last: a broker asks the active controller, and waits where that does not answer.
    "leader": _leader,
    "epoch": _epoch,
}
#: What fails on a connection; ssl and time-outs are OSError.
_BROKEN = (OSError, ValueError, OverflowError, struct.error)


def facts_at(
    connection: Connection,
    kind: str,
    node: int,
    subjects: Iterable[str],
    topics: Iterable[str],
    seconds: float,
    connecting: float | None = None,
    watch: Stopwatch | None = None,
) -> Facts:
    """Return what the node at the first server of a connection says of these subjects, within C(seconds).

    C(connecting) of these at most are waited for a connection. C(watch) tells another thread how long the node was
    waited for.
    """
    server = connection.bootstrap_servers[0]
    channel = Channel(seconds, seconds, _MOST_BYTES, connecting)
    wanted = [one for one in _READERS if one in set(subjects) and kind in ASKED[one]]
    try:
        with channel.open(server, tls_context(connection)):
            failure = let_in(connection, channel)
            if failure is None:
                return _told(
                    Node(channel, connection, kind, topics, watch or Stopwatch(time.monotonic)), node, server, wanted
                )
            refused = failure.why
    except _BROKEN as error:
        failure = failure_of(connection, error, channel)
        if not failure.fix:
            unreached = channel.stage in (RESOLVING, CONNECTING)
            return Facts(node, kind, server, why=f"{server}: {failure.why}", is_unreached=unreached)
        refused = failure.why
    return _before_login(connection, kind, node, wanted, refused, seconds)


def _told(asked: Node, node: int, server: str, wanted: Iterable[str]) -> Facts:
    values: dict[str, Values] = {}
    unanswered: dict[str, str] = {}
    broken = ""
    forwarded = False
    for subject in wanted:
        try:
            if broken:
                raise NotAnsweredError(broken)
            values[subject] = _READERS[subject](asked)
        except NotAnsweredError as error:
            unanswered[subject] = str(error)
        except _BROKEN as error:
            broken = unanswered[subject] = f"no answer to {subject}: {error}"
            forwarded = asked.kind == BROKER and subject in FORWARDED
    if forwarded:
        # It answered all that it can tell by itself.
        broken = ""
    epoch = asked.features.epoch
    applied = epoch + 1 if asked.kind == BROKER and epoch is not None else None
    return Facts(node, asked.kind, server, "", applied, values, unanswered, broken and f"{server}: {broken}")


def _before_login(
    connection: Connection, kind: str, node: int, wanted: Iterable[str], refused: str, seconds: float
) -> Facts:
    """Return what a node tells that does not let us in: its features, before any login."""
    server = connection.bootstrap_servers[0]
    unanswered = dict.fromkeys(wanted, refused)
    try:
        found = announced_at(server, tls_context(connection), seconds)
    except _BROKEN:
        return Facts(node, kind, server, unanswered=unanswered)  # It runs: it has refused us.
    values: dict[str, Values] = {}
    if unanswered.pop("features", None) is not None:
        values["features"] = {name: str(level) for name, level in found.finalized.items()}
    applied = found.epoch + 1 if kind == BROKER and found.epoch is not None else None
    return Facts(node, kind, server, "", applied, values, unanswered)
