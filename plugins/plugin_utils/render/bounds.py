# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What one client, or many of them, can take from a broker: bounds that Kafka leaves open by default.

Traffic between nodes is never bounded: limits of connections stand on the listeners for clients only (KIP-402,
KIP-612), and the one limit that Kafka counts over all listeners together, that by address, leaves the addresses of the
nodes out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..inventory.heap import heap_bytes
from ..inventory.mirror_nodes import ROLE
from ..inventory.nodes import listener_for
from .firewall import network
from .security import SASL_PROTOCOLS, uses

#: Connections of a listener for clients of one broker. With TLS each holds three buffers of 16 KiB or more
#: (SslTransportLayer), so this many hold some 250 MB of the heap.
LISTENER_CONNECTIONS = 5000
#: New connections of such a listener in a second: a handshake of TLS costs about a millisecond of processor time.
LISTENER_CONNECTION_RATE = 500
#: Connections of one address to one broker. A client process holds one to each broker, a consumer of a group two.
ADDRESS_CONNECTIONS = 500
#: Bytes that may be sent before a login is done; enough for PLAIN, SCRAM and tokens (Kafka's default is 512 KiB).
LOGIN_BYTES = 64 * 1024
#: The share of the heap that requests waiting for a thread may hold (KIP-72).
HEAP_SHARE = 8
#: Kafka's default of socket.request.max.bytes; queued.max.request.bytes must not be less (KafkaConfig).
REQUEST_BYTES = 100 * 1024 * 1024
#: Kafka's own number for no limit (Integer.MAX_VALUE).
UNLIMITED = 2147483647


def broker_bounds(node: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The native properties that bound what clients take from a broker, or from a combined node.

    settings -- heap_size, request_bytes (socket.request.max.bytes, empty for Kafka's default), node_addresses (what the
    nodes of the cluster connect from).
    """
    request_bytes = int(settings["request_bytes"] or REQUEST_BYTES)
    heap = heap_bytes(str(settings["heap_size"]).strip(), "kafka_heap_size")
    properties: dict[str, Any] = {
        "max.connections.per.ip": ADDRESS_CONNECTIONS,
        "queued.max.request.bytes": max(heap // HEAP_SHARE, request_bytes),
    }
    overrides = [f"{address}:{UNLIMITED}" for address in settings["node_addresses"]]
    if overrides:
        properties["max.connections.per.ip.overrides"] = overrides
    if uses(node, SASL_PROTOCOLS):
        properties["sasl.server.max.receive.size"] = LOGIN_BYTES
    inner = listener_for(node, "brokers")["name"]
    for listener in node["listeners"]:
        if listener["purpose"] == "clients" and listener["name"] != inner:
            prefix = f"listener.name.{listener['name'].lower()}"
            properties[f"{prefix}.max.connections"] = LISTENER_CONNECTIONS
            properties[f"{prefix}.max.connection.creation.rate"] = LISTENER_CONNECTION_RATE
    return properties


def node_names(places: Iterable[Mapping[str, Any]], cluster: str) -> list[str]:
    """The names among what the nodes of a cluster connect from, for the control node to resolve."""
    return [word for word in _node_words(places, cluster) if network(word) is None]


def node_addresses(
    places: Iterable[Mapping[str, Any]], cluster: str, resolved: Mapping[str, Sequence[str]]
) -> list[str]:
    """The addresses that the nodes of a cluster connect from, sorted.

    places -- of all nodes of the inventory, as the firewall takes them; resolved -- name to addresses. Names without
    addresses and whole networks are left out: Kafka takes single addresses only.
    """
    found = {one for word in _node_words(places, cluster) for one in (resolved.get(word) or [word])}
    networks = (network(address) for address in found)
    return sorted({str(one.network_address) for one in networks if one is not None and one.num_addresses == 1})


def _node_words(places: Iterable[Mapping[str, Any]], cluster: str) -> list[str]:
    # A mirror is a client, also of the cluster that it stands next to.
    here = [place for place in places if place["cluster"] == cluster and ROLE not in place["roles"]]
    words = [word for place in here for word in place["words"]]
    advertised = [one["advertised_host"] for place in here for one in place["listeners"] if one["opens"]]
    return sorted({*words, *advertised})
