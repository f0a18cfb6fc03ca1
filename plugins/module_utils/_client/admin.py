# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The one door to a Kafka cluster: what it is, and by subject all that it can be asked and told.

Its calls stand in one file a subject of this room, all on session.py, which says what each library is for. No other
room imports a Kafka library.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ansible_collections.streamops.kafka.plugins.module_utils._client.access import AccessCalls
from ansible_collections.streamops.kafka.plugins.module_utils._client.brokers import BrokerCalls
from ansible_collections.streamops.kafka.plugins.module_utils._client.configs import BROKER, TOPIC, ConfigCalls
from ansible_collections.streamops.kafka.plugins.module_utils._client.mirrors import MirrorCalls
from ansible_collections.streamops.kafka.plugins.module_utils._client.moves import MoveCalls
from ansible_collections.streamops.kafka.plugins.module_utils._client.reach import reach
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import unsent
from ansible_collections.streamops.kafka.plugins.module_utils._client.state import STATE_CONFIG, StateCalls
from ansible_collections.streamops.kafka.plugins.module_utils._client.topics import TopicCalls, TopicSpec
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import (
    STATE_TOPIC,
    Broker,
    Quorum,
    Snapshot,
    brokers_of,
    quorum_of,
)
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RequestFailedError, warn

__all__ = ["BROKER", "STATE_CONFIG", "STATE_TOPIC", "TOPIC", "Admin", "TopicSpec"]


class Admin(TopicCalls, ConfigCalls, AccessCalls, BrokerCalls, MirrorCalls, MoveCalls, StateCalls):
    """Administration of one cluster; a context manager that says within seconds when the cluster cannot be reached.

    Every method raises a StreamopsError: C(ClusterUnreachableError), C(AccessRefusedError), C(RequestFailedError) or
    C(MissingLibraryError).
    """

    def __enter__(self) -> Admin:
        reached = reach(self.connection)
        for warning in reached.warnings:
            warn(warning)
        self._only(reached.servers)
        return self

    def __exit__(self, *_exc: object) -> None:
        self._close_python()

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

    def require_describe(self, what: str) -> None:
        """Raise RequestFailedError unless we may describe the cluster.

        Kafka leaves out of its answers what one has no right to see, so somebody without rights sees a cluster without
        topics, in which all is well.
        """
        allowed = self._call("describe cluster", self._python.describe_cluster).get("authorized_operations")
        if allowed is not None and "DESCRIBE" not in allowed:
            code = "CLUSTER_AUTHORIZATION_FAILED"
            raise RequestFailedError(what, "of all topics", code, self._why("describe cluster", code, ""))

    def brokers(self) -> tuple[Broker, ...]:
        """The registered brokers, fenced ones included where the cluster tells (Kafka 4.0 and later)."""
        return brokers_of(self._call("describe cluster", self._python.describe_cluster)["brokers"], ())

    def quorum(self) -> Quorum | None:
        """The metadata quorum, None where there is none (ZooKeeper mode)."""
        from kafka import errors

        try:
            answer = self._asked(self._python.describe_metadata_quorum)
        except (errors.IncompatibleBrokerVersion, errors.UnsupportedVersionError):
            return None
        except (errors.KafkaTimeoutError, errors.RequestTimedOutError, errors.BrokerNotAvailableError) as error:
            if unsent(error):
                self._failed("describe quorum", error)
            # A broker forwards this to the leader of the quorum: no answer means that there is no leader.
            return Quorum(None, -1, -1, (), ())
        except errors.KafkaError as error:
            self._failed("describe quorum", error)
        return quorum_of(answer["topics"][0]["partitions"][0])
