"""Open connections of a machine: what /proc says of them, and which ones the wanted rules would cut."""

from __future__ import annotations

import ipaddress
import sys
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._firewall.connections import (
    Connection,
    cuts,
    established,
    listening,
    refusal,
)

OWN = "10.0.0.1"
RULES = [
    {"port": 9092, "address": "", "purpose": "clients", "sources": [OWN, "10.1.0.0/16", "fd00::/64"]},
    {"port": 9094, "address": "", "purpose": "brokers", "sources": [OWN, "10.0.0.2"]},
]
TABLE = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100000A:2384 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0
   1: 0100000A:2384 0200000A:9C40 01 00000000:00000000 00:00000000 00000000     0        0 2 1 0 100 0 0 10 0
   2: 0100000A:2384 0300000A:9C40 06 00000000:00000000 00:00000000 00000000     0        0 3 1 0 100 0 0 10 0
"""
TABLE6 = """\
  sl  local_address                         remote_address                        st tx_queue rx_queue
   0: 0000000000000000FFFF00000100000A:2384 0000000000000000FFFF00000200000A:9C40 01 00000000:00000000
   1: 000000FD000000000000000001000000:2386 000000FD000000000000000002000000:9C41 01 00000000:00000000
"""


def connection(peer: str, port: int = 9092, address: str = OWN, peer_port: int = 40000) -> Connection:
    return Connection(ipaddress.ip_address(address), port, ipaddress.ip_address(peer), peer_port)


def told(*connections: Connection, accepted: tuple[str, ...] = (), rules: Any = RULES) -> list[list[str]]:
    return [[str(one) for one in some] for some in cuts(connections, rules, accepted)]


@pytest.mark.skipif(sys.byteorder != "little", reason="the tables above are those of a little-endian machine")
def test_established_connections_are_read_for_both_protocols() -> None:
    assert list(established(TABLE)) == [connection("10.0.0.2", 9092)]
    mapped, native = established(TABLE6)
    assert mapped == connection("10.0.0.2", 9092), "IPv4 within IPv6 is IPv4"
    assert native == connection("fd00::2", 9094, "fd00::1", 40001)
    assert (listening(TABLE), listening(TABLE6)) == ({9092}, set())


@pytest.mark.parametrize(
    ("one", "kept"),
    [
        (connection("10.1.2.3"), True),
        (connection("10.2.2.3"), False),
        (connection("10.1.2.3", 9094), False),
        (connection("fd00::9", address="fd00::1"), True),
        (connection("fd01::9", address="fd00::1"), False),
        (connection("127.0.0.1", address="127.0.0.1"), True),
        (connection("10.2.2.3", 22), True),
        (connection(OWN, 9094), True),
    ],
)
def test_a_connection_is_cut_when_no_source_of_its_port_has_its_peer(one: Connection, kept: bool) -> None:
    assert (told(one) == [[], []]) is kept


def test_a_connection_from_another_address_of_the_machine_goes_through_loopback() -> None:
    there = connection("10.0.0.101", 9094)
    back = Connection(there.peer, there.peer_port, there.address, there.port)
    assert told(there)[0]
    assert told(there, back) == [[], []]


def test_what_is_cut_is_counted_by_peer_and_port_and_names_the_purpose() -> None:
    many = [connection("10.2.0.9", peer_port=port) for port in (1, 2, 3)]
    assert told(*many, connection("10.0.0.9", 9094), connection("10.2.0.10")) == [
        [
            "10.2.0.9 to port 9092 (clients): 3 connections",
            "10.2.0.10 to port 9092 (clients): 1 connection",
            "10.0.0.9 to port 9094 (brokers): 1 connection",
        ],
        [],
    ]


def test_accepted_networks_lose_their_connections_and_nobody_else() -> None:
    refused, accepted = told(connection("10.2.0.9"), connection("10.3.0.9"), accepted=("10.2.0.0/16",))
    assert refused == ["10.3.0.9 to port 9092 (clients): 1 connection"]
    assert accepted == ["10.2.0.9 to port 9092 (clients): 1 connection"]


def test_nodes_that_share_a_port_are_judged_by_their_address() -> None:
    rules = [
        {"port": 9092, "address": OWN, "purpose": "clients", "sources": ["10.1.0.0/16"]},
        {"port": 9092, "address": "10.0.0.101", "purpose": "clients", "sources": []},
    ]
    assert told(connection("10.1.0.9"), rules=rules) == [[], []]
    assert told(connection("10.1.0.9", address="10.0.0.101"), rules=rules)[0]
    assert told(connection("10.1.0.9", address="10.0.0.102"), rules=rules) == [[], []]


def test_a_refusal_names_at_most_twenty() -> None:
    refused, _accepted = cuts([connection(f"10.2.0.{number}") for number in range(30)], RULES)
    assert "10.2.0.0 to port 9092 (clients): 1 connection, 10.2.0.1 to" in refusal(refused)
    assert "and 10 more. fix: let these addresses in" in refusal(refused)
