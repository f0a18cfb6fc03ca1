# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Look at the TCP sockets of this machine (/proc: minimal machines have no ss), and connect to ports of others."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .._core.network import connect
from .connections import Connection, established, listening

#: /proc shows a moment, and a client may be between two connections just then.
LOOKS = 3
#: Seconds between two looks.
PAUSE = 0.5
_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")


def connections() -> set[Connection]:
    """Return the connections that were established at any of LOOKS looks; it takes (LOOKS - 1) * PAUSE seconds."""
    found: set[Connection] = set()
    for look in range(LOOKS):
        time.sleep(PAUSE if look else 0)
        found.update(one for table in _TABLES for one in established(_read(table)))
    return found


def listening_ports() -> set[int]:
    """Return the ports that something listens on."""
    return {port for table in _TABLES for port in listening(_read(table))}


def _read(table: str) -> str:
    """Return a table of the kernel; empty where it has none, as without IPv6."""
    try:
        with open(table, encoding="ascii") as file:
            return file.read()
    except OSError:
        return ""


#: Seconds for a connection; machines of a cluster answer each other within milliseconds.
SECONDS = 5.0
# Connections that are tried at the same time.
_AT_ONCE = 32


def unreached(tries: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return those of these {address, port, ...} that take no connection, each with its error as text."""
    listed = [dict(one) for one in tries]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        tried = list(pool.map(lambda one: {**one, "error": _error(one)}, listed))
    return [one for one in tried if one["error"]]


def _error(one: Mapping[str, Any]) -> str:
    """Say why a port takes no connection; empty where it does."""
    try:
        connect(str(one["address"]), int(one["port"]), SECONDS).close()
    except OSError as error:
        return error.strerror or str(error) or type(error).__name__
    return ""
