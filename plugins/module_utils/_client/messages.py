# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Messages that no library knows, made from Kafka's own definitions of them."""

from __future__ import annotations

from typing import Any

FIELDS_OF_ERROR = [
    {"name": "ThrottleTimeMs", "type": "int32", "versions": "0+"},
    {"name": "ErrorCode", "type": "int16", "versions": "0+"},
    {"name": "ErrorMessage", "type": "string", "versions": "0+", "nullableVersions": "0+"},
]


def message(key: int, name: str, fields: list[dict[str, Any]]) -> Any:
    """The class of a request of version 0, as Kafka's message files define it, whose answer is an error or none.

    kafka-python makes messages of definitions that it finds by the name of the class; its own hook puts ours in place.
    """
    from kafka.protocol.api_message import ApiMessage

    common = {"apiKey": key, "validVersions": "0", "flexibleVersions": "0+"}
    request = {**common, "type": "request", "name": f"{name}Request", "fields": fields}
    response = {**common, "type": "response", "name": f"{name}Response", "fields": FIELDS_OF_ERROR}

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
