"""What clients can take from a broker at most, and that nodes are never bounded."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.render import bounds

SETTINGS = {"heap_size": "1g", "request_bytes": "", "node_addresses": ["10.0.0.1", "10.0.0.2"]}


def node(*listeners: tuple[str, str, str]) -> dict[str, Any]:
    return {
        "host": "kafka1",
        "listeners": [
            {"name": name, "purpose": purpose, "protocol": protocol, "opens": True, "advertised_host": "kafka1.example"}
            for name, purpose, protocol in listeners
        ],
    }


SECURED = node(("CLIENT", "clients", "SASL_SSL"), ("BROKER", "brokers", "SSL"))


def test_connections_are_bounded_on_the_listeners_for_clients_only() -> None:
    found = bounds.broker_bounds(SECURED, SETTINGS)
    assert found["listener.name.client.max.connections"] == 5000
    assert found["listener.name.client.max.connection.creation.rate"] == 500
    assert not [key for key in found if "broker" in key]
    assert "max.connections" not in found, (
        "the broker's own limit would close connections of clients for those of nodes"
    )


def test_nodes_are_left_out_of_the_limit_by_address() -> None:
    found = bounds.broker_bounds(SECURED, SETTINGS)
    assert found["max.connections.per.ip"] == 500
    assert found["max.connections.per.ip.overrides"] == ["10.0.0.1:2147483647", "10.0.0.2:2147483647"]
    assert "max.connections.per.ip.overrides" not in bounds.broker_bounds(SECURED, {**SETTINGS, "node_addresses": []})


def test_a_listener_that_brokers_use_too_is_not_bounded() -> None:
    found = bounds.broker_bounds(node(("CLIENT", "clients", "PLAINTEXT")), SETTINGS)
    assert not [key for key in found if key.startswith("listener.name.")]
    assert "sasl.server.max.receive.size" not in found, "nobody logs in"


@pytest.mark.parametrize(
    ("heap", "request_bytes", "allowed"),
    [("8g", "", 1 << 30), ("512m", "", 104857600), ("512m", 209715200, 209715200), ("1073741824", "", 134217728)],
)
def test_waiting_requests_hold_a_share_of_the_heap_and_never_less_than_one_request(
    heap: str, request_bytes: Any, allowed: int
) -> None:
    found = bounds.broker_bounds(SECURED, {**SETTINGS, "heap_size": heap, "request_bytes": request_bytes})
    assert found["queued.max.request.bytes"] == allowed


def test_addresses_of_the_nodes_are_those_that_can_be_resolved() -> None:
    def place(cluster: str, *words: str, role: str = "broker") -> dict[str, Any]:
        return {**SECURED, "cluster": cluster, "roles": [role], "words": list(words)}

    places = [
        place("a", "10.0.0.9"),
        place("a", "kafka2", "10.1.0.0/16", "unknown"),
        place("b", "10.9.9.9"),
        place("a", "10.0.0.31", role="mirror"),
    ]
    assert bounds.node_names(places, "a") == ["kafka1.example", "kafka2", "unknown"]
    resolved = {"kafka2": ["10.0.0.2", "fd00::2"], "kafka1.example": ["10.0.0.9"], "unknown": []}
    assert bounds.node_addresses(places, "a", resolved) == ["10.0.0.2", "10.0.0.9", "fd00::2"]
