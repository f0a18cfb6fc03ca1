# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Hosts of ACLs: one address, a network of them (KIP-1276), or C(*), in the spelling that Kafka stores and compares.

Kafka compares addresses letter by letter and networks bit by bit. It stores a network as it is written, so several
texts may mean one network, each a binding of its own.
"""

from __future__ import annotations

import ipaddress
from typing import Union

#: The host of an ACL that holds from everywhere.
ANYWHERE = "*"
#: The level of metadata.version from which on Kafka takes networks (4.4-IV1, KAFKA-20088, MetadataVersion of Kafka).
NETWORKS_LEVEL = 32
#: The bits before the IPv4 address in an IPv6 address that stands for it (::ffff:0:0/96, RFC 4291).
_MAPPED_BITS = 96

Network = Union[ipaddress.IPv4Network, ipaddress.IPv6Network]


def host_text(host: str) -> tuple[str, list[str]]:
    """Return a host as Kafka has to store it, and what is wrong with it.

    An address is in Java's writing, which spells IPv6 out without zeros. A network begins with its first address.
    """
    if host == ANYWHERE:
        return host, []
    if is_network(host):
        network = network_of(host)
        if network is None:
            return host, [
                f"host is {host}; a network is its first address and the number of its fixed bits, for example "
                "10.0.0.0/8 or 2001:db8::/32"
            ]
        return str(network), []
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host, [
            f"host is {host}; *, one address or one network (10.0.0.0/8) is allowed: Kafka compares no host names"
        ]
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped), []
        return ":".join(f"{int(group, 16):x}" for group in address.exploded.split(":")), []
    return str(address), []


def is_network(host: str) -> bool:
    """Return whether Kafka takes the host of an ACL for a network (AclControlManager.validateHostPattern)."""
    return "/" in host


def network_of(host: str) -> Network | None:
    """Return the network that a text means, without the bits of a host in it; None where it means none.

    Kafka never shows an IPv6 address that stands for an IPv4 one, and refuses a network of them: it is that of IPv4.
    """
    address, _slash, bits = host.partition("/")
    # Python also takes masks, which Kafka refuses, and zones, which Kafka ignores.
    if not (bits.isascii() and bits.isdecimal()) or "%" in address:
        return None
    try:
        network = ipaddress.ip_network(f"{address}/{int(bits)}", strict=False)
    except ValueError:
        return None
    if isinstance(network, ipaddress.IPv6Network) and network.prefixlen >= _MAPPED_BITS:
        mapped = network.network_address.ipv4_mapped
        if mapped is not None:
            return ipaddress.ip_network((mapped, network.prefixlen - _MAPPED_BITS))
    return network


def one_spelling(host: str) -> str:
    """Return one text for all texts of a network that are in Kafka; other hosts are what they are."""
    network = network_of(host) if is_network(host) else None
    return host if network is None else str(network)


def covers(host: str, other: str) -> bool:
    """Return whether an ACL from C(host) holds from everywhere that one from C(other) does.

    A network holds only addresses of its own kind: neither 0.0.0.0/0 nor ::/0 is C(*).
    """
    if host in {ANYWHERE, other}:
        return True
    network = network_of(host) if is_network(host) else None
    try:
        inner = ipaddress.ip_network(other) if network_of(other) is None else network_of(other)
    except ValueError:
        return False
    if isinstance(network, ipaddress.IPv4Network) and isinstance(inner, ipaddress.IPv4Network):
        return inner.subnet_of(network)
    if isinstance(network, ipaddress.IPv6Network) and isinstance(inner, ipaddress.IPv6Network):
        return inner.subnet_of(network)
    return False
