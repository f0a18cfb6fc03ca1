# Private to this collection.
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cluster can be told about the registrations of brokers. No library knows the message, so it is told here."""

from __future__ import annotations

from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._client_libraries import Libraries, explain
from ansible_collections.streamops.kafka.plugins.module_utils._errors import RequestFailedError

#: Kafka's error BROKER_ID_NOT_REGISTERED.
_NOT_REGISTERED = 102
#: UnregisterBroker (KIP-746) as Kafka's own message files define it.
_REQUEST = {
    "apiKey": 64,
    "type": "request",
    "name": "UnregisterBrokerRequest",
    "validVersions": "0",
    "flexibleVersions": "0+",
    "fields": [{"name": "BrokerId", "type": "int32", "versions": "0+"}],
}
_RESPONSE = {
    "apiKey": 64,
    "type": "response",
    "name": "UnregisterBrokerResponse",
    "validVersions": "0",
    "flexibleVersions": "0+",
    "fields": [
        {"name": "ThrottleTimeMs", "type": "int32", "versions": "0+"},
        {"name": "ErrorCode", "type": "int16", "versions": "0+"},
        {"name": "ErrorMessage", "type": "string", "versions": "0+", "nullableVersions": "0+"},
    ],
}


class BrokerCalls(Libraries):
    """The calls about registrations."""

    def unregister_broker(self, broker: int) -> bool:
        """Take the registration of a KRaft broker away; return whether there was one."""
        answer = self._send(f"unregister broker {broker}", _unregister_request()(broker_id=broker))
        if answer.error_code and answer.error_code != _NOT_REGISTERED:
            raise RequestFailedError("unregister", f"broker {broker}", *explain(answer))
        return not answer.error_code


def _unregister_request() -> Any:
    """The class of the request; that of its answer is known to the library from then on.

    kafka-python makes messages of definitions that it finds by the name of the class; its own hook puts ours in place.
    """
    from kafka.protocol.api_message import ApiMessage

    class DescribeClusterResponse(ApiMessage):  # type: ignore[misc]  # kafka-python ships no types
        """UnregisterBrokerResponse."""

        @classmethod
        def json_patch(cls, _json: Any) -> Any:
            """Our definition."""
            return _RESPONSE

    class DescribeClusterRequest(ApiMessage):  # type: ignore[misc]
        """UnregisterBrokerRequest."""

        #: The library refers to answers weakly.
        answer = DescribeClusterResponse

        @classmethod
        def json_patch(cls, _json: Any) -> Any:
            """Our definition."""
            return _REQUEST

    return DescribeClusterRequest
