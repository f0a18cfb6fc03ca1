# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Look at the TCP sockets of this machine, from /proc alone: minimal machines have no ss."""

from __future__ import annotations

import time

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
