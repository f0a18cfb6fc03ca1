# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Established TCP connections of a machine, and which of them the wanted rules would cut.

The table judges every packet by its source, so a new table ends connections that it does not allow: replication,
votes of the quorum, sessions of ZooKeeper, clients.
"""

from __future__ import annotations

import ipaddress
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Union

from .._core.names import capped

Address = Union[ipaddress.IPv4Address, ipaddress.IPv6Address]

# States of /proc/net/tcp (include/net/tcp_states.h).
_ESTABLISHED, _LISTEN = "01", "0A"


class Connection(NamedTuple):
    """Both ends of a TCP connection, seen from this machine."""

    address: Address
    port: int
    peer: Address
    peer_port: int


class Cut(NamedTuple):
    """Connections of one peer to one port that the wanted rules refuse."""

    peer: str
    port: int
    purpose: str
    connections: int

    def __str__(self) -> str:
        many = "connection" if self.connections == 1 else "connections"
        return f"{self.peer} to port {self.port} ({self.purpose or 'no purpose'}): {self.connections} {many}"


def established(table: str) -> Iterator[Connection]:
    """Yield the established connections of the text of /proc/net/tcp or tcp6 (proc(5))."""
    for address, port, row in _rows(table, _ESTABLISHED):
        peer, peer_port = _end(row[2])
        yield Connection(address, port, peer, peer_port)


def listening(table: str) -> set[int]:
    """Return the ports that something listens on, of the text of /proc/net/tcp or tcp6."""
    return {port for _address, port, _row in _rows(table, _LISTEN)}


def _rows(table: str, state: str) -> Iterator[tuple[Address, int, list[str]]]:
    for row in (line.split() for line in table.splitlines()[1:]):
        if len(row) > 3 and row[3] == state:
            yield (*_end(row[1]), row)


def _end(text: str) -> tuple[Address, int]:
    """Read an address, in words of four bytes in the order of this machine, and a port; IPv4 within IPv6 is IPv4."""
    words, _colon, port = text.partition(":")
    packed = bytes.fromhex(words)
    if sys.byteorder == "little":
        packed = b"".join(packed[start : start + 4][::-1] for start in range(0, len(packed), 4))
    address = ipaddress.ip_address(packed)
    mapped = getattr(address, "ipv4_mapped", None)
    return mapped or address, int(port, 16)


def allowed(rules: Iterable[Mapping[str, Any]], source: str, port: int, address: str = "") -> bool:
    """Say whether these rules let `source` connect to `port` (of `address`); unnamed ports are not filtered."""
    rule = _rule(rules, port, address)
    origin = ipaddress.ip_address(source)
    return rule is None or origin.is_loopback or _within(origin, rule["sources"])


def cuts(
    connections: Iterable[Connection], rules: Sequence[Mapping[str, Any]], accepted: Iterable[str] = ()
) -> tuple[list[Cut], list[Cut]]:
    """Return what the rules would cut and nobody accepted, and what they cut with consent; both by port and peer.

    accepted -- addresses and networks whose connections may be cut. A connection whose other end is on this machine
    too goes through loopback, which is never filtered.
    """
    every = set(connections)
    counted: dict[tuple[int, Address, str], int] = {}
    for one in every:
        own = one.peer == one.address or Connection(one.peer, one.peer_port, one.address, one.port) in every
        if not own and not allowed(rules, str(one.peer), one.port, str(one.address)):
            purpose = str((_rule(rules, one.port, str(one.address)) or {}).get("purpose") or "")
            key = (one.port, one.peer, purpose)
            counted[key] = counted.get(key, 0) + 1
    networks = list(accepted)
    found: tuple[list[Cut], list[Cut]] = ([], [])
    for port, peer, purpose in sorted(counted, key=lambda key: (key[0], key[1].version, key[1].packed)):
        found[_within(peer, networks)].append(Cut(str(peer), port, purpose, counted[port, peer, purpose]))
    return found


def refusal(cut: Collection[Cut]) -> str:
    """Say why a table is not loaded that would cut these."""
    listed = capped([str(one) for one in cut])
    return (
        f"the wanted rules would cut connections that are open now: {listed}. fix: let these addresses in "
        "(kafka_firewall_addresses of a host, kafka_firewall_networks, kafka_firewall_admin_addresses), or add them "
        "to kafka_firewall_accept_cuts if they may lose their connections. The table and its file were not changed."
    )


def _rule(rules: Iterable[Mapping[str, Any]], port: int, address: str) -> Mapping[str, Any] | None:
    """Return the rule that decides on packets to this port of this address."""
    found = (rule for rule in rules if rule["port"] == port and _same(str(rule["address"]), address))
    return next(found, None)


def _same(wanted: str, address: str) -> bool:
    return not wanted or (bool(address) and ipaddress.ip_address(wanted) == ipaddress.ip_address(address))


def _within(address: Address, networks: Iterable[str]) -> bool:
    return any(address in ipaddress.ip_network(one, strict=False) for one in networks)
