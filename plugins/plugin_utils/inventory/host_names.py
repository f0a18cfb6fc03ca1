# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Decide whether a certificate names a host, as strictly as the stricter of Java and OpenSSL.

Nodes compare as Java does (HostnameChecker of the JDK), clients of librdkafka and Python as OpenSSL does
(X509_check_host, X509_check_ip). RFC 9525 and RFC 2818 say what both have in common: an address is compared with
addresses only, a name with DNS names only, and a common name counts for nothing.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable

#: How `openssl x509 -ext subjectAltName` and its configuration files call the two types.
DNS, IP = "DNS", "IP"
# Java takes a name by the rules of host names (SNIHostName, STD 3); both engines know an international one by its
# A-labels alone.
_LABEL = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)")


def typed(host: str) -> str:
    """Return the alternative name that a certificate needs for a host, with its type: DNS:kafka1, IP:10.0.0.1."""
    address = _address(host)
    return f"{DNS}:{host.rstrip('.')}" if address is None else f"{IP}:{address}"


def covers(names: Iterable[str], host: str) -> bool:
    """Return whether one of these names (DNS:..., IP:...) stands for the host with both engines."""
    address = _address(host)
    split = [name.partition(":") for name in names]
    if address is not None:
        # OpenSSL compares bytes: 10.0.0.1 and ::ffff:10.0.0.1 are two addresses for it.
        return any(kind == IP and _address(name) == address for kind, _colon, name in split)
    return not why_no_name(host) and any(kind == DNS and _stands_for(name, host) for kind, _colon, name in split)


def why_no_name(host: str) -> str:
    """Say why no certificate can name a host, "" where one can."""
    if _address(host) is not None:
        return ""
    if not host.isascii():
        return f"{host} is not ASCII, and OpenSSL compares it as it stands"
    if host.endswith("."):
        return f"{host} ends with a dot, and no name of a certificate does"
    labels = host.lower().split(".")
    if not all(_LABEL.fullmatch(label) for label in labels) or labels[-1].isdigit():
        return f"{host} is no host name for Java: letters, digits and hyphens, and a last label that is no number"
    return ""


def why_not(names: Iterable[str], host: str) -> str:
    """Say which of the names is close to a host and still does not stand for it, "" where none is."""
    bare = host.lower().rstrip(".")
    address = _address(host)
    for kind, _colon, name in (one.partition(":") for one in names):
        if address is not None and kind == DNS and name.lower() == bare:
            return f"a DNS name does not stand for an address, so {DNS}:{name} does not count"
        if kind == DNS and "*" in name and not _is_wildcard(name):
            return (
                f"{DNS}:{name} does not count: a * is the whole leftmost label, two labels stand behind it, and it is"
                " for names only"
            )
        if kind == DNS and name.endswith("."):
            return f"{DNS}:{name} does not count: it ends with a dot"
        if kind == IP and address is not None and _mapped(_address(name)) == _mapped(address):
            return f"{IP}:{name} and {IP}:{address} are two addresses for OpenSSL"
    return ""


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text.removeprefix("[").removesuffix("]"))
    except ValueError:
        return None


def _mapped(address: ipaddress.IPv4Address | ipaddress.IPv6Address | None) -> object:
    """Return the IPv4 address that an IPv6 address maps, any other as it is."""
    return getattr(address, "ipv4_mapped", None) or address


def _stands_for(name: str, host: str) -> bool:
    name, host = name.lower(), host.lower()
    if "*" not in name:
        return name == host
    _label, dot, rest = host.partition(".")
    return _is_wildcard(name) and name[2:] == rest and bool(dot)


def _is_wildcard(name: str) -> bool:
    """Say whether a name is a wildcard for both: *. and two or more labels (OpenSSL takes none for a whole domain)."""
    labels = name.lower().split(".")
    return len(labels) > 2 and labels[0] == "*" and all(_LABEL.fullmatch(label) for label in labels[1:])
