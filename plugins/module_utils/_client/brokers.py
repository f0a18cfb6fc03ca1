# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a cluster can be told about who belongs to it: registrations of brokers, voters of the quorum."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._client.messages import message
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Libraries
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RequestFailedError

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


class BrokerCalls(Libraries):
    """The calls about who belongs to a cluster."""

    def unregister_broker(self, broker: int) -> bool:
        """Take the registration of a KRaft broker away; return whether there was one."""
        answer = self._send(f"unregister broker {broker}", message(*_UNREGISTER)(broker_id=broker))
        if answer.error_code and answer.error_code != _NOT_REGISTERED:
            raise RequestFailedError("unregister", f"broker {broker}", *self._explain("unregister broker", answer))
        return not answer.error_code

    def add_voter(self, node: int, directory: str, listeners: Sequence[Mapping[str, Any]], timeout: float) -> None:
        """Make a controller, by its id and directory id, a voter that listens there (name, host, port)."""
        request = message(*_ADD_VOTER)
        found = [request.Listener(name=one["name"], host=one["host"], port=one["port"]) for one in listeners]
        answer = self._send(
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
                "add", f"voter {node} with directory {directory}", *self._explain("add voter", answer)
            )

    def remove_voter(self, node: int, directory: str) -> None:
        """Take a controller, by its id and directory id, out of the voters."""
        request = message(*_REMOVE_VOTER)
        answer = self._send(
            f"remove voter {node}", request(cluster_id=None, voter_id=node, voter_directory_id=_uuid(directory))
        )
        if answer.error_code:
            raise RequestFailedError(
                "remove", f"voter {node} with directory {directory}", *self._explain("remove voter", answer)
            )


def _uuid(directory: str) -> uuid.UUID:
    """A directory id from the form in which Kafka prints it: base64 without padding."""
    return uuid.UUID(bytes=base64.urlsafe_b64decode(f"{directory}=="))
