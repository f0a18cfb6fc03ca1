"""What bounded.py uses of kafka-python beside its public interface is there, as it is used, and is used there only."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kafka.admin import KafkaAdminClient
from kafka.cluster import ClusterMetadata
from kafka.net.compat import KafkaNetClient
from kafka.net.connection import KafkaConnection
from kafka.net.inet import KafkaNetSocket
from kafka.net.manager import KafkaConnectionManager

from ansible_collections.streamops.kafka.plugins.module_utils._client.bounded import Inside, new_client
from tests.support.imports import parsed

ROOT = Path(__file__).resolve().parents[5]
#: The members of kafka-python that only bounded.py may name.
INNER = re.compile(r"_(manager|conns|net|send_request_to_controller)")


@pytest.fixture
def client() -> Iterator[Any]:
    """A client that has not connected."""
    made = new_client({"bootstrap_servers": ["127.0.0.1:1"], "request_timeout_ms": 300}, 0.3)
    yield made
    made.close()


#: Each method with arguments as bounded.py passes them.
CALLS: list[tuple[Callable[..., Any], list[Any], dict[str, Any]]] = [
    (KafkaConnectionManager.get_connection, [None, 1], {"timeout_ms": 1.0}),
    (KafkaConnectionManager.connection_delay, [None, 1], {}),
    (KafkaConnectionManager.least_loaded_node, [None], {}),
    (KafkaConnectionManager.send, [None, "request"], {"node_id": 1, "request_timeout_ms": None}),
    (KafkaConnectionManager.run, [None, print], {}),
    (KafkaConnectionManager.run, [None, print, "request", print], {}),
    (KafkaConnectionManager.close, [None, 1], {}),
    (KafkaConnection.close, [None, OSError()], {}),
    (ClusterMetadata.broker_metadata, [None, 1], {}),
    (ClusterMetadata.brokers, [None], {}),
    (KafkaAdminClient._send_request_to_controller, [None, "request", print], {}),
    (KafkaNetSocket.__init__, [None, "every-address://1"], {}),
    (KafkaNetSocket.dns_lookup, [None, "host", 9092], {}),
    (KafkaNetSocket.connect, [None, None, None], {"timeout_at": 1.0}),
    (KafkaNetClient.__init__, [None], {"proxy_url": "every-address://1"}),
]


@pytest.mark.parametrize(("method", "given", "named"), CALLS, ids=lambda one: getattr(one, "__qualname__", ""))
def test_the_library_takes_what_it_is_given(
    method: Callable[..., Any], given: list[Any], named: dict[str, Any]
) -> None:
    inspect.signature(method).bind(*given, **named)


def test_a_client_knows_brokers_connections_and_a_loop(client: Any) -> None:
    inside = Inside(client)
    assert inside.controller() is None
    assert isinstance(inside.brokers(), list)
    assert inside.broker("bootstrap-0").port == 1
    assert inside.broker(7) is None
    assert inside.connection(7) is None
    assert callable(client._manager._net.call_later)


def test_a_connection_says_whether_it_is_ready_and_tells_when_it_ends(client: Any) -> None:
    connection = KafkaConnection(client._manager._net, node_id=1, broker_version_data=None)
    assert connection.initializing
    ended: list[Exception] = []
    connection.init_future.add_callback(ended.append)
    connection.init_future.add_errback(ended.append)
    failure = OSError("given up")
    connection.close(failure)
    assert ended
    assert not connection.initializing


def test_what_is_taken_over_is_called_instead_of_the_library_s_own(client: Any) -> None:
    inside = Inside(client)
    own = inside.own("connection_delay")
    assert own("bootstrap-0") == 0
    inside.take_over("connection_delay", lambda _node: 7.0)
    assert client._manager.connection_delay("bootstrap-0") == 7.0


def test_no_other_file_names_what_is_inside_the_library() -> None:
    found = []
    for path in (ROOT / "plugins").rglob("*.py"):
        if path.name == "bounded.py":
            continue
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Attribute) and INNER.fullmatch(node.attr):
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}: {node.attr}")
    assert found == []
