# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Hosts and ports as text: an IPv6 address stands in brackets before a port (RFC 3986), and nowhere else."""

from __future__ import annotations

import ipaddress
import re

_HOST_PORT = re.compile(r"(?:\[(?P<address>[^\[\]]+)\]|(?P<host>[^\[\]:/@,\s]+)):(?P<port>[0-9]{1,5})")
_LAST_PORT = 65535


def plain_host(host: str) -> str:
    """Return a host without brackets, an address in its shortest form: C([FD00:0::1]) is C(fd00::1)."""
    text = str(host).strip()
    inner = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    try:
        return str(ipaddress.ip_address(inner))
    except ValueError:
        return text


def is_address(host: str) -> bool:
    """Return whether a host is an IPv4 or IPv6 address, in brackets or not, and no name."""
    try:
        ipaddress.ip_address(plain_host(host))
    except ValueError:
        return False
    return True


def is_network(text: object) -> bool:
    """Return whether a text is an address, or a network (CIDR) with at least one bit, so not all addresses."""
    try:
        return isinstance(text, str) and ipaddress.ip_network(text).prefixlen > 0
    except ValueError:
        return False


def is_loopback(host: str) -> bool:
    """Return whether a host is localhost or a loopback address of IPv4 or IPv6; names are not resolved."""
    if host.lower() in ("localhost", "localhost.localdomain"):
        return True
    try:
        return ipaddress.ip_address(plain_host(host)).is_loopback
    except ValueError:
        return False


def reached_here(bound: str) -> str:
    """Return where what is bound to an address is reached on its own machine: all addresses lead to loopback."""
    return {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(bound, bound)


def host_port(host: str, port: int | str | None) -> str:
    """Return C(host:port), an IPv6 address in brackets."""
    plain = plain_host(host)
    return f"[{plain}]:{port}" if ":" in plain else f"{plain}:{port}"


def split_host_port(text: str) -> tuple[str, int]:
    """Return host and port of C(host:port), the host without brackets.

    Raises ValueError, which says what the text should be, where it has another form: no port, a port above 65535, an
    IPv6 address without brackets.
    """
    found = _HOST_PORT.fullmatch(text.strip())
    port = int(found["port"]) if found else 0
    if not found or not 0 < port <= _LAST_PORT or (found["address"] and not is_address(found["address"])):
        raise ValueError(
            f"{text!r} is not of the form host:port with a port from 1 to {_LAST_PORT}; an IPv6 address stands in "
            "brackets, as in [fd00::1]:9092"
        )
    return plain_host(found["address"] or found["host"]), port
