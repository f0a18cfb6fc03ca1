# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Rules as a file for nft: one table of our own, replaced as a whole in one transaction.

Nothing but a TCP port of a rule is ever looked at: the base chain sends those ports to a chain each and accepts the
rest. No connection tracking: every packet is judged by its source, so that a host that leaves the inventory loses its
open connections too, and a busy broker fills no table of connections.
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

FAMILY = "inet"
TABLE = "streamops_kafka"
_HEAD = f"""\
# Written by Ansible (collection streamops.kafka): what is changed here is lost at the next run.
# Loaded at boot by streamops-kafka-firewall.service. Only the ports below are filtered.
table {FAMILY} {TABLE}
delete table {FAMILY} {TABLE}
"""
# A comment of nftables holds 128 bytes with its end (NFTNL_UDATA_COMMENT_MAXLEN).
_COMMENT_MAX = 120


def table_text(rules: Sequence[Mapping[str, Any]]) -> str:
    """The whole file for these rules; without any, a table that filters nothing. Equal rules give equal text."""
    ports = sorted({int(rule["port"]) for rule in rules})
    chains = [_port_chain(port, [rule for rule in rules if int(rule["port"]) == port]) for port in ports]
    chains.append(_input_chain(ports, digest("".join(chains))))
    return f"{_HEAD}table {FAMILY} {TABLE} {{\n" + "\n".join(chains) + "}\n"


def digest(text: str) -> str:
    """Return what names the content of a table, in the file and in the kernel."""
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()[:32]}"


def digest_of(listing: str) -> str | None:
    """The digest that a file or a listing of the table carries; None when there is none."""
    found = re.search(r'comment "(sha256:[0-9a-f]{32})"', listing)
    return found.group(1) if found else None


def _input_chain(ports: Sequence[int], name: str) -> str:
    lines = ["type filter hook input priority 0; policy accept;"]
    if ports:
        jumps = ", ".join(f"{port} : jump port_{port}" for port in ports)
        lines.append(f'iif != "lo" tcp dport vmap {{ {jumps} }} comment "{name}"')
    return _chain("input", lines)


def _port_chain(port: int, rules: Iterable[Mapping[str, Any]]) -> str:
    lines = []
    for rule in sorted(rules, key=lambda one: str(one["address"])):
        where = _destination(str(rule["address"]))
        said = f'comment "{_comment(rule["comment"])}"'
        networks = [ipaddress.ip_network(text) for text in rule["sources"]]
        for version, word in ((4, "ip"), (6, "ip6")):
            of_version = [one for one in networks if one.version == version]
            if of_version and (not where or where.startswith(f"{word} ")):
                lines.append(f"{where}{_match(word, of_version)} accept {said}")
        lines.append(f"{where}meta l4proto tcp counter reject with tcp reset {said}")
    return _chain(f"port_{port}", lines)


def _destination(address: str) -> str:
    if not address:
        return ""
    return f"{'ip' if ipaddress.ip_address(address).version == 4 else 'ip6'} daddr {address} "


def _match(word: str, networks: Sequence[Any]) -> str:
    if any(one.prefixlen == 0 for one in networks):
        return f"meta nfproto {'ipv4' if word == 'ip' else 'ipv6'}"
    texts = [str(one.network_address) if one.num_addresses == 1 else str(one) for one in networks]
    return f"{word} saddr {{ {', '.join(texts)} }}"


def _comment(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.,: -]", "_", str(text))[:_COMMENT_MAX]


def _chain(name: str, lines: Iterable[str]) -> str:
    return f"\tchain {name} {{\n" + "".join(f"\t\t{line}\n" for line in lines) + "\t}\n"
