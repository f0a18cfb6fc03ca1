# Private to this collection.
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one door to a Kafka cluster, and the one file that imports a Kafka library.

confluent-kafka creates, grows, deletes and lists topics. kafka-python does what librdkafka cannot: it asks for named
configuration keys only (1,000 topics in a fifth of the time), for the default broker entity, for fenced brokers
(KIP-1073), for the metadata quorum (KIP-595), for quotas, and it asks a given broker for its own view. Each library
is imported at its first use, because either costs a quarter of a second on a small machine.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from ansible_collections.streamops.kafka.plugins.module_utils._acl_entries import Binding
from ansible_collections.streamops.kafka.plugins.module_utils._acls import EVERYTHING, bindings_of, fields_of
from ansible_collections.streamops.kafka.plugins.module_utils._config_values import SOURCES, TYPES, ConfigValue
from ansible_collections.streamops.kafka.plugins.module_utils._connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._errors import (
    ClusterUnreachableError,
    MissingLibraryError,
    RequestFailedError,
    StreamopsError,
)
from ansible_collections.streamops.kafka.plugins.module_utils._quotas import Entity, entity_of, quotas_of
from ansible_collections.streamops.kafka.plugins.module_utils._reach import probe
from ansible_collections.streamops.kafka.plugins.module_utils._snapshot import (
    Broker,
    Partition,
    Quorum,
    Snapshot,
    brokers_of,
    partition_of,
    quorum_of,
)
from ansible_collections.streamops.kafka.plugins.module_utils._users import MECHANISMS, Key, credentials_of

#: Kafka's resource types (ConfigResource.Type).
TOPIC, BROKER = 2, 4
#: Kafka's operations of an incremental change (AlterConfigOp.OpType).
_SET, _DELETE = 0, 1
#: Kafka's error UNKNOWN_TOPIC_OR_PARTITION.
_UNKNOWN_TOPIC = 3


@dataclass(frozen=True)
class TopicSpec:
    """A topic to create."""

    name: str
    partitions: int
    replication_factor: int
    config: Mapping[str, str]


class Admin:
    """Administration of one cluster; a context manager that says within seconds when the cluster cannot be reached.

    Every method raises a StreamopsError: C(ClusterUnreachableError), C(RequestFailedError) or C(MissingLibraryError).
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._confluent_client: Any = None
        self._python_client: Any = None
        self._events: list[str] = []

    def __enter__(self) -> Admin:
        probe(self.connection.bootstrap_servers)
        return self

    def __exit__(self, *_exc: object) -> None:
        self._close_python()

    # -- what the cluster is -------------------------------------------------------------------------------------

    def snapshot(self, topics: Iterable[str] | None = None, min_insync: bool = True) -> Snapshot:
        """The cluster now. C(topics) limits the partitions to these; C(min_insync) costs one request more."""
        about = self._call("describe cluster", self._python.describe_cluster)
        known = self.topics()
        if topics is not None:
            known = {name: known[name] for name in topics if name in known}
        partitions = [partition for name in sorted(known) for partition in known[name]]
        if min_insync and known:
            key = "min.insync.replicas"
            configs = self.configs(TOPIC, {name: [key] for name in known})
            effective = {name: int(values[key].value or 0) for name, values in configs.items()}
            partitions = [replace(partition, min_insync=effective.get(partition.topic, 0)) for partition in partitions]
        quorum = self.quorum()
        elected = about["controller_id"] if about["controller_id"] >= 0 else None
        return Snapshot(
            cluster_id=about["cluster_id"],
            controller_id=quorum.leader_id if quorum else elected,
            brokers=brokers_of(about["brokers"], partitions),
            partitions=tuple(partitions),
            quorum=quorum,
        )

    def brokers(self) -> tuple[Broker, ...]:
        """The registered brokers, fenced ones included where the cluster tells (Kafka 4.0 and later)."""
        return brokers_of(self._call("describe cluster", self._python.describe_cluster)["brokers"], ())

    def quorum(self) -> Quorum | None:
        """The metadata quorum, None where there is none (ZooKeeper mode)."""
        from kafka import errors

        try:
            answer = self._python.describe_metadata_quorum()
        except (errors.IncompatibleBrokerVersion, errors.UnsupportedVersionError):
            return None
        except (errors.KafkaTimeoutError, errors.RequestTimedOutError, errors.BrokerNotAvailableError):
            # A broker forwards this to the leader of the quorum: no answer means that there is no leader.
            return Quorum(None, -1, -1, (), ())
        except errors.KafkaError as error:
            self._failed("describe quorum", error)
        return quorum_of(answer["topics"][0]["partitions"][0])

    def topics(self) -> dict[str, tuple[Partition, ...]]:
        """All topics with their partitions (C(min_insync) 0), as one broker knows them."""
        confluent = self._confluent
        try:
            listed = confluent.list_topics(timeout=min(self.connection.request_timeout, 10)).topics
        except _confluent_error() as error:
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

    # -- topics --------------------------------------------------------------------------------------------------

    def create_topics(self, topics: Iterable[TopicSpec], validate_only: bool = False) -> dict[str, Any]:
        """Create topics in one request; per name None or (Kafka's error name, why)."""
        from confluent_kafka.admin import NewTopic  # type: ignore[attr-defined]

        wanted = [NewTopic(t.name, t.partitions, t.replication_factor, config=dict(t.config)) for t in topics]
        return self._bulk("create_topics", wanted, validate_only=validate_only)

    def grow_topics(self, totals: Mapping[str, int], validate_only: bool = False) -> dict[str, Any]:
        """Raise topics to these numbers of partitions in one request; per name None or (Kafka's error name, why)."""
        from confluent_kafka.admin import NewPartitions  # type: ignore[attr-defined]

        wanted = [NewPartitions(name, total) for name, total in totals.items()]
        return self._bulk("create_partitions", wanted, validate_only=validate_only)

    def delete_topics(self, names: Iterable[str]) -> dict[str, Any]:
        """Delete topics in one request; per name None or (Kafka's error name, why)."""
        return self._bulk("delete_topics", list(names))

    # -- configurations ------------------------------------------------------------------------------------------

    def configs(
        self, kind: int, wanted: Mapping[str, Iterable[str] | None], at: int | None = None
    ) -> dict[str, dict[str, ConfigValue]]:
        """The values of these keys (None = all) per name: topics, broker ids, or '' for the cluster-wide default.

        C(at) asks one broker for its view of topics or of the default; without it any one.
        Topics that do not exist are left out, and so are keys that Kafka does not know.
        """
        from kafka.protocol.admin import DescribeConfigsRequest

        found: dict[str, dict[str, ConfigValue]] = {}
        for node, names in _by_node(kind, wanted).items():
            resources = [(kind, name, None if wanted[name] is None else list(wanted[name] or ())) for name in names]
            request = DescribeConfigsRequest(resources=resources, include_synonyms=True, min_version=1)
            for result in self._send("describe configs", request, at if node is None else node).results:
                if result.error_code == _UNKNOWN_TOPIC:
                    continue  # Created or deleted just now: the broker asked does not know it (yet, or any more).
                if result.error_code:
                    raise RequestFailedError("configs of", result.resource_name, *_explain(result))
                found[result.resource_name] = {entry.name: _config_value(entry) for entry in result.configs}
        return found

    def set_configs(
        self, kind: int, changes: Mapping[str, Mapping[str, str | None]], validate_only: bool = False
    ) -> dict[str, Any]:
        """Set these keys (None = back to the default) and touch no other; per name None or (Kafka's error, why)."""
        from kafka.protocol.admin import IncrementalAlterConfigsRequest

        outcome: dict[str, Any] = {}
        for node, names in _by_node(kind, changes).items():
            resources = [
                (kind, name, [(key, _DELETE if value is None else _SET, value) for key, value in changes[name].items()])
                for name in names
            ]
            request = IncrementalAlterConfigsRequest(resources=resources, validate_only=validate_only)
            for result in self._send("alter configs", request, node).responses:
                outcome[result.resource_name] = _outcome(result)
        return outcome

    # -- users, ACLs, quotas: C(at) asks one broker for its own view, without it any one -------------------------------

    def credentials(self, at: int | None = None) -> dict[str, dict[str, int]]:
        """The SCRAM credentials of the cluster: user, mechanism, iterations."""
        from kafka.protocol.admin import DescribeUserScramCredentialsRequest

        answer = self._send("describe SCRAM credentials", DescribeUserScramCredentialsRequest(users=None), at)
        return credentials_of(_sound(answer, "SCRAM credentials").results)

    def alter_credentials(
        self, upserts: Iterable[tuple[str, str, int, bytes, bytes]], deletions: Iterable[Key]
    ) -> dict[str, Any]:
        """Set (user, mechanism, iterations, salt, salted password), or delete; per user None or (error name, why)."""
        from kafka.protocol.admin import AlterUserScramCredentialsRequest

        request = AlterUserScramCredentialsRequest(
            deletions=[(name, MECHANISMS[mechanism]) for name, mechanism in deletions],
            upsertions=[(name, MECHANISMS[mechanism], *rest) for name, mechanism, *rest in upserts],
        )
        return {result.user: _outcome(result) for result in self._send("alter SCRAM credentials", request).results}

    def acls(self, at: int | None = None) -> dict[Binding, None]:
        """Every ACL binding of the cluster."""
        from kafka.protocol.admin import DescribeAclsRequest

        answer = self._send("describe ACLs", DescribeAclsRequest(**EVERYTHING), at)
        return bindings_of(_sound(answer, "ACLs").resources)

    def create_acls(self, bindings: Sequence[Binding]) -> dict[Binding, Any]:
        """Create bindings in one request; per binding None or (Kafka's error name, why)."""
        from kafka.protocol.admin import CreateAclsRequest

        results = self._send("create ACLs", CreateAclsRequest(creations=fields_of(bindings))).results
        return {binding: _outcome(results[number]) for number, binding in enumerate(bindings)}

    def delete_acls(self, bindings: Sequence[Binding]) -> dict[Binding, Any]:
        """Delete exactly these bindings in one request; per binding None or (Kafka's error name, why)."""
        from kafka.protocol.admin import DeleteAclsRequest

        results = self._send("delete ACLs", DeleteAclsRequest(filters=fields_of(bindings))).filter_results
        return {binding: _outcome(results[number]) for number, binding in enumerate(bindings)}

    def quotas(self, at: int | None = None) -> dict[Entity, dict[str, float]]:
        """The limits of every entity that has some."""
        from kafka.protocol.admin import DescribeClientQuotasRequest

        answer = self._send("describe quotas", DescribeClientQuotasRequest(components=[], strict=False), at)
        return quotas_of(_sound(answer, "quotas").entries)

    def alter_quotas(
        self, changes: Mapping[Entity, Mapping[str, float | None]], validate_only: bool = False
    ) -> dict[Entity, Any]:
        """Set these limits (None takes one away); per entity None or (Kafka's error name, why)."""
        from kafka.protocol.admin import AlterClientQuotasRequest

        ops = {entity: [(k, v or 0.0, v is None) for k, v in limits.items()] for entity, limits in changes.items()}
        entries = [(list(entity), wanted) for entity, wanted in ops.items()]
        request = AlterClientQuotasRequest(entries=entries, validate_only=validate_only)
        return {entity_of(one.entity): _outcome(one) for one in self._send("alter quotas", request).entries}

    # -- the two libraries ---------------------------------------------------------------------------------------

    @property
    def _confluent(self) -> Any:
        if self._confluent_client is None:
            try:
                from confluent_kafka.admin import AdminClient
            except ImportError as error:
                raise _missing("confluent-kafka") from error
            config = dict(self.connection.confluent_config(), error_cb=lambda e: self._events.append(e.str()))
            try:
                # log_level 0: what goes wrong is reported by error_cb, and must not also be written to stderr.
                self._confluent_client = AdminClient(dict(config, log_level=0))
            except _confluent_error() as error:
                raise StreamopsError(f"connection: {error.args[0].str()}. Nothing was changed.") from error
        return self._confluent_client

    @property
    def _python(self) -> Any:
        if self._python_client is None:
            try:
                from kafka import errors
                from kafka.admin import KafkaAdminClient
            except ImportError as error:
                raise _missing("kafka-python") from error
            logging.getLogger("kafka").addHandler(logging.NullHandler())
            try:
                self._python_client = KafkaAdminClient(**self.connection.kafka_python_config())
            except (errors.KafkaError, OSError) as error:
                raise ClusterUnreachableError(dict.fromkeys(self.connection.bootstrap_servers, str(error))) from error
        return self._python_client

    def _reported(self, otherwise: str) -> dict[str, str]:
        """By bootstrap server the last thing that its connection reported."""
        said = dict.fromkeys(self.connection.bootstrap_servers, otherwise)
        for event in self._events:
            said.update({server: event for server in said if f"{server}/" in event})
        return said

    def _send(self, what: str, request: Any, node: int | None = None) -> Any:
        """Send a message of kafka-python to one broker (None = any) and return the answer."""
        if node is not None and self._python._manager.cluster.broker_metadata(node) is None:
            self._close_python()  # It came up after this client had learnt who is there.
        manager = self._python._manager

        async def exchange() -> Any:
            return await manager.send(request, node_id=node)

        return self._call(what, lambda: manager.run(exchange))

    def _close_python(self) -> None:
        if self._python_client is not None:
            self._python_client.close()
            self._python_client = None

    def _call(self, what: str, function: Any) -> Any:
        from kafka import errors

        try:
            return function()
        except errors.KafkaError as error:
            self._failed(what, error)

    def _failed(self, what: str, error: Exception) -> NoReturn:
        code = getattr(error, "message", None) or type(error).__name__
        cluster = ",".join(self.connection.bootstrap_servers)
        raise RequestFailedError(what, f"of {cluster}", str(code), str(error)) from error

    def _bulk(self, method: str, wanted: list[Any], **options: Any) -> dict[str, Any]:
        if not wanted:
            return {}
        # operation_timeout 0 would let a KRaft controller drop the request while librdkafka reports success.
        timeout = self.connection.request_timeout
        futures = getattr(self._confluent, method)(
            wanted, operation_timeout=timeout, request_timeout=timeout + 5, **options
        )
        outcome: dict[str, Any] = {}
        for name, future in futures.items():
            error = future.exception()
            outcome[name] = None if error is None else (error.args[0].name(), error.args[0].str())
        return outcome


def _confluent_error() -> Any:
    from confluent_kafka import KafkaException

    return KafkaException


def _missing(library: str) -> MissingLibraryError:
    return MissingLibraryError(library, "to talk to the Kafka cluster", traceback.format_exc())


def _by_node(kind: int, names: Iterable[str]) -> dict[int | None, list[str]]:
    """Names by the broker that must be asked: each broker for itself, any one for topics and the default ('')."""
    nodes: dict[int | None, list[str]] = {}
    for name in names:
        nodes.setdefault(int(name) if kind == BROKER and name else None, []).append(name)
    return nodes


def _explain(result: Any) -> tuple[str, str]:
    from kafka.errors import for_code

    error = for_code(result.error_code)
    code = getattr(error, "message", None) or error.__name__
    return str(code), str(result.error_message or getattr(error, "description", "") or code)


def _outcome(result: Any) -> tuple[str, str] | None:
    return _explain(result) if result.error_code else None


def _sound(answer: Any, what: str) -> Any:
    """The answer, or what Kafka says against it as a whole."""
    if answer.error_code:
        raise RequestFailedError("describe", what, *_explain(answer))
    return answer


def _config_value(entry: Any) -> ConfigValue:
    return ConfigValue(
        value=entry.value,
        kind=TYPES.get(entry.config_type, "STRING"),
        source=SOURCES.get(entry.config_source, "UNKNOWN"),
        sensitive=bool(entry.is_sensitive),
        by_source={SOURCES.get(s.source, "UNKNOWN"): s.value for s in entry.synonyms or () if s.name == entry.name},
    )


def _partitions(topic: Any) -> tuple[Partition, ...]:
    found = sorted(topic.partitions, key=lambda p: p.partition_index)
    return tuple(partition_of(topic.name, p.partition_index, p.leader_id, p.replica_nodes, p.isr_nodes) for p in found)
